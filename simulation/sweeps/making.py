"""Making one run of a sweep: from nothing, from where an earlier start left it, or not at all."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from simulation import runs
from simulation.analysis.measures import measure
from simulation.errors import RunFileError, RunStoppedError, SimulationError
from simulation.rng import sha256_hex
from simulation.runlog import RunFile
from simulation.scenario import Access, load_text
from simulation.sweeps.base import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.records import TickRecords
    from simulation.runlog import RunInfo
    from simulation.sweeps.base import Job


def make(job: Job, *, on_tick: Callable[[int], None]) -> Outcome:
    """Make a run, unless its file holds it already; whatever goes wrong is in the outcome.

    A run that an earlier start left unfinished is resumed.  on_tick: called with each tick that
    is in the file.
    """
    started = time.monotonic()
    error: str | None = None
    try:
        _make(job, on_tick)
    except RunStoppedError as stopped:
        error = str(stopped)
    except SimulationError as failed:
        error = str(failed)
    except Exception as defect:  # noqa: BLE001 - one run must not stop the others
        error = f"internal error ({type(defect).__name__}: {defect})"
    return outcome(Path(job.out), seconds=time.monotonic() - started, error=error)


def outcome(path: Path, *, seconds: float | None, error: str | None) -> Outcome:
    """Return what a run database says of how its run ended."""
    try:
        found = measure(path)
    except RunFileError as unreadable:
        return Outcome(status="failed", seconds=seconds, error=error or str(unreadable))
    last, status = found.info.last_tick, found.info.status
    if error is not None and status == "complete":  # it is another run
        return Outcome(status="failed", seconds=seconds, error=error)
    if status == "running":  # by nobody any more
        status = "failed"
    return Outcome(
        status=status,
        last_tick=last,
        personas=found.personas,
        turns=found.turns,
        digest=found.digest,
        run_id=found.info.header.run_id,
        bought=float(found.value("action", "bought")[last]),
        rejected=float(found.value("action", "rejected")[last]),
        means={target: float(values[last]) for target, values in found.beliefs.items()},
        seconds=seconds,
        error=error,
    )


def _make(job: Job, on_tick: Callable[[int], None]) -> None:
    path = Path(job.out)
    access = Access(
        allow_paths=tuple(map(Path, job.allow_paths)),
        allow_hosts=job.allow_hosts,
        key_for=job.key_for,
        no_price=job.no_price,
    )

    def told(records: TickRecords) -> None:
        on_tick(records.tick)

    if path.exists():
        found = _earlier(path, job)
        if found.status == "complete":
            return
        if found.last_tick >= 0:
            runs.resume(path, access=access, on_tick=told)
            return
    _remove(path)
    loaded = load_text(
        job.text, name=job.name, folder=Path(job.folder), settings=job.settings, access=access
    )
    runs.simulate(loaded, seed=job.seed, out=path, on_tick=told)


def _earlier(path: Path, job: Job) -> RunInfo:
    """Return how far an earlier start came.

    Raises:
        RunFileError: the file is no run of this sweep, or cannot be read.
    """
    with RunFile.open(path) as run:
        header = run.run.header
        mine = (sha256_hex(job.text), job.settings, job.seed)
        if (header.scenario_sha256, header.settings, header.seed) != mine:
            raise RunFileError(
                f"{path} is another run, of other settings or another scenario: move it away"
            )
        return run.run


def _remove(path: Path) -> None:
    """Remove what an earlier start left of a run, which `_earlier` has found to be ours."""
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
