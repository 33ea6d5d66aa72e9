"""Which of two dialogues sounds more negative, and what of that is left under pressure.

Source: PersMem, H.3, which lost its formulas: a tie counts half, and what is left is a ratio.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.studies.intervals import Interval, bootstrap

if TYPE_CHECKING:
    from simulation.rng import FloatArray


def direction(affect: FloatArray) -> FloatArray:
    """Return of each pair 1 where the high profile sounds more negative, 0 where less, (N,).

    As negative counts half; NaN where one of the two gave no reply at all.

    affect: (2 N, 6, 3). The valence of a dialogue is the mean of the replies that came.
    """
    gap = valence_gap(affect)
    return np.where(np.isnan(gap), np.nan, (np.sign(gap) + 1.0) / 2.0)


def valence_gap(affect: FloatArray) -> FloatArray:
    """Return the valence of the low profile less that of the high one, of each pair, (N,)."""
    valence = affect[..., 0]
    came = ~np.isnan(valence)
    count = came.sum(axis=1)
    sums = np.where(came, valence, 0.0).sum(axis=1)
    mean = np.where(count > 0, sums / np.maximum(count, 1), np.nan)
    high, low = np.split(mean, 2)
    return np.asarray(low - high)


def ratio(neutral: FloatArray, adversarial: FloatArray, purpose: str) -> Interval:
    """Return what is left of a mean, with its interval over pairs; NaN where it was not above 0.

    neutral, adversarial: (N,) of the same pairs; those with a NaN are left out.
    """
    both = np.stack([neutral, adversarial], axis=1)
    both = both[~np.isnan(both).any(axis=1)]
    if not both[:, 0].sum() > 0.0:
        return Interval(value=np.nan, low=np.nan, high=np.nan)
    return bootstrap(both, _left, purpose=purpose)


def _left(both: FloatArray) -> float:
    before, after = both.sum(axis=0).tolist()
    return after / before if before > 0.0 else np.nan


def mean(values: FloatArray, purpose: str) -> Interval:
    """Return the mean of a value a pair, with its interval; NaN where no pair has one."""
    kept = values[~np.isnan(values)]
    if not len(kept):
        return Interval(value=np.nan, low=np.nan, high=np.nan)
    return bootstrap(kept, lambda v: float(v.mean()), purpose=purpose)
