"""How far a sweep is: a table on a terminal, a line for every run elsewhere; always on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import click

from simulation.cli.progress import if_possible
from simulation.cli.text import cut, many, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.live import Live
    from rich.table import Table

    from simulation.sweeps.base import Event
    from simulation.sweeps.plan import Plan, PlannedRun

_ROWS = 12  # combinations of settings that the table shows
_LONGEST = 40  # code points of a combination


@dataclass(slots=True)
class _Cell:
    """How far one combination of settings is. ticks: by number of the run under way."""

    name: str
    runs: int
    done: int = 0
    failed: int = 0
    ticks: dict[int, tuple[int, int]] = field(default_factory=dict)  # seed, tick


class Tally:
    """What a sweep has done so far, and how long the rest will take."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.runs = self.done = self.failed = self.made = 0
        self.cells: dict[int, _Cell] = {}
        self.horizons: dict[int, int] = {}
        self._started = time.monotonic()

    def begin(self, plan: Plan, done: int) -> None:
        """Take note of the plan."""
        self._started = time.monotonic()
        self.runs, self.done, self.horizons = len(plan.runs), done, plan.horizons
        for run in plan.runs:
            name = " ".join(run.cell.settings) or plan.name
            self.cells.setdefault(run.cell.number, _Cell(name, 0)).runs += 1

    def event(self, run: PlannedRun, event: Event) -> None:
        """Count what happened."""
        cell = self.cells[run.cell.number]
        if event.outcome is None:
            cell.ticks[run.number] = (run.seed, event.tick)
            return
        cell.ticks.pop(run.number, None)
        self.made += 1
        if event.outcome.status == "complete":
            self.done += 1
            cell.done += 1
        elif event.outcome.status != "interrupted":
            self.failed += 1
            cell.failed += 1

    def words(self) -> str:
        """Return runs done, failed and, once one is made, the time left."""
        parts = [f"{self.done:,} of {many(self.runs, 'run')} done"]
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        left = self.runs - self.done - self.failed
        if self.made and left:
            each = (time.monotonic() - self._started) / self.made
            parts.append(f"{seconds(each * left)} left")
        return ", ".join(parts)


class Watching:
    """A watch on a sweep that says nothing; a context manager around it."""

    def __init__(self) -> None:
        """Begin with nothing done."""
        self.tally = Tally()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End, also after an error."""

    def begin(self, plan: Plan, done: int) -> None:
        """Take note of the plan; `done` of its runs are there already."""
        self.tally.begin(plan, done)

    def event(self, run: PlannedRun, event: Event) -> None:
        """Take note of what happened to a run."""
        self.tally.event(run, event)

    def look(self) -> None:
        """Time has passed."""


class LinesOfRuns(Watching):
    """A line for every run that ended."""

    def event(self, run: PlannedRun, event: Event) -> None:
        """Print how a run ended."""
        super().event(run, event)
        outcome = event.outcome
        if outcome is None:
            return
        took = "" if outcome.seconds is None else f" in {seconds(outcome.seconds)}"
        why = f": {cut(outcome.error, 200)}" if outcome.error else ""
        with if_possible():
            click.echo(
                f"{plain(run.path.stem)}: {outcome.status}{took}{why} ({self.tally.words()})",
                err=True,
            )


class LiveTable(Watching):
    """A table that is redrawn in place and wiped away at the end."""

    def __init__(self) -> None:
        """Prepare the table."""
        super().__init__()
        from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
        from rich.live import Live  # noqa: PLC0415 - as above

        self._live: Live = Live(console=Console(stderr=True), transient=True, auto_refresh=False)
        self._shown = False

    def __enter__(self) -> Self:
        """Show the table."""
        with if_possible():
            self._live.start()
            self._shown = True
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the table away."""
        if self._shown:
            with if_possible():
                self._live.stop()

    def look(self) -> None:
        """Draw the table anew."""
        with if_possible():
            self._live.update(table(self.tally), refresh=True)


def table(tally: Tally) -> Table:
    """Return the table of a sweep: combinations under way first, then the next ones."""
    from rich import box  # noqa: PLC0415 - only a terminal needs it
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    drawn = Table(box=box.SIMPLE, title=Text(tally.words()), title_justify="left")
    for head in ("settings", "done", "failed", "under way"):
        drawn.add_column(head, no_wrap=True)
    for number, cell in shown_first(tally)[:_ROWS]:
        under_way = ", ".join(
            f"seed {seed} tick {tick}/{tally.horizons[number]}"
            for seed, tick in cell.ticks.values()
        )
        row = (cut(cell.name, _LONGEST), f"{cell.done}/{cell.runs}", str(cell.failed or ""))
        drawn.add_row(*(Text(word) for word in (*row, under_way)))
    left = len(tally.cells) - _ROWS
    if left > 0:
        drawn.caption = Text(f"and {left:,} more combinations of settings")
    return drawn


def shown_first(tally: Tally) -> list[tuple[int, Any]]:
    """Return combinations by number: under way, then unfinished, then finished."""

    def rank(item: tuple[int, _Cell]) -> tuple[bool, bool, int]:
        number, cell = item
        return not cell.ticks, cell.done + cell.failed >= cell.runs, number

    items: Iterable[tuple[int, _Cell]] = tally.cells.items()
    return sorted(items, key=rank)


def watching(*, quiet: bool) -> Watching:
    """Return the watch for a sweep: silent when quiet, a table on a terminal, lines otherwise."""
    if quiet:
        return Watching()
    terminal = False
    with contextlib.suppress(ValueError):  # stderr is closed
        terminal = sys.stderr is not None and sys.stderr.isatty()
    return LiveTable() if terminal else LinesOfRuns()
