"""The composition root: a scenario, a seed and a file become a run. The only place that joins."""

from __future__ import annotations

import contextlib
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation import appraisers, branching
from simulation.calls.budget import BudgetExhaustedError
from simulation.engine import Engine
from simulation.errors import ModelError, RunFileError, RunStoppedError, UsageError
from simulation.founding import read
from simulation.headers import engine_version, header, packages, sources
from simulation.runlog import RunFile, RunWriter, Signals, call_records, check_free
from simulation.scenario import Access, Loaded, Scenario, load_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from simulation.calls.recorded import Recorded
    from simulation.executors import Executor
    from simulation.models.asking import Backend
    from simulation.models.base import Model
    from simulation.records import TickRecords
    from simulation.runlog import RunHeader
    from simulation.world import World

RUNS = Path("runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A copy of a run that others can read while it goes on.

    path: replaced by each new copy.  every: ticks from one to the next, >= 1.
    """

    path: Path
    every: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watch:
    """Where a run is written, who is told of each tick, and what may interrupt it.

    again: the words of the command line that goes on with it, behind its file.
    """

    writer: RunWriter
    on_tick: Callable[[TickRecords], None] | None
    signals: Signals
    snapshot: Snapshot | None
    again: tuple[str, ...] = ()

    def keep(self, records: TickRecords, wall_s: float) -> None:
        """Write a tick, copy the file when it is time, and tell of it."""
        self.writer.write(records, wall_s=wall_s)
        if self.snapshot is not None and records.tick % self.snapshot.every == 0:
            self.writer.snapshot(self.snapshot.path)
        if self.on_tick is not None:
            with self.signals.may_strike():
                self.on_tick(records)

    def complete(self) -> None:
        """Mark the run as complete, copy the file a last time and close it."""
        self.writer.finish("complete")
        if self.snapshot is not None:
            self.writer.snapshot(self.snapshot.path)
        self.writer.close()


def simulate(
    scenario: Loaded | Scenario | str | Path,
    *,
    seed: int | None = None,
    out: str | Path | None = None,
    settings: Sequence[str] = (),
    access: Access | None = None,
    tiers: Sequence[Model | Backend] | None = None,
    replay: str | Path | None = None,
    ask_misses: bool = False,
    on_tick: Callable[[TickRecords], None] | None = None,
    snapshot: Snapshot | None = None,
    executor: Executor | None = None,
) -> Path:
    """Run a scenario to its horizon and return the path of its run database.

    scenario: a YAML file, or what was read from one.  seed: default, the scenario's.
    out: the file to write, which must not exist; default, a new file in `runs/`.
    settings: `path=value`, as with --set; only for a file.  access: what the scenario may read.
    tiers: the cheap and the frontier model, in place of those that the scenario names.
    replay: a run whose language models answer in place of the scenario's, and whose seed is the
    default; no key and no network is needed.  ask_misses: ask what it does not answer.
    on_tick: called after each tick is safely in the file, and for tick 0.
    snapshot: a copy to keep, which others can read while the run goes on.
    executor: works on large batches, default this process; it is not closed.

    In the main thread Ctrl-C, while it has Python's own handler, waits until DuckDB is done, and
    ends the run.

    Raises:
        ScenarioError: the scenario cannot be used; nothing was written.
        UsageError: the seed, a setting or a model cannot be used; nothing was written.
        RunFileError: the file exists or cannot be written; nothing is left of it.
        RunStoppedError: the run was interrupted, its budget is spent, no language model can be
            asked any more, or its file could not be written any further; the file holds every
            finished tick. Before tick 0 is finished there is no file.
    """
    with Signals() as signals:
        with _before_the_file(signals):
            loaded = _loaded(scenario, settings, access or Access())
            recorded, its_seed = _recorded(replay, ask_misses=ask_misses)
            if recorded is not None and (tiers is not None or not loaded.scenario.languages):
                raise UsageError(
                    f"nothing of {replay} can be replayed: this run asks no language model that "
                    "its scenario names"
                )
            engine = Engine(
                loaded,
                its_seed if seed is None else seed,
                tiers=tiers,
                recorded=recorded,
                executor=executor,
            )
        with contextlib.closing(engine):
            with _before_the_file(signals):
                engine.check_models()
                head = header(loaded, engine)
                _check_snapshot(snapshot, out or free_path(head.scenario_name, head.seed))
            with _new_file(head, out) as writer:
                start = engine.records
                start = replace(start, rows=(sources(loaded, engine), *start.rows))
                again = (*_flags(loaded.access), *_replaying(replay, ask_misses=ask_misses))
                watch = _Watch(
                    writer=writer, on_tick=on_tick, signals=signals, snapshot=snapshot, again=again
                )
                _run_or_stop(engine, watch, start)
    return Path(writer.path or "")


def resume(
    path: str | Path,
    *,
    settings: Sequence[str] = (),
    access: Access | None = None,
    tiers: Sequence[Model | Backend] | None = None,
    any_version: bool = False,
    replay: str | Path | None = None,
    ask_misses: bool = False,
    on_tick: Callable[[TickRecords], None] | None = None,
    snapshot: Snapshot | None = None,
    executor: Executor | None = None,
) -> Path:
    """Go on with a run that stopped, to its horizon, as if it never had; return its path.

    The world is rebuilt from the rows of the file, and its digest compared with the one they
    carry, before anything is written. Of a complete run nothing is changed.

    settings: `path=value` of what may change without changing results (branching.RESUMABLE).
    any_version: go on although another version of the package began it.  replay: a run whose
    language models answer what this file does not; that of a replay, or the parent of a fork.
    The rest: as for `simulate`; tiers must be the models that began the run.

    Raises:
        RunFileError: the file cannot be read or written, is in use, is damaged, or holds no tick.
        UsageError, ScenarioError: another version began it, a setting would change the run, or an
            encoder or a model cannot be used. In all these cases the file is as it was.
        RunStoppedError: it stopped again; the file holds every finished tick.
    """
    with Signals() as signals, RunWriter.reopen(path) as writer:
        try:
            with signals.may_strike(), writer.reader() as run:
                if run.run.status == "complete":
                    return Path(path)
                recorded, _ = _recorded(replay, ask_misses=ask_misses)
                engine = branching.again(
                    run,
                    settings,
                    access,
                    tiers,
                    any_version=any_version,
                    executor=executor,
                    recorded=recorded,
                )
                _check_snapshot(snapshot, path, run_id=run.run.header.run_id)
            with contextlib.closing(engine):
                with signals.may_strike():
                    engine.check_models()
                writer.resumed(
                    engine_version=engine_version(), settings=settings, packages=packages()
                )
                again = (*_flags(access), *_replaying(replay, ask_misses=ask_misses))
                watch = _Watch(
                    writer=writer, on_tick=on_tick, signals=signals, snapshot=snapshot, again=again
                )
                _run_or_stop(engine, watch, None)
        except KeyboardInterrupt:
            raise RunStoppedError(f"interrupted; {path} is as it was") from None
    return Path(path)


def fork(
    parent: str | Path,
    *,
    at: int,
    settings: Sequence[str] = (),
    out: str | Path | None = None,
    access: Access | None = None,
    tiers: Sequence[Model | Backend] | None = None,
    any_version: bool = False,
    on_tick: Callable[[TickRecords], None] | None = None,
    snapshot: Snapshot | None = None,
    executor: Executor | None = None,
) -> Path:
    """Branch a run: a new one that shares every tick up to `at` and goes on with the same chance.

    With nothing changed it repeats its parent exactly. The parent's file is only read; the new one
    holds the shared history, too, and stands alone.

    at: the last tick shared, from 0.  settings: `path=value` of what is to be different after it
    (branching.FORKABLE).  out: the file to write, which must not exist; default, a new file in
    `runs/`.  The rest: as for `resume`.

    Raises:
        RunFileError: the parent cannot be read, is in use, is damaged or holds no tick; or the new
            file exists or cannot be written. Nothing is left of it.
        UsageError, ScenarioError: the parent has no such tick; a setting reaches back; another
            version made the parent; an encoder or a model cannot be used. Nothing was written.
        RunStoppedError: as for `simulate`.
    """
    parent = Path(parent)
    with Signals() as signals:
        with _before_the_file(signals), RunFile.open(parent) as run:
            engine, head, rows = branching.branch(
                run, at, settings, access, tiers, any_version=any_version, executor=executor
            )
            target = Path(out or free_path(head.scenario_name, head.seed, fork=at))
            _check_snapshot(snapshot, target)
        with contextlib.closing(engine):
            with _before_the_file(signals):
                engine.check_models()
            with RunWriter.fork(target, head, parent=parent, rows=rows) as writer:
                again = _flags(access)
                if engine.languages is not None:  # what the parent answered is not asked later
                    again = (*again, *_replaying(parent, ask_misses=True))
                watch = _Watch(
                    writer=writer, on_tick=on_tick, signals=signals, snapshot=snapshot, again=again
                )
                _run_or_stop(engine, watch, None)
    return target


def _flags(access: Access | None) -> tuple[str, ...]:
    """Return what the command line has to allow again for language models."""
    given = access or Access()
    hosts = [word for host in given.allow_hosts for word in ("--allow-host", host)]
    keys = [word for host in given.key_for for word in ("--key-for", host)]
    return (*hosts, *keys, *(("--no-price",) if given.no_price else ()))


def _replaying(replay: str | Path | None, *, ask_misses: bool) -> tuple[str, ...]:
    """Return the words that let a run answer again."""
    if replay is None:
        return ()
    return ("--replay", str(replay), *(("--replay-miss", "live") if ask_misses else ()))


def _recorded(
    replay: str | Path | None, *, ask_misses: bool
) -> tuple[Recorded | None, int | None]:
    """Return the answers of another run, and its seed; None for no run."""
    if replay is None and ask_misses:
        raise UsageError("--replay-miss live (ask_misses) needs a run to replay")
    if replay is None:
        return None, None
    from simulation.calls.recorded import Recorded  # noqa: PLC0415 - only a replay needs it

    with RunFile.open(replay) as run:
        records, seed = call_records(run), run.run.header.seed
    if not any(record.response for record in records):
        raise UsageError(f"{replay} holds no answers of a language model, so nothing to replay")
    return Recorded(records, mode="replay", miss="ask" if ask_misses else "stop"), seed


def _new_file(run: RunHeader, out: str | Path | None) -> RunWriter:
    """Return a writer to `out`, or to the next free file of `runs/`, whoever else takes one."""
    if out is not None:
        return RunWriter.create(out, run)
    while True:
        path = free_path(run.scenario_name, run.seed)
        try:
            return RunWriter.create(path, run)
        except RunFileError:
            if not path.exists():
                raise


def check(loaded: Loaded) -> World:
    """Return the world at tick 0 with nothing embedded and no server asked: is it fit to run?

    Whether language models have their keys and prices is not looked at: `languages.missing`.

    Raises:
        ScenarioError: the ontology, the population, the graph or a stimulus cannot be used.
        UsageError: a model or a setting cannot be used.
    """
    appraiser = None
    if loaded.scenario.affect.appraiser != "lexicon":
        appraiser = appraisers.load(appraisers.AppraiserSpec(name="lexicon"))
    backend = _Nobody() if loaded.scenario.languages else None
    return Engine(loaded, encoder=_NoVectors(), appraiser=appraiser, backend=backend).world


class _Nobody:
    """Stands in for language models when a scenario is only checked: nobody is asked."""

    name = "nobody"

    def complete(
        self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]
    ) -> Sequence[str | ModelError]:
        """Return no answer."""
        return [ModelError("nobody was asked")] * max(len(prompts), len(schemas))


class _NoVectors:
    """Stands in for an encoder when a scenario is only checked."""

    name = "none"
    width = 1
    sha256 = ""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return zeros."""
        return np.zeros((len(texts), self.width), dtype=np.float32)


def free_path(name: str, seed: int, folder: Path = RUNS, *, fork: int | None = None) -> Path:
    """Return the first free of `folder/name-seedN.duckdb`, `folder/name-seedN-2.duckdb`, ….

    fork: the tick of a fork, which then stands behind the seed: `name-seedN-fork12.duckdb`.
    """
    stem = f"{name}-seed{seed}" if fork is None else f"{name}-seed{seed}-fork{fork}"
    number = 1
    while True:
        suffix = "" if number == 1 else f"-{number}"
        path = folder / f"{stem}{suffix}.duckdb"
        if not path.exists():
            return path
        number += 1


def _check_snapshot(
    snapshot: Snapshot | None, path: str | Path, *, run_id: str | None = None
) -> None:
    """Refuse to replace a file that is no earlier snapshot of the same run.

    path: of the run.  run_id: of a run that goes on.

    Raises:
        UsageError: a copy after less than one tick is asked for.
        RunFileError: the file is something else.
    """
    if snapshot is None:
        return
    if snapshot.every < 1:
        raise UsageError(f"a snapshot every {snapshot.every} ticks makes no sense; at least 1")
    if snapshot.path.resolve() == Path(path).resolve():
        raise RunFileError(f"{path} cannot be its own snapshot: choose another name for that")
    if run_id is None or not snapshot.path.exists():
        check_free(snapshot.path)
        return
    with RunFile.open(snapshot.path) as earlier:
        if earlier.run.header.run_id != run_id:
            raise RunFileError(
                f"{snapshot.path} is another run, and a run is never written over: choose another "
                "name for the snapshot, or delete it"
            )


@contextlib.contextmanager
def _before_the_file(signals: Signals) -> Iterator[None]:
    """Let a signal strike as long as there is no file.

    Raises:
        RunStoppedError: one did.
    """
    try:
        with signals.may_strike():
            yield
    except KeyboardInterrupt:
        raise RunStoppedError("interrupted before tick 0; nothing was written") from None


def _run_or_stop(engine: Engine, watch: _Watch, start: TickRecords | None) -> None:
    """Run to the horizon; say what the file holds when that cannot be.

    start: tick 0, if it is not in the file yet.
    """
    writer = watch.writer
    engine.log_calls(writer.log_calls)
    try:
        _run(engine, watch, start)
    except KeyboardInterrupt:
        if writer.last_tick < 0:
            writer.discard()
            raise RunStoppedError("interrupted before tick 0; nothing was written") from None
        raise _stopped(engine, watch) from None
    except RunStoppedError as error:  # no language model can be asked, or may be
        raise _out_of_answers(engine, watch, error, is_new=start is not None) from error
    except RunFileError as error:
        if writer.last_tick < 0:
            writer.discard()
            raise
        raise RunStoppedError(f"{error}\nThe run stopped {_held(engine, watch)}") from error


def _out_of_answers(
    engine: Engine, watch: _Watch, error: RunStoppedError, *, is_new: bool
) -> RunStoppedError:
    """Mark a run whose language models may not or cannot be asked any more, and say how to go on.

    What they answered in the tick that is left out is in the file, and is not asked again. Of a
    replay that fits from the first question on not at all, no file is left.
    """
    from simulation.calls.recorded import ReplayMissError  # noqa: PLC0415 - for runs that ask

    writer = watch.writer
    missed = isinstance(error, ReplayMissError)
    if is_new and writer.last_tick < (1 if missed else 0):
        writer.discard()
        return type(error)(f"{error}\nNothing was written. {_UNLIKE}") if missed else error
    more: tuple[str, ...] = ()
    if isinstance(error, BudgetExhaustedError):
        more = ("--set", f"budget.{error.name}={error.more}")
    with contextlib.suppress(RunFileError):  # its ticks are in the file in any case
        writer.finish("budget_exhausted" if more else "failed")
    if missed:
        live = replace(watch, again=(*watch.again, "--replay-miss", "live"))
        said = f"{_held(engine, live)}\nThis asks, and pays, what was not recorded. {_UNLIKE}"
    else:
        said = (
            f"{_held(engine, watch, *more)}\n"
            "Every reply that was paid for is kept and is not asked for again."
        )
    return type(error)(f"{error}\nThe run stopped {said}")


_UNLIKE = (
    "The scenario, its settings, the seed or the version of the package are not those of the "
    "recorded run, or that one ended here."
)


def _stopped(engine: Engine, watch: _Watch) -> RunStoppedError:
    """Mark an interrupted run; its ticks are in the file even if the mark cannot be."""
    said = f"interrupted {_held(engine, watch)}"
    try:
        watch.writer.finish("interrupted")
    except RunFileError as error:
        said = f"{error}\n{said}"
    return RunStoppedError(said)


def _held(engine: Engine, watch: _Watch, *more: str) -> str:
    """Return what the file of a run that stopped holds, and how to go on.

    more: words of the command line that are needed besides.
    """
    writer = watch.writer
    words = shlex.join(["simulation", "resume", str(writer.path), *watch.again, *more])
    return (
        f"after tick {writer.last_tick} of {engine.scenario.horizon}; {writer.path} holds every "
        f"finished tick. To go on: {words}"
    )


def _run(engine: Engine, watch: _Watch, start: TickRecords | None) -> None:
    """Step to the horizon, one transaction a tick; the writer marks a run that fails."""
    if start is not None:
        watch.keep(start, 0.0)
    while engine.world.tick < engine.scenario.horizon:
        started = time.perf_counter()
        with watch.signals.may_strike():
            records = engine.advance()
        watch.keep(records, time.perf_counter() - started)
    watch.complete()


def _loaded(
    scenario: Loaded | Scenario | str | Path, settings: Sequence[str], access: Access
) -> Loaded:
    if isinstance(scenario, Loaded):
        return scenario
    if isinstance(scenario, Scenario):
        return load_scenario(scenario, access=access)
    return read(scenario, settings=settings, access=access)
