"""Apply reactions: beliefs move, memories are written, posts and follows appear for the next tick.

A persona changes only its own rows. What it publishes is seen by others from the next tick on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation import records
from simulation.memory import KINDS as MEMORY_KINDS
from simulation.mind import beliefs, importance
from simulation.models.base import ACTION_CODE, ACTIONS, SOURCES
from simulation.models.words import memory_texts
from simulation.posts import ENGAGEMENT_OF_ACTION, KIND_CODE, KIND_OF_ACTION, KINDS
from simulation.recall import MODES
from simulation.turn.columns import coded, constant, repeated
from simulation.turn.prepare import author_name

if TYPE_CHECKING:
    from simulation.models.base import Reactions, Rejection
    from simulation.records import FloatArray, IntArray, Rows
    from simulation.scenario import Scenario
    from simulation.turn.prepare import Turns
    from simulation.world import World

_TIERS = ("cheap", "frontier")
_FRONTIER = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What the turns of a tick changed. moved: (A,) largest applied change of each turn."""

    moved: FloatArray
    published: IntArray
    rows: tuple[Rows, ...]


def settle(world: World, scenario: Scenario, turns: Turns, reactions: Reactions) -> Settled:
    """Apply the reactions of `turns` to the world and return what changed, as rows."""
    rows, tick = turns.rows, turns.tick
    before = world.beliefs[rows]
    after = beliefs.apply(before, reactions.change)
    moved = np.abs(after - before).max(axis=1, initial=0.0)
    weight = _importance(scenario, turns, reactions, moved)
    world.beliefs[rows] = after
    _hear(world, turns)
    memories = _remember(world, turns, reactions, weight)
    published = _publish(world, turns, reactions)
    edges = _follow(world, turns, reactions)
    _engage(world, reactions, published)
    decided = np.isin(reactions.action, [ACTION_CODE["buy"], ACTION_CODE["reject"]])
    world.decided[rows[decided]] = True
    world.turns[rows] += 1
    world.since_reflection[rows] += 1
    world.last_turn[rows] = tick
    return Settled(
        moved=moved,
        published=published,
        rows=(
            exposures(world, turns),
            recalls(world, turns),
            _turn_rows(world, turns, reactions, weight, moved),
            _change_rows(world, turns, reactions, before, after),
            memories,
            edges,
            rejections(world, rows, tick, "turn", reactions.rejections),
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
    world: World, turns: Turns, reactions: Reactions, weight: FloatArray
) -> records.Memories:
    texts = memory_texts(turns.requests, reactions)
    ids = world.texts.intern(texts)
    memory_id = world.memory.write(
        turns.rows,
        tick=turns.tick,
        kind=MEMORY_KINDS.index("turn"),
        importance=weight,
        text=ids,
        claim=reactions.claim,
        stance=reactions.stance,
    )
    return memory_rows(
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
    )


def memory_rows(
    world: World,
    memory_id: IntArray,
    rows: IntArray,
    tick: int,
    kind: str,
    texts: list[str],
    weight: FloatArray,
    claim: IntArray,
    stance: FloatArray,
    text_ids: IntArray,
) -> records.Memories:
    """Return written memories as rows; all arrays (N,)."""
    count = len(rows)
    return records.Memories(
        memory_id=memory_id,
        persona_id=persona_column(world, rows),
        tick=repeated(count, tick),
        kind=constant(count, kind),
        text=texts,
        importance=weight,
        specificity=constant(count, "specific"),
        claim_id=records.Coded(codes=claim, names=world.cast.claims),
        stance=stance,
        embedding_id=text_ids,
    )


def persona_column(world: World, rows: IntArray) -> records.Coded:
    """Return the persona ids of rows; a negative row is NULL."""
    return records.Coded(codes=rows, names=world.cast.ids)


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
    claim = np.where(repost, _at(posts.integers("claim"), parent), claim)
    stance = np.where(repost, _at(posts.floats("stance"), parent), stance)
    peer = np.where(parent >= 0, _at(posts.integers("author"), parent), reactions.persona[said])
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


def _at(column: IntArray | FloatArray, posts: IntArray) -> IntArray | FloatArray:
    """Return column[posts]; where the post id is negative the value is of no use."""
    if not len(column):
        return np.zeros(len(posts), dtype=column.dtype)
    return column[np.maximum(posts, 0)]


def _follow(world: World, turns: Turns, reactions: Reactions) -> records.Edges:
    chosen = (reactions.action == ACTION_CODE["follow"]) & (reactions.persona >= 0)
    source, target = turns.rows[chosen], reactions.persona[chosen]
    world.network.add(source, target, tick=turns.tick)
    return records.Edges(
        source=persona_column(world, source),
        target=persona_column(world, target),
        weight=np.ones(len(source)),
        created_tick=repeated(len(source), turns.tick),
    )


def _engage(world: World, reactions: Reactions, published: IntArray) -> None:
    amount = np.array([ENGAGEMENT_OF_ACTION.get(action, 0.0) for action in ACTIONS])
    engaged = np.flatnonzero((amount[reactions.action] != 0.0) & (reactions.post >= 0))
    post, value = reactions.post[engaged], amount[reactions.action[engaged]]
    world.posts.engage(post, value)
    world.record(published, post, value)


def exposures(world: World, turns: Turns) -> records.Exposures:
    """Return every item of every feed."""
    turn, slot = np.nonzero(turns.feeds.post >= 0)
    post = turns.feeds.post[turn, slot]
    return records.Exposures(
        tick=repeated(len(turn), turns.tick),
        persona_id=persona_column(world, turns.rows[turn]),
        post_id=post,
        stimulus_id=stimulus_column(world, post),
        position=slot.astype(np.int64),
        score=turns.feeds.score[turn, slot],
    )


def stimulus_column(world: World, posts: IntArray) -> records.Coded:
    """Return the stimulus ids of posts, (N,), NULL for posts by personas and for -1."""
    stimulus = np.append(world.posts.integers("stimulus"), -1)[posts]
    return records.Coded(codes=stimulus, names=[event.id for event in world.events])


def recalls(world: World, turns: Turns) -> records.Recalls:
    """Return every recalled memory with the parts of its score."""
    found = turns.recalled
    turn, slot = np.nonzero(found.position >= 0)
    return records.Recalls(
        tick=repeated(len(turn), turns.tick),
        persona_id=persona_column(world, turns.rows[turn]),
        slot=slot.astype(np.int64) + 1,
        memory_id=found.memory_id[turn, slot],
        path=records.Coded(codes=found.path[turn, slot], names=MODES),
        query=coded(turns.requests.stimulus[turn], world.texts.__getitem__),
        recency=found.recency[turn, slot],
        importance=found.importance[turn, slot],
        relevance=found.relevance[turn, slot],
        score=found.score[turn, slot],
    )


def _turn_rows(
    world: World, turns: Turns, reactions: Reactions, weight: FloatArray, moved: FloatArray
) -> records.Turns:
    requests, count = turns.requests, len(turns.rows)
    errors = [reactions.error.get(i) for i in range(count)] if reactions.error else None
    return records.Turns(
        tick=repeated(count, turns.tick),
        persona_id=persona_column(world, turns.rows),
        turn_no=requests.turn_no,
        tier=records.Coded(codes=requests.tier, names=_TIERS),
        stimulus_text=coded(requests.stimulus, world.texts.__getitem__),
        action=records.Coded(codes=reactions.action, names=ACTIONS),
        target_id=_targets(world, reactions),
        claim_id=records.Coded(codes=reactions.claim, names=world.cast.claims),
        text=reactions.words,
        importance=weight,
        max_abs_delta=moved,
        source=records.Coded(codes=reactions.source, names=SOURCES),
        error=errors or records.Coded(codes=repeated(count, -1), names=()),
    )


def _targets(world: World, reactions: Reactions) -> records.Coded:
    """Return what each turn acted on: a post id, or a persona id."""
    persona = reactions.persona
    target = np.where(persona >= 0, persona, -1)
    target = np.where(reactions.post >= 0, reactions.post + world.personas, target)

    def name(i: int) -> str:
        return world.cast.ids[i] if i < world.personas else str(i - world.personas)

    return coded(target, name)


def _change_rows(
    world: World, turns: Turns, reactions: Reactions, before: FloatArray, after: FloatArray
) -> records.BeliefChanges:
    turn, target = np.nonzero(after != before)
    slot = reactions.cause[turn, target]
    cause = np.where(slot >= 0, turns.feeds.post[turn, np.maximum(slot, 0)], -1)
    return change_rows(
        world,
        turns.rows[turn],
        turns.tick,
        "turn",
        target,
        reactions.change[turn, target],
        before[turn, target],
        after[turn, target],
        cause,
    )


def change_rows(
    world: World,
    rows: IntArray,
    tick: int,
    phase: str,
    target: IntArray,
    requested: FloatArray,
    before: FloatArray,
    after: FloatArray,
    cause: IntArray,
) -> records.BeliefChanges:
    """Return belief changes as rows; all arrays (N,)."""
    count = len(rows)
    return records.BeliefChanges(
        tick=repeated(count, tick),
        persona_id=persona_column(world, rows),
        phase=constant(count, phase),
        target=records.Coded(codes=target, names=world.cast.targets),
        requested=requested,
        before=before,
        after=after,
        cause_post_id=cause,
        cause_stimulus_id=stimulus_column(world, cause),
    )


def rejections(
    world: World, rows: IntArray, tick: int, purpose: str, found: tuple[Rejection, ...]
) -> records.Rejections:
    """Return what was refused or dropped of the answers of `rows`."""
    which = np.array([rejection.index for rejection in found], dtype=np.int64)
    kinds = [rejection.kind for rejection in found]
    return records.Rejections(
        tick=repeated(len(found), tick),
        persona_id=persona_column(world, rows[which]),
        purpose=constant(len(found), purpose),
        kind=kinds,
        detail=[rejection.detail for rejection in found],
    )


def post_rows(world: World, ids: IntArray) -> records.Posts:
    """Return published posts as rows."""
    posts = world.posts
    claim = posts.integers("claim")[ids]
    author = np.array([author_name(world, i) for i in ids.tolist()], dtype=object)
    return records.Posts(
        post_id=ids,
        tick=posts.integers("tick")[ids],
        author=author.tolist(),
        kind=records.Coded(codes=posts.integers("kind")[ids], names=KINDS),
        parent_id=posts.integers("parent")[ids],
        claim_id=records.Coded(codes=claim, names=world.cast.claims),
        text=[world.texts[i] for i in posts.integers("text")[ids].tolist()],
        valence=posts.floats("stance")[ids],
        addressee=persona_column(world, posts.integers("addressee")[ids]),
        stimulus_id=stimulus_column(world, ids),
    )
