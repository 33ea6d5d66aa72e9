"""All methods on all conversations, and how far apart they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies.intervals import bootstrap
from simulation.studies.locomo import methods
from simulation.studies.locomo.measuring import KS, recall_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.intervals import Interval
    from simulation.studies.locomo.memories import Memories
    from simulation.studies.locomo.tuning import Chosen

    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]
    Method = Callable[[Memories, BoolArray], FloatArray]

TEXTBOOK: Final = "BM25"
BM25: Final = "BM25, tuned"
SEMANTIC: Final = "semantic"
AGENTS: Final = "Generative Agents"
AGENTS_BEST: Final = "Generative Agents, tuned"
PERSMEM: Final = "PersMem"
OURS: Final = "hybrid (ours)"
MAIN: Final = (TEXTBOOK, BM25, SEMANTIC, AGENTS, AGENTS_BEST, PERSMEM, OURS)

AGELESS_AGENTS: Final = "Generative Agents, no ages"
AGELESS_PERSMEM: Final = "PersMem, no ages"
ALONE: Final = "hybrid without neighbours"
DENSELESS: Final = "hybrid without cosine"
WORDLESS: Final = "hybrid without words"

ALL: Final = "all"
CAPPED: Final = "50"
STORES: Final = (ALL, CAPPED)
AT: Final = KS.index(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A measurement. store: `all` memories, or the `50` that the engine's store still holds."""

    encoder: str
    method: str
    store: str


class Compared:
    """Recall of every question. found: (Q, len(KS)) of each conversation, by key."""

    def __init__(
        self,
        conversations: Sequence[Memories],
        chosen: Mapping[str, Chosen],
        *,
        draws: int = 2000,
    ) -> None:
        """Measure all methods.

        chosen: settings by encoder, in the order in which they stand.  draws: of a bootstrap.
        """
        self._draws = draws
        self.conversations = tuple(conversations)
        self.chosen = dict(chosen)
        self.found: dict[Key, list[FloatArray]] = {}
        for encoder, setting in chosen.items():
            for name, method in methods_of(encoder, setting).items():
                for store in STORES:
                    key = Key(encoder=encoder, method=name, store=store)
                    self.found[key] = [_recall(one, method, store) for one in conversations]
            if setting.ships:  # then a run would find the same: measure the engine itself
                key = Key(encoder=encoder, method=OURS, store=ALL)
                self.found[key] = [
                    recall_at(one.questions, methods.shipped(one, encoder))
                    for one in conversations
                ]

    def recall(self, key: Key, among: Sequence[int]) -> FloatArray:
        """Return recall of the questions of some conversations, (N, len(KS))."""
        return np.concatenate([self.found[key][i] for i in among])

    def clusters(self, among: Sequence[int]) -> IntArray:
        """Return the conversation of each of those questions, (N,)."""
        sizes = [len(self.conversations[i].questions) for i in among]
        return np.repeat(np.array(among, np.int64), sizes)

    def categories(self, among: Sequence[int]) -> IntArray:
        """Return the category of each of those questions, (N,)."""
        asked = [q.category for i in among for q in self.conversations[i].questions]
        return np.array(asked, np.int64)

    def interval(self, key: Key, among: Sequence[int]) -> Interval:
        """Return mean recall@5 over conversations drawn again."""
        values = self.recall(key, among)[:, AT]
        return bootstrap(
            values, mean, clusters=self.clusters(among), purpose=str(key), draws=self._draws
        )

    def difference(self, key: Key, other: Key, among: Sequence[int]) -> tuple[Interval, Interval]:
        """Return by how much recall@5 is higher: over conversations, and over questions."""
        values = (self.recall(key, among) - self.recall(other, among))[:, AT]
        purpose, clusters = f"{key} - {other}", self.clusters(among)
        return (
            bootstrap(values, mean, clusters=clusters, purpose=purpose, draws=self._draws),
            bootstrap(values, mean, purpose=purpose, draws=self._draws),
        )


def methods_of(encoder: str, chosen: Chosen) -> dict[str, Method]:
    """Return all methods by name."""
    found: dict[str, Method] = {
        TEXTBOOK: lambda m, used: methods.bm25(m, used, methods.TEXTBOOK),
        BM25: lambda m, used: methods.bm25(m, used, chosen.bm25),
        SEMANTIC: lambda m, used: methods.semantic(m, used, encoder),
        AGENTS: lambda m, used: methods.generative_agents(m, used, encoder),
        AGENTS_BEST: lambda m, used: methods.generative_agents(m, used, encoder, chosen.weights),
        PERSMEM: lambda m, used: methods.persmem(m, used, encoder),
        OURS: lambda m, used: ours(m, used, encoder, chosen),
        AGELESS_AGENTS: lambda m, used: methods.generative_agents(m.ageless(), used, encoder),
        AGELESS_PERSMEM: lambda m, used: methods.persmem(m.ageless(), used, encoder),
    }
    return found | _lesser(encoder, chosen)


def ours(memories: Memories, used: BoolArray, encoder: str, chosen: Chosen) -> FloatArray:
    """Return the score of our best mode, (Q, K)."""
    words = methods.bm25(memories, used, chosen.bm25)
    return methods.hybrid(memories, used, encoder, words, chosen.hybrid)


def _lesser(encoder: str, chosen: Chosen) -> dict[str, Method]:
    """Return our mode without one of its parts."""
    alone = replace(chosen, hybrid=replace(chosen.hybrid, before=0.0, after=0.0))
    denseless = replace(chosen, hybrid=replace(chosen.hybrid, dense=0.0))
    wordless = replace(chosen.hybrid, dense=1.0)

    def without_words(memories: Memories, used: BoolArray) -> FloatArray:
        nothing = np.zeros(memories.cosine[encoder].shape)
        return methods.hybrid(memories, used, encoder, nothing, wordless)

    return {
        ALONE: lambda m, used: ours(m, used, encoder, alone),
        DENSELESS: lambda m, used: ours(m, used, encoder, denseless),
        WORDLESS: without_words,
    }


def _recall(memories: Memories, method: Method, store: str) -> FloatArray:
    used = memories.all() if store == ALL else memories.capped
    top = methods.best(memories, used, method(memories, used))
    return recall_at(memories.questions, top)


def mean(values: FloatArray) -> float:
    """Return the mean."""
    return float(values.mean())
