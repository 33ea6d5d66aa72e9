"""What ranks the memories: a score per question and turn, (Q, K), of each method.

Source: `generative_agents` is Park et al. 2023, section 4.1, as the engine's control of that name
has it; `persmem` is C.4 of PersMem with a neutral personality, which is the sum of similarity,
affective match and retention: no trait acts on appraisal, decay or score (method.md 7.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation import recall
from simulation.mind import lexical, passive
from simulation.mind.lexical import HybridParameters, LexicalParameters
from simulation.mind.recency import relevance
from simulation.mind.retention import RetentionParameters, retention
from simulation.rng import Streams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.locomo.memories import Memories

    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]

TOP: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25:
    """BM25. stems: over stems of content words, or over all words as they are."""

    stems: bool
    k_1: float
    b: float

    @property
    def parameters(self) -> LexicalParameters:
        """The constants, as the engine's function wants them."""
        return LexicalParameters(k_1=self.k_1, b=self.b)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Generative-Agents scoring: weights beside a relevance of weight 1."""

    recency: float
    importance: float


TEXTBOOK: Final = Bm25(stems=False, k_1=1.5, b=0.75)
PUBLISHED: Final = Weights(recency=1.0, importance=1.0)

LEXICON: Final = Bm25(stems=True, k_1=LexicalParameters().k_1, b=LexicalParameters().b)
HYBRID: Final = HybridParameters()
"""With `LEXICON` our mode as it ships: `recall.mode: hybrid` of a scenario."""


def bm25(memories: Memories, used: BoolArray, setting: Bm25) -> FloatArray:
    """Return BM25 of each turn, (Q, K). used: (K,) turns that are remembered."""
    words = memories.stems if setting.stems else memories.plain
    shape = words.frequency.shape[:2]
    return lexical.bm25(
        words.frequency,
        np.broadcast_to(words.length, shape),
        np.broadcast_to(used, shape),
        parameters=setting.parameters,
    )


def semantic(memories: Memories, used: BoolArray, encoder: str) -> FloatArray:
    """Return the clipped cosine, (Q, K); 0 where a turn is forgotten."""
    return np.where(used, relevance(memories.cosine[encoder]), 0.0)


def generative_agents(
    memories: Memories, used: BoolArray, encoder: str, weights: Weights = PUBLISHED
) -> FloatArray:
    """Return the weighed sum of parts, each scaled to its range over the memories, (Q, K)."""
    similar = relevance(memories.cosine[encoder])
    rows = np.broadcast_to(used, similar.shape)
    parts = ((weights.recency, memories.recency), (weights.importance, memories.importance))
    total = lexical.spanned(similar, rows)
    for weight, part in parts:
        total = total + weight * lexical.spanned(part[None], used[None])
    return np.asarray(total)


def persmem(memories: Memories, used: BoolArray, encoder: str) -> FloatArray:
    """Return the passive score of a neutral personality, (Q, K)."""
    valence, arousal, neutral = (
        memories.affect[None, :, 0],
        memories.affect[None, :, 1],
        np.zeros(1),
    )
    kept = retention(
        memories.age[None],
        arousal,
        valence,
        neutral,
        tau=memories.tau,
        parameters=RetentionParameters(),
        personality=False,
    )
    parameters = passive.PassiveParameters()
    score = passive.score(
        relevance(memories.cosine[encoder]),
        passive.affect_match(memories.affect[None], memories.state),
        kept,
        weight=passive.relation_weight(
            np.zeros(len(memories.state)), parameters=parameters, personality=False
        ),
        parameters=parameters,
    )
    return np.where(used, score, 0.0)


def hybrid(
    memories: Memories,
    used: BoolArray,
    encoder: str,
    words: FloatArray,
    parameters: HybridParameters,
) -> FloatArray:
    """Return words and cosine, with what neighbours lend, (Q, K). words: (Q, K) BM25."""
    rows = np.broadcast_to(used, words.shape)
    own = lexical.hybrid(
        words,
        memories.cosine[encoder],
        np.broadcast_to(memories.importance, words.shape),
        np.broadcast_to(memories.recency, words.shape),
        rows,
        parameters=parameters,
    )
    places = np.arange(len(used))[None]
    return lexical.lent(own, places, memories.tick[None], used[None], parameters=parameters)


def shipped(memories: Memories, encoder: str) -> IntArray:
    """Return the best turns of each question by the engine's own recall of mode `hybrid`, (Q, 10).

    They are those of `hybrid` with `LEXICON` and `HYBRID` where every turn is remembered.
    """
    asked = len(memories.query)
    found = recall.recall(
        memories.store(),
        memories.texts[encoder],
        rows=np.zeros(asked, np.int64),
        query=memories.query,
        now=int(memories.tick.max()) + 1,
        tau=memories.tau,
        k=np.full(asked, TOP),
        mode="hybrid",
        streams=Streams(0),  # never drawn from
        keys=np.zeros(asked, np.uint64),
    )
    return found.position


def best(memories: Memories, used: BoolArray, score: FloatArray) -> IntArray:
    """Return the best turns of each question, best first, (Q, 10); -1 beyond what is remembered.

    Of equals the newer tick first, then the earlier turn, as in a run.
    """
    order = np.lexsort((np.arange(len(used)), -memories.tick))
    order = order[used[order]]
    ranks = np.argsort(-score[:, order], axis=1, kind="stable")[:, :TOP]
    result = np.full((len(score), TOP), -1, np.int64)
    result[:, : ranks.shape[1]] = order[ranks]
    return result
