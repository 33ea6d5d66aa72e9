"""A turn, for a batch of personas: perceive, recall, react, apply, remember, reflect.

`prepare` reads the world as it was at the start of the tick and changes nothing; `settle` changes
each persona's own rows, and what it publishes, which others see in the next tick.
"""

from __future__ import annotations

from simulation.turn.asking import ComeBack, come_back
from simulation.turn.attitudes import settle_attitudes
from simulation.turn.controller import ModelController, faults_of
from simulation.turn.evidence import extract
from simulation.turn.prepare import Turns, arrive, prepare, shown_to
from simulation.turn.probing import probe
from simulation.turn.quarantine import note_failures
from simulation.turn.react import react
from simulation.turn.reflect import evict, reflect
from simulation.turn.rows import post_rows
from simulation.turn.settle import settle
from simulation.turn.surveying import survey, survey_notes

__all__ = [
    "ComeBack",
    "ModelController",
    "Turns",
    "arrive",
    "come_back",
    "evict",
    "extract",
    "faults_of",
    "note_failures",
    "post_rows",
    "prepare",
    "probe",
    "react",
    "reflect",
    "settle",
    "settle_attitudes",
    "shown_to",
    "survey",
    "survey_notes",
]
