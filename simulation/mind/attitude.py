"""Settled attitudes: how confident one is of each polarity, how sure in all, and what merges.

A confidence is (..., 3): positive, negative, neutral, each in [0, 1]; a weight is (...,), >= 0, in
units of the strength of one piece of evidence.

Source: DAM-LLM (arXiv:2510.27418), "Bayesian-Inspired Update Mechanism", "Cognitive Belief
Entropy" and "Memory Update and Compression"; method.md 10, which says what the paper leaves open:
the cap of the weight, the conditions of a merge, and the bounds of a deletion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulation.mind import elementary

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

POLARITIES = 3
HIGHEST_ENTROPY = 1.584962500721156  # log2(3), bits
_PER_BIT = 1.4426950408889634  # 1 / ln 2


def normalised(confidence: FloatArray) -> FloatArray:
    """Return p = C / sum C, (..., 3); uniform where every confidence is 0.

    confidence: (..., 3), >= 0.
    """
    total = _total(confidence)[..., None]
    some = total > 0.0
    return np.where(some, confidence / np.where(some, total, 1.0), 1.0 / POLARITIES)


def entropy(confidence: FloatArray) -> FloatArray:
    """Return the belief entropy in bits, (...,), in [0, log2 3]: -sum p log2 p, 0 log 0 = 0.

    confidence: (..., 3), >= 0; all of them 0 counts as uniform.
    """
    p = normalised(confidence)
    surprise = -p * elementary.log(np.where(p > 0.0, p, 1.0)) * _PER_BIT
    return np.clip(_total(surprise), 0.0, HIGHEST_ENTROPY) + 0.0  # no negative zero


def update(
    confidence: FloatArray,
    weight: FloatArray,
    polarity: FloatArray,
    strength: FloatArray,
    *,
    cap: float,
) -> tuple[FloatArray, FloatArray]:
    """Return confidence and weight after one piece of evidence each.

    C <- (C W + S P) / (W + S), then W <- min(W + S, cap); with W = 0 this founds a unit: C = P.
    Without a cap (infinity) a long-held attitude hardly moves any more; the cap keeps the weight
    of what is new above S / (cap + S).

    confidence, polarity: (N, 3), polarity sums to 1.  weight: (N,), >= 0.  strength: (N,), (0, 1].
    cap: > 0.
    """
    total = weight + strength
    moved = confidence * weight[:, None] + polarity * strength[:, None]
    settled = np.where((weight > 0.0)[:, None], moved / total[:, None], polarity)
    return np.clip(settled, 0.0, 1.0), np.minimum(total, cap)


def joined(
    confidence: FloatArray,
    weight: FloatArray,
    other: FloatArray,
    other_weight: FloatArray,
    *,
    cap: float,
) -> tuple[FloatArray, FloatArray]:
    """Return confidence and weight of two units as one: weighted by W, weights added, capped.

    confidence, other: (N, 3).  weight, other_weight: (N,), > 0.
    """
    total = weight + other_weight
    both = confidence * weight[:, None] + other * other_weight[:, None]
    return np.clip(both / total[:, None], 0.0, 1.0), np.minimum(total, cap)


def leading(confidence: FloatArray) -> IntArray:
    """Return the place of the leading polarity, (...,): 0 positive, 1 negative, 2 neutral.

    Of equals the first.
    """
    return np.asarray(np.argmax(confidence, axis=-1))


def drop(
    confidence: FloatArray,
    weight: FloatArray,
    other: FloatArray,
    other_weight: FloatArray,
) -> FloatArray:
    """Return how much a merge would lower the total entropy, bits, (N,); negative: it must not be.

    H(a) + H(b) - H(both) where both lean the same way and H(both) <= max(H(a), H(b)), else -1.
    What is allowed is never negative.
    """
    both, _ = joined(confidence, weight, other, other_weight, cap=np.inf)
    first, second, result = entropy(confidence), entropy(other), entropy(both)
    allowed = (leading(confidence) == leading(other)) & (result <= np.maximum(first, second))
    return np.where(allowed, first + second - result, -1.0)


def is_noise(
    confidence: FloatArray,
    weight: FloatArray,
    idle: IntArray,
    *,
    min_entropy: float,
    max_weight: float,
    min_idle: int,
) -> BoolArray:
    """Return which units are to be deleted, (N,): high entropy, low weight and no news.

    idle: (N,) ticks, or observations, without new evidence.  min_entropy: bits.
    """
    high = entropy(confidence) >= min_entropy
    return np.asarray(high & (weight <= max_weight) & (idle >= min_idle))


def lean(confidence: FloatArray) -> FloatArray:
    """Return how far a unit leans, (...,), in [-1, 1]: p of positive less p of negative."""
    p = normalised(confidence)
    return np.asarray(p[..., 0] - p[..., 1])


def polarity_of(lean: ArrayLike) -> FloatArray:
    """Return evidence that leans so, (..., 3): |lean| on its side, the rest neutral; sums to 1.

    lean: [-1, 1].
    """
    value = np.asarray(lean, dtype=np.float64)
    positive, negative = np.maximum(value, 0.0), np.maximum(-value, 0.0)
    return np.stack([positive, negative, 1.0 - positive - negative], axis=-1)


def _total(values: FloatArray) -> FloatArray:
    """Return the sum over polarities, always added in one order."""
    return np.asarray(values[..., 0] + values[..., 1] + values[..., 2])
