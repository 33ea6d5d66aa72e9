"""The personalities of a population: one vector of traits per persona, which never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation.scenario.model import TRAITS

if TYPE_CHECKING:
    from simulation.rng import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Personalities:
    """The personalities of P personas, in the order of their ids (method.md 7).

    kind: `none`, `attachment` or `big_five`.  vectors: (P, T) in [0, 1], read-only; T is 0, 2
    (anxiety, avoidance) or 5 (O, C, E, A, N).  names: the T traits, as a scenario writes them.
    """

    kind: str
    vectors: FloatArray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Lock the vectors: everybody reads them, nobody may change them."""
        self.vectors.setflags(write=False)

    @classmethod
    def of(cls, kind: str, vectors: FloatArray) -> Personalities:
        """Return personalities of a kind from (P, T) vectors in [0, 1]."""
        return cls(kind=kind, vectors=np.array(vectors, dtype=np.float64), names=TRAITS[kind])

    @classmethod
    def none(cls, personas: int) -> Personalities:
        """Return those of personas without a personality: vectors of shape (P, 0)."""
        return cls(kind="none", vectors=np.empty((personas, 0)), names=())

    def __len__(self) -> int:
        """Return the number of personas."""
        return len(self.vectors)
