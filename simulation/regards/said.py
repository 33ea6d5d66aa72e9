"""What posts say: the evidence in each of them, found once, read by many."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.regards.evidence import Pieces, combined
from simulation.units.store import expanded

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
        self.pieces = Pieces.none()
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
        """
        side = pieces.object * 256 + pieces.aspect
        order = np.lexsort((side, pieces.owner))
        ranked = pieces.take(order)
        new = np.r_[True, (np.diff(ranked.owner) != 0) | (np.diff(side[order]) != 0)]
        kept = combined(ranked, np.cumsum(new[: len(ranked)]), repeated=True)
        self.pieces = Pieces.joined([self.pieces, kept])
        return kept

    def of(self, posts: IntArray) -> tuple[IntArray, IntArray]:
        """Return the evidence in posts: which of `posts`, and where in `pieces`, both (M,).

        posts: (N,) ids, in any order; -1 says nothing.
        """
        start = np.searchsorted(self.pieces.owner, posts)
        stop = np.searchsorted(self.pieces.owner, posts, side="right")
        return expanded(start, np.where(posts >= 0, stop, start))

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
