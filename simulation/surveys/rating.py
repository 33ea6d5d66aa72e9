"""From answers to distributions over a scale, the same on every machine.

The cosines are those of `Texts`, sums of integers. The table is the survey's own: were an answer
interned into the world's, the ids of all later texts, and with them the digests, would move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import likert
from simulation.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.texts import Encode, FloatArray, IntArray


class Rater:
    """Rates answers; it keeps the vectors of anchors, and of answers nothing."""

    def __init__(self, encode: Encode, *, width: int) -> None:
        """Start without anchors.

        encode: n texts to n finite vectors, (n, width), as of an encoder.  width: > 0.
        """
        self._encode = encode
        self._anchors = Texts(encode, width=width)

    def rate(
        self,
        answers: Sequence[str],
        sets: Sequence[Sequence[str]],
        *,
        epsilon: float = 0.0,
        temperature: float = 1.0,
    ) -> FloatArray:
        """Return the probability of each of R points for each of N answers, (N, R).

        sets: S sets of R anchors, lowest point first.  epsilon, temperature: `likert.rate`.

        Raises:
            EncoderError: the encoder's answer is not one finite vector per text.
        """
        anchors = self._interned(sets)
        distinct = list(dict.fromkeys(answers))
        texts = self._fresh()
        rows = texts.intern(distinct)
        cosine = texts.cosine(rows[:, np.newaxis, np.newaxis], anchors[np.newaxis])
        pmf = likert.rate(cosine, epsilon=epsilon, temperature=temperature)
        place = {text: at for at, text in enumerate(distinct)}
        return pmf[np.array([place[text] for text in answers], dtype=np.int64)]

    def nearness(self, sets: Sequence[Sequence[str]]) -> FloatArray:
        """Return the cosines of the anchors of each set with each other, (S, R, R)."""
        anchors = self._interned(sets)
        return self._anchors.cosine(anchors[:, :, np.newaxis], anchors[:, np.newaxis, :])

    def _interned(self, sets: Sequence[Sequence[str]]) -> IntArray:
        """Return the ids of all anchors, (S, R)."""
        ids = self._anchors.intern([statement for one in sets for statement in one])
        return ids.reshape(len(sets), -1)

    def _fresh(self) -> Texts:
        """Return a table that holds the anchors under their ids, to be thrown away."""
        texts = Texts(self._encode, width=self._anchors.width)
        known = [self._anchors[i] for i in range(len(self._anchors))]
        texts.restore(known, self._anchors.quantised, self._anchors.scale)
        return texts
