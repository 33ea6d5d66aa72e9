"""Episodic memory of all personas, as arrays over personas and slots.

A persona's memories stand in the order of their ids, oldest first; unused slots are at the end. At
the end of a tick the store drops what exceeds its caps; in between it may hold a few more.

Source: Beliefs, memory and reflection, "Memory" and "Which memories come back".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Column: TypeAlias = NDArray[Any]

KINDS: tuple[str, ...] = ("turn", "reflection", "seed")
REFLECTION = KINDS.index("reflection")

_FIRST_WIDTH = 8
_BLOCK = 4096  # rows settled at a time: temporary arrays stay small
_BETWEEN = 4  # a turn and its reflection write up to 1 + 3 memories before the store settles
_COLUMNS: dict[str, tuple[type[np.generic], float]] = {  # dtype, value in an unused slot
    "memory_id": (np.int64, -1),
    "tick": (np.int32, 0),
    "importance": (np.float64, 0.0),
    "kind": (np.int8, -1),
    "text": (np.int64, -1),
    "claim": (np.int16, -1),
    "stance": (np.float64, 0.0),
}
_AFFECT: dict[str, tuple[type[np.generic], float]] = {
    "valence": (np.float64, 0.0),
    "arousal": (np.float64, 0.0),
    "dominance": (np.float64, 0.0),
    "overgeneral": (np.bool_, 0),
}


def _no_affect() -> FloatArray:
    return np.zeros((0, 0))


def _no_labels() -> BoolArray:
    return np.zeros((0, 0), np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Memories of some personas, each (A, K): K is the most that one of them holds.

    Fields are those of `MemoryStore`; `used` says which slots hold a memory. In a store without
    affect the columns of affect are empty, (0, 0).
    """

    memory_id: IntArray
    tick: NDArray[np.int32]
    importance: FloatArray
    kind: NDArray[np.int8]
    text: IntArray
    claim: NDArray[np.int16]
    stance: FloatArray
    used: BoolArray
    valence: FloatArray = field(default_factory=_no_affect)
    arousal: FloatArray = field(default_factory=_no_affect)
    dominance: FloatArray = field(default_factory=_no_affect)
    overgeneral: BoolArray = field(default_factory=_no_labels)


class MemoryStore:
    """Memories of P personas.

    Attributes (W, the number of slots, grows as needed):
        count: (P,) memories held.
        memory_id: (P, W), unique in a run and rising along a row; -1 in an unused slot.
        tick: (P, W) when it was written.
        importance: (P, W) in [0, 1].
        kind: (P, W) index into `KINDS`.
        text: (P, W) id of its text.
        claim: (P, W) index of the claim that it is about, or -1.
        stance: (P, W) in [-1, 1], how the persona felt about that claim then.
        valence, arousal, dominance: (P, W) how it felt, in [-1, 1], [0, 1] and [0, 1].
        overgeneral: (P, W) whether it is a general statement and no single episode.
            These four only in a store with affect; else they are empty, (0, 0).
        next_id: the id of the next memory; every id below it has been given or skipped.
    """

    memory_id: IntArray
    tick: NDArray[np.int32]
    importance: FloatArray
    kind: NDArray[np.int8]
    text: IntArray
    claim: NDArray[np.int16]
    stance: FloatArray
    valence: FloatArray
    arousal: FloatArray
    dominance: FloatArray
    overgeneral: BoolArray

    def __init__(
        self,
        personas: int,
        *,
        cap: int = 50,
        reflection_cap: int | None = None,
        affect: bool = False,
    ) -> None:
        """Start empty.

        cap: most memories of a persona, >= 1.  reflection_cap: most reflections among them, >= 1,
        or None for no limit of their own.  affect: whether memories have an affect; without
        personality nothing reads it, and a large population saves a third of its memory.

        Raises:
            ValueError: a cap is below 1; "never the most important" could not hold.
        """
        if cap < 1 or (reflection_cap is not None and reflection_cap < 1):
            raise ValueError("a persona keeps at least one memory: caps start at 1")
        self.cap = cap
        self.reflection_cap = reflection_cap
        self.next_id = 0
        self.affect = affect
        self.valence = self.arousal = self.dominance = _no_affect()
        self.overgeneral = _no_labels()
        self._columns = _COLUMNS | _AFFECT if affect else _COLUMNS
        self.count: IntArray = np.zeros(personas, np.int64)
        for name, (dtype, unused) in self._columns.items():
            width = min(cap, _FIRST_WIDTH)
            setattr(self, name, np.full((personas, width), unused, dtype))

    def write(
        self,
        rows: IntArray,
        *,
        tick: ArrayLike,
        kind: ArrayLike,
        importance: ArrayLike,
        text: ArrayLike,
        claim: ArrayLike = -1,
        stance: ArrayLike = 0.0,
        affect: FloatArray | None = None,
        overgeneral: ArrayLike = False,
        ids: IntArray | None = None,
    ) -> IntArray:
        """Add a memory per element of `rows` and return their ids, (N,).

        rows: (N,) persona rows; a row may occur several times.  affect: (N, 3), in a store with
        affect and in no other.  The rest: (N,) or one for all.
        ids: rising ids, as a run database holds them; by default the next ones, in order.

        Raises:
            ValueError: `ids` do not rise, or start below `next_id`; an affect is missing, not
                finite, or has no place.
        """
        rows = np.asarray(rows, np.int64)
        if ids is None:
            ids = self.next_id + np.arange(len(rows))
        elif not (np.diff(ids, prepend=self.next_id - 1) > 0).all():
            raise ValueError(f"memory ids must rise from {self.next_id} on")
        felt = self._felt(affect, overgeneral)
        slots = self.count[rows] + _occurrence(rows)
        self._widen(int(slots.max(initial=-1)) + 1)
        values = (ids, tick, importance, kind, text, claim, stance, *felt)
        for name, value in zip(self._columns, values, strict=True):
            getattr(self, name)[rows, slots] = value
        np.add.at(self.count, rows, 1)
        self.next_id = int(ids[-1]) + 1 if len(ids) else self.next_id
        return ids

    def _felt(self, affect: FloatArray | None, overgeneral: ArrayLike) -> tuple[ArrayLike, ...]:
        """Return the values of the columns of affect, if the store has them."""
        if self.affect != (affect is not None):
            raise ValueError(
                "a memory has an affect where the store keeps affects, and only there"
            )
        if affect is None:
            return ()
        if not np.isfinite(affect).all():
            raise ValueError("the affect of a memory is NaN or infinite")
        return (*np.moveaxis(affect, -1, 0), overgeneral)

    def settle(self) -> IntArray:
        """Drop what exceeds the caps, at the end of a tick, and return its ids, rising.

        The least important go first; of equals the oldest: the lower tick, then the lower id. So
        the most important is never dropped. Reflections beyond their own cap go before anything
        else, in the same order; then a turn's memory need not go for their sake.
        """
        crowded = self.count > self.cap
        if self.reflection_cap is not None:
            crowded |= self._reflections() > self.reflection_cap
        rows = np.flatnonzero(crowded)
        blocks = (rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK))
        evicted = [self._evict(block) for block in blocks]
        return np.sort(np.concatenate([np.zeros(0, np.int64), *evicted]))

    def held(self, rows: IntArray) -> Held:
        """Return a copy of the memories of some personas.

        rows: (A,) persona rows.
        """
        counts = self.count[rows]
        width = int(counts.max(initial=0))
        columns = {
            name: getattr(self, name).take(rows, axis=0)[:, :width] for name in self._columns
        }
        return Held(**columns, used=np.arange(width) < counts[:, None])

    def since(self, rows: IntArray, ticks: IntArray) -> tuple[IntArray, IntArray]:
        """Return the memories of personas written after a tick: which of `rows`, its slot, (M,).

        They stand by place in `rows`; of one the most important come first; of equals the newer,
        then the lower id.

        rows, ticks: (A,) persona rows, and the tick of each.
        """
        counts = self.count[rows]
        width = int(counts.max(initial=0))
        later = self.tick[:, :width].take(rows, axis=0) > ticks[:, None]
        which, slots = np.nonzero(later & (np.arange(width) < counts[:, None]))
        held = rows[which], slots
        order = np.lexsort((slots, -self.tick[held], -self.importance[held], which))
        return which[order], slots[order]

    def composition(self) -> FloatArray:
        """Return the share of reflections among each persona's memories, (P,); 0 without any."""
        return self._reflections() / np.maximum(self.count, 1)

    def _reflections(self) -> IntArray:
        counts: IntArray = np.count_nonzero(self.kind == REFLECTION, axis=1)
        return counts

    def _widen(self, width: int) -> None:
        """Make room for `width` slots: twice as many as now, but not beyond what the cap needs."""
        now = self.memory_id.shape[1]
        if width <= now:
            return
        width = max(width, min(2 * now, self.cap + _BETWEEN))
        for name, (dtype, unused) in self._columns.items():
            wider = np.full((len(self.count), width), unused, dtype)
            wider[:, :now] = getattr(self, name)
            setattr(self, name, wider)

    def _evict(self, rows: IntArray) -> IntArray:
        """Drop what exceeds the caps from some rows and return its ids, in any order."""
        held = self.held(rows)
        dropped = np.zeros(held.used.shape, np.bool_)
        if self.reflection_cap is not None:
            _drop(held, dropped, held.kind == REFLECTION, self.reflection_cap)
        _drop(held, dropped, held.used, self.cap)
        self._close_gaps(rows, held, dropped)
        return held.memory_id[dropped]

    def _close_gaps(self, rows: IntArray, held: Held, dropped: BoolArray) -> None:
        """Move what is kept to the front of its row, in order, and clear the slots behind."""
        gone = dropped | ~held.used
        order = np.argsort(gone, axis=1, kind="stable")
        kept = held.used.sum(axis=1) - dropped.sum(axis=1)
        unused = np.arange(gone.shape[1]) >= kept[:, None]
        for name, (_, value) in self._columns.items():
            column = np.take_along_axis(getattr(held, name), order, axis=1)
            column[unused] = value
            getattr(self, name)[rows, : gone.shape[1]] = column
        self.count[rows] = kept


def _occurrence(rows: IntArray) -> IntArray:
    """Return how often each element occurred before in the array: 0 for the first time."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    lengths = np.diff(starts, append=len(rows))
    result = np.empty(len(rows), np.int64)
    result[order] = np.arange(len(rows)) - np.repeat(starts, lengths)
    return result


def _drop(held: Held, dropped: BoolArray, among: BoolArray, cap: int) -> None:
    """Mark in `dropped` what exceeds `cap` of the memories `among`, worst first.

    One pass marks one memory of each row that still has too many; in a run that is one to four
    passes. `among`, `dropped`: (A, K).
    """
    surplus = (among & ~dropped).sum(axis=1) - cap
    rows = np.flatnonzero(surplus > 0)
    while len(rows):
        weight = np.where(among[rows] & ~dropped[rows], held.importance[rows], np.inf)
        least = weight == weight.min(axis=1, keepdims=True)
        written = np.where(least, held.tick[rows], np.iinfo(np.int32).max)
        dropped[rows, written.argmin(axis=1)] = True  # the first of equals has the lowest id
        surplus[rows] -= 1
        rows = rows[surplus[rows] > 0]
