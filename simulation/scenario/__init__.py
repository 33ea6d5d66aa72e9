"""Scenarios: YAML in, frozen and validated values out."""

from __future__ import annotations

from simulation.scenario.effects import without_effect
from simulation.scenario.model import ACTIONS, TIERS, Action, Scenario, Tier
from simulation.scenario.parameters import flatten, json_schema, starter
from simulation.scenario.reading import (
    Access,
    DraftError,
    Loaded,
    load_scenario,
    load_text,
    read_scenario,
)

__all__ = [
    "ACTIONS",
    "TIERS",
    "Access",
    "Action",
    "DraftError",
    "Loaded",
    "Scenario",
    "Tier",
    "flatten",
    "json_schema",
    "load_scenario",
    "load_text",
    "read_scenario",
    "starter",
    "without_effect",
]
