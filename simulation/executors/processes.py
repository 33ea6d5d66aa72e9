"""The executor of several processes of this machine.

A worker is a fresh interpreter that is told its parts through a pipe. So nothing is inherited, a
program that uses it needs no `if __name__ == "__main__"`, and a worker that dies is seen at once
by the end of its pipe: another takes its place, and its part.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from simulation.errors import RunStoppedError
from simulation.executors.base import RETRIES, Failed, answered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

R = TypeVar("R")

_NEWEST: Final = pickle.HIGHEST_PROTOCOL
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(slots=True)
class _Call:
    """One call of `map`. over: its caller has gone, so nobody waits for answers any more."""

    answers: queue.SimpleQueue[tuple[int, Any]] = field(default_factory=queue.SimpleQueue)
    over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A part to work on, and whose it is."""

    call: _Call
    number: int
    function: Callable[[Any, Any], Any]
    handle: int
    part: Any


class Processes:
    """Works on parts in processes of this machine."""

    name = "local"

    def __init__(self, workers: int) -> None:
        """Prepare for `workers` processes, >= 1; they start when there is work."""
        self.workers = workers
        self._values: list[Any] = []
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._crew: list[_Worker] = []

    def share(self, value: Any) -> int:
        """Return a handle for what many parts need; a worker gets it when it needs it first."""
        self._values.append(value)
        return len(self._values) - 1

    def map(self, function: Callable[[Any, Any], R], shared: Any, parts: Iterable[Any]) -> list[R]:
        """Return function(value, part) of each part, in order; see `Executor.map`."""
        if not self._crew:
            self._crew = [_Worker(self._tasks, self._values) for _ in range(self.workers)]
        call, done, sent = _Call(), dict[int, R](), 0
        try:
            for number, part in enumerate(parts):
                if sent - len(done) >= 2 * self.workers:  # one more each, so that none waits
                    _take(call, done)
                self._tasks.put(
                    _Task(call=call, number=number, function=function, handle=shared, part=part)
                )
                sent += 1
            while len(done) < sent:
                _take(call, done)
        finally:
            call.over = True
        return [done[number] for number in range(sent)]

    def close(self) -> None:
        """End all workers at once."""
        for worker in self._crew:
            worker.kill()
        for _ in self._crew:
            self._tasks.put(None)
        for worker in self._crew:
            worker.join()
        self._crew.clear()


def _take(call: _Call, done: dict[int, R]) -> None:
    number, answer = call.answers.get()
    done[number] = answered(answer)


class _Worker:
    """A process, and the thread that speaks with it."""

    def __init__(self, tasks: queue.SimpleQueue[_Task | None], values: list[Any]) -> None:
        self._tasks, self._values = tasks, values
        self._known: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int | None:
        """Return the process's id, None before its first part."""
        return self._process.pid if self._process else None

    def kill(self) -> None:
        """End the process; it will have no successor."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()

    def join(self) -> None:
        """Wait for the thread, and clear the process away."""
        self._thread.join()
        self._clear()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            if not task.call.over:
                task.call.answers.put((task.number, self._answer(task)))

    def _answer(self, task: _Task) -> Any:
        """Return what the process answers; each loss of it is one try."""
        for _ in range(RETRIES + 1):
            try:
                return self._ask(task)
            except (OSError, EOFError, pickle.UnpicklingError):
                self._clear()
            except Exception as error:  # noqa: BLE001 - a part that cannot be sent; its caller decides
                return Failed(error=error, trace="it could not be sent")
        why = f"a worker died on the same part of the work {RETRIES + 1} times"
        return Failed(error=RunStoppedError(why), trace="")

    def _ask(self, task: _Task) -> Any:
        process = self._running()
        words, answers = process.stdin, process.stdout
        if words is None or answers is None:  # pragma: no cover - both are pipes
            raise EOFError
        value = () if task.handle in self._known else (self._values[task.handle],)
        message = (task.handle, value, task.function, task.part)
        pickle.dump(pickle.dumps(message, _NEWEST), words, _NEWEST)
        words.flush()
        self._known.add(task.handle)
        return pickle.load(answers)  # noqa: S301 - it comes from a process of our own

    def _running(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._ended:
                raise EOFError
            if self._process is None:
                self._process = _start()
            return self._process

    def _clear(self) -> None:
        """Forget a process that is lost."""
        with self._lock:
            process, self._process = self._process, None
        self._known.clear()
        if process is not None:
            process.kill()
            process.communicate()


def _start() -> subprocess.Popen[bytes]:
    """Start a worker that finds what we find, this package first; one thread for arithmetic."""
    home = str(Path(__file__).resolve().parents[2])
    mine = {"PYTHONPATH": os.pathsep.join([home, *filter(None, sys.path)])}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "simulation.executors.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**dict.fromkeys(_THREADS, "1"), **os.environ, **mine},
        start_new_session=True,  # Ctrl-C is its parent's to answer
    )
