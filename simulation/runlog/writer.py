"""Writing a run database: one transaction a tick, always whole columns.

A tick is in the file wholly or not at all, whenever the process dies. DuckDB's write-ahead log
carries the ticks since the last checkpoint, which is made at creation, at the end, and in between
for every 32 MB of log.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from simulation.errors import RunFileError
from simulation.runlog import problems
from simulation.runlog.columns import arrow_table, storable_json
from simulation.runlog.copying import copy_file, copy_history
from simulation.runlog.header import STATUSES
from simulation.runlog.names import absolute, check_local
from simulation.runlog.reader import RunFile, check_version, reading
from simulation.runlog.schema import CONNECTION, SCHEMA_VERSION, layout
from simulation.runlog.written import ATTACHED, attach, release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from simulation.records import ModelCalls, Rows, TickRecords
    from simulation.runlog.header import RunHeader

_WRITING = {**CONNECTION, "wal_autocheckpoint": "32MB"}
_MEMORY, _MEMORY_EACH = 1_000_000_000, 10_000
"""Bytes that DuckDB may use, at least and for each persona. A tick needs about 3,000 a turn; the
rest keeps pages of the file, which by default could fill most of the machine's memory."""
_UPDATES = {  # rows that change a column of others: the table, and the column that says which
    "evictions": ("memories", "memory_id"),
    "quarantines": ("personas", "persona_id"),
}
_FORKING = {key: value for key, value in _WRITING.items() if key != "enable_external_access"}
_STORED_AS = {"embeddings": "embedding_rows"}  # `embeddings` is a view of the quantised rows


class RunWriter:
    """A run database that is being written.

    Use `create`, then `write` for tick 0 and each tick after it, then `finish`. As a context
    manager it closes the file, and marks a run that an exception ended before `finish`.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None) -> None:
        """Take over a connection to a file whose tables exist; use `create` instead."""
        self.path = path
        self.last_tick = -1
        self._connection = connection
        self._finished = False
        self._folders: list[Path] = []  # made for this file
        self._calls = 0  # the last id in model_calls
        self._types: dict[str, dict[str, str]] = {}
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal"
        )
        for table, column, kind in columns.fetchall():
            self._types.setdefault(table, {})[column] = kind
        if "model_calls" in self._types:
            most = connection.execute("SELECT max(call_id) FROM model_calls").fetchone()
            self._calls = int(most[0] or 0) if most else 0
        if "personas" in self._types:
            self._bound_memory()

    @classmethod
    def create(cls, path: Path | str | None, run: RunHeader) -> Self:
        """Make a run database, its status `running`, and open it for writing.

        path: a new file, its folders made as needed; None keeps the run in memory.

        Raises:
            RunFileError: the file exists, or cannot be written; nothing is left behind.
            ValueError: the header holds something that JSON cannot say.
        """
        if path is None:
            connection = duckdb.connect(":memory:", config=_WRITING)
            _lay_out(connection, run)
            return cls(connection, None)
        return cls._made(Path(path), lambda connection: _lay_out(connection, run), _WRITING)

    @classmethod
    def fork(
        cls, path: Path | str, run: RunHeader, *, parent: Path, rows: Sequence[Rows] = ()
    ) -> Self:
        """Make a run database that holds the history it shares with another run, and open it.

        run: names the parent run and the last tick shared.  parent: its file, which nobody writes.
        rows: what else is known from the start, such as events to come.

        Raises:
            RunFileError: the file exists, or cannot be written, or the parent not be read;
                nothing is left behind.
        """

        def fill(connection: duckdb.DuckDBPyConnection) -> None:
            tick = run.forked_at_tick or 0
            _lay_out(connection, run)
            copy_history(connection, parent, tick)
            draft = cls(connection, None)
            with draft._transaction():
                for part in rows:
                    draft._put(part, 0.0)

        writer = cls._made(Path(path), fill, _FORKING)
        writer.last_tick = run.forked_at_tick or 0
        return writer

    @classmethod
    def reopen(cls, path: Path | str) -> Self:
        """Open a run database to go on with it; nothing in it is changed yet, see `resumed`.

        Raises:
            RunFileError: there is no such file, it is no run database, is damaged, cannot be
                written, is in use by another process, or has a newer layout.
        """
        path = Path(path)
        absolute(path)
        if not path.is_file():
            raise problems.missing(path)
        with problems.interruptible():
            try:
                connection = attach(path, _WRITING)
            except duckdb.Error as error:
                raise problems.cannot_reopen(path, error) from error
        try:
            with reading(path):
                check_version(connection, path)
                writer = cls(connection, path)
                found = connection.execute("SELECT last_tick FROM run").fetchone()
        except BaseException:
            release(connection, path)
            raise
        writer.last_tick = int(found[0]) if found else -1
        writer._finished = True  # as long as nothing is changed, a failure changes no mark either
        return writer

    @classmethod
    def _made(
        cls,
        path: Path,
        fill: Callable[[duckdb.DuckDBPyConnection], None],
        config: Mapping[str, Any],
    ) -> Self:
        check_free(path)
        folders = _missing_folders(path)
        try:
            writer = cls(_create_file(path, fill, config), path)
        except (OSError, duckdb.Error) as error:
            _remove_empty(folders)
            raise problems.cannot_write(path, "a new run", error) from error
        except BaseException:
            _remove_empty(folders)
            raise
        writer._folders = folders
        return writer

    def write(self, records: TickRecords, *, wall_s: float) -> None:
        """Write all rows of the next tick in one transaction.

        wall_s: seconds that the tick took, for its row in `ticks`.

        Raises:
            RunFileError: the tick could not be written; the file holds the ticks before it.
            ValueError: the tick is not the next one, or its rows do not fit their table.
        """
        if records.tick != self.last_tick + 1:
            raise ValueError(f"tick {records.tick} cannot follow tick {self.last_tick}")
        try:
            with problems.interruptible(), self._transaction():
                for rows in records.rows:
                    self._put(rows, wall_s)
                self._connection.execute("UPDATE run SET last_tick = ?", [records.tick])
        except duckdb.Error as error:
            raise problems.cannot_write(self.path, f"tick {records.tick}", error) from error
        self.last_tick = records.tick
        if records.tick == 0:
            self._bound_memory()

    def log_calls(self, calls: ModelCalls) -> None:
        """Write requests to language models in a transaction of their own, ahead of their tick.

        So a crash loses nothing that was paid for.

        Raises:
            RunFileError: they could not be written.
        """
        if not len(calls):
            return
        ids = self._calls + 1 + np.arange(len(calls))
        try:
            with problems.interruptible(), self._transaction():
                values = arrow_table(calls, self._types["model_calls"], {"call_id": ids})
                self._select("INSERT INTO model_calls BY NAME SELECT * FROM rows", values)
        except duckdb.Error as error:
            raise problems.cannot_write(self.path, "calls to a model", error) from error
        self._calls += len(calls)

    def resumed(
        self, *, engine_version: str, settings: Sequence[str], packages: Mapping[str, str]
    ) -> None:
        """Note that a run goes on: it is `running` again, and table `resumes` says since when.

        engine_version, packages: what goes on.  settings: what changes for the rest.

        Raises:
            RunFileError: the file could not be written; it is as it was.
        """
        number = "(SELECT count(*) + 1 FROM resumes)"
        values = [
            _utc_now(),
            self.last_tick,
            engine_version,
            list(settings),
            storable_json(json.dumps(dict(packages), sort_keys=True)),
        ]
        try:
            with problems.interruptible(), self._transaction():
                self._connection.execute(
                    f"INSERT INTO resumes VALUES ({number}, ?, ?, ?, ?, ?)",  # noqa: S608 - our own words
                    values,
                )
                self._connection.execute("UPDATE run SET status = 'running', finished_at = NULL")
        except duckdb.Error as error:
            raise problems.cannot_write(self.path, "the resumption", error) from error
        self._finished = False

    def snapshot(self, target: Path) -> None:
        """Replace `target` by a copy of the run as it is now, which any process can read.

        Raises:
            RunFileError: the copy could not be written; an earlier one is as it was.
        """
        if self.path is None:
            raise ValueError("a run in memory has no file to copy")
        try:
            self._connection.execute("CHECKPOINT")
        except duckdb.Error as error:
            raise problems.cannot_write(self.path, "the snapshot", error) from error
        copy_file(Path(absolute(self.path)), Path(absolute(target)))

    def finish(self, status: str) -> None:
        """Set the run's status and time of end, and fold the write-ahead log into the file.

        Raises:
            RunFileError: the file could not be written.
            ValueError: the status is none of `STATUSES`.
        """
        if status not in STATUSES:
            raise ValueError(f'"{status}" is no status of a run; they are {", ".join(STATUSES)}')
        try:
            self._connection.execute(
                "UPDATE run SET status = ?, finished_at = ?", [status, _utc_now()]
            )
            self._connection.execute("CHECKPOINT")
        except duckdb.Error as error:
            raise problems.cannot_write(self.path, "the end of the run", error) from error
        self._finished = True

    def close(self) -> None:
        """Close the file; closing twice does nothing.

        Raises:
            RunFileError: the write-ahead log could not be folded into the file.
        """
        try:
            if self.path is None:
                self._connection.close()
            else:
                release(self._connection, self.path)
        except duckdb.Error as error:
            raise problems.cannot_write(self.path, "the last ticks", error) from error

    def discard(self) -> None:
        """Close the file and remove it, with the folders that were made for it."""
        with contextlib.suppress(RunFileError):
            self.close()
        self._finished = True
        if self.path is not None:
            _unlink(Path(absolute(self.path)))
        _remove_empty(self._folders)

    def reader(self) -> RunFile:
        """Return a reader of what has been written so far, in this process."""
        cursor = self._connection.cursor()
        if self.path is not None:
            cursor.execute(f"USE {ATTACHED}")
        return RunFile(cursor, self.path)

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file, marking a run that an exception ended."""
        if kind is None:
            self.close()
            return
        # The exception on its way says what is wrong; a full disk must not hide it.
        with contextlib.suppress(RunFileError):
            if not self._finished:
                self.finish("interrupted" if kind is KeyboardInterrupt else "failed")
        with contextlib.suppress(RunFileError):
            self.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.begin()
        try:
            yield
            self._connection.commit()
        except BaseException:
            # A failed commit has rolled back by itself, and a broken file refuses: both are fine.
            with contextlib.suppress(duckdb.Error):
                self._connection.rollback()
            raise
        finally:
            self._connection.unregister("rows")

    def _bound_memory(self) -> None:
        """Let DuckDB use as much memory as these personas need, if that is less than it may."""
        found = self._connection.execute(
            "SELECT (SELECT count(*) FROM personas), "
            "parse_formatted_bytes(current_setting('memory_limit'))"
        ).fetchone()
        personas, allowed = found or (0, 0)
        wanted = _MEMORY + _MEMORY_EACH * personas
        if personas and wanted < allowed:  # nobody yet: a large town is about to come
            self._connection.execute(f"SET memory_limit = '{wanted}B'")

    def _put(self, rows: Rows, wall_s: float) -> None:
        if not len(rows):
            return
        if rows.table in _UPDATES:
            table, key = _UPDATES[rows.table]
            changed = next(name for name in rows.columns() if name != key)
            self._select(
                f"UPDATE {table} SET {changed} = rows.{changed} FROM rows "  # noqa: S608 - own names
                f"WHERE {table}.{key} = rows.{key}",
                arrow_table(rows, self._types[table], {}),
            )
            return
        table = _STORED_AS.get(rows.table, rows.table)
        extra = {"wall_s": np.full(len(rows), wall_s)} if table == "ticks" else {}
        values = arrow_table(rows, self._types.get(table, {}), extra)
        insert = f"INSERT INTO {table} BY NAME SELECT * FROM rows"  # noqa: S608 - names a record class
        self._select(insert, values)

    def _select(self, statement: str, rows: Any) -> None:
        self._connection.register("rows", rows)  # until the next, or the end of the transaction
        self._connection.execute(statement)


def _utc_now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)  # the columns are plain UTC timestamps


def _lay_out(connection: duckdb.DuckDBPyConnection, run: RunHeader) -> None:
    values = {
        **run.columns(),
        "schema_version": SCHEMA_VERSION,
        "status": "running",
        "last_tick": -1,
        "started_at": _utc_now(),
    }
    connection.begin()
    connection.execute(layout())
    names, places = ", ".join(values), ", ".join("?" * len(values))
    insert = f"INSERT INTO run ({names}) VALUES ({places})"  # noqa: S608 - names of our own columns
    connection.execute(insert, list(values.values()))
    connection.commit()


def check_free(path: Path) -> None:
    """Check that a new run can have this name, as far as names go.

    Raises:
        RunFileError: it is taken, or no name of a file on this machine.
    """
    check_local(path)
    absolute(path)
    if path.exists():
        raise problems.exists(path)
    if path.with_name(f"{path.name}.wal").exists():
        raise problems.leftover_wal(path)


def _create_file(
    path: Path,
    fill: Callable[[duckdb.DuckDBPyConnection], None],
    config: Mapping[str, Any],
) -> duckdb.DuckDBPyConnection:
    """Make the file under a passing name and then give it its own, so that it is never half."""
    path = Path(absolute(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{uuid.uuid4().hex}.new")
    try:
        with duckdb.connect(str(draft), config=dict(config)) as connection:
            fill(connection)
            connection.execute("CHECKPOINT")  # closing does not say when its own one fails
        _rename(draft, path)
    finally:
        _unlink(draft)
    try:
        return attach(path, _WRITING)
    except (duckdb.Error, RunFileError):
        _unlink(path)
        raise


def _unlink(path: Path) -> None:
    """Remove a database that nobody has seen yet, and its log."""
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)


def _missing_folders(path: Path) -> list[Path]:
    """Return the folders of a path that are not there, the innermost first."""
    return [folder for folder in path.parents if not folder.exists()]


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders that were made for a run that did not come about."""
    for folder in folders:
        with contextlib.suppress(OSError):  # it holds the run, or was never made
            folder.rmdir()


def _rename(draft: Path, path: Path) -> None:
    try:
        path.hardlink_to(draft)  # unlike a rename, never replaces a file made in the meantime
    except FileExistsError as error:
        raise problems.exists(path) from error
    except (OSError, NotImplementedError):
        draft.rename(path)  # a file system without hard links
