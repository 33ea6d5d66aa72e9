"""Evidence: what a text says about which side of which object, and how strongly.

One piece of evidence is what a memory unit is updated with (method.md 10): an object, an aspect of
it, how the text leans (shares of positive, negative and neutral that sum to 1) and a strength.

Source: DAM-LLM, its evidence (E, Q, C, S).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from simulation.models.answers import Dropped

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["POLARITIES", "Dropped", "Evidence", "Extracted", "Extractor", "Topic"]

POLARITIES = ("positive", "negative", "neutral")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What a text may be about: an object and its aspects, each a short name."""

    object_type: str
    object: str
    aspects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a text says about one aspect of one object.

    polarity: shares of positive, negative and neutral, each in [0, 1], sum 1.
    strength: (0, 1].  summary: in words.
    """

    object_type: str
    object: str
    aspect: str
    polarity: tuple[float, float, float]
    strength: float
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What was found in each of N texts, and why a model's own answer was not used, by index."""

    evidence: Sequence[tuple[Evidence, ...]]
    error: dict[int, str]
    rejections: tuple[tuple[int, str, str], ...]


class Extractor(Protocol):
    """Finds evidence in texts, each read on its own."""

    def extract(
        self,
        texts: Sequence[str],
        topics: Sequence[Topic],
        *,
        tick: int,
        ids: Sequence[str | None],
    ) -> Extracted:
        """Return the evidence in each text; never refuses one, whatever is in it.

        Args:
            texts: N texts of any length.
            topics: What they may be about.
            tick: The tick that asks.
            ids: N, whose text each is; None where it is nobody's in particular.
        """
        ...
