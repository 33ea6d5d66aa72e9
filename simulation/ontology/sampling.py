"""Draw personas from an ontology: one uniform per persona and attribute, by inverse CDF.

Every draw is keyed by the persona's id and the attribute's name. So one more persona, or one more
attribute that others do not depend on, changes nobody and nothing else.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from simulation.ontology.attributes import write_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simulation.ontology.attributes import Attribute, Distribution
    from simulation.rng import FloatArray, Streams, UIntArray

    IntArray = NDArray[np.int64]


def draw(
    attributes: Sequence[Attribute], *, streams: Streams, keys: UIntArray
) -> dict[str, list[str]]:
    """Return the values of each drawn attribute for all personas.

    attributes: in drawing order, parents first.  keys: (P,) stream keys of the persona ids.
    Stream: "attribute:<id>", tick 0.
    """
    levels: dict[str, IntArray] = {}
    values: dict[str, list[str]] = {}
    for attribute in attributes:
        uniform = streams.uniform(f"attribute:{attribute.id}", tick=0, keys=keys)
        levels[attribute.id], values[attribute.id] = _draw_one(attribute, uniform, levels)
    return values


def _draw_one(
    attribute: Attribute, uniform: FloatArray, levels: Mapping[str, IntArray]
) -> tuple[IntArray, list[str]]:
    distribution = attribute.distribution
    assert distribution is not None, attribute.id  # noqa: S101  (drawing order leaves the others out)
    if distribution.cumulative is None:
        numbers = _continuous(attribute, distribution, uniform)
        return _band_of(attribute, numbers), [write_number(n) for n in numbers.tolist()]
    rows = distribution.cumulative[_combination(distribution, levels, len(uniform))]
    level = (rows <= uniform[:, None]).sum(axis=1)
    if attribute.kind == "category":
        names = np.array([value.id for value in attribute.levels], dtype=object)
        return level, names[level].tolist()
    numbers = _within_band(attribute, level, _rest(rows, level, uniform))
    return level, [write_number(n) for n in numbers.tolist()]


def _combination(
    distribution: Distribution, levels: Mapping[str, IntArray], people: int
) -> IntArray:
    """Return (P,) row numbers of the table: the parents' levels in row-major order."""
    if not distribution.parents:
        return np.zeros(people, dtype=np.int64)
    codes = [levels[parent] for parent in distribution.parents]
    return np.asarray(np.ravel_multi_index(codes, distribution.shape), dtype=np.int64)


def _rest(rows: FloatArray, level: IntArray, uniform: FloatArray) -> FloatArray:
    """Return where in its step of the CDF each draw fell, in [0, 1): again uniform."""
    people = np.arange(len(uniform))
    top = rows[people, level]
    bottom = np.where(level > 0, rows[people, np.maximum(level - 1, 0)], 0.0)
    return np.clip((uniform - bottom) / (top - bottom), 0.0, np.nextafter(1.0, 0.0))


def _within_band(attribute: Attribute, level: IntArray, rest: FloatArray) -> FloatArray:
    low = np.array([band.low for band in attribute.levels])[level]
    high = np.array([band.high for band in attribute.levels])[level]
    if attribute.integer:
        return np.asarray(np.minimum(low + np.floor(rest * (high - low + 1.0)), high))
    return np.asarray(low + rest * (high - low))


def _continuous(
    attribute: Attribute, distribution: Distribution, uniform: FloatArray
) -> FloatArray:
    """Return draws of a uniform, or of a normal cut at both ends.

    A whole number n stands for the interval from n - 1/2 to n + 1/2.
    """
    half = 0.5 if attribute.integer else 0.0
    low, high = attribute.minimum - half, attribute.maximum + half
    if np.isnan(distribution.mean):
        numbers = low + uniform * (high - low)
    else:
        normal = NormalDist(distribution.mean, distribution.sd)
        bottom, top = normal.cdf(low), normal.cdf(high)
        places = np.clip(bottom + uniform * (top - bottom), 2.0**-53, 1.0 - 2.0**-53)
        numbers = np.array([normal.inv_cdf(place) for place in places.tolist()])
    if attribute.integer:
        numbers = np.floor(numbers + 0.5)
    return np.clip(numbers, attribute.minimum, attribute.maximum)


def _band_of(attribute: Attribute, numbers: FloatArray) -> IntArray:
    """Return (P,) the first band that holds each number, -1 for none."""
    low = np.array([band.low for band in attribute.levels]).reshape(-1, 1)
    high = np.array([band.high for band in attribute.levels]).reshape(-1, 1)
    inside = (low <= numbers) & (numbers <= high)
    if not len(attribute.levels):
        return np.full(len(numbers), -1, dtype=np.int64)
    return np.where(inside.any(axis=0), inside.argmax(axis=0), -1)
