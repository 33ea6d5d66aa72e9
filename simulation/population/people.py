"""Who takes part: ids, attributes, activity, tiers and the beliefs of tick 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulation.rng import FloatArray

IntArray = NDArray[np.int64]

CHEAP, FRONTIER = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """P personas, sorted by id (code points); arrays are read-only.

    ids: unique.  attributes: per persona, attribute: value, none empty.  activity: (P,) chance to
    take a turn in a tick, in [0, 1].  tiers: (P,) 0 cheap, 1 frontier.  beliefs: (P, T) at tick 0,
    in [0, 1], in the order of the scenario's targets.  traits: (P, n) personality that stands in
    columns of the file, in [0, 1], in the order of its kind's traits; n = 0 without such columns.
    notes: what of the input had no effect.
    """

    ids: tuple[str, ...]
    attributes: tuple[Mapping[str, str], ...]
    activity: FloatArray
    tiers: IntArray
    beliefs: FloatArray
    traits: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Lock the arrays: everybody reads them, nobody may change them."""
        for array in (self.activity, self.tiers, self.beliefs, self.traits):
            array.setflags(write=False)

    def __len__(self) -> int:
        """Return the number of personas."""
        return len(self.ids)
