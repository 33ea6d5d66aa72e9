"""Rows of a file of observations: CSV or JSON Lines, as texts with the line where each stands.

CSV is UTF-8 with or without a byte order mark, with commas, semicolons or tabs (the header line
tells), quotes as in RFC 4180 and any line ends. JSON Lines is one JSON object a line; a whole file
that is one JSON array of objects is taken too.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simulation.errors import InputError
from simulation.studies.json_file import holds_half, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Row: TypeAlias = "tuple[str, dict[str, str]]"
"""Where it stands ("line 3"), and its cells by column; a missing cell is absent or ""."""

SHOWN: Final = 10  # problems that are told
_JSON: Final = (".jsonl", ".ndjson", ".json")
_SEPARATORS: Final = (",", ";", "\t")
_LINE_ENDS: Final = re.compile("\r\n|\n|\r")


class _Nested(str):
    """Stands for a JSON value that no cell can hold."""

    __slots__ = ()


class Faults:
    """What is wrong with a file: the first ten problems, and how many there are."""

    def __init__(self, source: str) -> None:
        """Start with none. source: the file as the user named it."""
        self._source = source
        self._found: list[str] = []
        self.count = 0

    def add(self, where: str, what: str) -> None:
        """Note a problem."""
        self.count += 1
        if len(self._found) < SHOWN:
            self._found.append(f"  {where}  {what}" if where else f"  {what}")

    def stop_if_any(self) -> None:
        """Raise what was found.

        Raises:
            InputError: there was something.
        """
        if self.count:
            raise self.error()

    def error(self) -> InputError:
        """Return what was found, to be raised."""
        told = "1 problem" if self.count == 1 else f"{self.count:,} problems"
        if self.count > len(self._found):
            told += f"; the first {len(self._found)}"
        return InputError("\n".join([f"{self._source} cannot be used ({told}):", *self._found]))


def read_rows(
    path: Path, columns: Sequence[str], faults: Faults, *, whole: bool = False
) -> tuple[list[Row], tuple[str, ...]]:
    """Return the rows of a file and the names of all its columns; note what its form lacks.

    columns: those that are used; others are left out of the rows.  whole: a row of a CSV file that
    ends before the last column is a fault, and left out; else its last cells are missing.

    Raises:
        InputError: there is no such file, or nothing in it can be read as rows.
    """
    text = _text(path, faults)
    json_lines = _is_json(path, text)
    rows = _json_rows(text, path, faults) if json_lines else _csv_rows(text, faults, whole=whole)
    found: list[Row] = []
    names: dict[str, None] = {}
    for where, cells in rows:
        names |= dict.fromkeys(cells)
        used = {name: cells[name] for name in columns if name in cells}
        nested = [name for name, cell in used.items() if isinstance(cell, _Nested)]
        for name in nested:
            faults.add(where, f"{name} is a list or an object, not a text or a number")
        if not nested:
            found.append((where, {name: cell.strip() for name, cell in used.items()}))
    if not found and not faults.count:
        faults.add("", "holds no observations")
    return found, tuple(names)


def _text(path: Path, faults: Faults) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        faults.add("", error.strerror or str(error))
    except UnicodeDecodeError as error:
        faults.add("", f"byte {error.start} is not UTF-8; save the file as UTF-8")
    raise faults.error()


def _is_json(path: Path, text: str) -> bool:
    suffix = path.suffix.lower()
    return suffix in _JSON or (suffix != ".csv" and text.lstrip()[:1] in ("{", "["))


def _csv_rows(text: str, faults: Faults, *, whole: bool) -> Iterator[Row]:
    head = text.lstrip("\r\n").splitlines()[:1]
    separator = max(_SEPARATORS, key=head[0].count) if head else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    names: list[str] = []
    line = 1
    try:
        for record in reader:
            if names and any(cell.strip() for cell in record):
                short = whole and len(record) < len(names)
                if short or any(cell.strip() for cell in record[len(names) :]):
                    told = f"{len(record)} values in a row of {len(names)} columns"
                    faults.add(f"line {line}", told)
                if not short:
                    yield f"line {line}", dict(zip(names, record, strict=False))
            elif not names and any(cell.strip() for cell in record):
                names = _header(record, faults, line)
            line = reader.line_num + 1
    except csv.Error as error:
        faults.add(f"line {line}", f"not valid CSV: {error}")


def _header(record: Sequence[str], faults: Faults, line: int) -> list[str]:
    names = [_column(name) for name in record]
    for name, times in Counter(names).items():
        if name and times > 1:
            faults.add(f"line {line}", f'column "{name}" stands {times} times in the header')
    return names


def _json_rows(text: str, path: Path, faults: Faults) -> Iterator[Row]:
    if path.suffix.lower() == ".json" and text.lstrip()[:1] == "[":
        whole = _json(text, "", faults)
        items = whole if isinstance(whole, list) else []
        for number, item in enumerate(items, 1):
            yield from _object(item, f"item {number}", faults)
        return
    for number, line in enumerate(_LINE_ENDS.split(text), 1):
        if line.strip():
            where = f"line {number}"
            value = _json(line, where, faults)
            if value is not None:
                yield from _object(value, where, faults)


def _json(text: str, where: str, faults: Faults) -> Any:
    """Return what a JSON text holds; None with a problem noted where it is not valid."""
    try:
        # a number stays as it is written: Python reads none of thousands of digits
        value = json.loads(text, object_pairs_hook=_pairs, parse_int=str)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "too deeply nested"
        faults.add(where, f"not valid JSON: {reason}")
        return None
    return "null" if value is None else value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = [name for name, n in Counter(name for name, _ in pairs).items() if n > 1]
    if twice:
        raise ValueError(f'"{printable(twice[0])}" stands twice in an object')
    return dict(pairs)


def _object(value: Any, where: str, faults: Faults) -> Iterator[Row]:
    if not isinstance(value, dict):
        faults.add(where, "not a JSON object")
        return
    halves = [
        name
        for name, cell in value.items()
        if holds_half(name) or (isinstance(cell, str) and holds_half(cell))
    ]
    for name in halves:
        told = "holds half of a surrogate pair, which is no character"
        faults.add(where, f"{printable(name)} {told}")
    if not halves:
        yield where, {_column(name): _cell(cell) for name, cell in value.items()}


def _column(name: str) -> str:
    """Return the name of a column without regard to case, and with "_" for a space or a dash."""
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


def _cell(value: Any) -> str:
    """Return a JSON value as a cell of a CSV file would have it."""
    if value is None:
        return ""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return str(int(value))
    if isinstance(value, list | dict):
        return _Nested()
    return value if isinstance(value, str) else json.dumps(value)
