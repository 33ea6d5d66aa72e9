"""Reading and cutting batches of requests: which targets a turn has, and some rows of a batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from simulation.models.base import ACTIONS, ON_A_POST, AttitudesView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simulation.models.base import (
        FeedView,
        IntArray,
        ProbeRequests,
        RecalledView,
        ReflectionRequests,
        TurnRequests,
    )
    from simulation.providers.base import Prompt

Choices: TypeAlias = "dict[str, tuple[int, ...]]"
"""What a turn can do: action name -> its valid targets."""

FRONTIER = 1  # code of the tier whose models may rate importance


def choices(requests: TurnRequests, i: int) -> Choices:
    """Return what the i-th turn can do: action name -> its valid targets, in feed order.

    Targets are post ids for actions on a post, persona rows for actions on a persona and () for
    actions without a target. An allowed action that needs a target and has none is left out.
    Source: method.md 12, "Targets".
    """
    allowed = [ACTIONS[code] for code in requests.allowed[i].nonzero()[0].tolist()]
    posts = _distinct(post for post in requests.feed.post[i].tolist() if post >= 0)
    found: Choices = {}
    for action in allowed:
        if action in _OF_THEIR_OWN:
            ids = _OF_THEIR_OWN[action](requests, i)
        elif action in ON_A_POST:
            ids = posts
        else:
            found[action] = ()
            continue
        if ids:
            found[action] = ids
    return found


def _questions(requests: TurnRequests, i: int) -> tuple[int, ...]:
    """Return the posts that can be answered, in feed order."""
    slots = zip(requests.feed.post[i].tolist(), requests.feed.question[i].tolist(), strict=True)
    return _distinct(post for post, question in slots if question and post >= 0)


def _strangers(requests: TurnRequests, i: int) -> tuple[int, ...]:
    """Return who can be followed: of each item its author, then whose words it shares."""
    feed, own = requests.feed, int(requests.row[i])
    slots = zip(
        _peers(requests, i),
        feed.followable[i].tolist(),
        feed.origin[i].tolist(),
        strict=True,
    )
    near = (
        person
        for author, followable, origin in slots
        if author >= 0
        for person in (author if followable else -1, origin)
    )
    return _distinct(person for person in near if person >= 0 and person != own)


def _acquaintances(requests: TurnRequests, i: int) -> tuple[int, ...]:
    """Return who can be asked: the authors of the feed, then the friend."""
    known = (*_peers(requests, i), int(requests.friend[i]))
    return _distinct(person for person in known if person >= 0)


def _peers(requests: TurnRequests, i: int) -> list[int]:
    """Return the author of each slot of a feed, -1 where it is no other persona."""
    feed, own = requests.feed, int(requests.row[i])
    slots = zip(feed.post[i].tolist(), feed.author[i].tolist(), strict=True)
    return [author if post >= 0 and author != own else -1 for post, author in slots]


_OF_THEIR_OWN = {"answer": _questions, "follow": _strangers, "ask_peer": _acquaintances}
"""What can be aimed at by those actions to which not every post of the feed is open."""


def _distinct(values: Iterable[int]) -> tuple[int, ...]:
    """Return the values without repetition, each where it first stands."""
    return tuple(dict.fromkeys(values))


def target_name(action: str, target: int, ids: Sequence[str]) -> str:
    """Return how an answer names a target: a post by its number, a persona by its id."""
    return str(target) if action in ON_A_POST else ids[target]


def take_turns(requests: TurnRequests, rows: Sequence[int]) -> TurnRequests:
    """Return the turns at `rows` as a batch of their own; prompts follow their turn."""
    index = np.asarray(rows, dtype=np.int64)
    return replace(
        requests,
        row=requests.row[index],
        tier=requests.tier[index],
        turn_no=requests.turn_no[index],
        beliefs=requests.beliefs[index],
        initial=requests.initial[index],
        heard=requests.heard[index],
        decided=requests.decided[index],
        feed=_take_feed(requests.feed, index),
        recalled=_take_recalled(requests.recalled, index),
        allowed=requests.allowed[index],
        friend=requests.friend[index],
        stimulus=requests.stimulus[index],
        prompt=_renumbered(requests.prompt, index),
        state=None if requests.state is None else requests.state[index],
        attitudes=_take_attitudes(requests.attitudes, index),
    )


def _take_attitudes(attitudes: AttitudesView | None, index: IntArray) -> AttitudesView | None:
    """Return the attitudes at `index`."""
    if attitudes is None:
        return None
    words = attitudes.words
    return AttitudesView(
        brand=attitudes.brand[index],
        claim=attitudes.claim[index],
        peer=attitudes.peer[index],
        words=lambda j: words(int(index[j])),
    )


def _take_feed(feed: FeedView, index: IntArray) -> FeedView:
    """Return the feeds at `index`."""
    return replace(
        feed,
        post=feed.post[index],
        author=feed.author[index],
        text=feed.text[index],
        claim=feed.claim[index],
        stance=feed.stance[index],
        credibility=feed.credibility[index],
        relevance=feed.relevance[index],
        sponsored=feed.sponsored[index],
        question=feed.question[index],
        followable=feed.followable[index],
        outside=feed.outside[index],
        origin=feed.origin[index],
    )


def _take_recalled(recalled: RecalledView, index: IntArray) -> RecalledView:
    """Return the recalled memories at `index`."""
    return replace(
        recalled,
        text=recalled.text[index],
        score=recalled.score[index],
        claim=recalled.claim[index],
        stance=recalled.stance[index],
        tick=recalled.tick[index],
        valence=None if recalled.valence is None else recalled.valence[index],
    )


def take_reflections(requests: ReflectionRequests, rows: Sequence[int]) -> ReflectionRequests:
    """Return the reflections at `rows` as a batch of their own."""
    index = np.asarray(rows, dtype=np.int64)
    return replace(
        requests,
        row=requests.row[index],
        beliefs=requests.beliefs[index],
        before=requests.before[index],
        memories=[requests.memories[int(i)] for i in index],
        memory_views=[requests.memory_views[int(i)] for i in index if requests.memory_views],
        sharp=requests.sharp[index],
        prompt=_renumbered(requests.prompt, index),
    )


def take_probes(requests: ProbeRequests, rows: Sequence[int]) -> ProbeRequests:
    """Return the probe questions at `rows` as a batch of their own."""
    index = np.asarray(rows, dtype=np.int64)
    return replace(
        requests,
        row=requests.row[index],
        attribute=[requests.attribute[i] for i in rows],
        question=[requests.question[i] for i in rows],
        expected=[requests.expected[i] for i in rows],
        other=[requests.other[i] for i in rows],
        prompt=_renumbered(requests.prompt, index),
    )


def _renumbered(prompt: Callable[[int], Prompt], index: IntArray) -> Callable[[int], Prompt]:
    """Return `prompt` for a batch whose j-th row is the row `index[j]` of the first one."""
    return lambda j: prompt(int(index[j]))
