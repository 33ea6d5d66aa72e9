"""A scenario seen from outside: its JSON Schema, its flat parameters, and one to start from."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from simulation.errors import UsageError
from simulation.scenario.model import NAME_PATTERN, Scenario
from simulation.yaml_reading import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a scenario, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Scenario.model_json_schema(),
    }


def flatten(scenario: Scenario) -> dict[str, Any]:
    """Return every parameter in force by dotted key: `recall.k.cheap`, `rule.persuasion`.

    Values are scalars or lists that JSON can hold; `recall.tau` is the resolved time constant, in
    ticks, `recall.mode` the resolved mode, and `persmem.switches` lists the letters that are on.
    An empty mapping has no parameters.
    """
    flat = dict(_flat(scenario.model_dump(mode="json"), ""))
    switches = scenario.persmem.switches.model_dump()
    resolved = {
        "recall.tau": scenario.tau,
        "recall.mode": scenario.recall_mode,
        "persmem.switches": [name for name, on in switches.items() if on],
    }
    return flat | resolved


def _flat(values: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def starter(name: str) -> str:
    """Return a commented scenario to start from, as YAML.

    Raises:
        UsageError: the name cannot be one of a scenario.
    """
    if not re.fullmatch(NAME_PATTERN.removesuffix("$"), name):
        raise UsageError(
            f"{quoted(name)} cannot be the name of a scenario; use letters, digits, _, . and -, "
            "at most 64, the first a letter or digit"
        )
    text = resources.files(__package__).joinpath("starter.yaml").read_text(encoding="utf-8")
    return text.replace("name: starter\n", f'name: "{name}"\n', 1)
