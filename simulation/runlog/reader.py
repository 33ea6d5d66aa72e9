"""Run databases open for reading, and the other files that queries can be put to."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from simulation.errors import UsageError
from simulation.runlog import problems
from simulation.runlog.database import Column, Database, QueryResult, Table, connected, reading
from simulation.runlog.header import RunInfo
from simulation.runlog.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "Column",
    "Database",
    "QueryResult",
    "RunFile",
    "Table",
    "check_version",
    "open_database",
    "reading",
]


_AHEAD = ("stimuli", "model_calls")  # tables that may know of ticks to come


class RunFile(Database):
    """A run database open for reading. `run` is its row of table `run`.

    Also its tables, as data frames: `Run("runs/a.duckdb").beliefs(tick=30)`.
    """

    def __init__(
        self, source: Path | str | duckdb.DuckDBPyConnection, path: Path | None = None
    ) -> None:
        """Open a run's file.

        source: the file; or a connection to take over, to the file at `path`.

        Raises:
            RunFileError: there is no such file, it is no run database, is damaged, is in use by
                another process, or has a newer layout.
        """
        if isinstance(source, duckdb.DuckDBPyConnection):
            super().__init__(source, path)
            self.run = _info(source)
            return
        path = Path(source)
        super().__init__(connected(path), path)
        try:
            with reading(path):
                check_version(self._connection, path)
                self.run = _info(self._connection)
        except (
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
        ) as error:  # a table `run` of somebody else's
            self._connection.close()
            raise problems.no_run(path) from error
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a run's file; the same as `RunFile(path)`."""
        return cls(path)

    def table(self, name: str, /, *, arrow: bool = False, **where: Any) -> Any:
        """Return a table or view; see `Database.table`. `tick` is a tick of the run, or several.

        Raises:
            UsageError: also where the run has no such tick.
        """
        found = super().table(name, arrow=arrow, **where)
        if name not in _AHEAD:
            self._check_ticks(where.get("tick"))
        return found

    def _check_ticks(self, wanted: Any) -> None:
        several = isinstance(wanted, Iterable) and not isinstance(wanted, str | bytes)
        for tick in wanted if several else [wanted]:
            if tick is None:
                continue
            try:
                whole = None if isinstance(tick, bool) else operator.index(tick)
            except TypeError:
                whole = None
            if whole is None or not 0 <= whole <= self.run.last_tick:
                raise UsageError(
                    f"{self.path or 'the run'} has no tick {tick!r:.40}; it holds the ticks 0 to "
                    f"{self.run.last_tick}"
                )


class SweepFile(Database):
    """The summary of a sweep open for reading: tables `sweep` and `runs`."""

    what = "the summary of a sweep"


class TranscriptFile(Database):
    """Interviews open for reading: tables `interviews` and `model_calls`."""

    what = "a transcript"


def open_database(path: Path | str) -> Database:
    """Open a run database, the summary of a sweep or a transcript of interviews.

    Raises:
        RunFileError: there is no such file, it is neither, is damaged, is in use by another
            process, or has a newer layout.
    """
    path = Path(path)
    connection = connected(path)
    try:
        with reading(path):
            names = {
                name
                for (name,) in connection.execute(
                    "SELECT table_name FROM duckdb_tables() WHERE NOT internal"
                ).fetchall()
            }
    except BaseException:
        connection.close()
        raise
    if "run" not in names:
        for kind, needed in ((SweepFile, {"sweep", "runs"}), (TranscriptFile, {"interviews"})):
            if needed <= names:
                return kind(connection, path)
    connection.close()
    if "run" not in names:
        raise problems.nothing_known(path)
    return RunFile(path)


def check_version(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Check that a file is a run database, and of a layout that is known.

    Raises:
        RunFileError: it is not.
        duckdb.Error: it is damaged.
    """
    try:
        found = connection.execute("SELECT CAST(schema_version AS INTEGER) FROM run").fetchall()
    except duckdb.Error as error:
        if problems.is_damage(error) or problems.interrupted(error):
            raise
        raise problems.no_run(path) from error
    if len(found) != 1:
        raise problems.no_run(path)
    if found[0][0] > SCHEMA_VERSION:
        raise problems.newer(path, found[0][0], SCHEMA_VERSION)


def _info(connection: duckdb.DuckDBPyConnection) -> RunInfo:
    """Return the row of table `run`.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: it is none of ours.
    """
    row = connection.execute("SELECT * FROM run")
    names = [column[0] for column in row.description or ()]
    values = row.fetchall()[0]
    return RunInfo.from_row(dict(zip(names, values, strict=True)))
