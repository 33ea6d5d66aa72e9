"""Which memories come back to a persona before its turn.

A persona's own memories are scored against what it is looking at, and the best k are put before
it. Nothing is read but the persona's own row of the store.

Source: Beliefs, memory and reflection, "Which memories come back". The control
`generative_agents` follows Park et al. 2023, "Generative agents: interactive simulacra of human
behavior", section 4.1, but with the recency `exp(-age / tau)` where they decay by 0.995 an hour.
`hybrid` is `simulation.mind.lexical` as the study `locomo` chose it (docs/locomo.md).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.mind import lexical
from simulation.mind import recency as mind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.memory import Held, MemoryStore
    from simulation.rng import Streams, UIntArray
    from simulation.texts import Texts

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

MODES: tuple[str, ...] = ("product", "semantic", "generative_agents", "random", "none", "hybrid")
PERSONAL: tuple[str, ...] = ("redirect", "passive", "active")
"""Paths by personality."""
PATHS: tuple[str, ...] = (*MODES[:5], *PERSONAL, *MODES[5:])  # new ones last: codes stay

BLOCK = 4096  # turns at a time: temporary arrays stay small; rows do not depend on each other
ROOM = 2_000_000  # words of memories, and of queries in memories, at a time, for the same reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """Recalled memories of A turns, (A, K), best first; unused slots are at the end.

    position: slot in the store, -1 in an unused one.  memory_id: -1 in an unused one.
    path: index into `PATHS`, how it came back; -1 in an unused one.
    query: id of the text that it was sought by; -1 in an unused one.
    recency, importance, relevance: in [0, 1], the parts; relevance refers to the query.
    score: what ranked it, >= 0: the product, the clipped cosine, the sum of the normalised parts,
    the draw, the hybrid score, or the passive score. NaN in unused slots, like the parts.
    """

    position: IntArray
    memory_id: IntArray
    path: IntArray
    query: IntArray
    recency: FloatArray
    importance: FloatArray
    relevance: FloatArray
    score: FloatArray


def recall(
    store: MemoryStore,
    texts: Texts,
    *,
    rows: IntArray,
    query: IntArray,
    now: int,
    tau: float,
    k: IntArray,
    mode: str,
    streams: Streams,
    keys: UIntArray,
) -> Recalled:
    """Return the best k memories of each persona (all of them when it has fewer).

    Of equal scores the newer memory comes first, then the lower memory id. A memory of score 0
    still comes back when there are no better ones.

    store: holds memories written before `now`.  rows: (A,) persona rows.  query: (A,) text ids of
    what each persona is looking at.  now: the tick.  tau: time constant, ticks, > 0.
    k: (A,) slots of each persona, >= 0.  mode: one of `MODES`.
    keys: (A,) stream keys of the personas; only `random` draws (stream "recall-random", index
    the memory's place among those that the persona holds, oldest first: an id would depend on how
    much others wrote).

    Raises:
        ValueError: the mode is unknown, or a memory was written after `now`.
    """
    if mode not in MODES:
        raise ValueError(f'recall mode "{mode}" is not one of {", ".join(MODES)}')
    width = int(k.max(initial=0))
    starts = range(0, max(1, len(rows)), BLOCK)
    pieces = []
    for block in (slice(start, start + BLOCK) for start in starts):
        held = store.held(rows[block])
        if mode == "none" or not width or not held.used.size:
            pieces.append(_nothing(len(held.used), width))
            continue
        relevance = mind.relevance(texts.cosine(held.text, query[block, None]))
        parts = (recency_of(held, now=now, tau=tau), held.importance, relevance)
        if mode == "random":
            score = _draws(held, streams, keys[block], now=now)
        elif mode == "hybrid":
            score = _hybrid(held, parts, texts, query[block])
        else:
            score = _score(mode, parts, held.used)
        best = _best(score, held, np.minimum(k[block], held.used.sum(axis=1)), width)
        pieces.append(_gather(best, held, parts, score, PATHS.index(mode), query[block]))
    return joined(pieces)


def joined(pieces: Sequence[Recalled]) -> Recalled:
    """Return the recalls of several blocks of turns, of one width, as one."""
    names = [field.name for field in fields(Recalled)]
    return Recalled(**{n: np.concatenate([getattr(p, n) for p in pieces]) for n in names})


def _draws(held: Held, streams: Streams, keys: UIntArray, *, now: int) -> FloatArray:
    """Return a uniform draw per memory, (A, H): the best k of them are k at random."""
    place = np.arange(held.memory_id.shape[1])
    return streams.uniform("recall-random", tick=now, keys=keys[:, None], index=place)


def _score(mode: str, parts: tuple[FloatArray, ...], used: BoolArray) -> FloatArray:
    """Return what ranks the memories, (A, H), from recency, importance and relevance."""
    recency, importance, relevance = parts
    if mode == "semantic":
        return relevance
    if mode == "product":
        return mind.score(recency, importance, relevance)
    return sum((_normalised(part, used) for part in parts), np.zeros(used.shape))


def _hybrid(
    held: Held, parts: tuple[FloatArray, ...], texts: Texts, query: IntArray
) -> FloatArray:
    """Return the hybrid score of the memories, (A, H), with what neighbours of a tick lend.

    Of a persona's memories those that it wrote one after the other are neighbours, by their place
    among those that it still holds: an id would depend on how much others wrote.
    """
    recency, importance, relevance = parts
    used, parameters = held.used, lexical.HybridParameters()
    own = lexical.hybrid(
        _bm25(held, texts, query), relevance, importance, recency, used, parameters=parameters
    )
    place = np.broadcast_to(np.arange(used.shape[1]), used.shape)
    return lexical.lent(own, place, held.tick, used, parameters=parameters)


def _bm25(held: Held, texts: Texts, query: IntArray) -> FloatArray:
    """Return BM25 of the memories, (A, H), some turns at a time: words take the most room."""
    asked, length = lexical.distinct(texts.words(query)), texts.word_counts(held.text)
    score = np.zeros(held.used.shape)
    longest = max(1, int(length.max(initial=0)), asked.shape[1])
    step = max(1, ROOM // (longest * held.used.shape[1]))
    for some in (slice(start, start + step) for start in range(0, len(score), step)):
        score[some] = lexical.bm25(
            lexical.frequencies(texts.words(held.text[some]), asked[some]),
            length[some],
            held.used[some],
            parameters=lexical.LexicalParameters(),
        )
    return score


def _normalised(part: FloatArray, used: BoolArray) -> FloatArray:
    """Return a part scaled to [0, 1] over each persona's memories; 0 where all are equal."""
    low = np.where(used, part, np.inf).min(axis=1, keepdims=True)
    high = np.where(used, part, -np.inf).max(axis=1, keepdims=True)
    span = high - low
    result = np.zeros(part.shape)
    np.divide(part - low, span, out=result, where=used & (span > 0))
    return result


def recency_of(held: Held, *, now: int, tau: float) -> FloatArray:
    """Return recencies, (A, H), by a table over whole ages: far fewer exponentials."""
    ages = np.where(held.used, now - held.tick.astype(np.int64), 0)
    if ages.min() < 0:
        raise ValueError("a memory was written after the present tick")
    return mind.recency(np.arange(ages.max() + 1), tau=tau)[ages]


def _best(score: FloatArray, held: Held, wanted: IntArray, width: int) -> IntArray:
    """Return slots of the `wanted` best of each row, best first, (A, width); -1 beyond.

    One pass over the store's columns per slot: for few slots that beats sorting by far.
    """
    left = np.where(held.used, score, -np.inf)
    best = np.full((len(score), width), -1, np.int64)
    turns = np.arange(len(score))
    for slot in range(min(width, score.shape[1])):
        place = first_of(left, held)
        best[:, slot] = np.where(slot < wanted, place, -1)
        left[turns, place] = -np.inf
    return best


def first_of(left: FloatArray, held: Held) -> IntArray:
    """Return the slot of the best score of each row, (A,): of equals the newer, then lower id.

    left: (A, H) scores, -inf where a memory is not to be chosen.
    """
    equal = left == left.max(axis=1, keepdims=True)
    written = np.where(equal, held.tick, np.iinfo(np.int32).min)
    place: IntArray = written.argmax(axis=1)  # the first of equals has the lowest id
    return place


def _gather(
    best: IntArray,
    held: Held,
    parts: tuple[FloatArray, ...],
    score: FloatArray,
    path: int,
    query: IntArray,
) -> Recalled:
    """Return the chosen slots with all that is to be said about them."""
    used = best >= 0
    place = np.maximum(best, 0)

    def chosen(values: FloatArray) -> FloatArray:
        return np.where(used, np.take_along_axis(values, place, axis=1), np.nan)

    recency, importance, relevance = (chosen(part) for part in parts)
    return Recalled(
        position=best,
        memory_id=np.where(used, np.take_along_axis(held.memory_id, place, axis=1), -1),
        path=np.where(used, path, -1),
        query=np.where(used, query[:, None], -1),
        recency=recency,
        importance=importance,
        relevance=relevance,
        score=chosen(score),
    )


def _nothing(turns: int, width: int) -> Recalled:
    """Return slots that are all unused."""
    none, nan = np.full((turns, width), -1, np.int64), np.full((turns, width), np.nan)
    return Recalled(
        position=none,
        memory_id=none,
        path=none,
        query=none,
        recency=nan,
        importance=nan,
        relevance=nan,
        score=nan,
    )
