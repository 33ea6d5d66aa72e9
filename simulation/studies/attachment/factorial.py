"""The study `attachment-factorial`: what each part of memory adds, and other labels (E.3, E.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from simulation.scenario.persmem import PersMem, Switches
from simulation.studies import corpus as corpora
from simulation.studies.attachment import annotators, protocol, scoring, traces
from simulation.studies.attachment.bench import QUICK, WHOLE, bench, persmem
from simulation.studies.attachment.classifier import CONSTANT
from simulation.studies.attachment.features import READINGS, features
from simulation.studies.attachment.heldout import FULL, GATES, NEUTRAL, OFF, configuration
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
    from simulation.studies.corpus import Corpus
    from simulation.studies.tables import Cell

    Cells = Mapping[tuple[bool, ...], Answers]

NAME = "attachment-factorial"
SWITCHES = ("A", "R", "P", "G")
PARTS = ("affective appraisal", "retention", "passive retrieval", "gate")
THEIRS = (0.005, 0.013, 0.130, 0.085)
LARGE = ("P", "G")
LABELS_THEIRS = "0.450 [0.388, 0.512], p = 0.0002"
ABOUT = (
    "The held-out classification of the study `attachment`, with each of four parts of the "
    "memory knowing the profile or not: A the appraisal, R the retention, P passive retrieval, G "
    "the gate (off, it never fires). Every one of the 16 settings has its own classifier, fitted "
    "on development. The term of overgeneral memories, S, is on; it stands apart, because it is a "
    "part of P. Then the same with other labels of the memories, at retrieval as in what the "
    "classifier sees: a second, blind reader, and two automatic annotators of affect."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """The 16 cells of a setting. labels: whose.  reading: of the classifier.  special: S on."""

    labels: str
    reading: str
    special: bool
    cells: Cells

    @property
    def effects(self) -> list[Interval]:
        """Main effects of A, R, P and G."""
        return scoring.main_effects(self.cells)


def run(folder: Path, *, quick: bool, data: Path | None = None) -> str:  # noqa: ARG001 - takes none
    """Make the study, write it into a new folder and return what to print."""
    return publish(study(quick=quick), folder, quick=quick)


def study(*, quick: bool) -> Findings:
    """Return what the study finds. quick: two seeds, little training, fewer grids."""
    sizes = QUICK if quick else WHOLE
    benches = {
        name: bench(sizes, annotate=annotate) for name, annotate in annotators.annotators().items()
    }
    first = benches[annotators.FIRST]
    main = grid(first, annotators.FIRST)
    others = [] if quick else list(_others(benches))
    without = grid(first, annotators.FIRST, special=False)
    labels = {name: gates(here) for name, here in benches.items()}
    crossed = {name: told_by(here, first) for name, here in benches.items() if here is not first}
    return Findings(
        name=NAME,
        title="what each part of the memory adds, and other labels",
        about=ABOUT,
        verdicts=tuple(verdicts([main, without, *others], labels, crossed, sizes.permutations)),
        tables=(
            effect_table([main, without, *others]),
            seed_table(main, sizes.seeds),
            cell_table([main, without, *others]),
            label_table(labels, crossed, sizes.permutations),
            direction_table(benches),
            agreement_table(benches),
        ),
        pictures={"effects": picture(main)},
        seeds=sizes.seeds,
        configuration=configuration(first),
        data=corpora.digests(),
        encoders=(first.test.bank.encoder,),
    )


def _others(benches: Mapping[str, Bench]) -> Iterator[Grid]:
    yield grid(benches[annotators.SECOND], annotators.SECOND)
    first = benches[annotators.FIRST]
    yield grid(first, annotators.FIRST, reading=protocol.OTHER_READING)


def grid(
    here: Bench, labels: str, *, reading: str = protocol.READING, special: bool = True
) -> Grid:
    """Return the 16 cells, each fitted and measured on its own."""
    cells = {
        setting: here.measure(persmem(_cell(setting), _spec(setting, special), reading=reading))
        for setting in product((True, False), repeat=len(SWITCHES))
    }
    return Grid(labels=labels, reading=reading, special=special, cells=cells)


def gates(here: Bench) -> dict[str, Answers]:
    """Return the three modes of the gate, measured."""
    return {name: here.measure(persmem(name, spec)) for name, spec in GATES.items()}


def told_by(here: Bench, reader: Bench) -> Answers:
    """Return the full system measured where another reader tells what was recalled.

    here: whose labels retrieval uses.  reader: whose labels the classifier sees.
    """
    corpora_by_split = _corpora(reader)

    def told(split: Split, trace: Trace, taken: Instances) -> FloatArray:
        return features(trace, taken, corpora_by_split[split.name], protocol.READING)

    return here.measure(replace(persmem(FULL, PersMem()), view=told))


def verdicts(
    grids: list[Grid],
    labels: Mapping[str, Mapping[str, Answers]],
    crossed: Mapping[str, Answers],
    permutations: int,
) -> Iterator[Verdict]:
    """Yield a line for each claim, by the rules of `protocol`."""
    main, without = grids[:2]
    effects = dict(zip(SWITCHES, main.effects, strict=True))
    for switch, part, theirs in zip(SWITCHES, PARTS, THEIRS, strict=True):
        yield Verdict(
            claim=f"main effect of {switch}, {part}",
            found=effects[switch].words(),
            target="",
            reached=None,
            theirs=f"{theirs:+.3f}",
        )
    for grid_ in (main, *(other for other in grids[2:] if other.reading == READINGS[0])):
        yield _largest(grid_)
    yield from (_reported(other) for other in grids[2:] if other.reading != READINGS[0])
    yield _special(main, without)
    for name, found in labels.items():
        if name != annotators.FIRST:
            yield from _labelled(name, found, permutations)
            yield Verdict(
                claim=f"labels by {name} at retrieval, by the first reader to the classifier",
                found=scoring.interval(crossed[name]).words(),
                target="",
                reached=None,
            )


def _largest(found: Grid) -> Verdict:
    effects = {s: e.value for s, e in zip(SWITCHES, found.effects, strict=True)}
    least = min(effects[switch] for switch in LARGE)
    rest = max(value for switch, value in effects.items() if switch not in LARGE)
    return Verdict(
        claim=f"passive retrieval and the gate have the largest effects ({found.labels})",
        found=", ".join(f"{switch} {value:+.3f}" for switch, value in effects.items()),
        target="P and G above A and R",
        reached=least > rest,
        theirs=", ".join(f"{s} {v:+.3f}" for s, v in zip(SWITCHES, THEIRS, strict=True)),
    )


def _reported(found: Grid) -> Verdict:
    effects = zip(SWITCHES, found.effects, strict=True)
    return Verdict(
        claim=f"main effects with passive retrieval read, too ({found.labels})",
        found=", ".join(f"{switch} {effect.value:+.3f}" for switch, effect in effects),
        target="",
        reached=None,
    )


def _special(main: Grid, without: Grid) -> Verdict:
    whole = (True,) * len(SWITCHES)
    gap = scoring.difference(main.cells[whole], without.cells[whole])
    return Verdict(
        claim="S, the term of overgeneral memories: full system with it and without",
        found=f"{main.cells[whole].accuracy:.3f}, {without.cells[whole].accuracy:.3f}; "
        f"difference {gap.words()}",
        target="",
        reached=None,
        theirs="evaluated apart",
    )


def _labelled(name: str, found: Mapping[str, Answers], permutations: int) -> Iterator[Verdict]:
    full, neutral, off = (found[gate] for gate in (FULL, NEUTRAL, OFF))
    p = scoring.p_value(full, permutations=permutations)
    yield Verdict(
        claim=f"labels by {name}: above chance",
        found=f"{scoring.interval(full).words()}, p = {p:.4f}; seeds {spread(full.by_seed)}",
        target="p at most 0.05, chance 0.250",
        reached=scoring.above_chance(p),
        theirs=LABELS_THEIRS,
    )
    gaps = scoring.difference(full, neutral), scoring.difference(neutral, off)
    yield Verdict(
        claim=f"labels by {name}: full above neutral gate above gate off",
        found=f"{full.accuracy:.3f}, {neutral.accuracy:.3f}, {off.accuracy:.3f}; "
        f"by {gaps[0].words()} and {gaps[1].words()}",
        target="both intervals above 0",
        reached=all(map(scoring.lower, gaps)),
    )


def effect_table(grids: list[Grid]) -> Table:
    """Return main effects with intervals."""
    rows: list[tuple[Cell, ...]] = []
    for found in grids:
        theirs: tuple[Cell, ...] = THEIRS if found is grids[0] else ("",) * len(SWITCHES)
        for switch, part, effect, other in zip(
            SWITCHES, PARTS, found.effects, theirs, strict=True
        ):
            setting = (found.labels, found.reading, _on(found.special))
            rows.append((*setting, switch, part, effect.value, effect.low, effect.high, other))
    return Table(
        name="effects",
        title="Average main effect of each part on held-out accuracy",
        columns=("labels", "read", "S", "switch", "part", "effect", "low", "high", "theirs"),
        rows=tuple(rows),
    )


def seed_table(found: Grid, seeds: tuple[int, ...]) -> Table:
    """Return main effects by seed."""
    settings = np.where(np.array(list(found.cells)), 1.0, -1.0) * 2 / len(found.cells)
    by_seed = np.stack([cell.by_seed for cell in found.cells.values()])
    return Table(
        name="seeds",
        title="Main effects by seed",
        columns=("switch", *(f"seed {seed}" for seed in seeds)),
        rows=tuple(
            (switch, *row.tolist())
            for switch, row in zip(SWITCHES, settings.T @ by_seed, strict=True)
        ),
    )


def cell_table(grids: list[Grid]) -> Table:
    """Return the accuracy of every cell."""
    rows: list[tuple[Cell, ...]] = []
    for found in grids:
        for setting, cell in found.cells.items():
            one = scoring.interval(cell)
            ends = (float(cell.by_seed.min()), float(cell.by_seed.max()))
            where = (found.labels, found.reading, _on(found.special), *map(_on, setting))
            rows.append((*where, one.value, one.low, one.high, *ends))
    return Table(
        name="cells",
        title="Held-out accuracy by what is switched on",
        columns=(
            *("labels", "read", "S", *SWITCHES),
            *("accuracy", "low", "high", "least seed", "most seed"),
        ),
        rows=tuple(rows),
    )


def label_table(
    labels: Mapping[str, Mapping[str, Answers]],
    crossed: Mapping[str, Answers],
    permutations: int,
) -> Table:
    """Return accuracies by who labelled for retrieval and for the classifier."""
    found = [
        (name, name, gate, answers)
        for name, by_gate in labels.items()
        for gate, answers in by_gate.items()
    ]
    found += [(name, annotators.FIRST, FULL, answers) for name, answers in crossed.items()]
    rows: list[tuple[Cell, ...]] = []
    for retrieval, reader, gate, answers in found:
        one = scoring.interval(answers)
        ends = (float(answers.by_seed.min()), float(answers.by_seed.max()))
        p = scoring.p_value(answers, permutations=permutations)
        rows.append((retrieval, reader, gate, one.value, one.low, one.high, *ends, p))
    return Table(
        name="labels",
        title="Held-out accuracy by whose labels are used",
        columns=(
            *("at retrieval", "to the classifier", "gate", "accuracy", "low", "high"),
            *("least seed", "most seed", "p"),
        ),
        rows=tuple(rows),
    )


def direction_table(benches: Mapping[str, Bench]) -> Table:
    """Return what each profile finds, told by the first reader whoever labelled for retrieval."""
    reader = benches[annotators.FIRST].test.corpus
    rows: list[tuple[Cell, ...]] = []
    for name, here in benches.items():
        trace = traces.remember(
            here.test, PersMem(), seed=here.sizes.seeds[0], replicates=here.replicates()
        )
        for profile, found, fired in zip(PROFILES, trace.found, trace.redirected, strict=True):
            places = found[found >= 0]
            redirections = float(fired.sum() / (found.shape[0] * found.shape[1]))
            valence = float(reader.affect[places, 0].mean())
            overgeneral = float(reader.overgeneral[places].mean())
            rows.append((name, profile, valence, overgeneral, redirections))
    return Table(
        name="direction",
        title="What a search finds by whose labels retrieval uses, told by the first reader's "
        "labels (full system, first seed)",
        columns=("labels", "profile", "valence", "overgeneral share", "redirections a cue"),
        rows=tuple(rows),
    )


def agreement_table(benches: Mapping[str, Bench]) -> Table:
    """Return correlations of each annotator's labels with the first reader's."""
    rows: list[tuple[Cell, ...]] = []
    reader = _corpora(benches[annotators.FIRST])
    for name, here in benches.items():
        for split, corpus in _corpora(here).items():
            pairs = zip(corpus.affect.T, reader[split].affect.T, strict=True)
            found: tuple[Cell, ...] = tuple(_r(*pair) for pair in pairs)
            rows.append((name, split, *found))
    return Table(
        name="agreement",
        title="Correlation of labels with the first reader's (- where they do not vary)",
        columns=("labels", "set", "valence r", "arousal r", "dominance r"),
        rows=tuple(rows),
    )


def _corpora(here: Bench) -> dict[str, Corpus]:
    return {split.name: split.corpus for split in (here.development, here.test)}


def _r(left: FloatArray, right: FloatArray) -> float | str:
    return float(np.corrcoef(left, right)[0, 1]) if left.std() > CONSTANT else "-"


def picture(found: Grid) -> str:
    """Return main effects as bars, beside the source's."""
    effects = found.effects
    return bars(
        "Average main effect on held-out accuracy",
        labels=[f"{s}: {part}" for s, part in zip(SWITCHES, PARTS, strict=True)],
        series={"here": [effect.value for effect in effects], "PersMem paper": list(THEIRS)},
        intervals={"here": [(effect.low, effect.high) for effect in effects]},
        y="accuracy",
    )


def _spec(setting: tuple[bool, ...], special: bool) -> PersMem:  # noqa: FBT001 - one more switch
    return PersMem(switches=Switches(S=special, **dict(zip(SWITCHES, setting, strict=True))))


def _cell(setting: tuple[bool, ...]) -> str:
    return "".join(f"{s}{int(on)}" for s, on in zip(SWITCHES, setting, strict=True))


def _on(value: bool) -> str:  # noqa: FBT001 - a cell of a table
    return "on" if value else "off"
