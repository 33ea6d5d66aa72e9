"""How the things that turns are about are called: a claim, the brand, somebody, an item.

Many turns are about the same thing; each is put in words once per batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.models.base import ACTION_CODE, ACTIONS, ON_A_PERSONA
from simulation.models.words.text import NAME_LENGTH, bare, quoted

if TYPE_CHECKING:
    from simulation.models.base import IntArray, Reactions, TurnRequests

_ITEM_LENGTH = 70  # code points of a post or ad in a memory
_NOBODY = "somebody"  # without a name
_NOUNS = ("post", "message", "question", "ad")
_MESSAGE, _QUESTION, _AD = (_NOUNS.index(noun) for noun in ("message", "question", "ad"))
_FOLLOW = ACTION_CODE["follow"]
_ITEM, _CLAIM, _PRODUCT, _PERSONA = range(4)  # what an action is about, by action
_KINDS = dict.fromkeys(ON_A_PERSONA, _PERSONA) | {
    "post": _CLAIM,
    "complain": _CLAIM,
    "buy": _PRODUCT,
    "reject": _PRODUCT,
}
_KIND = np.array([_KINDS.get(action, _ITEM) for action in ACTIONS])


def objects(
    requests: TurnRequests, reactions: Reactions, slots: IntArray
) -> tuple[list[str], IntArray]:
    """Return how things are called, and which of them each turn's deed is about, (A,).

    slots: (A,) the feed slot that each reaction is about, or -1.
    """
    cast = requests.cast
    brand = bare(cast.brand, NAME_LENGTH) or "this"
    topics = [*(quoted(text) or brand for text in cast.claim_texts), brand]  # the last: no claim
    called = topics.copy()
    which = np.full(len(requests), len(topics) - 1, dtype=np.int64)
    kind = _KIND[reactions.action]
    on_claim = kind == _CLAIM
    which[on_claim] = reactions.claim[on_claim] % len(topics)  # -1 is the last
    for turn in np.flatnonzero(kind == _PERSONA).tolist():
        which[turn] = len(called)
        called.append(_persona(requests, reactions, slots, topics, turn))
    for turns, name in (
        (np.flatnonzero((kind == _ITEM) & (slots >= 0)), _items),
        (np.flatnonzero((kind == _ITEM) & (slots < 0)), _propositions),
    ):
        names, place = name(requests, turns, slots[turns])
        which[turns] = len(called) + place
        called += [text or brand for text in names]  # a proposition may be without words
    return called, which


def _items(requests: TurnRequests, turns: IntArray, slots: IntArray) -> tuple[list[str], IntArray]:
    """Return how the items that turns are about are called, and about which each turn is.

    slots: (turns,) where they stand.  A post may be a question to one, and a post to another.
    """
    feed, at = requests.feed, (turns, slots)
    post, text = feed.post[at], feed.text[at]
    noun = np.where(feed.outside[at] & (feed.author[at] >= 0), _MESSAGE, 0)  # passed on
    noun = np.where(feed.question[at], _QUESTION, noun)
    noun = np.where(feed.sponsored[at], _AD, noun)
    _, first, place = np.unique(post * len(_NOUNS) + noun, return_index=True, return_inverse=True)
    columns = (post[first], noun[first], text[first])
    names = [
        _item(
            bare(feed.source_names(number), NAME_LENGTH) or _NOBODY,
            _NOUNS[kind],
            quoted(requests.text(words), _ITEM_LENGTH),
        )
        for number, kind, words in zip(*(c.tolist() for c in columns), strict=True)
    ]
    return names, place


def _item(name: str, noun: str, text: str) -> str:
    """Return how an item is called; a message that a persona shares is not that persona's."""
    told = " " + text if text else ""
    return f"the message{told} shared by {name}" if noun == "message" else f"{name}'s {noun}{told}"


def _propositions(
    requests: TurnRequests, turns: IntArray, _: IntArray
) -> tuple[list[str], IntArray]:
    """Return what turns without an item are about, and about which each turn is."""
    texts, place = np.unique(requests.stimulus[turns], return_inverse=True)
    return [quoted(requests.text(text), _ITEM_LENGTH) for text in texts.tolist()], place


def _persona(
    requests: TurnRequests, reactions: Reactions, slots: IntArray, topics: list[str], turn: int
) -> str:
    """Return who was followed, or who was asked about what."""
    feed, cast = requests.feed, requests.cast
    slot, persona = int(slots[turn]), int(reactions.persona[turn])
    name = cast.ids[persona] if persona >= 0 else ""
    if slot >= 0 and persona in (-1, int(feed.author[turn, slot])):
        name = feed.source_names(int(feed.post[turn, slot]))
    name = bare(name, NAME_LENGTH) or _NOBODY
    if reactions.action[turn] == _FOLLOW:
        return name
    return name + " about " + topics[int(reactions.claim[turn])]
