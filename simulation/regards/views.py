"""What personas have settled about what is before them, in words, for all turns of a tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.regards.regards import Regards
    from simulation.texts import Texts

    IntArray = NDArray[np.int64]


class Views:
    """The views of A turns, worked out for all of them when the first is asked for.

    Only prompts tell them, so a tick without a language model needs none; and what is worked out
    ends with the turns of its tick.
    """

    def __init__(
        self, regards: Regards, texts: Texts, *, row: IntArray, objects: IntArray, query: IntArray
    ) -> None:
        """Keep who looks at what; `regards` must not change before the first view is asked for.

        row: (A,) persona rows.  objects: (A, N) numbers, negative for none; nothing is said about
        others.  query: (A,) text ids of what the personas look at.
        """
        self._regards = regards
        self._texts = texts
        self._row, self._objects, self._query = row, objects, query
        self._found: tuple[list[int], list[int], list[int]] | None = None

    def __call__(self, i: int) -> list[tuple[str, str]]:
        """Return the views of the i-th turn: name of the object and words, nearest first."""
        if self._found is None:
            self._found = self._nearest()
        starts, objects, words = self._found
        return [
            (self._regards.name(objects[at]), self._texts[words[at]])
            for at in range(starts[i], min(starts[i + 1], starts[i] + self._regards.shown))
        ]

    def _nearest(self) -> tuple[list[int], list[int], list[int]]:
        """Return where the units of each turn start, (A + 1,), and of each its object and summary.

        Those of a turn stand by the cosine of its query and the summary, the lower id first of
        equals (`units.retrieve`).
        """
        store = self._regards.store
        turn, slot = np.nonzero(self._objects >= 0)
        pairs = np.unique(np.stack([turn, self._objects[turn, slot]], axis=1), axis=0)
        which, place = store.sides(self._row[pairs[:, 0]], pairs[:, 1])
        turn = pairs[which, 0]
        cosine = self._texts.cosine(store.summary[place], self._query[turn])
        order = np.lexsort((store.unit_id[place], -cosine, turn))
        starts = np.searchsorted(turn[order], np.arange(len(self._row) + 1))
        nearest = place[order]
        return starts.tolist(), store.object[nearest].tolist(), store.summary[nearest].tolist()
