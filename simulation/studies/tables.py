"""A table of a study, and how it is written: CSV with all digits, Markdown for reading."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass

_LEAST = 0.0005  # what three decimals show

Cell = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: the name of its file, its title, what its columns are called, and its rows."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def csv(self) -> str:
        """Return the table as CSV; numbers with all digits that they have."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_exact(cell) for cell in row] for row in self.rows)
        return out.getvalue()

    def markdown(self) -> str:
        """Return the table as Markdown; numbers with three decimals, or their first digit."""
        head = [self.columns, ["---"] * len(self.columns)]
        body = [[_short(cell) for cell in row] for row in self.rows]
        return "".join(f"| {' | '.join(row)} |\n" for row in [*head, *body])


def _exact(cell: Cell) -> str:
    return _word(cell) if isinstance(cell, bool) else str(cell)


def _short(cell: Cell) -> str:
    if isinstance(cell, float):
        return _number(cell)
    return _word(cell) if isinstance(cell, bool) else str(cell)


def _number(value: float) -> str:
    """Return a number with three decimals; one that they would make 0 with its first digits."""
    if math.isnan(value):
        return "undefined"
    return f"{value:.1g}" if 0.0 < abs(value) < _LEAST else f"{value:.3f}"


def _word(yes: bool) -> str:  # noqa: FBT001 - a cell of a table
    return "yes" if yes else "no"
