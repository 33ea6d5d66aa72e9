"""The run database: the only code that knows DuckDB (docs/run-database.md)."""

from __future__ import annotations

from simulation.runlog.calls import call_records
from simulation.runlog.header import STATUSES, RunHeader, RunInfo
from simulation.runlog.history import History
from simulation.runlog.reader import (
    Column,
    Database,
    QueryResult,
    RunFile,
    Table,
    open_database,
)
from simulation.runlog.reference import reference
from simulation.runlog.schema import SCHEMA_VERSION
from simulation.runlog.signals import Signals
from simulation.runlog.transcripts import Transcript, recorded_calls
from simulation.runlog.writer import RunWriter, check_free

__all__ = [
    "SCHEMA_VERSION",
    "STATUSES",
    "Column",
    "Database",
    "History",
    "QueryResult",
    "RunFile",
    "RunHeader",
    "RunInfo",
    "RunWriter",
    "Signals",
    "Table",
    "Transcript",
    "call_records",
    "check_free",
    "open_database",
    "recorded_calls",
    "reference",
]
