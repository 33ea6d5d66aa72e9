"""What the source says about a direction, and how it is judged.

A difference is paired by cue and seed. It holds where its mean has the sign that the source gives
it and the interval over the cues leaves 0 out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation.rng import Streams, stream_keys
from simulation.studies import intervals

if TYPE_CHECKING:
    from simulation.rng import FloatArray
    from simulation.studies.intervals import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim of the source.

    part: E.5, E.6 or E.7.  text: what is said.  found: what is seen.  holds: None where there is
    nothing to hold.  theirs: the source's figure.
    """

    part: str
    text: str
    found: str
    target: str
    holds: bool | None
    theirs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A mean of paired differences.

    mean: with its interval over the cues.  seeds: the mean in each seed.  p: one-sided, by turning
    the sign of whole cues.
    """

    mean: Interval
    seeds: tuple[float, ...]
    p: float

    @property
    def words(self) -> str:
        """It, as words."""
        low, high = min(self.seeds), max(self.seeds)
        return f"{self.mean.words()}; seeds {low:.3f} to {high:.3f}; p = {self.p:.2g}"

    def claim(self, part: str, text: str, *, theirs: str = "", sign: int = 1) -> Claim:
        """Return whether it has a sign for sure."""
        ends = sorted((sign * self.mean.low, sign * self.mean.high))
        return Claim(
            part=part,
            text=text,
            found=self.words,
            target="above 0" if sign > 0 else "below 0",
            holds=ends[0] > 0.0,
            theirs=theirs,
        )


class Flips:
    """Signs that are turned by chance, the same for every difference over the same cues."""

    def __init__(self, cues: int, *, draws: int) -> None:
        """Draw them. cues: C.  draws: how often."""
        uniform = Streams(intervals.SEED).uniform(
            "attachment-direction:signs",
            tick=0,
            keys=stream_keys(str(i) for i in range(draws))[:, None],
            index=np.arange(cues),
        )
        self._signs = np.where(uniform < 0.5, -1.0, 1.0).astype(np.float32)  # noqa: PLR2004 - a coin

    def difference(self, values: FloatArray, *, purpose: str, sign: int = 1) -> Difference:
        """Return a difference, from (S, C) pairs.

        sign: of the alternative that p is for.
        """
        each = values.mean(axis=0)
        null = sign * (self._signs @ each.astype(np.float32)) / len(each)
        observed = sign * float(each.mean())
        return Difference(
            mean=intervals.bootstrap(each, _mean, purpose=f"attachment-direction:{purpose}"),
            seeds=tuple(values.mean(axis=1).tolist()),
            # float32 sums: a sign pattern that gives the same mean must count as reaching it
            p=intervals.permutation_p(observed - 1e-6, null.astype(np.float64)),
        )


def _mean(values: FloatArray) -> float:
    return float(values.mean())
