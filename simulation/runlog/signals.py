"""Signals during a run: none of them may strike while DuckDB works.

DuckDB answers Python's KeyboardInterrupt with a RuntimeError of its own and drops the transaction.
So a signal is noted, and raised as a KeyboardInterrupt only where the engine works; a run ends
once, and whatever signals come while its file is being closed are ignored.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

_MOST = 2  # strikes: the first ends a run, the second its waiting


class Signals:
    """Holds back, while it is entered, the signals that mean KeyboardInterrupt.

    Only handlers that are Python's own for Ctrl-C are replaced, and only in the main thread, which
    is where signals arrive: handlers of somebody else stay as they are.
    """

    def __init__(self) -> None:
        """Hold nothing back yet."""
        self._open = False
        self._strikes = 0
        self._noted = False
        self._replaced: list[Any] = []

    @contextlib.contextmanager
    def may_strike(self) -> Iterator[None]:
        """Let a signal, also one held back before, raise KeyboardInterrupt within the block.

        Another one strikes once more while the block ends after the first: a run that waits for
        the last replies of a language model need not.

        Raises:
            KeyboardInterrupt: a signal came; none will be raised any more.
        """
        self._open = True
        if self._noted:
            self._open = False
            raise KeyboardInterrupt
        try:
            yield
        finally:
            self._open = False

    def __enter__(self) -> Self:
        """Replace the handlers."""
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                if signal.getsignal(number) is signal.default_int_handler:
                    self._replaced.append(number)
                    signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put the handlers back."""
        for number in self._replaced:
            signal.signal(number, signal.default_int_handler)

    def _note(self, *_: object) -> None:
        self._noted = True
        if self._open:
            self._strikes += 1
            self._open = self._strikes < _MOST  # before raising: no more of them in the clean-up
            raise KeyboardInterrupt
