"""Opinion dynamics of one turn: what a feed does to the credences of those who read it.

Every step closes a share of the gap between a credence b and the position x that an item takes,
as in DeGroot (1974); shares are never negative and together never above 1, so a new credence is
a weighted mean of the old one, the first one and the positions met, and cannot leave their range.

Shapes: A turns, F feed slots, K recalled memories, C claims, D dimensions. Credences, beliefs and
positions lie in [0, 1], stances in [-1, 1]; a claim index of -1 means "no claim".

Sums run in slot or claim order, one column at a time and never through matrix products, so a row
has the same bits whatever rows stand beside it and however many empty slots follow.

docs/rule-model.md derives each formula and names its sources.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulation.mind import elementary

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

FULL_RELEVANCE = 0.5  # cosine of an item and a persona block from which attention is complete
SCEPTICISM_WEIGHT = 0.5  # what full scepticism takes off a message with an interest behind it
FIRM = 0.5  # stance from which an item affirms or denies without reserve
UNMOVED = 1e-12  # smaller differences of beliefs are rounding, not movement


def attention(relevance: FloatArray, *, floor: float) -> FloatArray:
    """Return how much of an item is taken in, in [floor, 1].

    relevance: any shape, [0, 1], clipped cosine of item and persona block.
    Source: the elaboration likelihood model's link of relevance and processing (Petty &
    Cacioppo 1986), as a line that is complete at `FULL_RELEVANCE`.
    """
    return floor + (1.0 - floor) * np.minimum(1.0, relevance / FULL_RELEVANCE)


def position(stance: FloatArray) -> FloatArray:
    """Return the credence that an item speaks for, in [0, 1]: stance -1 is 0, stance 1 is 1."""
    return 0.5 * (1.0 + stance)


def stance(credence: FloatArray) -> FloatArray:
    """Return what a credence says aloud, in [-1, 1]; the inverse of `position`."""
    return 2.0 * credence - 1.0


def of_claim(values: FloatArray, claim: IntArray, *, otherwise: float = 0.0) -> FloatArray:
    """Return, for each slot, the value of its claim.

    values: (A, C).  claim: (A, F), -1 yields `otherwise`.  Returns (A, F).
    """
    rows = np.arange(len(values))[:, None]
    padded = np.concatenate([values, np.full((len(values), 1), otherwise)], axis=1)
    return np.asarray(padded[rows, claim])


def per_claim(values: FloatArray, claim: IntArray, *, claims: int) -> FloatArray:
    """Return, for each claim, the sum of its slots' values in slot order.

    values, claim: (A, F); slots with claim -1 count nowhere.  Returns (A, C).
    """
    size = len(values) * claims
    place = np.arange(len(values))[:, None] * claims + claim
    place = np.where(claim >= 0, place, size)
    sums = np.bincount(place.ravel(), weights=values.ravel(), minlength=size + 1)
    flat: FloatArray = sums[:size].astype(np.float64)  # of nothing, bincount counts in integers
    return flat.reshape(len(values), claims)


def trust_gate(
    trust: FloatArray, scepticism: FloatArray, sponsored: BoolArray, *, floor: float
) -> FloatArray:
    """Return what distrust leaves of a message that the brand itself sends, in [0, 1].

    trust: (A,) belief in the dimension "trust"; half of it is enough for a full hearing.
    scepticism: (A,), clipped into [0, 1].  sponsored: (A, F); other items keep 1.
    Source: [r]; persuasion knowledge (Friestad & Wright 1994) is the reason for the sponsor's
    discount.
    """
    gate = floor + (1.0 - floor) * np.minimum(1.0, 2.0 * trust)
    gate = gate * (1.0 - SCEPTICISM_WEIGHT * np.clip(scepticism, 0.0, 1.0))
    return np.where(sponsored, gate[:, None], 1.0)


def agreement(own: FloatArray, said: FloatArray) -> FloatArray:
    """Return how far an item is agreed with, [-1, 1].

    own, said: stances of the persona and of the item on one claim, of one shape.  Who denies a
    claim agrees with its denial; from `FIRM` on an item counts as speaking without reserve.
    """
    return own * np.clip(said / FIRM, -1.0, 1.0)


def judge(place: FloatArray, credence: FloatArray, plausibility: FloatArray) -> FloatArray:
    """Return where a message stands once a persona has judged it by itself, in [0, 1].

    place: (A, F) the position x that it takes.  credence: (A, F) the persona's own, b.
    plausibility: (A, F) how much more or less plausible its claim is to the persona than to
    others, in units of credence.  With d = sign(x - b) it is

    y = b + d max(0, |x - b| + d plausibility), cut into [0, 1],

    so a message may fall flat or carry farther than it says, but never speaks for the other side.
    Written with `maximum` and `minimum` it is x itself, bit for bit, at plausibility 0.
    Source: [r]; people judge a claim by what they know, not by the message alone.
    """
    shifted = np.clip(place + plausibility, 0.0, 1.0)
    above = np.where(place > credence, np.maximum(credence, shifted), credence)
    return np.where(place < credence, np.minimum(credence, shifted), above)


def firmness(said: FloatArray) -> FloatArray:
    """Return what is left of a peer's words by how firm they are, abs(said) in [0, 1].

    said: stances.  Source: [r]; who does not know what to think persuades nobody to stop
    thinking something.
    """
    return np.abs(said)


def confirmation(credence: FloatArray, place: FloatArray, *, bias: float) -> FloatArray:
    """Return what confirmation bias leaves of a message, in [1 - bias, 1].

    credence: the persona's, on the message's claim.  place: the message's position.  Only a
    message from the other side of 0.5 is damped, by how firm the credence is.
    Source: biased assimilation (Lord, Ross & Lepper 1979); the line is [r].
    """
    opposed = (place - 0.5) * (credence - 0.5) < 0.0
    return np.where(opposed, 1.0 - bias * np.abs(stance(credence)), 1.0)


def repetition(
    heard: FloatArray, claim: IntArray, said: FloatArray, *, decay: float
) -> FloatArray:
    """Return what having heard it before leaves of a message: decay ** times heard, in [0, 1].

    heard: (A, C, 2) times each claim was met before, affirmed and denied.  claim: (A, F).
    said: (A, F) stances; 0 or more affirms.  decay in [0, 1].  Earlier slots of the same feed
    count as heard, so copies in one feed are worth no more than copies over time, and the sum
    over all repetitions is below 1 / (1 - decay) of the first.
    """
    turns, claims = heard.shape[:2]
    rows = np.arange(turns)
    count = np.concatenate([heard, np.zeros((turns, 1, 2))], axis=1)
    side = np.where(said >= 0.0, 0, 1)
    times = np.zeros(claim.shape)
    for slot in range(claim.shape[1]):
        place = np.where(claim[:, slot] >= 0, claim[:, slot], claims)
        times[:, slot] = count[rows, place, side[:, slot]]
        count[rows, place, side[:, slot]] += 1.0
    return elementary.power(decay, times)


def recollection(
    recalled_claim: IntArray, recalled_stance: FloatArray, score: FloatArray, *, claims: int
) -> FloatArray:
    """Return the mean stance of recalled memories on each claim, weighted by score.

    recalled_claim, recalled_stance, score: (A, K).  Returns (A, C) in [-1, 1], 0 without any.
    """
    weight = per_claim(score, recalled_claim, claims=claims)
    total = per_claim(score * recalled_stance, recalled_claim, claims=claims)
    return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0.0)


def resonance(memory: FloatArray, said: FloatArray, *, strength: float) -> FloatArray:
    """Return how recalled memories amplify or mute a message, in [1 - strength, 1 + strength].

    memory: (A, F) `recollection` on the message's claim.  said: (A, F) the message's stance.
    """
    return 1.0 + strength * said * memory


def shares(openness: FloatArray, claim: IntArray, *, persuasion: float, claims: int) -> FloatArray:
    """Return the share of the gap that each message closes, in [0, persuasion]; 0 at claim -1.

    openness: (A, F) product of attention, credibility, gate, bias, repetition, receptivity and
    resonance, >= 0; above 1 it counts as 1.  All messages on one claim together close at most
    `persuasion` of the gap: above that they are scaled down in proportion.
    """
    share = persuasion * np.minimum(1.0, openness)
    total = per_claim(share, claim, claims=claims)
    scale = np.divide(persuasion, total, out=np.ones_like(total), where=total > persuasion)
    return np.where(claim >= 0, share * of_claim(scale, claim), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """What one turn does to the credences.

    change: (A, C), signed.  contribution: (A, F), each slot's part of the change of its claim;
    what is left is the pull back to the first credence.
    """

    change: FloatArray
    contribution: FloatArray


def move(
    *,
    credence: FloatArray,
    initial: FloatArray,
    claim: IntArray,
    place: FloatArray,
    judged: FloatArray,
    share: FloatArray,
    peer: BoolArray,
    influence: float,
    stubbornness: float,
) -> Movement:
    """Return how messages, peers and a persona's own past move its credences.

    credence, initial: (A, C) now and at tick 0.  claim, place, judged, share: (A, F) claim,
    position x, position y in the persona's own judgement, and persuasive share of each slot.
    peer: (A, F) slots of peers within bounded confidence.

    b' = b + k * [sum_f share_f (y_f - b) + influence * mean_peers(x_f - b)
                  + stubbornness * (b_0 - b)],  k = 1 / max(1, sum of the shares in force)

    so b' is a weighted mean of b, b_0, the x_f and the y_f. With share = 0 and stubbornness = 0
    this is DeGroot (1974); with stubbornness it is Friedkin & Johnsen (1990); with `peer` limited
    to near positions it is bounded confidence (Hegselmann & Krause 2002).
    """
    claims = credence.shape[1]
    count = per_claim(peer.astype(np.float64), claim, claims=claims)
    present = np.where(count > 0.0, influence, 0.0)
    in_force = per_claim(share, claim, claims=claims) + present + stubbornness
    scale = 1.0 / np.maximum(1.0, in_force)
    each = influence / np.maximum(1.0, count)
    now = of_claim(credence, claim)
    pull = share * (judged - now) + np.where(peer, of_claim(each, claim), 0.0) * (place - now)
    contribution = np.where(claim >= 0, of_claim(scale, claim) * pull, 0.0)
    change = per_claim(contribution, claim, claims=claims)
    return Movement(
        change=change + scale * stubbornness * (initial - credence), contribution=contribution
    )


def near(credence: FloatArray, place: FloatArray, *, confidence: float) -> BoolArray:
    """Return whether a position is close enough to be heard (bounded confidence).

    The bound itself is close enough, with a margin of `UNMOVED` for rounding.
    Source: Deffuant et al. (2000); Hegselmann & Krause (2002).
    """
    return np.asarray(np.abs(place - credence) <= confidence + UNMOVED)


def spill(change: FloatArray, weights: FloatArray, *, spillover: float) -> FloatArray:
    """Return how changed credences move the dimensions, (A, D) in [-1, 1].

    change: (A, C).  weights: (C, D), [-1, 1].  delta_d = spillover * sum_c weights[c, d] delta_c.
    """
    total = np.zeros((len(change), weights.shape[1]))
    for claim in range(len(weights)):
        total += change[:, claim, None] * weights[claim]
    return np.clip(spillover * total, -1.0, 1.0)


def causes(change: FloatArray, contribution: FloatArray, claim: IntArray) -> IntArray:
    """Return the slot that did most for each claim's change, (A, C); -1 for none.

    change: (A, C).  contribution, claim: (A, F).  Only slots that pulled in the direction of the
    change count; of equals the first.
    """
    found = np.full(change.shape, -1, dtype=np.int64)
    if contribution.shape[1] == 0:
        return found
    for c in range(change.shape[1]):
        helped = np.where(claim == c, contribution, 0.0) * np.sign(change[:, c, None])
        slot = np.argmax(helped, axis=1)
        best = np.take_along_axis(helped, slot[:, None], axis=1)[:, 0]
        found[:, c] = np.where(best > 0.0, slot, -1)
    return found


def spilled_causes(
    change: FloatArray, moved: FloatArray, weights: FloatArray, cause: IntArray
) -> IntArray:
    """Return the slot that did most for each dimension's change, (A, D); -1 for none.

    change: (A, C) of the credences.  moved: (A, D) applied changes of the dimensions.
    weights: (C, D).  cause: (A, C) from `causes`.  It is the cause of the claim that contributed
    most in the direction of the dimension's change; of equals the first.
    """
    found = np.full(moved.shape, -1, dtype=np.int64)
    if change.shape[1] == 0:
        return found
    for d in range(moved.shape[1]):
        helped = change * weights[:, d] * np.sign(moved[:, d, None])
        claim = np.argmax(helped, axis=1)[:, None]
        best = np.take_along_axis(helped, claim, axis=1)[:, 0]
        slot = np.take_along_axis(cause, claim, axis=1)[:, 0]
        found[:, d] = np.where(best > 0.0, slot, -1)
    return found


def sharpen(belief: FloatArray, before: FloatArray, *, consolidation: float) -> FloatArray:
    """Return beliefs after thinking them over, in [0, 1]; NaN where nothing is revised.

    belief, before: (A, T) now and at the last reflection.  What moved goes on a little in the
    same direction, least near the ends:  b + consolidation (b - before) 4 b (1 - b).
    Source: thought polarises attitudes (Tesser 1978); the form is [r].
    """
    moved = belief - before
    revised = belief + consolidation * moved * 4.0 * belief * (1.0 - belief)
    revised = np.clip(revised, 0.0, 1.0)
    return np.where((np.abs(moved) < UNMOVED) | (revised == belief), np.nan, revised)


def most_moved(belief: FloatArray, before: FloatArray) -> IntArray:
    """Return the target that moved most, (A,); the lowest index of equals, -1 for none.

    belief, before: (A, T).
    """
    moved = np.abs(belief - before)
    target = np.argmax(moved, axis=1)
    largest = np.take_along_axis(moved, target[:, None], axis=1)[:, 0]
    return np.where(largest < UNMOVED, -1, target)
