"""The study `adversarial`: what is left of a trait when only good things may be said.

Two ways to give a speaker the same Big Five profile: through what it recalls (PersMem, with the
neutral role card), or in words in its role card, with a recall that knows no traits. Each holds
the six-round dialogue as it is, and with a request to speak of positive things alone at the end of
every question; the memory meets the question with that request, too. Profiles high and low in
neuroticism are paired; the direction is right where the high one sounds more negative.

Source: PersMem, 4.4, H.1 to H.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation.mind.affect import NEUTRAL_STATE
from simulation.studies import corpus, recalling
from simulation.studies.dialogue import norms, profiles, rounds, rules, words
from simulation.studies.intervals import Interval, bootstrap
from simulation.studies.output import Findings, publish, sha256_of
from simulation.studies.plots import bars
from simulation.studies.speaking import FILE, Models, voices
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from simulation.rng import FloatArray
    from simulation.studies.dialogue.norms import Norms
    from simulation.studies.recalling import Bank
    from simulation.studies.speaking import Voices
    from simulation.studies.tables import Cell

NAME: Final = "adversarial"
METHODS: Final = ("PersMem", "prompt persona")
FRAMINGS: Final = ("neutral", "positive only")
TRAIT: Final = "neuroticism"
PEOPLE: Final = 50
THEIRS: Final = {"PersMem": 0.89, "prompt persona": 0.58}
"""Retention of directional accuracy (4.4, H.3)."""

Cells = dict[tuple[str, str], "FloatArray"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large the study is. pairs: high and low.  seeds: with a rule alone."""

    pairs: int
    seeds: tuple[int, ...]


FULL: Final = Size(pairs=12, seeds=(0, 1, 2, 3, 4))
QUICK: Final = Size(pairs=3, seeds=(0,))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repetition:
    """What came of one seed.

    names, traits: of the speakers, first the N high ones by rank, then the N low ones, (2 N,).
    affect: by method and framing, (2 N, 6, 3) of replies; NaN where a reply did not come.
    """

    seed: int
    names: tuple[str, ...]
    traits: FloatArray
    affect: Cells


def run(folder: Path, *, quick: bool, data: Path | None, models: Models | None = None) -> str:
    """Hold and score the dialogues, write the study into a new folder, return what to print.

    data: word norms, see `norms.read`; None for sentiment alone.

    Raises:
        UsageError: the norms or a model cannot be used.
        RunStoppedError: a model could not answer to the end.
    """
    models = models or Models()
    size = QUICK if quick else FULL
    known = norms.Norms() if data is None else norms.read(data)
    seeds = size.seeds if models.by_rule else size.seeds[:1]
    bank = recalling.bank(corpus.read("events"))
    with voices(models, speak=rules.say, judge=rules.choose, folder=folder) as asked:
        found = [repeat(asked, bank, size, known, seed=seed) for seed in seeds]
        printed = publish(_findings(asked, bank, size, known, data, found), folder, quick=quick)
    return f"{asked.headline}\n{printed}"


def repeat(asked: Voices, bank: Bank, size: Size, known: Norms, *, seed: int) -> Repetition:
    """Return the scored dialogues of one seed.

    All 50 profiles are drawn and ranked; only those that stand in a pair are asked.
    """
    vectors = profiles.sample(PEOPLE, seed=seed)
    pairs = profiles.pairs(vectors, TRAIT, size=size.pairs)
    rows = [high for high, _ in pairs] + [low for _, low in pairs]
    names = [profiles.names(PEOPLE)[row] for row in rows]
    kinds = list(product(METHODS, FRAMINGS))
    talks = [
        talk
        for method, framing in kinds
        for talk in _talks(bank, vectors[rows], names, method, framing, seed)
    ]
    said = rounds.converse(asked.speaker, talks)
    scored = np.array([[_affect(known, reply) for reply in replies] for replies in said])
    parts = scored.reshape(len(kinds), len(rows), len(words.QUESTIONS), 3)
    return Repetition(
        seed=seed,
        names=tuple(names),
        traits=vectors[rows, -1],
        affect=dict(zip(kinds, parts, strict=True)),
    )


def direction(affect: FloatArray) -> FloatArray:
    """Return of each pair 1 where the high profile sounds more negative, 0 where less, (N,).

    As negative counts half; NaN where one of the two gave no reply at all.

    affect: (2 N, 6, 3). The valence of a dialogue is the mean of the replies that came.
    """
    gap = valence_gap(affect)
    return np.where(np.isnan(gap), np.nan, (np.sign(gap) + 1.0) / 2.0)


def valence_gap(affect: FloatArray) -> FloatArray:
    """Return the valence of the low profile less that of the high one, of each pair, (N,)."""
    valence = affect[..., 0]
    came = ~np.isnan(valence)
    count = came.sum(axis=1)
    sums = np.where(came, valence, 0.0).sum(axis=1)
    mean = np.where(count > 0, sums / np.maximum(count, 1), np.nan)
    high, low = np.split(mean, 2)
    return np.asarray(low - high)


def ratio(neutral: FloatArray, adversarial: FloatArray, purpose: str) -> Interval:
    """Return what is left of a mean, with its interval over pairs; NaN where it was not above 0.

    neutral, adversarial: (N,) of the same pairs; those with a NaN are left out.
    """
    both = np.stack([neutral, adversarial], axis=1)
    both = both[~np.isnan(both).any(axis=1)]
    if not both[:, 0].sum() > 0.0:
        return Interval(value=np.nan, low=np.nan, high=np.nan)
    return bootstrap(both, _left, purpose=purpose)


def _left(both: FloatArray) -> float:
    before, after = both.sum(axis=0).tolist()
    return after / before if before > 0.0 else np.nan


def _talks(
    bank: Bank, vectors: FloatArray, names: Sequence[str], method: str, framing: str, seed: int
) -> Iterator[rounds.Talk]:
    """Yield the dialogues of one way and one framing."""
    asked = tuple(
        f"{question} {words.SUFFIX}" if framing == FRAMINGS[1] else question
        for question in words.QUESTIONS
    )
    persona = method == METHODS[1]
    condition = "no-trait" if persona else "full"
    places = rounds.recalled(bank, vectors, condition, seed=seed, questions=asked)
    for name, row, vector in zip(names, places, vectors.tolist(), strict=True):
        yield rounds.Talk(
            id=f"{seed}|{method}|{framing}|{name}",
            system=words.persona_card(vector) if persona else words.ROLE_CARD,
            memories=rounds.texts(bank, row),
            questions=asked,
            voice=tuple(words.persona_sentences(vector)) if persona else (),
        )


def _affect(known: Norms, reply: str) -> tuple[float, float, float]:
    return known.affect(reply) if reply else (np.nan, np.nan, np.nan)


def _joined(
    found: Sequence[Repetition], of: Callable[[FloatArray], FloatArray]
) -> dict[tuple[str, str], FloatArray]:
    """Return a value a pair, the seeds one after the other."""
    return {
        kind: np.concatenate([of(one.affect[kind]) for one in found])
        for kind in product(METHODS, FRAMINGS)
    }


def _mean(values: FloatArray, purpose: str) -> Interval:
    kept = values[~np.isnan(values)]
    if not len(kept):
        return Interval(value=np.nan, low=np.nan, high=np.nan)
    return bootstrap(kept, lambda v: float(v.mean()), purpose=purpose)


def _findings(
    asked: Voices,
    bank: Bank,
    size: Size,
    known: Norms,
    data: Path | None,
    found: Sequence[Repetition],
) -> Findings:
    right, gaps = _joined(found, direction), _joined(found, valence_gap)
    scoring = f"{known.name} norms" if known.name else "vaderSentiment, without word norms"
    summary = _summary_table(right, gaps)
    return Findings(
        name=NAME,
        title="speaking of positive things alone",
        about=f"{asked.headline} The {size.pairs} profiles highest and lowest in {TRAIT} of "
        f"{PEOPLE} are paired. Replies are scored by {scoring}. A direction is right where the "
        "high one sounds more negative; retention is its share when only good things may be "
        "said, divided by its share otherwise. Intervals draw whole pairs. With so few pairs all "
        "of it is descriptive.",
        verdicts=tuple(_verdicts(right)),
        tables=(summary, _retention_table(right, gaps), _dialogue_table(found)),
        pictures=dict(_pictures(summary)),
        seeds=tuple(one.seed for one in found),
        configuration=_configuration(size, scoring),
        data=corpus.digests() | ({} if data is None else {data.name: sha256_of(data)}),
        encoders=(bank.encoder,),
        models=asked.told(),
        records={FILE: asked.lines(), "scores.csv": _score_table(found).csv()},
    )


def _verdicts(right: Mapping[tuple[str, str], FloatArray]) -> Iterator[Verdict]:
    for method in METHODS:
        neutral, adversarial = (right[method, framing] for framing in FRAMINGS)
        shares = [_mean(values, f"{method}|{TRAIT}").value for values in (neutral, adversarial)]
        left = ratio(neutral, adversarial, method)
        yield Verdict(
            claim=f"{method}: directional accuracy that is retained",
            found=f"{left.words()} ({shares[1]:.3f} of {shares[0]:.3f})",
            target="as it is",
            reached=None,
            theirs=f"{THEIRS[method]:.2f}",
        )


def _summary_table(
    right: Mapping[tuple[str, str], FloatArray], gaps: Mapping[tuple[str, str], FloatArray]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for method, framing in product(METHODS, FRAMINGS):
        values = right[method, framing]
        share = _mean(values, f"{method}|{framing}|direction")
        gap = _mean(gaps[method, framing], f"{method}|{framing}|gap")
        ties = int((values == 0.5).sum())  # noqa: PLR2004 - a half is what `direction` gives a tie
        rows.append(
            (
                *(method, framing, len(values), int(np.isnan(values).sum()), ties),
                *(share.value, share.low, share.high, gap.value, gap.low, gap.high),
            )
        )
    return Table(
        name="directions",
        title="Is the profile high in neuroticism the more negative one?",
        columns=(
            *("method", "framing", "pairs", "without a reply", "ties"),
            *("right", "low", "high", "valence, low less high", "gap low", "gap high"),
        ),
        rows=tuple(rows),
    )


def _retention_table(
    right: Mapping[tuple[str, str], FloatArray], gaps: Mapping[tuple[str, str], FloatArray]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for method in METHODS:
        for what, values in (("directional accuracy", right), ("valence gap", gaps)):
            left = ratio(
                values[method, FRAMINGS[0]],
                values[method, FRAMINGS[1]],
                method if values is right else f"{method}|gap",
            )
            theirs: Cell = THEIRS[method] if values is right else ""
            rows.append((method, what, left.value, left.low, left.high, theirs))
    return Table(
        name="retention",
        title="What is left when only good things may be said",
        columns=("method", "of", "retention", "low", "high", "theirs"),
        rows=tuple(rows),
    )


def _dialogue_table(found: Sequence[Repetition]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        half = len(one.names) // 2
        for (method, framing), affect in one.affect.items():
            for i, name in enumerate(one.names):
                came = affect[i][~np.isnan(affect[i, :, 0])]
                means = came.mean(axis=0).tolist() if len(came) else [np.nan] * 3
                side = "high" if i < half else "low"
                rows.append(
                    (
                        *(one.seed, method, framing, i % half + 1, side, name),
                        *(float(one.traits[i]), len(came), *means),
                    )
                )
    return Table(
        name="dialogues",
        title="How each dialogue sounds",
        columns=(
            *("seed", "method", "framing", "pair", "side", "profile", TRAIT, "replies"),
            *("valence", "arousal", "dominance"),
        ),
        rows=tuple(rows),
    )


def _score_table(found: Sequence[Repetition]) -> Table:
    rows = [
        (one.seed, method, framing, name, place, *reply)
        for one in found
        for (method, framing), affect in one.affect.items()
        for name, dialogue in zip(one.names, affect.tolist(), strict=True)
        for place, reply in enumerate(dialogue, start=1)
    ]
    return Table(
        name="scores",
        title="How each reply sounds",
        columns=(
            *("seed", "method", "framing", "profile", "round"),
            *("valence", "arousal", "dominance"),
        ),
        rows=tuple(rows),
    )


def _pictures(summary: Table) -> Iterator[tuple[str, str]]:
    by = {(row[0], row[1]): [float(cell) for cell in row[5:8]] for row in summary.rows}
    if np.isfinite(list(by.values())).all():
        yield (
            "directions",
            bars(
                "The profile high in neuroticism sounds more negative (chance: 0.5)",
                labels=FRAMINGS,
                series={m: [by[m, f][0] for f in FRAMINGS] for m in METHODS},
                intervals={m: [(by[m, f][1], by[m, f][2]) for f in FRAMINGS] for m in METHODS},
                y="share of pairs",
            ),
        )


def _configuration(size: Size, scoring: str) -> dict[str, Any]:
    return {
        "profiles": PEOPLE,
        "pairs": size.pairs,
        "trait": TRAIT,
        "scoring": scoring,
        "memories_per_round": rounds.PER_ROUND,
        "state": list(NEUTRAL_STATE),
        "gains": "paper",
        "speaker": {"temperature": rounds.TEMPERATURE, "max_tokens": rounds.LONGEST},
        "role_card": words.ROLE_CARD,
        "persona_card": words.persona_card((0.1, 0.3, 0.5, 0.7, 0.9)),
        "questions": list(words.QUESTIONS),
        "suffix": words.SUFFIX,
    }
