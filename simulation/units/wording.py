"""Units in words: what is felt about what, and how certainly."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

CERTAIN, TORN = 0.6, 1.2  # bits: below the first certain, from the second on torn (method.md 10)
CERTAINTIES = ("certain", "mixed", "torn")
_BOUNDS = (-0.6, -0.2, 0.2, 0.6)
TONES = ("very bad", "rather bad", "neither good nor bad", "rather good", "very good")


def certainty_code(entropy: FloatArray) -> IntArray:
    """Return places in `CERTAINTIES`, of belief entropies in bits."""
    return (entropy >= CERTAIN).astype(np.int64) + (entropy >= TORN)


def tone_code(lean: FloatArray) -> IntArray:
    """Return places in `TONES`, of leanings in [-1, 1]."""
    return np.asarray(np.searchsorted(_BOUNDS, lean, side="right"))


def certainty(entropy: float) -> str:
    """Return the word for a belief entropy in bits: certain, mixed or torn."""
    return CERTAINTIES[(entropy >= CERTAIN) + (entropy >= TORN)]


def tone(lean: float) -> str:
    """Return the words for a leaning in [-1, 1]."""
    return TONES[bisect_right(_BOUNDS, lean)]


def summary(obj: str, aspects: Sequence[str], lean: float, entropy: float, said: str = "") -> str:
    """Return a unit in one sentence. said: the latest evidence in words, "" for none."""
    felt = f"{obj}, {' and '.join(aspects)}: {tone(lean)}, {certainty(entropy)}"
    return f"{felt}; {said}" if said else f"{felt}."
