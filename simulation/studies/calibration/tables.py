"""The tables of the study `persmem-calibration`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import traits
from simulation.personality import maps
from simulation.studies.calibration import human
from simulation.studies.calibration.measuring import KINDS
from simulation.studies.tables import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.mind.calibration import FloatArray, Found, SearchSettings
    from simulation.studies.calibration.measuring import Kind, Targets


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """A kind with its targets; measures (S, M) and errors (S,) of `reference` and `paper`."""

    kind: Kind
    aims: Targets
    measures: Mapping[str, FloatArray]
    errors: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """A search that was made again. vector: the whole map, as `traits.pack` has it."""

    map: str
    kind: Kind
    search: SearchSettings
    found: Found
    vector: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variant:
    """A Big Five fit that differs from the shipped one; errors (S,) of map and reference."""

    name: str
    tries: int
    map: FloatArray
    reference: FloatArray


def target_table(found: Sequence[Measured]) -> Table:
    """Return what every setting is aimed at, one row a measure."""
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        arrays = (one.aims.share, one.aims.low, one.aims.high, one.aims.aim)
        rows += [(*head, *(float(array[s, m]) for array in arrays)) for head, s, m in _cells(one)]
    columns = ("kind", "setting", "fitted", "measure", "share", "low", "high", "target")
    return Table(name="targets", title="Targets", columns=columns, rows=tuple(rows))


def measure_table(found: Sequence[Measured]) -> Table:
    """Return what was measured, beside the targets."""
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        arrays = (one.aims.aim, one.measures["reference"], one.measures["paper"])
        rows += [(*head, *(float(array[s, m]) for array in arrays)) for head, s, m in _cells(one)]
    columns = ("kind", "setting", "fitted", "measure", "target", "reference", "paper")
    title = "Measures of the fixed gains and the shipped map"
    return Table(name="measures", title=title, columns=columns, rows=tuple(rows))


def _cells(one: Measured) -> list[tuple[tuple[Cell, ...], int, int]]:
    kind = one.kind
    return [
        ((kind.name, setting, s < kind.fitted, measure), s, m)
        for s, setting in enumerate(kind.settings)
        for m, measure in enumerate(kind.measures)
    ]


def error_table(found: Sequence[Measured]) -> Table:
    """Return the error of each setting, in ranges."""
    rows: list[tuple[Cell, ...]] = [
        (
            one.kind.name,
            setting,
            s < one.kind.fitted,
            float(one.errors["reference"][s]),
            float(one.errors["paper"][s]),
        )
        for one in found
        for s, setting in enumerate(one.kind.settings)
    ]
    columns = ("kind", "setting", "fitted", "reference", "paper")
    return Table(name="errors", title="Errors by setting", columns=columns, rows=tuple(rows))


def summary_table(found: Sequence[Measured]) -> Table:
    """Return mean errors: over all settings, over the fitted ones and over those that are not."""
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        for name, errors in one.errors.items():
            fitted, rest = errors[: one.kind.fitted], errors[one.kind.fitted :]
            unfitted: Cell = float(rest.mean()) if len(rest) else ""
            rows.append(
                (one.kind.name, name, float(errors.mean()), float(fitted.mean()), unfitted)
            )
    columns = ("kind", "map", "all settings", "fitted settings", "unfitted setting")
    return Table(name="summary", title="Mean errors", columns=columns, rows=tuple(rows))


def gain_table(found: Sequence[Measured]) -> Table:
    """Return the gains of every setting under each map; empty where a kind has no such map."""
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        kind = one.kind
        given = {
            name: maps.gains(name, kind.name, kind.vectors) for name in maps.available(kind.name)
        }
        for s, setting in enumerate(kind.settings):
            for g, gain in enumerate(kind.gains):
                values = (float(given[n][s, g]) if n in given else "" for n in maps.NAMES)
                rows.append((kind.name, setting, gain, *values))
    columns = ("kind", "setting", "gain", *maps.NAMES)
    return Table(name="gains", title="Gains by setting", columns=columns, rows=tuple(rows))


def coefficient_table() -> Table:
    """Return the coefficients of the shipped maps: of each gain a weight a trait, and the bias."""
    rows: list[tuple[Cell, ...]] = []
    for kind in KINDS:
        for name in maps.available(kind.name):
            if name == "reference":
                continue
            found = maps.gain_map(name, kind.name)
            for g, gain in enumerate(kind.gains):
                values = (*found.weights[g], found.bias[g])
                rows += [
                    (name, kind.name, gain, of, float(value))
                    for of, value in zip((*kind.traits, "bias"), values, strict=True)
                ]
    columns = ("map", "kind", "gain", "of", "value")
    title = "Coefficients of the shipped maps"
    return Table(name="coefficients", title=title, columns=columns, rows=tuple(rows))


def people_table(correlations: Mapping[str, FloatArray]) -> Table:
    """Return the correlations under each map beside those of people.

    correlations: by map, (F,) as `human.FIGURES_OF_PEOPLE`.
    """
    rows: list[tuple[Cell, ...]] = [
        (
            figure.trait,
            figure.recalled,
            figure.fitted,
            figure.value,
            figure.low,
            figure.high,
            *(float(found[i]) for found in correlations.values()),
        )
        for i, figure in enumerate(human.FIGURES_OF_PEOPLE)
    ]
    columns = ("trait", "recalled", "fitted", "people", "low", "high", *correlations)
    title = "Correlations of traits with what is recalled"
    return Table(name="people", title=title, columns=columns, rows=tuple(rows))


def refit_table(fitted: Sequence[Fitted]) -> Table:
    """Return what the searches of this study did, and how far they ended from what ships."""
    rows: list[tuple[Cell, ...]] = [
        (
            one.map,
            one.kind.name,
            one.search.generations,
            one.search.population,
            float(one.found.history[0]),
            one.found.error,
            largest_difference(one),
        )
        for one in fitted
    ]
    columns = (
        "map",
        "kind",
        "generations",
        "population",
        "objective at the start",
        "objective at the end",
        "largest difference from the shipped coefficients",
    )
    return Table(name="refit", title="The searches, made again", columns=columns, rows=tuple(rows))


def largest_difference(fit: Fitted) -> float:
    """Return how far a refitted map is from the shipped one, in any coefficient."""
    shipped = maps.gain_map(fit.map, fit.kind.name)
    return float(np.abs(fit.vector - traits.pack(shipped.weights, shipped.bias)).max())


def variant_table(found: Sequence[Variant]) -> Table:
    """Return what other searches and more draws give, Big Five."""
    rows: list[tuple[Cell, ...]] = [
        (
            one.name,
            one.tries,
            float(one.reference.mean()),
            float(one.map.mean()),
            float(one.map[:-1].mean()),
            float(one.map[-1]),
        )
        for one in found
    ]
    columns = ("variant", "tries", "reference", "all settings", "fitted settings", "unfitted")
    title = "Other fits of the Big Five map"
    return Table(name="variants", title=title, columns=columns, rows=tuple(rows))
