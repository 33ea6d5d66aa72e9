"""Units in words: what is felt about what, and how certainly."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CERTAIN, TORN = 0.6, 1.2  # bits: below the first certain, from the second on torn (method.md 10)
_TONES = (
    (0.6, "very good"),
    (0.2, "rather good"),
    (-0.2, "neither good nor bad"),
    (-0.6, "rather bad"),
)


def certainty(entropy: float) -> str:
    """Return the word for a belief entropy in bits: certain, mixed or torn."""
    return "certain" if entropy < CERTAIN else "mixed" if entropy < TORN else "torn"


def tone(lean: float) -> str:
    """Return the words for a leaning in [-1, 1]."""
    return next((words for bound, words in _TONES if lean >= bound), "very bad")


def summary(obj: str, aspects: Sequence[str], lean: float, entropy: float, said: str = "") -> str:
    """Return a unit in one sentence. said: the latest evidence in words, "" for none."""
    felt = f"{obj}, {' and '.join(aspects)}: {tone(lean)}, {certainty(entropy)}"
    return f"{felt}; {said}" if said else f"{felt}."
