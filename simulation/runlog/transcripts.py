"""Transcripts of interviews: a DuckDB file beside the run, or JSON lines.

A transcript is added to, never written over, and a run is never a transcript. The one in DuckDB
also holds the requests to language models, so that they can answer again.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import duckdb
import numpy as np

from simulation.calls.record import CallRecord
from simulation.calls.rows import rows_of
from simulation.errors import RunFileError
from simulation.runlog import problems
from simulation.runlog.columns import arrow_table, storable
from simulation.runlog.names import absolute, check_local
from simulation.runlog.reader import TranscriptFile, open_database
from simulation.runlog.schema import CONNECTION, interviews_layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SUFFIX = ".duckdb"
_COLUMNS = (
    "interview_id",
    "question_no",
    "asked_at",
    "run_id",
    "run_path",
    "scenario_name",
    "seed",
    "tick",
    "persona_id",
    "question",
    "answer",
    "source",
    "model",
    "error",
    "recalled",
    "cost_usd",
)


class _Kept(Protocol):
    """Where answers go."""

    def add(self, row: Mapping[str, Any] | None, calls: Sequence[CallRecord]) -> None: ...

    def close(self) -> None: ...


class Transcript:
    """A transcript open for adding to it."""

    def __init__(self, kept: _Kept, path: Path, *, is_new: bool) -> None:
        """Take over where answers go; use `open` instead."""
        self.path = path
        self._kept = kept
        self._is_empty = is_new

    @classmethod
    def open(cls, path: str | Path) -> Transcript:
        """Open a transcript, or make one.

        path: a DuckDB file where it ends in `.duckdb`, else JSON lines.

        Raises:
            RunFileError: the file is no transcript, or cannot be written; it is as it was.
        """
        path = Path(path)
        check_local(path)
        name = Path(absolute(path))
        is_new = not name.exists()
        if not is_new and not name.is_file():
            raise problems.missing(path)
        try:
            name.parent.mkdir(parents=True, exist_ok=True)
            kept: _Kept = _Tables(path) if path.suffix == _SUFFIX else _Lines(path)
        except (OSError, UnicodeDecodeError, duckdb.Error) as error:
            raise problems.cannot_write(path, "the transcript", error) from error
        return cls(kept, path, is_new=is_new)

    def add(self, row: Mapping[str, Any] | None, calls: Sequence[CallRecord]) -> None:
        """Add an answer, with the names of table `interviews`, and the calls that it took.

        row: None where no answer came.

        Raises:
            RunFileError: the file cannot be written.
        """
        if row is None and not calls:
            return
        try:
            self._kept.add(row, calls)
        except (OSError, duckdb.Error) as error:
            raise problems.cannot_write(self.path, "the answer", error) from error
        self._is_empty = False

    def close(self) -> None:
        """Close the file; a new one to which nothing was added is removed."""
        with contextlib.suppress(duckdb.Error, OSError):  # what was added is safe in it
            self._kept.close()
        if self._is_empty:
            Path(absolute(self.path)).unlink(missing_ok=True)


def recorded_calls(path: str | Path) -> list[CallRecord]:
    """Return what language models were asked in the interviews of a transcript, in order.

    Raises:
        RunFileError: the file is no transcript in DuckDB, or cannot be read.
    """
    path = Path(path)
    if path.is_file() and path.suffix != _SUFFIX:
        raise _not_ours(path, "answers can be taken from one that ends in .duckdb")
    with open_database(path) as opened:
        if not isinstance(opened, TranscriptFile):
            raise _not_ours(path, "a run has no answers to questions of an interview")
        names = tuple(CallRecord.__dataclass_fields__)
        sql = f"SELECT {', '.join(names)} FROM model_calls ORDER BY call_id"  # noqa: S608 - our own columns
        rows = opened.query(sql).rows
    return [CallRecord(**dict(zip(names, row, strict=True))) for row in rows]


class _Tables:
    """The tables `interviews` and `model_calls` of a DuckDB file."""

    def __init__(self, path: Path) -> None:
        if Path(absolute(path)).exists():
            _check_transcript(path)
        self._connection = duckdb.connect(absolute(path), config={**CONNECTION})
        try:
            if not self._connection.execute("SELECT 1 FROM duckdb_tables()").fetchall():
                self._connection.execute(f"BEGIN; {interviews_layout()} COMMIT;")
            columns = self._connection.execute(
                "SELECT column_name, data_type FROM duckdb_columns() "
                "WHERE table_name = 'model_calls' AND NOT internal"
            )
            self._types: dict[str, str] = dict(columns.fetchall())
            most = self._connection.execute("SELECT max(call_id) FROM model_calls").fetchone()
            self._calls = int(most[0] or 0) if most else 0
        except BaseException:
            self._connection.close()
            raise

    def add(self, row: Mapping[str, Any] | None, calls: Sequence[CallRecord]) -> None:
        self._connection.begin()
        try:
            if calls:
                ids = self._calls + 1 + np.arange(len(calls))
                values = arrow_table(rows_of(calls), self._types, {"call_id": ids})
                self._connection.register("rows", values)
                self._connection.execute("INSERT INTO model_calls BY NAME SELECT * FROM rows")
                self._connection.unregister("rows")
            if row is not None:
                marks = ", ".join("?" * len(_COLUMNS))
                self._connection.execute(
                    f"INSERT INTO interviews VALUES ({marks})",  # noqa: S608 - question marks
                    [_storable(row[name]) for name in _COLUMNS],
                )
            self._connection.commit()
        except BaseException:
            with contextlib.suppress(duckdb.Error):
                self._connection.rollback()
            raise
        self._calls += len(calls)

    def close(self) -> None:
        self._connection.close()


class _Lines:
    """A file with one JSON object a line."""

    def __init__(self, path: Path) -> None:
        name = Path(absolute(path))
        if name.exists():
            _check_lines(path, name)
        self._file = name.open("a", encoding="utf-8", newline="\n")

    def add(self, row: Mapping[str, Any] | None, calls: Sequence[CallRecord]) -> None:  # noqa: ARG002 - calls have no place in lines
        if row is None:
            return
        told = {name: row[name] for name in _COLUMNS}
        # ASCII, so that half of a surrogate pair, which UTF-8 cannot hold, is no trouble.
        self._file.write(json.dumps(told) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _check_transcript(path: Path) -> None:
    """Refuse a DuckDB file that is no transcript of this layout."""
    with open_database(path) as opened:
        if not isinstance(opened, TranscriptFile):
            raise _not_ours(path, "choose another name")
        columns = {table.name: table.columns for table in opened.tables()}
    known = tuple(column.name for column in columns["interviews"])
    if known != _COLUMNS or "model_calls" not in columns:
        raise _not_ours(path, "its tables are laid out in another way; choose another name")


def _check_lines(path: Path, name: Path) -> None:
    """Refuse a file whose first line is not one of ours, or whose last has no end."""
    with name.open(encoding="utf-8") as file:
        first = file.readline()
    if not first:
        return
    try:
        found = json.loads(first)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found.keys() >= set(_COLUMNS):
        raise _not_ours(path, "choose another name")
    with name.open("rb") as raw:
        raw.seek(-1, 2)
        if raw.read(1) != b"\n":
            raise _not_ours(path, "its last line has no end; choose another name")


def _not_ours(path: Path, what: str) -> RunFileError:
    return RunFileError(f"{path} is no transcript of interviews that can be used here: {what}")


def _storable(value: Any) -> Any:
    """Return a value as DuckDB takes it: texts without halves of surrogate pairs."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {key: _storable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(each) for each in value]
    return value
