"""Routing: what is to be done with a text - store it, look something up, or only answer.

By rule or by a language model. Source: DAM-LLM, its routing agent (Store, Retrieve, Generate); the
rule is this project's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast

from simulation.calls.base import Call
from simulation.errors import InvalidAnswerError
from simulation.extractors import polarity
from simulation.extractors.clauses import head, read
from simulation.extractors.lists import Lists, with_names
from simulation.extractors.objects import Names
from simulation.models.answers import decode, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simulation.calls.base import Asker
    from simulation.extractors.base import Topic
    from simulation.extractors.clauses import Reading
    from simulation.providers.base import Prompt

Route = Literal["store", "retrieve", "answer"]

ROUTES: Final[tuple[Route, ...]] = ("store", "retrieve", "answer")
MAX_TOKENS: Final = 40
TEMPERATURE: Final = 0.1

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_HELPERS: Final = frozenset(
    (
        *("am", "are", "can", "could", "did", "do", "does", "had", "has", "have", "is", "should"),
        *("was", "were", "will", "would"),
    )
)
_ASKING: Final = frozenset(
    ("how", "what", "when", "where", "which", "who", "whom", "whose", "why")
)
_ASKED_OF: Final = frozenset(
    (
        *("anybody", "anyone", "everybody", "everyone", "he", "her", "his", "i", "it", "my"),
        *("our", "people", "she", "that", "the", "their", "there", "these", "they", "this"),
        *("those", "we", "you", "your"),
    )
)
_REQUESTS: Final = re.compile(
    "(?:please |can you |could you )?"
    "(?:remind me|tell me|show me|recall |look up |remember (?:how|what|which|why))"
)
_SELF: Final = frozenset(("i", "i've", "i'd", "me", "mine", "my", "our", "us", "we"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """The way of each of N texts, and why a model's own answer was not used, by index."""

    routes: tuple[Route, ...]
    error: dict[int, str]
    rejections: tuple[tuple[int, str, str], ...]


class Router(Protocol):
    """Tells what is to be done with texts, each read on its own."""

    def route(
        self,
        texts: Sequence[str],
        topics: Sequence[Topic],
        *,
        tick: int,
        ids: Sequence[str | None],
    ) -> Routed:
        """Return the way of each text; the arguments are those of `Extractor.extract`."""
        ...


def route(
    text: str,
    topics: Sequence[Topic] = (),
    *,
    words: Mapping[str, Sequence[str]] | None = None,
) -> Route:
    """Return the way of a text by rule; never fails.

    A sentence that is no question and judges something is stored. Else a question about one of the
    topics is looked up; without topics, a question about whoever speaks. The rest is answered.

    >>> [route(text) for text in ("I love it.", "What did I say about it?", "Good morning?")]
    ['store', 'retrieve', 'answer']

    Args:
        text: Of any length; as much is read of it as by `LexiconExtractor`.
        topics: What may be asked about.
        words: Word lists by aspect; an aspect without a list is looked for by its name.
    """
    sentences = [read(each, polarity.emoji()) for each in _SENTENCE.findall(head(text))]
    asked = [each for each in sentences if is_question(each)]
    told = [each for each in sentences if not is_question(each)]
    if any(polarity.judgements(each) for each in told):
        return "store"
    if any(_is_about(each, topics, words or {}) for each in asked):
        return "retrieve"
    return "answer"


def is_question(sentence: Reading) -> bool:
    """Return whether a sentence asks, by its mark or by how it starts."""
    if any("?" in marks for marks in sentence.marks.values()):
        return True
    first, second, third = (*sentence.words[:3], "", "", "")[:3]
    if first in _ASKING:
        return second in _HELPERS or (third in _HELPERS and second not in _ASKED_OF)
    if first in _HELPERS and second in _ASKED_OF:
        return True
    return _REQUESTS.match(" ".join(sentence.words[:5])) is not None


def _is_about(
    sentence: Reading, topics: Sequence[Topic], words: Mapping[str, Sequence[str]]
) -> bool:
    if not topics:
        return not _SELF.isdisjoint(sentence.words)
    aspects = list(dict.fromkeys(aspect for topic in topics for aspect in topic.aspects))
    if Lists(with_names(words, aspects)).find(sentence.stems):
        return True
    return bool(Names([topic.object for topic in topics]).find(sentence))


class RuleRouter:
    """Routes by rule."""

    def __init__(self, words: Mapping[str, Sequence[str]]) -> None:
        """Keep the word lists, by aspect."""
        self._words = words

    def route(
        self,
        texts: Sequence[str],
        topics: Sequence[Topic],
        *,
        tick: int,  # noqa: ARG002 the protocol's; a text reads the same at any time
        ids: Sequence[str | None],  # noqa: ARG002 the protocol's; and by anybody
    ) -> Routed:
        """Return the way of each text; see `Router.route`."""
        routes = tuple(route(text, topics, words=self._words) for text in texts)
        return Routed(routes=routes, error={}, rejections=())


class ModelRouter:
    """Asks a language model, for each text on its own; what fails is routed by `fallback`."""

    def __init__(
        self,
        asker: Asker,
        *,
        prompt: Callable[[str, Sequence[Topic]], Prompt],
        repair: Callable[[Prompt, str], Prompt],
        fallback: Callable[[str, Sequence[Topic]], Route],
    ) -> None:
        """Keep the parts. fallback: routes by rule and never fails."""
        self._asker = asker
        self._prompt = prompt
        self._repair = repair
        self._fallback = fallback

    def route(
        self,
        texts: Sequence[str],
        topics: Sequence[Topic],
        *,
        tick: int,
        ids: Sequence[str | None],
    ) -> Routed:
        """Return the way of each text; see `Router.route`."""
        answers = self._asker.ask(
            [
                Call(
                    tick=tick,
                    persona_id=persona_id,
                    purpose="extraction",
                    prompt=partial(self._prompt, text, topics),
                    schema=routing_schema(),
                    read=parse_route,
                    repair=self._repair,
                    max_tokens=MAX_TOKENS,
                    temperature=TEMPERATURE,
                )
                for text, persona_id in zip(texts, ids, strict=True)
            ]
        )
        error: dict[int, str] = {}
        rejections: list[tuple[int, str, str]] = []
        routes: list[Route] = []
        for i, answer in enumerate(answers):
            rejections += [(i, kind, detail) for kind, detail in answer.faults]
            if answer.value is None:
                error[i] = answer.why
            routes.append(answer.value or self._fallback(texts[i], topics))
        return Routed(routes=tuple(routes), error=error, rejections=tuple(rejections))


def routing_schema() -> dict[str, Any]:
    """Return the JSON Schema of an answer."""
    return {
        "type": "object",
        "properties": {"route": {"type": "string", "enum": list(ROUTES)}},
        "required": ["route"],
        "additionalProperties": False,
    }


def parse_route(answer: str) -> Route:
    """Return the way that an answer names.

    Raises:
        InvalidAnswerError: it is none of them.
    """
    given = decode(answer).get("route")
    if given not in ROUTES:
        raise InvalidAnswerError(f'"route" must be one of {", ".join(ROUTES)}, not {shown(given)}')
    return cast("Route", given)
