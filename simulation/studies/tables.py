"""The rows of the study's tables, and how they are written: CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulation.studies.measuring import Kind, Targets

Cell = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A named table: what its columns are called, and its rows."""

    name: str
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
    return _words(cell) if isinstance(cell, bool) else str(cell)


def _short(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return _words(cell) if isinstance(cell, bool) else str(cell)


def _words(cell: bool) -> str:  # noqa: FBT001 - a cell of a table
    return "yes" if cell else "no"


def target_table(kinds: Sequence[tuple[Kind, Targets]]) -> Table:
    """Return what every setting is aimed at, one row a measure."""
    rows: list[tuple[Cell, ...]] = []
    for kind, aims in kinds:
        for s, setting in enumerate(kind.settings):
            for m, measure in enumerate(kind.measures):
                numbers = (aims.share, aims.low, aims.high, aims.aim)
                values = (float(array[s, m]) for array in numbers)
                rows.append((kind.name, setting, s < kind.fitted, measure, *values))
    columns = ("kind", "setting", "fitted", "measure", "share", "low", "high", "target")
    return Table(name="targets", columns=columns, rows=tuple(rows))
