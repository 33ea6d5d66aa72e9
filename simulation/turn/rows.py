"""What turns and reflections did, as rows of the run database; nothing is changed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation import records
from simulation.models.base import ACTIONS, SOURCES
from simulation.posts import KINDS
from simulation.recall import PATHS
from simulation.scenario import TIERS
from simulation.turn.columns import coded, constant, repeated, taken
from simulation.turn.prepare import author_name

if TYPE_CHECKING:
    from simulation.models.base import Reactions, Rejection
    from simulation.records import FloatArray, IntArray
    from simulation.turn.prepare import Turns
    from simulation.world import World


def persona_column(world: World, rows: IntArray) -> records.Coded:
    """Return the persona ids of rows; a negative row is NULL."""
    return records.Coded(codes=rows, names=world.cast.ids)


def stimulus_column(world: World, posts: IntArray) -> records.Coded:
    """Return the stimulus ids of posts, (N,), NULL for posts by personas and for -1."""
    stimulus = taken(world.posts.integers("stimulus"), posts)
    return records.Coded(codes=stimulus, names=[event.id for event in world.events])


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


def recalls(world: World, turns: Turns) -> records.Recalls:
    """Return every recalled memory with the parts of its score."""
    found = turns.recalled
    turn, slot = np.nonzero(found.position >= 0)
    return records.Recalls(
        tick=repeated(len(turn), turns.tick),
        persona_id=persona_column(world, turns.rows[turn]),
        slot=slot.astype(np.int64) + 1,
        memory_id=found.memory_id[turn, slot],
        path=records.Coded(codes=found.path[turn, slot], names=PATHS),
        query=coded(found.query[turn, slot], world.texts.__getitem__),
        recency=found.recency[turn, slot],
        importance=found.importance[turn, slot],
        relevance=found.relevance[turn, slot],
        score=found.score[turn, slot],
    )


def turn_rows(
    world: World, turns: Turns, reactions: Reactions, weight: FloatArray, moved: FloatArray
) -> records.Turns:
    """Return the turns. weight: (A,) importance.  moved: (A,) largest applied change."""
    requests, count = turns.requests, len(turns.rows)
    errors = [reactions.error.get(i) for i in range(count)] if reactions.error else None
    return records.Turns(
        tick=repeated(count, turns.tick),
        persona_id=persona_column(world, turns.rows),
        turn_no=requests.turn_no,
        tier=records.Coded(codes=requests.tier, names=TIERS),
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


def changes_of_turns(
    world: World, turns: Turns, reactions: Reactions, before: FloatArray, after: FloatArray
) -> records.BeliefChanges:
    """Return the beliefs that turns changed. before, after: (A, T)."""
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
    affect: FloatArray | None,
) -> records.Memories:
    """Return written memories as rows; all arrays (N,), affect (N, 3) or None.

    A reflection is a general statement, a turn is one episode (docs/adr/0009).
    """
    count = len(rows)
    felt = np.full((count, 3), np.nan) if affect is None else affect
    label = "overgeneral" if kind == "reflection" and affect is not None else "specific"
    return records.Memories(
        memory_id=memory_id,
        persona_id=persona_column(world, rows),
        tick=repeated(count, tick),
        kind=constant(count, kind),
        text=texts,
        importance=weight,
        valence=felt[:, 0],
        arousal=felt[:, 1],
        dominance=felt[:, 2],
        specificity=constant(count, label),
        claim_id=records.Coded(codes=claim, names=world.cast.claims),
        stance=stance,
        embedding_id=text_ids,
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
        credibility=posts.floats("credibility")[ids],
        addressee=persona_column(world, posts.integers("addressee")[ids]),
        stimulus_id=stimulus_column(world, ids),
        embedding_id=posts.integers("text")[ids],
    )
