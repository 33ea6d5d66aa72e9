"""What a turn leaves in memory: in the first person, what was done and about what.

Used for the turns of every model (method.md 12, "The memory text of a turn").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import opinion
from simulation.models.base import ACTIONS, ON_A_PERSONA, ON_A_POST
from simulation.models.words import memory_phrases as forms
from simulation.models.words.speech import capital
from simulation.models.words.text import MIXED, NAME_LENGTH, bands, bare, plain, quoted, shorten
from simulation.rng import Streams

if TYPE_CHECKING:
    from simulation.models.base import IntArray, Reactions, TurnRequests

MEMORY_WORDS = 300  # code points of the words that a memory keeps
_ITEM_LENGTH = 70  # code points of a post or ad in a memory
_NO_CLAIM = 5  # the list for what is about no claim, after the five bands
_APPROVING = ("like", "upvote", "repost", "follow")
_SEED = Streams(0)  # which form of words is taken may be the same in runs of all seeds


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
    objects = _Objects(requests)
    slots = _slots(requests, reactions)
    felt = _feelings(requests, reactions, slots)
    columns = (reactions.action, slots, reactions.persona, reactions.claim, felt, draws)
    texts = []
    for i, (code, slot, persona, claim, feeling, draw) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        action = ACTIONS[code]
        what = objects.of(i, action=action, slot=slot, persona=persona, claim=claim)
        words = plain(reactions.words[i])
        deeds = forms.IDLE if action == "ignore" and slot < 0 else forms.DEEDS[action]
        thoughts = (forms.PASSING if action == "ignore" else forms.FEELINGS)[feeling]
        join = ", though " if _against_itself(action, feeling) else "; "
        texts.append(_text(deeds, what, words, join, thoughts, draw))
    return texts


def _text(
    deeds: tuple[tuple[str, str], ...],
    what: str,
    words: str,
    join: str,
    thoughts: tuple[str, ...],
    draw: int,
) -> str:
    """Return the deed, and the words said or what was thought."""
    draw, which = divmod(draw, len(deeds))
    before, after = deeds[which]
    draw, which = divmod(draw, len(forms.MOMENTS))
    deed = capital(forms.MOMENTS[which] + before + what + after)
    if words:
        return deed + ": " + shorten(words, MEMORY_WORDS)
    return deed + join + thoughts[draw % len(thoughts)] + "."


def _against_itself(action: str, feeling: int) -> bool:
    """Return whether a deed says the opposite of what was felt; models may choose so."""
    if action in _APPROVING:
        return MIXED < feeling < _NO_CLAIM
    return action == "downvote" and feeling < MIXED


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
    match = np.isin(code, [ACTIONS.index(name) for name in ON_A_POST]) & on_post
    match |= np.isin(code, [ACTIONS.index(name) for name in ON_A_PERSONA]) & by_author
    match |= (code == ACTIONS.index("ignore")) & used
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


class _Objects:
    """How the things that turns are about are called; each is put in words once per batch."""

    def __init__(self, requests: TurnRequests) -> None:
        cast = requests.cast
        self._requests = requests
        self._sponsored = requests.feed.sponsored
        self._question = requests.feed.question
        feed = requests.feed
        self._shared = feed.outside & (feed.author >= 0)  # the message of another, passed on
        self._brand = bare(cast.brand, NAME_LENGTH) or "this"
        self._topics = [quoted(text) or self._brand for text in cast.claim_texts]
        self._topics.append(self._brand)  # claim -1
        self._items: dict[tuple[int, str], str] = {}
        self._post = requests.feed.post
        self._text = requests.feed.text

    def of(self, i: int, *, action: str, slot: int, persona: int, claim: int) -> str:
        """Return the object of the i-th turn's deed."""
        if action in ("post", "complain"):
            return self._topics[claim]
        if action in ("buy", "reject"):
            return self._brand
        if action in ON_A_PERSONA:
            name = self._name(i, slot, persona)
            return name if action == "follow" else name + " about " + self._topics[claim]
        if slot >= 0:
            return self._item(i, slot)
        return self._proposition(i)

    def _name(self, i: int, slot: int, persona: int) -> str:
        feed, cast = self._requests.feed, self._requests.cast
        if slot >= 0 and persona in (-1, int(feed.author[i, slot])):
            name = feed.source_names(int(feed.post[i, slot]))
        else:
            name = cast.ids[persona] if persona >= 0 else ""
        return bare(name, NAME_LENGTH) or "somebody"

    def _item(self, i: int, slot: int) -> str:
        post = int(self._post[i, slot])
        noun = "post"
        if self._sponsored[i, slot]:
            noun = "ad"
        elif self._question[i, slot]:
            noun = "question"
        elif self._shared[i, slot]:
            noun = "message"
        known = self._items.get((post, noun))
        if known is None:
            text = quoted(self._requests.text(int(self._text[i, slot])), _ITEM_LENGTH)
            known = _item(self._name(i, slot, -1), noun, text)
            self._items[post, noun] = known
        return known

    def _proposition(self, i: int) -> str:
        text = quoted(self._requests.text(int(self._requests.stimulus[i])), _ITEM_LENGTH)
        return text or self._brand


def _item(name: str, noun: str, text: str) -> str:
    """Return how an item is called; a message that a persona shares is not that persona's."""
    told = " " + text if text else ""
    return f"the message{told} shared by {name}" if noun == "message" else f"{name}'s {noun}{told}"
