"""The study `dialogue`: six-round dialogues, and a judge who chooses blindly.

Fifty profiles hold the same dialogue under four conditions. Fixed: the state, the questions, the
role card, which says nothing of a trait. A judge reads the dialogues of a profile high and one low
in a trait, in both orders, and says which expresses more of it.

Source: PersMem, 4.2, F.2, F.3, Tables 5 and 17.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation.errors import UsageError
from simulation.mind.affect import NEUTRAL_STATE
from simulation.mind.traits import BIG_FIVE_TRAITS
from simulation.studies import corpus, recalling
from simulation.studies.dialogue import judging, profiles, rounds, rules, words
from simulation.studies.dialogue.rounds import CONDITIONS
from simulation.studies.intervals import Interval, bootstrap, spread
from simulation.studies.output import Findings, publish
from simulation.studies.plots import bars
from simulation.studies.speaking import FILE, Models, voices
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from simulation.rng import FloatArray
    from simulation.studies.dialogue.judging import Choice
    from simulation.studies.dialogue.rounds import IntArray
    from simulation.studies.recalling import Bank
    from simulation.studies.speaking import Voices
    from simulation.studies.tables import Cell

NAME: Final = "dialogue"
THEIRS: Final = {"full": 0.675, "no-trait": 0.542, "random": 0.608, "no-memory": 0.533}
"""Shares of right choices (Table 5)."""
ALL: Final = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large the study is. people: profiles.  pairs: a trait.  seeds: with rules alone."""

    people: int
    pairs: int
    seeds: tuple[int, ...]


FULL: Final = Size(people=50, pairs=12, seeds=(0, 1, 2, 3, 4))
QUICK: Final = Size(people=6, pairs=2, seeds=(0,))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repetition:
    """What came of one seed.

    vectors: (P, 5).  recalled: by condition, (P, 6, n) places in the corpus.  replies: by
    condition, of each profile, a text a round.
    """

    seed: int
    vectors: FloatArray
    recalled: Mapping[str, IntArray]
    replies: Mapping[str, Sequence[Sequence[str]]]
    choices: Sequence[Choice]


def run(folder: Path, *, quick: bool, data: Path | None, models: Models | None = None) -> str:
    """Hold and judge the dialogues, write the study into a new folder, return what to print.

    Raises:
        UsageError: there are data, which the study does not take, or a model cannot be used.
        RunStoppedError: a model could not answer to the end.
    """
    if data is not None:
        raise UsageError(f"the study {NAME} takes no --data; its profiles are drawn")
    models = models or Models()
    size = QUICK if quick else FULL
    seeds = size.seeds if models.by_rule else size.seeds[:1]
    bank = recalling.bank(corpus.read("events"))
    with voices(models, speak=rules.say, judge=rules.choose, folder=folder) as asked:
        found = [repeat(asked, bank, size, seed=seed) for seed in seeds]
        return publish(_findings(asked, bank, size, found), folder, quick=quick)


def repeat(asked: Voices, bank: Bank, size: Size, *, seed: int) -> Repetition:
    """Return the dialogues and judgements of one seed."""
    vectors = profiles.sample(size.people, seed=seed)
    recalled = {c: rounds.recalled(bank, vectors, c, seed=seed) for c in CONDITIONS}
    names = profiles.names(size.people)
    talks = [
        rounds.Talk(
            id=f"{seed}|{condition}|{name}",
            system=words.ROLE_CARD,
            memories=rounds.texts(bank, places),
        )
        for condition in CONDITIONS
        for name, places in zip(names, recalled[condition], strict=True)
    ]
    said = rounds.converse(asked.speaker, talks)
    replies = {
        condition: said[i * size.people : (i + 1) * size.people]
        for i, condition in enumerate(CONDITIONS)
    }
    choices = judging.compare(asked.judge, replies, vectors, size=size.pairs, name=f"{seed}|")
    return Repetition(
        seed=seed, vectors=vectors, recalled=recalled, replies=replies, choices=choices
    )


def counts(found: Sequence[Repetition], condition: str, trait: str = ALL) -> FloatArray:
    """Return of each pair how often the judge was right and how often it chose, (N, 2).

    The two orders of a pair stand together, so a pair is what is drawn for an interval.
    """
    rows = [
        [one.right for one in repetition.choices if _is(one, condition, trait, place)]
        for repetition in found
        for place in dict.fromkeys((c.trait, c.rank) for c in repetition.choices)
    ]
    kept = [row for row in rows if row]
    chose = [[sum(r is True for r in row), sum(r is not None for r in row)] for row in kept]
    return np.array(chose, np.float64)


def calls_of(found: Sequence[Repetition], condition: str, trait: str = ALL) -> tuple[int, int]:
    """Return how often the judge was asked, and how many pairs it was not asked about."""
    made = [
        one.asked
        for repetition in found
        for one in repetition.choices
        if one.condition == condition and trait in (ALL, one.trait)
    ]
    return sum(made), made.count(False) // 2


def accuracy(pairs: FloatArray, purpose: str) -> Interval:
    """Return the share of right choices among all choices made, with its interval over pairs.

    pairs: (N, 2) of `counts`. NaN where the judge never chose.
    """
    if not pairs[:, 1].sum():
        return Interval(value=np.nan, low=np.nan, high=np.nan)
    return bootstrap(pairs, _share, purpose=purpose)


def advantage(full: FloatArray, control: FloatArray, purpose: str) -> Interval:
    """Return how much better the full system does than a control, paired by pair."""
    if not (full[:, 1].sum() and control[:, 1].sum()):
        return Interval(value=np.nan, low=np.nan, high=np.nan)
    both = np.concatenate([full, control], axis=1)
    return bootstrap(both, lambda v: _share(v[:, :2]) - _share(v[:, 2:]), purpose=purpose)


def _share(pairs: FloatArray) -> float:
    right, chose = pairs.sum(axis=0).tolist()
    return right / chose if chose else np.nan


def _is(one: Choice, condition: str, trait: str, pair: tuple[str, int]) -> bool:
    return (
        one.condition == condition and trait in (ALL, one.trait) and (one.trait, one.rank) == pair
    )


def _findings(asked: Voices, bank: Bank, size: Size, found: Sequence[Repetition]) -> Findings:
    table = _accuracy_table(found)
    return Findings(
        name=NAME,
        title="dialogues from recalled memories, and a blind choice",
        headline=asked.headline,
        about=f"Each of {size.people} profiles answers six questions, with three "
        f"recalled memories a round or none. The {size.pairs} highest and lowest in each trait "
        "are paired, and a judge chooses in both orders; chance is 50 %. An answer that is "
        "neither A nor B is invalid: it is counted, and left out of the share. A pair in which "
        "one has not replied at all is counted, and not judged. Intervals draw whole pairs; one "
        "profile stands in pairs of several traits, which they do not see.",
        verdicts=tuple(_verdicts(found)),
        tables=(table, _difference_table(found), _seed_table(found), _profile_table(found)),
        pictures=dict(_pictures(table)),
        seeds=tuple(one.seed for one in found),
        configuration=_configuration(size),
        data=corpus.digests(),
        encoders=(bank.encoder,),
        models=asked.told(),
        records={
            FILE: asked.lines(),
            "choices.csv": _choice_table(found).csv(),
            "dialogues.csv": _dialogue_table(bank, found).csv(),
        },
    )


def _verdicts(found: Sequence[Repetition]) -> Iterator[Verdict]:
    for condition, theirs in THEIRS.items():
        pairs = counts(found, condition)
        chose = int(pairs[:, 1].sum())
        calls, silent = calls_of(found, condition)
        told = "the judge never chose"
        if chose:
            told = f"{accuracy(pairs, f'{condition}|{ALL}').words()} of {chose} choices"
        told += f"; {calls - chose} of {calls} invalid"
        if chose:
            told += _by_seed(found, condition)
        yield Verdict(
            claim=f"{condition}: the judge finds who has more of the trait",
            found=told + (f"; {silent} pairs without replies" if silent else ""),
            target="as it is",
            reached=None,
            theirs=f"{theirs:.3f}",
        )


def _by_seed(found: Sequence[Repetition], condition: str) -> str:
    """Return the spread over seeds, where there are several."""
    shares = [_share(counts([one], condition)) for one in found]
    return f"; by seed {spread(shares)}" if len(shares) > 1 else ""


def _accuracy_table(found: Sequence[Repetition]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for condition in CONDITIONS:
        for trait in (ALL, *BIG_FIVE_TRAITS):
            pairs = counts(found, condition, trait)
            share = accuracy(pairs, f"{condition}|{trait}")
            right, chose = pairs.sum(axis=0).astype(int).tolist()
            calls, silent = calls_of(found, condition, trait)
            first = sum(
                one.said == "A"
                for repetition in found
                for one in repetition.choices
                if one.condition == condition and trait in (ALL, one.trait)
            )
            theirs: Cell = THEIRS[condition] if trait == ALL else ""
            rows.append(
                (
                    *(condition, trait, calls, calls - chose, right),
                    *(
                        share.value,
                        share.low,
                        share.high,
                        right / calls if calls else np.nan,
                        theirs,
                    ),
                    first / chose if chose else np.nan,
                    silent,
                )
            )
    return Table(
        name="accuracy",
        title="Right choices, by condition and trait",
        columns=(
            *("condition", "trait", "calls", "invalid", "right", "share", "low", "high"),
            *("share of all calls", "theirs", "A among choices"),
            "pairs without replies",
        ),
        rows=tuple(rows),
    )


def _difference_table(found: Sequence[Repetition]) -> Table:
    full = counts(found, "full")
    rows: list[tuple[Cell, ...]] = []
    for control in CONDITIONS[1:]:
        gap = advantage(full, counts(found, control), f"full|{control}")
        theirs = round(THEIRS["full"] - THEIRS[control], 3)
        rows.append((control, gap.value, gap.low, gap.high, theirs))
    return Table(
        name="differences",
        title="The full system less each control",
        columns=("control", "difference", "low", "high", "theirs"),
        rows=tuple(rows),
    )


def _seed_table(found: Sequence[Repetition]) -> Table:
    rows = [
        (one.seed, *(_share(counts([one], condition)) for condition in CONDITIONS))
        for one in found
    ]
    return Table(
        name="seeds",
        title="Right choices of each seed",
        columns=("seed", *CONDITIONS),
        rows=tuple(rows),
    )


def _profile_table(found: Sequence[Repetition]) -> Table:
    rows = [
        (one.seed, name, *vector)
        for one in found
        for name, vector in zip(
            profiles.names(len(one.vectors)), one.vectors.tolist(), strict=True
        )
    ]
    return Table(
        name="profiles",
        title="Profiles",
        columns=("seed", "profile", *BIG_FIVE_TRAITS),
        rows=tuple(rows),
    )


def _choice_table(found: Sequence[Repetition]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for repetition in found:
        names = profiles.names(len(repetition.vectors))
        for one in (one for one in repetition.choices if one.asked):
            order = "high first" if one.first == one.high else "low first"
            right: Cell = "" if one.right is None else one.right
            rows.append(
                (
                    *(repetition.seed, one.condition, one.trait, one.rank),
                    *(names[one.high], names[one.low], order, one.said, right),
                )
            )
    return Table(
        name="choices",
        title="Choices",
        columns=(
            *("seed", "condition", "trait", "rank", "high", "low", "order", "said", "right"),
        ),
        rows=tuple(rows),
    )


def _dialogue_table(bank: Bank, found: Sequence[Repetition]) -> Table:
    ids = bank.corpus.ids
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        for condition in CONDITIONS:
            for i, name in enumerate(profiles.names(len(one.vectors))):
                turns = zip(
                    one.recalled[condition][i].tolist(), one.replies[condition][i], strict=True
                )
                for place, (recalled, reply) in enumerate(turns, start=1):
                    memories = " ".join(ids[m] for m in recalled)
                    rows.append((one.seed, condition, name, place, memories, reply))
    return Table(
        name="dialogues",
        title="Dialogues",
        columns=("seed", "condition", "profile", "round", "memories", "reply"),
        rows=tuple(rows),
    )


def _pictures(table: Table) -> Iterator[tuple[str, str]]:
    """Yield the shares by trait; nothing where the judge never chose in some condition."""
    traits = (ALL, *BIG_FIVE_TRAITS)
    by = {(row[0], row[1]): [float(cell) for cell in row[5:8]] for row in table.rows}
    if not np.isfinite(list(by.values())).all():
        return
    yield (
        "accuracy",
        bars(
            "Right choices (chance: 0.5)",
            labels=traits,
            series={c: [by[c, t][0] for t in traits] for c in CONDITIONS},
            intervals={c: [(by[c, t][1], by[c, t][2]) for t in traits] for c in CONDITIONS},
            y="share",
        ),
    )


def _configuration(size: Size) -> dict[str, Any]:
    return {
        "profiles": size.people,
        "pairs_per_trait": size.pairs,
        "conditions": list(CONDITIONS),
        "memories_per_round": rounds.PER_ROUND,
        "state": list(NEUTRAL_STATE),
        "gains": "paper",
        "random_control_seed": f"{rounds.FIRST_SEED} + profile",
        "speaker": {"temperature": rounds.TEMPERATURE, "max_tokens": rounds.LONGEST},
        "judge": {"temperature": 0.0, "max_tokens": judging.LONGEST},
        "role_card": words.ROLE_CARD,
        "questions": list(words.QUESTIONS),
        "judge_prompt": [words.CHOOSE, words.choice("neuroticism", "...", "...")],
    }
