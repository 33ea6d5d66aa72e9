"""Reading a run database, and nothing but reading.

The file is opened read-only with access to other files, extensions and Python variables switched
off and the switches locked; besides, only a single SELECT, DESCRIBE, SHOW, SUMMARIZE, EXPLAIN of
a SELECT or PRAGMA table_info gets through.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from simulation.errors import UsageError
from simulation.runlog import problems
from simulation.runlog.header import RunInfo
from simulation.runlog.names import absolute
from simulation.runlog.schema import CONNECTION, SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Self

_READING = {**CONNECTION, "lock_configuration": True}
_TABLE_INFO = re.compile(r"\s*PRAGMA\s+table_info\b", re.IGNORECASE)
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(ANALYZE\s+)?(\([^)]*\)\s*)?", re.IGNORECASE)

_MOST = 2**62  # rows; DuckDB counts in 64 bits

_ONLY_READ = (
    "a run database is only read: {kind} is refused. Allowed is one SELECT, DESCRIBE, SHOW, "
    "SUMMARIZE or EXPLAIN SELECT (a pivot: SELECT * FROM (PIVOT … ON … IN (…) USING …))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table or view."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table or view. rows: how many it holds; None for a view, which would have to be run."""

    name: str
    kind: str
    comment: str
    rows: int | None
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """An answer to a query. truncated: there were more rows than asked for."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool

    def dicts(self) -> list[dict[str, Any]]:
        """Return the rows as column name: value."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class RunFile:
    """A run database open for reading. `run` is its row of table `run`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None) -> None:
        """Take over a connection; use `open` instead."""
        self.path = path
        self._connection = connection
        row = connection.execute("SELECT * FROM run")
        names = [column[0] for column in row.description or ()]
        values = row.fetchall()[0]
        self.run = RunInfo.from_row(dict(zip(names, values, strict=True)))

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a run's file.

        Raises:
            RunFileError: there is no such file, it is no run database, is damaged, is in use by
                another process, or has a newer layout.
        """
        path = Path(path)
        name = absolute(path)
        if not path.is_file():
            raise problems.missing(path)
        with problems.interruptible():
            try:
                connection = duckdb.connect(name, read_only=True, config=_READING)
            except duckdb.Error as error:
                raise problems.cannot_open(path, error) from error
        try:
            with reading(path):
                check_version(connection, path)
                return cls(connection, path)
        except (
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
        ) as error:  # a table `run` of somebody else's
            connection.close()
            raise problems.no_run(path) from error
        except BaseException:
            connection.close()
            raise

    def tables(self) -> tuple[Table, ...]:
        """Return all tables, then all views, with the meaning of each column.

        Raises:
            RunFileError: the file is damaged.
        """
        with reading(self.path):
            return self._tables()

    def _tables(self) -> tuple[Table, ...]:
        return tuple(
            Table(
                name=name,
                kind=kind,
                comment=comment or "",
                rows=rows,
                columns=tuple(
                    Column(name=each, type=of, comment=text or "")
                    for table, each, of, text in self._catalog_columns()
                    if table == name
                ),
            )
            for name, kind, comment, rows in self._catalog_tables()
        )

    def query(
        self, sql: str, *, limit: int | None = None, parameters: Sequence[Any] = ()
    ) -> QueryResult:
        """Run one reading statement.

        limit: at most so many rows, > 0; None for all.  parameters: values for its `?`.

        Raises:
            UsageError: the statement does more than read, or is wrong.
            RunFileError: the file is damaged.
        """
        with self._asking(sql) as cursor:
            self._check_reads(cursor, sql)
            cursor.execute(sql, list(parameters))
            description = cursor.description or ()
            most = None if limit is None else min(limit, _MOST)
            rows = cursor.fetchall() if most is None else cursor.fetchmany(most + 1)
        return QueryResult(
            columns=tuple(column[0] for column in description),
            types=tuple(str(column[1]) for column in description),
            rows=rows[:limit],
            truncated=limit is not None and len(rows) > limit,
        )

    def arrow(self, sql: str, *, parameters: Sequence[Any] = ()) -> Any:
        """Run one SELECT and return the whole answer as a `pyarrow.Table`.

        parameters: values for its `?`.

        Raises:
            UsageError: the statement is no SELECT, or is wrong.
            RunFileError: the file is damaged.
        """
        with self._asking(sql) as cursor:
            if self._check_reads(cursor, sql) is not duckdb.StatementType.SELECT:
                raise UsageError("only the answer to a SELECT can be had as a table")
            return cursor.sql(sql, params=list(parameters)).to_arrow_table()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    @contextlib.contextmanager
    def _asking(self, sql: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor for a statement, and say what is wrong with the statement or the file."""
        try:
            sql.encode()
        except UnicodeEncodeError as error:
            raise UsageError("the query cannot be run: it is not valid UTF-8") from error
        cursor = self._connection.cursor()
        try:
            with reading(self.path):
                try:
                    yield cursor
                except duckdb.Error as error:
                    if problems.is_damage(error) or problems.interrupted(error):
                        raise
                    raise self._bad_query(error) from error
        finally:
            cursor.close()

    @staticmethod
    def _check_reads(cursor: duckdb.DuckDBPyConnection, sql: str) -> duckdb.StatementType:
        statements = cursor.extract_statements(sql)
        if len(statements) != 1:
            raise UsageError(f"give one SQL statement; this has {len(statements)}")
        kind = statements[0].type
        if kind is duckdb.StatementType.EXPLAIN:
            explained = cursor.extract_statements(_EXPLAIN.sub("", sql, count=1))
            reads = [each.type for each in explained] == [duckdb.StatementType.SELECT]
        else:
            reads = kind is duckdb.StatementType.SELECT or bool(_TABLE_INFO.match(sql))
        if not reads:
            raise UsageError(_ONLY_READ.format(kind=kind.name))
        return kind

    def _bad_query(self, error: duckdb.Error) -> UsageError:
        columns: dict[str, tuple[str, ...]] = {}
        for table, name, *_ in self._catalog_columns():
            columns[table] = (*columns.get(table, ()), name)
        return problems.bad_query(error, columns)

    def _catalog_tables(self) -> list[tuple[Any, ...]]:
        return self._connection.execute(
            "SELECT table_name, 'table', comment, estimated_size FROM duckdb_tables() "
            "WHERE NOT internal UNION ALL "
            "SELECT view_name, 'view', comment, NULL FROM duckdb_views() WHERE NOT internal "
            "ORDER BY 2, 1"
        ).fetchall()

    def _catalog_columns(self) -> list[tuple[Any, ...]]:
        return self._connection.execute(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY table_name, column_index"
        ).fetchall()


@contextlib.contextmanager
def reading(path: Path | None) -> Iterator[None]:
    """Say it of the file when DuckDB fails within the block.

    Raises:
        RunFileError: the file is damaged.
        KeyboardInterrupt: DuckDB was interrupted.
    """
    with problems.interruptible():
        try:
            yield
        except duckdb.Error as error:
            if problems.interrupted(error):
                raise
            raise problems.damaged(path, error) from error


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
