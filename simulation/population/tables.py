"""Read a population file, CSV or Parquet, into columns of texts."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simulation.population.problems import Problems, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns of texts; "" is a missing value.

    names: of all columns.  columns: those that were asked for, by name.  rows: their number.
    lines: 1-based line in the file where each row starts; empty for Parquet.  order: 0-based
    places in the file of the rows held; empty when all are held in file order.
    """

    source: str
    names: tuple[str, ...]
    columns: dict[str, list[str]]
    rows: int
    lines: tuple[int, ...] = ()
    order: tuple[int, ...] = ()

    def line(self, row: int) -> int | None:
        """Return the line of a row held, None for a file without lines."""
        return self.lines[self._place(row)] if self.lines else None

    def where(self, row: int, column: str) -> str:
        """Return the place of a row held as people count: from 1, in file order."""
        return f"row {self._place(row) + 1}, column {quoted(column)}"

    def take(self, order: Sequence[int]) -> Table:
        """Return the table with some of its rows, in another order."""
        columns = {name: [values[i] for i in order] for name, values in self.columns.items()}
        return replace(self, columns=columns, rows=len(order), order=tuple(order))

    def _place(self, row: int) -> int:
        return self.order[row] if self.order else row


def read_table(path: Path) -> Table:
    """Return a population file as texts. A suffix .parquet or .pq means Parquet, else CSV.

    CSV: UTF-8, with or without a byte order mark; commas; a header line; quotes as in RFC 4180;
    empty lines are skipped. Parquet: texts, numbers, booleans, dates; a null and a float NaN are
    missing values; the file's nested and binary columns cannot be used.

    Raises:
        ScenarioError: the file cannot be read; it names up to twenty places.
    """
    problems = Problems(str(path))
    try:
        if path.suffix.lower() in _PARQUET:
            return _read_parquet(path, problems)
        return _read_csv(path.read_bytes(), problems)
    except OSError as error:
        problems.add("", error.strerror or str(error))
    except UnicodeDecodeError as error:
        problems.add("", f"byte {error.start} is not UTF-8; save the file as UTF-8")
    raise problems.error()


def _read_csv(data: bytes, problems: Problems) -> Table:
    records = _records(data.decode("utf-8-sig"), problems)
    _, header = next(records, (1, []))
    names = [name.strip() for name in header]
    _check_header(names, problems)
    lines: list[int] = []
    rows: list[list[str]] = []
    for line, record in records:
        if len(record) != len(names):
            message = f"{len(record)} values in a row of {len(names)} columns"
            problems.add(f"row {len(rows) + 1}", message, line=line)
        rows.append(record)
        lines.append(line)
    problems.stop_if_any()
    values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    return Table(
        source=problems.source,
        names=tuple(names),
        columns=dict(zip(names, values, strict=True)),
        rows=len(rows),
        lines=tuple(lines),
    )


def _records(text: str, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a CSV text with the line where each starts, without empty lines."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        problems.add("", f"not valid CSV: {error}", line=line)


def _check_header(names: Sequence[str], problems: Problems) -> None:
    if not names:
        problems.add("", "the file is empty; a header line with column names is needed")
    for index, name in enumerate(names):
        if not name:
            problems.add(f"column {index + 1}", "has no name in the header", line=1)
    for name, count in Counter(names).items():
        if name and count > 1:
            problems.add(f"column {quoted(name)}", f"stands {count} times in the header", line=1)
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        problems.add("", "columns must be separated by commas", line=1)


def _read_parquet(path: Path, problems: Problems) -> Table:
    import pyarrow as pa  # noqa: PLC0415  (only a Parquet population needs it)
    import pyarrow.parquet as pq  # noqa: PLC0415  (see above)

    try:
        table = pq.ParquetFile(path).read()
    except pa.ArrowException as error:
        problems.add("", f"not a readable Parquet file: {str(error).splitlines()[0]}")
        raise problems.error() from None
    names = [str(name) for name in table.column_names]
    _check_header(names, problems)
    problems.stop_if_any()
    columns: dict[str, list[str]] = {}
    for name in names:
        texts = _texts(table.column(name))
        if texts is not None:
            columns[name] = texts
    return Table(
        source=problems.source, names=tuple(names), columns=columns, rows=int(table.num_rows)
    )


def _texts(column: Any) -> list[str] | None:
    """Return a Parquet column as texts, or None when its type has no plain text."""
    import pyarrow as pa  # noqa: PLC0415  (only a Parquet population needs it)
    import pyarrow.compute as pc  # noqa: PLC0415  (see above)

    kind = column.type
    if pa.types.is_nested(kind) or "binary" in str(kind):
        return None
    try:
        if pa.types.is_floating(kind):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
        texts = column.cast(pa.string()).to_pylist()
    except pa.ArrowException:
        return None
    return ["" if text is None else text for text in texts]
