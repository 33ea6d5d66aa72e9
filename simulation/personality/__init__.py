"""Personalities: a fixed vector of traits per persona, given, drawn, or read from the file."""

from __future__ import annotations

from simulation.personality.building import build
from simulation.personality.checks import spec_problems
from simulation.personality.personalities import Personalities

__all__ = ["Personalities", "build", "spec_problems"]
