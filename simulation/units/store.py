"""Memory units of all personas, as columns over units.

A unit is what one persona has settled about one side (aspect) of one object; after a merge it
answers for several sides. Personas, objects and aspects are numbers here; whoever uses the store
knows their names. Only living units are held: one that ends leaves the store.

Source: DAM-LLM, "Confidence-Weighted Memory Units"; method.md 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulation.buffers import grown
from simulation.mind import attitude
from simulation.units.index import ASPECTS, OBJECTS, SideIndex, key

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

__all__ = ["ASPECTS", "COLUMNS", "FAULTS", "Observed", "UnitStore", "faults", "occurrence"]

FAULTS = (
    "a share of the evidence is not a number in [0, 1]",
    "the shares of the evidence do not sum to 1",
    "the strength of the evidence is not a number in (0, 1]",
)
_SLACK = 1e-6  # how far shares may sum to something else than 1

COLUMNS: dict[str, Any] = {
    "unit_id": np.int64,
    "persona": np.int64,
    "object": np.int64,
    "aspect": np.int64,
    "weight": np.float64,
    "summary": np.int64,
    "observations": np.int64,
    "width": np.int64,
    "created": np.int64,
    "updated": np.int64,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What each of n pieces of evidence did, in their order.

    unit_id: (n,) the unit that took it in.  place: (n,) where it stands, until units end.
    confidence: (n, 3), weight, entropy: (n,), observations: (n,) of the unit right after it.
    """

    unit_id: IntArray
    place: IntArray
    confidence: FloatArray
    weight: FloatArray
    entropy: FloatArray
    observations: IntArray


class UnitStore:
    """Living units, in the order of their ids.

    Attributes (N, the number of units), which are views: fetch them anew after units were founded
    or ended.
        unit_id: (N,), unique in a run and rising.
        persona, object, aspect: (N,) whose it is, and what it was founded about.
        confidence: (N, 3) positive, negative, neutral, each in [0, 1].
        disorder: (N,) belief entropy of the confidence, bits.
        weight: (N,) > 0, at most the cap.
        summary: (N,) id of its text, -1 before it was told.
        observations: (N,) pieces of evidence so far.
        width: (N,) sides that it answers for, >= 1.
        created, updated: (N,) tick of the first and of the latest evidence.
        next_id: the id of the next unit.
    """

    unit_id: IntArray
    persona: IntArray
    object: IntArray
    aspect: IntArray
    weight: FloatArray
    summary: IntArray
    observations: IntArray
    width: IntArray
    created: IntArray
    updated: IntArray
    confidence: FloatArray
    disorder: FloatArray

    def __init__(self, *, cap: float = 12.0, updating: bool = True) -> None:
        """Start empty.

        cap: largest weight of a unit, > 0.  updating: False founds a unit per piece of evidence:
        the memory that the seed compares with.

        Raises:
            ValueError: the cap is not above 0.
        """
        if not cap > 0:
            raise ValueError("the cap of the weight must be above 0")
        self.cap = cap
        self.updating = updating
        self.next_id = 0
        self._index = SideIndex()
        self._room: dict[str, NDArray[Any]] = {n: np.zeros(0, kind) for n, kind in COLUMNS.items()}
        self._room["confidence"] = np.zeros((0, attitude.POLARITIES))
        self._room["disorder"] = np.zeros(0)
        self._show(0)

    def __len__(self) -> int:
        """Return the number of living units."""
        return len(self.unit_id)

    @property
    def keys(self) -> tuple[IntArray, IntArray]:
        """Return the index: sorted keys of (persona, object, aspect), and their units' ids."""
        return self._index.keys, self.unit_id[self._index.at]

    def place(self, unit_id: IntArray) -> IntArray:
        """Return where units stand, (n,).

        Raises:
            KeyError: one of them does not live.
        """
        unit_id = np.asarray(unit_id, np.int64)
        found = np.minimum(np.searchsorted(self.unit_id, unit_id), max(len(self) - 1, 0))
        if len(unit_id) and (not len(self) or (self.unit_id[found] != unit_id).any()):
            raise KeyError("no such living unit")
        return found

    def find(self, persona: IntArray, obj: IntArray, aspect: IntArray) -> IntArray:
        """Return the ids of the units about sides of objects, (n,); -1 where there is none."""
        return self._known(self.unit_id, key(persona, obj, aspect), -1)

    def side(self, persona: IntArray, obj: IntArray, aspect: IntArray) -> IntArray:
        """Return under which side of their object units were founded, (n,).

        It is `aspect` where there is no unit.
        """
        return self._known(self.aspect, key(persona, obj, aspect), aspect)

    def about(self, persona: int, obj: int = -1, aspect: int = -1) -> IntArray:
        """Return the ids of a persona's units, rising: all, about an object, or about its side."""
        low = np.array([persona, max(obj, 0), max(aspect, 0)])
        high = np.array([persona, obj, aspect])
        for part, last in ((1, OBJECTS - 1), (2, ASPECTS - 1)):
            high[part] = last if high[part] < 0 else high[part]
        ends = key(*(np.array([a, b]) for a, b in zip(low, high, strict=True)))
        start, stop = self._index.within(ends[:1], ends[1:])
        return self.unit_id[np.unique(self._index.at[start[0] : stop[0]])]

    def sides(self, persona: IntArray, obj: IntArray) -> tuple[IntArray, IntArray]:
        """Return all units about objects, each once: which of n it is about, its place, (m,).

        persona, obj: (n,).
        """
        return self._founded_about(key(persona, obj, np.zeros_like(persona)))

    def together(self, at: IntArray) -> tuple[IntArray, IntArray]:
        """Return the units of objects that have several: which object it is of, its place, (m,).

        The objects are those of the units at the places `at`; they and their units come in order.
        """
        objects = np.sort(key(self.persona[at], self.object[at], np.zeros_like(at)))
        objects = objects[np.diff(objects, prepend=-1) != 0]
        which, place = self._founded_about(objects, least=2)
        order = np.lexsort((place, which))
        which, place = which[order], place[order]
        # Without updates one side can have several units; then one of them may stand twice.
        once = np.ones(len(place), np.bool_)
        once[1:] = np.diff(place) != 0
        return which[once], place[once]

    def aspects(self, unit_id: int) -> tuple[int, ...]:
        """Return the sides that a unit answers for, rising."""
        return self.all_aspects(self.place(np.array([unit_id])))[0]

    def all_aspects(self, at: IntArray) -> list[tuple[int, ...]]:
        """Return the sides, rising, that each of the units at some places answers for."""
        index = self._index
        which, member = index.of_objects(key(self.persona[at], self.object[at], self.aspect[at]))
        own = index.at[member] == at[which]
        sides = (index.keys[member[own]] & (ASPECTS - 1)).tolist()
        ends = np.cumsum(np.bincount(which[own], minlength=len(at))).tolist()
        return [tuple(sides[a:b]) for a, b in zip([0, *ends], ends, strict=False)]

    def observe(
        self,
        persona: IntArray,
        obj: IntArray,
        aspect: IntArray,
        polarity: FloatArray,
        strength: FloatArray,
        *,
        tick: int,
    ) -> Observed:
        """Take in n pieces of evidence, one after the other; units are founded as needed.

        persona, obj, aspect: (n,).  polarity: (n, 3), rows that sum to 1.  strength: (n,), (0, 1].

        Raises:
            ValueError: a piece cannot be (`FAULTS`), or a number is too large. Nothing is changed.
        """
        wrong = faults(polarity, strength)
        if (wrong >= 0).any():
            raise ValueError(FAULTS[int(wrong[wrong >= 0][0])])
        rows = self._founded(persona, obj, aspect, tick)
        after = np.zeros((len(rows), attitude.POLARITIES))
        weight, times = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
        turn = occurrence(rows)
        for n in range(int(turn.max(initial=-1)) + 1):
            now = np.flatnonzero(turn == n)
            at = rows[now]
            self.confidence[at], self.weight[at] = attitude.update(
                self.confidence[at], self.weight[at], polarity[now], strength[now], cap=self.cap
            )
            self.observations[at] += 1
            after[now], weight[now] = self.confidence[at], self.weight[at]
            times[now] = self.observations[at]
        entropy = attitude.entropy(after)
        self.disorder[rows] = entropy  # of several pieces the last counts
        self.updated[rows] = tick
        return Observed(
            unit_id=self.unit_id[rows],
            place=rows,
            confidence=after,
            weight=weight,
            entropy=entropy,
            observations=times,
        )

    def merge(self, at: IntArray, gone: IntArray) -> None:
        """Let each unit take over another, (n,) places; all 2n are different.

        The others answer for nothing any more; they are to be dropped when all merges are done.
        """
        self.confidence[at], self.weight[at] = attitude.joined(
            self.confidence[at],
            self.weight[at],
            self.confidence[gone],
            self.weight[gone],
            cap=self.cap,
        )
        self.disorder[at] = attitude.entropy(self.confidence[at])
        self.observations[at] += self.observations[gone]
        self.width[at] += self.width[gone]
        self.updated[at] = np.maximum(self.updated[at], self.updated[gone])
        sides = key(self.persona[gone], self.object[gone], self.aspect[gone])
        self._index.hand_over(sides, gone, at)

    def drop(self, at: IntArray) -> None:
        """End units, (n,) places, n >= 1; those behind them move up."""
        kept = np.ones(len(self), np.bool_)
        kept[at] = False
        self._index.drop(kept)
        rest = np.flatnonzero(kept)
        for room in self._room.values():
            room[: len(rest)] = room[rest]
        self._show(len(rest))

    def entropy(self) -> float:
        """Return the total belief entropy of all living units, bits."""
        return float(self.disorder.sum())

    def restore(
        self, columns: dict[str, Any], keys: IntArray, owner: IntArray, next_id: int
    ) -> None:
        """Take over units as they were: `columns` by name with `confidence`, and the index.

        keys, owner: as `keys` gives them, in any order.
        """
        for name, dtype in COLUMNS.items():
            self._room[name] = np.array(columns[name], dtype)
        confidence = np.array(columns["confidence"], np.float64).reshape(-1, 3)
        self._room["confidence"] = confidence
        self._room["disorder"] = attitude.entropy(confidence)
        self._show(len(confidence))
        self._index.restore(keys, self.place(owner))
        self.next_id = next_id

    def _show(self, size: int) -> None:
        """Let the attributes show the first units of the room there is."""
        for name, room in self._room.items():
            setattr(self, name, room[:size])

    def _known(self, values: IntArray, wanted: IntArray, unknown: IntArray | int) -> IntArray:
        """Return what `values`, (N,), say of the unit of each key, (n,), or else `unknown`."""
        at = self._index.find(wanted)
        known = np.flatnonzero(at >= 0)
        result = np.empty(len(at), np.int64)
        result[:] = unknown
        result[known] = values[at[known]]
        return result

    def _founded_about(self, objects: IntArray, *, least: int = 0) -> tuple[IntArray, IntArray]:
        """Return the units of objects by the sides that they were founded about: which, place.

        objects: (n,) a key of each.  least: objects with fewer sides are left out.
        """
        index = self._index
        which, member = index.of_objects(objects)
        if least:
            enough = (np.bincount(which, minlength=len(objects)) >= least)[which]
            which, member = which[enough], member[enough]
        place = index.at[member]
        founded = self.aspect[place] == (index.keys[member] & (ASPECTS - 1))
        return which[founded], place[founded]

    def _founded(self, persona: IntArray, obj: IntArray, aspect: IntArray, tick: int) -> IntArray:
        """Return the place of the unit of each piece of evidence, founding those missing, (n,)."""
        wanted = key(persona, obj, aspect)
        at = self._index.find(wanted) if self.updating else np.full(len(wanted), -1, np.int64)
        missing = np.flatnonzero(at < 0)
        if not len(missing):
            return at
        first = which = np.arange(len(missing))
        if self.updating:
            _, first, which = np.unique(wanted[missing], return_index=True, return_inverse=True)
        order = np.argsort(first)  # they are founded as they come
        place = np.empty(len(first), np.int64)
        place[order] = len(self) + np.arange(len(first))
        at[missing] = place[which]
        new = missing[first]
        self._append(persona[new[order]], obj[new[order]], aspect[new[order]], tick)
        self._index.insert(wanted[new], place)
        return at

    def _append(self, persona: IntArray, obj: IntArray, aspect: IntArray, tick: int) -> None:
        start, end = len(self), len(self) + len(persona)
        self._room = {name: grown(room, end) for name, room in self._room.items()}
        self._show(end)
        new = slice(start, end)
        self.unit_id[new] = np.arange(self.next_id, self.next_id + len(persona))
        self.persona[new], self.object[new], self.aspect[new] = persona, obj, aspect
        self.summary[new], self.width[new] = -1, 1
        self.created[new] = self.updated[new] = tick
        # What ended may have left its numbers in the room.
        self.weight[new] = self.observations[new] = self.confidence[new] = self.disorder[new] = 0
        self.next_id += len(persona)


def faults(polarity: FloatArray, strength: FloatArray) -> IntArray:
    """Return what is wrong with each piece of evidence, (n,): a place in `FAULTS`, or -1.

    polarity: (n, 3).  strength: (n,).
    """
    with np.errstate(invalid="ignore"):
        shares = ((polarity >= 0.0) & (polarity <= 1.0)).all(axis=1)
        whole = np.abs(polarity.sum(axis=1) - 1.0) <= _SLACK
        strong = (strength > 0.0) & (strength <= 1.0)
    return np.where(~shares, 0, np.where(~whole, 1, np.where(~strong, 2, -1)))


def occurrence(ids: IntArray) -> IntArray:
    """Return how often each value has stood before, (n,)."""
    order = np.argsort(ids, kind="stable")
    ranked = ids[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]]) if len(ids) else order
    size = np.diff(np.r_[starts, len(ids)])
    place = np.arange(len(ids)) - np.repeat(starts, size)
    found = np.zeros(len(ids), np.int64)
    found[order] = place
    return found
