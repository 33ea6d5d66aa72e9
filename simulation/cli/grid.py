"""A table for reading: numbers whole and to the right, text cut, no line wider than the screen."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size

from simulation.cli.text import jsonable, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP = "  "
_NARROW = 12  # text is not cut below this many columns while a whole column can be left out
_LONGEST = 500  # code points of a cell that are looked at
_DIGITS = 6  # significant digits of a real number


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table as lines. cut: some text did not fit.  hidden: columns that did not fit at all."""

    lines: tuple[str, ...]
    cut: bool
    hidden: tuple[str, ...]


def grid(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, space: int) -> Grid:
    """Lay out rows under their columns.

    space: columns of the screen, >= 20.  Reals show six significant digits, NULL shows as NULL.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    heads = [plain(name) for name in columns]
    numeric = [_is_numeric([row[i] for row in rows]) for i in range(len(heads))]
    wanted = [max((cell_len(row[i]) for row in cells), default=0) for i in range(len(heads))]
    least = [
        max(want, 3) if number else min(max(want, cell_len(head)), _NARROW)
        for want, number, head in zip(wanted, numeric, heads, strict=True)
    ]
    shown = _fitting(least, space)
    wide = [max(want, cell_len(head)) for want, head in zip(wanted, heads, strict=True)][:shown]
    widths = _shared(wide, least[:shown], space)
    lines = [_line(heads, widths, numeric), _GAP.join("-" * width for width in widths)]
    lines += [_line(row, widths, numeric) for row in cells]
    cut = any(want > width for want, width in zip(wanted, widths, strict=False))
    return Grid(lines=tuple(lines), cut=cut, hidden=tuple(heads[shown:]))


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        return f"{value:.{_DIGITS}g}"
    if isinstance(value, list | tuple | dict):
        value = jsonable(value)
    return plain(str(value)[:_LONGEST])


def _is_numeric(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in known
    )


def _fitting(least: Sequence[int], space: int) -> int:
    """Return how many columns, from the left, fit at their least; at least one."""
    used = 0
    for shown, width in enumerate(least):
        used += width + (len(_GAP) if shown else 0)
        if used > space:
            return max(1, shown)
    return len(least)


def _shared(wide: Sequence[int], least: Sequence[int], space: int) -> list[int]:
    """Return widths that fit: the widest columns give way first, none below its least."""
    free = space - len(_GAP) * (len(wide) - 1)
    limit = max(wide, default=0)
    while limit > 1:
        widths = [max(low, min(high, limit)) for high, low in zip(wide, least, strict=True)]
        if sum(widths) <= free:
            return widths
        limit -= 1
    return [min(low, space) for low in least]


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    parts = [
        _fit(cell, width, right=number)
        for cell, width, number in zip(cells, widths, numeric, strict=False)
    ]
    return _GAP.join(parts).rstrip()


def _fit(text: str, width: int, *, right: bool) -> str:
    over = cell_len(text) - width
    if over > 0:
        return f"{set_cell_size(text, width - 1)}…"
    return " " * -over + text if right else text + " " * -over
