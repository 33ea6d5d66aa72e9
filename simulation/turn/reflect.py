"""Reflection: when a persona consolidates, what it revises and what it writes (method.md 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation import prompts, records
from simulation.memory import REFLECTION
from simulation.mind import cadence
from simulation.models.base import SOURCES, ReflectionRequests
from simulation.turn import quarantine
from simulation.turn.columns import repeated
from simulation.turn.feelings import lost
from simulation.turn.rows import change_rows, memory_rows, persona_column, rejections

if TYPE_CHECKING:
    from simulation.models.base import Model, ReflectionReplies
    from simulation.models.written import Fallback
    from simulation.records import BoolArray, FloatArray, IntArray, Rows
    from simulation.scenario import Scenario
    from simulation.turn.prepare import Turns
    from simulation.world import World


def reflect(
    world: World,
    scenario: Scenario,
    turns: Turns,
    moved: FloatArray,
    model: Model,
    *,
    fallback: Fallback,
) -> tuple[Rows, ...]:
    """Let those who are due reflect; apply it and return the rows.

    moved: (A,) largest applied change of each turn.  fallback: reflects for personas in
    quarantine.
    """
    sharp = cadence.sharp(moved, threshold=scenario.reflection.sharp_move)
    due = cadence.due(world.since_reflection[turns.rows], world.interval[turns.rows])
    who = sharp | due
    rows = turns.rows[who]
    if not len(rows):
        return ()
    requests = _requests(world, turns, rows, sharp[who])
    replies = quarantine.reflect(requests, model, fallback=fallback, quarantined=world.quarantined)
    before = world.beliefs[rows]
    after = np.where(np.isnan(replies.revised), before, replies.revised)
    world.beliefs[rows] = after
    changed, target = np.nonzero(after != before)
    changes = change_rows(
        world,
        rows[changed],
        turns.tick,
        "reflection",
        target,
        replies.revised[changed, target],
        before[changed, target],
        after[changed, target],
        repeated(len(changed), -1),
    )
    memories, unread, written = _remember(world, scenario, turns.tick, rows, replies)
    world.since_reflection[rows] = 0
    world.last_reflection[rows] = turns.tick
    world.reflected[rows] = after
    errors = [replies.error.get(i) for i in range(len(rows))]
    reflections = records.Reflections(
        tick=repeated(len(rows), turns.tick),
        persona_id=persona_column(world, rows),
        trigger=records.Coded(
            codes=requests.sharp.astype(np.int64), names=("cadence", "sharp_move")
        ),
        source=records.Coded(codes=replies.source, names=SOURCES),
        memory_ids=written,
        error=errors,
    )
    dropped = rejections(world, rows, turns.tick, "reflection", replies.rejections)
    return (reflections, changes, memories, dropped, unread)


def _requests(world: World, turns: Turns, rows: IntArray, sharp: BoolArray) -> ReflectionRequests:
    store = world.memory
    memories, views = [], []
    for row in rows.tolist():
        slots = store.since(row, int(world.last_reflection[row]))
        memories.append(
            [
                (int(store.text[row, s]), float(store.importance[row, s]), int(store.tick[row, s]))
                for s in slots.tolist()
            ]
        )
        about, felt = store.claim[row, slots].tolist(), store.stance[row, slots].tolist()
        views.append(list(zip(about, felt, strict=True)))
    requests = ReflectionRequests(
        cast=world.cast,
        tick=turns.tick,
        row=rows,
        beliefs=world.beliefs[rows],
        before=world.reflected[rows],
        memories=memories,
        memory_views=views,
        sharp=sharp,
        text=world.texts.__getitem__,
        prompt=lambda i: prompts.reflection(requests, i),
    )
    return requests


def _remember(
    world: World,
    scenario: Scenario,
    tick: int,
    rows: IntArray,
    replies: ReflectionReplies,
) -> tuple[records.Memories, records.Rejections, list[list[int]]]:
    """Write the memories of reflections.

    Return them as rows, those that could not be appraised, and the ids per reflection.
    """
    counts = np.array([len(texts) for texts in replies.memories], dtype=np.int64)
    owner = np.repeat(np.arange(len(rows)), counts)
    texts = [text for group in replies.memories for text in group]
    ids = world.texts.intern(texts)
    weight = np.full(len(texts), scenario.reflection.importance)
    disposition, felt = world.disposition, None
    if disposition is not None:
        _, felt = disposition.appraise(ids, rows[owner])
    memory_id = world.memory.write(
        rows[owner],
        tick=tick,
        kind=REFLECTION,
        importance=weight,
        text=ids,
        claim=replies.claim[owner],
        stance=replies.stance[owner],
        affect=felt,
        overgeneral=True,
    )
    written = [part.tolist() for part in np.split(memory_id, np.cumsum(counts)[:-1])]
    table = memory_rows(
        world,
        memory_id,
        rows[owner],
        tick,
        "reflection",
        texts,
        weight,
        replies.claim[owner],
        replies.stance[owner],
        ids,
        felt,
    )
    return table, lost(world, tick, rows[owner], ids), written


def evict(world: World, tick: int) -> records.Evictions:
    """Drop what is past the cap at the end of the tick."""
    dropped = world.memory.settle()
    return records.Evictions(memory_id=dropped, evicted_tick=repeated(len(dropped), tick))
