"""What a classifier sees of an instance: statistics of recalled content, and of redirections.

Nothing else: no traits, no gains, no resonance, no retention, no score and no probability of the
gate. Affect and specificity are the raw labels, never as a profile feels them.

Source: PersMem 4.1 and E.2; which statistics is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from simulation.studies.attachment import protocol
from simulation.studies.corpus import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.attachment.traces import Instances, Trace
    from simulation.studies.corpus import Corpus

    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]

_Scalar = TypeVar("_Scalar", bound=np.generic)
CONTENT: Final = (
    "valence mean",
    "valence sd",
    "arousal mean",
    "arousal sd",
    "dominance mean",
    "dominance sd",
    "negative share",
    "positive share",
    "overgeneral share",
)
REDIRECTIONS: Final = (
    "found a cue",
    "redirections a cue",
    "redirected share",
    "negative share of redirected",
    "valence mean of redirected",
    "overgeneral share of redirected",
    *(f"redirected at step {step}" for step in range(1, protocol.STEPS + 1)),
)
READINGS: Final = ("search", "search and passive")
"""What is read: what the active search found, or also what came unasked before it."""


def names(reading: str) -> tuple[str, ...]:
    """Return the names of the features of a reading, in order."""
    unasked = tuple(f"passive {name}" for name in CONTENT) if reading == READINGS[1] else ()
    return (*CONTENT, *REDIRECTIONS, *unasked)


def features(trace: Trace, taken: Instances, corpus: Corpus, reading: str) -> FloatArray:
    """Return features by instance, (P * N, F), as `names`.

    corpus: whose labels are read.  reading: one of `READINGS`.
    """
    found, redirected = _flat(taken.of(trace.found)), _flat(taken.of(trace.redirected))
    cues = taken.cues.shape[1]
    parts = [content(found, corpus), _redirections(found, redirected, corpus, cues)]
    if reading == READINGS[1]:
        parts.append(content(_flat(taken.of(trace.passive)), corpus))
    return np.concatenate(parts, axis=1)


def content(places: IntArray, corpus: Corpus) -> FloatArray:
    """Return statistics of memories by row, (N, len(CONTENT)); zeros where there is none.

    places: (N, M) in the corpus, -1 for none.
    """
    used = places >= 0
    affect = corpus.affect[np.maximum(places, 0)]
    parts = []
    for j in range(affect.shape[2]):
        mean = _share(affect[:, :, j], used)
        parts += [mean, np.sqrt(_share((affect[:, :, j] - mean[:, None]) ** 2, used))]
    parts += [_share(affect[:, :, 0] < NEGATIVE, used), _share(affect[:, :, 0] > POSITIVE, used)]
    parts.append(_share(corpus.overgeneral[np.maximum(places, 0)], used))
    return np.stack(parts, axis=1)


def _redirections(
    places: IntArray, redirected: BoolArray, corpus: Corpus, cues: int
) -> FloatArray:
    """Return statistics of redirections by row, (N, len(REDIRECTIONS)). places: (N, g * S)."""
    valence = corpus.affect[np.maximum(places, 0), 0]
    overgeneral = corpus.overgeneral[np.maximum(places, 0)]
    steps = redirected.reshape(len(redirected), cues, -1).mean(axis=1)
    parts = [
        (places >= 0).sum(axis=1) / cues,
        redirected.sum(axis=1) / cues,
        _share(redirected, places >= 0),
        _share(valence < NEGATIVE, redirected),
        _share(valence, redirected),
        _share(overgeneral, redirected),
    ]
    return np.concatenate([np.stack(parts, axis=1), steps], axis=1)


def _flat(values: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """Return the values of each instance in one row."""
    return values.reshape(len(values), -1)


def _share(values: NDArray[np.generic], used: BoolArray) -> FloatArray:
    """Return the mean of the used values of each row, 0 where none is."""
    total = np.where(used, values, 0).sum(axis=1, dtype=np.float64)
    mean: FloatArray = total / np.maximum(used.sum(axis=1), 1)
    return mean


def embeddings(trace: Trace, taken: Instances, vectors: FloatArray, reading: str) -> FloatArray:
    """Return the mean vector of the texts recalled, by instance, (P * N, width).

    vectors: (K, width) of the memories.
    """
    parts = [trace.found, *([trace.passive] if reading == READINGS[1] else [])]
    places = np.concatenate([_flat(taken.of(part)) for part in parts], axis=1)
    used = places >= 0
    total = np.einsum("nm,nmw->nw", used.astype(np.float64), vectors[np.maximum(places, 0)])
    mean: FloatArray = total / np.maximum(used.sum(axis=1), 1)[:, None]
    return mean
