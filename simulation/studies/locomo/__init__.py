"""LoCoMo: evidence recall (`study`) and answers (`answers`)."""

from __future__ import annotations

from simulation.studies.locomo.study import run

__all__ = ["run"]
