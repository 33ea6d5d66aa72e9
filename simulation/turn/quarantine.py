"""Quarantine: a persona whose turns keep failing is left to the rule model (method.md 9).

A turn fails when the language model that was asked for it gave nothing that could be used, not
even after the repair. Nobody is asked for a persona in quarantine: its turns and reflections are
taken by rule, and its probes and surveys stay without an answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simulation import records
from simulation.models.base import SOURCES, ProbeReplies, Rejection
from simulation.models.batches import take_probes, take_reflections
from simulation.models.replies import join
from simulation.turn.columns import constant, repeated
from simulation.turn.rows import persona_column

if TYPE_CHECKING:
    from simulation.models.base import (
        Model,
        ProbeRequests,
        Reactions,
        ReflectionReplies,
        ReflectionRequests,
    )
    from simulation.models.written import Fallback
    from simulation.records import IntArray, Rows
    from simulation.world import World

KIND, UNASKED = "quarantine", "in_quarantine"  # of rejections: the event, and what follows
_FALLBACK = SOURCES.index("fallback")


def reason(since: int) -> str:
    """Return why nobody was asked."""
    return f"in quarantine since tick {since}: nobody was asked"


def note_failures(
    world: World, rows: IntArray, tick: int, reactions: Reactions, *, after: int | None
) -> tuple[Rows, ...]:
    """Count failed turns in a row, put personas in quarantine, and return what to write.

    rows: (A,) who took a turn.  after: failed turns in a row, >= 1; None for never.
    """
    free = rows[world.quarantined[rows] == 0]
    failed = np.isin(free, rows[reactions.source == _FALLBACK])
    world.failing[free] = np.where(failed, world.failing[free] + 1, 0)
    caught = free[world.failing[free] >= after] if after is not None else free[:0]
    world.quarantined[caught] = tick
    who = persona_column(world, caught)
    return (
        records.Quarantines(persona_id=who, quarantined_tick=repeated(len(caught), tick)),
        records.Rejections(
            tick=repeated(len(caught), tick),
            persona_id=who,
            purpose=constant(len(caught), "turn"),
            kind=constant(len(caught), KIND),
            detail=[_why(int(count)) for count in world.failing[caught]],
        ),
    )


def reflect(
    requests: ReflectionRequests, model: Model, *, fallback: Fallback, quarantined: IntArray
) -> ReflectionReplies:
    """Return the replies of the model; those for personas in quarantine are made by rule.

    quarantined: (P,) tick since when, 0 for never.
    """
    since = quarantined[requests.row]
    if not since.any():
        return model.reflect(requests)
    left, free = np.flatnonzero(since), np.flatnonzero(since == 0)
    instead = fallback.consolidate(take_reflections(requests, left.tolist()))
    reasons = {i: reason(int(tick)) for i, tick in enumerate(since[left])}
    source = np.full(len(left), _FALLBACK, dtype=np.int64)
    parts = [(left, replace(instead, source=source, error=reasons))]
    if len(free):
        parts.append((free, model.reflect(take_reflections(requests, free.tolist()))))
    return join(parts)


def answer_probes(requests: ProbeRequests, model: Model, *, quarantined: IntArray) -> ProbeReplies:
    """Return the answers of the model; of personas in quarantine there are none.

    quarantined: (P,) tick since when, 0 for never.
    """
    since = quarantined[requests.row]
    if not since.any():
        return model.answer_probes(requests)
    left, free = np.flatnonzero(since), np.flatnonzero(since == 0)
    error = {i: reason(int(tick)) for i, tick in enumerate(since[left])}
    unasked = [Rejection(index=i, kind=UNASKED, detail=said) for i, said in error.items()]
    nobody = ProbeReplies(answer=[None] * len(left), error=error, rejections=tuple(unasked))
    parts = [(left, nobody)]
    if len(free):
        parts.append((free, model.answer_probes(take_probes(requests, free.tolist()))))
    return join(parts)


def _why(count: int) -> str:
    turns = "its turn" if count == 1 else f"{count} turns in a row"
    return f"{turns} failed; from here on the rule model acts for it"
