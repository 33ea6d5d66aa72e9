"""Before money is spent: what a run will take, what it would send, whether models answer."""

from __future__ import annotations

from simulation.planning.estimate import Estimate, Limit, Line, estimate
from simulation.planning.examination import EncoderFinding, Examination, ModelFinding, examine
from simulation.planning.preview import Preview, Shown, preview
from simulation.planning.tokens import Range

__all__ = [
    "EncoderFinding",
    "Estimate",
    "Examination",
    "Limit",
    "Line",
    "ModelFinding",
    "Preview",
    "Range",
    "Shown",
    "estimate",
    "examine",
    "preview",
]
