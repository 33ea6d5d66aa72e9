"""Reading a DuckDB file of this package, and nothing but reading.

The file is opened read-only with access to other files, extensions and Python variables switched
off and the switches locked; besides, only a single SELECT, DESCRIBE, SHOW, SUMMARIZE, EXPLAIN of
a SELECT or PRAGMA table_info gets through.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from simulation.errors import UsageError
from simulation.runlog import problems
from simulation.runlog.names import absolute
from simulation.runlog.schema import CONNECTION
from simulation.runlog.written import ATTACHED, check_not_written
from simulation.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

# What people read comes in the order in which it was written, so that pages of it fit together.
_READING = {**CONNECTION, "lock_configuration": True, "preserve_insertion_order": True}
_TABLE_INFO = re.compile(r"\s*PRAGMA\s+table_info\b", re.IGNORECASE)
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(ANALYZE\s+)?(\([^)]*\)\s*)?", re.IGNORECASE)

_MOST = 2**62  # rows; DuckDB counts in 64 bits

_ONLY_READ = (
    "{what} is only read: {kind} is refused. Allowed is one SELECT, DESCRIBE, SHOW, "
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


class Database:
    """A DuckDB file of this package, open for reading.

    Each table and view can be had as a data frame by its name: `database.turns(tick=3)` is
    `database.table("turns", tick=3)`.
    """

    what = "a run database"
    """What the file is, in words."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None) -> None:
        """Take over a connection."""
        self.path = path
        self._connection = connection
        used = connection.execute("SELECT current_database()").fetchone()
        self._attached = used == (ATTACHED,)

    def tables(self) -> tuple[Table, ...]:
        """Return all tables, then all views, with the meaning of each column.

        Raises:
            RunFileError: the file is damaged.
        """
        with reading(self.path):
            columns: dict[str, list[Column]] = {}
            for table, name, kind, text in self._catalog_columns():
                columns.setdefault(table, []).append(
                    Column(name=name, type=kind, comment=text or "")
                )
            return tuple(
                Table(
                    name=name,
                    kind=kind,
                    comment=comment or "",
                    rows=rows,
                    columns=tuple(columns.get(name, ())),
                )
                for name, kind, comment, rows in self._catalog_tables()
            )

    def query(
        self,
        sql: str,
        *,
        limit: int | None = None,
        skip: int = 0,
        parameters: Sequence[Any] = (),
    ) -> QueryResult:
        """Run one reading statement.

        limit: at most so many rows, > 0; None for all.  skip: rows left out at the start, >= 0.
        parameters: values for its `?`.

        Raises:
            UsageError: the statement does more than read, or is wrong.
            RunFileError: the file is damaged.
        """
        with self._asking(sql) as cursor:
            self._check_reads(cursor, sql)
            cursor.execute(sql, list(parameters))
            description = cursor.description or ()
            if skip:
                cursor.fetchmany(min(skip, _MOST))
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
            if self._check_reads(cursor, sql) != "SELECT":
                raise UsageError("only the answer to a SELECT can be had as a table")
            return cursor.sql(sql, params=list(parameters)).to_arrow_table()

    def frame(self, sql: str, *, parameters: Sequence[Any] = ()) -> Any:
        """Run one SELECT and return the whole answer as a `pandas.DataFrame`.

        parameters: values for its `?`.

        Raises:
            UsageError: pandas is not installed, or as for `arrow`.
            RunFileError: the file is damaged.
        """
        return _pandas(self.arrow(sql, parameters=parameters))

    def table(self, name: str, /, *, arrow: bool = False, **where: Any) -> Any:
        """Return a table or view as a `pandas.DataFrame`.

        A table comes in the order in which it was written, a view sorted by its columns.

        arrow: as a `pyarrow.Table` instead, which needs no pandas.
        where: column=value keeps the rows with that value, column=[…] those with one of several,
        column=None those without.

        Raises:
            UsageError: there is no such table or column, or pandas is not installed.
            RunFileError: the file is damaged.
        """
        sql, parameters = self._select(name, where)
        found = self.arrow(sql, parameters=parameters)
        return found if arrow else _pandas(found)

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

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the method that gives the table or view of a name; see `table`.

        Raises:
            AttributeError: there is none.
        """
        if name.startswith("_"):  # of the machinery, or of an object that is not made yet
            raise AttributeError(name)
        names = self._names()
        if name not in names:
            raise AttributeError(
                f"{self.what} has no method and no table {name!r}{did_you_mean(name, names)}"
            )

        def found(*, arrow: bool = False, **where: Any) -> Any:
            return self.table(name, arrow=arrow, **where)

        found.__name__ = name
        found.__doc__ = f'Return table or view "{name}"; see `table`.'
        return found

    def __dir__(self) -> list[str]:
        """Return the names of methods and of tables, for completion."""
        return sorted({*super().__dir__(), *self._names()})

    def _names(self) -> list[str]:
        with reading(self.path):
            return [name for name, *_ in self._catalog_tables()]

    def _select(self, name: str, where: dict[str, Any]) -> tuple[str, list[Any]]:
        """Return the query for a table with some of its rows, and its parameters."""
        tables = {table.name: table for table in self.tables()}
        if name not in tables:
            raise problems.no_table(name, tables)
        columns = [column.name for column in tables[name].columns]
        conditions, parameters = [], []
        for column, wanted in where.items():
            if column not in columns:
                raise problems.no_column(column, columns, table=name)
            condition, values = _condition(column, wanted)
            conditions.append(condition)
            parameters += values
        sql = f"SELECT * FROM {_quoted(name)}"  # noqa: S608 - a name of the catalog, quoted
        if conditions:
            sql += f" WHERE {' AND '.join(conditions)}"
        if tables[name].kind == "view":
            sql += " ORDER BY ALL"
        return sql, parameters

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
                if self._attached:  # a cursor does not know what its connection uses
                    cursor.execute(f"USE {ATTACHED}")
                try:
                    yield cursor
                except duckdb.Error as error:
                    if problems.is_damage(error) or problems.interrupted(error):
                        raise
                    raise self._bad_query(error) from error
        finally:
            cursor.close()

    def _check_reads(self, cursor: duckdb.DuckDBPyConnection, sql: str) -> str:
        """Return the kind of a statement, if it does nothing but read.

        Raises:
            UsageError: it is none or several, or does more.
        """
        statements = cursor.extract_statements(sql)
        if len(statements) != 1:
            raise UsageError(f"give one SQL statement; this has {len(statements)}")
        kind = _kind(statements[0])
        if kind == "EXPLAIN":
            explained = cursor.extract_statements(_EXPLAIN.sub("", sql, count=1))
            reads = [_kind(each) for each in explained] == ["SELECT"]
        else:
            reads = kind == "SELECT" or bool(_TABLE_INFO.match(sql))
        if not reads:
            word = problems.first_word(sql) or kind
            raise UsageError(_ONLY_READ.format(what=self.what, kind=word))
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


def connected(path: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection to a DuckDB file that can only be read.

    Raises:
        RunFileError: there is no such file, or it cannot be opened.
    """
    name = absolute(path)
    if not path.is_file():
        raise problems.missing(path)
    check_not_written(path)
    with problems.interruptible():
        try:
            return duckdb.connect(name, read_only=True, config=_READING)
        except duckdb.Error as error:
            raise problems.cannot_open(path, error) from error


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


def _kind(statement: Any) -> str:
    """Return the kind of a statement; "" for one of which DuckDB's Python has no word."""
    try:
        return str(statement.type.name)
    except ValueError:  # 29, UPDATE EXTENSIONS, in DuckDB 2.0.1
        return ""


def _condition(column: str, wanted: Any) -> tuple[str, list[Any]]:
    """Return a condition of a query on a column, and its parameters."""
    name = _quoted(column)
    if wanted is None:
        return f"{name} IS NULL", []
    if isinstance(wanted, str | bytes) or not hasattr(wanted, "__iter__"):
        return f"{name} = ?", [_plain(wanted)]
    values = [_plain(value) for value in wanted]
    marks = ", ".join("?" * len(values))
    return (f"{name} IN ({marks})" if values else "false"), values


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's own, which DuckDB takes."""
    return value.item() if hasattr(value, "item") else value


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _pandas(table: Any) -> Any:
    try:
        return table.to_pandas()
    except ImportError as error:
        raise UsageError(
            "pandas is not installed: pip install pandas, or ask for Arrow (arrow=True, or "
            "`arrow` for a query of your own)"
        ) from error
