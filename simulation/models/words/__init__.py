"""Words of the rule model, and the memory texts of every model's turns."""

from __future__ import annotations

from simulation.models.words.memories import MEMORY_WORDS, memory_texts
from simulation.models.words.reflections import reflection_texts
from simulation.models.words.speech import speeches
from simulation.models.words.text import CLAIM_LENGTH, plain, quoted, shorten

__all__ = [
    "CLAIM_LENGTH",
    "MEMORY_WORDS",
    "memory_texts",
    "plain",
    "quoted",
    "reflection_texts",
    "shorten",
    "speeches",
]
