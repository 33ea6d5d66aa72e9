"""Extractors: from texts to evidence about the sides of things (method.md 10)."""

from __future__ import annotations

from simulation.extractors.base import (
    POLARITIES,
    Dropped,
    Evidence,
    Extracted,
    Extractor,
    Topic,
)
from simulation.extractors.model import ModelExtractor

__all__ = [
    "POLARITIES",
    "Dropped",
    "Evidence",
    "Extracted",
    "Extractor",
    "ModelExtractor",
    "Topic",
]
