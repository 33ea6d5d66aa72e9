"""Calls that are answered together: workers take them in order, answers keep their places."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from simulation.calls.base import Answer, Call
    from simulation.calls.exchange import Halt

P = TypeVar("P")

WORKERS_PER_PLACE: Final = 2
"""A worker holds one rendered prompt. Twice as many as places, so that those that wait before
another try leave no place empty; and no more, so that memory stays bounded."""


class Batch(Generic[P]):
    """The calls of one `ask`.

    `wait` and `answered` are for the thread that asks, all other methods for the event loop.
    """

    def __init__(
        self,
        calls: Sequence[Call[P]],
        *,
        answer: Callable[[Call[P]], Coroutine[Any, Any, Answer[P]]],
        halt: Halt,
        is_sending: Callable[[asyncio.Task[Any]], bool],
    ) -> None:
        """Prepare the places of the answers; nothing is asked yet.

        Args:
            calls: In their order.
            answer: Answers one call.
            halt: What is switched on when nothing more may be sent.
            is_sending: Tells whether a worker has a request in flight.
        """
        self.answers: list[Answer[P] | None] = [None] * len(calls)
        self.failure: BaseException | None = None
        self.finished = False
        self.wake = threading.Event()
        """Set when there is something to do for the thread that asked."""
        self._places = enumerate(calls)
        self._answer = answer
        self._halt = halt
        self._is_sending = is_sending
        self._workers: list[asyncio.Task[None]] = []
        self._busy = 0

    def start(self, concurrency: int) -> None:
        """Put workers to the calls."""
        self._busy = min(len(self.answers), WORKERS_PER_PLACE * concurrency)
        loop = asyncio.get_running_loop()
        for _ in range(self._busy):
            worker = loop.create_task(self._work())
            worker.add_done_callback(self._ended)
            self._workers.append(worker)

    def stop(self, failure: BaseException) -> None:
        """Let what is in flight finish and send nothing more."""
        if self.failure is None:
            self.failure = failure
        self._halt.on = True
        for worker in self._workers:
            if not self._is_sending(worker):
                worker.cancel()
        self._finish_if_idle()

    def abort(self) -> None:
        """Give up what is in flight, too."""
        self._halt.on = True
        for worker in self._workers:
            worker.cancel()

    async def _work(self) -> None:
        for place, call in self._places:
            try:
                self.answers[place] = await self._answer(call)
            except Exception:
                self._halt.on = True  # at once: the next worker may have its place by now
                raise
            if self._halt.on:
                return
            await asyncio.sleep(0)  # others' turn: not every answer makes its worker wait

    def _ended(self, worker: asyncio.Task[None]) -> None:
        self._busy -= 1
        if not worker.cancelled() and (failure := worker.exception()) is not None:
            self.stop(failure)
        self._finish_if_idle()

    def _finish_if_idle(self) -> None:
        if self._busy == 0:
            self.finished = True
            self.wake.set()

    def wait(self, seconds: float) -> None:
        """Wait until there is something to do, at most so long."""
        self.wake.wait(seconds)
        self.wake.clear()

    def answered(self) -> list[Answer[P]]:
        """Return the answers of a finished batch, or raise what ended it."""
        if self.failure is not None:
            raise self.failure
        return cast("list[Answer[P]]", self.answers)
