"""The study `dam-judge`: six dimensions by a judge, full memory against settled attitudes.

Source: DAM-LLM (arXiv:2510.27418), "System Performance Evaluation".
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.encoders import EncoderSpec, load
from simulation.errors import UsageError
from simulation.studies.dam.growth import TOP
from simulation.studies.dam_judge import judging
from simulation.studies.dam_judge.worlds import MEMORIES, SEEDS, WORLDS, cases
from simulation.studies.intervals import Interval, bootstrap, spread
from simulation.studies.output import Findings, publish
from simulation.studies.plots import bars
from simulation.studies.speaking import FILE, Models, recite, voices
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.rng import FloatArray
    from simulation.studies.dam_judge.judging import Answered
    from simulation.studies.dam_judge.worlds import Case, Size
    from simulation.studies.speaking import Voices
    from simulation.studies.tables import Cell

NAME: Final = "dam-judge"
CHOSEN: Final = WORLDS[0]
SHARE: Final = (0.35, 0.45)  # what counts as about 40 %
BY_MODEL: Final = {False: 40, True: 3}  # questions where a language model is asked; quick
BY_RULE: Final = {False: None, True: 40}  # all in the full form
SEED_CLAIMS: Final = frozenset(("emotional resonance", "personalization"))
ABOUT: Final = (
    "A simulated user of the study dam says things about products; afterwards it asks about "
    "them. One memory keeps all that was said, as it was said; the other keeps settled "
    f"attitudes, a unit a side. Either recalls its best {TOP} for a question, a speaker answers "
    "from them, and a judge who is not told which memory it was rates six dimensions from 1 to 5. "
    "Intervals: bootstrap over dialogues, 95 %."
)


def run(folder: Path, *, quick: bool, data: Path | None, models: Models | None = None) -> str:
    """Make the study, write it into a new folder and return what to print.

    quick: one seed and few questions.  models: language models that speak and judge; default, by
    rule. They are asked about one seed of the world at about 40 % only.

    Raises:
        UsageError: data are given, or a model cannot be used.
        RunStoppedError: a model did not answer to the end.
    """
    if data is not None:
        raise UsageError(f"the study {NAME} takes no --data")
    models = models or Models()
    with voices(models, speak=recite, judge=judging.by_rule, folder=folder) as who:
        sizes, questions = _questions(quick=quick, by_rule=models.by_rule)
        found = judging.answer_and_rate(questions, who)
        return publish(findings(sizes, found, who), folder, quick=quick)


def _questions(*, quick: bool, by_rule: bool) -> tuple[list[Size], list[Case]]:
    """Return how large memories are, and what is asked of them.

    Sizes are those of all seeds; a language model is asked about the first only.
    """
    encoder = load(EncoderSpec(name="static"))
    sizes, asked = [], []
    for world in WORLDS[:1] if quick else WORLDS:
        for seed in SEEDS[:1] if quick else SEEDS:
            found, size = cases(world, seed, encoder)
            sizes.append(size)
            if by_rule:
                asked += evenly(found, BY_RULE[quick])
            elif world == CHOSEN and seed == SEEDS[0]:
                asked += evenly(found, BY_MODEL[quick])
    return sizes, asked


def evenly(found: Sequence[Case], count: int | None) -> list[Case]:
    """Return so many of them at even distances; all for None."""
    if count is None or count >= len(found):
        return list(found)
    return [found[i * len(found) // count] for i in range(count)]


def findings(sizes: Sequence[Size], found: Sequence[Answered], who: Voices) -> Findings:
    """Return all that was found."""
    world = [each for each in found if each.case.world == CHOSEN.name]
    ratings = rating_table(found)
    return Findings(
        name=NAME,
        title="six dimensions by a judge, full memory against settled attitudes",
        headline=who.headline,
        about=ABOUT,
        verdicts=(
            size_verdict(sizes),
            *rating_verdicts(ratings, by_rule=who.models.judge.is_rule),
        ),
        tables=(
            size_table(sizes),
            ratings,
            seed_table(found),
            answer_table(found),
        ),
        pictures={"ratings": picture(world)},
        seeds=tuple(dict.fromkeys(size.seed for size in sizes)),
        configuration={
            "worlds": [asdict(world) for world in WORLDS],
            "top": TOP,
            "dimensions": judging.DIMENSIONS,
            "speaker_prompt": judging.SPEAK,
            "judge_prompt": [judging.JUDGE, judging.ASKED],
            "questions_by_a_language_model": BY_MODEL[False],
        },
        encoders=(load(EncoderSpec(name="static")),),
        models=who.told(),
        records={FILE: who.lines()} if not who.models.by_rule else {},
    )


def size_verdict(sizes: Sequence[Size]) -> Verdict:
    """Return whether ours is about 40 % of the full memory."""
    shares = [size.share for size in sizes if size.world == CHOSEN.name]
    low, high = SHARE
    return Verdict(
        claim="units of ours as a share of all observations",
        found=spread(shares),
        target=f"{low} to {high} in every seed",
        reached=low <= min(shares) and max(shares) <= high,
        theirs="about 0.4",
    )


def rating_verdicts(ratings: Table, *, by_rule: bool) -> list[Verdict]:
    """Return what the judge found by dimension at about 40 %; nothing is aimed at."""
    judge = "by the rule judge" if by_rule else "by the judge model"
    found = {row[1]: row for row in ratings.rows if row[0] == CHOSEN.name}
    verdicts = []
    for name in judging.DIMENSIONS:
        _, _, pairs, asked, unread, silent, _, _, gap, low, high = found[name]
        parts = ["no pair was rated"]
        if pairs:
            told = (
                f"[{low:+.2f}, {high:+.2f}]" if np.isfinite(low) else "(one dialogue: no interval)"
            )
            parts = [f"{gap:+.2f} {told}, {pairs} pairs"]
        if unread:
            parts.append(f"{unread} of {asked} ratings could not be read or never came")
        if silent:
            parts.append(f"{silent} were not asked, as there was no answer")
        told = "; ".join(parts)
        verdicts.append(
            Verdict(
                claim=f"{name}, {judge}: settled attitudes minus full memory",
                found=told,
                target="as it is",
                reached=None,
                theirs="significantly better" if name in SEED_CLAIMS else "",
            )
        )
    return verdicts


def paired(found: Sequence[Answered], name: str) -> FloatArray:
    """Return (ours, full, number of the dialogue) of each question rated twice, (n, 3)."""
    by_case: dict[str, dict[str, Answered]] = {}
    for each in found:
        by_case.setdefault(each.case.id, {})[each.memory] = each
    rows = []
    for both in by_case.values():
        ours, full = (both[memory].ratings.get(name) for memory in ("dam", "full"))
        if ours is not None and full is not None:
            case = both["dam"].case
            rows.append((ours, full, case.seed * 1000 + case.dialogue))
    return np.array(rows, np.float64).reshape(-1, 3)


def difference(rows: FloatArray, purpose: str) -> Interval:
    """Return ours minus full on average, with its interval over dialogues."""
    return bootstrap(
        rows[:, 0] - rows[:, 1],
        lambda values: float(values.mean()),
        clusters=rows[:, 2].astype(np.int64),
        purpose=f"{NAME}:{purpose}",
    )


def size_table(sizes: Sequence[Size]) -> Table:
    """Return how large the memories are."""
    rows = tuple(
        (s.world, s.seed, s.full_units, s.dam_units, s.share, s.full_characters,
         s.dam_characters, s.dam_characters / s.full_characters)
        for s in sizes
    )  # fmt: skip
    columns = ("world", "seed", "full_units", "dam_units", "share", "full_characters",
               "dam_characters", "share_of_characters")  # fmt: skip
    title = "How large the memories are, in units and in characters of their texts"
    return Table(name="sizes", title=title, columns=columns, rows=rows)


def rating_table(found: Sequence[Answered]) -> Table:
    """Return mean ratings of both memories by world and dimension."""
    rows = []
    for world in dict.fromkeys(each.case.world for each in found):
        some = [each for each in found if each.case.world == world]
        for name in judging.DIMENSIONS:
            pairs = paired(some, name)
            asked = [each.ratings[name] for each in some if name in each.ratings]
            counts = len(pairs), len(asked), asked.count(None), len(some) - len(asked)
            made: tuple[Cell, ...] = ("",) * 5
            if len(pairs):
                ours, full = pairs[:, :2].mean(axis=0).tolist()
                gap = difference(pairs, f"{world}:{name}")
                made = (full, ours, gap.value, gap.low, gap.high)
            rows.append((world, name, *counts, *made))
    columns = ("world", "dimension", "pairs", "asked", "unread", "not_asked", "full", "dam",
               "difference", "low", "high")  # fmt: skip
    title = "Ratings from 1 to 5; the difference is settled attitudes minus full memory"
    return Table(name="ratings", title=title, columns=columns, rows=tuple(rows))


def seed_table(found: Sequence[Answered]) -> Table:
    """Return the mean differences of each seed."""
    rows = []
    for world in dict.fromkeys(each.case.world for each in found):
        for seed in dict.fromkeys(each.case.seed for each in found):
            some = [e for e in found if (e.case.world, e.case.seed) == (world, seed)]
            for name in judging.DIMENSIONS:
                pairs = paired(some, name)
                if len(pairs):
                    gap = float((pairs[:, 0] - pairs[:, 1]).mean())
                    rows.append((world, seed, name, len(pairs), gap))
    columns = ("world", "seed", "dimension", "pairs", "difference")
    return Table(name="by_seed", title="Differences by seed", columns=columns, rows=tuple(rows))


def answer_table(found: Sequence[Answered]) -> Table:
    """Return every answer with its ratings; an empty rating was not asked or not read."""
    rows = tuple(
        (e.case.world, e.case.seed, e.case.dialogue, e.memory, e.case.question, e.case.truth,
         len(e.case.recalled[e.memory]), e.text,
         *("" if (r := e.ratings.get(name)) is None else r for name in judging.DIMENSIONS))
        for e in found
    )  # fmt: skip
    columns = ("world", "seed", "dialogue", "memory", "question", "truth", "recalled", "answer",
               *(name.replace(" ", "_") for name in judging.DIMENSIONS))  # fmt: skip
    return Table(name="answers", title="All answers", columns=columns, rows=rows)


def picture(world: Sequence[Answered]) -> str:
    """Return mean ratings by dimension as SVG."""
    names = [name for name in judging.DIMENSIONS if len(paired(world, name))]
    means = [paired(world, name)[:, :2].mean(axis=0).tolist() for name in names]
    series = {MEMORIES[0]: [m[1] for m in means], MEMORIES[1]: [m[0] for m in means]}
    return bars(
        "Mean rating by dimension, memory at about 40 %", labels=names, series=series, y="rating"
    )
