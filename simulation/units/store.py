"""Memory units of all personas, as columns over units, and the index that finds them.

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

from simulation.mind import attitude

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

FAULTS = (
    "a share of the evidence is not a number in [0, 1]",
    "the shares of the evidence do not sum to 1",
    "the strength of the evidence is not a number in (0, 1]",
)
_SLACK = 1e-6  # how far shares may sum to something else than 1
_ASPECT_BITS, _OBJECT_BITS, _PERSONA_BITS = 8, 27, 28
ASPECTS, OBJECTS, PERSONAS = 1 << _ASPECT_BITS, 1 << _OBJECT_BITS, 1 << _PERSONA_BITS
"""How many different aspects, objects and personas a store can tell apart."""

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

    unit_id: (n,) the unit that took it in.  confidence: (n, 3), weight: (n,), observations: (n,)
    of the unit right after it.
    """

    unit_id: IntArray
    confidence: FloatArray
    weight: FloatArray
    observations: IntArray


class UnitStore:
    """Living units, in the order of their ids.

    Attributes (N, the number of units):
        unit_id: (N,), unique in a run and rising.
        persona, object, aspect: (N,) whose it is, and what it was founded about.
        confidence: (N, 3) positive, negative, neutral, each in [0, 1].
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
        self.confidence: FloatArray = np.zeros((0, attitude.POLARITIES))
        for name, dtype in COLUMNS.items():
            setattr(self, name, np.zeros(0, dtype))
        self._keys: IntArray = np.zeros(0, np.int64)  # sorted; one for each side of a unit
        self._owner: IntArray = np.zeros(0, np.int64)  # unit_id

    def __len__(self) -> int:
        """Return the number of living units."""
        return len(self.unit_id)

    @property
    def keys(self) -> tuple[IntArray, IntArray]:
        """Return the index: sorted keys of (persona, object, aspect), and their units' ids."""
        return self._keys, self._owner

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
        wanted = key(persona, obj, aspect)
        if not len(self._keys):
            return np.full(len(wanted), -1, np.int64)
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[place] == wanted, self._owner[place], -1)

    def side(self, persona: IntArray, obj: IntArray, aspect: IntArray) -> IntArray:
        """Return under which side of their object units were founded, (n,).

        It is `aspect` where there is no unit.
        """
        found = self.find(persona, obj, aspect)
        known = np.flatnonzero(found >= 0)
        side = np.array(aspect, np.int64)
        side[known] = self.aspect[self.place(found[known])]
        return side

    def about(self, persona: int, obj: int = -1, aspect: int = -1) -> IntArray:
        """Return the ids of a persona's units, rising: all, about an object, or about its side."""
        low = np.array([persona, max(obj, 0), max(aspect, 0)])
        high = np.array([persona, obj, aspect])
        for part, last in ((1, OBJECTS - 1), (2, ASPECTS - 1)):
            high[part] = last if high[part] < 0 else high[part]
        ends = key(*(np.array([a, b]) for a, b in zip(low, high, strict=True)))
        start, stop = self._range(*ends)
        return np.unique(self._owner[start:stop])

    def sides(self, persona: IntArray, obj: IntArray) -> tuple[IntArray, IntArray]:
        """Return all units about objects, each once: which of n it is about, its place, (m,).

        persona, obj: (n,).
        """
        none, last = np.zeros_like(persona), np.full_like(persona, ASPECTS - 1)
        start = np.searchsorted(self._keys, key(persona, obj, none))
        stop = np.searchsorted(self._keys, key(persona, obj, last), side="right")
        which, at = expanded(start, stop)
        place = self.place(self._owner[at])
        founded = self.aspect[place] == (self._keys[at] & (ASPECTS - 1))
        return which[founded], place[founded]

    def aspects(self, unit_id: int) -> tuple[int, ...]:
        """Return the sides that a unit answers for, rising."""
        row = self.place(np.array([unit_id]))
        ends = [
            key(self.persona[row], self.object[row], np.array([side])) for side in (0, ASPECTS - 1)
        ]
        start, stop = self._range(ends[0][0], ends[1][0])
        mine = self._keys[start:stop][self._owner[start:stop] == unit_id] & (ASPECTS - 1)
        return tuple(mine.tolist())

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
        unit_id = self._founded(persona, obj, aspect, tick)
        rows = self.place(unit_id)
        after = np.zeros((len(rows), attitude.POLARITIES))
        weight, times = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
        turn = occurrence(unit_id)
        for n in range(int(turn.max(initial=-1)) + 1):
            now = np.flatnonzero(turn == n)
            at = rows[now]
            self.confidence[at], self.weight[at] = attitude.update(
                self.confidence[at], self.weight[at], polarity[now], strength[now], cap=self.cap
            )
            self.observations[at] += 1
            after[now], weight[now] = self.confidence[at], self.weight[at]
            times[now] = self.observations[at]
        self.updated[rows] = tick
        return Observed(unit_id=unit_id, confidence=after, weight=weight, observations=times)

    def merge(self, unit_id: IntArray, other: IntArray) -> None:
        """Let each unit take over another, (n,), n >= 1; all 2n are different. The others end."""
        at, gone = self.place(unit_id), self.place(other)
        self.confidence[at], self.weight[at] = attitude.joined(
            self.confidence[at],
            self.weight[at],
            self.confidence[gone],
            self.weight[gone],
            cap=self.cap,
        )
        self.observations[at] += self.observations[gone]
        self.width[at] += self.width[gone]
        self.updated[at] = np.maximum(self.updated[at], self.updated[gone])
        order = np.argsort(other, kind="stable")
        self._owner = _replaced(self._owner, other[order], unit_id[order])
        self._drop(gone)

    def delete(self, unit_id: IntArray) -> None:
        """End units, (n,)."""
        at = self.place(unit_id)
        kept = ~np.isin(self._owner, unit_id)
        self._keys, self._owner = self._keys[kept], self._owner[kept]
        self._drop(at)

    def entropy(self) -> float:
        """Return the total belief entropy of all living units, bits."""
        return float(attitude.entropy(self.confidence).sum())

    def restore(
        self, columns: dict[str, Any], keys: IntArray, owner: IntArray, next_id: int
    ) -> None:
        """Take over units as they were: `columns` by name with `confidence`, and the index.

        keys, owner: as `keys` gives them, in any order.
        """
        for name, dtype in COLUMNS.items():
            setattr(self, name, np.array(columns[name], dtype))
        self.confidence = np.array(columns["confidence"], np.float64).reshape(-1, 3)
        order = np.argsort(keys, kind="stable")
        self._keys, self._owner = keys[order], owner[order]
        self.next_id = next_id

    def _founded(self, persona: IntArray, obj: IntArray, aspect: IntArray, tick: int) -> IntArray:
        """Return the unit of each piece of evidence, founding those that are missing."""
        wanted = key(persona, obj, aspect)
        if self.updating:
            unit_id = self.find(persona, obj, aspect)
            _, first, which = np.unique(wanted, return_index=True, return_inverse=True)
            new = np.sort(first[unit_id[first] < 0])
        else:
            unit_id, new = np.full(len(wanted), -1, np.int64), np.arange(len(wanted))
            which = first = new
        if not len(new):
            return unit_id
        ids = self.next_id + np.arange(len(new), dtype=np.int64)
        self.next_id += len(new)
        self._append(ids, persona[new], obj[new], aspect[new], tick)
        order = np.argsort(wanted[new], kind="stable")
        at = np.searchsorted(self._keys, wanted[new][order], side="right")
        self._keys = np.insert(self._keys, at, wanted[new][order])
        self._owner = np.insert(self._owner, at, ids[order])
        given = np.full(len(wanted), -1, np.int64)
        given[new] = ids
        return np.where(unit_id < 0, given[first[which]], unit_id)

    def _append(
        self, ids: IntArray, persona: IntArray, obj: IntArray, aspect: IntArray, tick: int
    ) -> None:
        zeros = np.zeros(len(ids))
        added = {
            "unit_id": ids,
            "persona": persona,
            "object": obj,
            "aspect": aspect,
            "weight": zeros,
            "summary": zeros - 1,
            "observations": zeros,
            "width": zeros + 1,
            "created": zeros + tick,
            "updated": zeros + tick,
        }
        for name, dtype in COLUMNS.items():
            new = np.asarray(added[name]).astype(dtype)
            setattr(self, name, np.concatenate([getattr(self, name), new]))
        blank = np.zeros((len(ids), attitude.POLARITIES))
        self.confidence = np.concatenate([self.confidence, blank])

    def _range(self, first: int, last: int) -> tuple[int, int]:
        """Return where the keys from `first` to `last` stand in the index."""
        start = np.searchsorted(self._keys, first)
        return int(start), int(np.searchsorted(self._keys, last, side="right"))

    def _drop(self, at: IntArray) -> None:
        kept = np.ones(len(self), np.bool_)
        kept[at] = False
        for name in COLUMNS:
            setattr(self, name, getattr(self, name)[kept])
        self.confidence = self.confidence[kept]


def faults(polarity: FloatArray, strength: FloatArray) -> IntArray:
    """Return what is wrong with each piece of evidence, (n,): a place in `FAULTS`, or -1.

    polarity: (n, 3).  strength: (n,).
    """
    with np.errstate(invalid="ignore"):
        shares = ((polarity >= 0.0) & (polarity <= 1.0)).all(axis=1)
        whole = np.abs(polarity.sum(axis=1) - 1.0) <= _SLACK
        strong = (strength > 0.0) & (strength <= 1.0)
    return np.where(~shares, 0, np.where(~whole, 1, np.where(~strong, 2, -1)))


def key(persona: IntArray, obj: IntArray, aspect: IntArray) -> IntArray:
    """Return one number per (persona, object, aspect), (n,), in their order.

    Raises:
        ValueError: a number is below 0 or too large.
    """
    parts = [np.asarray(part, np.int64) for part in (persona, obj, aspect)]
    for part, end in zip(parts, (PERSONAS, OBJECTS, ASPECTS), strict=True):
        if part.size and (part.min() < 0 or part.max() >= end):
            raise ValueError(f"a store tells {end} apart, and {part.max()} lies outside")
    return (parts[0] << (_OBJECT_BITS + _ASPECT_BITS)) | (parts[1] << _ASPECT_BITS) | parts[2]


def expanded(start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
    """Return the members of n ranges: which range each is of, and the member, both (m,)."""
    size = stop - start
    which = np.repeat(np.arange(len(start)), size)
    before = np.repeat(np.cumsum(size) - size, size)
    return which, np.arange(len(which)) - before + start[which]


def _replaced(values: IntArray, old: IntArray, new: IntArray) -> IntArray:
    """Return values with each of `old`, rising, replaced by what stands in its place in `new`."""
    place = np.minimum(np.searchsorted(old, values), len(old) - 1)
    return np.where(old[place] == values, new[place], values)


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
