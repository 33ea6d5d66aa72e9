"""Reflection by rule: one memory that names what moved most, and why (method.md 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import opinion
from simulation.models.base import SOURCES, ReflectionReplies
from simulation.models.utilities import at
from simulation.models.words import reflection_texts
from simulation.rng import Streams

if TYPE_CHECKING:
    from simulation.models.base import ReflectionRequests

_SEED = Streams(0)  # which form of words is taken may be the same in runs of all seeds


def consolidate(
    requests: ReflectionRequests,
    *,
    fallback: bool = True,
    consolidation: float = 0.0,
    streams: Streams = _SEED,
) -> ReflectionReplies:
    """Return the reflections by rule.

    fallback: it stands in for a failed model: beliefs stay.  consolidation: else, how far what
    moved is sharpened, [0, 1].  streams: draws the form of words; without it they depend on
    persona and tick only.
    """
    beliefs, cast = requests.beliefs, requests.cast
    revised = np.full(beliefs.shape, np.nan)
    if not fallback:
        revised = opinion.sharpen(beliefs, requests.before, consolidation=consolidation)
    after = np.where(np.isnan(revised), beliefs, revised)
    target = opinion.most_moved(beliefs, requests.before)
    claim = np.maximum(target - len(cast.dimensions), -1)
    texts = reflection_texts(
        requests,
        target=target,
        move=at(beliefs - requests.before, target),
        bits=streams.bits("reflection_words", tick=requests.tick, keys=cast.keys[requests.row]),
    )
    source = SOURCES.index("fallback" if fallback else "rule")
    return ReflectionReplies(
        revised=revised,
        memories=[(text,) for text in texts],
        claim=claim,
        stance=at(opinion.stance(after), np.where(claim >= 0, target, -1)),
        source=np.full(len(requests), source, dtype=np.int64),
    )
