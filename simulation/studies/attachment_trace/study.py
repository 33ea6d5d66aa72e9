"""The study `attachment-trace`: what is reported.

Source: PersMem, E.1, Tables 1 and 11.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.personality import maps
from simulation.studies import corpus
from simulation.studies.attachment_trace import measuring, protocol, report, traces
from simulation.studies.attachment_trace.measuring import QUICK, Case, Size
from simulation.studies.attachment_trace.report import (
    COMPLETE,
    MATCHED,
    Bias,
    Scores,
    accuracies,
    mean_accuracy,
    pick,
)
from simulation.studies.intervals import spread, wilson
from simulation.studies.output import Findings, publish
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulation.encoders import Encoder

NAME: Final = "attachment-trace"
TITLE: Final = "profiles told apart by the trace of their recall"
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


def run(folder: Path, *, quick: bool, data: None = None) -> str:  # noqa: ARG001 - as all studies
    """Make the study, write it into a new folder and return what to print.

    data: there are none; all studies are called alike.
    """
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
        tables=(
            report.methods(scores, bias),
            report.profiles(scores),
            report.contrast_table(curve),
        ),
        pictures=report.pictures(scores, curve),
        seeds=size.seeds,
        configuration=_configuration(size),
        data=corpus.digests(),
        encoders=(held[MATCHED].encoder,),
        records={
            "accuracies.csv": report.all_accuracies(scores).csv(),
            "instances.csv": report.instances(kept, size).csv(),
        },
    )


def _verdicts(scores: Scores, bias: Bias) -> Iterator[Verdict]:
    complete = pick(scores, Case(split=COMPLETE, method=protocol.PERSMEM, gains="paper"))
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
        found=accuracies(pick(scores, content)),
        target="",
        reached=None,
    )
    matched = pick(scores, Case(split=MATCHED, method=protocol.PERSMEM, gains="paper"))
    yield _at_least("matched split, PersMem", matched, protocol.MATCHED_TARGET, "72.5 %")
    yield from _controls(scores)
    for split in protocol.SPLITS:
        yield _bias_verdict(split, bias)


def _at_least(claim: str, scores: Scores, target: float, theirs: str) -> Verdict:
    first = wilson(sum(scores[0].right), scores[0].trials)
    return Verdict(
        claim=claim,
        found=f"{accuracies(scores)}; seed {scores[0].seed}: {first.words()}",
        theirs=theirs,
        target=f">= {target}",
        reached=mean_accuracy(scores) >= target,
    )


def _controls(scores: Scores) -> Iterator[Verdict]:
    for method in protocol.METHODS[1:]:
        theirs = f"{protocol.THEIRS[method]:.1%}"
        for way, case in measuring.ways(Case(split=MATCHED, method=method, gains="paper")).items():
            if way == measuring.CONTENT_ONLY:
                continue
            found = pick(scores, case)
            source, own = way == measuring.AS_THE_SOURCE, way == measuring.OWN_STREAMS
            yield Verdict(
                claim=f"matched split, {method}, {way}{BELOW if source else ''}",
                found=accuracies(found),
                theirs=theirs if source else "",
                # with paired streams all profiles recall the same, and the way of counting
                # alone says what comes out: only streams of their own can be judged
                target=f"<= {protocol.CONTROL_LIMIT}" if own else "",
                reached=mean_accuracy(found) <= protocol.CONTROL_LIMIT if own else None,
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
