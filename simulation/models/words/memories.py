"""What a turn leaves in memory: in the first person, what was done and about what.

Used for the turns of every model (method.md 12, "The memory text of a turn").

A text has four parts: how it starts, what it is about, how the deed ends, and the words said or
what was thought.  Which of them a turn takes is told for a whole batch as numbers, places in
lists of strings; the strings are joined at last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import opinion
from simulation.models.base import ACTION_CODE, ACTIONS, ON_A_PERSONA, ON_A_POST
from simulation.models.words import memory_phrases as forms
from simulation.models.words.objects import objects
from simulation.models.words.text import MIXED, bands, capital, plain, shorten
from simulation.rng import Streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.base import IntArray, Reactions, TurnRequests
    from simulation.rng import UIntArray

MEMORY_WORDS = 300  # code points of the words that a memory keeps
_NO_CLAIM = 5  # the list for what is about no claim, after the five bands
_APPROVING, _ON_A_POST, _ON_A_PERSONA = (
    np.array([action in some for action in ACTIONS])
    for some in (("like", "upvote", "repost", "follow"), ON_A_POST, ON_A_PERSONA)
)
_IGNORE, _DOWNVOTE = ACTION_CODE["ignore"], ACTION_CODE["downvote"]
_SEED = Streams(0)  # which form of words is taken may be the same in runs of all seeds

# The lists of deeds, by action, and the one for an empty feed; those of thoughts, by whether
# nothing was done and by feeling. Of each list its length, and how many forms stand before it.
_DEEDS = (*(forms.DEEDS[action] for action in ACTIONS), forms.IDLE)
_THOUGHTS = (*forms.FEELINGS, *forms.PASSING)
_DEED_COUNT, _THOUGHT_COUNT = (
    np.array([len(some) for some in lists], dtype=np.uint64) for lists in (_DEEDS, _THOUGHTS)
)
_DEED_START, _THOUGHT_START = (np.cumsum(count) - count for count in (_DEED_COUNT, _THOUGHT_COUNT))
_MOMENT_COUNT = np.uint64(len(forms.MOMENTS))
_STARTS = [
    capital(moment + before) for pairs in _DEEDS for before, _ in pairs for moment in forms.MOMENTS
]
_AFTERS = [after for pairs in _DEEDS for _, after in pairs]
_ENDS = [
    join + thought + "."
    for join in ("; ", ", though ")
    for thoughts in _THOUGHTS
    for thought in thoughts
]


def memory_texts(
    requests: TurnRequests, reactions: Reactions, *, streams: Streams = _SEED
) -> list[str]:
    """Return the memory text of each turn.

    The same turn has the same text whatever batch it stands in.  Words are cut to
    `MEMORY_WORDS` code points.

    streams: draws the forms; without it they depend on persona and tick only.
    """
    keys = requests.cast.keys[requests.row]
    draws = streams.bits("memory_words", tick=requests.tick, keys=keys)
    slots = _slots(requests, reactions)
    felt = _feelings(requests, reactions, slots)
    start, after, end = _places(reactions.action, slots, felt, draws)
    called, which = objects(requests, reactions, slots)
    parts = (
        _taken(_STARTS, start),
        _taken(called, which),
        _taken(_AFTERS, after),
        _said(reactions.words, _taken(_ENDS, end)),
    )
    return [f"{a}{b}{c}{d}" for a, b, c, d in zip(*parts, strict=True)]


def _taken(strings: Sequence[str], place: IntArray) -> list[str]:
    """Return the strings at some places."""
    return [strings[at] for at in place.tolist()]


def _said(words: Sequence[str], thoughts: list[str]) -> list[str]:
    """Return what was thought, but where something was said, that."""
    for i, text in enumerate(words):
        if text and (line := plain(text)):
            thoughts[i] = ": " + shorten(line, MEMORY_WORDS)
    return thoughts


def _places(
    action: IntArray, slots: IntArray, felt: IntArray, draws: UIntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the places of each turn in `_STARTS`, `_AFTERS` and `_ENDS`, (A,) each.

    A draw is used up digit by digit, in mixed radix: the deed, the moment, the thought.
    """
    ignored = action == _IGNORE
    deeds = np.where(ignored & (slots < 0), len(ACTIONS), action)
    thoughts = felt + ignored * len(forms.FEELINGS)
    draws, deed = np.divmod(draws, _DEED_COUNT[deeds])
    draws, moment = np.divmod(draws, _MOMENT_COUNT)
    after = _DEED_START[deeds] + deed
    end = _THOUGHT_START[thoughts] + draws % _THOUGHT_COUNT[thoughts]
    end = end.astype(np.int64) + _against_itself(action, felt) * (len(_ENDS) // 2)
    return (after * _MOMENT_COUNT + moment).astype(np.int64), after.astype(np.int64), end


def _against_itself(action: IntArray, felt: IntArray) -> IntArray:
    """Return 1 where a deed says the opposite of what was felt; models may choose so."""
    against = _APPROVING[action] & (felt > MIXED) & (felt < _NO_CLAIM)
    against |= (action == _DOWNVOTE) & (felt < MIXED)
    return against.astype(np.int64)


def _slots(requests: TurnRequests, reactions: Reactions) -> IntArray:
    """Return the feed slot that each reaction is about, (A,); -1 for none.

    Of an action on a post, where that post stands; of one on a persona, where it is the author;
    of `ignore` the first slot, which is what the persona was looking at.
    """
    feed = requests.feed
    if feed.post.shape[1] == 0:
        return np.full(len(requests), -1, dtype=np.int64)
    used = feed.post >= 0
    on_post = (feed.post == reactions.post[:, None]) & used
    by_author = (feed.author == reactions.persona[:, None]) & used & (feed.author >= 0)
    by_author |= (feed.origin == reactions.persona[:, None]) & used & (feed.origin >= 0)
    code = reactions.action[:, None]
    match = _ON_A_POST[code] & on_post
    match |= _ON_A_PERSONA[code] & by_author
    match |= (code == _IGNORE) & used
    return np.where(match.any(axis=1), np.argmax(match, axis=1), -1)


def _feelings(requests: TurnRequests, reactions: Reactions, slot: IntArray) -> IntArray:
    """Return the list of feelings of each turn, (A,): a band, or `_NO_CLAIM`.

    About an item on the same claim it is the band of the agreement with it: who denies a claim
    agrees with a firm denial of it. Else it is the band of the stance.
    """
    feed, claim = requests.feed, reactions.claim
    turn = np.arange(len(requests))
    agreement = reactions.stance
    if feed.post.shape[1] > 0:
        same = (slot >= 0) & (feed.claim[turn, slot] == claim)
        felt = opinion.agreement(reactions.stance, feed.stance[turn, slot])
        agreement = np.where(same, felt, reactions.stance)
    return np.where(claim >= 0, bands(agreement), _NO_CLAIM)
