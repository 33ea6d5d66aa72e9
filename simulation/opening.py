"""What a run says before its first tick: personas, claims, beliefs, follows, stimuli, notes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from simulation import records
from simulation.rng import sha256_hex
from simulation.scenario import TIERS
from simulation.turn.columns import constant, repeated
from simulation.turn.rows import persona_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.population import People
    from simulation.records import Rows
    from simulation.world import Event, World


def opening(world: World, people: People) -> tuple[Rows, ...]:
    """Return the rows of tick 0."""
    return (
        _personas(world, people),
        _claims(world),
        _beliefs(world),
        _edges(world),
        stimuli(world.events, world.cast.claims),
        _notes(world),
    )


def _personas(world: World, people: People) -> records.Personas:
    count, disposition = world.personas, world.disposition
    return records.Personas(
        persona_id=world.cast.ids,
        persona_index=np.arange(count, dtype=np.int64),
        attributes=[json.dumps(dict(a), ensure_ascii=False) for a in people.attributes],
        persona_block=world.cast.blocks,
        block_sha256=[sha256_hex(block) for block in world.cast.blocks],
        personality_kind=constant(count, world.personality.kind),
        personality=world.personality.vectors if world.personality.names else [None] * count,
        gains=[None] * count if disposition is None else disposition.gains,
        reflection_interval=world.interval,
        activity=world.activity,
        tier=records.Coded(codes=world.tier, names=TIERS),
    )


def _claims(world: World) -> records.Claims:
    return records.Claims(
        claim_id=world.cast.claims,
        claim_index=np.arange(len(world.cast.claims), dtype=np.int64),
        text=world.cast.claim_texts,
    )


def _beliefs(world: World) -> records.InitialBeliefs:
    count, width = world.initial.shape
    return records.InitialBeliefs(
        persona_id=persona_column(world, np.repeat(np.arange(count), width)),
        target=records.Coded(codes=np.tile(np.arange(width), count), names=world.cast.targets),
        belief=world.initial.ravel(),
    )


def _edges(world: World) -> records.Edges:
    network = world.network
    return records.Edges(
        source=persona_column(world, network.source),
        target=persona_column(world, network.target),
        weight=network.weight,
        created_tick=network.created,
    )


def stimuli(events: Sequence[Event], claims: tuple[str, ...]) -> records.Stimuli:
    """Return events as rows. claims: ids, by index."""
    return records.Stimuli(
        stimulus_id=[event.id for event in events],
        tick=np.array([event.tick for event in events], dtype=np.int64),
        kind=[event.kind for event in events],
        source=[event.source for event in events],
        text=[event.text for event in events],
        claim_id=records.Coded(
            codes=np.array([event.claim for event in events], dtype=np.int64),
            names=claims,
        ),
        stance=np.array([event.stance for event in events], dtype=np.float64),
        credibility=np.array([event.credibility for event in events], dtype=np.float64),
        stream_index=np.array([event.index for event in events], dtype=np.int64),
    )


def _notes(world: World) -> records.Rejections:
    """Return what of the input was left out or has no effect, and what the appraiser cannot do.

    It concerns no persona.
    """
    disposition = world.disposition
    said = disposition.appraisals.appraiser.notes if disposition else ()
    return notes(world.notes, said)


def notes(found: tuple[str, ...], said: tuple[str, ...] = ()) -> records.Rejections:
    """Return notes as rows of tick 0. found: about the input.  said: by the appraiser."""
    kinds = ["edges" if note.startswith("graph: ") else "setting" for note in found]
    count = len(found) + len(said)
    return records.Rejections(
        tick=repeated(count, 0),
        persona_id=records.Coded(codes=repeated(count, -1), names=()),
        purpose=[*["graph"] * len(found), *["appraisal"] * len(said)],
        kind=[*kinds, *["note"] * len(said)],
        detail=[*found, *said],
    )
