"""Social graphs: who follows whom, generated or read from an edge list."""

from __future__ import annotations

from simulation.graph.building import build, spec_problems
from simulation.graph.edges import read_edges
from simulation.graph.follows import Follows

__all__ = ["Follows", "build", "read_edges", "spec_problems"]
