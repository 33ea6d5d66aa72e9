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
    from collections.abc import Sequence

    from simulation.models.base import IntArray, ReflectionRequests

_CLEAR = 0.15  # stance from which a feeling is for or against (words.text)
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
        kept=[0] * len(requests) if fallback else _kept(requests, target),
    )
    source = SOURCES.index("fallback" if fallback else "rule")
    return ReflectionReplies(
        revised=revised,
        memories=[(text,) for text in texts],
        claim=claim,
        stance=at(opinion.stance(after), np.where(claim >= 0, target, -1)),
        source=np.full(len(requests), source, dtype=np.int64),
    )


def _kept(requests: ReflectionRequests, target: IntArray) -> list[int]:
    """Return which memory of each reflection is quoted, by its place, most important first.

    It is the first about the claim that moved most, or that moved the dimension, which felt the
    way it moved; else the first about that claim; else the first of all.
    """
    claim = _claim_behind(requests, target)
    moved = requests.beliefs - requests.before
    by = at(moved, np.where(claim >= 0, claim + len(requests.cast.dimensions), -1))
    views = requests.memory_views or [()] * len(requests)
    return [
        _best(own, about, way)
        for own, about, way in zip(views, claim.tolist(), np.sign(by).tolist(), strict=True)
    ]


def _best(views: Sequence[tuple[int, float]], claim: int, way: float) -> int:
    """Return the place of the first view of a claim that felt its way, else of any, else 0.

    way: 1 up, -1 down, 0 neither.
    """
    if claim < 0:
        return 0
    same = [place for place, (about, _) in enumerate(views) if about == claim]
    for place in same:
        if views[place][1] * way >= _CLEAR:
            return place
    return same[0] if same else 0


def _claim_behind(requests: ReflectionRequests, target: IntArray) -> IntArray:
    """Return the claim whose move did most for the move of each target, (A,); -1 for none."""
    cast = requests.cast
    depth = len(cast.dimensions)
    if not cast.claims:
        return np.full(len(requests), -1, dtype=np.int64)
    moved = requests.beliefs - requests.before
    weights = cast.weights.T[np.clip(target, 0, depth - 1)] if depth else moved[:, depth:] * 0.0
    helped = moved[:, depth:] * weights * np.sign(at(moved, target))[:, None]
    claim = helped.argmax(axis=1)
    claim = np.where(helped.max(axis=1) > opinion.UNMOVED, claim, -1)
    return np.where(target >= depth, target - depth, np.where(target >= 0, claim, -1))
