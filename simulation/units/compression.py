"""Entropy-driven compression: units that say the same merge, and what stays noise is forgotten.

Source: DAM-LLM, "Memory Update and Compression"; method.md 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.mind import attitude
from simulation.units.store import OBJECTS, expanded

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
    weight: (n,).  observations: (n,).  aspects: which sides the survivor answers for.
    """

    unit_id: IntArray
    other: IntArray
    persona: IntArray
    summary: IntArray
    confidence: FloatArray
    weight: FloatArray
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
    rounds = []
    if rules.merging:
        open_ = store.unit_id if touched is None else np.unique(touched)
        while len(open_):
            pairs = _best_pairs(store, texts, open_, rules)
            if pairs is None:
                break
            rounds.append(_merge(store, *pairs, summarise))
            open_ = rounds[-1].unit_id
    return Compression(rounds=tuple(rounds), deleted=_delete(store, rules, tick))


def _best_pairs(
    store: UnitStore, texts: Texts, touched: IntArray, rules: Rules
) -> tuple[IntArray, IntArray] | None:
    """Return the best pair of each object that has one: ids, the lower one first; or None."""
    first, second, group = _pairs(store, touched)
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
    if not len(first):
        return None
    order = np.lexsort((second, first, -gain, group))
    best = order[np.r_[True, group[order][1:] != group[order][:-1]]]
    return store.unit_id[first[best]], store.unit_id[second[best]]


def _pairs(store: UnitStore, touched: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return all pairs of units of objects with a touched unit: places (lower id first), group."""
    members, group, size = _groups(store, touched)
    start = np.repeat(np.cumsum(size) - size, size)  # of the own group, for each member
    second, first = expanded(start, np.arange(len(members)))
    return members[first], members[second], group[second]


def _groups(store: UnitStore, touched: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return places of all units of the touched (persona, object), group by group in id order."""
    whole = store.persona * OBJECTS + store.object
    wanted = np.unique(whole[store.place(touched)])
    at = np.minimum(np.searchsorted(wanted, whole), len(wanted) - 1)
    members = np.flatnonzero(wanted[at] == whole)
    order = np.argsort(at[members], kind="stable")
    members = members[order]
    group = at[members]
    return members, group, np.bincount(group, minlength=len(wanted))


def _merge(
    store: UnitStore,
    first: IntArray,
    second: IntArray,
    summarise: Callable[[IntArray], IntArray],
) -> Merge:
    """Merge pairs, one of each (persona, object), and tell the survivors anew."""
    heavier = store.weight[store.place(second)] > store.weight[store.place(first)]
    unit_id = np.where(heavier, second, first)
    other = np.where(heavier, first, second)
    order = np.argsort(unit_id, kind="stable")
    unit_id, other = unit_id[order], other[order]
    store.merge(unit_id, other)
    at = store.place(unit_id)
    store.summary[at] = summarise(unit_id)
    return Merge(
        unit_id=unit_id,
        other=other,
        persona=store.persona[at],
        summary=store.summary[at],
        confidence=store.confidence[at],
        weight=store.weight[at],
        observations=store.observations[at],
        aspects=tuple(store.aspects(one) for one in unit_id.tolist()),
    )


def _delete(store: UnitStore, rules: Rules, tick: int) -> Deletion:
    at = np.zeros(0, np.int64)
    if rules.deleting:
        idle = tick - store.updated
        at = np.flatnonzero((store.weight <= rules.max_weight) & (idle >= rules.min_idle))
        noise = attitude.is_noise(
            store.confidence[at],
            store.weight[at],
            idle[at],
            min_entropy=rules.min_entropy,
            max_weight=rules.max_weight,
            min_idle=rules.min_idle,
        )
        at = at[noise]
    gone = Deletion(
        unit_id=store.unit_id[at],
        persona=store.persona[at],
        summary=store.summary[at],
        confidence=store.confidence[at],
        weight=store.weight[at],
        observations=store.observations[at],
    )
    if len(at):
        store.delete(gone.unit_id)
    return gone
