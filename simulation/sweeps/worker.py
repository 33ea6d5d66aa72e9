"""A worker process: jobs come in as lines of JSON, and what becomes of them goes out.

The end of its input, also by the death of its parent, means Ctrl-C: the tick in hand is finished
or dropped, the run is marked, and the process ends.
"""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import queue
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable

_END = ""


def main() -> None:
    """Work until there is no more input."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent in the background has none
    # What anything else prints must not be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, jobs), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        while (line := jobs.get()) != _END:
            work(json.loads(line), answers)
    with contextlib.suppress(KeyboardInterrupt, OSError):
        answers.close()
    os._exit(0)  # the listener may hold the lock of stdin, which a usual end would wait for


def _listen(lines: Iterable[str], jobs: queue.SimpleQueue[str]) -> None:
    for line in lines:
        jobs.put(line)
    jobs.put(_END)
    if hasattr(signal, "pthread_kill"):  # unlike the other, wakes a main thread that waits
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def work(job: dict[str, Any], answers: TextIO) -> None:
    """Make one run and tell of each tick and of its end."""
    from simulation.sweeps.base import Job  # noqa: PLC0415 - an early end needs no engine
    from simulation.sweeps.making import make  # noqa: PLC0415 - as above

    def tell(**said: Any) -> None:
        answers.write(f"{json.dumps(said)}\n")
        answers.flush()

    wanted = Job.from_dict(job)
    outcome = make(wanted, on_tick=lambda tick: tell(tick=tick))
    tell(outcome=outcome.to_dict())


if __name__ == "__main__":
    main()
