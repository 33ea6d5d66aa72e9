"""Two-stage retrieval: what is about it, then what is nearest in meaning.

Source: DAM-LLM, "Two-Stage Hybrid Retrieval"; method.md 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.texts import Texts
    from simulation.units.store import UnitStore

IntArray = NDArray[np.int64]


def retrieve(
    store: UnitStore,
    texts: Texts,
    *,
    persona: int,
    query: int,
    k: int,
    objects: Sequence[int] = (),
    aspect: int = -1,
) -> IntArray:
    """Return the ids of the best units for a query, best first, at most k.

    Stage 1 keeps the units about the side `aspect` of the `objects`; if there is none, all about
    these objects; if there is none, all of the persona. Stage 2 ranks them by the cosine of query
    and summary; of equals the lower id.

    query: text id.  k: >= 0.  objects: numbers; none asks for all.  aspect: -1 for any.
    """
    found = _candidates(store, persona, objects, aspect)
    summaries = store.summary[store.place(found)]
    order = np.lexsort((found, -texts.cosine(summaries, np.array([query]))))
    return np.asarray(found[order[:k]])


def _candidates(store: UnitStore, persona: int, objects: Sequence[int], aspect: int) -> IntArray:
    stages = ([(obj, aspect) for obj in objects], [(obj, -1) for obj in objects], [(-1, -1)])
    for stage in stages:
        parts = [store.about(persona, obj, side) for obj, side in dict.fromkeys(stage)]
        found = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
        if len(found):
            return found
    return np.zeros(0, np.int64)
