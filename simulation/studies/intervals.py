"""How sure a study is of a number: intervals of shares and of statistics, and permutation tests.

All intervals hold 95 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.rng import Streams, stream_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from simulation.rng import FloatArray

    IntArray = NDArray[np.int64]

Z: Final = 1.959963984540054
"""Two-sided 5 % point of the normal distribution."""
SEED: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A value and its 95 % interval; low and high are NaN where there is no interval."""

    value: float
    low: float
    high: float

    def words(self, digits: int = 3) -> str:
        """Return it as in `0.481 [0.400, 0.563]`, or what is missing."""
        if math.isnan(self.value):
            return "undefined"
        if math.isnan(self.low):
            return f"{self.value:.{digits}f} (one group: no interval)"
        value, low, high = (f"{x:.{digits}f}" for x in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"


def wilson(successes: int, trials: int) -> Interval:
    """Return a share with Wilson's score interval (Wilson 1927).

    Raises:
        ValueError: there is no trial, or more successes than trials.
    """
    if not 0 <= successes <= trials or not trials:
        raise ValueError(f"{successes} successes of {trials} trials are no share")
    share, square = successes / trials, Z * Z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = Z * np.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    half = float(half / (1 + square / trials))
    # at the ends rounding could leave [0, 1], or the share itself outside
    return Interval(
        value=share,
        low=min(max(middle - half, 0.0), share),
        high=max(min(middle + half, 1.0), share),
    )


def bootstrap(
    values: FloatArray,
    statistic: Callable[[FloatArray], float],
    *,
    clusters: IntArray | Sequence[int] | None = None,
    draws: int = 2000,
    purpose: str,
    seed: int = SEED,
) -> Interval:
    """Return a statistic with its percentile interval over resampled clusters (Efron 1979).

    values: (N, ...) observations.  statistic: of observations, (M, ...).  clusters: (N,) which
    observations are drawn together; default, each alone.  purpose: names the random stream.
    Draws where the statistic is NaN are left out. One cluster, drawn again, is always the same and
    says nothing about others: there is no interval then.

    Raises:
        ValueError: there is no observation.
    """
    values = np.asarray(values)
    if not len(values):
        raise ValueError("there is nothing to resample")
    labels = np.arange(len(values)) if clusters is None else np.asarray(clusters)
    _, of = np.unique(labels, return_inverse=True)
    order = np.argsort(of, kind="stable")
    sizes = np.bincount(of)
    starts = np.cumsum(sizes) - sizes
    if len(sizes) == 1:
        return Interval(value=float(statistic(values)), low=math.nan, high=math.nan)
    members = [order[a : a + n] for a, n in zip(starts.tolist(), sizes.tolist(), strict=True)]
    found = []
    for drawn in _places(len(members), draws, purpose, seed):
        rows = np.concatenate([members[i] for i in drawn.tolist()])
        found.append(statistic(values[rows]))
    low, high = np.nanquantile(np.array(found, dtype=np.float64), (0.025, 0.975)).tolist()
    return Interval(value=float(statistic(values)), low=low, high=high)


def _places(count: int, draws: int, purpose: str, seed: int) -> IntArray:
    """Return which clusters each draw takes, (draws, count)."""
    keys = stream_keys(str(i) for i in range(draws))
    uniform = Streams(seed).uniform(
        f"bootstrap:{purpose}", tick=0, keys=keys[:, None], index=np.arange(count)
    )
    return np.minimum((uniform * count).astype(np.int64), count - 1)


def permutation_p(observed: float, null: FloatArray) -> float:
    """Return the one-sided p value of an observed statistic, never 0 (Phipson & Smyth 2010).

    null: (B,) the statistic under permuted labels.
    """
    return float((1 + np.count_nonzero(np.asarray(null) >= observed)) / (1 + len(null)))


def spread(values: Sequence[float] | FloatArray, digits: int = 3) -> str:
    """Return a mean and the range of several seeds, as in `0.52 (0.48 to 0.55)`."""
    found = np.asarray(values, dtype=np.float64)
    mean, low, high = (f"{x:.{digits}f}" for x in (found.mean(), found.min(), found.max()))
    return f"{mean} ({low} to {high})"
