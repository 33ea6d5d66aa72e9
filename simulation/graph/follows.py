"""Who follows whom, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from simulation.rng import FloatArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Follows:
    """E follows, sorted by (source, target), without self-follows and repeats; read-only.

    source: (E,) index of the follower.  target: (E,) index of the followed.  weight: (E,) > 0.
    notes: what was left out on the way, in words, for the summary of a run.
    """

    source: IntArray
    target: IntArray
    weight: FloatArray
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for array in (self.source, self.target, self.weight):
            array.setflags(write=False)

    def __len__(self) -> int:
        """Return the number of follows."""
        return len(self.source)


def tidy(
    source: IntArray,
    target: IntArray,
    weight: FloatArray | None = None,
    *,
    both_ways: bool = True,
    notes: tuple[str, ...] = (),
) -> Follows:
    """Return follows without self-follows and repeats; of repeats the largest weight stays.

    both_ways: each pair is a tie and becomes two follows.
    """
    weight = np.ones(len(source)) if weight is None else weight
    if both_ways:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
        weight = np.concatenate([weight, weight])
    order = np.lexsort((-weight, target, source))
    order = order[source[order] != target[order]]
    source, target, weight = source[order], target[order], weight[order]
    first = np.ones(len(source), dtype=bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    return Follows(
        source=source[first].astype(np.int64),
        target=target[first].astype(np.int64),
        weight=weight[first].astype(np.float64),
        notes=notes,
    )
