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
from simulation.models.base import SOURCES, ProbeReplies, ReflectionReplies, Rejection
from simulation.models.batches import take_probes, take_reflections
from simulation.turn.columns import constant, repeated
from simulation.turn.rows import persona_column

if TYPE_CHECKING:
    from simulation.models.base import Model, ProbeRequests, Reactions, ReflectionRequests
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
    return _combined(parts)


def _combined(parts: list[tuple[IntArray, ReflectionReplies]]) -> ReflectionReplies:
    """Return one batch of replies from parts that each answer the reflections `rows`."""
    rows = np.concatenate([rows for rows, _ in parts])
    order = np.argsort(rows)
    memories = [texts for _, part in parts for texts in part.memories]
    dropped = [
        replace(item, index=int(which[item.index]))
        for which, part in parts
        for item in part.rejections
    ]
    return ReflectionReplies(
        revised=np.concatenate([part.revised for _, part in parts])[order],
        memories=[memories[i] for i in order],
        claim=np.concatenate([part.claim for _, part in parts])[order],
        stance=np.concatenate([part.stance for _, part in parts])[order],
        source=np.concatenate([part.source for _, part in parts])[order],
        error={int(which[i]): said for which, part in parts for i, said in part.error.items()},
        rejections=tuple(sorted(dropped, key=lambda item: item.index)),
    )


def answer_probes(requests: ProbeRequests, model: Model, *, quarantined: IntArray) -> ProbeReplies:
    """Return the answers of the model; of personas in quarantine there are none.

    quarantined: (P,) tick since when, 0 for never.
    """
    since = quarantined[requests.row]
    if not since.any():
        return model.answer_probes(requests)
    free = np.flatnonzero(since == 0)
    given = model.answer_probes(take_probes(requests, free.tolist())) if len(free) else None
    answer: list[str | None] = [None] * len(requests)
    error = {i: reason(int(since[i])) for i in np.flatnonzero(since).tolist()}
    dropped = [Rejection(index=i, kind=UNASKED, detail=said) for i, said in error.items()]
    if given is not None:
        for i, said in zip(free.tolist(), given.answer, strict=True):
            answer[i] = said
        error |= {int(free[i]): said for i, said in given.error.items()}
        dropped += [replace(item, index=int(free[item.index])) for item in given.rejections]
    dropped.sort(key=lambda item: item.index)
    return ProbeReplies(answer=answer, error=error, rejections=tuple(dropped))


def _why(count: int) -> str:
    turns = "its turn" if count == 1 else f"{count} turns in a row"
    return f"{turns} failed; from here on the rule model acts for it"
