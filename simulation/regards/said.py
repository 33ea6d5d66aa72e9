"""What posts say: the evidence in each of them, found once, read by many."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.buffers import grown
from simulation.regards.evidence import Pieces, combined
from simulation.units.index import expanded

if TYPE_CHECKING:
    from collections.abc import Sequence

IntArray = NDArray[np.int64]


class Said:
    """Evidence by post, in the order of post ids; of a post one piece per side of an object.

    pieces: all of it, `owner` is the post; within a post by object and aspect.
    journal: chains it all, tick by tick.
    """

    def __init__(self) -> None:
        """Start with nothing said."""
        self.pieces = self._room = Pieces.none()  # a view of the room there is
        self._posts = 0  # posts below this id are known
        self._before = np.zeros(1, np.int64)  # by post id: pieces of the posts before it
        self.journal = b"\0" * 32
        self._chained = 0
        self._words: list[str] = []
        self._ids: dict[str, int] = {}

    def word(self, texts: Sequence[str | None]) -> IntArray:
        """Return the ids of what is said in words, (n,), which pieces hold; -1 for None."""
        for text in texts:
            if text is not None and text not in self._ids:
                self._ids[text] = len(self._words)
                self._words.append(text)
        found = (-1 if text is None else self._ids[text] for text in texts)
        return np.fromiter(found, np.int64, count=len(texts))

    def words(self, summary: int) -> str:
        """Return what a piece says in words, by its `summary`."""
        return self._words[summary]

    def add(self, pieces: Pieces) -> Pieces:
        """Add the evidence in new posts, all of them later than those before; return it as kept.

        What a post says several times of one side counts once (`combined`).

        Raises:
            ValueError: a post is not later than those before.
        """
        if len(pieces) and pieces.owner.min() < self._posts:
            raise ValueError("evidence is added in the order of the posts")
        side = pieces.object * 256 + pieces.aspect
        order = np.lexsort((side, pieces.owner))
        ranked = pieces.take(order)
        new = np.r_[True, (np.diff(ranked.owner) != 0) | (np.diff(side[order]) != 0)]
        kept = combined(ranked, np.cumsum(new[: len(ranked)]), repeated=True)
        start, end = len(self.pieces), len(self.pieces) + len(kept)
        self._room = self._room.grown(end)
        self.pieces = self._room.part(slice(end))
        self.pieces.part(slice(start, end)).fill(kept)
        self._note(kept.owner, start)
        return kept

    def _note(self, owner: IntArray, before: int) -> None:
        """Note where the pieces of new posts start.

        owner: (N,) the post of each, rising.  before: pieces so far.
        """
        if len(owner):
            known, self._posts = self._posts, int(owner[-1]) + 1
            new = np.arange(known + 1, self._posts + 1)
            self._before = grown(self._before, self._posts + 1)
            self._before[new] = before + np.searchsorted(owner, new)

    def of(self, posts: IntArray) -> tuple[IntArray, IntArray]:
        """Return the evidence in posts: which of `posts`, and where in `pieces`, both (M,).

        posts: (N,) ids, in any order; -1 says nothing.
        """
        start, stop = (np.clip(post, 0, self._posts) for post in (posts, posts + 1))
        return expanded(self._before[start], self._before[stop])

    def chain(self) -> None:
        """Chain what this tick added into the journal.

        Bytes, little endian: the last journal; post, object, aspect of each piece, int64;
        polarity, strength, float64.
        """
        new = slice(self._chained, len(self.pieces))
        state = hashlib.sha256(self.journal)
        for whole in (self.pieces.owner, self.pieces.object, self.pieces.aspect):
            state.update(np.ascontiguousarray(whole[new], "<i8").tobytes())
        for real in (self.pieces.polarity, self.pieces.strength):
            state.update(np.ascontiguousarray(real[new], "<f8").tobytes())
        self._chained = len(self.pieces)
        self.journal = state.digest()
