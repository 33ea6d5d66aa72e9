"""A tick-based social simulation engine: one YAML in, one run database out.

>>> from simulation import Scenario, Run, simulate, compare
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulation.analysis.compare import compare
    from simulation.analysis.groups import compare_by, compare_groups
    from simulation.errors import ModelError, SimulationError, UsageError
    from simulation.interviewing import Interview, interview
    from simulation.models.asking import Backend
    from simulation.models.written import WrittenModel
    from simulation.runlog import RunFile as Run
    from simulation.runs import fork, resume, simulate
    from simulation.scenario import Scenario, read_scenario
    from simulation.society import Persona, Society
    from simulation.sweeps import sweep

_HOME = {  # public name: where it lives
    "Backend": "simulation.models.asking",
    "Interview": "simulation.interviewing",
    "ModelError": "simulation.errors",
    "Persona": "simulation.society",
    "Run": "simulation.runlog:RunFile",
    "Scenario": "simulation.scenario",
    "SimulationError": "simulation.errors",
    "Society": "simulation.society",
    "UsageError": "simulation.errors",
    "WrittenModel": "simulation.models.written",
    "compare": "simulation.analysis.compare",
    "fork": "simulation.runs",
    "compare_by": "simulation.analysis.groups",
    "compare_groups": "simulation.analysis.groups",
    "interview": "simulation.interviewing",
    "read_scenario": "simulation.scenario",
    "resume": "simulation.runs",
    "simulate": "simulation.runs",
    "sweep": "simulation.sweeps",
}

__all__ = [
    "Backend",
    "Interview",
    "ModelError",
    "Persona",
    "Run",
    "Scenario",
    "SimulationError",
    "Society",
    "UsageError",
    "WrittenModel",
    "compare",
    "compare_by",
    "compare_groups",
    "fork",
    "interview",
    "read_scenario",
    "resume",
    "simulate",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `simulation --help` starts at once."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    """Return the public names, also those not imported yet."""
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
