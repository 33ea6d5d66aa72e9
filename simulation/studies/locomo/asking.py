"""How a question about a conversation is put to a model, and the rule that answers offline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simulation.rng import Streams, stream_keys
from simulation.studies.locomo.conversations import ADVERSARIAL
from simulation.studies.locomo.f1 import NOT_MENTIONED
from simulation.studies.speaking import Request
from simulation.words import content, stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulation.studies.locomo.conversations import Conversation, Question, Turn

TOKENS: Final = 20
TEMPERATURE: Final = 0.0
ENOUGH: Final = 0.5
"""Share of the words of a doubtful answer that the rule wants to find before it believes it."""

_TEMPORAL: Final = 2
_PLEASE: Final = "Answer with a short phrase, in words of the conversation where possible."
_DATES: Final = "Use the dates above; an approximate date will do."
_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]*")
_LETTER: Final = re.compile(r"\s*(?:\(([ab])\)|([ab])\s*(?:[).:,]|$))", re.IGNORECASE)
_NAMED: Final = re.compile(r"\(([ab])\)", re.IGNORECASE)
_BOTH: Final = re.compile(
    r"\b([ab])\)?\s*(?:\bor\b|\band\b|[,/&+])\s*\(?(?!\1)[ab]\)?\s*(?:[.:,!?]|$)", re.IGNORECASE
)
NO_CHOICE: Final = "(no choice)"
"""What an answer says that names both choices; it is right of no question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with the turns that a recall found, oldest first.

    first: of an adversarial question, whether its wrong answer stands first of the two choices.
    """

    id: str
    speakers: str
    question: Question
    turns: tuple[Turn, ...]
    first: bool

    @property
    def request(self) -> Request:
        """The question as a model is put it."""
        return Request(
            id=self.id,
            messages=(("user", "\n".join(self._lines())),),
            temperature=TEMPERATURE,
            max_tokens=TOKENS,
            material=tuple(turn.memory for turn in self.turns),
        )

    def read(self, said: str) -> str:
        """Return the answer that was meant: a letter stands for its choice, two for none."""
        if self.question.category != ADVERSARIAL:
            return said
        letter = _LETTER.match(said)
        named = {each.lower() for each in _NAMED.findall(said)}
        if letter is not None:
            named.add((letter[1] or letter[2]).lower())
        if len(named) > 1 or _BOTH.search(said):
            return NO_CHOICE
        return said if letter is None else self.choices[0 if named == {"a"} else 1]

    @property
    def choices(self) -> tuple[str, str]:
        """What an adversarial question lets choose from."""
        wrong = self.question.answer
        return (wrong, NOT_MENTIONED) if self.first else (NOT_MENTIONED, wrong)

    def _lines(self) -> Iterator[str]:
        yield f"Some of what {self.speakers} said to each other:"
        session = 0
        for turn in self.turns:
            if turn.session != session:
                session = turn.session
                yield f"\n{dated(turn)}"
            yield turn.memory
        yield f"\nQuestion: {self.question.text}"
        if self.question.category == ADVERSARIAL:
            a, b = self.choices
            yield f"Choose (a) or (b): (a) {a} (b) {b}"
        elif self.question.category == _TEMPORAL:
            yield f"{_DATES} {_PLEASE}"
        else:
            yield _PLEASE


class Answerer:
    """Answers by rule: with the sentence that shares most words with the question.

    When something happened is answered by the date of the turn of that sentence; a doubtful
    answer is believed if half of its words stand in the turns.
    """

    def __init__(self, asked: Sequence[Asked]) -> None:
        """Take what will be asked."""
        self._asked: Mapping[str, Asked] = {each.id: each for each in asked}

    def __call__(self, request: Request, /) -> str:
        """Return an answer."""
        asked = self._asked[request.id]
        if not asked.turns:
            return NOT_MENTIONED
        if asked.question.category == ADVERSARIAL:
            return self._chosen(asked)
        turn, sentence = nearest(asked.question.text, asked.turns)
        return dated(turn) if asked.question.category == _TEMPORAL else sentence

    def _chosen(self, asked: Asked) -> str:
        there = {word for turn in asked.turns for word in stems(turn.memory)}
        wanted = stems(asked.question.answer)
        found = len(wanted & there) / max(len(wanted), 1)
        return asked.question.answer if found >= ENOUGH else NOT_MENTIONED


def nearest(question: str, turns: Sequence[Turn]) -> tuple[Turn, str]:
    """Return the sentence of turns that shares most words with a question; of equals the first."""
    wanted = stems(question)
    sentences = [
        (turn, found.group().strip()) for turn in turns for found in _SENTENCE.finditer(turn.text)
    ] or [(turn, turn.text) for turn in turns]
    return max(sentences, key=lambda each: len(wanted & stems(f"{each[0].speaker} {each[1]}")))


def stems(text: str) -> set[str]:
    """Return the stems of a text's content words."""
    return {stem(word) for word in content(text)}


def dated(turn: Turn) -> str:
    """Return the date of a turn, as in "8 May 2023"."""
    return f"{turn.when.day} {turn.when:%B %Y}"


def asked_of(
    conversation: Conversation,
    questions: Sequence[Question],
    places: Sequence[Sequence[int]],
    method: str,
    *,
    seed: int,
) -> list[Asked]:
    """Return questions with what a recall found. places: of the found turns, -1 for none."""
    speakers = " and ".join(dict.fromkeys(turn.speaker for turn in conversation.turns))
    number = {id(question): i for i, question in enumerate(conversation.questions)}
    names = [f"{conversation.id}|{number[id(question)]}" for question in questions]
    first = Streams(seed).uniform("locomo-choice", tick=0, keys=stream_keys(names)) < 0.5  # noqa: PLR2004
    return [
        Asked(
            id=f"{name}|{method}",
            speakers=speakers,
            question=question,
            turns=tuple(conversation.turns[i] for i in sorted(found) if i >= 0),
            first=bool(wrong_first),
        )
        for name, question, found, wrong_first in zip(names, questions, places, first, strict=True)
    ]
