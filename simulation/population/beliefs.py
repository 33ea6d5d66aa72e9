"""Beliefs at tick 0, drawn per persona and target.

Every draw is keyed by the persona's id; the stream of a target is "belief:<target>".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import elementary
from simulation.scenario.model import Beta, ByAttribute, Choice, Normal, Uniform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.rng import FloatArray, Streams, UIntArray

    Drawn = Uniform | Normal | Beta | Choice


def draw(source: Drawn, *, purpose: str, streams: Streams, keys: UIntArray) -> FloatArray:
    """Return (P,) draws in [0, 1] from a distribution."""
    if isinstance(source, Normal):
        noise = streams.normal(purpose, tick=0, keys=keys)
        return np.clip(source.mean + source.sd * noise, 0.0, 1.0)
    if isinstance(source, Beta):
        return beta(source.a, source.b, purpose=purpose, streams=streams, keys=keys)
    uniform = streams.uniform(purpose, tick=0, keys=keys)
    if isinstance(source, Uniform):
        return np.asarray(source.low + (source.high - source.low) * uniform)
    weights = np.array(source.weights or (1.0,) * len(source.values))
    rising = np.cumsum(weights) / weights.sum()
    rising[np.flatnonzero(weights)[-1] :] = 1.0
    return np.asarray(np.array(source.values)[np.searchsorted(rising, uniform, side="right")])


def by_attribute(
    source: ByAttribute,
    means: Mapping[str, float],
    people: Sequence[Mapping[str, str]],
    *,
    purpose: str,
    streams: Streams,
    keys: UIntArray,
) -> FloatArray:
    """Return (P,) the mean of each persona's attribute value plus a normal spread, in [0, 1].

    means: by the values that personas hold; a persona with another value, or none, takes
    `otherwise`.
    """
    mean = np.array([means.get(a.get(source.by, ""), source.otherwise) for a in people])
    noise = streams.normal(purpose, tick=0, keys=keys)
    return np.clip(mean + source.sd * noise, 0.0, 1.0)


def beta(a: float, b: float, *, purpose: str, streams: Streams, keys: UIntArray) -> FloatArray:
    """Return (P,) draws from Beta(a, b): G(a) / (G(a) + G(b)) of two gamma draws.

    The ratio is taken of logarithms, so that tiny shapes do not end in 0 / 0.
    """
    first = _log_gamma(a, purpose=f"{purpose}:a", streams=streams, keys=keys)
    second = _log_gamma(b, purpose=f"{purpose}:b", streams=streams, keys=keys)
    larger = np.maximum(first, second)
    total = larger + elementary.log(1.0 + elementary.exp(-np.abs(first - second)))
    return elementary.exp(first - total)


def _log_gamma(shape: float, *, purpose: str, streams: Streams, keys: UIntArray) -> FloatArray:
    """Return (P,) logarithms of draws from Gamma(shape, 1).

    Marsaglia & Tsang (2000), "A simple method for generating gamma variables", with their
    G(a) = G(a + 1) U^(1/a) for a < 1. Attempt i of a persona uses draw i of its streams, whoever
    else still waits.
    """
    shape = max(shape, 1e-300)
    boost = 1.0 if shape < 1.0 else 0.0
    d = shape + boost - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    result = np.empty(len(keys))
    waiting = np.arange(len(keys))
    attempt = 0
    while waiting.size:
        x = streams.normal(f"{purpose}:x", tick=0, keys=keys[waiting], index=attempt)
        u = streams.uniform(f"{purpose}:u", tick=0, keys=keys[waiting], index=attempt)
        log_v = 3.0 * elementary.log(np.maximum(1.0 + c * x, 1e-300))
        keep = (c * x > -1.0) & (
            elementary.log(u) < 0.5 * x * x + d * (1.0 - elementary.exp(log_v) + log_v)
        )
        result[waiting[keep]] = elementary.log(d) + log_v[keep]
        waiting = waiting[~keep]
        attempt += 1
    if boost:
        result += elementary.log(streams.uniform(f"{purpose}:boost", tick=0, keys=keys)) / shape
    return result
