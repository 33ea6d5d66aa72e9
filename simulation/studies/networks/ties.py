"""Who sees whom: the files do not say, so each group is a seeded ring with four neighbours each.

In both experiments everybody had the same number of peers and was shown the mean of their answers;
four, and their order by lot, are assumptions of this study.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from simulation.rng import FloatArray, Streams, UIntArray
    from simulation.studies.networks.panel import IntArray, Panel

DEGREE: Final = 4
_STEPS: Final = (1, -1, 2, -2)


def neighbours(panel: Panel, keys: UIntArray, streams: Streams) -> IntArray:
    """Return whom each row sees, (N, 4) rows, -1 for nobody.

    keys: (N,) of the ids.  A group of up to five see all the others; who is not tied sees nobody.
    """
    found = np.full((len(panel), DEGREE), -1, dtype=np.int64)
    order = np.argsort(streams.bits("networks:ring", tick=0, keys=keys), kind="stable")
    for group in np.unique(panel.group[panel.tied]).tolist():
        ring = order[(panel.group[order] == group) & panel.tied[order]]
        size = len(ring)
        if size <= DEGREE + 1:
            for place in range(size):
                others = np.delete(ring, place)
                found[ring[place], : len(others)] = others
            continue
        for slot, step in enumerate(_STEPS):
            found[ring, slot] = np.roll(ring, step)
    return found


def neighbours_mean(values: FloatArray, seen: IntArray) -> FloatArray:
    """Return the mean of those that each row sees, its own value where it sees nobody.

    values: (N,).  seen: (N, K), -1 for nobody.
    """
    there = seen >= 0
    total = np.zeros(len(values))
    for slot in range(seen.shape[1]):
        total += np.where(there[:, slot], values[seen[:, slot]], 0.0)
    count = there.sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), values)
