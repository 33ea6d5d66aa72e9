"""Ontologies: which attributes a persona can have, how they are drawn, said and asked about."""

from __future__ import annotations

from simulation.ontology.attributes import (
    Attribute,
    Dispositions,
    Distribution,
    Level,
    ProbeQuestion,
)
from simulation.ontology.loading import from_bytes, load, shipped, shipped_file
from simulation.ontology.ontology import Ontology
from simulation.ontology.portraits import Portraits

__all__ = [
    "Attribute",
    "Dispositions",
    "Distribution",
    "Level",
    "Ontology",
    "Portraits",
    "ProbeQuestion",
    "from_bytes",
    "load",
    "shipped",
    "shipped_file",
]
