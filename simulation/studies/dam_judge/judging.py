"""Answers from recalled memories, and their ratings in six dimensions.

The judge is not told which memory answered. It gets the question, what the person thinks, all
that was said of the matter, the answer and one dimension at a time, and answers from 1 to 5.

The seed says that there are six dimensions and names two, emotional resonance and personalization;
the abstract of its source names accuracy and logical coherence besides. The last two, and how each
is put, are this project's.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.appraisers import sentiment
from simulation.studies.dam_judge.worlds import MEMORIES
from simulation.studies.speaking import Request, one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.studies.dam_judge.worlds import Case
    from simulation.studies.speaking import Voices

DIMENSIONS: Final = {
    "accuracy": "Does the answer say what this person really thinks of the matter?",
    "logical coherence": "Does the answer follow from itself, without contradicting itself?",
    "memory reference": "Does the answer draw on memories that belong to the question, and on no "
    "others?",
    "emotional resonance": "Does the answer meet the feeling that this person has about the "
    "matter, in kind and in strength?",
    "personalization": "Is the answer made for this person and no other?",
    "language fluency": "Is the answer fluent, natural English?",
}
ANSWER_TOKENS: Final = 60
RATING_TOKENS: Final = 16
FORM: Final = one_of(*"12345")
SPEAK: Final = (
    "You know a person well. The person asks you something about themselves. Answer in one or two "
    "sentences, from what you remember, and say you to the person. What you remember:\n{}"
)
JUDGE: Final = (
    "You rate the answer of an assistant to a person. Rate one thing only: {name}. {what}\n"
    "Answer with one figure from 1 (not at all) to 5 (fully) and nothing else."
)
ASKED: Final = (
    "The person asked: {question}\n"
    "What the person thinks of the {side} of {thing}: {truth}.\n"
    "What the person said about it, in order:\n{said}\n"
    "The assistant answered: {answer}\n"
    "{name}, from 1 to 5:"
)
NOTHING: Final = "Nothing."
MOST_SAID: Final = 12
"""Sayings of the matter that the judge reads, the latest; a person said up to several dozen."""

_SCALE: Final = re.compile(
    r"(?<![\w.,-])(?:on )?(?:an? |the )?(?:scale )?(?:of |from )?"
    r"\(?1 ?(?:to|-|\u2013) ?5\b\)?,?(?![.,]?\d)",
    re.IGNORECASE,
)
_OF_FIVE: Final = re.compile(r"(?<=\d) ?(?:/|out of|of) ?5\b(?![.,]?\d)", re.IGNORECASE)
_MARK: Final = r"[*_\"'\u201c\u201d]*"
_CALLED: Final = "|".join(("rating", "score", "answer", "figure", "verdict", *DIMENSIONS))
_LABELLED: Final = (
    rf"(?:(?:my|the|this|overall|final) )*(?:{_CALLED})[, ]*{_MARK} ?(?:[:=]|is|would be){_MARK}"
)
_GIVEN: Final = (
    r"(?:I ?)?(?:would |['\u2019]d )?(?:rate|give|score) "
    r"(?:(?:it|this|that|the answer)(?: as| at)?)?"
)
_RATING: Final = re.compile(
    rf"[:=]? ?{_MARK}([1-5]){_MARK}[.,;:!]?(?:\s*\n.*)?"  # a line of its own, the first
    rf"|(?:.*[.!?\n]\s*)?{_MARK}(?:{_LABELLED}|{_GIVEN}) ?(?:an? )?{_MARK}([1-5]){_MARK}"
    r"(?:[.;!\s]\s*|[.;!]\s.*|\s*\n.*)?",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"[a-z]+")
_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]*")
_CLEAR: Final = 0.05  # VADER's own bound between neutral and not
_LONG: Final = 4  # letters of a word that says something


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer to a case from one of the memories.

    ratings: by dimension, of those that a rating was asked of: of none where there was no answer;
    None for one that could not be read, or never came.
    """

    case: Case
    memory: str
    text: str
    ratings: dict[str, int | None]


def answer_and_rate(cases: Sequence[Case], who: Voices) -> tuple[Answered, ...]:
    """Return the answers to cases from both memories, rated."""
    places = [(case, memory) for case in cases for memory in MEMORIES]
    texts = who.speaker.say([_speak(case, memory) for case, memory in places])
    asked = [
        _judge(case, memory, text, name)
        for (case, memory), text in zip(places, texts, strict=True)
        if text
        for name in DIMENSIONS
    ]
    figures = dict(zip((each.id for each in asked), who.judge.say(asked), strict=True))
    return tuple(
        Answered(
            case=case,
            memory=memory,
            text=text,
            ratings={n: rating(figures[f"{case.id}|{memory}|{n}"]) for n in DIMENSIONS if text},
        )
        for (case, memory), text in zip(places, texts, strict=True)
    )


def rating(text: str) -> int | None:
    """Return the one whole number from 1 to 5 that a text gives; None where there is a doubt.

    Phrases of the scale ("from 1 to 5", "out of 5") are taken out first. What is left has one
    number, on a first line of its own, or in a sentence that begins by calling it a rating.

    >>> rating("4 out of 5"), rating("On a scale from 1 to 5, I rate it 4."), rating("Score: 3")
    (4, 4, 3)
    >>> rating("3.7"), rating("I rate it 10"), rating("I'd need 3 more facts"), rating("2 or 3")
    (None, None, None, None)
    """
    rest = _OF_FIVE.sub("", _SCALE.sub("", text)).strip()
    found = _RATING.fullmatch(rest)
    if found is None or len(_NUMBER.findall(rest)) != 1:
        return None
    return int(found[1] or found[2])


def _speak(case: Case, memory: str) -> Request:
    recalled = case.recalled[memory]
    told = "\n".join(f"- {text}" for text in recalled) or NOTHING
    return Request(
        id=f"{case.id}|{memory}",
        system=SPEAK.format(told),
        messages=(("user", case.question),),
        temperature=0.0,
        max_tokens=ANSWER_TOKENS,
        material=recalled,
    )


def _judge(case: Case, memory: str, answer: str, name: str) -> Request:
    said = "\n".join(f"- {text}" for text in case.said[-MOST_SAID:])
    asked = ASKED.format(
        question=case.question,
        side=case.side,
        thing=case.thing,
        truth=case.truth,
        said=said,
        answer=answer,
        name=name[0].upper() + name[1:],
    )
    about = {"thing": case.thing, "side": case.side, "truth": case.truth, "dimension": name}
    return Request(
        id=f"{case.id}|{memory}|{name}",
        system=JUDGE.format(name=name, what=DIMENSIONS[name]),
        messages=(("user", asked),),
        temperature=0.0,
        max_tokens=RATING_TOKENS,
        material=(json.dumps(about), answer, *case.said),
        form=FORM,
    )


def by_rule(request: Request) -> str:
    """Rate by rule: word lists and counts in place of judgement, to show that all works."""
    about = json.loads(request.material[0])
    measure = _RULES[about["dimension"]]
    share = measure(request.material[1], about, request.material[2:])
    return str(round(1 + 4 * min(max(share, 0.0), 1.0)))


def _accuracy(answer: str, about: dict[str, str], _: Sequence[str]) -> float:
    """Return whether the answer leans as the person does: 1, 0 for the contrary, else .5."""
    lean, truth = _sign(feeling(answer)), _TRUTHS[about["truth"]]
    return 1.0 - abs(lean - truth) / 2


def _coherence(answer: str, _about: dict[str, str], _: Sequence[str]) -> float:
    """Return 1 where all sentences lean the same way, 0 where as many lean either way."""
    signs = [_sign(feeling(part)) for part in _SENTENCE.findall(answer)]
    good, bad = signs.count(1), signs.count(-1)
    return 1.0 - 2 * min(good, bad) / max(good + bad, 1)


def _reference(answer: str, about: dict[str, str], said: Sequence[str]) -> float:
    """Return the share of sentences that name the side asked about, or repeat what was said."""
    parts = [part.strip() for part in _SENTENCE.findall(answer) if part.strip()]
    fit = [part in said or (about["side"] in part and about["thing"] in part) for part in parts]
    return sum(fit) / max(len(parts), 1)


def _resonance(answer: str, about: dict[str, str], _: Sequence[str]) -> float:
    """Return how strongly the answer feels the way that the person does."""
    felt, truth = feeling(answer), _TRUTHS[about["truth"]]
    return 1.0 - abs(felt) if truth == 0 else max(0.0, felt * truth)


def _personal(answer: str, _about: dict[str, str], said: Sequence[str]) -> float:
    """Return the share of the answer's words that the person has used of the matter."""
    used, words = _words(" ".join(said)), _words(answer)
    return len(words & used) / max(len(words), 1)


def _fluency(answer: str, _about: dict[str, str], _: Sequence[str]) -> float:
    """Return the share of the answer's pairs of words that are not repeated."""
    words = _WORD.findall(answer.lower())
    pairs = list(pairwise(words))
    return len(set(pairs)) / max(len(pairs), 1)


_TRUTHS: Final = {"positive": 1, "negative": -1, "neutral": 0}
_RULES: Final[dict[str, Callable[[str, dict[str, str], Sequence[str]], float]]] = dict(
    zip(
        DIMENSIONS,
        (_accuracy, _coherence, _reference, _resonance, _personal, _fluency),
        strict=True,
    )
)


def feeling(text: str) -> float:
    """Return how a text feels by VADER's word list (Hutto & Gilbert 2014), [-1, 1]."""
    return sentiment.scores(text)[3]


def _sign(felt: float) -> int:
    return int(np.sign(felt)) if abs(felt) >= _CLEAR else 0


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) >= _LONG}
