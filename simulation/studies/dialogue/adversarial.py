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
from simulation.studies.dialogue.direction import direction, mean, ratio, valence_gap
from simulation.studies.intervals import spread
from simulation.studies.output import Findings, publish, sha256_of
from simulation.studies.plots import bars
from simulation.studies.speaking import FILE, Models, voices
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from simulation.rng import FloatArray
    from simulation.studies.dialogue.norms import Norms
    from simulation.studies.dialogue.rounds import IntArray
    from simulation.studies.intervals import Interval
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
QUICK: Final = Size(pairs=2, seeds=(0,))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repetition:
    """What came of one seed.

    names, traits: of the speakers, first the N high ones by rank, then the N low ones, (2 N,).
    affect: by method and framing, (2 N, 6, 3) of replies; NaN where a reply did not come.
    recalled: by the same, (2 N, 6, 3) means of the labels of what was recalled.
    """

    seed: int
    names: tuple[str, ...]
    traits: FloatArray
    affect: Cells
    recalled: Cells


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
        return publish(_findings(asked, bank, size, known, data, found), folder, quick=quick)


def repeat(asked: Voices, bank: Bank, size: Size, known: Norms, *, seed: int) -> Repetition:
    """Return the scored dialogues of one seed.

    All 50 profiles are drawn and ranked; only those that stand in a pair are asked.
    """
    vectors = profiles.sample(PEOPLE, seed=seed)
    pairs = profiles.pairs(vectors, TRAIT, size=size.pairs)
    rows = [high for high, _ in pairs] + [low for _, low in pairs]
    names = [profiles.names(PEOPLE)[row] for row in rows]
    kinds = list(product(METHODS, FRAMINGS))
    places = {
        (method, framing): rounds.recalled(
            bank,
            vectors[rows],
            "no-trait" if method == METHODS[1] else "full",
            seed=seed,
            questions=_questions(framing),
        )
        for method, framing in kinds
    }
    talks = [
        talk
        for kind in kinds
        for talk in _talks(bank, vectors[rows], names, kind, places[kind], seed)
    ]
    said = rounds.converse(asked.speaker, talks)
    scored = np.array([[_affect(known, reply) for reply in replies] for replies in said])
    parts = scored.reshape(len(kinds), len(rows), len(words.QUESTIONS), 3)
    return Repetition(
        seed=seed,
        names=tuple(names),
        traits=vectors[rows, -1],
        affect=dict(zip(kinds, parts, strict=True)),
        recalled={kind: bank.corpus.affect[found].mean(axis=2) for kind, found in places.items()},
    )


def _questions(framing: str) -> tuple[str, ...]:
    if framing == FRAMINGS[0]:
        return words.QUESTIONS
    return tuple(f"{question} {words.SUFFIX}" for question in words.QUESTIONS)


def _talks(
    bank: Bank,
    vectors: FloatArray,
    names: Sequence[str],
    kind: tuple[str, str],
    places: IntArray,
    seed: int,
) -> Iterator[rounds.Talk]:
    """Yield the dialogues of one way and one framing."""
    method, framing = kind
    persona = method == METHODS[1]
    for name, row, vector in zip(names, places, vectors.tolist(), strict=True):
        yield rounds.Talk(
            id=f"{seed}|{method}|{framing}|{name}",
            system=words.persona_card(vector) if persona else words.ROLE_CARD,
            memories=rounds.texts(bank, row),
            questions=_questions(framing),
            voice=tuple(words.persona_sentences(vector)) if persona else (),
        )


def _affect(known: Norms, reply: str) -> tuple[float, float, float]:
    return known.affect(reply) if reply else (np.nan, np.nan, np.nan)


def _joined(cells: Sequence[Cells], of: Callable[[FloatArray], FloatArray]) -> Cells:
    """Return a value a pair, (N,), the seeds one after the other."""
    return {
        kind: np.concatenate([of(each[kind]) for each in cells])
        for kind in product(METHODS, FRAMINGS)
    }


def _findings(
    asked: Voices,
    bank: Bank,
    size: Size,
    known: Norms,
    data: Path | None,
    found: Sequence[Repetition],
) -> Findings:
    said, recalled = [one.affect for one in found], [one.recalled for one in found]
    right, gaps = _joined(said, direction), _joined(said, valence_gap)
    recall = _joined(recalled, direction), _joined(recalled, valence_gap)
    scoring = f"{known.name} norms" if known.name else "vaderSentiment, without word norms"
    summary = _summary_table(
        "directions", "Is the profile high in neuroticism the more negative one?", right, gaps
    )
    labels = _summary_table(
        "recalled", "The same of the memories recalled, by their labels", *recall
    )
    return Findings(
        name=NAME,
        title="speaking of positive things alone",
        headline=asked.headline,
        about=f"The {size.pairs} profiles highest and lowest in {TRAIT} of "
        f"{PEOPLE} are paired. Replies are scored by {scoring}. A direction is right where the "
        "high one sounds more negative; retention is its share when only good things may be "
        "said, divided by its share otherwise. Intervals draw whole pairs. With so few pairs all "
        "of it is descriptive.",
        verdicts=(*_verdicts(right, said), *_recall_verdicts(recall[0])),
        tables=(summary, _retention_table(right, gaps), labels, _dialogue_table(found)),
        pictures=dict(_pictures(summary)),
        seeds=tuple(one.seed for one in found),
        configuration=_configuration(size, scoring),
        data=corpus.digests() | ({} if data is None else {data.name: sha256_of(data)}),
        encoders=(bank.encoder,),
        models=asked.told(),
        records={FILE: asked.lines(), "scores.csv": _score_table(found).csv()},
    )


def _verdicts(right: Cells, said: Sequence[Cells]) -> Iterator[Verdict]:
    for method in METHODS:
        neutral, adversarial = (right[method, framing] for framing in FRAMINGS)
        shares = [mean(values, f"{method}|{TRAIT}").value for values in (neutral, adversarial)]
        left = ratio(neutral, adversarial, method)
        silent = int(np.isnan(neutral).sum() + np.isnan(adversarial).sum())
        told = f"; {silent} of {2 * len(neutral)} pairs without replies" if silent else ""
        yield Verdict(
            claim=f"{method}: directional accuracy that is retained",
            found=f"{_words(left)} ({shares[1]:.3f} of {shares[0]:.3f}"
            f"{_by_seed(said, method)}){told}",
            target="as it is",
            reached=None,
            theirs=f"{THEIRS[method]:.2f}",
        )


def _words(left: Interval) -> str:
    return "undefined" if np.isnan(left.value) else left.words()


def _by_seed(said: Sequence[Cells], method: str) -> str:
    """Return how the two shares spread over seeds, where there are several."""
    if len(said) == 1:
        return ""
    shares = (
        spread([mean(direction(each[method, framing]), "seed").value for each in said])
        for framing in reversed(FRAMINGS)
    )
    return f"; by seed {' of '.join(shares)}"


def _recall_verdicts(right: Cells) -> Iterator[Verdict]:
    """Yield what is left in the memories themselves; the other method's know no traits."""
    method = METHODS[0]
    neutral, adversarial = (right[method, framing] for framing in FRAMINGS)
    left = ratio(neutral, adversarial, f"{method}|recalled")
    yield Verdict(
        claim=f"{method}: the same of the labels of what was recalled",
        found=f"{_words(left)} ({adversarial.mean():.3f} of {neutral.mean():.3f})",
        target="as it is",
        reached=None,
    )


def _summary_table(name: str, title: str, right: Cells, gaps: Cells) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for method, framing in product(METHODS, FRAMINGS):
        values = right[method, framing]
        share = mean(values, f"{method}|{framing}|direction")
        gap = mean(gaps[method, framing], f"{method}|{framing}|gap")
        ties = int((values == 0.5).sum())  # noqa: PLR2004 - a half is what `direction` gives a tie
        rows.append(
            (
                *(method, framing, len(values), int(np.isnan(values).sum()), ties),
                *(share.value, share.low, share.high, gap.value, gap.low, gap.high),
            )
        )
    return Table(
        name=name,
        title=title,
        columns=(
            *("method", "framing", "pairs", "without a reply", "ties"),
            *("right", "low", "high", "valence, low less high", "gap low", "gap high"),
        ),
        rows=tuple(rows),
    )


def _retention_table(right: Cells, gaps: Cells) -> Table:
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
