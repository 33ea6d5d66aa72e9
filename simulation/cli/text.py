"""Text for people: safe characters, columns that fit, paragraphs; and values for JSON and CSV."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import textwrap
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What could steer a terminal or turn a line around: controls, lone surrogates, separators, and
# the marks of text direction. Posts are written by models and scenarios by strangers.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: UTF-8 has no form for it


def plain(text: str, keep: str = "") -> str:
    r"""Return text that only says what it shows: `\x1b` for an escape, "⏎" for a line break.

    keep: characters that stay, such as "\n".
    """
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _shown(found[0]), text)


def _shown(character: str) -> str:
    if character == "\n":
        return "⏎"
    if character in "\t\r":
        return " "
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004 - two digits or four


def cut(text: str, length: int) -> str:
    """Return at most `length` code points of a text on one line, "…" for the rest; length >= 1."""
    text = plain(text)
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def width() -> int:
    """Return the columns of the terminal; 80 where there is none, COLUMNS where it is set."""
    return max(20, shutil.get_terminal_size((80, 24)).columns)


def many(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: `1 persona`, `1,200 personas`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage; what is not nothing never shows as 0%."""
    value = 100 * share
    if 0 < value < 0.1:  # noqa: PLR2004 - the smallest value that one decimal shows
        return "< 0.1%"
    return f"{value:.0f}%" if value == round(value) else f"{value:.1f}%"


def seconds(value: float) -> str:
    """Return a duration: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 5 min`."""
    if value < 10:  # noqa: PLR2004 - one decimal tells something below ten seconds
        return f"{value:.1f} s"
    whole = round(value)
    minutes, rest = divmod(whole, 60)
    hours, left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def paragraph(text: str, *, indent: str = "", hanging: str | None = None) -> str:
    """Return text wrapped to the terminal; `hanging` indents all lines but the first."""
    return textwrap.fill(
        text,
        width(),
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def explained(entries: Iterable[Sequence[str]], *, indent: str = "  ") -> str:
    """Return rows whose last column is prose, wrapped beside the others."""
    rows = [[plain(cell) for cell in row] for row in entries]
    if not rows:
        return ""
    spaces = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    left = len(indent) + sum(space + 2 for space in spaces)
    lines = []
    for row in rows:
        head = indent + "".join(
            f"{cell:<{space}}  " for cell, space in zip(row, spaces, strict=False)
        )
        body = textwrap.wrap(row[-1], max(24, width() - left)) or [""]
        lines.append(f"{head}{body[0]}".rstrip())
        lines += [" " * left + line for line in body[1:]]
    return "\n".join(lines)


def print_json(value: Any) -> None:
    """Print one JSON value on stdout."""
    click.echo(_dumped(value, indent=2))


def print_line(value: Any) -> None:
    """Print one JSON value on stdout, in one line, at once."""
    click.echo(_dumped(value, indent=None))
    sys.stdout.flush()


def print_rows(rows: Iterable[Mapping[str, Any]]) -> None:
    """Print a JSON array on stdout, one row a line."""
    lines = ",\n".join(_dumped(row, indent=None) for row in rows)
    click.echo(f"[\n{lines}\n]" if lines else "[]")


def _dumped(value: Any, *, indent: int | None) -> str:
    """Return JSON in characters that stdout can show."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    ascii_only = not encoding.startswith("utf")
    text = json.dumps(jsonable(value), indent=indent, ensure_ascii=ascii_only, allow_nan=False)
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def jsonable(value: Any) -> Any:
    """Return a value of a run database or a result as JSON has it.

    NaN and infinity, which JSON cannot say, become null; times become ISO 8601 text.
    """
    if isinstance(value, dict):
        return _mapping(value)
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return _isoformat(value)


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): jsonable(item) for key, item in value.items()}


def _isoformat(value: Any) -> str:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)
