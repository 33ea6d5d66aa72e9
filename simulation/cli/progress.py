"""How far a run is: a bar on a terminal, a line for every tenth elsewhere; always on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Any, Protocol, Self

import click

from simulation.cli.text import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.progress import Progress as RichProgress

    from simulation.records import Rows, TickRecords

_LINES = 10  # lines of a whole run, and one for its start


class Progress(Protocol):
    """Told of every finished tick; a context manager around the run."""

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(self, *_: object) -> None:
        """End, also after an error."""
        ...

    def tick(self, records: TickRecords) -> None:
        """Take note of a tick that is in the file."""
        ...


def progress(
    name: str,
    horizon: int,
    *,
    quiet: bool,
    budget: Mapping[str, float] | None = None,
    after: int = 0,
) -> Progress:
    """Return the progress for a run: none when quiet, a bar on a terminal, lines otherwise.

    budget: the limits that there are, of `usd`, `calls` and `tokens`.  after: the tick that it
    goes on from.
    """
    if quiet:
        return Silence()
    terminal = sys.stderr is not None and sys.stderr.isatty()  # None: it is closed
    kind = Bar if terminal else Lines
    return kind(name, horizon, budget, after)


@contextlib.contextmanager
def if_possible() -> Iterator[None]:
    """Let a run go on whose progress nobody can see: stderr closed, a reader gone, a full disk.

    rich answers a reader that is gone with SystemExit.
    """
    with contextlib.suppress(OSError, SystemExit):
        yield


class Tally:
    """Turns so far, their pace, and what language models were paid."""

    def __init__(
        self, horizon: int, budget: Mapping[str, float] | None = None, after: int = 0
    ) -> None:
        """Start the clock.

        budget: limits of `usd`, `calls` and `tokens`.  after: the tick that the run goes on from.
        """
        self.horizon = horizon
        self.tick = self._after = after
        self._rebuilding = after > 0
        self.turns = 0
        self._calls = 0
        self._tokens = 0
        self._cost = 0.0
        self._budget = dict(budget or {})
        self._started = time.monotonic()

    def add(self, records: TickRecords) -> None:
        """Count a tick; the clock starts anew with tick 0, when the population stands.

        Where a run goes on it does so with the first tick, before which the world was rebuilt.
        """
        self.tick = records.tick
        if self._rebuilding:
            self._rebuilding = False
            self._after, self._started = records.tick, time.monotonic()
            return
        if records.tick == 0:
            self._started = time.monotonic()
        row = records.of("ticks")
        if row is not None:
            self.turns += int(_value(row, "turns"))
            self._calls += int(_value(row, "model_calls"))
            self._tokens += int(_value(row, "input_tokens")) + int(_value(row, "output_tokens"))
            self._cost += float(_value(row, "cost_usd"))

    def words(self) -> str:
        """Return pace, time left and, when there was any, spending."""
        took = time.monotonic() - self._started
        done = self.tick - self._after
        if not done or took <= 0:
            return ""
        left = took / done * (self.horizon - self.tick)
        parts = [f"{self.turns / took:,.0f} turns/s"]
        if self._calls or self._tokens:
            parts += self._spent()
        if self.tick < self.horizon:
            parts.append(f"{seconds(left)} left")
        return ", ".join(parts)

    def _spent(self) -> Iterator[str]:
        """Yield tokens and cost, and calls where they are limited, each with its limit."""
        limits = self._budget
        if "calls" in limits:
            yield f"{self._calls:,} of {limits['calls']:,} calls"
        limit = f" of {limits['tokens']:,}" if "tokens" in limits else ""
        yield f"{self._tokens:,}{limit} tokens"
        limit = f" of {limits['usd']:.2f}" if "usd" in limits else ""
        yield f"{self._cost:.2f}{limit} USD"


def _value(row: Rows, column: str) -> Any:
    return row.columns()[column][0]


class Silence:
    """No progress."""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End."""

    def tick(self, records: TickRecords) -> None:
        """Say nothing."""


class Lines:
    """A line at the start and one after every tenth of the ticks."""

    def __init__(
        self,
        name: str,
        horizon: int,
        budget: Mapping[str, float] | None = None,
        after: int = 0,
    ) -> None:
        """Prepare for a run of `horizon` ticks, >= 1, that goes on from tick `after`."""
        self._name = name
        self._after = after
        self._tally = Tally(horizon, budget, after)

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End."""

    def tick(self, records: TickRecords) -> None:
        """Print a line when a tenth is full."""
        self._tally.add(records)
        tick, horizon = records.tick, self._tally.horizon
        if self._after and tick == self._after + 1:
            self._say(f"{self._name}: on from tick {self._after:,} of {horizon:,}")
        if tick == 0:
            people = records.of("personas")
            count = 0 if people is None else len(people)
            self._say(f"{self._name}: {count:,} personas, {horizon:,} ticks")
        elif tick * _LINES // horizon > (tick - 1) * _LINES // horizon:
            words = self._tally.words()
            self._say(f"tick {tick:,}/{horizon:,}{', ' if words else ''}{words}")

    @staticmethod
    def _say(line: str) -> None:
        with if_possible():
            click.echo(line, err=True)


class Bar:
    """A bar that is wiped away at the end."""

    def __init__(
        self,
        name: str,
        horizon: int,
        budget: Mapping[str, float] | None = None,
        after: int = 0,
    ) -> None:
        """Prepare for a run of `horizon` ticks, >= 1, that goes on from tick `after`."""
        from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
        from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415 - as above

        self._tally = Tally(horizon, budget, after)
        self._shown = False
        self._bar: RichProgress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn(
                "tick {task.completed:,}/{task.total:,}  {task.fields[words]}", markup=False
            ),
            console=Console(stderr=True),
            transient=True,
        )
        words = "rebuilding the world" if after else "making the population"
        self._task = self._bar.add_task(name, total=horizon, completed=after, words=words)

    def __enter__(self) -> Self:
        """Show the bar."""
        with if_possible():
            self._bar.start()
            self._shown = True
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the bar away."""
        if self._shown:
            with if_possible():
                self._bar.stop()

    def tick(self, records: TickRecords) -> None:
        """Move the bar."""
        self._tally.add(records)
        with if_possible():
            self._bar.update(self._task, completed=records.tick, words=self._tally.words())
