"""What a question from outside brings back to a persona; nothing of the world is changed by it.

Texts that are new, the question among them, join the table of texts, which is no state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulation.turn.controller import ModelController
from simulation.turn.feel import feel
from simulation.turn.recollect import recollect

if TYPE_CHECKING:
    from simulation.active import Controller
    from simulation.recall import Recalled
    from simulation.records import IntArray
    from simulation.rng import Streams
    from simulation.scenario import Scenario
    from simulation.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class ComeBack:
    """Memories that came back, of A personas. faults: what could not be done as it should."""

    recalled: Recalled
    faults: list[str]


def come_back(
    world: World,
    scenario: Scenario,
    streams: Streams,
    tick: int,
    rows: IntArray,
    question: IntArray,
    controller: Controller,
) -> ComeBack:
    """Return which memories questions bring back at the end of a tick.

    To a persona with a personality a question feels like anything else that reaches it, and what
    it feels then decides what comes back (method.md 7); its state is left as it was.

    rows: (A,) who is asked.  question: (A,) text ids.
    """
    feelings = feel(world, rows, question, world.state[rows])
    recalled, _ = recollect(world, scenario, streams, tick, rows, question, feelings, controller)
    faults = []
    if world.disposition is not None:
        failed = world.disposition.appraisals.failures(question)
        faults += [f"appraisal: {reason}" for _, reason in failed]
    if isinstance(controller, ModelController):
        faults += [f"controller: {detail}" for _, _, detail in controller.take_faults()]
    return ComeBack(recalled=recalled, faults=faults)
