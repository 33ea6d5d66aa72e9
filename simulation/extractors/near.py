"""Words near the name of an aspect in a sentence encoder's space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.encoders.base import Encoder

NEAR: Final = 0.40
"""Least cosine; tuned on training sentences with names for lists (docs/extraction.md)."""
SHORTEST: Final = 3
"""Letters of a word that is compared."""
KNOWN: Final = 1 << 16
"""Words that are remembered."""
UNIT: Final = 2.0**20
"""Steps in 1 of a component. Products and sums are whole numbers below 2**53, so that a word is
as near in any company."""


class NearWords:
    """Finds words by nearness to the names of aspects; for aspects that have no list."""

    def __init__(self, encoder: Encoder, aspects: Sequence[str]) -> None:
        """Encode the names."""
        self._encoder = encoder
        self._aspects = tuple(aspects)
        self._vectors = _whole(encoder.encode([name.replace("_", " ") for name in aspects])).T
        self._nearest: dict[str, str | None] = {}

    def find(self, words: Sequence[str]) -> list[tuple[int, str]]:
        """Return which words are near enough to an aspect, each to the nearest one."""
        if len(self._nearest) >= KNOWN:
            self._nearest.clear()
        long = dict.fromkeys(word for word in words if len(word) >= SHORTEST)
        new = [word for word in long if word not in self._nearest]
        if new:
            self._learn(new)
        found = ((at, self._nearest.get(word)) for at, word in enumerate(words))
        return [(at, aspect) for at, aspect in found if aspect is not None]

    def _learn(self, words: Sequence[str]) -> None:
        """Remember the aspect of each word, None if it is near none."""
        near = _whole(self._encoder.encode(words)) @ self._vectors
        best = near.argmax(axis=1)
        for row, word in enumerate(words):
            close = float(near[row, best[row]]) >= NEAR * UNIT * UNIT
            self._nearest[word] = self._aspects[best[row]] if close else None


def _whole(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return unit vectors in steps of 1 / UNIT."""
    rows: NDArray[np.float64] = np.rint(vectors.astype(np.float64) * UNIT)
    return rows
