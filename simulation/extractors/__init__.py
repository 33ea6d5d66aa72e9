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
from simulation.extractors.lexicon import LexiconExtractor
from simulation.extractors.model import ModelExtractor
from simulation.extractors.routing import (
    ROUTES,
    ModelRouter,
    Route,
    Routed,
    Router,
    RuleRouter,
    route,
)

__all__ = [
    "POLARITIES",
    "ROUTES",
    "Dropped",
    "Evidence",
    "Extracted",
    "Extractor",
    "LexiconExtractor",
    "ModelExtractor",
    "ModelRouter",
    "Route",
    "Routed",
    "Router",
    "RuleRouter",
    "Topic",
    "route",
]
