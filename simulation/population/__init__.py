"""Populations: who takes part, sampled from an ontology or read from a file."""

from __future__ import annotations

from simulation.population.building import build
from simulation.population.checks import spec_problems
from simulation.population.people import CHEAP, FRONTIER, People

__all__ = ["CHEAP", "FRONTIER", "People", "build", "spec_problems"]
