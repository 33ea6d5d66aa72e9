"""Survey questions: what is asked of a model, what comes back, and how the rule model answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simulation.errors import InvalidAnswerError
from simulation.models.answers import clean, said_in, shown
from simulation.models.copied import is_copied_shape
from simulation.models.perception import appeal
from simulation.models.words.survey_phrases import ANSWERS, STARTS
from simulation.ontology.answers import normalise
from simulation.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.models.answers import Dropped
    from simulation.models.base import Cast, FloatArray, IntArray, Rejection
    from simulation.providers.base import Prompt
    from simulation.rng import Streams

MAX_ANSWER = 1_000  # code points of a free answer
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRequests:
    """One question, put to N personas.

    row: (N,) row of the persona in `cast`.  beliefs: (N, T), [0, 1], now.
    question_id: as in the scenario.  question: as personas read it.
    target: index of the belief that it is about, or -1: the proposition as a whole.
    anchors: sets of anchor statements, lowest point first, by which a free answer is rated; empty
    for a single choice.  anchor_name: of shipped anchors, "" for the scenario's own.
    choices: what can be chosen, lowest first; empty for a free answer.
    memories: i -> the strongest memories of the i-th persona, as (text, tick written).
    prompt: i -> prompt to the i-th persona.
    """

    cast: Cast
    tick: int
    row: IntArray
    beliefs: FloatArray
    question_id: str
    question: str
    target: int
    anchors: Sequence[Sequence[str]]
    anchor_name: str
    choices: Sequence[str]
    memories: Callable[[int], Sequence[tuple[str, int]]]
    prompt: Callable[[int], Prompt]

    def __len__(self) -> int:
        """Return the number of personas asked."""
        return len(self.row)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyReplies:
    """Answers to a survey question, as said; None where there is none.

    error: why there is none, by index.
    """

    answer: Sequence[str | None]
    error: dict[int, str] = field(default_factory=dict)
    rejections: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSurvey:
    """A written answer: for a choice, one of the choices as the scenario writes it."""

    answer: str
    dropped: tuple[Dropped, ...] = ()


def parse_survey(answer: str, choices: Sequence[str]) -> ParsedSurvey:
    """Return what a written model answered: a choice, or at most 1,000 code points of text.

    A JSON object with a text under "answer" counts as that text.

    Raises:
        InvalidAnswerError: nothing is said, it is no such object, or it is none of the choices.
    """
    dropped: list[Dropped] = []
    text = clean(said_in(answer), "answer", dropped)
    if not text:
        raise InvalidAnswerError("the answer is empty")
    if is_copied_shape(text) and chosen(text, choices) < 0:
        raise InvalidAnswerError(f"the answer must be the person's own, not {shown(text)}")
    if not choices:
        return ParsedSurvey(answer=text, dropped=tuple(dropped))
    place = chosen(text, choices)
    if place < 0:
        names = listed([f'"{choice}"' for choice in choices], most=_MOST_NAMED)
        raise InvalidAnswerError(f"the answer is none of the choices; they are {names}")
    return ParsedSurvey(answer=choices[place], dropped=tuple(dropped))


def chosen(answer: str, choices: Sequence[str]) -> int:
    """Return the place of the choice that an answer is, both normalised; -1 for none."""
    normal = normalise(answer)
    return next((at for at, choice in enumerate(choices) if normalise(choice) == normal), -1)


def answer_by_rule(requests: SurveyRequests, streams: Streams) -> SurveyReplies:
    """Return the rule model's answers; each depends on its own row only.

    A choice is where the belief falls among K choices in order, floor(belief * K). A free answer
    is for the point floor(belief * (R - 1) + u) of R, counted from 0: the two points around the
    belief by their nearness, so that the mean point over many personas follows the mean belief.
    u is drawn once per persona and question, so a persona changes its answer only with its belief;
    the wording is drawn in each tick.
    """
    belief = _belief(requests)
    if requests.choices:
        count = len(requests.choices)
        place = np.minimum(np.floor(belief * count), count - 1).astype(np.int64)
        return SurveyReplies(answer=[requests.choices[at] for at in place.tolist()])
    keys = requests.cast.keys[requests.row]
    stream = f"survey|{requests.question_id}"
    points = len(requests.anchors[0])
    lean = streams.uniform(stream, tick=0, keys=keys)
    point = np.minimum(np.floor(belief * (points - 1) + lean), points - 1).astype(np.int64)
    bits = streams.bits(f"{stream}|words", tick=requests.tick, keys=keys)
    return SurveyReplies(
        answer=_words(_phrases(requests), point.tolist(), bits.tolist()),
    )


def _belief(requests: SurveyRequests) -> FloatArray:
    """Return the belief that the question is about, (N,); without a target, the appeal."""
    if requests.target < 0:
        return appeal(requests.cast, requests.beliefs)
    return np.asarray(requests.beliefs[:, requests.target])


def _phrases(requests: SurveyRequests) -> Sequence[Sequence[str]]:
    """Return ways to put each point: for anchors of the scenario's own, these themselves."""
    own = list(zip(*requests.anchors, strict=True))
    return ANSWERS.get(requests.anchor_name, own)


def _words(phrases: Sequence[Sequence[str]], points: list[int], bits: list[int]) -> list[str]:
    """Return a start and a phrase for each point, by the digits of one draw in mixed radix."""
    texts = []
    for point, draw in zip(points, bits, strict=True):
        rest, start = divmod(draw, len(STARTS))
        texts.append(STARTS[start] + phrases[point][rest % len(phrases[point])])
    return [text[:MAX_ANSWER] for text in texts]
