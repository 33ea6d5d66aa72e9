"""Reflection: when a persona consolidates, what it revises and what it writes (method.md 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

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
    from numpy.typing import NDArray

    from simulation.models.base import Model, ReflectionReplies
    from simulation.models.written import Fallback
    from simulation.records import BoolArray, FloatArray, IntArray, Rows
    from simulation.scenario import Scenario
    from simulation.turn.prepare import Turns
    from simulation.world import World

_Item = TypeVar("_Item")


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
    which, slots = store.since(rows, world.last_reflection[rows])
    at = rows[which], slots
    counts = np.bincount(which, minlength=len(rows))
    remembered = _zipped(store.text[at], store.importance[at], store.tick[at])
    requests = ReflectionRequests(
        cast=world.cast,
        tick=turns.tick,
        row=rows,
        beliefs=world.beliefs[rows],
        before=world.reflected[rows],
        memories=_parted(remembered, counts),
        memory_views=_parted(_zipped(store.claim[at], store.stance[at]), counts),
        sharp=sharp,
        text=world.texts.__getitem__,
        prompt=lambda i: prompts.reflection(requests, i),
    )
    return requests


def _zipped(*columns: NDArray[Any]) -> list[Any]:
    """Return the rows of columns, (N,) each, as tuples of plain numbers."""
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _parted(items: list[_Item], counts: IntArray) -> list[list[_Item]]:
    """Return a list as consecutive parts of `counts` items."""
    ends = np.cumsum(counts).tolist()
    return [items[start:end] for start, end in zip([0, *ends], ends, strict=False)]


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
    return table, lost(world, tick, rows[owner], ids), _parted(memory_id.tolist(), counts)


def evict(world: World, tick: int) -> records.Evictions:
    """Drop what is past the cap at the end of the tick."""
    dropped = world.memory.settle()
    return records.Evictions(memory_id=dropped, evicted_tick=repeated(len(dropped), tick))
