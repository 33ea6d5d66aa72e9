"""The index of sides: which unit answers for which side of which object of which persona.

A side is one number, so that a sorted array of them finds any of them, all of an object, and all
of a persona. Units are known by their places in the store.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_ASPECT_BITS, _OBJECT_BITS, _PERSONA_BITS = 8, 27, 28
ASPECTS, OBJECTS, PERSONAS = 1 << _ASPECT_BITS, 1 << _OBJECT_BITS, 1 << _PERSONA_BITS
"""How many different aspects, objects and personas a store can tell apart."""


class SideIndex:
    """Sorted sides, and who answers for them.

    keys: (M,) `key` of each side, rising; equal only in a store without updates.
    at: (M,) place of the unit.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.keys: IntArray = np.zeros(0, np.int64)
        self.at: IntArray = np.zeros(0, np.int64)

    def restore(self, keys: IntArray, at: IntArray) -> None:
        """Take over sides as they were, (M,), in any order."""
        order = np.argsort(keys, kind="stable")
        self.keys, self.at = keys[order], at[order]

    def find(self, wanted: IntArray) -> IntArray:
        """Return the place of the unit of each key, of equals the first; -1 for none, (n,)."""
        if not len(self.keys):
            return np.full(len(wanted), -1, np.int64)
        found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[found] == wanted, self.at[found], -1)

    def within(self, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
        """Return where the keys from `first` to `last` start and stop, (n,)."""
        start = np.searchsorted(self.keys, first)
        return start, np.searchsorted(self.keys, last, side="right")

    def insert(self, keys: IntArray, at: IntArray) -> None:
        """Add sides, (n,); of equal ones behind those that are there."""
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        to = np.searchsorted(self.keys, keys, side="right") + np.arange(len(keys))
        old = np.ones(len(self.keys) + len(keys), np.bool_)
        old[to] = False
        self.keys = _filled(old, self.keys, keys)
        self.at = _filled(old, self.at, at[order])

    def hand_over(self, sides: IntArray, old: IntArray, new: IntArray) -> None:
        """Let `new` answer for all that `old` answers for, (n,) places, all different.

        sides: (n,) a key of the object of each pair.
        """
        which, member = expanded(*self.within(*_of_object(sides)))
        own = self.at[member] == old[which]
        self.at[member[own]] = new[which[own]]

    def drop(self, kept: BoolArray) -> None:
        """Leave out the units that are not kept, (N,), and close the gaps between the places."""
        own = kept[self.at]
        if not own.all():
            self.keys, self.at = self.keys[own], self.at[own]
        self.at = (np.cumsum(kept) - 1)[self.at]

    def of_objects(self, sides: IntArray) -> tuple[IntArray, IntArray]:
        """Return the sides of whole objects: which of n it is of, its place in the index, (m,).

        sides: (n,) a key of each object.
        """
        return expanded(*self.within(*_of_object(sides)))


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


def _of_object(sides: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first and the last key that the object of a side can have."""
    return sides & -ASPECTS, sides | (ASPECTS - 1)


def _filled(old: BoolArray, values: IntArray, new: IntArray) -> IntArray:
    """Return `values` where `old`, and `new` in the other places."""
    whole = np.empty(len(old), np.int64)
    whole[old] = values
    whole[~old] = new
    return whole
