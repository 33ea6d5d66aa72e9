"""Pieces of evidence as columns, and several pieces as one.

Source: DAM-LLM, evidence (C, S); how a turn's pieces become one is this project's (docs/adr/0014).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simulation.buffers import grown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_PARTS = 1000  # evidence is told in thousandths
_FAINT = 0.01  # weaker evidence is not noticed


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """N pieces of evidence.

    owner: (N,) whose it is: a persona row, or a post id.  object, aspect: (N,) what it is about.
    polarity: (N, 3) shares that sum to 1.  strength: (N,), [0, 1].  cause: (N,) post id, -1 for
    none.  summary: (N,) id of what is said in words (`Said.words`), -1 for none.
    """

    owner: IntArray
    object: IntArray
    aspect: IntArray
    polarity: FloatArray
    strength: FloatArray
    cause: IntArray
    summary: IntArray

    def __len__(self) -> int:
        """Return N."""
        return len(self.owner)

    @classmethod
    def none(cls) -> Self:
        """Return no pieces."""
        whole = np.zeros(0, np.int64)
        return cls(
            owner=whole,
            object=whole,
            aspect=whole,
            polarity=np.zeros((0, 3)),
            strength=np.zeros(0),
            cause=whole,
            summary=whole,
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the pieces of several parts, one part after the other; there is at least one."""
        names = [field.name for field in fields(cls)]
        return cls(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})

    def take(self, rows: IntArray) -> Pieces:
        """Return some of the pieces, (M,)."""
        return Pieces(**{name: values[rows] for name, values in self._columns()})

    def part(self, rows: slice) -> Pieces:
        """Return consecutive pieces as views."""
        return Pieces(**{name: values[rows] for name, values in self._columns()})

    def grown(self, length: int) -> Pieces:
        """Return these pieces, or copies with room for at least `length` of them."""
        return Pieces(**{name: grown(values, length) for name, values in self._columns()})

    def fill(self, others: Pieces) -> None:
        """Become a copy of as many others, column by column."""
        for name, values in self._columns():
            values[...] = getattr(others, name)

    def _columns(self) -> Iterator[tuple[str, NDArray[Any]]]:
        return ((field.name, getattr(self, field.name)) for field in fields(self))


def combined(pieces: Pieces, key: IntArray, *, repeated: bool = False) -> Pieces:
    """Return one piece per distinct key, by rising key, in thousandths; what is too faint is gone.

    Strength 1 - product of (1 - S), which stays in [0, 1] whatever comes together; polarity the
    mean weighted by S; cause and summary those of the piece with the largest S |p+ - p-|, of
    equals the first.

    key: (N,), what of the pieces belongs together.  repeated: one text says all of a key, so its
    strength is the largest S.
    """
    order = np.argsort(key, kind="stable")
    ranked, pieces = key[order], pieces.take(order)
    if not len(ranked):
        return pieces
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    group = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(ranked)]))
    strength, polarity = pieces.strength, pieces.polarity
    total = np.bincount(group, weights=strength)
    mean = [
        np.bincount(group, weights=strength * polarity[:, k]) / np.where(total > 0.0, total, 1.0)
        for k in range(3)
    ]
    weight = strength * np.abs(polarity[:, 0] - polarity[:, 1])
    heaviest = np.flatnonzero(weight == np.maximum.reduceat(weight, starts)[group])
    first = heaviest[np.diff(group[heaviest], prepend=-1) != 0]
    both = (
        np.maximum.reduceat(strength, starts)
        if repeated
        else 1.0 - np.multiply.reduceat(1.0 - strength, starts)
    )
    whole = Pieces(
        owner=pieces.owner[starts],
        object=pieces.object[starts],
        aspect=pieces.aspect[starts],
        polarity=thousandths(np.stack(mean, axis=1)),
        strength=np.rint(both * _PARTS) / _PARTS,
        cause=pieces.cause[first],
        summary=pieces.summary[first],
    )
    return whole.take(np.flatnonzero(whole.strength >= _FAINT))


def thousandths(polarity: FloatArray) -> FloatArray:
    """Return shares in whole thousandths that sum to 1; what rounding leaves is neutral.

    polarity: (N, 3), rows that sum to 1.
    """
    positive = np.clip(np.rint(polarity[:, 0] * _PARTS), 0, _PARTS)
    negative = np.minimum(np.clip(np.rint(polarity[:, 1] * _PARTS), 0, _PARTS), _PARTS - positive)
    return np.stack([positive, negative, _PARTS - positive - negative], axis=1) / _PARTS
