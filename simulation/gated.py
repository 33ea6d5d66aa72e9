"""Gated recall: the best memories come back, unless another one takes over (method.md 8).

The k slots of a turn are filled one after the other. In each a memory comes to mind unasked; if
the gate fires it takes the slot, and the search goes on from it. Else the slot takes the unused
memory with the best recency x importance x relevance, as in `simulation.recall`, row for row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.recall import BLOCK, Recalled, first_of, joined
from simulation.search import Decisions, Search, path

if TYPE_CHECKING:
    from simulation.disposition import Disposition
    from simulation.memory import MemoryStore
    from simulation.recall import IntArray
    from simulation.rng import Streams
    from simulation.search import Mind
    from simulation.texts import Texts


def gated(
    store: MemoryStore,
    texts: Texts,
    streams: Streams,
    disposition: Disposition,
    mind: Mind,
    *,
    k: IntArray,
) -> tuple[Recalled, Decisions]:
    """Return k memories of each persona (all of them when it has fewer), and each decision.

    store: with affect; holds memories written before `mind.now`.  k: (A,) slots, >= 0.
    """
    width = int(k.max(initial=0))
    found, decided = [], [Decisions.none()]
    for start in range(0, max(1, len(mind.rows)), BLOCK):
        part = mind.block(start, start + BLOCK)
        search = Search(store, texts, streams, disposition, part)
        found.append(_fill(search, k[start : start + BLOCK], width, offset=start))
        decided += search.decisions
    return joined(found), Decisions.joined(decided)


def _fill(search: Search, k: IntArray, width: int, *, offset: int) -> Recalled:
    """Fill the slots of a block of turns."""
    slots = [_slot(search, k, step=slot + 1, offset=offset) for slot in range(width)]
    return beside(slots) if slots else nothing(search)


def _slot(search: Search, k: IntArray, *, step: int, offset: int) -> Recalled:
    going = (step <= k) & search.unused.any(axis=1)
    if not going.any():
        return _blank(search)
    proposed, fired = search.propose(going, step=step, offset=offset)
    product, passive = search.product(), search.passive()
    best = first_of(np.where(search.unused, product, -np.inf), search.held)
    place = np.where(going, np.where(fired, proposed, best), -1)
    at = (np.arange(len(place)), place)
    slot = search.find(
        place,
        np.where(fired, path("redirect"), path("product")),
        np.where(fired, passive[at], product[at]),
    )
    search.redirect(fired, proposed, on=step < k)
    return slot


def _blank(search: Search) -> Recalled:
    none = np.full(len(search.query), -1)
    return search.find(none, none, np.full(len(none), np.nan))


def nothing(search: Search) -> Recalled:
    """Return recalls without a slot, (A, 0)."""
    none = np.zeros((len(search.query), 0), np.int64)
    return search.describe(none, none, np.zeros(none.shape))


def beside(slots: list[Recalled]) -> Recalled:
    """Return slots of the same turns side by side, (A, sum of their widths)."""
    names = Recalled.__slots__
    return Recalled(
        **{n: np.concatenate([getattr(slot, n) for slot in slots], axis=1) for n in names}
    )
