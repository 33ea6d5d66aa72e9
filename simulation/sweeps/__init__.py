"""Many runs: a grid of settings with seeds, made on many cores, and one summary of all."""

from __future__ import annotations

from simulation.sweeps.plan import Plan, PlannedRun, plan
from simulation.sweeps.running import Result, Watch, execute, sweep

__all__ = ["Plan", "PlannedRun", "Result", "Watch", "execute", "plan", "sweep"]
