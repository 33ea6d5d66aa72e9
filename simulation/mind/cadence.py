"""When a persona reflects: on its own cadence, or after a sharp move.

Source: Beliefs, memory and reflection, "Reflection".
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_MARGIN = 1e-6  # a move of exactly the threshold, give or take rounding, is not sharp


def interval(seed: int, persona_id: str, *, minimum: int = 4, spread: int = 5) -> int:
    """Return after how many turns a persona reflects, in minimum .. minimum + spread - 1.

    minimum + (first byte of SHA-256("reflection-cadence|<seed>|<persona id>") mod spread), with
    the seed in decimal. A pure function of both, so it can be recomputed from a run database.

    Example:
        >>> interval(7, "anna")
        5
    """
    name = f"reflection-cadence|{seed}|{persona_id}"
    first = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[0]
    return minimum + first % spread


def due(turns_since: IntArray, interval: IntArray) -> BoolArray:
    """Return where the cadence fires, (A,).

    turns_since: (A,) turns taken since the last reflection or the start, this one included.
    interval: (A,) of `interval`.
    """
    return np.asarray(turns_since >= interval)


def sharp(max_abs_applied: FloatArray, *, threshold: float = 0.3) -> BoolArray:
    """Return where a turn moved a belief sharply, (A,): by more than threshold + 1e-6.

    max_abs_applied: (A,) the largest applied change over dimensions and claims, [0, 1].
    """
    return np.asarray(max_abs_applied > threshold + _MARGIN)
