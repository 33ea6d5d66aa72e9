"""The raw affect of every text that a run appraises, once (method.md 7.1).

A text's raw affect depends on the text alone; what a persona makes of it is
`simulation.disposition`. All new texts of a call go to the appraiser together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.buffers import grown
from simulation.mind import affect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.appraisers.base import Appraiser
    from simulation.texts import Texts

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Appraisals:
    """Raw affects by text id.

    Example:
        >>> from simulation.appraisers import AppraiserSpec, load
        >>> from simulation.texts import Texts
        >>> texts = Texts(lambda new: np.ones((len(new), 2), np.float32), width=2)
        >>> appraisals = Appraisals(load(AppraiserSpec(name="lexicon")), texts)
        >>> appraisals.raw(texts.intern(["I love this!", "", "I love this!"])).tolist()
        [[0.6696, 0.4, 0.5], [0.0, 0.4, 0.5], [0.6696, 0.4, 0.5]]
    """

    def __init__(self, appraiser: Appraiser, texts: Texts) -> None:
        """Start empty."""
        self.appraiser = appraiser
        self._texts = texts
        self._raw: FloatArray = np.zeros((0, 3))
        self._known: BoolArray = np.zeros(0, np.bool_)
        self._failed: dict[int, str] = {}
        self._new: list[IntArray] = []

    def raw(self, ids: IntArray) -> FloatArray:
        """Return the raw affect of each text, (*ids.shape, 3): (valence, arousal, dominance).

        ids: text ids, >= 0.
        """
        self._grow(len(self._texts))
        new = np.unique(ids[~self._known[ids]])
        if len(new):
            self._appraise(new)
        return np.asarray(self._raw[ids])

    def take_new(self) -> tuple[IntArray, FloatArray, list[str | None]]:
        """Return the texts appraised since this was asked last: ids, raw affects, why not."""
        ids = np.concatenate([np.zeros(0, np.int64), *self._new])
        self._new = []
        return ids, self._raw[ids], [self._failed.get(text) for text in ids.tolist()]

    def restore(self, ids: IntArray, raw: FloatArray, errors: Sequence[str | None]) -> None:
        """Take over what was appraised before, as `take_new` gave it."""
        self._grow(len(self._texts))
        self._raw[ids], self._known[ids] = raw, True
        told = zip(ids.tolist(), errors, strict=True)
        self._failed |= {text: reason for text, reason in told if reason is not None}

    def failures(self, ids: IntArray) -> list[tuple[int, str]]:
        """Return (place, reason) of each of the texts, (N,), that could not be appraised.

        Its raw affect is that of an invalid answer, `mind.affect.UNKNOWN_AFFECT`.
        """
        if not self._failed:
            return []
        found = enumerate(ids.tolist())
        return [(i, self._failed[text]) for i, text in found if text in self._failed]

    def _appraise(self, new: IntArray) -> None:
        """Appraise texts from the vectors that the run keeps of them."""
        vectors = self._texts.quantised[new] * self._texts.scale[new, None]
        words = [self._texts[i] for i in new.tolist()]
        answer = self.appraiser.appraise(words, vectors)
        self._raw[new] = affect.clip_affect(answer)
        self._known[new] = True
        self._new.append(new)
        for row in np.flatnonzero(~affect.is_valid(answer)).tolist():
            self._failed[int(new[row])] = "the appraiser's answer is no finite number"
        for row, reason in self.appraiser.failures:
            self._failed[int(new[row])] = reason

    def _grow(self, length: int) -> None:
        self._raw, self._known = grown(self._raw, length), grown(self._known, length)
