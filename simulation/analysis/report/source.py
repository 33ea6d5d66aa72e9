"""A run as the page reads it: SQL in, rows out, and the SQL kept to be shown beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from simulation.analysis.report.numbers import quoted
from simulation.analysis.report.parts import Table
from simulation.errors import RunFileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.runlog import RunFile

MOST_TICKS = 61
"""Ticks of a picture; of a longer run every n-th is shown, and the page says so."""

_TARGETS = """
SELECT target, any_value(text) AS text, any_value(claim_index) AS claim_index
FROM initial_beliefs LEFT JOIN claims ON claim_id = target
GROUP BY target ORDER BY claim_index NULLS FIRST, target
"""


_MOVES = """
SELECT target, avg(belief) FILTER (tick = {last}) - avg(belief) FILTER (tick = 0) AS change
FROM beliefs WHERE tick IN (0, {last}) GROUP BY target
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Rows and the query that gave them."""

    sql: str
    columns: Sequence[str]
    rows: list[tuple[Any, ...]]

    def dicts(self) -> list[dict[str, Any]]:
        """Return the rows as column name: value."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def table(self, caption: str, *, most: int = 500) -> Table:
        """Return the rows as a table. most: of them, with a note about the rest."""
        left = len(self.rows) - most
        note = f"{left:,} more rows are not shown; the SQL below gives all." if left > 0 else ""
        names = [name.replace("_", " ") for name in self.columns]
        return Table(caption=caption, columns=names, rows=self.rows[:most], note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A dimension or a claim. text: of a claim, None for a dimension."""

    name: str
    text: str | None

    @property
    def label(self) -> str:
        """Return the name, and of a claim its text behind it."""
        return self.name if self.text is None else f"{self.name}: {self.text}"


class Source:
    """A run open for reading, with what every section asks of it."""

    def __init__(self, run: RunFile) -> None:
        """Take a run that holds at least tick 0."""
        self.run = run
        self.info = run.run
        self.header = run.run.header

    def ask(self, sql: str) -> Answer:
        """Return the answer to a query, which stands on its own."""
        text = sql.strip()
        try:
            result = self.run.query(text)
        except UsageError as error:  # nobody who wants a page wrote this query
            why = str(error).splitlines()[0]
            raise RunFileError(
                f"{self.run.path} is damaged, or of a layout without what a report shows: {why}"
            ) from error
        return Answer(sql=text, columns=result.columns, rows=result.rows)

    @property
    def last(self) -> int:
        """Return the last whole tick."""
        return self.info.last_tick

    @cached_property
    def personas(self) -> int:
        """Return how many personas take part."""
        return int(self.ask("SELECT count(*) FROM personas").rows[0][0])

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """Return the dimensions in the order of the brief, then the claims in theirs."""
        found = [Target(name=row[0], text=row[1]) for row in self.ask(_TARGETS).rows]
        dimensions = list(self.header.parameters.get("brief.dimensions") or ())
        order = {name: place for place, name in enumerate(dimensions)}
        return tuple(
            sorted(found, key=lambda each: (each.text is not None, order.get(each.name, 0)))
        )

    @cached_property
    def most_moved(self) -> str:
        """Return the target whose mean moved most from start to end; "" where there is none."""
        rows = self.ask(_MOVES.format(last=self.last)).rows
        moves = {target: abs(change) for target, change in rows}
        return max((each.name for each in self.targets), key=lambda name: moves[name], default="")

    @property
    def claims(self) -> tuple[Target, ...]:
        """Return the claims alone."""
        return tuple(each for each in self.targets if each.text is not None)

    def label(self, name: str) -> str:
        """Return the label of a target by its name, to stand alone."""
        return next((each.label for each in self.targets if each.name == name), name)

    def named(self, name: str) -> str:
        """Return a target as it stands in a sentence."""
        text = next((each.text for each in self.targets if each.name == name), None)
        return name if text is None else f"{name} ({quoted(text)})"

    @property
    def step(self) -> int:
        """Return how many ticks lie between two that are shown."""
        return max(1, -(-self.last // (MOST_TICKS - 1)))

    @property
    def ticks(self) -> list[int]:
        """Return the ticks shown, the first and the last among them."""
        return sorted({*range(0, self.last + 1, self.step), self.last})

    @property
    def some_ticks(self) -> str:
        """Return the SQL condition for the ticks shown."""
        every = f"tick % {self.step} = 0 OR tick = {self.last}"
        return f"tick <= {self.last}" if self.step == 1 else f"({every})"

    @property
    def thinned(self) -> str:
        """Return a sentence about ticks that are not shown; "" where all are."""
        if self.step == 1:
            return ""
        return f" Of {self.last:,} ticks one in {self.step} is shown, and the last."

    def order(self, name: str) -> int:
        """Return the place of a target on the page."""
        names = [each.name for each in self.targets]
        return names.index(name) if name in names else len(names)
