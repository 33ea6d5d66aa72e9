"""Appraisals and decisions of the gate as rows of the run database; nothing is changed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation import records
from simulation.turn.columns import coded, constant, repeated
from simulation.turn.rows import persona_column

if TYPE_CHECKING:
    from simulation.records import IntArray, Rows
    from simulation.turn.feel import Feelings
    from simulation.turn.prepare import Turns
    from simulation.world import World

_PHASES = ("in", "out")


def rows(world: World, turns: Turns, reply: Feelings | None) -> tuple[Rows, ...]:
    """Return what a tick's turns felt and what came unasked; nothing without personality."""
    disposition = world.disposition
    if disposition is None or turns.feelings is None or reply is None:
        return ()
    seen, who = turns.feelings, np.tile(turns.rows, 2)
    return (
        _affects(world, turns, seen, reply),
        _gates(world, turns, disposition.mode),
        lost(world, turns.tick, who, np.concatenate([seen.text, reply.text])),
    )


def lost(world: World, tick: int, rows: IntArray, text: IntArray) -> records.Rejections:
    """Return which texts could not be appraised, and why. rows, text: (N,) whose, text ids."""
    found = world.disposition.appraisals.failures(text) if world.disposition else []
    place = np.array([i for i, _ in found], dtype=np.int64)
    return records.Rejections(
        tick=repeated(len(found), tick),
        persona_id=persona_column(world, rows[place]),
        purpose=constant(len(found), "appraisal"),
        kind=constant(len(found), "invalid_appraisal"),
        detail=[reason for _, reason in found],
    )


def _affects(world: World, turns: Turns, seen: Feelings, said: Feelings) -> records.Affects:
    """Return two rows a turn: what was perceived, and the reply."""
    count = len(turns.rows)
    raw, felt, state = (
        np.concatenate([getattr(seen, name), getattr(said, name)])
        for name in ("raw", "felt", "state")
    )
    return records.Affects(
        tick=repeated(2 * count, turns.tick),
        persona_id=persona_column(world, np.tile(turns.rows, 2)),
        phase=records.Coded(codes=np.repeat([0, 1], count), names=_PHASES),
        raw_valence=raw[:, 0],
        raw_arousal=raw[:, 1],
        raw_dominance=raw[:, 2],
        valence=felt[:, 0],
        arousal=felt[:, 1],
        dominance=felt[:, 2],
        state_valence=state[:, 0],
        state_arousal=state[:, 1],
        state_dominance=state[:, 2],
    )


def _gates(world: World, turns: Turns, mode: str) -> records.Gates:
    """Return every decision of the gate with all that it was made from."""
    decided = turns.decisions
    count = len(decided.turn)
    return records.Gates(
        tick=repeated(count, turns.tick),
        persona_id=persona_column(world, turns.rows[decided.turn]),
        step=decided.step,
        memory_id=decided.memory_id,
        mode=constant(count, mode),
        query=coded(decided.query, world.texts.__getitem__),
        semantic=decided.semantic,
        retention=decided.retention,
        affect_match=decided.affect_match,
        relation=decided.relation,
        passive_score=decided.passive_score,
        threshold=decided.threshold,
        arousal=decided.arousal,
        probability=decided.probability,
        draw=decided.draw,
        fired=decided.fired,
    )
