"""Evidence recall@k: the share of a question's evidence among the k best memories.

Source: Maharana et al. 2024, the recall that its code reports for retrieved turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.locomo.conversations import Question

    IntArray = NDArray[np.int64]

KS: Final = (1, 3, 5, 10)


def recall_at(questions: Sequence[Question], top: IntArray, ks: Sequence[int] = KS) -> FloatArray:
    """Return recall@k of each question, (Q, len(ks)), in [0, 1].

    questions: Q, each with evidence.  top: (Q, T) places of the best turns, best first, -1 for
    none; T is at least the largest k.
    """
    most = max(len(question.evidence) for question in questions)
    evidence = np.full((len(questions), most), -2, np.int64)
    for row, question in enumerate(questions):
        evidence[row, : len(question.evidence)] = question.evidence
    count = np.count_nonzero(evidence >= 0, axis=1)
    hit = (top[:, :, None] == evidence[:, None, :]).any(axis=2)
    found = [hit[:, :k].sum(axis=1) / count for k in ks]
    return np.stack(found, axis=1)
