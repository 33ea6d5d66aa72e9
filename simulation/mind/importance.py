"""How much a turn matters for memory.

Source: Beliefs, memory and reflection, "How important a memory is".
The seed says "how much beliefs moved"; the largest applied change over dimensions and claims is
the project's reading.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def importance(base: FloatArray, max_abs_applied: FloatArray, *, move: float = 0.6) -> FloatArray:
    """Return min(1, base + move * max_abs_applied), (A,), in [0, 1].

    base: (A,) what the action alone is worth, [0, 1].  max_abs_applied: (A,) the largest change
    that was applied to a belief, [0, 1].  move: weight of that change, >= 0.
    """
    return np.minimum(1.0, base + move * max_abs_applied)
