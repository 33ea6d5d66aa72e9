"""Sweeps: the grid, the folder, the processes, and going on after anything went wrong."""

from __future__ import annotations

import io
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from small import SMALL, small

from simulation import Run, compare_by, compare_groups, runs, sweeps
from simulation.errors import RunFileError, RunStoppedError, ScenarioError, UsageError
from simulation.runs import simulate
from simulation.sweeps import grid, making, running, worker
from simulation.sweeps.base import Event, Job, Outcome
from simulation.sweeps.local import Local, cores
from simulation.sweeps.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.sweeps import Plan, PlannedRun, Result

TINY = SMALL | {
    "horizon": 3,
    "probes": {"every": 4, "share": 0.0},
    "stimuli": SMALL["stimuli"][:1],
}


def scenario(folder: Path, **changes: Any) -> Path:
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(TINY | changes, sort_keys=False), "utf-8")
    return path


# The grid.


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("population.size=40,80", ("40", "80")),
        ("recall.mode=random", ("random",)),
        ('stimuli[0].text="a, b"', ('"a, b"',)),
        ("stimuli[0].text='it''s, here',\"b\\\", c\"", ("'it''s, here'", '"b\\", c"')),
        ("actions=[ignore,like],[ignore]", ("[ignore,like]", "[ignore]")),
        ("models={cheap: {provider: rule, x: [1, 2]}},null", (
            "{cheap: {provider: rule, x: [1, 2]}}", "null",
        )),
        ("brief.brand=Ben's, Bolt's", ("Ben's", "Bolt's")),
        ('audience["a]"]=x , y', ("x", "y")),
        ("ontology=", ("",)),
    ],
)  # fmt: skip
def test_values_are_parted_by_commas_outside_quotes_and_brackets(
    text: str, values: tuple[str, ...]
) -> None:
    assert grid.parse_axis(text).values == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("population.size", "is not path=value"),
        ("=3", "is not path=value"),
        ("a=1,,2", "empty value between its commas"),
        ("a=1,", "empty value"),
        ("a=1,2,1", "the same value twice"),
        ("a=[1,2", "never closed"),
        ('a="x,y', "never closed"),
        ("seed=1,2", "give them with --seeds"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        grid.parse_axis(text)


def test_a_path_is_set_once() -> None:
    with pytest.raises(UsageError, match=r"a is set twice; give all its values at once: a=a,b,c"):
        grid.parse_axes(["a=1", "b=2", "a=3"])


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=8, unique=True))
def test_any_list_of_seeds_is_read_as_it_is_written(seeds: list[int]) -> None:
    assert grid.parse_seeds(",".join(map(str, seeds))) == tuple(seeds)


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("1-4", (1, 2, 3, 4)), ("3", (3,)), ("-2-1", (-2, -1, 0, 1)), ("9, 1 - 2", (9, 1, 2))],
)
def test_seeds_are_ranges_and_lists(text: str, seeds: tuple[int, ...]) -> None:
    assert grid.parse_seeds(text) == seeds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "says no seeds"),
        ("a-b", "says no seeds"),
        ("1.5", "says no seeds"),
        ("5-1", "no range"),
        ("1-1000000000", "no range of at most 100,000"),
        ("1-3,2", "a seed twice"),
        (str(2**63), "between"),
    ],
)
def test_seeds_that_make_no_sense_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        grid.parse_seeds(text)


@settings(max_examples=50)
@given(st.lists(st.text(min_size=1, max_size=130), min_size=1, max_size=6, unique=True))
def test_names_of_runs_are_different_on_any_file_system_and_safe(values: list[str]) -> None:
    axes = (grid.Axis(path="a", values=tuple(values)), grid.Axis(path="b", values=("1", "2")))
    labels = [cell.label for cell in grid.cells(axes, name="bar")]
    assert len({label.casefold() for label in labels}) == 2 * len(values)
    assert all(label.isascii() and not set(label) & set("/\\:*?\"'<>| ") for label in labels)
    assert max(map(len, labels)) < 120


def test_a_grid_is_every_combination_the_last_setting_fastest() -> None:
    axes = grid.parse_axes(["a=1,2", "b=x", "c=u,v"])
    made = grid.cells(axes, name="bar")
    assert [cell.values for cell in made] == [
        ("1", "x", "u"), ("1", "x", "v"), ("2", "x", "u"), ("2", "x", "v"),
    ]  # fmt: skip
    assert made[1].settings == ("a=1", "b=x", "c=v")
    assert made[1].label == "a=1,c=v"
    assert [cell.label for cell in grid.cells((), name="bar")] == ["bar"]
    with pytest.raises(UsageError, match="combinations of settings are more than"):
        grid.cells([grid.Axis(path=p, values=tuple(map(str, range(400)))) for p in "ab"], name="x")


# The plan.


def test_a_plan_reads_and_founds_every_combination_and_writes_nothing(tmp_path: Path) -> None:
    made = sweeps.plan(
        scenario(tmp_path),
        seeds="1-3",
        settings=["population.size=6,8"],
        out=tmp_path / "out",
    )
    assert len(made.runs) == 6
    assert made.runs[3].path == tmp_path / "out" / "population.size=8-seed1.duckdb"
    assert made.targets == ("value", "fit", "trust", "C1", "C2")
    assert made.horizons == {1: 3, 2: 3}
    assert 6 * 5_300_000 < made.bytes < 6 * 5_400_000
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]


def test_the_same_grid_is_looked_for_in_the_same_folder_whatever_its_seeds(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    first = sweeps.plan(path, seeds="1-3", settings=["horizon=2,3"])
    assert sweeps.plan(path, seeds="9", settings=["horizon=2,3"]).folder == first.folder
    assert sweeps.plan(path, seeds="1-3", settings=["horizon=2"]).folder != first.folder
    assert first.folder.parent == Path("runs")
    assert first.folder.name.startswith("small-sweep-")
    assert sweeps.plan(path).seeds == (3,)  # the scenario's own


def test_all_combinations_that_cannot_be_run_are_told_before_any_run(tmp_path: Path) -> None:
    options = ["population.size=8,-1", "recall.mode=random,rnadom", "graph.degree=2,400"]
    with pytest.raises(UsageError) as refused:
        sweeps.sweep(scenario(tmp_path), seeds="1-3", settings=options, out=tmp_path / "out")
    said = str(refused.value)
    assert said.startswith("7 of 8 combinations of settings cannot be run; no run was started")
    assert 'did you mean "random"' in said
    assert "population.size=-1" in said
    assert "graph.degree" in said  # which only founding finds
    assert not (tmp_path / "out").exists()


def test_a_fault_of_the_file_itself_is_told_once(tmp_path: Path) -> None:
    path = scenario(tmp_path, horizn=3)
    with pytest.raises(ScenarioError):
        sweeps.plan(path)
    with pytest.raises(UsageError) as refused:
        sweeps.plan(path, settings=["population.size=6,8"])
    assert str(refused.value).count("horizn") == 1


def test_too_many_runs_and_too_few_processes_are_refused(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    with pytest.raises(UsageError, match="200,000 runs are more than 100,000"):
        sweeps.plan(path, seeds="1-100000", settings=["horizon=2,3"])
    with pytest.raises(UsageError, match="at least 1 process"):
        sweeps.sweep(path, out=tmp_path / "out", jobs=0)


# The folder.


def test_a_folder_of_another_sweep_is_refused(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    out = tmp_path / "out"

    def settle(text: str = "horizon=2,3", *, seeds: str = "1") -> list[int]:
        return sweeps.plan(path, seeds=seeds, settings=[text]).manifest.settle(out).seeds

    assert settle() == [1]
    assert settle() == [1]
    assert settle(seeds="5-6") == [1, 5, 6]  # seeds may grow
    with pytest.raises(UsageError, match=r"its settings .*there horizon=2,3, here horizon=2,4"):
        settle("horizon=2,4")
    with pytest.raises(UsageError, match=r"there horizon=2,3; no tier, here no horizon; tier="):
        settle("tier=cheap,frontier")
    scenario(tmp_path, name="other")
    with pytest.raises(UsageError, match="the text of the scenario differs"):
        settle()


def test_a_folder_with_files_that_changed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(12)), "utf-8")
    path = scenario(
        tmp_path, graph={"kind": "edges", "file": "edges.txt", "assign": "permutation"}
    )
    out = tmp_path / "out"
    sweeps.plan(path).manifest.settle(out)
    (tmp_path / "edges.txt").write_text("".join(f"{i + 1} {i}\n" for i in range(12)), "utf-8")
    with pytest.raises(
        UsageError, match=r"the files that the scenario names differ \(there graph"
    ):
        sweeps.plan(path).manifest.settle(out)


def test_a_folder_of_other_things_or_a_broken_manifest_is_refused(tmp_path: Path) -> None:
    manifest = sweeps.plan(scenario(tmp_path)).manifest
    with pytest.raises(UsageError, match=r"holds other things and no sweep\.json"):
        manifest.settle(tmp_path)
    with pytest.raises(UsageError, match="is a file; --out names a folder"):
        manifest.settle(tmp_path / "small.yaml")
    out = tmp_path / "out"
    manifest.settle(out)
    for text, message in (
        ("{", "is damaged"),
        ('{"format": 2}', "another version"),
        ("[]", "is d"),
    ):
        (out / "sweep.json").write_text(text, "utf-8")
        with pytest.raises(UsageError, match=message):
            manifest.settle(out)
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(RunFileError, match="cannot be written"):
        manifest.settle(tmp_path / "file" / "out")


def test_the_summary_says_what_its_columns_mean_and_is_open_to_one_at_a_time(
    tmp_path: Path,
) -> None:
    made = sweeps.plan(
        scenario(
            tmp_path, brief=SMALL["brief"] | {"dimensions": ["value", "fit", "trust", "Value"]}
        ),
        settings=["horizon=2,3"],
        out=tmp_path / "out",
    )
    made.manifest.settle(made.folder)
    with Summary.open(made) as summary:
        assert [row["status"] for row in summary.rows()] == ["missing", "missing"]
        code = (
            "import sys; from pathlib import Path; from simulation import sweeps;"
            "from simulation.sweeps.summary import Summary;"
            "p = sweeps.plan(sys.argv[1], settings=['horizon=2,3'], out=sys.argv[2]);"
            "Summary.open(p)"
        )
        other = subprocess.run(
            [sys.executable, "-c", code, str(made.scenario), str(made.folder)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert f"is in use by process {os.getpid()}" in other.stderr
    with duckdb.connect(str(made.folder / "sweep.duckdb"), read_only=True) as connection:
        told = connection.execute(
            "SELECT column_name, comment FROM duckdb_columns() "
            "WHERE table_name IN ('runs', 'sweep')"
        ).fetchall()
        assert all(comment for _, comment in told)
        assert {"horizon", "seed", "mean_C1", "mean_Value_2", "error"} <= {
            name for name, _ in told
        }
        assert connection.execute("SELECT scenario_name FROM sweep").fetchall() == [("small",)]


def test_a_summary_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    made = sweeps.plan(scenario(tmp_path), out=tmp_path / "out")
    made.manifest.settle(made.folder)
    path = made.folder / "sweep.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE runs (odd INTEGER)")
    with pytest.raises(RunFileError, match="is not the summary of this sweep: delete it"):
        Summary.open(made)
    path.write_bytes(b"odd" * 9000)
    with pytest.raises(RunFileError, match="damaged"):
        Summary.open(made)


# Running, without processes.


class Here:
    """An executor in this process: what a job comes to is told by a function."""

    def __init__(self, outcome: Callable[[Job], Outcome], slots: int = 2) -> None:
        self.slots = slots
        self.most = self.closed = 0
        self.jobs: list[Job] = []
        self._left: list[Job] = []
        self._outcome = outcome

    def submit(self, job: Job) -> None:
        self.jobs.append(job)
        self._left.append(job)
        self.most = max(self.most, len(self._left))

    def poll(self, timeout: float) -> list[Event]:
        assert timeout > 0
        if not self._left:
            return []
        job = self._left.pop(0)
        tick = Event(kind="tick", number=job.number, tick=1)
        return [tick, Event(kind="ended", number=job.number, outcome=self._outcome(job))]

    def stop(self) -> None:
        self._outcome = lambda _: Outcome(status="interrupted")

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def _trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the files that `fine` leaves, which are empty, for the runs that they stand for."""

    def is_there(path: Path, known: object) -> bool:
        return known is not None and path.is_file()

    monkeypatch.setattr(running, "_is_there", is_there)


def fine(job: Job) -> Outcome:
    Path(job.out).touch()
    return Outcome(status="complete", last_tick=3, digest=str(job.seed), means={"C1": 0.75})


def failing(job: Job) -> Outcome:
    if job.seed == 2:
        return Outcome(status="failed", error="the sky fell")
    return fine(job)


def planned(tmp_path: Path, seeds: str = "1-3") -> Plan:
    return sweeps.plan(
        scenario(tmp_path), seeds=seeds, settings=["horizon=2,3"], out=tmp_path / "out"
    )


def test_no_more_runs_are_under_way_than_there_are_slots(tmp_path: Path) -> None:
    executor = Here(fine)
    result = sweeps.execute(planned(tmp_path), executor)
    assert (result.complete, result.failed, result.made) == (6, (), 6)
    assert (executor.most, executor.closed) == (2, 1)
    assert [row["mean_C1"] for row in result.runs] == [0.75] * 6
    assert result.to_dict()["complete"] == 6
    json.dumps(result.to_dict())


@pytest.mark.usefixtures("_trusting")
def test_a_run_that_fails_stops_no_other_and_is_made_again_alone(tmp_path: Path) -> None:
    first = sweeps.execute(planned(tmp_path), Here(failing))
    assert (first.complete, len(first.failed)) == (4, 2)
    assert {row["error"] for row in first.failed} == {"the sky fell"}
    again = Here(fine)
    second = sweeps.execute(planned(tmp_path), again)
    assert [job.seed for job in again.jobs] == [2, 2]
    assert (second.complete, second.made, second.failed) == (6, 2, ())


@pytest.mark.usefixtures("_trusting")
def test_more_seeds_and_runs_whose_file_is_gone_are_made_and_no_others(tmp_path: Path) -> None:
    sweeps.execute(planned(tmp_path), Here(fine))
    (tmp_path / "out" / "horizon=2-seed1.duckdb").unlink()
    again = Here(fine)
    result = sweeps.execute(planned(tmp_path, "1-4"), again)
    assert sorted((job.seed, job.settings) for job in again.jobs) == [
        (1, ("horizon=2",)), (4, ("horizon=2",)), (4, ("horizon=3",)),
    ]  # fmt: skip
    assert len(result.runs) == 8
    assert len(sweeps.execute(planned(tmp_path, "4"), Here(fine)).runs) == 2


@pytest.mark.usefixtures("_trusting")
def test_ctrl_c_lets_runs_end_keeps_the_finished_and_says_how_to_go_on(tmp_path: Path) -> None:
    def interrupted(job: Job) -> Outcome:
        if len(executor.jobs) > 3:
            signal.raise_signal(signal.SIGINT)
        return fine(job)

    executor = Here(interrupted)
    with pytest.raises(RunStoppedError) as stopped:
        sweeps.execute(planned(tmp_path), executor)
    assert executor.closed == 1
    done = 6 - len(sweeps.execute(planned(tmp_path), again := Here(fine)).failed) - len(again.jobs)
    assert str(stopped.value) == (
        f"interrupted: {done} of 6 runs are complete in {tmp_path / 'out'}; the same command "
        "makes the others"
    )
    assert 0 < done < 6


def test_a_second_ctrl_c_waits_for_nothing(tmp_path: Path) -> None:
    class Stubborn(Here):
        def poll(self, timeout: float) -> list[Event]:
            assert timeout
            signal.raise_signal(signal.SIGINT)
            return []

    with pytest.raises(RunStoppedError, match="0 of 6 runs are complete"):
        sweeps.execute(planned(tmp_path), Stubborn(fine))


def test_a_watch_is_told_what_happens(tmp_path: Path) -> None:
    seen: list[str] = []

    class Seeing(running.Nobody):
        def begin(self, plan: Plan, done: int) -> None:
            seen.append(f"{plan.name} {done}")

        def event(self, run: PlannedRun, event: Event) -> None:
            seen.append(f"{run.seed} {event.kind}")

    sweeps.execute(planned(tmp_path, "1"), Here(fine, slots=1), Seeing())
    assert seen == ["small 0", *["1 tick", "1 ended"] * 2]


# Making one run.


def job(tmp_path: Path, seed: int = 1, *options: str) -> Job:
    made = sweeps.plan(scenario(tmp_path), seeds=[seed], settings=options, out=tmp_path / "out")
    made.folder.mkdir(exist_ok=True)
    return made.job(made.runs[0])


def test_a_job_survives_json(tmp_path: Path) -> None:
    wanted = job(tmp_path, 1, "horizon=2")
    assert Job.from_dict(json.loads(json.dumps(wanted.to_dict()))) == wanted


def test_a_run_of_a_sweep_is_the_run_that_run_makes(tmp_path: Path) -> None:
    wanted = job(tmp_path, 5, "horizon=2")
    ticks: list[int] = []
    found = making.make(wanted, on_tick=ticks.append)
    alone = simulate(
        tmp_path / "small.yaml", seed=5, settings=["horizon=2"], out=tmp_path / "alone"
    )
    with Run.open(alone) as run, Run.open(wanted.out) as mine:
        sql = "SELECT tick, state_digest FROM ticks ORDER BY tick"
        assert run.query(sql).rows == mine.query(sql).rows
        assert mine.query(sql).rows[-1] == (2, found.digest)
        assert mine.run.header.settings == ("horizon=2",)
    assert ticks == [0, 1, 2]
    assert (found.status, found.last_tick, found.error) == ("complete", 2, None)
    assert found.means.keys() == {"value", "fit", "trust", "C1", "C2"}
    assert (found.personas, found.seconds is not None) == (12, True)
    again = making.make(wanted, on_tick=ticks.append)  # it is there already
    assert (again.run_id, len(ticks)) == (found.run_id, 3)


def test_a_run_that_was_interrupted_is_resumed_to_the_same_digest(tmp_path: Path) -> None:
    wanted = job(tmp_path)
    whole = making.make(wanted, on_tick=lambda _: None)
    Path(wanted.out).unlink()

    def strike(tick: int) -> None:
        if tick == 1:
            signal.raise_signal(signal.SIGINT)

    stopped = making.make(wanted, on_tick=strike)
    assert (stopped.status, stopped.last_tick) == ("interrupted", 1)
    assert stopped.error is not None
    ticks: list[int] = []
    resumed = making.make(wanted, on_tick=ticks.append)
    assert (resumed.status, resumed.digest) == ("complete", whole.digest)
    assert resumed.run_id == stopped.run_id
    assert ticks == [2, 3]


def test_what_is_left_of_a_run_that_never_began_is_made_anew(tmp_path: Path) -> None:
    wanted = job(tmp_path)
    Path(f"{wanted.out}.wal").write_bytes(b"odd")
    assert making.make(wanted, on_tick=lambda _: None).status == "complete"


def test_a_file_of_another_run_is_never_touched(tmp_path: Path) -> None:
    wanted = job(tmp_path)
    simulate(small(), seed=1, settings=(), out=wanted.out)
    before = Path(wanted.out).read_bytes()
    found = making.make(wanted, on_tick=lambda _: None)
    assert found.status == "failed"
    assert "is another run, of other settings or another scenario" in str(found.error)
    assert found.digest is None
    assert Path(wanted.out).read_bytes() == before


def test_a_file_that_is_no_run_fails_alone(tmp_path: Path) -> None:
    wanted = job(tmp_path)
    Path(wanted.out).write_bytes(b"odd" * 9000)
    found = making.make(wanted, on_tick=lambda _: None)
    assert (found.status, found.last_tick) == ("failed", None)
    assert "is no run database" in str(found.error)


def test_a_defect_of_the_engine_is_told_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(runs, "simulate", broken)
    found = making.make(job(tmp_path), on_tick=lambda _: None)
    assert (found.status, found.error) == ("failed", "internal error (ZeroDivisionError: by zero)")


# Processes.


@pytest.fixture(name="swept", scope="module")
def small_sweep(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("sweep")
    options = ["recall.mode=product,random"]
    path = scenario(folder, horizon=4)
    return folder, sweeps.sweep(path, seeds="1-3", settings=options, out=folder / "two", jobs=2)


def digests(result: Result) -> dict[str, str]:
    return {row["path"]: row["digest"] for row in result.runs}


def test_one_process_and_two_give_the_same_digests(swept: tuple[Path, Result]) -> None:
    folder, two = swept
    one = sweeps.sweep(
        folder / "small.yaml", seeds=[3, 1], settings=["recall.mode=product,random"],
        out=folder / "one", jobs=1,
    )  # fmt: skip
    assert (two.complete, one.complete) == (6, 4)
    assert {path: digests(two)[path] for path in digests(one)} == digests(one)
    assert len(set(digests(two).values())) >= 3


def test_the_runs_of_a_sweep_are_compared_by_a_setting(swept: tuple[Path, Result]) -> None:
    found = compare_by([swept[0] / "two"], "recall.mode")
    assert [arm.seeds for arm in found.arms] == [(1, 2, 3)] * 2
    assert found.contrasts[0].settings == {"recall.mode": ("product", "random")}
    row = {row["path"]: row for row in swept[1].runs}["recall.mode=random-seed1.duckdb"]
    assert row["recall.mode"] == "random"
    with Run.open(swept[0] / "two" / row["path"]) as run:
        sql = "SELECT target, mean FROM belief_summary WHERE tick = 4"
        for target, mean in run.query(sql).rows:
            assert row[f"mean_{target}"] == pytest.approx(mean, abs=1e-12)


def test_two_halves_of_one_arm_of_real_runs_are_not_told_apart_and_every_number_is_in_the_rows(
    tmp_path: Path,
) -> None:
    made = sweeps.sweep(scenario(tmp_path, horizon=2), seeds="1-8", out=tmp_path / "out")
    halves = [
        [tmp_path / "out" / row["path"] for row in made.runs if (row["seed"] <= 4) == low]
        for low in (True, False)
    ]
    found = compare_groups(halves).contrasts[0]
    assert (found.paired, found.settings, found.runs) == (False, {}, (4, 4))
    sql = "SELECT mean FROM belief_summary WHERE tick = 2 AND target = 'C1'"
    means = []
    for half in halves:
        values = []
        for path in half:
            with Run.open(path) as run:
                values.append(run.query(sql).rows[0][0])
        means.append(values)
    effect = next(each for each in found.end if each.measure == "C1")
    known = stats.ttest_ind(means[1], means[0], equal_var=False)
    assert effect.means == pytest.approx(tuple(map(np.mean, means)))
    assert (effect.low, effect.high) == pytest.approx(tuple(known.confidence_interval()))
    assert effect.noise == pytest.approx(
        np.sqrt((np.var(means[0], ddof=1) + np.var(means[1], ddof=1)) / 2)
    )
    assert all(each.p_holm is None or each.p_holm > 0.05 for each in found.end)


def long_job(tmp_path: Path) -> Job:
    path = scenario(tmp_path, horizon=5000, population={"size": 40})
    made = sweeps.plan(path, seeds="1", out=tmp_path / "out")
    made.folder.mkdir(exist_ok=True)
    return made.job(made.runs[0])


def until(executor: Local, kind: str, seconds: float = 60) -> Event:
    """Return the first event of a kind."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for event in executor.poll(0.1):
            if event.kind == kind:
                return event
    raise AssertionError(kind)


def test_a_worker_that_is_killed_is_noticed_and_another_takes_its_place(tmp_path: Path) -> None:
    executor = Local(1)
    try:
        executor.submit(long_job(tmp_path))
        assert until(executor, "begun").number == 1
        until(executor, "tick")
        (hand,) = executor._workers
        os.kill(hand.pid, signal.SIGKILL)
        outcome = until(executor, "ended").outcome
        assert outcome is not None
        assert (outcome.status, outcome.error) == (
            "failed", "its worker was lost: killed by signal 9",
        )  # fmt: skip
        executor.submit(job(tmp_path / "out"))
        ended = until(executor, "ended").outcome
        assert ended is not None
        assert ended.status == "complete"
    finally:
        executor.close()
    assert executor._workers == []


def test_a_worker_that_is_stopped_ends_its_run_after_a_whole_tick(tmp_path: Path) -> None:
    executor = Local(1)
    wanted = long_job(tmp_path)
    try:
        executor.submit(wanted)
        while until(executor, "tick").tick < 1:
            pass
        executor.stop()
        outcome = until(executor, "ended").outcome
    finally:
        executor.close()
    assert outcome is not None
    assert outcome.status == "interrupted"
    with Run.open(wanted.out) as run:
        assert run.run.status == "interrupted"
        assert run.query("SELECT max(tick) FROM ticks").rows[0][0] == run.run.last_tick


def test_a_worker_that_died_while_idle_is_not_given_a_job(tmp_path: Path) -> None:
    executor = Local(1)
    try:
        executor.submit(job(tmp_path))
        until(executor, "ended")
        (hand,) = executor._workers
        os.kill(hand.pid, signal.SIGKILL)
        hand._process.wait()
        executor.submit(job(tmp_path, 2))
        ended = until(executor, "ended").outcome
    finally:
        executor.close()
    assert ended is not None
    assert ended.status == "complete"


def test_a_worker_that_does_not_leave_is_made_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = Local(1)
    executor.submit(job(tmp_path))
    until(executor, "ended")
    (hand,) = executor._workers
    os.kill(hand.pid, signal.SIGSTOP)
    monkeypatch.setattr("simulation.sweeps.local._PATIENCE", 0.05)
    executor.close()
    assert hand._process.returncode == -signal.SIGKILL


def test_a_worker_tells_each_tick_and_the_outcome_as_lines_of_json(tmp_path: Path) -> None:
    answers = io.StringIO()
    worker.work(job(tmp_path, 1, "horizon=2").to_dict(), answers)
    told = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert told[:3] == [{"tick": 0}, {"tick": 1}, {"tick": 2}]
    assert Outcome(**told[3]["outcome"]).status == "complete"


def test_the_end_of_a_workers_input_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    struck: list[int] = []
    monkeypatch.setattr(signal, "pthread_kill", lambda _, number: struck.append(number))
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    worker._listen(["one", "two"], jobs)
    assert [jobs.get() for _ in range(3)] == ["one", "two", ""]
    assert struck == [signal.SIGINT]
    monkeypatch.delattr(signal, "pthread_kill")  # as on Windows
    monkeypatch.setattr("_thread.interrupt_main", lambda: struck.append(0))
    worker._listen([], jobs)
    assert struck == [signal.SIGINT, 0]


def test_a_summary_that_cannot_be_written_or_read_says_so(tmp_path: Path) -> None:
    made = planned(tmp_path)
    made.manifest.settle(made.folder)
    with Summary.open(made) as summary:
        summary._connection.execute("DROP TABLE runs")
        with pytest.raises(RunFileError, match="a run could not be written to"):
            summary.put(made.runs[0], Outcome(status="failed"))
        with pytest.raises(RunFileError, match="damaged"):
            summary.rows()
        summary._connection.execute("CREATE VIEW runs AS SELECT 1 AS path")
    with pytest.raises(RunFileError, match=r"not the summary of this sweep|could not be written"):
        Summary.open(made)


def test_closing_kills_what_is_under_way(tmp_path: Path) -> None:
    executor = Local(1)
    executor.submit(long_job(tmp_path))
    until(executor, "tick")
    (hand,) = executor._workers
    executor.close()
    with pytest.raises(ProcessLookupError):
        os.kill(hand.pid, 0)


def test_a_worker_is_replaced_after_so_many_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.sweeps.local.RUNS_OF_A_WORKER", 1)
    executor = Local(1)
    try:
        pids = []
        for seed in (1, 2):
            executor.submit(job(tmp_path, seed))
            pids.append(executor._workers[-1].pid)
            until(executor, "ended")
    finally:
        executor.close()
    assert len(set(pids)) == 2


def test_workers_have_one_thread_for_arithmetic_and_this_very_package() -> None:
    from simulation.sweeps.local import _environment  # noqa: PLC0415 - behind the door

    told = _environment()
    assert told["OMP_NUM_THREADS"] == os.environ.get("OMP_NUM_THREADS", "1")
    assert told["PYTHONPATH"].split(os.pathsep)[0] == str(Path(__file__).resolve().parents[1])
    assert 1 <= cores() <= (os.cpu_count() or 1)


def test_a_sweep_may_be_started_from_a_thread_and_a_script_without_a_guard(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom simulation import sweeps\n"
        "print(sweeps.sweep(sys.argv[1], out=sys.argv[2], jobs=1).complete)\n",
        "utf-8",
    )
    done = subprocess.run(
        [sys.executable, str(script), str(path), str(tmp_path / "script")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "1\n"
    found: list[int] = []
    thread = threading.Thread(
        target=lambda: found.append(sweeps.sweep(path, out=tmp_path / "thread", jobs=1).complete)
    )
    thread.start()
    thread.join()
    assert found == [1]


def test_files_that_are_not_what_the_summary_knows_are_made_again_or_named(
    tmp_path: Path,
) -> None:
    given: dict[str, Any] = {"seeds": "1-3", "settings": ["horizon=2,3"], "jobs": 1}
    first = sweeps.sweep(scenario(tmp_path), out=tmp_path / "runs", **given)
    paths = [Path(first.folder, run["path"]) for run in first.runs]
    shutil.copy(paths[0], paths[4])  # another run under this name
    paths[5].write_bytes(b"junk")
    with duckdb.connect(str(paths[1])) as connection:
        connection.execute("UPDATE run SET status = 'interrupted'")
    again = sweeps.sweep(scenario(tmp_path), out=tmp_path / "runs", **given)
    assert [run["status"] for run in again.runs][:4] == ["complete"] * 4
    assert [run["status"] for run in again.runs][4:] == ["failed", "failed"]
    assert "is another run, of other settings" in again.runs[4]["error"]
