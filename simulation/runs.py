"""The composition root: a scenario, a seed and a file become a run. The only place that joins."""

from __future__ import annotations

import contextlib
import importlib.metadata
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation import appraisers
from simulation.calls.budget import BudgetExhaustedError
from simulation.engine import Engine
from simulation.errors import ModelError, RunFileError, RunStoppedError
from simulation.founding import read
from simulation.personality import maps
from simulation.rng import sha256_hex
from simulation.runlog import RunHeader, RunWriter, Signals
from simulation.scenario import TIERS, Access, Loaded, Scenario, flatten, load_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from simulation.executors import Executor
    from simulation.records import TickRecords
    from simulation.world import World

RUNS = Path("runs")
_RECORDED_PACKAGES = (
    "anthropic",
    "duckdb",
    "mesa",
    "networkx",
    "numpy",
    "openai",
    "pyarrow",
    "pydantic",
    "sentence-transformers",
    "tokenizers",
    "torch",
)


def simulate(
    scenario: Loaded | Scenario | str | Path,
    *,
    seed: int | None = None,
    out: str | Path | None = None,
    settings: Sequence[str] = (),
    access: Access | None = None,
    on_tick: Callable[[TickRecords], None] | None = None,
    executor: Executor | None = None,
) -> Path:
    """Run a scenario to its horizon and return the path of its run database.

    scenario: a YAML file, or what was read from one.  seed: default, the scenario's.
    out: the file to write, which must not exist; default, a new file in `runs/`.
    settings: `path=value`, as with --set; only for a file.  access: what the scenario may read.
    on_tick: called after each tick is safely in the file, and for tick 0.
    executor: works on large batches, default this process; it is not closed.

    In the main thread Ctrl-C, while it has Python's own handler, waits until DuckDB is done, and
    ends the run.

    Raises:
        ScenarioError: the scenario cannot be used; nothing was written.
        UsageError: the seed or a setting cannot be used; nothing was written.
        RunFileError: the file exists or cannot be written; nothing is left of it.
        RunStoppedError: the run was interrupted, its budget is spent, no language model can be
            asked any more, or its file could not be written any further; the file holds every
            finished tick. Before tick 0 is finished there is no file.
    """
    with Signals() as signals:
        try:
            with signals.may_strike():
                loaded = _loaded(scenario, settings, access or Access())
                engine = Engine(loaded, seed, executor=executor)
        except KeyboardInterrupt:
            raise RunStoppedError("interrupted before tick 0; nothing was written") from None
        with contextlib.closing(engine):
            try:
                with signals.may_strike():
                    engine.check_models()
            except KeyboardInterrupt:
                raise RunStoppedError("interrupted before tick 0; nothing was written") from None
            with _new_file(header(loaded, engine), out) as writer:
                engine.log_calls(writer.log_calls)
                _run_or_stop(engine, writer, on_tick, signals)
    return Path(writer.path or "")


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


def free_path(name: str, seed: int, folder: Path = RUNS) -> Path:
    """Return the first free of `folder/name-seedN.duckdb`, `folder/name-seedN-2.duckdb`, …."""
    stem = f"{name}-seed{seed}"
    number = 1
    while True:
        suffix = "" if number == 1 else f"-{number}"
        path = folder / f"{stem}{suffix}.duckdb"
        if not path.exists():
            return path
        number += 1


def header(loaded: Loaded, engine: Engine) -> RunHeader:
    """Return what a run database says about its run: enough to run it again."""
    scenario = engine.scenario
    return RunHeader(
        run_id=uuid.uuid4().hex,
        scenario_name=scenario.name,
        scenario_yaml=loaded.text,
        scenario_sha256=sha256_hex(loaded.text),
        settings=loaded.settings,
        seed=engine.seed,
        engine_version=_version("simulation"),
        horizon=scenario.horizon,
        tau=scenario.tau,
        parameters=flatten(scenario) | _personal(engine),
        encoder=engine.encoder.name,
        encoder_sha256=engine.encoder.sha256,
        models={tier: model.name for tier, model in zip(TIERS, engine.tiers, strict=True)},
        packages={name: v for name in _RECORDED_PACKAGES if (v := _version(name))},
    )


def _personal(engine: Engine) -> dict[str, str]:
    """Return which appraiser told the affects of a run with personality, by which map of gains."""
    appraiser = engine.appraiser
    if appraiser is None:
        return {}
    found = {"affect.name": appraiser.name, "affect.sha256": appraiser.sha256}
    if engine.scenario.persmem.gains != "reference":  # which is no map
        found["persmem.gains_sha256"] = maps.sha256()
    return found


def _run_or_stop(
    engine: Engine,
    writer: RunWriter,
    on_tick: Callable[[TickRecords], None] | None,
    signals: Signals,
) -> None:
    """Run to the horizon; say what the file holds when that cannot be."""
    try:
        _run(engine, writer, on_tick, signals)
    except KeyboardInterrupt:
        if writer.last_tick < 0:
            writer.discard()
            raise RunStoppedError("interrupted before tick 0; nothing was written") from None
        raise _stopped(engine, writer) from None
    except RunStoppedError as error:  # no language model can be asked, or may be
        out_of_money = isinstance(error, BudgetExhaustedError)
        with contextlib.suppress(RunFileError):  # its ticks are in the file in any case
            writer.finish("budget_exhausted" if out_of_money else "failed")
        raise type(error)(
            f"{error}\nThe run stopped after tick {writer.last_tick} of "
            f"{engine.scenario.horizon}; {writer.path} holds every finished tick, and every reply "
            "that was paid for"
        ) from error
    except RunFileError as error:
        if writer.last_tick < 0:
            writer.discard()
            raise
        raise RunStoppedError(
            f"{error}\nThe run stopped after tick {writer.last_tick} of "
            f"{engine.scenario.horizon}; {writer.path} holds every finished tick"
        ) from error


def _stopped(engine: Engine, writer: RunWriter) -> RunStoppedError:
    """Mark an interrupted run; its ticks are in the file even if the mark cannot be."""
    said = (
        f"interrupted after tick {writer.last_tick} of {engine.scenario.horizon}; "
        f"{writer.path} holds every finished tick"
    )
    try:
        writer.finish("interrupted")
    except RunFileError as error:
        said = f"{error}\n{said}"
    return RunStoppedError(said)


def _run(
    engine: Engine,
    writer: RunWriter,
    on_tick: Callable[[TickRecords], None] | None,
    signals: Signals,
) -> None:
    """Step to the horizon, one transaction a tick; the writer marks a run that fails."""
    _keep(writer, engine.records, 0.0, on_tick, signals)
    while engine.world.tick < engine.scenario.horizon:
        started = time.perf_counter()
        with signals.may_strike():
            records = engine.advance()
        _keep(writer, records, time.perf_counter() - started, on_tick, signals)
    writer.finish("complete")
    writer.close()


def _keep(
    writer: RunWriter,
    records: TickRecords,
    wall_s: float,
    on_tick: Callable[[TickRecords], None] | None,
    signals: Signals,
) -> None:
    writer.write(records, wall_s=wall_s)
    if on_tick is not None:
        with signals.may_strike():
            on_tick(records)


def _loaded(
    scenario: Loaded | Scenario | str | Path, settings: Sequence[str], access: Access
) -> Loaded:
    if isinstance(scenario, Loaded):
        return scenario
    if isinstance(scenario, Scenario):
        return load_scenario(scenario, access=access)
    return read(scenario, settings=settings, access=access)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
