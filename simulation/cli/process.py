"""The program as a process: its signals, its streams, its exit code.

Imports as little as it can: a Ctrl-C while the rest is imported is told in one word, too.
"""

# ruff: noqa: PLC0415 - the rest of the program is imported where Ctrl-C is caught

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import warnings
from typing import TYPE_CHECKING, NoReturn

from simulation.errors import RunStoppedError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
STOPPED = 1
_SOON = 0.01  # seconds


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    try:
        _prepare()
        from simulation.cli.app import execute

        code = execute(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt as error:
        _ignore_signals()
        stopped = stop_in(error)
        code = STOPPED if stopped else INTERRUPTED
        print(stopped or "interrupted", file=sys.stderr)
    _ignore_signals()  # all is said: nothing may end in a traceback any more
    _flush()
    # An interrupt that passed through code run from a string (dataclasses make some while they
    # are imported) has CPython end by SIGINT whatever the exit code, until the next such code.
    exec("")  # noqa: S102 - a constant
    sys.exit(code)


def stop_in(error: BaseException | None) -> RunStoppedError | None:
    """Return the end of a run that an error interrupted the telling of, if there is one."""
    while error is not None and not isinstance(error, RunStoppedError):
        error = error.__cause__ or error.__context__
    return error


def _signals() -> list[signal.Signals]:
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def _prepare() -> None:
    """Make SIGTERM and SIGHUP mean what Ctrl-C does, and the standard streams safe to use."""
    for number in _signals():
        if signal.getsignal(number) == signal.SIG_DFL:  # one that is ignored (nohup) stays so
            signal.signal(number, signal.default_int_handler)
    # A stream that is closed (2>&-) leaves its number to the next file, the run database.
    while (file := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - stderr
        pass
    os.close(file)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end a run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.unraisablehook = _strike_again
    if not sys.warnoptions:
        warnings.simplefilter("ignore", RuntimeWarning)  # of numpy: a user cannot act on one


def _strike_again(lost: sys.UnraisableHookArgs) -> None:
    """Let an interrupt that some library swallowed strike once more, where it can be raised.

    One that strikes while a compiled library calls back into Python (pydantic does, while it
    builds a model) cannot pass through it: it would be printed and forgotten, and what was being
    built be left half made.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    again = threading.Timer(_SOON, _strike)
    again.daemon = True
    again.start()


def _strike() -> None:
    """Interrupt the main thread, also while it waits for something."""
    heard = [number for number in _signals() if callable(signal.getsignal(number))]
    if heard and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, heard[0])
    else:
        _thread.interrupt_main()


def _ignore_signals() -> None:
    for number in _signals():
        signal.signal(number, signal.SIG_IGN)


def _flush() -> None:
    """Let go of what a stream cannot take, so that Python does not complain at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
