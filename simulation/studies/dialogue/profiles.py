"""The people of the dialogues: Big Five profiles, and the pairs that a judge compares.

The source samples answers of real people; here a profile is drawn with the quantiles and rank
correlations of such answers (`simulation.personality.joint`).  Source: PersMem, F.1 and F.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.mind.traits import BIG_FIVE_TRAITS
from simulation.personality import joint
from simulation.personality.figures import FIGURES
from simulation.rng import Streams, stream_keys
from simulation.scenario.model import TRAITS

if TYPE_CHECKING:
    from simulation.rng import FloatArray

KIND: Final = "big_five"


def names(count: int) -> tuple[str, ...]:
    """Return the names of so many profiles."""
    return tuple(f"profile-{i:02d}" for i in range(count))


def sample(count: int, *, seed: int) -> FloatArray:
    """Return (count, 5) traits in [0, 1], in the order O, C, E, A, N."""
    keys = stream_keys(names(count))
    return joint.draw(FIGURES[KIND], TRAITS[KIND], streams=Streams(seed), keys=keys)


def pairs(vectors: FloatArray, trait: str, *, size: int) -> list[tuple[int, int]]:
    """Return rows (high, low) by rank: the i-th highest of a trait with the i-th lowest.

    vectors: (P, 5).  size: how many pairs; of equals the first row comes first.

    Raises:
        ValueError: there are fewer than 2 * size profiles.
    """
    if 2 * size > len(vectors):
        raise ValueError(f"{len(vectors)} profiles make no {size} pairs")
    values = vectors[:, BIG_FIVE_TRAITS.index(trait)]
    high = np.argsort(-values, kind="stable")[:size].tolist()
    rest = np.setdiff1d(np.arange(len(values)), high)
    low = rest[np.argsort(values[rest], kind="stable")][:size].tolist()
    return list(zip(high, low, strict=True))
