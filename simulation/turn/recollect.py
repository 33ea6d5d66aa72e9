"""What comes back to the personas of a tick, by the scenario's mode (method.md 3, 7 and 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation import recall
from simulation.active import retrieve
from simulation.gated import gated
from simulation.search import Decisions, Mind

if TYPE_CHECKING:
    from simulation.active import Controller
    from simulation.recall import Recalled
    from simulation.records import IntArray
    from simulation.rng import Streams
    from simulation.scenario import Scenario
    from simulation.turn.feel import Feelings
    from simulation.world import World


def recollect(
    world: World,
    scenario: Scenario,
    streams: Streams,
    tick: int,
    rows: IntArray,
    stimulus: IntArray,
    feelings: Feelings | None,
    controller: Controller,
) -> tuple[Recalled, Decisions]:
    """Return the memories that come back, and the decisions of the gate on the way.

    rows: (A,) who takes a turn.  stimulus: (A,) text ids.  feelings: after the stimulus.
    controller: of active searches.
    """
    slots = np.array([scenario.recall.k.cheap, scenario.recall.k.frontier], dtype=np.int64)
    k, keys, mode = slots[world.tier[rows]], world.cast.keys[rows], scenario.recall_mode
    disposition = world.disposition
    if disposition is None or feelings is None or mode not in ("gated", "persmem"):
        found = recall.recall(
            world.memory,
            world.texts,
            rows=rows,
            query=stimulus,
            now=tick,
            tau=scenario.tau,
            k=k,
            mode=mode,
            streams=streams,
            keys=keys,
        )
        return found, Decisions.none()
    mind = Mind(rows=rows, keys=keys, state=feelings.state, query=stimulus, now=tick)
    where = (world.memory, world.texts, streams, disposition, mind)
    if mode == "gated":
        return gated(*where, k=k)
    return retrieve(*where, controller=controller)
