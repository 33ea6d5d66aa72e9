"""Running a sweep: what is missing is made, what fails is listed, what is done stays."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from simulation.errors import RunFileError, RunStoppedError, UsageError
from simulation.runlog import RunFile, Signals
from simulation.sweeps.local import Local, cores
from simulation.sweeps.plan import Plan, plan
from simulation.sweeps.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.scenario import Access
    from simulation.sweeps.base import Event, Executor
    from simulation.sweeps.plan import PlannedRun

_TICK = 0.2  # seconds between two looks at what the workers do
_RESULTS = ("complete", "missing")  # all other states of a run are failures


class Watch(Protocol):
    """Told how a sweep goes on."""

    def begin(self, plan: Plan, done: int) -> None:
        """Take note of the plan; `done` of its runs are there already."""
        ...

    def event(self, run: PlannedRun, event: Event) -> None:
        """Take note of what happened to a run."""
        ...

    def look(self) -> None:
        """Time has passed."""
        ...


class Nobody:
    """A watch that takes no notice."""

    def begin(self, plan: Plan, done: int) -> None:
        """Do nothing."""

    def event(self, run: PlannedRun, event: Event) -> None:
        """Do nothing."""

    def look(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a sweep has come to.

    runs: the rows of `sweep.duckdb` for the runs asked for, by cell and seed.  made: runs that
    this start made.
    """

    folder: str
    name: str
    axes: dict[str, tuple[str, ...]]
    seeds: tuple[int, ...]
    made: int
    runs: tuple[dict[str, Any], ...]

    @property
    def complete(self) -> int:
        """Runs that are complete."""
        return sum(run["status"] == "complete" for run in self.runs)

    @property
    def failed(self) -> tuple[dict[str, Any], ...]:
        """Runs that ended early."""
        return tuple(run for run in self.runs if run["status"] not in _RESULTS)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {**asdict(self), "complete": self.complete, "failed": len(self.failed)}


def sweep(
    scenario: str | Path,
    *,
    seeds: str | Sequence[int] | None = None,
    settings: Sequence[str] = (),
    out: str | Path | None = None,
    jobs: int | None = None,
    access: Access | None = None,
) -> Result:
    """Run a scenario with every combination of settings and every seed.

    Started again it makes only what is missing. A run that fails does not stop the others.

    seeds: `1-20`, `1,4,9`, or numbers; default, the scenario's own.  settings: `path=a,b,c`.
    out: the folder; default, one in `runs/` that the same call finds again.  jobs: processes;
    default, one per core.

    Raises:
        ScenarioError, UsageError: the scenario, the seeds or a combination of settings cannot be
            used, or the folder is that of another sweep; no run was started.
        RunFileError: the folder cannot be written, or another process is at work in it.
        RunStoppedError: interrupted; finished runs stay.
    """
    planned = plan(scenario, seeds=seeds, settings=settings, out=out, access=access)
    slots = min(jobs if jobs is not None else cores(), len(planned.runs))
    if slots < 1:
        raise UsageError(f"a sweep needs at least 1 process, not {slots}")
    return execute(planned, Local(slots))


def execute(planned: Plan, executor: Executor, watch: Watch | None = None) -> Result:
    """Make what is missing of a sweep, and close the executor.

    Raises:
        UsageError: the folder is that of another sweep.
        RunFileError: the folder cannot be written, or another process is at work in it.
        RunStoppedError: interrupted; finished runs stay.
    """
    watch = watch or Nobody()
    try:
        planned.manifest.settle(planned.folder)
        with Summary.open(planned) as summary:
            work = _Work(planned, executor, summary, watch)
            work.run()
            return work.result()
    finally:
        executor.close()


def _is_there(path: Path, known: tuple[str, str] | None) -> bool:
    """Return whether a file still is the complete run that the summary knows.

    known: its run_id and last digest; None for a run that is not complete.
    """
    if known is None or not path.is_file():
        return False
    try:
        with RunFile.open(path) as run:
            last = run.query("SELECT state_digest FROM ticks ORDER BY tick DESC LIMIT 1").rows
            return run.run.status == "complete" and (run.run.header.run_id, *last[0]) == known
    except RunFileError:
        return False


class _Work:
    """A sweep under way."""

    def __init__(self, planned: Plan, executor: Executor, summary: Summary, watch: Watch) -> None:
        self._plan, self._executor, self._summary = planned, executor, summary
        self._watch = watch
        done = summary.complete()
        self._left = deque(
            run for run in planned.runs if not _is_there(run.path, done.get(run.path.name))
        )
        self._under_way: dict[int, PlannedRun] = {}
        self._made = 0
        watch.begin(planned, len(planned.runs) - len(self._left))

    def run(self) -> None:
        try:
            with Signals() as signals:
                while self._left or self._under_way:
                    with signals.may_strike():  # and nowhere else: no news may get lost
                        pass
                    self._fill()
                    self._look()
        except KeyboardInterrupt:
            self._stop()
            raise RunStoppedError(self._interrupted()) from None

    def _fill(self) -> None:
        while self._left and len(self._under_way) < self._executor.slots:
            run = self._left.popleft()
            self._under_way[run.number] = run
            self._executor.submit(self._plan.job(run))

    def _look(self) -> None:
        for event in self._executor.poll(_TICK):
            run = self._under_way[event.number]
            if event.outcome is not None:
                del self._under_way[event.number]
                self._summary.put(run, event.outcome)
                self._made += event.outcome.status == "complete"
            self._watch.event(run, event)
        self._watch.look()

    def _stop(self) -> None:
        """Let runs under way end after their tick in hand; a second Ctrl-C ends them at once."""
        try:
            with Signals() as signals:
                self._executor.stop()
                while self._under_way:
                    with signals.may_strike():
                        pass
                    self._look()
        except KeyboardInterrupt:
            return

    def _interrupted(self) -> str:
        result = self.result()
        return (
            f"interrupted: {result.complete} of {len(result.runs)} runs are complete in "
            f"{self._plan.folder}; the same command makes the others"
        )

    def result(self) -> Result:
        asked = {run.path.name for run in self._plan.runs}
        rows = [row for row in self._summary.rows() if row["path"] in asked]
        return Result(
            folder=str(self._plan.folder),
            name=self._plan.name,
            axes={axis.path: axis.values for axis in self._plan.axes},
            seeds=self._plan.seeds,
            made=self._made,
            runs=tuple(rows),
        )
