"""Drawing memories without replacement, with probabilities that follow their scores.

The first is drawn with probability proportional to exp(score / temperature), the next likewise
among the rest, and so on. That is exactly the order of score / temperature + g with independent
standard Gumbel numbers g (Yellott 1977, "The relationship between Luce's choice axiom, Thurstone's
theory of comparative judgment, and the double exponential distribution"; Vieira 2014, "Gumbel-max
trick and weighted reservoir sampling"). So one number per memory settles a whole sequence, and
these numbers come from a named stream of `simulation.rng`.

Source: PersMem, section 3 and F.6 (ties in index order); method.md 7.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def top_without_replacement(
    score: FloatArray,
    mask: BoolArray,
    *,
    temperature: ArrayLike,
    count: ArrayLike,
    gumbel: FloatArray,
    candidates: int | None = 12,
) -> IntArray:
    """Return the columns drawn for each row, (A, N), in the order of drawing; -1 beyond the last.

    N is the largest count. Of exact ties the lower column comes first, among candidates and among
    draws. A row's draws depend on nothing but that row.

    score: (A, K), finite where the mask holds.  mask: (A, K) what may be drawn.
    temperature: > 0, one for all or (A,); as it nears 0 the draw becomes the ranking by score.
    count: how many to draw, >= 0, one for all or (A,).  gumbel: (A, K) standard Gumbel numbers,
    finite, as `Streams.gumbel` returns them.  candidates: only so many of the highest scores of a
    row can be drawn, >= 0; None for all.

    Raises:
        ValueError: a score that may be drawn is NaN or infinite, a temperature is not a positive
            number, or a count is negative.
    """
    rows = len(score)
    heat = np.broadcast_to(np.asarray(temperature, np.float64), (rows,))[:, None]
    counts = np.asarray(count, np.int64)
    wanted = np.broadcast_to(counts, (rows,))
    _check(score, mask, heat, counts)
    left = mask.copy() if candidates is None else _highest(score, mask, candidates)
    drawn = np.full((rows, int(counts.max(initial=0))), -1, np.int64)
    row = np.arange(rows)
    for slot in range(min(drawn.shape[1], score.shape[1])):
        place = _perturbed(score, left, heat, gumbel).argmax(axis=1)
        found = left.any(axis=1) & (slot < wanted)
        drawn[:, slot] = np.where(found, place, -1)
        left[row, place] = False
    return drawn


def _check(score: FloatArray, mask: BoolArray, heat: FloatArray, counts: IntArray) -> None:
    if not np.isfinite(score[mask]).all():
        raise ValueError("a score to draw by is NaN or infinite")
    if not ((heat > 0.0) & np.isfinite(heat)).all():
        raise ValueError("a sampling temperature is not a number above 0")
    if (counts < 0).any():
        raise ValueError("a count of draws is negative")


def highest(score: FloatArray, mask: BoolArray, count: int) -> IntArray:
    """Return the columns of each row's highest scores, rising, (A, N); those of equals are lower.

    N is `count`, or K where that is less. Where the mask holds in fewer, others fill the rest.

    score: (A, K), no NaN where the mask holds.  mask: (A, K).  count: >= 0.
    """
    rows, width = score.shape
    if not 0 < count < width:
        return np.tile(np.arange(min(count, width)), (rows, 1))
    cost = np.where(mask, -score, np.inf)
    limit = np.partition(cost, count - 1, axis=1)[:, count - 1, None]
    below = cost < limit
    at_limit = cost == limit
    missing = count - below.sum(axis=1, keepdims=True)
    chosen = below | (at_limit & (np.cumsum(at_limit, axis=1) <= missing))
    return np.nonzero(chosen)[1].reshape(rows, count)


def _highest(score: FloatArray, mask: BoolArray, candidates: int) -> BoolArray:
    """Return the mask of each row's highest scores, at most `candidates` of them, (A, K)."""
    chosen = np.zeros(mask.shape, np.bool_)
    np.put_along_axis(chosen, highest(score, mask, candidates), values=True, axis=1)
    return chosen & mask


def _perturbed(
    score: FloatArray, left: BoolArray, heat: FloatArray, gumbel: FloatArray
) -> FloatArray:
    """Return score / temperature + gumbel up to a constant of the row, (A, K); -inf if not left.

    Scores are taken from the highest that is left: so equal scores stay equally likely at any
    temperature, and what overflows is only what has no chance.
    """
    within = np.where(left, score, -np.inf)
    highest = within.max(axis=1, keepdims=True, initial=-np.inf)
    with np.errstate(over="ignore"):  # a gap of -inf means: never before the others
        gap = within - np.where(np.isfinite(highest), highest, 0.0)
        return np.asarray(gap / heat + gumbel)
