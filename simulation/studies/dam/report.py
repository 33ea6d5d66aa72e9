"""The study's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.studies.dam.growth import LAST
from simulation.studies.dam.unit import CAP, INTENSITIES
from simulation.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.studies.dam.validation import Grown, Validation
    from simulation.studies.tables import Cell


def tables(found: Validation) -> tuple[Table, ...]:
    """Return all tables, in the order of the report."""
    return (
        growth_table(found),
        recall_table(found),
        hearing_table(found),
        settling_table(found),
        separation_table(found),
        flip_table(found),
        turn_table(found),
        intensity_table(found),
        curve_table(found),
    )


def growth_table(found: Validation) -> Table:
    """Return how far memories grew, a row per stream, with means and spreads over the seeds."""
    return Table(
        name="growth",
        title="Memory growth",
        columns=(
            *("stream", "seed", "observations", "units at 3/5", "units at the end"),
            *("compression", "late growth", "merges", "deleted", "entropy, bits"),
        ),
        rows=tuple(row for world in _worlds(found) for row in _growth_rows(world)),
    )


def _growth_rows(world: Sequence[Grown]) -> Iterator[tuple[Cell, ...]]:
    numbers = []
    for one in world:
        grown = one.growth
        start = max(len(grown.units) - round(LAST * len(grown.units)), 1)
        row: tuple[int | float, ...] = (
            *(one.observations, int(grown.units[start - 1]), int(grown.units[-1])),
            *(grown.compression, grown.late, grown.count("merge"), grown.count("delete")),
            float(grown.entropy[-1]),
        )
        numbers.append(row)
        yield (one.world, "real" if one.seed is None else str(one.seed), *row)
    if len(numbers) > 1:
        yield (world[0].world, "mean", *np.mean(numbers, axis=0).tolist())
        yield (world[0].world, "sd", *np.std(numbers, axis=0, ddof=1).tolist())


def recall_table(found: Validation) -> Table:
    """Return how often the unit that answers is among the best, by stream and way to ask."""
    rows: list[tuple[Cell, ...]] = []
    for world in _worlds(found):
        for place, recall in enumerate(world[0].recalls):
            every = [one.recalls[place] for one in world]
            ours = [one.ours for one in every]
            rows.append(
                (
                    *(world[0].world, str(recall.way), recall.questions),
                    *(float(np.mean(ours)), min(ours), max(ours)),
                    float(np.mean([one.any_fact for one in every])),
                    float(np.mean([one.that_fact for one in every])),
                )
            )
    return Table(
        name="recall",
        title="Is the unit that answers a question among the best?",
        columns=(
            *("stream", "asked", "questions", "ours", "least seed", "best seed"),
            *("without updates, any fact", "without updates, that fact"),
        ),
        rows=tuple(rows),
    )


def hearing_table(found: Validation) -> Table:
    """Return how the simulated user is heard by rule."""
    one = found.heard
    rows: tuple[tuple[Cell, ...], ...] = (
        ("sentences", one.sentences),
        ("stored", one.stored),
        ("side found", one.found),
        ("leaning right, of those", one.leaning),
        ("questions", one.questions),
        ("looked up", one.asked),
        ("answered by a unit of the side among the best five", one.answered),
        ("units", one.units),
    )
    return Table(
        name="hearing",
        title="Sentences heard by rule, without labels",
        columns=("what", "value"),
        rows=rows,
    )


def settling_table(found: Validation) -> Table:
    """Return how streams of thirty observations settle."""
    rows = [
        (name, str(seed), len(one.away), one.before, one.after, one.ratio, one.median_away)
        for name, every in (("coffee (taste)", found.coffee), ("2,500 sides", found.sequences))
        for seed, one in zip(found.seeds, every, strict=True)
    ]
    return Table(
        name="settling",
        title="Thirty observations: mean change of confidence, and the median stream's distance",
        columns=("what", "seed", "streams", "before", "after", "ratio", "distance"),
        rows=tuple(rows),
    )


def separation_table(found: Validation) -> Table:
    """Return whether taste and packaging stay two units, with merging and without."""
    rows = [
        (one.packaging_is, one.merging, str(seed), one.people, one.apart, one.mixed)
        for seed, pair in zip(found.seeds, found.separations, strict=True)
        for one in pair
    ]
    return Table(
        name="separation",
        title="Taste, which is liked, and packaging: people who hold two units in the end",
        columns=("packaging", "merging", "seed", "people", "apart", "difference from alone"),
        rows=tuple(sorted(rows, key=lambda row: row[:2])),
    )


def flip_table(found: Validation) -> Table:
    """Return how many observations a change of mind takes; streams of all seeds together."""
    rows: list[tuple[Cell, ...]] = []
    for place, first in enumerate(found.flips[0]):
        drawn = np.concatenate([seed[place].drawn for seed in found.flips])
        low, middle, high = np.quantile(drawn, (0.1, 0.5, 0.9)).tolist()
        cap = f"{CAP:g}" if first.cap == CAP else "none"
        rows.append((first.held, cap, first.even, low, middle, high))
    return Table(
        name="flips",
        title="Opposing observations until the sign follows",
        columns=("held", "cap", "equal evidence", "10 % of streams", "median", "90 %"),
        rows=tuple(rows),
    )


def turn_table(found: Validation) -> Table:
    """Return the units of figures a and b, observation by observation."""
    rows: list[tuple[Cell, ...]] = []
    for name, path in (("accumulation", found.accumulated), ("contradiction", found.turn.path)):
        for i, confidence in enumerate(path.confidence[0].tolist()):
            weight, entropy = float(path.weight[0, i]), float(path.entropy[0, i])
            rows.append((name, i + 1, *confidence, weight, entropy))
    return Table(
        name="one_unit",
        title="One unit, observation by observation",
        columns=("case", "observation", "positive", "negative", "neutral", "weight", "entropy"),
        rows=tuple(rows),
    )


def intensity_table(found: Validation) -> Table:
    """Return the positive confidence of a blamed unit after each praise, by strength."""
    rows = [(i + 1, *column) for i, column in enumerate(found.intensity.T.tolist())]
    return Table(
        name="intensity",
        title="Confidence after praises of different strength",
        columns=("praises", *(f"strength {s:g}" for s in INTENSITIES)),
        rows=tuple(rows),
    )


def curve_table(found: Validation) -> Table:
    """Return units after each dialogue of the simulated users."""
    curves = np.stack([one.growth.units for one in found.main])
    facts = found.main[0].growth.facts
    return Table(
        name="growth_curve",
        title="Units after each dialogue",
        columns=("dialogue", "without updates", *(f"seed {seed}" for seed in found.seeds)),
        rows=tuple((i + 1, int(facts[i]), *column) for i, column in enumerate(curves.T.tolist())),
    )


def _worlds(found: Validation) -> list[list[Grown]]:
    every = (*found.main, *found.others, *found.real)
    names = dict.fromkeys(one.world for one in every)
    return [[one for one in every if one.world == name] for name in names]
