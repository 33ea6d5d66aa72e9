"""Runs of a sweep as tasks of Ray."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from small import small

from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("simulation.sweeps", reason="sweeps are not there")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("sweep") / "small.yaml"
    file.write_text(small().text, encoding="utf-8")
    return file


@pytest.fixture
def runs() -> Iterator[Any]:
    from simulation.executors import ExecutorSpec  # noqa: PLC0415 - only with Ray
    from simulation.executors.ray import connect  # noqa: PLC0415 - as above
    from simulation.sweeps.ray import RayRuns  # noqa: PLC0415 - as above

    made = RayRuns(connect(ExecutorSpec(name="ray", workers=2)))
    with contextlib.closing(made):
        yield made


def sweeps() -> Any:
    return import_module("simulation.sweeps")


def test_a_sweep_on_ray_makes_the_runs_that_processes_make(
    scenario: Path, runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # paths are whole wherever workers stand
    grid = {"seeds": "1-2", "settings": ["horizon=3,5"]}
    seen: list[Any] = []
    watch = sweeps().running.Nobody()
    watch.event = lambda run, event: seen.append((run.number, event.kind, event.tick))
    planned = sweeps().plan(scenario, out=Path("on_ray"), **grid)
    there = sweeps().execute(planned, runs, watch)
    here = sweeps().sweep(scenario, out=Path("here"), jobs=1, **grid)
    assert [run["status"] for run in there.runs] == ["complete"] * 4
    digests = [[run["digest"] for run in made.runs] for made in (there, here)]
    assert digests[0] == digests[1]
    for number, horizon in ((1, 3), (3, 5)):
        mine = [(kind, tick) for which, kind, tick in seen if which == number]
        ticks = [("tick", tick) for tick in range(horizon + 1)]
        assert mine == [("begun", 0), *ticks, ("ended", 0)]


def test_a_run_that_cannot_be_made_or_whose_worker_is_lost_is_listed(
    scenario: Path, runs: Any, tmp_path: Path
) -> None:
    planned = sweeps().plan(scenario, out=tmp_path / "s", seeds="1-2", settings=["horizon=300"])
    planned.folder.mkdir()
    lost, other = (planned.job(run) for run in planned.runs)
    Path(other.out).write_text("not a run", encoding="utf-8")
    runs.submit(other)
    assert until_end(runs).outcome.status == "failed"
    runs.submit(lost)
    events(runs, 4)
    for line in os.popen("ps -eo pid,args").read().splitlines():  # noqa: S605, S607 - of this test
        pid, _, words = line.strip().partition(" ")
        if "ray::_make" in words:
            os.kill(int(pid), signal.SIGKILL)
    end = until_end(runs)
    assert end.outcome.status == "failed"
    assert "its worker was lost" in end.outcome.error


def test_stopping_ends_runs_after_their_tick_in_hand(
    scenario: Path, runs: Any, tmp_path: Path
) -> None:
    planned = sweeps().plan(scenario, out=tmp_path / "s", seeds="1-3", settings=["horizon=400"])
    planned.folder.mkdir()
    first, _, late = (planned.job(run) for run in planned.runs)
    runs.submit(first)
    events(runs, 4)
    runs.stop()
    runs.submit(late)
    ends = [until_end(runs), until_end(runs)]
    assert [end.outcome.status for end in ends] == ["interrupted"] * 2
    with RunFile.open(Path(first.out)) as found:
        assert found.run.status == "interrupted"
        assert 2 <= found.run.last_tick < 400
    assert not Path(late.out).exists()


def events(runs: Any, count: int) -> list[Any]:
    found: list[Any] = []
    until = time.monotonic() + 60
    while len(found) < count:
        assert time.monotonic() < until
        found += runs.poll(0.2)
    return found


def until_end(runs: Any) -> Any:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for event in runs.poll(0.2):
            if event.kind == "ended":
                return event
    pytest.fail("no run ended")
