"""Perceive and recall: who takes a turn, what reaches it, what comes back. Changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simulation import feed, prompts
from simulation.mind.recency import score
from simulation.models.base import (
    ACTION_CODE,
    ON_A_POST,
    AttitudesView,
    FeedView,
    RecalledView,
    TurnRequests,
)
from simulation.posts import KIND_CODE
from simulation.recall import PATHS, PERSONAL
from simulation.regards import BRAND
from simulation.regards.views import Views
from simulation.turn.columns import taken
from simulation.turn.feel import feel
from simulation.turn.recollect import recollect

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.active import Controller
    from simulation.models.base import Cast
    from simulation.recall import Recalled
    from simulation.records import BoolArray, FloatArray, IntArray
    from simulation.rng import Streams
    from simulation.scenario import Scenario
    from simulation.search import Decisions
    from simulation.turn.feel import Feelings
    from simulation.world import Event, World

_PERSONAL = [PATHS.index(name) for name in PERSONAL]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """The turns of a tick before anyone has reacted.

    decisions: of the gate, on the way to what was recalled.  feelings: after the stimulus; None
    without personality.
    """

    tick: int
    feeds: feed.Feeds
    recalled: Recalled
    decisions: Decisions
    feelings: Feelings | None
    requests: TurnRequests

    @property
    def rows(self) -> IntArray:
        """Persona rows that take a turn, (A,), ascending."""
        return self.requests.row


def arrive(world: World, streams: Streams, tick: int) -> IntArray:
    """Publish this tick's stimuli and draw who is shown each; return their post ids."""
    events = [(i, event) for i, event in enumerate(world.events) if event.tick == tick]
    count = len(events)
    none = np.full(count, -1, dtype=np.int64)
    kinds = ["question" if event.kind == "question" else "post" for _, event in events]
    ids = world.posts.publish(
        {
            "tick": np.full(count, tick, dtype=np.int64),
            "author": none,
            "kind": np.array([KIND_CODE[kind] for kind in kinds], dtype=np.int64),
            "parent": none,
            "claim": np.array([event.claim for _, event in events], dtype=np.int64),
            "text": world.texts.intern([event.text for _, event in events]),
            "addressee": none,
            "stimulus": np.array([i for i, _ in events], dtype=np.int64),
        },
        {
            "stance": np.array([event.stance for _, event in events], dtype=np.float64),
            "credibility": np.array([event.credibility for _, event in events], dtype=np.float64),
        },
    )
    for post, (_, event) in zip(ids.tolist(), events, strict=True):
        world.shown[post] = shown_to(world.cast, streams, event)
    return ids


def shown_to(cast: Cast, streams: Streams, event: Event) -> BoolArray:
    """Return who is shown an event, (P,): a draw of its own stream, within its audience."""
    draw = streams.uniform("reach", tick=event.tick, keys=cast.keys, index=event.index)
    return np.asarray(event.audience & (draw < event.reach))


def prepare(
    world: World, scenario: Scenario, streams: Streams, tick: int, *, controller: Controller
) -> Turns:
    """Return the turns of `tick`: who is active, its feed, its memories, what it may do."""
    draw = streams.uniform("activity", tick=tick, keys=world.cast.keys)
    rows = np.flatnonzero(draw < world.activity).astype(np.int64)
    feeds = feed.build(
        posts=world.posts,
        offsets=world.network.offsets,
        followees=world.network.target,
        shown=world.shown,
        rows=rows,
        last_turn=world.last_turn[rows],
        tick=tick,
        ranking=feed.Ranking(**scenario.feed.model_dump()),
        similarity=_similarity(world),
    )
    stimulus = _text_of(world, feeds.post)[:, 0]
    stimulus = np.where(stimulus >= 0, stimulus, world.proposition)
    feelings = feel(world, rows, stimulus, world.state[rows])
    recalled, decisions = recollect(
        world, scenario, streams, tick, rows, stimulus, feelings, controller
    )
    requests = _requests(world, scenario, streams, tick, rows, feeds, recalled, stimulus)
    if feelings is not None:
        requests = _with_state(requests, feelings)
    return Turns(
        tick=tick,
        feeds=feeds,
        recalled=recalled,
        decisions=decisions,
        feelings=feelings,
        requests=requests,
    )


def _with_state(requests: TurnRequests, feelings: Feelings) -> TurnRequests:
    felt = replace(requests, state=feelings.state, prompt=lambda i: prompts.turn(felt, i))
    return felt


def _similarity(world: World) -> Callable[[IntArray, IntArray], FloatArray]:
    def clipped(rows: IntArray, posts: IntArray) -> FloatArray:
        texts = world.posts.integers("text")[posts]
        cosine = world.texts.cosine(world.block[rows], texts)
        return np.asarray(np.clip(cosine, 0.0, 1.0))

    return clipped


def _text_of(world: World, posts: IntArray) -> IntArray:
    return taken(world.posts.integers("text"), posts)


def _requests(
    world: World,
    scenario: Scenario,
    streams: Streams,
    tick: int,
    rows: IntArray,
    feeds: feed.Feeds,
    recalled: Recalled,
    stimulus: IntArray,
) -> TurnRequests:
    view = _feed_view(world, rows, feeds.post)
    friend = _friend(world, streams, tick, rows)
    requests = TurnRequests(
        cast=world.cast,
        tick=tick,
        horizon=scenario.horizon,
        row=rows,
        tier=world.tier[rows],
        turn_no=world.turns[rows] + 1,
        beliefs=world.beliefs[rows],
        initial=world.initial[rows],
        heard=world.heard[rows],
        decided=world.decided[rows] * scenario.final_actions,
        feed=view,
        recalled=_recalled_view(world, rows, recalled),
        allowed=_allowed(scenario, view, friend, world.decided[rows]),
        friend=friend,
        stimulus=stimulus,
        text=world.texts.__getitem__,
        prompt=lambda i: prompts.turn(requests, i),
        attitudes=_attitudes(world, rows, view, stimulus),
    )
    return requests


def _attitudes(
    world: World, rows: IntArray, view: FeedView, stimulus: IntArray
) -> AttitudesView | None:
    """Return what personas have settled about the brand and about what is in their feeds."""
    regards = world.regards
    if regards is None:
        return None
    none = np.full(view.post.shape, -1, np.int64)
    claim = np.where(view.claim >= 0, regards.claim(view.claim), none)
    peer = np.where(view.author >= 0, regards.peer(view.author), none)
    objects = np.concatenate([np.full((len(rows), 1), BRAND), claim, peer], axis=1)
    owner = np.broadcast_to(rows[:, None], objects.shape)
    felt = regards.toward(owner.ravel(), objects.ravel()).reshape(objects.shape)
    slots = view.post.shape[1]
    return AttitudesView(
        brand=felt[:, 0],
        claim=felt[:, 1 : slots + 1],
        peer=felt[:, slots + 1 :],
        words=Views(regards, world.texts, row=rows, objects=objects, query=stimulus),
    )


def _feed_view(world: World, rows: IntArray, post: IntArray) -> FeedView:
    posts = world.posts
    author = taken(posts.integers("author"), post)
    event = taken(posts.integers("stimulus"), post)
    sponsored = np.array([e.sponsored for e in world.events] + [False])
    asked = taken(posts.integers("kind"), post) == KIND_CODE["question"]
    to_me = taken(posts.integers("addressee"), post) == rows[:, None]
    item = post >= 0
    root = taken(posts.integers("root"), post)
    text = _text_of(world, post)
    relevance = np.zeros(post.shape)
    turn, slot = np.nonzero(item)
    relevance[turn, slot] = _similarity(world)(rows[turn], post[turn, slot])
    return FeedView(
        post=post,
        author=author,
        text=text,
        claim=taken(posts.integers("claim"), post),
        stance=taken(posts.floats("stance"), post, 0.0),
        credibility=taken(posts.floats("credibility"), post, 0.0),
        relevance=relevance,
        sponsored=sponsored[event] & item,
        question=item & asked & (to_me | (event >= 0)),
        outside=item & (taken(posts.integers("stimulus"), root) >= 0),
        followable=(author >= 0) & ~world.network.has(rows[:, None], author),
        origin=_origin(world, rows, post),
        source_names=lambda i: author_name(world, i),
    )


def _origin(world: World, rows: IntArray, post: IntArray) -> IntArray:
    """Return whose words each item shares or comments on, (A, F); -1 for nobody new to follow.

    rows: (A,).  post: (A, F), -1 in an unused slot.
    """
    posts = world.posts
    kind = taken(posts.integers("kind"), post)
    shares = np.isin(kind, [KIND_CODE[name] for name in ("repost", "quote", "comment")])
    first = taken(posts.integers("root"), taken(posts.integers("parent"), post))
    writer = np.where(shares, taken(posts.integers("author"), first), -1)
    known = (writer == rows[:, None]) | world.network.has(rows[:, None], writer)
    return np.where(known, -1, writer)


def author_name(world: World, post: int) -> str:
    """Return the persona id or the stimulus source that published a post."""
    author = int(world.posts.integers("author")[post])
    if author >= 0:
        return world.cast.ids[author]
    return world.events[int(world.posts.integers("stimulus")[post])].source


def _recalled_view(world: World, rows: IntArray, recalled: Recalled) -> RecalledView:
    store, place = world.memory, recalled.position
    here = place >= 0
    at = (rows[:, None], np.maximum(place, 0))
    weight = recalled.score
    if store.affect:
        product = score(recalled.recency, recalled.importance, recalled.relevance)
        weight = np.where(np.isin(recalled.path, _PERSONAL), product, weight)
    return RecalledView(
        text=np.where(here, store.text[at], -1),
        score=np.where(here, weight, 0.0),
        claim=np.where(here, store.claim[at], -1),
        stance=np.where(here, store.stance[at], 0.0),
        tick=np.where(here, store.tick[at], -1),
        valence=np.where(here, store.valence[at], 0.0) if store.affect else None,
    )


def _friend(world: World, streams: Streams, tick: int, rows: IntArray) -> IntArray:
    """Return one followee of each persona, drawn with the seed, or -1."""
    start, stop = world.network.offsets[rows], world.network.offsets[rows + 1]
    draw = streams.uniform("friend", tick=tick, keys=world.cast.keys[rows])
    place = start + np.floor(draw * (stop - start)).astype(np.int64)
    return taken(world.network.target, np.where(stop > start, place, -1))


def _allowed(scenario: Scenario, view: FeedView, friend: IntArray, decided: IntArray) -> BoolArray:
    """Return which actions are possible now, (A, 15), in the order of `ACTIONS`."""
    allowed = np.zeros((len(friend), len(ACTION_CODE)), dtype=bool)
    has_post = (view.post >= 0).any(axis=1)
    possible = dict.fromkeys(ON_A_POST, has_post)
    possible["answer"] = view.question.any(axis=1)
    possible["follow"] = (view.followable | (view.origin >= 0)).any(axis=1)
    possible["ask_peer"] = (friend >= 0) | (view.author >= 0).any(axis=1)
    if scenario.final_actions:
        possible["buy"] = possible["reject"] = decided == 0
    for action in scenario.actions:
        allowed[:, ACTION_CODE[action]] = possible.get(action, True)
    allowed[~allowed.any(axis=1), ACTION_CODE["ignore"]] = True
    return allowed
