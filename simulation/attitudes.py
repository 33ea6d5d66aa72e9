"""The loop of a memory that settles: route what is heard, extract, update, merge, delete, recall.

One memory is one person's. Each step can be replaced: the router and the extractor are handed in
(by rule or by a model), how a unit is put in words is a function, when units merge and go are
`Rules`. Objects and aspects are known by name and may be anything.

The clock counts observations: that is the time after which a unit without news can be deleted.

Source: DAM-LLM, "DAM-LLM Agent"; method.md 10.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulation import units
from simulation.mind import attitude
from simulation.texts import Texts
from simulation.units.store import ASPECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.encoders import Encoder
    from simulation.extractors import Evidence, Extractor, Topic
    from simulation.extractors.routing import Route, Router

IntArray = NDArray[np.int64]

_ME = 0  # the store's number of the only person


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A memory unit as it stands, with names.

    confidence: positive, negative, neutral.  weight: > 0.  entropy: bits.  aspects: all that it
    answers for.  created, updated: the clock at its first and latest evidence.
    """

    unit_id: int
    object_type: str
    object: str
    aspects: tuple[str, ...]
    confidence: tuple[float, float, float]
    weight: float
    entropy: float
    observations: int
    created: int
    updated: int
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happened to a unit: `evidence`, `merge` (other went into it) or `delete`.

    confidence, weight, entropy: of the unit afterwards; of a deleted one, as it was.
    """

    kind: Literal["evidence", "merge", "delete"]
    clock: int
    unit_id: int
    confidence: tuple[float, float, float]
    weight: float
    entropy: float
    other: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What hearing a text led to. changes: when it was stored.  recalled: when it asked.

    errors: why a model's own answer was not used, if one was asked.
    """

    route: Route
    errors: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    changes: tuple[Change, ...] = ()
    recalled: tuple[Unit, ...] = ()


Told: TypeAlias = "Callable[[str, Sequence[str], float, float, str], str]"
"""Puts a unit in words: object, aspects, leaning, entropy, what was said last."""


def as_settled(obj: str, aspects: Sequence[str], lean: float, entropy: float, _: str) -> str:
    """Put a unit in words by what is settled: the default."""
    return units.summary(obj, aspects, lean, entropy)


def as_said(obj: str, aspects: Sequence[str], lean: float, entropy: float, said: str) -> str:
    """Put a unit in words by what was said last, as a memory of isolated facts does."""
    return said or units.summary(obj, aspects, lean, entropy)


class AttitudeMemory:
    """What one person has settled about sides of things.

    Attributes:
        store: the units.  texts: their summaries.  clock: observations so far.
    """

    def __init__(
        self,
        *,
        encoder: Encoder,
        topics: Sequence[Topic] = (),
        extractor: Extractor | None = None,
        router: Router | None = None,
        rules: units.Rules | None = None,
        cap: float = 12.0,
        updating: bool = True,
        told: Told = as_settled,
    ) -> None:
        """Start empty.

        topics: what texts may be about.  extractor, router: needed by `hear` alone.  rules: of
        compression.  cap: largest weight.  updating: False keeps a unit per observation.

        Raises:
            ValueError: the cap is not above 0.
        """
        self.store = units.UnitStore(cap=cap, updating=updating)
        self.texts = Texts(encoder.encode, width=encoder.width)
        self.clock = 0
        self.topics = tuple(topics)
        self.rules = rules or units.Rules()
        self._extractor, self._router, self._told = extractor, router, told
        self._objects: dict[tuple[str, str], int] = {}
        self._aspects: list[dict[str, int]] = []  # of each object: numbers by name
        self._said: dict[int, str] = {}
        self._named = _Names()
        for topic in self.topics:
            self._number(topic.object_type, topic.object, topic.aspects)

    def __len__(self) -> int:
        """Return the number of living units."""
        return len(self.store)

    def hear(self, text: str, *, k: int = 5) -> Heard:
        """Do with a text what its route says: store what it tells, recall what it asks, nothing.

        Raises:
            ValueError: there is no router or no extractor.
        """
        if self._router is None or self._extractor is None:
            raise ValueError("hearing a text needs a router and an extractor")
        way = self._router.route([text], self.topics, tick=self.clock, ids=[None])
        route, errors = way.routes[0], tuple(way.error.values())
        if route == "retrieve":
            return Heard(route=route, recalled=self.recall(text, k), errors=errors)
        if route == "answer":
            return Heard(route=route, errors=errors)
        found = self._extractor.extract([text], self.topics, tick=self.clock, ids=[None])
        evidence = tuple(found.evidence[0])
        return Heard(
            route=route,
            evidence=evidence,
            changes=self.take(evidence),
            errors=(*errors, *found.error.values()),
        )

    def take(self, evidence: Sequence[Evidence]) -> tuple[Change, ...]:
        """Update units with pieces of evidence, one after the other, then compress.

        Raises:
            ValueError: a piece cannot be (`units.FAULTS`), or an object has too many aspects. What
                came before it is kept.
        """
        changes, touched = [], []
        for piece in evidence:
            changes.append(self._update(piece))
            touched.append(changes[-1].unit_id)
        if touched:
            changes += self._compress(np.unique(np.array(touched, np.int64)))
        return tuple(changes)

    def keep(self, evidence: Sequence[Evidence]) -> tuple[int, ...]:
        """Take in many pieces at once without compressing, and return the unit of each.

        Meant for a memory with a unit per observation, where it gives what `take` gives, faster.
        All pieces count as of one time, the last one's.

        Raises:
            ValueError: see `take`; nothing is kept.
        """
        if not evidence:
            return ()
        numbers = [self._number(e.object_type, e.object, [e.aspect]) for e in evidence]
        obj, side = np.array(numbers, np.int64).T
        seen = self.store.observe(
            np.full(len(evidence), _ME),
            obj,
            side,
            np.array([e.polarity for e in evidence], np.float64),
            np.array([e.strength for e in evidence], np.float64),
            tick=self.clock + len(evidence),
        )
        self.clock += len(evidence)
        ids = seen.unit_id.tolist()
        self._said.update(zip(ids, (e.summary for e in evidence), strict=True))
        self._tell(np.unique(seen.unit_id))
        return tuple(ids)

    def recall(self, query: str, k: int = 5, *, by_name: bool = True) -> tuple[Unit, ...]:
        """Return the best k units for a query, best first.

        Stage 1 keeps what is about the objects that the query names, and of these the aspect that
        it names, as far as there is any; stage 2 ranks by meaning.

        by_name: False leaves out stage 1.
        """
        ask = int(self.texts.intern([query])[0])
        sides = self._asked(query) if by_name else [(None, -1)]
        found = [
            units.retrieve(
                self.store,
                self.texts,
                persona=_ME,
                query=ask,
                k=k,
                objects=() if obj is None else (obj,),
                aspect=aspect,
            )
            for obj, aspect in sides
        ]
        ids = np.unique(np.concatenate(found))
        summaries = self.store.summary[self.store.place(ids)]
        order = np.lexsort((ids, -self.texts.cosine(summaries, np.array([ask]))))
        return self.describe(ids[order[:k]])

    def units(self) -> tuple[Unit, ...]:
        """Return all living units, by id."""
        return self.describe(self.store.unit_id)

    def describe(self, unit_id: IntArray) -> tuple[Unit, ...]:
        """Return living units by id, (n,), with names.

        Raises:
            KeyError: one of them does not live.
        """
        return tuple(self._unit(int(row)) for row in self.store.place(unit_id))

    def find(self, object_type: str, obj: str, aspect: str) -> int | None:
        """Return the id of a unit that answers for a side of an object, None if there is none."""
        number = self._objects.get((object_type, obj))
        side = None if number is None else self._aspects[number].get(aspect)
        if number is None or side is None:
            return None
        found = self.store.about(_ME, number, side)
        return int(found[0]) if len(found) else None

    def _update(self, piece: Evidence) -> Change:
        obj, side = self._number(piece.object_type, piece.object, [piece.aspect])
        seen = self.store.observe(
            np.array([_ME]),
            np.array([obj]),
            np.array([side]),
            np.array([piece.polarity], np.float64),
            np.array([piece.strength], np.float64),
            tick=self.clock + 1,
        )
        self.clock += 1
        self._said[int(seen.unit_id[0])] = piece.summary
        self._tell(seen.unit_id)
        return _change("evidence", self.clock, seen.unit_id[0], seen.confidence[0], seen.weight[0])

    def _compress(self, touched: IntArray) -> list[Change]:
        done = units.compress(
            self.store,
            self.texts,
            rules=self.rules,
            tick=self.clock,
            summarise=self._summarise,
            touched=touched,
        )
        changes = []
        for each in done.rounds:
            rows = zip(each.unit_id, each.confidence, each.weight, each.other, strict=True)
            changes += [_change("merge", self.clock, u, c, w, other=int(o)) for u, c, w, o in rows]
        gone = done.deleted
        rows_gone = zip(gone.unit_id, gone.confidence, gone.weight, strict=True)
        return changes + [_change("delete", self.clock, u, c, w) for u, c, w in rows_gone]

    def _tell(self, unit_id: IntArray) -> None:
        self.store.summary[self.store.place(unit_id)] = self._summarise(unit_id)

    def _summarise(self, unit_id: IntArray) -> IntArray:
        return self.texts.intern([self._words(int(row)) for row in self.store.place(unit_id)])

    def _words(self, row: int) -> str:
        confidence = self.store.confidence[row]
        unit_id = int(self.store.unit_id[row])
        (_, name), aspects = self._names(row)
        lean, entropy = float(attitude.lean(confidence)), float(attitude.entropy(confidence))
        return self._told(name, aspects, lean, entropy, self._said.get(unit_id, ""))

    def _unit(self, row: int) -> Unit:
        store = self.store
        (kind, name), aspects = self._names(row)
        positive, negative, neutral = store.confidence[row].tolist()
        return Unit(
            unit_id=int(store.unit_id[row]),
            object_type=kind,
            object=name,
            aspects=aspects,
            confidence=(positive, negative, neutral),
            weight=float(store.weight[row]),
            entropy=float(attitude.entropy(store.confidence[row])),
            observations=int(store.observations[row]),
            created=int(store.created[row]),
            updated=int(store.updated[row]),
            summary=self.texts[int(store.summary[row])],
        )

    def _names(self, row: int) -> tuple[tuple[str, str], tuple[str, ...]]:
        """Return an object (type, name), and the aspects that a unit answers for."""
        obj = int(self.store.object[row])
        aspects = tuple(self._aspects[obj])
        sides = self.store.aspects(int(self.store.unit_id[row]))
        return self._named.objects[obj], tuple(aspects[side] for side in sides)

    def _number(self, object_type: str, obj: str, aspects: Sequence[str]) -> tuple[int, int]:
        """Return the numbers of an object and of the last of some aspects; new ones are added.

        Raises:
            ValueError: an object has more aspects than a store can tell apart.
        """
        key = (object_type, obj)
        if key not in self._objects:
            self._objects[key] = len(self._objects)
            self._aspects.append({})
            self._named.add(key)
        number = self._objects[key]
        known = self._aspects[number]
        for aspect in aspects:
            if known.setdefault(aspect, len(known)) >= ASPECTS:
                del known[aspect]
                raise ValueError(f"{obj!r} has more than {ASPECTS} aspects")
        return number, known[aspects[-1]] if aspects else -1

    def _asked(self, query: str) -> list[tuple[int | None, int]]:
        """Return the sides that a query names, (object, aspect or -1); (None, -1) for anything."""
        objects = self._named.objects_in(query)
        lower = query.casefold()
        sides: list[tuple[int | None, int]] = []
        for obj in objects:
            named = [n for name, n in self._aspects[obj].items() if _stands_in(name, lower)]
            sides += [(obj, side) for side in named if len(self.store.about(_ME, obj, side))]
        if sides:
            return sides
        return [(o, -1) for o in objects if len(self.store.about(_ME, o))] or [(None, -1)]


class _Names:
    """The names of objects, and where they stand in a text."""

    def __init__(self) -> None:
        self.objects: list[tuple[str, str]] = []
        self._numbers: dict[str, list[int]] = {}
        self._pattern: re.Pattern[str] | None = None

    def add(self, key: tuple[str, str]) -> None:
        self._numbers.setdefault(key[1].casefold(), []).append(len(self.objects))
        self.objects.append(key)
        self._pattern = None

    def objects_in(self, text: str) -> list[int]:
        """Return the numbers of the objects that a text names, rising; longer names go first."""
        if self._pattern is None:
            names = sorted((name for name in self._numbers if name.strip()), key=len, reverse=True)
            either = "|".join(re.escape(name) for name in names) or "(?!)"
            self._pattern = re.compile(rf"(?<!\w)(?:{either})(?!\w)")
        found = self._pattern.findall(text.casefold())
        return sorted({n for name in found for n in self._numbers[name]})


def _stands_in(name: str, text: str) -> bool:
    """Return whether a name stands in a text in lower case, as whole words."""
    name = name.casefold()
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _change(
    kind: Literal["evidence", "merge", "delete"],
    clock: int,
    unit_id: np.int64,
    confidence: NDArray[np.float64],
    weight: np.float64,
    other: int | None = None,
) -> Change:
    positive, negative, neutral = confidence.tolist()
    return Change(
        kind=kind,
        clock=clock,
        unit_id=int(unit_id),
        confidence=(positive, negative, neutral),
        weight=float(weight),
        entropy=float(attitude.entropy(confidence)),
        other=other,
    )
