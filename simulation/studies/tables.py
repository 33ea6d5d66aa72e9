"""A table of a study, and how it is written: CSV with all digits, Markdown for reading."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

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
        """Return the table as Markdown; numbers with three decimals."""
        head = [self.columns, ["---"] * len(self.columns)]
        body = [[_short(cell) for cell in row] for row in self.rows]
        return "".join(f"| {' | '.join(row)} |\n" for row in [*head, *body])


def _exact(cell: Cell) -> str:
    return _word(cell) if isinstance(cell, bool) else str(cell)


def _short(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return _word(cell) if isinstance(cell, bool) else str(cell)


def _word(yes: bool) -> str:  # noqa: FBT001 - a cell of a table
    return "yes" if yes else "no"
