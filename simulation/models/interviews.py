"""Interview questions: what is asked of a persona, what comes back, and the rule model's answer.

An interview changes nothing: it reads a persona as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simulation.errors import InvalidAnswerError
from simulation.models.answers import clean, said_in, shown
from simulation.models.base import SOURCES
from simulation.models.copied import is_copied_shape
from simulation.models.perception import appeal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.models.answers import Dropped
    from simulation.models.base import Cast, FloatArray, IntArray, Rejection
    from simulation.providers.base import Prompt

MAX_ANSWER = 1_000  # code points
_RULE = SOURCES.index("rule")
_STEM = 5  # letters by which two words count as one
_SHORT = 4  # words below have too little to say

_BOUNDS = (0.08, 0.25, 0.42, 0.58, 0.75, 0.92)
_OF_A_CLAIM = (
    'No. "{}": I am sure that this is false.',
    '"{}": I do not believe that.',
    '"{}": I doubt it.',
    '"{}": I cannot say, I am undecided.',
    '"{}": I lean towards yes.',
    '"{}": yes, I believe that.',
    'Yes. "{}": I am sure of it.',
)
_OF_A_DIMENSION = (
    "As for {}: very low, if you ask me.",
    "As for {}: low.",
    "As for {}: rather low.",
    "As for {}: middling.",
    "As for {}: rather high.",
    "As for {}: high.",
    "As for {}: very high.",
)
_OF_IT_ALL = (
    "All in all, {} is nothing for me.",
    "All in all, {} does not appeal to me.",
    "All in all, I am rather cool about {}.",
    "All in all, I am of two minds about {}.",
    "All in all, I am rather taken with {}.",
    "All in all, {} appeals to me.",
    "All in all, {} is just the thing for me.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewRequests:
    """Questions to N personas, one each.

    row: (N,) row of the persona in `cast`.  beliefs: (N, T), [0, 1], as of `tick`.
    question: as it is put.  known: what the persona's own attributes answer to it, "" for nothing.
    memories: i -> what comes to the i-th persona's mind, as (text, tick written), best first.
    attitudes: i -> its settled attitudes, in words.  earlier: i -> what was said before, as
    (question, answer).  prompt: i -> the i-th prompt.
    """

    cast: Cast
    tick: int
    row: IntArray
    beliefs: FloatArray
    question: Sequence[str]
    known: Sequence[str]
    memories: Callable[[int], Sequence[tuple[str, int]]]
    prompt: Callable[[int], Prompt]
    attitudes: Callable[[int], Sequence[str]] = lambda _: ()
    earlier: Callable[[int], Sequence[tuple[str, str]]] = lambda _: ()

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.row)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewReplies:
    """Answers, each a text.

    source: (N,) index into `SOURCES`.  error: why the model's own answer was not used, by index.
    """

    answer: Sequence[str]
    source: IntArray
    error: dict[int, str] = field(default_factory=dict)
    rejections: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedInterview:
    """A written answer, and what was dropped from it."""

    answer: str
    dropped: tuple[Dropped, ...] = ()


def parse_interview(answer: str) -> ParsedInterview:
    """Return what a written model answered: at most 1,000 code points of text.

    Plain text counts as the answer; a JSON object with a text under "answer" as that text.

    Raises:
        InvalidAnswerError: nothing is said, or it is an object of another kind.
    """
    dropped: list[Dropped] = []
    text = clean(said_in(answer), "answer", dropped)[:MAX_ANSWER]
    if not text:
        raise InvalidAnswerError("the answer is empty")
    if is_copied_shape(text):
        raise InvalidAnswerError(f"the answer must be the person's own, not {shown(text)}")
    return ParsedInterview(answer=text, dropped=tuple(dropped))


def answer_by_rule(requests: InterviewRequests) -> InterviewReplies:
    """Return the rule model's answers; each depends on its own row only.

    A question that the persona's attributes answer gets that answer. Any other gets what it
    believes of the claims and dimensions that the question names (all of the proposition where it
    names none), the first thing that comes to its mind, and what it has settled about the
    proposition that is nearest to the question.
    """
    overall = appeal(requests.cast, requests.beliefs).tolist()
    answers = [_answer(requests, i, overall[i]) for i in range(len(requests))]
    return InterviewReplies(answer=answers, source=np.full(len(answers), _RULE, dtype=np.int64))


def _answer(requests: InterviewRequests, i: int, overall: float) -> str:
    if requests.known[i]:
        return requests.known[i][:MAX_ANSWER]
    cast, beliefs = requests.cast, requests.beliefs[i].tolist()
    count = len(cast.dimensions)
    parts = [
        _told(_OF_A_CLAIM, beliefs[count + at], cast.claim_texts[at].rstrip("."))
        for at in named(requests.question[i], cast.claim_texts)
    ]
    parts += [
        _told(_OF_A_DIMENSION, beliefs[at], cast.dimensions[at])
        for at in named(requests.question[i], cast.dimensions)
    ]
    parts = parts or [_told(_OF_IT_ALL, overall, cast.brand)]
    memories = requests.memories(i)
    if memories:
        parts.append(f"I remember: {memories[0][0]}")
    own = [view for view in requests.attitudes(i) if view.partition(": ")[0] not in cast.ids]
    if own:  # about the brand or a claim, not about somebody
        parts.append(f"What I have come to feel: {own[0]}")
    return " ".join(parts)[:MAX_ANSWER]


def _told(scale: Sequence[str], belief: float, what: str) -> str:
    return scale[sum(belief >= bound for bound in _BOUNDS)].format(what)


def named(question: str, texts: Sequence[str]) -> list[int]:
    """Return which texts share the most word stems with a question; none if none shares any.

    >>> named("Does it taste good?", ["Bolt has no sugar", "Bolt tastes good", "It is cheap"])
    [1]
    """
    asked = _stems(question)
    shared = [len(asked & _stems(text)) for text in texts]
    most = max(shared, default=0)
    return [at for at, count in enumerate(shared) if count == most] if most else []


def _stems(text: str) -> set[str]:
    words = ("".join(filter(str.isalnum, word)).casefold() for word in text.split())
    return {word[:_STEM] for word in words if len(word) >= _SHORT}
