"""What comes back by its words: BM25, its sum with a cosine, and what was said around it.

Embeddings of a sentence know its topic; names, dates and rare things are better found by words.
So the two are added, each scaled to its best. And what answers a question often stands beside
what sounds like it ("Where did you go?" "To Lisbon."): a memory lends part of its score to its
neighbours of the same occasion.

Shapes: A turns, K memories, L words of a memory, M of a query. Words are numbers, -1 is none.
Sums run word by word, never through a matrix product, so that a row has the same bits whatever
rows stand beside it.

Source: Robertson and Zaragoza 2009, "The probabilistic relevance framework: BM25 and beyond",
with the weight of a rare word kept above 0; the rest is the project's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulation.mind import elementary

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.signedinteger[Any]]

_NEVER = -2  # stands for no word of a query: no memory has it


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalParameters:
    """BM25. k_1: >= 0, how much repetition counts.  b: in [0, 1], how much length does."""

    k_1: float = 0.6
    b: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridParameters:
    """The hybrid score; every weight is a share of the best lexical score, >= 0.

    Defaults, as those of `LexicalParameters`, are the best by recall of evidence on two
    conversations of LoCoMo (docs/locomo.md).
    """

    dense: float = 0.15  # of the clipped cosine, scaled to its range over the memories
    importance: float = 0.0  # of the importance in [0, 1]
    recency: float = 0.0  # of the recency in [0, 1]
    before: float = 0.6  # what the memory just before lends; one n before lends its n-th power
    after: float = 0.2  # what the memory just after lends
    reach: int = 3  # memories before that lend


def distinct(words: IntArray) -> IntArray:
    """Return the words of each text, (A, M), -1 where one stood before in the same text."""
    order = np.argsort(words, axis=1, kind="stable")
    ordered = np.take_along_axis(words, order, axis=1)
    again = ordered[:, 1:] == ordered[:, :-1]
    result = words.copy()
    np.put_along_axis(result, order[:, 1:], np.where(again, -1, ordered[:, 1:]), axis=1)
    return result


def frequencies(memories: IntArray, query: IntArray) -> IntArray:
    """Return how often each word of the query stands in each memory, (A, K, M).

    memories: (A, K, L), or (1, K, L) for the same ones in every turn.  query: (A, M).
    """
    asked = np.where(query < 0, _NEVER, query)
    result = np.zeros((query.shape[1], len(query), memories.shape[1]), np.int64)
    for word in np.ascontiguousarray(np.moveaxis(memories, 2, 0)):  # the n-th of each memory
        for place in range(query.shape[1]):
            result[place] += word == asked[:, place, None]
    return result.transpose(1, 2, 0)


def bm25(
    frequency: IntArray, length: IntArray, used: BoolArray, *, parameters: LexicalParameters
) -> FloatArray:
    """Return the BM25 score of each memory, (A, K), >= 0; 0 in an unused slot.

    Sum over the query's words of ln(1 + (n - df + 1/2) / (df + 1/2))
    * tf * (k_1 + 1) / (tf + k_1 * (1 - b + b * length / mean length)),
    n memories of which df hold the word; both and the mean are of each turn's own memories.

    frequency: (A, K, M) tf, of `frequencies`.  length: (A, K) words of a memory.
    used: (A, K) slots that hold a memory.
    """
    count = used.sum(axis=1)
    mean = np.where(used, length, 0).sum(axis=1) / np.maximum(count, 1)
    relative = length / np.where(mean > 0, mean, 1.0)[:, None]
    b = parameters.b
    damping = parameters.k_1 * ((1.0 - b) + b * relative)
    score = np.zeros(used.shape)
    for place in range(frequency.shape[2]):
        tf = np.where(used, frequency[:, :, place], 0)
        df = np.count_nonzero(tf, axis=1)
        rarity = elementary.log(1.0 + (count - df + 0.5) / (df + 0.5))
        held = tf > 0
        share = np.zeros(used.shape)
        np.divide(tf * (parameters.k_1 + 1.0), tf + damping, out=share, where=held)
        score += rarity[:, None] * share
    return score


def scaled(score: FloatArray, used: BoolArray) -> FloatArray:
    """Return scores over the best of each turn, (A, K), in [0, 1]; 0 where the best is 0.

    score: (A, K), >= 0.
    """
    best = np.where(used, score, 0.0).max(axis=1, keepdims=True, initial=0.0)
    result = np.zeros(score.shape)
    np.divide(score, best, out=result, where=used & (best > 0))
    return result


def spanned(score: FloatArray, used: BoolArray) -> FloatArray:
    """Return scores over their range in each turn, (A, K), in [0, 1]; 0 where all are equal."""
    low = np.where(used, score, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    high = np.where(used, score, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    result = np.zeros(score.shape)
    with np.errstate(invalid="ignore"):  # inf - inf where nothing is used
        np.divide(score - low, high - low, out=result, where=used & (high > low))
    return result


def lent(
    score: FloatArray,
    order: IntArray,
    occasion: IntArray,
    used: BoolArray,
    *,
    parameters: HybridParameters,
) -> FloatArray:
    """Return each score with what neighbours of the same occasion lend to it, (A, K).

    A memory n places after another one gets before**n of that one's score, n <= reach; one just
    before another gets `after` of it.

    order: (A, K), rising along the used slots: the place at which a memory was written, so that
    neighbours which are forgotten leave a gap.  occasion: (A, K), such as the tick or the session.
    """
    result = np.where(used, score, 0.0)
    own = result.copy()
    for shift in range(1, min(parameters.reach, score.shape[1] - 1) + 1):
        early, late = slice(None, -shift), slice(shift, None)
        gap = order[:, late] - order[:, early]
        near = used[:, late] & used[:, early] & (occasion[:, late] == occasion[:, early])
        for distance in range(1, parameters.reach + 1):
            weight = parameters.before**distance
            result[:, late] += np.where(near & (gap == distance), weight * own[:, early], 0.0)
        if shift == 1:
            back = near & (gap == 1)
            result[:, early] += np.where(back, parameters.after * own[:, late], 0.0)
    return result


def hybrid(
    lexical: FloatArray,
    cosine: FloatArray,
    importance: FloatArray,
    recency: FloatArray,
    used: BoolArray,
    *,
    parameters: HybridParameters,
) -> FloatArray:
    """Return the hybrid score of each memory before neighbours lend, (A, K), >= 0.

    lexical: (A, K) of `bm25`.  cosine: (A, K) in [-1, 1].  importance, recency: (A, K) in [0, 1].
    """
    dense = spanned(np.clip(cosine, 0.0, 1.0), used)
    total = scaled(lexical, used) + parameters.dense * dense
    total += parameters.importance * importance + parameters.recency * recency
    return np.where(used, total, 0.0)
