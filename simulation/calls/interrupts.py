"""Signals held back for a moment, so that what must be whole is not torn."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold Ctrl-C and its kin back until the block ends; then they do what they would have done.

    Only the main thread is ever interrupted; in another one this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        held.append(number)

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    # Handlers that are not Python's (None), the default ones and ignored signals stay as they are.
    handlers = {n: h for n in numbers if callable(h := signal.getsignal(n))}
    for number in handlers:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(held):
            signal.raise_signal(number)
