"""The row of table `run`: what is known before a run, and how far it got."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from simulation.runlog.columns import storable, storable_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

STATUSES = ("running", "complete", "interrupted", "budget_exhausted", "failed")

_JSON = ("parameters", "models", "packages")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What is known of a run before it starts.

    parameters: every constant in force, flat, with dotted keys.  models: settings by tier, free
    of secrets.  packages: version by package name.  tau: ticks, > 0.  The values of the three
    mappings must be JSON values: NaN and infinity are none.
    """

    run_id: str
    scenario_name: str
    scenario_yaml: str
    scenario_sha256: str
    settings: tuple[str, ...]
    seed: int
    engine_version: str
    horizon: int
    tau: float
    parameters: Mapping[str, Any]
    encoder: str
    encoder_sha256: str | None
    models: Mapping[str, Any]
    packages: Mapping[str, str]
    parent_run_id: str | None = None
    forked_at_tick: int | None = None

    def columns(self) -> dict[str, Any]:
        """Return column name: value as it is stored.

        Raises:
            ValueError: a mapping holds something that JSON cannot say.
        """
        return {
            field.name: _stored(field.name, getattr(self, field.name)) for field in fields(self)
        }


def _stored(name: str, value: Any) -> Any:
    if name in _JSON:
        # Sorted, so that the same settings are the same text in every file.
        text = json.dumps(dict(value), ensure_ascii=False, sort_keys=True, allow_nan=False)
        return storable_json(text)
    return storable(value) if isinstance(value, str) else value


def _object(text: str) -> Any:
    """Return the object that a JSON text holds; anything else in its place is an error."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise TypeError(f"{text[:20]!r} is no JSON object")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """The row of table `run` as it stands in a file.

    last_tick: the last whole tick; 0 is the start, -1 means not even that.  Times are UTC.
    """

    header: RunHeader
    schema_version: int
    status: str
    last_tick: int
    started_at: datetime
    finished_at: datetime | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> RunInfo:
        """Return the values of a row of `run`, its JSON parsed.

        Raises:
            KeyError, TypeError, ValueError: it is no such row.
        """
        known = {
            field.name: _object(row[field.name]) if field.name in _JSON else row[field.name]
            for field in fields(RunHeader)
        }
        known["settings"] = tuple(known["settings"])  # DuckDB gives a list
        rest = {field.name: row[field.name] for field in fields(cls) if field.name != "header"}
        return cls(header=RunHeader(**known), **rest)
