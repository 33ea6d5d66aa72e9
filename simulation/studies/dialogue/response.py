"""The study `attachment-response`: ten questions to three attachments, and a judge who guesses.

All three have the same role label, "an ordinary person". They differ in what they recall and in
the state that this leaves them in. A judge guesses the attachment of each reply and of each ten
replies together, and says how negative they sound, from 1 to 5.

Source: PersMem, 4.1, C.9, E.8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation.errors import UsageError
from simulation.mind.affect import NEUTRAL_STATE
from simulation.mind.traits import ATTACHMENT_PROFILES
from simulation.studies import corpus, recalling
from simulation.studies.dialogue import lives, rules, words
from simulation.studies.dialogue.lives import PROFILES, Lives
from simulation.studies.intervals import spread, wilson
from simulation.studies.output import Findings, publish
from simulation.studies.speaking import FILE, Models, Request, voices
from simulation.studies.speaking_forms import each_of
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simulation.rng import FloatArray
    from simulation.studies.dialogue.lives import Turn
    from simulation.studies.recalling import Bank
    from simulation.studies.speaking import Voices
    from simulation.studies.tables import Cell

NAME: Final = "attachment-response"
SEEDS: Final = (0, 1, 2, 3, 4)
TEMPERATURE: Final = 0.75
LONGEST: Final = 512
JUDGED: Final = 64
NEGATIVITY: Final = frozenset("12345")
FORM: Final = each_of(category=tuple(words.CATEGORIES), negativity=sorted(NEGATIVITY))
ITEM, EACH, BUNDLE = 600, 300, 3000  # characters that the judge is shown
THEIRS: Final = {"secure": 3.0, "anxious": 5.0, "avoidant": 2.0}
"""Negativity of each profile's bundle (E.8)."""
THEIRS_RIGHT: Final = "16/30 = 0.533"

_OF_FIVE: Final = re.compile(r"(?:/|\bout of|\bof)\s*5\b")
_NUMBER: Final = re.compile(r"[-+\u2212]?\w*\d[\w.,]*(?<![.,])")  # "-3", "3.5", "2nd" are not 3, 2
_CATEGORY: Final = re.compile(rf"\b({'|'.join(words.CATEGORIES)})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the judge says. turn: from 1; 0 for all ten together.

    said: a category, "" where the answer names none or several.  negativity: 1 to 5, 0 where the
    answer holds none or several.
    """

    seed: int
    profile: str
    turn: int
    said: str
    negativity: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answered:
    """A turn with its replies. after: (3, 3) the state that the replies left."""

    seed: int
    number: int
    turn: Turn
    replies: tuple[str, ...]
    after: FloatArray


def run(folder: Path, *, quick: bool, data: Path | None, models: Models | None = None) -> str:
    """Ask and judge, write the study into a new folder, return what to print.

    Raises:
        UsageError: there are data, which the study does not take, or a model cannot be used.
        RunStoppedError: a model could not answer to the end.
    """
    if data is not None:
        raise UsageError(f"the study {NAME} takes no --data; its memories ship with it")
    models = models or Models()
    seeds = SEEDS[:1] if quick else SEEDS
    bank = recalling.bank(corpus.read("test"))
    with voices(models, speak=rules.say, judge=rules.classify, folder=folder) as asked:
        people = [Lives(bank, seed=seed, turns=len(words.TEN_QUESTIONS)) for seed in seeds]
        found = [
            answered
            for number, question in enumerate(words.TEN_QUESTIONS, start=1)
            for answered in _turn(asked, people, seeds, question, number)
        ]
        judged = judge(asked, found)
        findings = _findings(asked, bank, people[0].appraiser, seeds, found, judged)
        return publish(findings, folder, quick=quick)


def read_judgement(text: str) -> tuple[str, int]:
    """Return the category and the negativity that an answer names; "" and 0 where it does not.

    >>> read_judgement("Anxious, 4/5"), read_judgement("secure or anxious 2"), read_judgement("5")
    (('anxious', 4), ('', 2), ('', 5))
    """
    lower = _OF_FIVE.sub(" ", text.lower())
    said = set(_CATEGORY.findall(lower))
    numbers = set(_NUMBER.findall(lower))
    whole = len(numbers) == 1 and numbers <= NEGATIVITY
    return (
        min(said) if len(said) == 1 else "",
        int(min(numbers)) if whole else 0,
    )


def judge(asked: Voices, found: Sequence[Answered]) -> list[Judgement]:
    """Return what the judge says of each reply, and of each profile's ten together.

    A reply that did not come is not judged.
    """
    shown: list[tuple[int, str, int, list[str]]] = []
    for seed in dict.fromkeys(one.seed for one in found):
        for i, profile in enumerate(PROFILES):
            replies = [(one.number, one.replies[i]) for one in found if one.seed == seed]
            came = [(number, reply) for number, reply in replies if reply]
            shown += [(seed, profile, number, [reply[:ITEM]]) for number, reply in came]
            if came:
                shown.append((seed, profile, 0, [reply[:EACH] for _, reply in came]))
    requests = [
        Request(
            id=f"{seed}|{profile}|{number or 'all'}",
            system=words.classification(),
            messages=(("user", _exhibit(texts)),),
            temperature=0.0,
            max_tokens=JUDGED,
            material=tuple(texts),
            form=FORM,
        )
        for seed, profile, number, texts in shown
    ]
    judged = []
    for (seed, profile, number, _), answer in zip(shown, asked.judge.say(requests), strict=True):
        said, negativity = read_judgement(answer)
        judged.append(
            Judgement(seed=seed, profile=profile, turn=number, said=said, negativity=negativity)
        )
    return judged


def prompt(question: str, feeling: str, excerpts: Sequence[str]) -> str:
    """Return what is put before the speaker."""
    return f"You feel {feeling}.\n\n{words.block(excerpts)}{question}"


def _exhibit(texts: Sequence[str]) -> str:
    joined = "\n".join(texts)[:BUNDLE]
    return f"What the speaker says:\n{joined}\n\nWhich category, and how negative from 1 to 5?"


def _turn(
    asked: Voices, people: Sequence[Lives], seeds: Sequence[int], question: str, number: int
) -> Iterator[Answered]:
    """Yield one turn of every repetition; all are asked together."""
    turns = [each.hear(question, number) for each in people]
    requests = [
        Request(
            id=f"{seed}|{profile}|{number}",
            system=words.ORDINARY,
            messages=(("user", prompt(question, lives.feeling(turn.state[i]), turn.excerpts[i])),),
            temperature=TEMPERATURE,
            max_tokens=LONGEST,
            material=turn.texts[i],
        )
        for seed, turn in zip(seeds, turns, strict=True)
        for i, profile in enumerate(PROFILES)
    ]
    said = asked.speaker.say(requests)
    for place, (seed, each, turn) in enumerate(zip(seeds, people, turns, strict=True)):
        replies = tuple(said[place * len(PROFILES) : (place + 1) * len(PROFILES)])
        after = each.remember(question, replies, number)
        yield Answered(seed=seed, number=number, turn=turn, replies=replies, after=after)


def _findings(
    asked: Voices,
    bank: Bank,
    appraiser: str,
    seeds: Sequence[int],
    found: Sequence[Answered],
    judged: Sequence[Judgement],
) -> Findings:
    return Findings(
        name=NAME,
        title="ten replies of three attachments, judged",
        headline=asked.headline,
        about="Three profiles answer ten questions; state and memory go on from "
        "one to the next. A judge guesses the profile of each reply (chance: one in three) and "
        "of the ten together, and says how negative they sound, 1 to 5. An answer that names no "
        "category, or several, is invalid: it is counted, and left out of the share. The ten "
        "replies of a profile hang together, so all of it is descriptive.",
        verdicts=tuple(_verdicts(judged)),
        tables=(
            _guess_table(judged),
            _negativity_table(judged),
            _state_table(found),
        ),
        seeds=tuple(seeds),
        configuration=_configuration(appraiser),
        data=corpus.digests(),
        encoders=(bank.encoder,),
        models=asked.told(),
        records={
            FILE: asked.lines(),
            "replies.csv": _reply_table(found).csv(),
            "judgements.csv": _judgement_table(judged).csv(),
        },
    )


def _verdicts(judged: Sequence[Judgement]) -> Iterator[Verdict]:
    for what, kept, theirs in (
        ("replies", [one for one in judged if one.turn], THEIRS_RIGHT),
        ("ten replies together", [one for one in judged if not one.turn], ""),
    ):
        chose = [one for one in kept if one.said]
        right = _right(chose)
        share = f"{right}/{len(chose)}"
        if chose:
            share += f" = {wilson(right, len(chose)).words()}"
        yield Verdict(
            claim=f"{what}: the judge guesses the attachment",
            found=f"{share}; {len(kept) - len(chose)} of {len(kept)} invalid{_by_seed(chose)}",
            target="as it is",
            reached=None,
            theirs=theirs,
        )
    for profile in ("anxious", "secure", "avoidant"):
        values = _negativity(judged, profile, together=True)
        yield Verdict(
            claim=f"{profile}: negativity of ten replies together, 1 to 5",
            found=spread(values, 1) if values else "no valid answer",
            target="as it is",
            reached=None,
            theirs=f"{THEIRS[profile]:.1f}",
        )


def _right(chose: Sequence[Judgement]) -> int:
    return sum(one.said == one.profile for one in chose)


def _by_seed(chose: Sequence[Judgement]) -> str:
    """Return the spread of right guesses over seeds, where there are several."""
    each = [
        [one for one in chose if one.seed == seed]
        for seed in dict.fromkeys(one.seed for one in chose)
    ]
    if len(each) < 2:  # noqa: PLR2004 - one seed has no spread
        return ""
    return f"; by seed {spread([_right(part) / len(part) for part in each])}"


def _negativity(judged: Sequence[Judgement], profile: str, *, together: bool) -> list[int]:
    return [
        one.negativity
        for one in judged
        if one.profile == profile and one.negativity and (one.turn == 0) == together
    ]


def _guess_table(judged: Sequence[Judgement]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for what, together in (("reply", False), ("ten together", True)):
        for profile in PROFILES:
            said = [j.said for j in judged if j.profile == profile and (not j.turn) == together]
            guesses = [said.count(name) for name in PROFILES]
            rows.append((what, profile, len(said), *guesses, said.count("")))
    return Table(
        name="guesses",
        title="What the judge took each profile for",
        columns=("judged", "profile", "answers", *PROFILES, "invalid"),
        rows=tuple(rows),
    )


def _negativity_table(judged: Sequence[Judgement]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for profile in PROFILES:
        each = _negativity(judged, profile, together=False)
        all_ten = _negativity(judged, profile, together=True)
        rows.append(
            (
                *(profile, len(each), float(np.mean(each)) if each else ""),
                *(len(all_ten), float(np.mean(all_ten)) if all_ten else "", THEIRS[profile]),
            )
        )
    return Table(
        name="negativity",
        title="How negative each profile sounds, 1 to 5",
        columns=("profile", "replies", "mean of replies", "tens", "mean of tens", "theirs"),
        rows=tuple(rows),
    )


def _state_table(found: Sequence[Answered]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for i, profile in enumerate(PROFILES):
        state = np.mean([one.turn.state[i] for one in found], axis=0)
        end = np.mean([one.after[i] for one in found if one.number == found[-1].number], axis=0)
        recalled = float(np.mean([one.turn.valence[i] for one in found]))
        rows.append((profile, recalled, *state.tolist(), *end.tolist()))
    return Table(
        name="states",
        title="What they recalled and how they felt (means)",
        columns=(
            *("profile", "valence recalled", "valence", "arousal", "dominance"),
            *("valence at the end", "arousal at the end", "dominance at the end"),
        ),
        rows=tuple(rows),
    )


def _reply_table(found: Sequence[Answered]) -> Table:
    rows = [
        (
            one.seed,
            profile,
            one.number,
            lives.feeling(one.turn.state[i]),
            *one.turn.state[i].tolist(),
            " | ".join(one.turn.excerpts[i]),
            one.replies[i],
        )
        for one in found
        for i, profile in enumerate(PROFILES)
    ]
    return Table(
        name="replies",
        title="Replies",
        columns=(
            *("seed", "profile", "turn", "feeling", "valence", "arousal", "dominance"),
            *("memories", "reply"),
        ),
        rows=tuple(rows),
    )


def _judgement_table(judged: Sequence[Judgement]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (j.seed, j.profile, j.turn or "all", j.said, j.negativity or "") for j in judged
    ]
    return Table(
        name="judgements",
        title="Judgements",
        columns=("seed", "profile", "turn", "said", "negativity"),
        rows=tuple(rows),
    )


def _configuration(appraiser: str) -> dict[str, Any]:
    return {
        "profiles": {name: list(ATTACHMENT_PROFILES[name]) for name in PROFILES},
        "memories": "test",
        "recalled": lives.RECALLED,
        "excerpt_characters": lives.EXCERPT,
        "appraiser": appraiser,
        "gains": "paper",
        "tau": recalling.TAU,
        "speaker": {"temperature": TEMPERATURE, "max_tokens": LONGEST},
        "judge": {"temperature": 0.0, "max_tokens": JUDGED},
        "role": words.ORDINARY,
        "prompt": prompt("...", lives.feeling(NEUTRAL_STATE), ["(neutral) ..."]),
        "judge_prompt": words.classification(),
        "questions": list(words.TEN_QUESTIONS),
    }
