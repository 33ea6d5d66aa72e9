"""What the turns of a batch take in, and how it moves their beliefs (docs/rule-model.md 1-5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import opinion

if TYPE_CHECKING:
    from simulation.models.base import BoolArray, Cast, FloatArray, IntArray, TurnRequests
    from simulation.models.rule import RuleParameters
    from simulation.rng import Streams

TRUST = "trust"  # the dimension, if the brief has it, that opens or closes the ear to the brand


@dataclass(frozen=True, slots=True, kw_only=True)
class Perception:
    """What the turns of a batch take in, and how it moves them.

    usable: (A, F) items by others.  claim: (A, F) of usable items, else -1.  met: (A, C) whether
    the claim has ever been met, this feed included.  attention: (A, F).
    recalled: (A, C) mean stance of recalled memories on each claim.  change: (A, T) asked for.
    after: (A, T) beliefs with the change.  cause: (A, T) slot that moved each belief, or -1.
    """

    usable: BoolArray
    claim: IntArray
    met: BoolArray
    attention: FloatArray
    recalled: FloatArray
    change: FloatArray
    after: FloatArray
    cause: IntArray


def perceive(requests: TurnRequests, setting: RuleParameters, streams: Streams) -> Perception:
    """Return what each turn takes in; each row depends on itself only.

    An item by the persona itself moves nobody. A peer's own words move those whose credence is
    within `confidence` of their position, as a message and as influence alike; as a message the
    more, the firmer they are. What a peer merely shares is the message that it was, from a peer.
    """
    feed, cast = requests.feed, requests.cast
    depth, claims = len(cast.dimensions), len(cast.claims)
    credence = requests.beliefs[:, depth:]
    usable = (feed.post >= 0) & (feed.author != requests.row[:, None])
    peer = usable & (feed.author >= 0) & ~feed.outside
    place = opinion.position(feed.stance)
    own = opinion.of_claim(credence, feed.claim)
    near = opinion.near(own, place, confidence=setting.confidence)
    claim = np.where(usable & (near | ~peer), feed.claim, -1)
    attention = opinion.attention(feed.relevance, floor=setting.attention_floor)
    recalled = opinion.recollection(
        requests.recalled.claim, requests.recalled.stance, requests.recalled.score, claims=claims
    )
    plausible = _plausibility(requests, setting, streams, claim)
    judged = np.where(peer, place, opinion.judge(place, own, plausible))
    openness = attention * _openness(requests, setting, streams, claim, judged, recalled)
    openness = openness * np.where(peer, opinion.firmness(feed.stance), 1.0)
    moved = opinion.move(
        credence=credence,
        initial=requests.initial[:, depth:],
        claim=claim,
        place=place,
        judged=judged,
        share=opinion.shares(openness, claim, persuasion=setting.persuasion, claims=claims),
        peer=peer & (claim >= 0),
        influence=setting.influence,
        stubbornness=setting.stubbornness,
    )
    spilled = opinion.spill(moved.change, cast.weights, spillover=setting.spillover)
    change = np.concatenate([spilled, moved.change], axis=1)
    after = np.clip(requests.beliefs + change, 0.0, 1.0)
    return Perception(
        usable=usable,
        claim=np.where(usable, feed.claim, -1),
        met=_met(requests, usable),
        attention=attention,
        recalled=recalled,
        change=change,
        after=after,
        cause=_causes(cast, moved, after - requests.beliefs, claim),
    )


def _openness(
    requests: TurnRequests,
    setting: RuleParameters,
    streams: Streams,
    claim: IntArray,
    place: FloatArray,
    recalled: FloatArray,
) -> FloatArray:
    """Return how open each turn is to each item, attention apart, (A, F)."""
    feed, cast = requests.feed, requests.cast
    credence = opinion.of_claim(requests.beliefs[:, len(cast.dimensions) :], claim)
    gate = opinion.trust_gate(
        trust(cast, requests.beliefs),
        cast.scepticism[requests.row],
        feed.sponsored,
        floor=setting.trust_floor,
    )
    bias = opinion.confirmation(credence, place, bias=setting.confirmation_bias)
    fresh = opinion.repetition(requests.heard, claim, feed.stance, decay=setting.repetition)
    memory = opinion.of_claim(recalled, claim)
    felt = opinion.resonance(memory, feed.stance, strength=setting.memory)
    receptive = disposition(
        requests, "receptivity", 1.0 + cast.receptivity, setting.dispersion, streams
    )
    receptive = np.clip(receptive, 0.0, 2.0)
    return feed.credibility * gate * bias * fresh * felt * receptive[:, None]


def _plausibility(
    requests: TurnRequests, setting: RuleParameters, streams: Streams, claim: IntArray
) -> FloatArray:
    """Return how much more plausible each item's claim is to the persona, all run long, (A, F)."""
    claims = len(requests.cast.claims)
    keys = requests.cast.keys[requests.row][:, None]
    own = streams.normal("judgement", tick=0, keys=keys, index=np.arange(claims))
    return setting.judgement * opinion.of_claim(own.reshape(len(requests), claims), claim)


def _met(requests: TurnRequests, usable: BoolArray) -> BoolArray:
    """Return whether each claim was met before or is in this feed, (A, C)."""
    claims = len(requests.cast.claims)
    here = opinion.per_claim(usable.astype(np.float64), requests.feed.claim, claims=claims)
    return np.asarray(requests.heard[:, :, 0] + requests.heard[:, :, 1] + here > 0.0)


def _causes(cast: Cast, moved: opinion.Movement, applied: FloatArray, claim: IntArray) -> IntArray:
    """Return the slot that did most for each applied change, (A, T); -1 for none."""
    depth = len(cast.dimensions)
    by_claim = opinion.causes(applied[:, depth:], moved.contribution, claim)
    by_dimension = opinion.spilled_causes(moved.change, applied[:, :depth], cast.weights, by_claim)
    return np.concatenate([by_dimension, by_claim], axis=1)


def disposition(
    requests: TurnRequests,
    purpose: str,
    explained: FloatArray,
    dispersion: float,
    streams: Streams,
) -> FloatArray:
    """Return a disposition plus what attributes do not explain, the same all run, (A,).

    explained: (P,) what they explain.  dispersion: standard deviation of the rest, >= 0.
    """
    unexplained = streams.normal(purpose, tick=0, keys=requests.cast.keys[requests.row])
    return explained[requests.row] + dispersion * unexplained


def trust(cast: Cast, beliefs: FloatArray) -> FloatArray:
    """Return the belief that the brand can be trusted, (A,); 1 when the brief has no such one."""
    if TRUST not in cast.dimensions:
        return np.ones(len(beliefs))
    return np.asarray(beliefs[:, cast.dimensions.index(TRUST)])


def appeal(cast: Cast, beliefs: FloatArray) -> FloatArray:
    """Return the mean of the dimensions, (A,), [0, 1]."""
    total = np.zeros(len(beliefs))
    for d in range(len(cast.dimensions)):
        total += beliefs[:, d]
    return total / max(1, len(cast.dimensions))


def stances(cast: Cast, seen: Perception) -> FloatArray:
    """Return what each credence says aloud after the turn, (A, C), [-1, 1]."""
    return opinion.stance(seen.after[:, len(cast.dimensions) :])


def topics(cast: Cast, seen: Perception) -> IntArray:
    """Return the claim that a persona would speak about unasked, (A,); -1 for none.

    Of the claims that it has met it is the one moved most in this turn or, if none moved, the one
    with the firmest credence; the lowest index of equals. Of others it does not know.
    """
    if not cast.claims:
        return np.full(len(seen.after), -1, dtype=np.int64)
    moved = np.where(seen.met, np.abs(seen.change[:, len(cast.dimensions) :]), -1.0)
    firm = np.where(seen.met, np.abs(stances(cast, seen)), -1.0)
    some = moved.max(axis=1) > opinion.UNMOVED
    topic = np.where(some, moved.argmax(axis=1), firm.argmax(axis=1))
    return np.where(seen.met.any(axis=1), topic, -1)


def agreement(requests: TurnRequests, seen: Perception) -> FloatArray:
    """Return how far each item is agreed with after the turn, (A, F), [-1, 1]; 0 without claim."""
    return opinion.of_claim(stances(requests.cast, seen), seen.claim) * requests.feed.stance


def felt(requests: TurnRequests, seen: Perception) -> FloatArray:
    """Return how far each item is agreed with, its reserve apart, (A, F); 0 without a claim."""
    own = opinion.of_claim(stances(requests.cast, seen), seen.claim)
    return opinion.agreement(own, requests.feed.stance)


def contrary(requests: TurnRequests, seen: Perception) -> BoolArray:
    """Return whether each item speaks against what the persona decided for good, (A, F).

    An item speaks for the brand when it affirms a claim whose weights sum to more than 0, or
    denies one whose weights sum to less.
    """
    cast = requests.cast
    lean = np.zeros((len(requests), len(cast.claims)))
    for d in range(len(cast.dimensions)):
        lean += cast.weights[:, d]
    speaks = opinion.of_claim(np.sign(lean), seen.claim) * requests.feed.stance
    return np.asarray(speaks * requests.decided[:, None] < 0.0)
