"""YAML read safely: plain values only, within limits, with the line of every key path.

Scenarios and ontologies are both read here; what a key may hold is theirs to say.
"""

from __future__ import annotations

from simulation.yaml_reading.keypath import (
    Key,
    KeyPath,
    deepest,
    format_path,
    lies_in,
    parse_path,
    step_into,
)
from simulation.yaml_reading.nodes import Limits, YamlError, decoded
from simulation.yaml_reading.plain import Plain, frozen, read_plain_yaml
from simulation.yaml_reading.scalars import quoted

__all__ = [
    "Key",
    "KeyPath",
    "Limits",
    "Plain",
    "YamlError",
    "decoded",
    "deepest",
    "format_path",
    "frozen",
    "lies_in",
    "parse_path",
    "quoted",
    "read_plain_yaml",
    "step_into",
]
