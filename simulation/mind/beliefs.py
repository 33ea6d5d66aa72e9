"""Beliefs move by signed changes and stay in [0, 1].

Source: Beliefs, memory and reflection, "Beliefs".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def clip_change(change: FloatArray) -> FloatArray:
    """Return requested changes clipped into [-1, 1], any shape.

    Raises:
        ValueError: a change is NaN or infinite. Such a reaction is invalid as a whole
           , so it must be refused before it gets here.
    """
    if not np.isfinite(change).all():
        raise ValueError("a belief change is NaN or infinite; the reaction is invalid")
    return np.clip(change, -1.0, 1.0)


def apply(before: FloatArray, change: FloatArray) -> FloatArray:
    """Return clip(before + clip_change(change), 0, 1).

    before: (A, T) beliefs in [0, 1].  change: (A, T) signed requested changes, finite.
    The *applied* change is the result minus `before`.

    Raises:
        ValueError: a change is NaN or infinite.
    """
    return np.clip(before + clip_change(change), 0.0, 1.0)


def largest_move(before: FloatArray, after: FloatArray) -> FloatArray:
    """Return max |after - before| over the targets, (A,), in [0, 1]; 0 without any target.

    before, after: (A, T) beliefs in [0, 1], dimensions and claims alike.
    This is max|applied change|, the measure of importance and of a sharp move.
    """
    return np.asarray(np.abs(after - before).max(axis=-1, initial=0.0))
