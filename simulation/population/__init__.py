"""Populations: who takes part, sampled from an ontology or read from a file."""

from __future__ import annotations

from simulation.population.building import build, file_problems
from simulation.population.checks import named_value, spec_problems, unknown_value
from simulation.population.people import CHEAP, FRONTIER, People
from simulation.population.problems import pointed

__all__ = [
    "CHEAP",
    "FRONTIER",
    "People",
    "build",
    "file_problems",
    "named_value",
    "pointed",
    "spec_problems",
    "unknown_value",
]
