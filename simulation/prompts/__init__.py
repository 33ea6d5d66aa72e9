"""Every word that is put before a language model.

A prompt goes from what never changes (rules, brief, persona) to what changes each time (beliefs,
memories, feed, question), so that providers can cache its beginning. Whatever somebody wrote (a
brief, a persona, a post, a memory) stands between tags and is escaped as in XML: no text can hold
a tag, so none can close its own or pose as a part of the prompt. Of other personas a prompt holds
only what they published.
"""

from __future__ import annotations

from simulation.prompts.parts import SYSTEM, repair
from simulation.prompts.questions import interview, probe, reflection, survey
from simulation.prompts.readings import controller, extraction, routing
from simulation.prompts.turns import turn

__all__ = [
    "SYSTEM",
    "controller",
    "extraction",
    "interview",
    "probe",
    "reflection",
    "repair",
    "routing",
    "survey",
    "turn",
]
