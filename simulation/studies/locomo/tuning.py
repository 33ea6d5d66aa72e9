"""Grids of settings, and the choice among them by recall@5 on some conversations.

Every setting is measured once on every conversation; then a choice on any of them is a mean. Of
equally good settings the first of the grid is taken: grids begin with the simplest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import numpy as np

from simulation.mind.lexical import HybridParameters
from simulation.studies.locomo import methods
from simulation.studies.locomo.measuring import recall_at
from simulation.studies.locomo.methods import HYBRID, LEXICON, Bm25, Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.rng import FloatArray
    from simulation.studies.locomo.memories import Memories

K: Final = 5
"""Memories by whose recall settings are chosen."""

BM25_GRID: Final = tuple(
    Bm25(stems=stems, k_1=k_1, b=b)
    for stems, k_1, b in product((False, True), (1.5, 1.2, 0.9, 0.6, 0.3), (0.75, 0.4, 0.2, 0.0))
)
WEIGHTS_GRID: Final = tuple(
    Weights(recency=recency, importance=importance)
    for recency, importance in product(
        (0.0, 0.05, 0.1, 0.2, 0.5, 1.0), (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)
    )
)
HYBRID_GRID: Final = tuple(
    HybridParameters(
        dense=dense, importance=importance, recency=recency, before=before, after=after, reach=3
    )
    for importance, recency, after, before, dense in product(
        (0.0, 0.1, 0.2), (0.0, 0.1), (0.0, 0.2), (0.0, 0.3, 0.5, 0.6, 0.7), (0.0, 0.15, 0.3, 0.6)
    )
)

Setting = TypeVar("Setting")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What the grids gave."""

    bm25: Bm25
    weights: Weights
    hybrid: HybridParameters

    @property
    def ships(self) -> bool:
        """Whether our mode, so chosen, is the engine's `recall.mode: hybrid`."""
        return (self.bm25, self.hybrid) == (LEXICON, HYBRID)


class Grid(Generic[Setting]):
    """Settings with their recall on conversations. found: (settings, Q) by conversation."""

    def __init__(
        self,
        settings: Sequence[Setting],
        score: Callable[[Memories, Setting], FloatArray],
        conversations: Sequence[Memories],
    ) -> None:
        """Measure every setting on every conversation."""
        self.settings = tuple(settings)
        self.found: list[FloatArray] = [
            np.stack([_recall(one, score(one, setting)) for setting in self.settings])
            for one in conversations
        ]

    def means(self, among: Sequence[int]) -> FloatArray:
        """Return the mean recall of each setting over the questions of some conversations."""
        means: FloatArray = np.concatenate([self.found[i] for i in among], axis=1).mean(axis=1)
        return means

    def choose(self, among: Sequence[int]) -> Setting:
        """Return the best setting on some conversations, by their places."""
        return self.settings[int(np.round(self.means(among), 12).argmax())]


class Grids:
    """All grids on all conversations, for one encoder."""

    def __init__(self, conversations: Sequence[Memories], encoder: str, *, every: int = 1) -> None:
        """Measure them. every: only each n-th setting of ours, for a short form.

        The lexicon of our mode is that of the best BM25; so it is measured when that is known.
        """
        self._conversations, self._encoder, self._every = conversations, encoder, every
        self.bm25 = Grid(
            BM25_GRID, lambda m, setting: methods.bm25(m, m.all(), setting), conversations
        )
        self.weights = Grid(
            WEIGHTS_GRID,
            lambda m, setting: methods.generative_agents(m, m.all(), encoder, setting),
            conversations,
        )
        self._hybrids: dict[Bm25, Grid[HybridParameters]] = {}

    def choose(self, among: Sequence[int]) -> Chosen:
        """Return the best settings on some conversations."""
        lexicon = self.bm25.choose(among)
        return Chosen(
            bm25=lexicon,
            weights=self.weights.choose(among),
            hybrid=self.hybrid(lexicon).choose(among),
        )

    def hybrid(self, lexicon: Bm25) -> Grid[HybridParameters]:
        """Return the grid of our mode with a lexicon."""
        if lexicon not in self._hybrids:
            settings = HYBRID_GRID[:: self._every]
            words = [methods.bm25(m, m.all(), lexicon) for m in self._conversations]
            of = {id(m): found for m, found in zip(self._conversations, words, strict=True)}
            self._hybrids[lexicon] = Grid(
                settings,
                lambda m, setting: methods.hybrid(m, m.all(), self._encoder, of[id(m)], setting),
                self._conversations,
            )
        return self._hybrids[lexicon]


def _recall(memories: Memories, score: FloatArray) -> FloatArray:
    """Return recall@K of each question, (Q,)."""
    top = methods.best(memories, memories.all(), score)
    return recall_at(memories.questions, top, (K,))[:, 0]


def rows_of(setting: Any) -> dict[str, Any]:
    """Return a setting as a JSON object."""
    return {name: getattr(setting, name) for name in setting.__dataclass_fields__}
