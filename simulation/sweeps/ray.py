"""Runs of a sweep as tasks of Ray: one run each, whole, on whichever node has a processor.

The folder of the sweep must be one that all nodes see under one path, since each run database is
written where its run is made.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulation.executors.base import Failed, attempt
from simulation.sweeps.base import Event, Outcome
from simulation.sweeps.making import make

if TYPE_CHECKING:
    from simulation.executors.ray import RayExecutor
    from simulation.sweeps.base import Job


class RayRuns:
    """Makes runs on a Ray, `slots` at a time."""

    def __init__(self, executor: RayExecutor) -> None:
        """Take over an executor, with all of its workers; it is closed with this."""
        self.slots = executor.workers
        self._executor, self._ray = executor, executor.ray
        self._board = self._ray.remote(num_cpus=0)(_Board).remote()
        # A run whose worker is lost is listed as failed; the sweep's next start goes on with it.
        self._make = self._ray.remote(num_cpus=1, max_retries=0)(_make)
        self._under_way: dict[Any, int] = {}
        self._begun: list[int] = []
        self._closed = False

    def submit(self, job: Job) -> None:
        """Begin a job; its paths are made whole, since workers have their own working folder."""
        whole = replace(
            job,
            folder=str(Path(job.folder).absolute()),
            out=str(Path(job.out).absolute()),
            allow_paths=tuple(str(Path(path).absolute()) for path in job.allow_paths),
        )
        self._under_way[self._make.remote(whole, self._board)] = job.number
        self._begun.append(job.number)

    def poll(self, timeout: float) -> list[Event]:
        """Return what happened since the last time, waiting up to `timeout` seconds for it."""
        begun = [Event(kind="begun", number=number) for number in self._begun]
        self._begun.clear()
        ready: list[Any] = []
        if self._under_way:
            ready, _ = self._ray.wait(list(self._under_way), num_returns=1, timeout=timeout)
        else:
            time.sleep(timeout)
        known = set(self._under_way.values())
        told = [  # all that a finished run told is there: it waits for each word to arrive
            Event(kind="tick", number=number, tick=tick)
            for number, tick in self._ray.get(self._board.take.remote())
            if number in known
        ]
        return begun + told + [self._ended(task) for task in ready]

    def _ended(self, task: Any) -> Event:
        number = self._under_way.pop(task)
        try:
            outcome = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            outcome = self._failed(f"its worker was lost: {str(error).splitlines()[0]}")
        if isinstance(outcome, Failed):
            outcome = self._failed(str(outcome.error))
        return Event(kind="ended", number=number, outcome=outcome)

    def _failed(self, why: str) -> Outcome:
        return Outcome(status="failed", error=why)

    def stop(self) -> None:
        """Ask all jobs under way to end after their tick in hand; those that wait never begin."""
        self._ray.get(self._board.stop.remote())

    def close(self) -> None:
        """End everything at once. May be repeated: a Ray that has ended must not be asked."""
        if self._closed:
            return
        self._closed = True
        for task in self._under_way:
            self._ray.cancel(task, force=True)
        self._under_way.clear()
        self._ray.kill(self._board)
        self._executor.close()


class _Board:
    """An actor where runs say how far they are, and read whether they are to end."""

    def __init__(self) -> None:
        self._told: list[tuple[int, int]] = []
        self._stopping = False

    def tell(self, number: int, tick: int) -> bool:
        """Note a tick; return whether the run is to end."""
        self._told.append((number, tick))
        return self._stopping

    def is_stopping(self) -> bool:
        return self._stopping

    def take(self) -> list[tuple[int, int]]:
        told, self._told = self._told, []
        return told

    def stop(self) -> None:
        self._stopping = True


def _make(job: Job, board: Any) -> Outcome | Failed:
    """Make a run, in a worker process; Ctrl-C of the driver is what ends it early."""
    import ray  # noqa: PLC0415 - a worker of Ray has it

    if ray.get(board.is_stopping.remote()):
        return Outcome(status="interrupted")

    def tell(tick: int) -> None:
        if ray.get(board.tell.remote(job.number, tick)):
            raise KeyboardInterrupt

    done: Outcome | Failed = attempt(lambda it, told: make(it, on_tick=told), job, tell)
    return done
