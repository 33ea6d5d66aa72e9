"""The local executor: worker processes of this machine, one run each at a time.

A worker is a fresh interpreter that is told its jobs through a pipe. So nothing is inherited, a
program that starts a sweep needs no `if __name__ == "__main__"`, and a worker that dies is seen at
once by the end of its pipe, without harm to the others.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import simulation
from simulation.sweeps.base import Event, Outcome

if TYPE_CHECKING:
    from simulation.sweeps.base import Job

RUNS_OF_A_WORKER = 50
"""Then a fresh one takes its place: memory that a process keeps does not add up."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_SHOWN = 500  # characters of a dead worker's last words
_PATIENCE = 10.0  # seconds that a worker has to end when it was told to


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Local:
    """Makes runs in processes of this machine."""

    def __init__(self, slots: int) -> None:
        """Prepare for `slots` processes, >= 1; none is started before there is work."""
        self.slots = slots
        self._events: queue.SimpleQueue[tuple[_Worker, dict[str, Any] | None]]
        self._events = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._stopping = False

    def submit(self, job: Job) -> None:
        """Begin a job on a worker that is free, or on a new one."""
        free = next((each for each in self._workers if each.is_free), None)
        if free is None:
            free = _Worker(self._events)
            self._workers.append(free)
        self._events.put((free, {"begun": True}))  # before all that it has to say itself
        free.begin(job)

    def poll(self, timeout: float) -> list[Event]:
        """Return what happened since the last time, waiting up to `timeout` seconds for it."""
        found: list[Event] = []
        try:
            found += self._event(*self._events.get(timeout=timeout))
            while True:
                found += self._event(*self._events.get_nowait())
        except queue.Empty:
            return found

    def _event(self, worker: _Worker, said: dict[str, Any] | None) -> list[Event]:
        number = worker.job
        if said is None:
            self._workers.remove(worker)
            last_words = worker.end()
            if number is None:  # it was idle
                return []
            gone = Outcome(status="interrupted") if self._stopping else lost(last_words)
            return [Event(kind="ended", number=number, outcome=gone)]
        if number is None:  # pragma: no cover - a worker speaks of its job alone
            return []
        if "begun" in said:
            return [Event(kind="begun", number=number)]
        if "tick" in said:
            return [Event(kind="tick", number=number, tick=said["tick"])]
        worker.job = None
        if worker.begun >= RUNS_OF_A_WORKER:
            worker.stop()
        return [Event(kind="ended", number=number, outcome=Outcome(**said["outcome"]))]

    def stop(self) -> None:
        """Ask all jobs under way to end after their tick in hand."""
        self._stopping = True
        for worker in self._workers:
            worker.stop()

    def close(self) -> None:
        """End all workers; one that is still at work is killed."""
        for worker in self._workers:
            if worker.job is None:
                worker.stop()
            else:
                worker.kill()
        for worker in self._workers:
            worker.end()
        self._workers.clear()


def lost(why: str) -> Outcome:
    """Return the outcome of a job whose worker is gone."""
    return Outcome(status="failed", error=f"its worker was lost: {why}")


class _Worker:
    """A process, and the thread that hears it."""

    def __init__(self, events: queue.SimpleQueue[tuple[_Worker, dict[str, Any] | None]]) -> None:
        self.job: int | None = None
        self.begun = 0
        self.hears = True
        self._events = events
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "simulation.sweeps.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
            encoding="utf-8",
            env=_environment(),
            start_new_session=True,  # Ctrl-C reaches it through its parent alone
        )
        self._ear = threading.Thread(target=self._listen, daemon=True)
        self._ear.start()

    @property
    def is_free(self) -> bool:
        return self.job is None and self.hears and self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def begin(self, job: Job) -> None:
        self.job = job.number
        self.begun += 1
        try:
            _open(self._process.stdin).write(f"{json.dumps(job.to_dict())}\n")
            _open(self._process.stdin).flush()
        except OSError:  # pragma: no cover - it died just now, which its ear will tell
            return

    def stop(self) -> None:
        self.hears = False
        with contextlib.suppress(OSError):  # it is dead
            _open(self._process.stdin).close()

    def kill(self) -> None:
        self._process.kill()
        self.stop()

    def end(self) -> str:
        """Wait for the process to end, and return its last words."""
        self.stop()
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._ear.join(_PATIENCE)
        _open(self._process.stdout).close()
        self._words.seek(0)
        words = self._words.read().decode("utf-8", "replace").strip()
        self._words.close()
        how = f"killed by signal {-code}" if code < 0 else f"it ended with exit code {code}"
        return f"{how} ({words[-_SHOWN:]})" if words else how

    def _listen(self) -> None:
        for line in _open(self._process.stdout):
            self._events.put((self, json.loads(line)))
        self._events.put((self, None))


def _open(stream: IO[str] | None) -> IO[str]:
    if stream is None:  # pragma: no cover - all three are pipes
        raise AssertionError
    return stream


def _environment() -> dict[str, str]:
    """Return the environment of a worker: this very package, and one thread for arithmetic."""
    home = str(Path(simulation.__file__).resolve().parents[1])
    path = os.environ.get("PYTHONPATH")
    mine = {"PYTHONPATH": f"{home}{os.pathsep}{path}" if path else home}
    return {**dict.fromkeys(_THREADS, "1"), **os.environ, **mine}
