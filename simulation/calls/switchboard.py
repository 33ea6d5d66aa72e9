"""The switchboard of a run: everything that is asked of language models goes through it.

Requests run on an event loop in a thread of their own. The thread that asks waits for them, in
steps, so that Ctrl-C reaches it; and it hands records to the log in batches meanwhile, so that the
log is written by one thread and never holds a request up.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from simulation.calls.background import Background
from simulation.calls.batch import Batch
from simulation.calls.budget import NOTHING, Limits, Spend
from simulation.calls.conversation import Conversation
from simulation.calls.exchange import Exchange, Halt
from simulation.calls.interrupts import undisturbed
from simulation.calls.ledger import Ledger
from simulation.calls.line import Line, check_all
from simulation.calls.pace import Pace
from simulation.calls.record import Sums
from simulation.calls.settings import Settings
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from simulation.calls.base import Answer, Asker, Call
    from simulation.calls.record import CallRecord, Question, Totals
    from simulation.calls.recorded import Recorded
    from simulation.calls.settings import ModelSettings
    from simulation.providers.base import Provider
    from simulation.rng import Streams

FLUSH_EVERY: Final = 0.25
"""Seconds between two batches of records."""

FLUSH_AT: Final = 500
"""Records that make a batch sooner."""

GRACE: Final = 10.0
"""Seconds that requests in flight have to finish after Ctrl-C."""

_ABORTED: Final = 5.0
"""Seconds that what was cancelled, or has to be closed, may take."""


class Switchboard:
    """Connects a run to its models: one for each run, used by one thread."""

    def __init__(
        self,
        *,
        streams: Streams,
        settings: Settings | None = None,
        limits: Limits | None = None,
        sink: Callable[[Sequence[CallRecord]], None] | None = None,
        recorded: Recorded | None = None,
        spent_before: Spend = NOTHING,
        grace: float = GRACE,
        make_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
    ) -> None:
        """Prepare a switchboard; no thread starts before something is asked.

        Args:
            streams: Of the run; the jitter of back-off comes from the stream `backoff`.
            settings: How requests are sent.
            limits: The budget, which counts `spent_before`, too.
            sink: Takes finished records, in batches, in the thread that asks.
            recorded: Answers that need not be asked for.
            spent_before: What earlier parts of the run spent (`record.spent_on`).
            grace: Seconds that requests in flight have to finish after Ctrl-C.
            make_loop: Returns the event loop, whose clock rules back-off and pace.
        """
        self.sink = sink
        self._settings = settings or Settings()
        self._limits = limits or Limits()
        self._streams = streams
        self._recorded = recorded
        self._grace = grace
        self._background = Background(make_loop)
        self._ledger = Ledger(self._limits, spent_before=spent_before)
        self._halt = Halt()
        self._paces: dict[str, Pace] = {}
        self._lines: list[Line] = []
        self._records: deque[CallRecord] = deque()
        self._unwritten: list[CallRecord] = []
        self._sums = Sums()
        self._asked: dict[tuple[str | None, str, str], int] = {}
        self._asked_in: int | None = None
        self._batch: Batch[Any] | None = None
        if recorded is not None and recorded.mode == "resume":
            for record in recorded.records:  # they stand in the file, so its ticks count them
                self._sums.add(record)

    def asker(self, load: Callable[[], Provider], settings: ModelSettings) -> Asker:
        """Return who answers calls by one model.

        load: returns the provider; called on the event loop when it is first needed, so a replay
        needs neither its SDK nor a key.

        Raises:
            UsageError: a budget in USD is to be kept without a price.
        """
        if self._limits.usd is not None and settings.price is None:
            raise UsageError(
                f"budget.usd cannot be kept: the price of {settings.name} is not known; "
                "give it or leave budget.usd out"
            )
        line = Line(
            settings.name,
            load=load,
            connect=partial(self._connect, settings),
            converse=partial(self._converse, settings),
            ask=self._ask,
        )
        self._lines.append(line)
        return line

    def check(self) -> None:
        """Ask every model, at the same time and without paying, whether it can be used.

        Nobody is looked for where recorded answers should be enough.

        Raises:
            UsageError: some cannot; names all of them.
        """
        if self._recorded is not None and not self._recorded.expects_to_ask:
            return
        problems = self._background.run(check_all(self._lines))
        if problems:
            raise UsageError("\n".join(problems))

    def totals(self, tick: int) -> Totals:
        """Return what the requests of a tick come to: the sums over its rows in the file."""
        return self._sums.of(tick)

    @property
    def spent(self) -> Spend:
        """What may have been billed so far, by earlier parts of the run, too."""
        return self._ledger.spent

    @property
    def notes(self) -> Sequence[str]:
        """What was found out about models and hosts, each once."""
        found = [note for line in self._lines for note in line.notes]
        found += [
            f"{host} asked to slow down: fewer requests were in flight for a while"
            for host, pace in self._paces.items()
            if pace.slowed
        ]
        return list(dict.fromkeys(found))

    def close(self) -> None:
        """Let go of all connections and end the thread; may be called twice."""
        with undisturbed():
            if self._background.is_running:
                with contextlib.suppress(TimeoutError):  # the thread's end cancels what is left
                    self._background.run(self._close_lines())
            self._background.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _ask(self, line: Line, calls: Sequence[Call[Any]]) -> Sequence[Answer[Any]]:
        """Have calls answered and return the answers in their order; see `Line.ask`."""
        if not calls:
            return []
        self._halt.on = False
        batch = self._batch = Batch(
            calls, answer=line.conversation.answer, halt=self._halt, is_sending=line.is_sending
        )
        try:
            self._background.call(partial(batch.start, self._settings.concurrency))
            self._attend(batch)
        except BaseException as error:
            self._wind_up(batch, error)
            raise
        finally:
            self._batch = None
        return batch.answered()

    def _attend(self, batch: Batch[Any], *, until: float | None = None) -> None:
        """Write records until all is done, or a time of the monotonic clock has come."""
        while not batch.finished and (until is None or time.monotonic() < until):
            batch.wait(FLUSH_EVERY)
            self._flush()
        self._flush()

    def _wind_up(self, batch: Batch[Any], error: BaseException) -> None:
        """Let what is in flight finish, for a while, and record all of it.

        A second Ctrl-C ends the waiting. Where the log cannot be written there is none.
        """
        try:
            self._background.call(partial(batch.stop, error))
            if isinstance(error, KeyboardInterrupt):
                self._attend(batch, until=time.monotonic() + self._grace)
        except KeyboardInterrupt:
            pass
        finally:
            with undisturbed():
                self._background.call(batch.abort)
                end = time.monotonic() + _ABORTED
                while not batch.finished and time.monotonic() < end:
                    batch.wait(FLUSH_EVERY)
                self._flush_at_last(error)

    def _flush_at_last(self, error: BaseException) -> None:
        """Write what is left; where that fails for a second time, the first error is told."""
        try:
            self._flush()
        except Exception as again:
            if not isinstance(error, Exception):
                raise
            error.add_note(f"{len(self._unwritten)} calls could not be recorded: {again}")

    def _flush(self) -> None:
        """Hand records over; they are forgotten only when they were taken."""
        with undisturbed():
            for _ in range(len(self._records)):
                self._unwritten.append(self._records.popleft())
            if self._unwritten and self.sink is not None:
                self.sink(tuple(self._unwritten))
            self._unwritten.clear()

    def _keep(self, record: CallRecord) -> None:
        """Take a record; runs on the event loop."""
        self._sums.add(record)
        self._records.append(record)
        if len(self._records) >= FLUSH_AT and self._batch is not None:
            self._batch.wake.set()

    def _number(self, asked: Question) -> int:
        """Return how often a question was asked in its tick before; runs on the event loop.

        Calls are rendered in order, so the count does not depend on who is answered first.
        """
        if asked.tick != self._asked_in:
            self._asked_in = asked.tick
            self._asked.clear()
        key = (asked.persona_id, asked.purpose, asked.sha256)
        before = self._asked.get(key, 0)
        self._asked[key] = before + 1
        return before

    def _converse(self, settings: ModelSettings, exchange: Callable[[], Exchange]) -> Conversation:
        return Conversation(
            settings,
            exchange=exchange,
            recorded=self._recorded,
            number=self._number,
            keep=self._keep,
        )

    def _connect(self, settings: ModelSettings, provider: Provider) -> Exchange:
        """Return the way to a model; those at one host share its pace."""
        pace = self._paces.get(provider.host)
        if pace is None:
            pace = self._paces[provider.host] = Pace(
                concurrency=self._settings.concurrency,
                requests_per_minute=self._settings.requests_per_minute,
            )
        return Exchange(
            provider,
            price=settings.price,
            ledger=self._ledger,
            pace=pace,
            settings=self._settings,
            streams=self._streams,
            halt=self._halt,
        )

    async def _close_lines(self) -> None:
        """Close every provider; one that fails to is not waited for."""
        async with asyncio.timeout(_ABORTED):
            await asyncio.gather(*(line.close() for line in self._lines), return_exceptions=True)
