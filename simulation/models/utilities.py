"""What a persona of the rule model does: a logit choice, utilities linear in named features.

U(action) = sum over features of weight * feature; the table below holds every weight that is not
zero. The action taken is argmax U / temperature + Gumbel noise among the possible ones, which is
the multinomial logit model (McFadden 1974).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation.models.base import ACTION_CODE, ACTIONS, ON_A_PERSONA, ON_A_POST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulation.models.base import BoolArray, FloatArray, IntArray

# Features of the item that an action is about. An action about no item has 0 for all of them but
# `conviction`, which is then about its topic.
#   interest    attention to the item, [0, 1]
#   support     agreement with it, [0, 1]: the positive part of (2 b - 1) * stance
#   opposition  the negative part, [0, 1]
#   conviction  |2 b - 1| of its claim, [0, 1]
#   novelty     1 / (1 + times its claim was heard on its side), [0, 1], 0 without a claim
#   peer        1 when a persona wrote it
#   liking      settled attitude to who wrote it, [-1, 1]; this and the next two are 0 without
#               memory units (docs/attitudes.md)
#   settled     settled attitude to its claim, times its stance, [-1, 1]
# Features of the persona:
#   voice       disposition to speak, plus unexplained differences
#   grievance   the larger of lost trust and denial of the topic, [0, 1]
#   buying      logistic((appeal - buy_threshold) / 0.08), (0, 1)
#   rejecting   logistic((reject_threshold - appeal) / 0.08), (0, 1)
#   standing    settled attitude to the brand, [-1, 1]
ITEM_FEATURES = (
    "interest",
    "support",
    "opposition",
    "conviction",
    "novelty",
    "peer",
    "liking",
    "settled",
)
PERSONA_FEATURES = ("voice", "grievance", "buying", "rejecting", "standing")

UTILITIES: dict[str, dict[str, float]] = {
    "ignore": {"constant": 0.80, "interest": -0.45, "conviction": -0.10},
    "like": {
        "constant": -0.25,
        "interest": 0.35,
        "support": 1.10,
        "opposition": -4.00,
        "liking": 0.20,
        "settled": 0.20,
    },
    "upvote": {
        "constant": -0.40,
        "interest": 0.35,
        "support": 1.00,
        "opposition": -4.00,
        "liking": 0.20,
        "settled": 0.20,
    },
    "downvote": {
        "constant": -0.80,
        "interest": 0.20,
        "support": -4.00,
        "opposition": 1.60,
        "liking": -0.20,
        "settled": -0.20,
    },
    "follow": {
        "constant": -0.80,
        "interest": 0.30,
        "support": 1.00,
        "opposition": -4.00,
        "voice": 0.10,
        "liking": 0.30,
    },
    "repost": {
        "constant": -0.85,
        "interest": 0.30,
        "support": 0.90,
        "opposition": -4.00,
        "novelty": 0.15,
        "voice": 0.20,
        "liking": 0.20,
        "settled": 0.20,
    },
    "answer": {"constant": 1.15, "interest": 0.20, "conviction": 0.20, "voice": 0.40},
    "post": {
        "constant": -1.00,
        "interest": 0.15,
        "conviction": 0.70,
        "novelty": 0.20,
        "voice": 0.50,
    },
    "comment": {
        "constant": -0.90,
        "interest": 0.40,
        "conviction": 0.60,
        "novelty": 0.15,
        "voice": 0.40,
    },
    "reply": {
        "constant": -1.20,
        "interest": 0.40,
        "conviction": 0.60,
        "peer": 0.25,
        "voice": 0.40,
    },
    "quote": {
        "constant": -1.15,
        "interest": 0.35,
        "conviction": 0.60,
        "novelty": 0.15,
        "voice": 0.40,
    },
    "ask_peer": {
        "constant": -1.05,
        "interest": 0.20,
        "conviction": -0.50,
        "novelty": 0.30,
        "voice": 0.30,
    },
    "complain": {"constant": -1.50, "grievance": 1.30, "voice": 0.30, "standing": -0.20},
    "buy": {"constant": -3.30, "interest": 0.20, "buying": 3.70, "standing": 0.30},
    "reject": {"constant": -3.30, "interest": 0.20, "rejecting": 3.70, "standing": -0.30},
}

# Deeds that say yes to an item, and from which agreement with it on they are out of character.
APPROVING = ("like", "upvote", "repost", "follow")
OUT_OF_CHARACTER = 0.15  # agreement: the band in which words speak for or against (words.text)

# Which item each action is about: a name of `Slots`; the rest look at the chosen item.
ABOUT = {
    "answer": "question",
    "downvote": "disputed",
    "follow": "followable",
    "ask_peer": "peer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """The feed slots that a turn's actions can be about, each (A,), -1 for none.

    chosen: the item that holds the attention.  question: the first to be answered.  disputed:
    what is disagreed with most.  followable: the first through which somebody can be followed.
    peer: the chosen one if a persona wrote it, else the first that a persona wrote.
    """

    chosen: IntArray
    question: IntArray
    disputed: IntArray
    followable: IntArray
    peer: IntArray

    def of(self, action: str) -> IntArray:
        """Return the slot that an action is about."""
        found: IntArray = getattr(self, ABOUT.get(action, "chosen"))
        return found


def first(mask: BoolArray) -> IntArray:
    """Return the first true place of each row, (A,); -1 for none."""
    return largest(mask.astype(np.float64), mask)


def largest(value: FloatArray, mask: BoolArray) -> IntArray:
    """Return the place of the largest value under the mask, (A,); the first of equals, or -1."""
    if mask.shape[1] == 0:
        return np.full(len(mask), -1, dtype=np.int64)
    place = np.argmax(np.where(mask, value, -np.inf), axis=1)
    return np.where(mask.any(axis=1), place, -1)


def at(values: FloatArray, slot: IntArray) -> FloatArray:
    """Return each row's value at its slot, (A,); 0 where the slot is -1."""
    padded = np.concatenate([values, np.zeros((len(values), 1))], axis=1)
    return np.asarray(padded[np.arange(len(slot)), slot])


def utilities(
    items: Mapping[str, FloatArray],
    personal: Mapping[str, FloatArray],
    slots: Slots,
    topic_conviction: FloatArray,
) -> FloatArray:
    """Return the utility of every action, (A, 15), in order of `ACTIONS`.

    items: the features of each feed slot, (A, F).  personal: features of the persona, (A,).
    topic_conviction: (A,) what `conviction` is for an action about no item, and for a post.
    """
    total = np.zeros((len(topic_conviction), len(ACTIONS)))
    for name, weights in UTILITIES.items():
        slot = slots.of(name)
        column = np.full(len(topic_conviction), weights["constant"])
        for feature, weight in weights.items():
            if feature in personal:
                column += weight * personal[feature]
            elif feature == "conviction" and name == "post":
                column += weight * topic_conviction
            elif feature == "conviction":
                column += weight * np.where(slot >= 0, at(items[feature], slot), topic_conviction)
            elif feature != "constant":
                column += weight * at(items[feature], slot)
        total[:, ACTION_CODE[name]] = column
    return total


def in_character(
    allowed: BoolArray, slots: Slots, felt: FloatArray, contrary: BoolArray
) -> BoolArray:
    """Return the allowed actions without deeds that contradict what a persona thinks, (A, 15).

    Nobody approves of an item that it disagrees with or that speaks against its own decision, and
    nobody votes down what it agrees with. Where nothing else is allowed, all stays.
    felt: (A, F) agreement with each item, [-1, 1].  contrary: (A, F) against its own decision.
    """
    kept = allowed.copy()
    against = contrary.astype(np.float64)
    for name in APPROVING:
        slot = slots.of(name)
        odd = (at(felt, slot) <= -OUT_OF_CHARACTER) | (at(against, slot) > 0.0)
        kept[:, ACTION_CODE[name]] &= ~odd
    odd = at(felt, slots.of("downvote")) >= OUT_OF_CHARACTER
    kept[:, ACTION_CODE["downvote"]] &= ~odd
    return np.where(kept.any(axis=1, keepdims=True), kept, allowed)


def possible(allowed: BoolArray, slots: Slots, friend: IntArray) -> BoolArray:
    """Return which actions are allowed and have a target, (A, 15).

    allowed: (A, 15).  friend: (A,) a persona to ask when no peer is in the feed, or -1.  Where
    nothing is left, it is `ignore`, the action that needs nothing.
    """
    result = allowed.copy()
    for name in (*ON_A_POST, *ON_A_PERSONA):
        there = slots.of(name) >= 0
        if name == "ask_peer":
            there = there | (friend >= 0)
        result[:, ACTION_CODE[name]] &= there
    result[~result.any(axis=1), ACTION_CODE["ignore"]] = True
    return result


def choose(
    utility: FloatArray, mask: BoolArray, noise: FloatArray, temperature: float
) -> IntArray:
    """Return the chosen action, (A,).

    utility, noise: (A, 15), noise standard Gumbel.  mask: (A, 15), at least one true per row.
    temperature > 0: the larger, the more noise counts.
    """
    return np.asarray(np.argmax(np.where(mask, utility / temperature + noise, -np.inf), axis=1))
