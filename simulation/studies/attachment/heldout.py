"""The study `attachment`: is a profile told from what it recalls? (PersMem 4.1, Table 1; E.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simulation.personality import maps
from simulation.scenario.persmem import Gate, PersMem, Switches
from simulation.studies import corpus as corpora
from simulation.studies.attachment import choosing, controls, protocol, scoring, traces
from simulation.studies.attachment.bench import QUICK, WHOLE, Method, bench, only, persmem, view
from simulation.studies.attachment.features import CONTENT, embeddings, features, names
from simulation.studies.attachment.traces import PROFILES
from simulation.studies.intervals import Interval, spread
from simulation.studies.output import Findings, publish
from simulation.studies.plots import bars
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from simulation.rng import FloatArray
    from simulation.studies.attachment.bench import Answers, Bench
    from simulation.studies.attachment.traces import Instances, Split, Trace

NAME = "attachment"
OWN, FROZEN = "own", "full system's, frozen"
FULL, NEUTRAL, OFF = "full", "neutral gate", "gate off"
TEXT = "text embeddings only"
MATCHED, STRONGEST = "linear reranker, as strong as PersMem", "linear reranker, at its best"
CONTENT_ONLY, REDIRECTIONS_ONLY = "content only", "redirections only"
BLIND = {"semantic": "semantic", "generative_agents": "Generative-Agents scoring"}
NO_TRAIT = "no trait"
WIDE = f"{protocol.OTHER_READING}: "
GATES: dict[str, PersMem] = {
    FULL: PersMem(),
    NEUTRAL: PersMem(gate=Gate(mode="neutral")),
    OFF: PersMem(gate=Gate(mode="off")),
}
THEIRS = {
    FULL: "0.481 [0.400, 0.563], p = .0002",
    NEUTRAL: "0.400",
    OFF: "0.250",
    TEXT: "0.250",
    MATCHED: "0.300, p = .055",
    STRONGEST: "0.300, p = .055",
}
ABOUT = (
    "Four attachment profiles are asked the same cues and search the same memories with the same "
    "random numbers. A classifier sees statistics of what the search found and where the gate "
    "redirected it, by raw labels, and says which profile it was. It is fitted on the 92 "
    "development memories and their cues and measured on the 165 test memories and theirs; what "
    "else was set is in `simulation/studies/attachment/protocol.py`, committed before. An "
    "instance is one cue: 40 instances a profile and seed. Intervals resample cues; p permutes "
    "the profiles that met the same cue and numbers. `own`: the classifier was fitted on "
    "development under the same condition; verdicts use it."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """A condition, measured. classifier: `OWN` or `FROZEN`.  p: of permuted profiles."""

    answers: Answers
    classifier: str
    p: float

    @property
    def name(self) -> str:
        """The condition."""
        return self.answers.name


def run(folder: Path, *, quick: bool, data: Path | None = None) -> str:  # noqa: ARG001 - takes none
    """Make the study, write it into a new folder and return what to print."""
    return publish(study(quick=quick), folder, quick=quick)


def study(*, quick: bool) -> Findings:
    """Return what the study finds. quick: two seeds, little training and few validations."""
    here = bench(QUICK if quick else WHOLE)
    own = [_measured(here, here.measure(method), OWN) for method in methods()]
    full = persmem(FULL, GATES[FULL])
    fitted = here.fit(full)
    frozen = [
        _measured(here, here.put(fitted, persmem(name, GATES[name])), FROZEN)
        for name in (NEUTRAL, OFF)
    ]
    by_name = {m.name: m for m in own}
    chosen = choosing.choices(here.development, quick=quick)
    return Findings(
        name=NAME,
        title="is a profile told from what it recalls?",
        about=ABOUT,
        verdicts=(*verdicts(by_name), *([] if quick else [_chosen(chosen)])),
        tables=(
            accuracy_table([*own, *frozen]),
            seed_table([*own, *frozen], here.sizes.seeds),
            confusion_table(by_name[FULL].answers),
            size_table(here),
            feature_table(here),
            choosing.table(chosen),
            prediction_table([m.answers for m in own], here),
        ),
        pictures={"accuracy": picture(by_name)},
        seeds=here.sizes.seeds,
        configuration=configuration(here),
        data=corpora.digests(),
        encoders=(here.test.bank.encoder,),
    )


def methods() -> Iterator[Method]:
    """Yield every way of recalling that is fitted and measured on its own."""
    full = persmem(FULL, GATES[FULL])
    yield full
    for name in (NEUTRAL, OFF):
        yield persmem(name, GATES[name])
    yield replace(full, name=TEXT, view=_texts, ridge=protocol.TEXT_RIDGE)
    yield _linear(MATCHED, *protocol.MATCHED)
    yield _linear(STRONGEST, *protocol.STRONGEST)
    for mode, name in BLIND.items():
        yield _blind(name, mode)
    yield persmem(NO_TRAIT, controls.NO_TRAIT)
    yield persmem("fixed reference gains", PersMem(gains="reference"))
    yield persmem("no term of overgeneral memories", PersMem(switches=Switches(S=False)))
    yield only(full, CONTENT_ONLY, slice(0, len(CONTENT)))
    yield only(full, REDIRECTIONS_ONLY, slice(len(CONTENT), None))
    for name, spec in GATES.items():
        yield persmem(WIDE + name, spec, reading=protocol.OTHER_READING)


def verdicts(found: Mapping[str, Measured]) -> Iterator[Verdict]:
    """Yield a line for each claim, by the rules of `protocol`."""
    full, neutral, off = (found[name].answers for name in (FULL, NEUTRAL, OFF))
    least = float(full.by_seed.min())
    yield Verdict(
        claim="held-out accuracy, full system",
        found=f"{_words(full)}; seeds {spread(full.by_seed)}",
        target="at least 0.481 at every seed; chance 0.250",
        reached=least >= protocol.SOURCE["full"],
        theirs="0.481 [0.400, 0.563]",
    )
    yield Verdict(
        claim="above permuted profiles",
        found=f"p = {found[FULL].p:.4f}",
        target="p at most 0.05",
        reached=scoring.above_chance(found[FULL].p),
        theirs="p = 0.0002",
    )
    yield _gap("neutral gate: lower than full", full, neutral, "0.400")
    yield _gap("gate off: lower still than the neutral gate", neutral, off, "0.250")
    yield _gap("text embeddings only: lower than full", full, found[TEXT].answers, "0.250")
    for name in (MATCHED, STRONGEST):
        yield _gap(f"{name}: lower than full", full, found[name].answers, "0.300")
    yield from (_near_chance(name, found[name]) for name in (TEXT, MATCHED, STRONGEST))
    for name in (*BLIND.values(), NO_TRAIT):  # by construction
        yield _told(f"{name}: knows no profile", found[name].answers)
    yield from _beside(found)


def _beside(found: Mapping[str, Measured]) -> Iterator[Verdict]:
    content, linear = found[CONTENT_ONLY].answers, found[STRONGEST].answers
    yield Verdict(
        claim=f"{CONTENT_ONLY}, since a reranker redirects nothing: above the {STRONGEST}",
        found=f"{_words(content)}; by {scoring.difference(content, linear).words()}",
        target="",
        reached=None,
    )
    yield _told(REDIRECTIONS_ONLY, found[REDIRECTIONS_ONLY].answers)
    for name in ("fixed reference gains", "no term of overgeneral memories"):
        yield _told(f"full system, {name}", found[name].answers)
    for name in (FULL, NEUTRAL, OFF):
        yield _told(f"passive retrieval read, too: {name}", found[WIDE + name].answers)


def _near_chance(name: str, one: Measured) -> Verdict:
    return Verdict(
        claim=f"{name}: not above chance",
        found=f"{_words(one.answers)}, p = {one.p:.4f}",
        target="p above 0.05, as in the source",
        reached=not scoring.above_chance(one.p),
        theirs=THEIRS[name],
    )


def _chosen(found: list[choosing.Choice]) -> Verdict:
    ruled = choosing.by_rule(found)
    return Verdict(
        claim="the settings are those that validated best on development",
        found=", ".join(f"{name.lower()} {value}" for name, value in ruled.items()),
        target="as the protocol has them",
        reached=all(getattr(protocol, name) == value for name, value in ruled.items()),
    )


def _told(claim: str, answers: Answers) -> Verdict:
    return Verdict(claim=claim, found=_words(answers), target="", reached=None)


def _gap(claim: str, above: Answers, below: Answers, theirs: str) -> Verdict:
    gap = scoring.difference(above, below)
    return Verdict(
        claim=claim,
        found=f"{_words(below)}; lower by {gap.words()}",
        target="interval of the difference above 0",
        reached=scoring.lower(gap),
        theirs=theirs,
    )


def _words(answers: Answers) -> str:
    return scoring.interval(answers).words()


def _measured(here: Bench, answers: Answers, which: str) -> Measured:
    p = scoring.p_value(answers, permutations=here.sizes.permutations)
    return Measured(answers=answers, classifier=which, p=p)


def _linear(name: str, strength: float, ridge: float) -> Method:
    """Return the reranker, with weights fitted on development, whatever split it works on."""
    made: dict[str, controls.Reranker] = {}

    def recall(split: Split, seed: int, replicates: int) -> Trace:  # noqa: ARG001 - draws nothing
        if split.name == "development":
            made["it"] = controls.fitted(split, PersMem(), strength=strength)
        return controls.rerank(split, made["it"], replicates=replicates)

    return Method(name=name, recall=recall, view=_view, ridge=ridge)


def _blind(name: str, mode: str) -> Method:
    def recall(split: Split, seed: int, replicates: int) -> Trace:
        return controls.recall(split, mode, seed=seed, replicates=replicates)

    return Method(name=name, recall=recall, view=_view)


def _view(split: Split, trace: Trace, taken: Instances) -> FloatArray:
    return view(split, trace, taken, reading=protocol.READING)


def _texts(split: Split, trace: Trace, taken: Instances) -> FloatArray:
    return embeddings(trace, taken, traces.vectors(split), protocol.READING)


def accuracy_table(found: list[Measured]) -> Table:
    """Return accuracies with intervals, over all seeds and of the first alone."""
    return Table(
        name="accuracy",
        title="Held-out accuracy by condition",
        columns=(
            *("condition", "classifier", "accuracy", "low", "high", "least seed", "most seed"),
            *("first seed", "its low", "its high", "p", "theirs"),
        ),
        rows=tuple(
            (
                *(m.name, m.classifier, *_ends(scoring.interval(m.answers))),
                *(float(m.answers.by_seed.min()), float(m.answers.by_seed.max())),
                *(*_ends(scoring.of_seed(m.answers)), m.p),
                THEIRS.get(m.name, "") if m.classifier == OWN else "",
            )
            for m in found
        ),
    )


def _ends(found: Interval) -> tuple[float, float, float]:
    return found.value, found.low, found.high


def seed_table(found: list[Measured], seeds: tuple[int, ...]) -> Table:
    """Return accuracies by seed."""
    return Table(
        name="seeds",
        title="Held-out accuracy by seed",
        columns=("condition", "classifier", *(f"seed {seed}" for seed in seeds)),
        rows=tuple((m.name, m.classifier, *m.answers.by_seed.tolist()) for m in found),
    )


def confusion_table(answers: Answers) -> Table:
    """Return who was taken for whom."""
    counts = answers.confusion()
    return Table(
        name="confusion",
        title="Full system: instances of a profile (rows) by the profile they were taken for",
        columns=("profile", *PROFILES, "right"),
        rows=tuple(
            (name, *row.tolist(), float(row[i] / row.sum()))
            for i, (name, row) in enumerate(zip(PROFILES, counts, strict=True))
        ),
    )


def size_table(here: Bench) -> Table:
    """Return accuracies with more cues an instance."""
    rows = []
    for size in (protocol.SIZE, *protocol.OTHER_SIZES):
        for name, spec in GATES.items():
            by_seed = here.measure(persmem(name, spec), size=size).by_seed
            rows.append((size, name, *(float(f(by_seed)) for f in (np.mean, np.min, np.max))))
    return Table(
        name="sizes",
        title="Accuracy by the number of cues that make an instance",
        columns=("cues", "condition", "accuracy", "least seed", "most seed"),
        rows=tuple(rows),
    )


def feature_table(here: Bench) -> Table:
    """Return the mean of each feature on the test split, by profile, first seed."""
    seed, replicates = here.sizes.seeds[0], here.replicates()
    trace = traces.remember(here.test, PersMem(), seed=seed, replicates=replicates)
    dealt = traces.instances(here.test, seed=seed, replicates=replicates, size=protocol.SIZE)
    seen = features(trace, dealt, here.test.corpus, protocol.OTHER_READING)
    means = seen.reshape(len(PROFILES), len(dealt), -1).mean(axis=1)
    return Table(
        name="features",
        title="Full system, test split, first seed: mean of each feature by profile",
        columns=("feature", *PROFILES),
        rows=tuple(
            (name, *means[:, j].tolist()) for j, name in enumerate(names(protocol.OTHER_READING))
        ),
    )


def prediction_table(found: list[Answers], here: Bench) -> Table:
    """Return every prediction behind the accuracies."""
    seeds, people, count = found[0].predicted.shape
    rows = []
    for e, p, n in np.ndindex(seeds, people, count):
        cue = here.test.cues[found[0].cluster[e, n]]
        taken = (PROFILES[answers.predicted[e, p, n]] for answers in found)
        rows.append((here.sizes.seeds[e], n, cue, PROFILES[p], *taken))
    return Table(
        name="predictions",
        title="Every instance of the test split, and the profile it was taken for",
        columns=("seed", "instance", "cue", "profile", *(answers.name for answers in found)),
        rows=tuple(rows),
    )


def picture(found: Mapping[str, Measured]) -> str:
    """Return the main accuracies as bars."""
    shown = (FULL, NEUTRAL, OFF, TEXT, MATCHED, STRONGEST)
    ours = [scoring.interval(found[name].answers) for name in shown]
    return bars(
        "Held-out accuracy (chance 0.25)",
        labels=shown,
        series={
            "here": [one.value for one in ours],
            "PersMem paper": [float(THEIRS[name].split(" ")[0].rstrip(",")) for name in shown],
        },
        intervals={"here": [(one.low, one.high) for one in ours]},
        y="accuracy",
    )


def configuration(here: Bench) -> dict[str, object]:
    """Return whatever decides the numbers."""
    fixed = {name.lower(): value for name, value in vars(protocol).items() if name.isupper()}
    return fixed | {
        "replicates of training": here.sizes.replicates,
        "permutations made": here.sizes.permutations,
        "persmem": PersMem().model_dump(),
        "maps_sha256": maps.sha256(),
    }
