"""Extraction without a language model: by names, word lists and the sentiment lexicon.

What a text is about is found by the names of objects and the words of their aspects; how it leans
about an aspect, by the words that judge near where the aspect is named. It is deterministic, takes
time that grows with the text at most as far as `MAX_CHARACTERS`, and refuses no text.

Source: DAM-LLM, its extraction E, Q, C, S; the rules are this project's (docs/extraction.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simulation.extractors import polarity
from simulation.extractors.base import Evidence, Extracted
from simulation.extractors.clauses import head, read
from simulation.extractors.lists import Lists, with_names
from simulation.extractors.near import NearWords
from simulation.extractors.objects import Names, owner
from simulation.extractors.weights import softmax

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.encoders.base import Encoder
    from simulation.extractors.base import Topic
    from simulation.extractors.clauses import Reading
    from simulation.extractors.objects import Mention
    from simulation.extractors.weights import Weights

MAX_SUMMARY: Final = 200
"""Characters of a summary."""
PLANS: Final = 64
"""Sets of topics that are kept ready."""

Place = tuple[str, str]
"""(object, aspect)."""
Anchors = dict[Place, list[int]]
"""Where each thing is spoken of; [] where no single word does."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """What to look for. aspects: by object.  near: for aspects without a list."""

    topics: tuple[Topic, ...]
    aspects: Mapping[str, tuple[str, ...]]
    names: Names
    lists: Lists
    near: NearWords | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Judged:
    """How a text leans about one thing."""

    shares: tuple[float, float, float]
    strength: float
    summary: str


class LexiconExtractor:
    """Finds evidence by rule."""

    def __init__(
        self,
        words: Mapping[str, Sequence[str]],
        *,
        encoder: Encoder | None = None,
        weights: Weights | None = None,
    ) -> None:
        """Keep the word lists.

        Args:
            words: By aspect. An aspect without a list is looked for by its name.
            encoder: Finds words near the name of an aspect without a list; None: only the name.
            weights: A table fitted for a field, for the aspects that it knows.
        """
        self._words = {aspect: tuple(given) for aspect, given in words.items() if given}
        self._encoder = encoder
        self._weights = weights
        self._plans: dict[tuple[Topic, ...], _Plan] = {}

    def extract(
        self,
        texts: Sequence[str],
        topics: Sequence[Topic],
        *,
        tick: int,  # noqa: ARG002 the protocol's; a text reads the same at any time
        ids: Sequence[str | None],  # noqa: ARG002 the protocol's; and by anybody
    ) -> Extracted:
        """Return the evidence in each text; see `Extractor.extract`."""
        found = tuple(self.evidence(text, topics) for text in texts)
        return Extracted(evidence=found, error={}, rejections=())

    def evidence(self, text: str, topics: Sequence[Topic]) -> tuple[Evidence, ...]:
        """Return the evidence in a text: a piece for each thing, in the order of the topics."""
        plan = self._plan(tuple(topics))
        reading = read(head(text), polarity.emoji())
        mentions = plan.names.find(reading)
        places = self._places(reading, plan, mentions)
        if not places:
            return ()
        judged = self._judge(reading, places, alone=len({name for _, name in mentions}) <= 1)
        return tuple(
            Evidence(
                object_type=topic.object_type,
                object=topic.object,
                aspect=aspect,
                polarity=judged[topic.object, aspect].shares,
                strength=judged[topic.object, aspect].strength,
                summary=judged[topic.object, aspect].summary,
            )
            for topic in plan.topics
            for aspect in dict.fromkeys(topic.aspects)
            if (topic.object, aspect) in places
        )

    def lean(self, text: str, aspect: str) -> tuple[float, float, float]:
        """Return how a text leans about an aspect that it is known to speak of, as shares."""
        reading = read(head(text), polarity.emoji())
        words = Lists(with_names(self._words, [aspect])).find(reading.stems)
        anchors = [word for word, _ in words]
        if self._weights is not None and aspect in self._weights.aspects:
            anchors = self._weights.anchors(reading, aspect, anchors)
        place = ("", aspect)
        return self._judge(reading, {place: anchors}, alone=not anchors)[place].shares

    def _plan(self, topics: tuple[Topic, ...]) -> _Plan:
        """Return what to look for, from the last sets of topics if it is there."""
        plan = self._plans.get(topics)
        if plan is None:
            if len(self._plans) >= PLANS:
                self._plans.clear()
            plan = self._plans[topics] = self._planned(topics)
        return plan

    def _planned(self, topics: tuple[Topic, ...]) -> _Plan:
        aspects = list(dict.fromkeys(aspect for topic in topics for aspect in topic.aspects))
        owned: dict[str, tuple[str, ...]] = {}
        for topic in topics:
            owned[topic.object] = (*owned.get(topic.object, ()), *topic.aspects)
        lists = Lists(with_names(self._words, aspects))
        unlisted = [aspect for aspect in aspects if aspect not in self._words]
        return _Plan(
            topics=topics,
            aspects=owned,
            names=Names(tuple(owned)),
            lists=lists,
            near=NearWords(self._encoder, unlisted) if self._encoder and unlisted else None,
        )

    def _places(self, text: Reading, plan: _Plan, mentions: Sequence[Mention]) -> Anchors:
        """Return where each thing that a text speaks of is spoken of."""
        single = next(iter(plan.aspects)) if len(plan.aspects) == 1 else None
        places: Anchors = {}
        for aspect, words in self._spoken(text, plan).items():
            for word in words:
                name = owner(text, word, mentions) if single is None else single
                if name is not None and aspect in plan.aspects[name]:
                    places.setdefault((name, aspect), []).append(word)
            only = _only(mentions) if single is None else single
            if not words and only is not None and aspect in plan.aspects[only]:
                places[only, aspect] = []
        told = {name for name, _ in places}
        for topic in plan.topics:
            words = [word for word, name in mentions if name == topic.object]
            if words and topic.aspects and topic.object not in told:
                places[topic.object, topic.aspects[0]] = words
        return places

    def _spoken(self, text: Reading, plan: _Plan) -> dict[str, list[int]]:
        """Return the aspects that a text speaks of, and where; [] where no single word does."""
        listed: dict[str, list[int]] = {}
        for word, aspect in plan.lists.find(text.stems):
            listed.setdefault(aspect, []).append(word)
        if plan.near is not None:
            for word, aspect in plan.near.find(text.words):
                if word not in listed.get(aspect, ()):
                    listed.setdefault(aspect, []).append(word)
        if self._weights is None:
            return listed
        weights, known = self._weights, set(plan.lists.aspects)
        found = {
            aspect: words for aspect, words in listed.items() if aspect not in weights.aspects
        }
        for aspect in weights.spoken(text, listed):
            if aspect in known:
                found[aspect] = weights.anchors(text, aspect, listed.get(aspect, ()))
        return found

    def _judge(self, text: Reading, places: Anchors, *, alone: bool) -> dict[Place, _Judged]:
        """Return how a text leans about each thing.

        alone: it names no more than one object. If it then speaks of one thing only, all of it is
        about that; else what stands near is.
        """
        said = polarity.judgements(text)
        everywhere = alone and len(places) == 1
        found: dict[Place, _Judged] = {}
        for place, anchors in places.items():
            near = polarity.nearness(text, anchors)
            good, bad = polarity.judged(said, None if everywhere else near)
            shares = polarity.shares(good, bad)
            if self._weights is not None and place[1] in self._weights.aspects:
                shares = softmax(self._weights.logits(text, place[1], said, near))
            found[place] = _Judged(
                shares=shares,
                strength=polarity.strength(text, good + bad, anchors),
                summary=_summary(text, anchors),
            )
        return found


def _only(mentions: Sequence[Mention]) -> str | None:
    """Return the only object that is named, None if there is no such."""
    names = {name for _, name in mentions}
    return names.pop() if len(names) == 1 else None


def _summary(text: Reading, anchors: Sequence[int]) -> str:
    """Return the words of the clause in which a thing is first spoken of."""
    if not anchors:
        return " ".join(text.raw)[:MAX_SUMMARY].rstrip()
    here = text.clause[anchors[0]]
    return " ".join(text.raw[text.span(here - 1, here + 1)])[:MAX_SUMMARY].rstrip()
