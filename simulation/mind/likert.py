"""From a free answer to a distribution over a Likert scale: semantic similarity rating (SSR).

Every point of a scale has an anchor, a statement that somebody at this point would make. How near
an answer lies to each anchor, above the farthest one, is how likely it is meant as that point.

Shapes: N answers, S sets of anchors, R points of the scale, lowest first. Sums run over sets and
points one column at a time, so a row has the same bits whatever rows stand beside it.

Source: Maier et al. 2025, "LLMs Reproduce Human Purchase Intent via Semantic Similarity
Elicitation of Likert Ratings", arXiv:2510.08338, and its package semantic-similarity-rating.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulation.mind import elementary

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def rate(cosine: FloatArray, *, epsilon: float = 0.0, temperature: float = 1.0) -> FloatArray:
    """Return the probability of each point for each answer, (N, R), rows that sum to 1.

    Per set: the similarity (1 + cosine) / 2 less that of the farthest anchor, of which `epsilon`
    is the share that the farthest one keeps, scaled to sum 1; then the mean over the sets; then
    the temperature. Anchors that are all equally near say nothing: then every point is as likely.

    cosine: (N, S, R), [-1, 1], of each answer and each anchor; S >= 1, R >= 1.
    epsilon: >= 0, added to the farthest anchor (the lowest point of equals), in units of
        (1 + cosine) / 2 as in the authors' package; in the paper's formula it is 0.
    temperature: > 0; see `tempered`.
    """
    similarity = 0.5 * (1.0 + cosine)
    farthest = np.argmin(similarity, axis=2)[..., np.newaxis]
    weight = similarity - np.take_along_axis(similarity, farthest, axis=2)
    np.put_along_axis(weight, farthest, epsilon, axis=2)
    return tempered(_mean_over_sets(_normalised(weight)), temperature)


def tempered(pmf: FloatArray, temperature: float) -> FloatArray:
    """Return distributions proportional to pmf ** (1 / temperature), (N, R).

    Below 1 they are sharper, above 1 flatter.  pmf: (N, R), rows that sum to 1.
    """
    if temperature == 1.0:
        return pmf
    highest = pmf.max(axis=1, keepdims=True)  # so that no row vanishes below the least float
    return _normalised(elementary.exp(elementary.log(pmf / highest) / temperature))


def mean(pmf: FloatArray) -> FloatArray:
    """Return the expected point, (N,), in [1, R].  pmf: (N, R)."""
    total = np.zeros(len(pmf))
    for point in range(pmf.shape[1]):
        total += (point + 1) * pmf[:, point]
    return total


def point(pmf: FloatArray) -> IntArray:
    """Return the likeliest point, (N,), from 1; the lowest of equals.  pmf: (N, R)."""
    return np.asarray(np.argmax(pmf, axis=1) + 1, dtype=np.int64)


def _normalised(weight: FloatArray) -> FloatArray:
    """Return weights >= 0 scaled to sum 1 along the last axis; all equal where all are 0."""
    total = np.zeros(weight.shape[:-1])
    for at in range(weight.shape[-1]):
        total += weight[..., at]
    some = (total > 0.0)[..., np.newaxis]
    even: FloatArray = np.full(weight.shape, 1.0 / weight.shape[-1])
    np.divide(weight, total[..., np.newaxis], out=even, where=some)
    return even


def _mean_over_sets(pmf: FloatArray) -> FloatArray:
    """Return the mean of (N, S, R) over the sets, (N, R)."""
    total: FloatArray = np.zeros((pmf.shape[0], pmf.shape[2]))
    for at in range(pmf.shape[1]):
        total += pmf[:, at]
    return np.asarray(total / pmf.shape[1])
