"""Surveys: who is asked, how an answer becomes a distribution, and how far that can be trusted.

Nothing here touches the world: answers are embedded in a table of their own.
"""

from __future__ import annotations

from simulation.surveys.panel import due, panel
from simulation.surveys.rating import Rater
from simulation.surveys.separation import (
    Separation,
    check_anchors,
    confusions,
    held_out,
    separation,
    weaknesses,
)

__all__ = [
    "Rater",
    "Separation",
    "check_anchors",
    "confusions",
    "due",
    "held_out",
    "panel",
    "separation",
    "weaknesses",
]
