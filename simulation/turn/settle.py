"""Apply reactions: beliefs move, memories are written, posts and follows appear for the next tick.

A persona changes only its own rows. What it publishes is seen by others from the next tick on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation import records
from simulation.memory import KINDS as MEMORY_KINDS
from simulation.mind import affect, beliefs, importance
from simulation.models.base import ACTION_CODE, ACTIONS
from simulation.models.words import memory_texts
from simulation.posts import ENGAGEMENT_OF_ACTION, KIND_CODE, KIND_OF_ACTION
from simulation.turn import feelings as felt_of
from simulation.turn import rows as rows_of
from simulation.turn.columns import repeated, taken
from simulation.turn.feel import feel

if TYPE_CHECKING:
    from simulation.models.base import Reactions
    from simulation.records import FloatArray, IntArray, Rows
    from simulation.rng import Streams
    from simulation.scenario import Scenario
    from simulation.turn.feel import Feelings
    from simulation.turn.prepare import Turns
    from simulation.world import World

_FRONTIER = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What the turns of a tick changed. moved: (A,) largest applied change of each turn."""

    moved: FloatArray
    published: IntArray
    rows: tuple[Rows, ...]


def settle(
    world: World, scenario: Scenario, streams: Streams, turns: Turns, reactions: Reactions
) -> Settled:
    """Apply the reactions of `turns` to the world and return what changed, as rows."""
    rows, tick = turns.rows, turns.tick
    before = world.beliefs[rows]
    after = beliefs.apply(before, reactions.change)
    moved = beliefs.largest_move(before, after)
    weight = _importance(scenario, turns, reactions, moved)
    world.beliefs[rows] = after
    _hear(world, turns)
    memories, reply = _remember(world, streams, turns, reactions, weight)
    published = _publish(world, turns, reactions)
    edges = _follow(world, turns, reactions)
    _engage(world, reactions, published)
    world.decided[rows[reactions.action == ACTION_CODE["buy"]]] = 1
    world.decided[rows[reactions.action == ACTION_CODE["reject"]]] = -1
    world.turns[rows] += 1
    world.since_reflection[rows] += 1
    world.last_turn[rows] = tick
    return Settled(
        moved=moved,
        published=published,
        rows=(
            rows_of.exposures(world, turns),
            rows_of.recalls(world, turns),
            rows_of.turn_rows(world, turns, reactions, weight, moved),
            rows_of.changes_of_turns(world, turns, reactions, before, after),
            memories,
            *felt_of.rows(world, turns, reply),
            edges,
            rows_of.rejections(world, rows, tick, "turn", reactions.rejections),
        ),
    )


def _importance(
    scenario: Scenario, turns: Turns, reactions: Reactions, moved: FloatArray
) -> FloatArray:
    """Return the importance of each turn; on the frontier tier a model's rating replaces it."""
    part = scenario.memory.importance
    base = dict.fromkeys(ACTIONS, part.say)
    base |= dict.fromkeys(("like", "upvote", "downvote", "follow"), part.react)
    base |= {"ignore": part.ignore, "repost": part.repost}
    base |= {"buy": part.decide, "reject": part.decide}
    table = np.array([base[action] for action in ACTIONS])
    value = importance.importance(table[reactions.action], moved, move=part.move)
    rated = (turns.requests.tier == _FRONTIER) & ~np.isnan(reactions.importance)
    return np.where(rated, reactions.importance, value)


def _hear(world: World, turns: Turns) -> None:
    """Count how often each claim was met, affirmed or denied."""
    view = turns.requests.feed
    turn, slot = np.nonzero(view.claim >= 0)
    side = (view.stance[turn, slot] < 0).astype(np.int64)
    np.add.at(world.heard, (turns.rows[turn], view.claim[turn, slot], side), 1.0)


def _remember(
    world: World, streams: Streams, turns: Turns, reactions: Reactions, weight: FloatArray
) -> tuple[records.Memories, Feelings | None]:
    """Write the turns' memories; return them, and how the replies felt."""
    texts = memory_texts(turns.requests, reactions, streams=streams)
    ids = world.texts.intern(texts)
    felt, reply = None, None
    if turns.feelings is not None:
        reply = feel(world, turns.rows, ids, turns.feelings.state)
    if turns.feelings is not None and reply is not None:
        felt = affect.memory_affect(turns.feelings.felt, reply.felt)
        world.state[turns.rows] = reply.state
    memory_id = world.memory.write(
        turns.rows,
        tick=turns.tick,
        kind=MEMORY_KINDS.index("turn"),
        importance=weight,
        text=ids,
        claim=reactions.claim,
        stance=reactions.stance,
        affect=felt,
    )
    rows = rows_of.memory_rows(
        world,
        memory_id,
        turns.rows,
        turns.tick,
        "turn",
        texts,
        weight,
        reactions.claim,
        reactions.stance,
        ids,
        felt,
    )
    return rows, reply


def _publish(world: World, turns: Turns, reactions: Reactions) -> IntArray:
    """Publish what was said and shared; return the new post ids."""
    kind_of_action = np.array([KIND_CODE.get(KIND_OF_ACTION.get(a, ""), -1) for a in ACTIONS])
    kind = kind_of_action[reactions.action]
    said = np.flatnonzero(kind >= 0)
    kind, parent = kind[said], reactions.post[said]
    text = world.texts.intern([reactions.words[i] for i in said.tolist()])
    claim, stance = reactions.claim[said], reactions.stance[said]
    repost = kind == KIND_CODE["repost"]
    posts = world.posts
    shared = parent[repost]
    text[repost] = posts.integers("text")[shared]
    claim = np.where(repost, taken(posts.integers("claim"), parent), claim)
    stance = np.where(repost, taken(posts.floats("stance"), parent, 0.0), stance)
    peer = np.where(parent >= 0, taken(posts.integers("author"), parent), reactions.persona[said])
    direct = np.isin(kind, [KIND_CODE[k] for k in ("comment", "reply", "answer", "question")])
    return posts.publish(
        {
            "tick": repeated(len(said), turns.tick),
            "author": turns.rows[said],
            "kind": kind,
            "parent": parent,
            "claim": claim,
            "text": text,
            "addressee": np.where(direct, peer, -1),
            "stimulus": repeated(len(said), -1),
        },
        {
            "stance": stance,
            "credibility": np.full(len(said), world.peer_credibility),
        },
    )


def _follow(world: World, turns: Turns, reactions: Reactions) -> records.Edges:
    chosen = (reactions.action == ACTION_CODE["follow"]) & (reactions.persona >= 0)
    source, target = turns.rows[chosen], reactions.persona[chosen]
    world.network.add(source, target, tick=turns.tick)
    return records.Edges(
        source=rows_of.persona_column(world, source),
        target=rows_of.persona_column(world, target),
        weight=np.ones(len(source)),
        created_tick=repeated(len(source), turns.tick),
    )


def _engage(world: World, reactions: Reactions, published: IntArray) -> None:
    amount = np.array([ENGAGEMENT_OF_ACTION.get(action, 0.0) for action in ACTIONS])
    engaged = np.flatnonzero((amount[reactions.action] != 0.0) & (reactions.post >= 0))
    post, value = reactions.post[engaged], amount[reactions.action[engaged]]
    world.posts.engage(post, value)
    world.record(published, post, value)
