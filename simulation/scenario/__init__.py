"""Scenarios: YAML in, frozen and validated values out."""

from __future__ import annotations

from simulation.scenario.model import ACTIONS, TIERS, Action, Scenario, Tier

__all__ = ["ACTIONS", "TIERS", "Action", "Scenario", "Tier"]
