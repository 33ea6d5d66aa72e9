"""An event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")

_TICK: Final = 0.25
"""Seconds between two looks of a waiting thread at its signals."""

_PATIENCE: Final = 5.0
"""Seconds that the thread has to end."""


class Background:
    """Runs callbacks and coroutines on a loop; its thread starts when it is first needed."""

    def __init__(self, make_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        """Remember how to make the loop; nothing runs yet."""
        self._make_loop = make_loop
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        """Whether the thread was started and not closed since."""
        return self._loop is not None

    def call(self, function: Callable[[], object]) -> None:
        """Have a function called on the loop, soon."""
        self._started().call_soon_threadsafe(function)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end; Ctrl-C in the calling thread cancels it."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            while True:
                try:
                    return future.result(timeout=_TICK)
                except NotYetError:
                    if future.done():  # the work itself timed out
                        raise
        except KeyboardInterrupt:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what is left, end the thread and wait for it."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = self._thread = None
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_PATIENCE)

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = self._make_loop()
            # A daemon, so that a provider that will not be cancelled cannot keep the process.
            self._thread = threading.Thread(
                target=_serve, args=(self._loop,), name="calls", daemon=True
            )
            self._thread.start()
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        _wind_up(loop)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=_PATIENCE / 2))
    loop.run_until_complete(loop.shutdown_asyncgens())
