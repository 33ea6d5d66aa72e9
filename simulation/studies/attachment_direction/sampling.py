"""Memories sampled for cues, and what they are like.

Every draw is single: as if it were the first for its cue. Profiles and conditions of one seed,
cue and place of the draw meet the same random numbers.

Shapes: S seeds, P personalities, C cues, L draws.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.scenario.persmem import PersMem, Switches
from simulation.studies import recalling
from simulation.studies.attachment_direction import protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from simulation.rng import FloatArray
    from simulation.studies.recalling import Asked, Bank, Minds

    IntArray = NDArray[np.int64]

EVERYTHING: Final = Switches()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """Personalities that hold one set of memories.

    vectors: (P, 2) anxiety and avoidance.  gains: of `protocol.MAPS`.  seeds, draws: how much is
    drawn.
    """

    bank: Bank
    vectors: FloatArray
    gains: protocol.Gains = "paper"
    seeds: tuple[int, ...] = protocol.SEEDS
    draws: int = protocol.DRAWS
    switches: Switches = field(default=EVERYTHING)

    def minds(self, seed: int) -> Minds:
        """Return the personalities, with the chance of a seed."""
        return recalling.Minds(
            self.bank,
            "attachment",
            self.vectors,
            PersMem(gains=self.gains, switches=self.switches),
            seed=seed,
        )

    def sampled(self, cues: Sequence[str], state: ArrayLike) -> IntArray:
        """Return the places of memories drawn for cues, (S, P, C, L).

        state: (3,) the affective state of all.
        """
        asked = self.asked(cues, state)
        shape = (len(self.vectors), len(cues), self.draws)
        return np.stack(
            [
                self.minds(seed).samples(asked, draws=self.draws).reshape(shape)
                for seed in self.seeds
            ]
        )

    def bias(self, cues: Sequence[str], state: ArrayLike) -> FloatArray:
        """Return [-v]+ of the three best scores, mean, (P, C); no chance is in it."""
        score = self.minds(self.seeds[0]).scores(self.asked(cues, state))
        best = np.argsort(-score, axis=1, kind="stable")[:, :3]
        bad = np.maximum(-self.bank.corpus.affect[:, 0], 0.0)
        return np.asarray(bad[best].mean(axis=1).reshape(len(self.vectors), len(cues)))

    def asked(self, cues: Sequence[str], state: ArrayLike) -> Asked:
        """Return each cue put to each personality, personality by personality."""
        count = len(self.vectors)
        return recalling.ask(
            self.bank,
            personas=np.repeat(np.arange(count), len(cues)),
            cues=list(cues) * count,
            streams=list(cues) * count,
            state=state,
        )


def rate(marked: NDArray[np.bool_] | FloatArray, sampled: IntArray) -> FloatArray:
    """Return the mean of a property over the draws for each cue, (S, P, C).

    marked: (K,) a number of each memory.  sampled: (S, P, C, L).
    """
    return np.asarray(np.asarray(marked, np.float64)[sampled].mean(axis=-1))
