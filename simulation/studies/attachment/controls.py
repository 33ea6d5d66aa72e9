"""What profiles recall by other methods, with as many memories a cue as an active search finds.

`semantic` and `generative_agents` know no personality. The linear trait-aware reranker does: it
takes the memories most similar to the cue and orders them by similarity plus a function linear in
traits times labels, fitted on development to what PersMem's passive score adds to similarity.

Source of the controls: PersMem 4.1, E.1, E.2 (their formulas are not given).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation.scenario.persmem import Gate, PersMem
from simulation.studies import recalling
from simulation.studies.attachment import protocol, traces
from simulation.studies.attachment.traces import PROFILES, VECTORS, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.attachment.traces import Split
    from simulation.studies.corpus import Corpus

    IntArray = NDArray[np.int64]

NO_TRAIT = PersMem(switches=recalling.TRAITLESS, gate=Gate(mode="neutral"))
"""The same machinery without any part that knows traits."""
_UNASKED = PersMem().passive.draws


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reranker:
    """Weights of labels, and of traits times labels.

    plain: (4,) of valence, arousal, dominance and overgenerality.  traits: (2, 4) of each with
    anxiety and with avoidance.  strength: of all of it beside the similarity.
    """

    plain: FloatArray
    traits: FloatArray
    strength: float = 1.0

    def added(self, corpus: Corpus) -> FloatArray:
        """Return what stands beside the similarity, (P, K)."""
        return self.strength * (self.plain + VECTORS @ self.traits) @ _labels(corpus).T


def fitted(split: Split, spec: PersMem, *, strength: float) -> Reranker:
    """Return the reranker nearest to PersMem's passive score on a split, by least squares."""
    asked = traces.asked(split, replicates=1)
    score = traces.minds(split, spec, seed=0).scores(asked)
    score -= similarity(split)[np.tile(np.arange(len(split.cues)), len(PROFILES))]
    wanted = score.reshape(len(PROFILES), len(split.cues), -1).mean(axis=1)
    labels = _labels(split.corpus)
    traits = np.concatenate([np.ones((len(VECTORS), 1)), VECTORS], axis=1)
    # (P, K, 3 * 5): each of 1 and the traits with each of 1 and the labels
    ones = np.concatenate([np.ones((len(labels), 1)), labels], axis=1)
    design = np.einsum("pt,kl->pktl", traits, ones).reshape(wanted.size, -1)
    weights = np.linalg.lstsq(design, wanted.ravel(), rcond=None)[0].reshape(3, 5)[:, 1:]
    return Reranker(plain=weights[0], traits=weights[1:], strength=strength)


def rerank(split: Split, reranker: Reranker, *, replicates: int) -> Trace:
    """Return what the reranker finds, by profile and cue; nothing in it is drawn."""
    near = similarity(split)
    pool = np.argsort(-near, axis=1, kind="stable")[:, : PersMem().passive.candidates]
    score = np.take_along_axis(near, pool, axis=1) + reranker.added(split.corpus)[:, pool]
    order = np.argsort(-score, axis=2, kind="stable")[:, :, : protocol.STEPS]
    found = np.take_along_axis(np.broadcast_to(pool, score.shape), order, axis=2)
    return _trace(np.repeat(found[:, None], replicates, axis=1))


def recall(split: Split, mode: str, *, seed: int, replicates: int) -> Trace:
    """Return what a mode of `simulation.recall` finds."""
    asked = traces.asked(split, replicates=replicates)
    people = traces.minds(split, PersMem(), seed=seed)
    found = people.control(asked, mode, count=protocol.STEPS).position
    return _trace(found.reshape(len(PROFILES), replicates, len(split.cues), -1))


def similarity(split: Split) -> FloatArray:
    """Return clipped cosines of cues and memories, (C, K)."""
    texts = split.bank.texts
    cues = texts.intern(list(split.cues))
    return np.clip(texts.cosine(cues[:, None], split.bank.items[None, :]), 0.0, 1.0)


def _trace(found: IntArray) -> Trace:
    """Return memories as found without a gate, the first of them also as what came unasked."""
    return Trace(
        found=found,
        redirected=np.zeros(found.shape, np.bool_),
        passive=found[..., :_UNASKED],
    )


def _labels(corpus: Corpus) -> FloatArray:
    return np.concatenate([corpus.affect, corpus.overgeneral[:, None]], axis=1)
