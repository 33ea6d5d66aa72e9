"""The study `attachment-trace`: what is reported.

Source: PersMem, E.1, Tables 1 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.personality import maps
from simulation.studies import corpus, plots
from simulation.studies.attachment_trace import measuring, protocol, traces
from simulation.studies.attachment_trace.measuring import QUICK, Case, Score, Size
from simulation.studies.intervals import Interval, spread, wilson
from simulation.studies.output import Findings, publish
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simulation.encoders import Encoder
    from simulation.studies.attachment_trace.traces import Instances
    from simulation.studies.tables import Cell

NAME: Final = "attachment-trace"
TITLE: Final = "profiles told apart by the trace of their recall"
COMPLETE, MATCHED = protocol.SPLITS
ABOUT: Final = (
    "Four attachment profiles recall three memories for each of eight neutral probes, 30 times. "
    "An instance is described by what was recalled and by internal scores (relation, retention), "
    "and goes to the nearest centroid of the others. The internal scores hold the profile's own "
    "gains, so that this shows that profiles leave a trace in a fixed set of memories, and no "
    "more. Controls with paired streams recall the same for every profile; leaving one instance "
    "out then moves its own centroid away from it, and plain leave-one-out is wrong every time. "
    "So controls are shown with whole replicates held out (every instance a tie of four, settled "
    "in order, one right in four) and with streams of their own as well."
)
BELOW: Final = " (paired: below chance by design)"
Scores = list[Score]
Bias = Mapping[tuple[str, str, protocol.Gains], Interval]


def run(folder: Path, *, quick: bool, data: Path | None = None) -> str:  # noqa: ARG001 - as all studies
    """Make the study, write it into a new folder and return what to print."""
    return publish(make(QUICK if quick else Size()), folder, quick=quick)


def make(size: Size, encoder: Encoder | None = None) -> Findings:
    """Return what the study finds. encoder: default, the shipped static one."""
    held = measuring.banks(encoder)
    scores, kept = measuring.measure(held, size)
    bias = {
        (split, *method): measuring.bias_difference(bank, *method)
        for split, bank in held.items()
        for method in measuring.methods()
    }
    curve = measuring.contrasts(held[MATCHED], size)
    return Findings(
        name=NAME,
        title=TITLE,
        about=ABOUT,
        verdicts=tuple(_verdicts(scores, bias)),
        tables=(_methods(scores, bias), _profiles(scores), _contrast(curve)),
        pictures=_pictures(scores, curve),
        seeds=size.seeds,
        configuration=_configuration(size),
        data=corpus.digests(),
        encoders=(held[MATCHED].encoder,),
        records={
            "accuracies.csv": _accuracies(scores).csv(),
            "instances.csv": _instances(kept, size).csv(),
        },
    )


def _pick(scores: Sequence[Score], case: Case) -> Scores:
    return [score for score in scores if score.case == case]


def _spread(scores: Sequence[Score]) -> str:
    return spread([score.accuracy for score in scores])


def _mean(scores: Sequence[Score]) -> float:
    return float(np.mean([score.accuracy for score in scores]))


def _verdicts(scores: Scores, bias: Bias) -> Iterator[Verdict]:
    complete = _pick(scores, Case(split=COMPLETE, method=protocol.PERSMEM, gains="paper"))
    yield _at_least("complete trace, accuracy", complete, protocol.COMPLETE_TARGET, "75.0 %")
    yield Verdict(
        claim="complete trace, right of each profile",
        found=", ".join(
            f"{name} {spread([score.right[i] for score in complete], 1)} of {complete[0].each}"
            for i, name in enumerate(protocol.PROFILES)
        ),
        theirs="secure 20, anxious 20, avoidant 25, fearful 25 of 30",
        target="",
        reached=None,
    )
    yield Verdict(
        claim="complete trace, above labels permuted within replicates",
        found=f"largest p of the seeds {max(score.p for score in complete):.4f}; "
        f"permuted labels {np.mean([score.null for score in complete]):.3f}",
        target="p <= 0.05",
        reached=max(score.p for score in complete) <= 0.05,  # noqa: PLR2004 - the usual level
    )
    content = Case(split=COMPLETE, method=protocol.PERSMEM, gains="paper", features="content")
    yield Verdict(
        claim="complete trace without internal scores, accuracy",
        found=_spread(_pick(scores, content)),
        target="",
        reached=None,
    )
    matched = _pick(scores, Case(split=MATCHED, method=protocol.PERSMEM, gains="paper"))
    yield _at_least("matched split, PersMem", matched, protocol.MATCHED_TARGET, "72.5 %")
    yield from _controls(scores)
    for split in protocol.SPLITS:
        yield _bias_verdict(split, bias)


def _at_least(claim: str, scores: Scores, target: float, theirs: str) -> Verdict:
    first = wilson(sum(scores[0].right), scores[0].trials)
    return Verdict(
        claim=claim,
        found=f"{_spread(scores)}; seed {scores[0].seed}: {first.words()}",
        theirs=theirs,
        target=f">= {target}",
        reached=_mean(scores) >= target,
    )


def _controls(scores: Scores) -> Iterator[Verdict]:
    for method in protocol.METHODS[1:]:
        theirs = f"{protocol.THEIRS[method]:.1%}"
        for way, case in measuring.ways(Case(split=MATCHED, method=method, gains="paper")).items():
            if way == measuring.CONTENT_ONLY:
                continue
            found = _pick(scores, case)
            source = way == measuring.AS_THE_SOURCE
            yield Verdict(
                claim=f"matched split, {method}, {way}{BELOW if source else ''}",
                found=_spread(found),
                theirs=theirs if source else "",
                target=f"<= {protocol.CONTROL_LIMIT}",
                reached=_mean(found) <= protocol.CONTROL_LIMIT,
            )


def _bias_verdict(split: str, bias: Bias) -> Verdict:
    ours = bias[split, protocol.PERSMEM, "paper"]
    others = max(abs(bias[split, method, "paper"].value) for method in protocol.METHODS[1:])
    return Verdict(
        claim=f"{split}, bias to the bad, anxious less secure",
        found=f"{ours.words()}; controls {others:.3f}",
        target="above 0, controls 0",
        reached=ours.low > 0.0 and math.isclose(others, 0.0, abs_tol=1e-9),
    )


def _methods(scores: Scores, bias: Bias) -> Table:
    def row(split: str, method: str, gains: protocol.Gains) -> tuple[str, ...]:
        main = Case(split=split, method=method, gains=gains)
        found = [_spread(_pick(scores, case)) for case in measuring.ways(main).values()]
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


def _profiles(scores: Scores) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for split in protocol.SPLITS:
        for score in _pick(scores, Case(split=split, method=protocol.PERSMEM, gains="paper")):
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


def _contrast(curve: Mapping[float, Scores]) -> Table:
    return Table(
        name="contrast",
        title="PersMem, matched split, profiles at 0.5 +- contrast, one replicate held out",
        columns=("contrast", "accuracy", "least", "most"),
        rows=tuple(
            (
                contrast,
                _mean(scores),
                min(score.accuracy for score in scores),
                max(score.accuracy for score in scores),
            )
            for contrast, scores in curve.items()
        ),
    )


def _pictures(scores: Scores, curve: Mapping[float, Scores]) -> dict[str, str]:
    labels = protocol.METHODS
    picked: dict[str, list[Scores]] = {}
    for method in labels:
        main = Case(split=MATCHED, method=method, gains="paper")
        for way, case in measuring.ways(main).items():
            picked.setdefault(way, []).append(_pick(scores, case))
    low, mean, high = (
        [f([score.accuracy for score in found]) for found in curve.values()]
        for f in (min, np.mean, max)
    )
    return {
        "methods": plots.bars(
            "Four-way accuracy on the matched split (chance 0.25)",
            labels=labels,
            series={way: [_mean(s) for s in found] for way, found in picked.items()},
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


def _accuracies(scores: Scores) -> Table:
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


def _instances(kept: Mapping[Case, Sequence[Instances]], size: Size) -> Table:
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


def _configuration(size: Size) -> dict[str, object]:
    return {
        "profiles": list(protocol.PROFILES),
        "probes": list(protocol.PROBES),
        "memories_a_probe": protocol.RECALLED,
        "state": list(protocol.STATE),
        "splits": protocol.SPLITS,
        "ages": protocol.AGES,
        "temperature": protocol.TEMPERATURE,
        "candidates": protocol.CANDIDATES,
        "features": list(traces.FEATURES),
        "maps_sha256": maps.sha256(),
        **asdict(size),
    }
