"""Entropy-driven compression: units that say the same merge, and what stays noise is forgotten.

Source: DAM-LLM, "Memory Update and Compression"; method.md 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.mind import attitude
from simulation.units.index import expanded

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.texts import Texts
    from simulation.units.store import UnitStore

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """When units merge and when they are deleted.

    similarity: least cosine of two summaries, [-1, 1].  min_entropy: bits, max_weight, min_idle:
    ticks without news from which on a unit is noise.  merging, deleting: switch either off.
    """

    similarity: float = 0.80
    min_entropy: float = 1.40
    max_weight: float = 0.75
    min_idle: int = 5
    merging: bool = True
    deleting: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A merge of one round, as columns: what survived, what ended, and the survivor afterwards.

    unit_id, other: (n,).  persona: (n,).  summary: (n,) text ids.  confidence: (n, 3).
    weight, entropy: (n,).  observations: (n,).  aspects: which sides the survivor answers for.
    """

    unit_id: IntArray
    other: IntArray
    persona: IntArray
    summary: IntArray
    confidence: FloatArray
    weight: FloatArray
    entropy: FloatArray
    observations: IntArray
    aspects: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """Units that were deleted, as they were: (n,), confidence (n, 3)."""

    unit_id: IntArray
    persona: IntArray
    summary: IntArray
    confidence: FloatArray
    weight: FloatArray
    entropy: FloatArray
    observations: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """What a compression did. rounds: merges, each round at most one of a persona's object."""

    rounds: tuple[Merge, ...]
    deleted: Deletion


def compress(
    store: UnitStore,
    texts: Texts,
    *,
    rules: Rules,
    tick: int,
    summarise: Callable[[IntArray], IntArray],
    touched: IntArray | None = None,
) -> Compression:
    """Merge until nothing can be merged, then delete noise; doing it again changes nothing.

    Units of one persona and one object merge when their summaries are alike, they lean the same
    way and the merged one is no less certain than the less certain of both; of an object's pairs
    first the one that lowers the total entropy most (of equals the one with the lowest ids). The
    heavier of both survives, of equals the older, and answers for both sides from then on.

    summarise: unit ids (n,), rising, to the text ids of their summaries; called for survivors.
    touched: ids of units that are new or changed since the last compression; default, all.
    """
    rounds, ended = [], [np.zeros(0, np.int64)]
    if rules.merging:
        open_ = np.arange(len(store)) if touched is None else store.place(np.sort(touched))
        while len(open_):
            first, second = _best_pairs(store, texts, open_, rules)
            if not len(first):
                break
            open_, gone = _merged(store, first, second)
            rounds.append(_told(store, open_, gone, summarise))
            ended.append(gone)
    merged = np.concatenate(ended)
    noise = _noise(store, rules, tick, merged)
    deleted = _deletion(store, noise)
    gone = np.concatenate([merged, noise])
    if len(gone):  # all at once: whatever ends, the units behind it move up
        store.drop(gone)
    return Compression(rounds=tuple(rounds), deleted=deleted)


def _best_pairs(
    store: UnitStore, texts: Texts, touched: IntArray, rules: Rules
) -> tuple[IntArray, IntArray]:
    """Return the best pair of each object that has one: places, the lower one first.

    touched: places.
    """
    first, second, group = _pairs(store, touched)
    side = attitude.leading(store.confidence)  # cheaper than a cosine, and settles most pairs
    alike = side[first] == side[second]
    first, second, group = first[alike], second[alike], group[alike]
    near = texts.cosine(store.summary[first], store.summary[second]) >= rules.similarity
    first, second, group = first[near], second[near], group[near]
    gain = attitude.drop(
        store.confidence[first],
        store.weight[first],
        store.confidence[second],
        store.weight[second],
    )
    good = gain >= 0.0
    first, second, group, gain = first[good], second[good], group[good], gain[good]
    order = np.lexsort((second, first, -gain, group))
    best = order[np.diff(group[order], prepend=-1) != 0]
    return first[best], second[best]


def _pairs(store: UnitStore, touched: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return all pairs of units of objects with a touched unit: places (lower id first), group."""
    group, members = store.together(touched)
    size = np.bincount(group)
    start = np.repeat(np.cumsum(size) - size, size)  # of the own group, for each member
    second, first = expanded(start, np.arange(len(members)))
    return members[first], members[second], group[second]


def _merged(store: UnitStore, first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """Merge pairs, one of each (persona, object); return the places of who survives and ends."""
    heavier = store.weight[second] > store.weight[first]
    at, gone = np.where(heavier, second, first), np.where(heavier, first, second)
    order = np.argsort(at)
    at, gone = at[order], gone[order]
    store.merge(at, gone)
    return at, gone


def _told(
    store: UnitStore,
    at: IntArray,
    gone: IntArray,
    summarise: Callable[[IntArray], IntArray],
) -> Merge:
    """Put survivors in words anew, and return the merge."""
    store.summary[at] = summarise(store.unit_id[at])
    return Merge(
        unit_id=store.unit_id[at],
        other=store.unit_id[gone],
        persona=store.persona[at],
        summary=store.summary[at],
        confidence=store.confidence[at],
        weight=store.weight[at],
        entropy=store.disorder[at],
        observations=store.observations[at],
        aspects=tuple(store.all_aspects(at)),
    )


def _noise(store: UnitStore, rules: Rules, tick: int, merged: IntArray) -> IntArray:
    """Return the places of the units to be deleted, but for those that merged away."""
    if not rules.deleting:
        return merged[:0]
    torn = store.disorder >= rules.min_entropy
    at = np.flatnonzero(torn & (store.weight <= rules.max_weight))
    at = np.setdiff1d(at, merged, assume_unique=True)
    noise = attitude.is_noise(
        store.confidence[at],
        store.weight[at],
        tick - store.updated[at],
        min_entropy=rules.min_entropy,
        max_weight=rules.max_weight,
        min_idle=rules.min_idle,
    )
    return at[noise]


def _deletion(store: UnitStore, at: IntArray) -> Deletion:
    return Deletion(
        unit_id=store.unit_id[at],
        persona=store.persona[at],
        summary=store.summary[at],
        confidence=store.confidence[at],
        weight=store.weight[at],
        entropy=store.disorder[at],
        observations=store.observations[at],
    )
