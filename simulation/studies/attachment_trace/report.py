"""The tables and pictures of the study `attachment-trace`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from simulation.studies import plots
from simulation.studies.attachment_trace import measuring, protocol, traces
from simulation.studies.attachment_trace.measuring import Case, Score, Size
from simulation.studies.intervals import Interval, spread, wilson
from simulation.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.attachment_trace.traces import Instances
    from simulation.studies.tables import Cell

COMPLETE, MATCHED = protocol.SPLITS
Scores = list[Score]
Bias = Mapping[tuple[str, str, protocol.Gains], Interval]


def pick(scores: Sequence[Score], case: Case) -> Scores:
    """Return the scores of a case, one a seed."""
    return [score for score in scores if score.case == case]


def accuracies(scores: Sequence[Score]) -> str:
    """Return accuracies as their mean (least to most)."""
    return spread([score.accuracy for score in scores])


def mean_accuracy(scores: Sequence[Score]) -> float:
    """Return the mean accuracy."""
    return float(np.mean([score.accuracy for score in scores]))


def methods(scores: Scores, bias: Bias) -> Table:
    """Return the accuracy of each method in each way that is reported."""

    def row(split: str, method: str, gains: protocol.Gains) -> tuple[str, ...]:
        main = Case(split=split, method=method, gains=gains)
        found = [accuracies(pick(scores, case)) for case in measuring.ways(main).values()]
        shown = gains if method == protocol.PERSMEM else ""
        return (split, method, shown, *found, bias[split, method, gains].words())

    main = Case(split=MATCHED, method=protocol.PERSMEM, gains="paper")
    return Table(
        name="methods",
        title="Accuracy of four-way classification, mean of the seeds (least to most)",
        columns=(
            "split",
            "method",
            "gains",
            *measuring.ways(main),
            "bias, anxious less secure",
        ),
        rows=tuple(row(split, *m) for split in protocol.SPLITS for m in measuring.methods()),
    )


def profiles(scores: Scores) -> Table:
    """Return how many of each profile PersMem has classified rightly, seed by seed."""
    rows: list[tuple[Cell, ...]] = []
    for split in protocol.SPLITS:
        for score in pick(scores, Case(split=split, method=protocol.PERSMEM, gains="paper")):
            found = wilson(sum(score.right), score.trials)
            rows.append(
                (
                    split,
                    score.seed,
                    *score.right,
                    sum(score.right),
                    score.trials,
                    found.value,
                    found.low,
                    found.high,
                    score.p,
                    score.null,
                )
            )
    return Table(
        name="profiles",
        title="PersMem, one instance held out: rightly classified of each profile",
        columns=(
            "split",
            "seed",
            *protocol.PROFILES,
            "right",
            "instances",
            "accuracy",
            "low",
            "high",
            "p",
            "permuted labels",
        ),
        rows=tuple(rows),
    )


def contrast_table(curve: Mapping[float, Scores]) -> Table:
    """Return the accuracy where profiles lie nearer together."""
    return Table(
        name="contrast",
        title="PersMem, matched split, profiles at 0.5 +- contrast, one replicate held out",
        columns=("contrast", "accuracy", "least", "most"),
        rows=tuple(
            (
                contrast,
                mean_accuracy(scores),
                min(score.accuracy for score in scores),
                max(score.accuracy for score in scores),
            )
            for contrast, scores in curve.items()
        ),
    )


def pictures(scores: Scores, curve: Mapping[float, Scores]) -> dict[str, str]:
    """Return the pictures of the report."""
    labels = protocol.METHODS
    picked: dict[str, list[Scores]] = {}
    for method in labels:
        main = Case(split=MATCHED, method=method, gains="paper")
        for way, case in measuring.ways(main).items():
            picked.setdefault(way, []).append(pick(scores, case))
    low, mean, high = (
        [f([score.accuracy for score in found]) for found in curve.values()]
        for f in (min, np.mean, max)
    )
    return {
        "methods": plots.bars(
            "Four-way accuracy on the matched split (chance 0.25)",
            labels=labels,
            series={way: [mean_accuracy(s) for s in found] for way, found in picked.items()},
            intervals={
                way: [(min(s.accuracy for s in one), max(s.accuracy for s in one)) for one in all_]
                for way, all_ in picked.items()
            },
            y="accuracy; range of the seeds",
        ),
        "contrast": plots.lines(
            "How near profiles may lie",
            x="distance of the traits from 0.5",
            y="accuracy; range of the seeds",
            lines=[
                plots.Line(
                    name="PersMem",
                    x=list(curve),
                    y=list(map(float, mean)),
                    low=list(map(float, low)),
                    high=list(map(float, high)),
                )
            ],
            domain=(0.0, 1.0),
        ),
    }


def all_accuracies(scores: Scores) -> Table:
    """Return every score in every way."""
    names = tuple(asdict(scores[0].case))
    return Table(
        name="accuracies",
        title="All ways",
        columns=(*names, "seed", *protocol.PROFILES, "right", "instances", "ties"),
        rows=tuple(
            (
                *asdict(score.case).values(),
                score.seed,
                *score.right,
                sum(score.right),
                score.trials,
                score.ties,
            )
            for score in scores
        ),
    )


def instances(kept: Mapping[Case, Sequence[Instances]], size: Size) -> Table:
    """Return the features of every instance with paired streams."""
    rows: list[tuple[Cell, ...]] = [
        (case.split, case.method, case.gains, seed, protocol.PROFILES[who], replicate, *features)
        for case, seeds in kept.items()
        for seed, found in zip(size.seeds, seeds, strict=True)
        for who, replicate, features in zip(
            found.profile.tolist(), found.replicate.tolist(), found.features.tolist(), strict=True
        )
    ]
    head = ("split", "method", "gains", "seed", "profile", "replicate")
    return Table(
        name="instances",
        title="Instances",
        columns=(*head, *(name.replace(" ", "_") for name in traces.FEATURES)),
        rows=tuple(rows),
    )
