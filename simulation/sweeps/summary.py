"""The summary of a sweep, `sweep.duckdb`: one row per run. Besides the run log, this knows DuckDB.

While a sweep is at work it holds the file open, so that no second one can work in its folder.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from simulation.errors import RunFileError
from simulation.runlog import problems
from simulation.runlog.names import absolute
from simulation.runlog.schema import CONNECTION

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from simulation.sweeps.base import Outcome
    from simulation.sweeps.plan import Plan, PlannedRun

NAME = "sweep.duckdb"
MISSING = "missing"
"""Status of a run that was not begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of table `runs`."""

    name: str
    type: str
    comment: str


_BEFORE = (
    Column(name="path", type="VARCHAR NOT NULL", comment="run database, beside this file"),
    Column(name="cell", type="INTEGER NOT NULL", comment="combination of settings, from 1"),
)
_AFTER = (
    Column(name="seed", type="BIGINT NOT NULL", comment="seed of the run"),
    Column(
        name="status",
        type="VARCHAR NOT NULL",
        comment="missing, complete, interrupted, budget_exhausted or failed",
    ),
    Column(name="last_tick", type="INTEGER", comment="last tick in the run database"),
    Column(name="personas", type="INTEGER", comment="personas of the run"),
    Column(name="turns", type="BIGINT", comment="turns of all personas"),
    Column(name="digest", type="VARCHAR", comment="state digest of the last tick"),
    Column(name="run_id", type="VARCHAR", comment="unique name of the run"),
    Column(name="bought", type="DOUBLE", comment="share of personas that bought, [0, 1]"),
    Column(name="rejected", type="DOUBLE", comment="share of personas that rejected, [0, 1]"),
    Column(name="seconds", type="DOUBLE", comment="time that making it took in its last start"),
    Column(name="error", type="VARCHAR", comment="why the run is not complete; NULL for nothing"),
)
_SWEEP = """
CREATE TABLE sweep (
    scenario_name VARCHAR NOT NULL, scenario_sha256 VARCHAR NOT NULL,
    engine_version VARCHAR NOT NULL
);
COMMENT ON TABLE sweep IS 'The sweep: one row. Its settings are columns of table runs.';
COMMENT ON COLUMN sweep.scenario_name IS 'name of the scenario';
COMMENT ON COLUMN sweep.scenario_sha256 IS 'SHA-256 of the scenario''s text, hexadecimal';
COMMENT ON COLUMN sweep.engine_version IS 'version of the package that made the runs';
"""
_TABLE = "One row per run of the sweep: its settings, its seed, how it ended and in what state."


def columns(plan: Plan) -> tuple[Column, ...]:
    """Return the columns of table `runs`: a setting has its path for a name, as text."""
    settings = (
        Column(name=axis.path, type="VARCHAR", comment=f"setting {axis.path}, as it was given")
        for axis in plan.axes
    )
    means = (
        Column(
            name=f"mean_{target}",
            type="DOUBLE",
            comment=f"mean belief in {target} over all personas after the last tick, [0, 1]",
        )
        for target in plan.targets
    )
    return _distinct((*_BEFORE, *settings, *_AFTER, *means))


def _distinct(wanted: Iterable[Column]) -> tuple[Column, ...]:
    """Return columns with a number added to names that differ in their case alone, or not even."""
    taken: set[str] = set()
    found = []
    for column in wanted:
        name, number = column.name, 1
        while name.casefold() in taken:
            number += 1
            name = f"{column.name}_{number}"
        taken.add(name.casefold())
        found.append(Column(name=name, type=column.type, comment=column.comment))
    return tuple(found)


class Summary:
    """The summary of a sweep, open for writing."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, plan: Plan) -> None:
        """Take over a connection; use `open` instead."""
        self.path = path
        self._connection = connection
        self._names = [column.name for column in columns(plan)]
        self._targets = plan.targets

    @classmethod
    def open(cls, plan: Plan) -> Self:
        """Open the summary of a sweep, or make it, with a row for every run of the plan.

        Raises:
            RunFileError: another process is at work in this folder, or the file is damaged or
                cannot be written.
        """
        path = plan.folder / NAME
        try:
            connection = duckdb.connect(absolute(path), config={**CONNECTION})
        except duckdb.Error as error:
            raise problems.cannot_open(path, error) from error
        summary = cls(connection, path, plan)
        try:
            summary._prepare(plan)
        except BaseException:
            connection.close()
            raise
        return summary

    def _prepare(self, plan: Plan) -> None:
        try:
            found = self._connection.execute(
                "SELECT column_name FROM duckdb_columns() WHERE table_name = 'runs' "
                "ORDER BY column_index"
            ).fetchall()
            if not found:
                self._connection.execute(_layout(plan))
            elif [name for (name,) in found] != self._names:
                raise RunFileError(
                    f"{self.path} is not the summary of this sweep: delete it, and it is made "
                    "again from the runs"
                )
            known = {path for (path,) in self._rows("SELECT path FROM runs")}
            new = [run for run in plan.runs if run.path.name not in known]
            self._put((run, None) for run in new)
        except duckdb.Error as error:
            raise problems.cannot_write(self.path, "the summary", error) from error

    def complete(self) -> dict[str, tuple[str, str]]:
        """Return the runs that are complete: the name of each file, its run_id and digest."""
        rows = self._rows("SELECT path, run_id, digest FROM runs WHERE status = 'complete'")
        return {path: (run_id, digest) for path, run_id, digest in rows}

    def put(self, run: PlannedRun, outcome: Outcome) -> None:
        """Write how a run ended, in one transaction.

        Raises:
            RunFileError: the file cannot be written.
        """
        try:
            self._put([(run, outcome)])
        except duckdb.Error as error:
            raise problems.cannot_write(self.path, "a run", error) from error

    def rows(self) -> list[dict[str, Any]]:
        """Return table `runs`, by cell and seed."""
        rows = self._rows("SELECT * FROM runs ORDER BY cell, seed")
        return [dict(zip(self._names, row, strict=True)) for row in rows]

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(duckdb.Error):  # the rows are safe in its log
            self._connection.close()

    def __enter__(self) -> Self:
        """Return the summary itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise problems.damaged(self.path, error) from error

    def _put(self, ended: Iterable[tuple[PlannedRun, Outcome | None]]) -> None:
        rows = [self._row(run, outcome) for run, outcome in ended]
        if not rows:
            return
        places = ", ".join("?" * len(self._names))
        self._connection.begin()
        try:
            self._connection.executemany(
                "DELETE FROM runs WHERE path = ?", [row[:1] for row in rows]
            )
            self._connection.executemany(f"INSERT INTO runs VALUES ({places})", rows)  # noqa: S608 - question marks
            self._connection.commit()
        except BaseException:
            with contextlib.suppress(duckdb.Error):
                self._connection.rollback()
            raise

    def _row(self, run: PlannedRun, outcome: Outcome | None) -> list[Any]:
        """Return a row of table `runs`, in the order of `columns`."""
        before = [run.path.name, run.cell.number, *run.cell.values, run.seed]
        if outcome is None:
            return [*before, MISSING, *[None] * (len(self._names) - len(before) - 1)]
        return [
            *before,
            outcome.status,
            outcome.last_tick,
            outcome.personas,
            outcome.turns,
            outcome.digest,
            outcome.run_id,
            outcome.bought,
            outcome.rejected,
            outcome.seconds,
            outcome.error,
            *(outcome.means.get(target) for target in self._targets),
        ]


def _layout(plan: Plan) -> str:
    made = columns(plan)
    listed = ", ".join(f"{_quoted(column.name)} {column.type}" for column in made)
    manifest = plan.manifest
    facts = (manifest.scenario, manifest.scenario_sha256, manifest.engine_version)
    values = ", ".join(_text(each) for each in facts)
    lines = [
        _SWEEP,
        f"INSERT INTO sweep VALUES ({values});",  # noqa: S608 - quoted by `_text`
        f"CREATE TABLE runs ({listed});",
        f"COMMENT ON TABLE runs IS {_text(_TABLE)};",
    ]
    lines += [
        f"COMMENT ON COLUMN runs.{_quoted(column.name)} IS {_text(column.comment)};"
        for column in made
    ]
    return "\n".join(lines)


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _text(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"
