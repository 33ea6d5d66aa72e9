"""What makes a memory come back: recency, relevance and their product with importance.

Source: Beliefs, memory and reflection, "Which memories come back".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulation.mind import elementary

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def tau(horizon: int) -> float:
    """Return the time constant max(1, horizon / 4), in ticks.

    Example:
        >>> tau(30)
        7.5
    """
    return max(1.0, horizon / 4)


def recency(age: IntArray, *, tau: float) -> FloatArray:
    """Return exp(-age / tau), in (0, 1] (0 where that is below the smallest float).

    age: whole ticks since each memory was written, >= 0, any shape.  tau: ticks, > 0.

    Raises:
        ValueError: an age is negative (a memory of the future), or `tau` is not positive.
    """
    if not tau > 0:
        raise ValueError(f"tau is {tau}; it must be above 0")
    age = np.asarray(age)
    if age.size and age.min() < 0:
        raise ValueError("a memory was written after the present tick")
    return elementary.exp(-age / tau)


def relevance(cosine: FloatArray) -> FloatArray:
    """Return clip(cosine, 0, 1), any shape: what points away is as irrelevant as what is apart."""
    return np.clip(cosine, 0.0, 1.0)


def score(recency: FloatArray, importance: FloatArray, relevance: FloatArray) -> FloatArray:
    """Return recency * importance * relevance, all in [0, 1], of one shape."""
    return recency * importance * relevance
