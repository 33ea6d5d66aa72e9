from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from small import small

from simulation import runs, simulate
from simulation.engine import Engine
from simulation.errors import RunFileError, RunStoppedError, ScenarioError
from simulation.runlog import RunFile
from simulation.scenario import Scenario, load_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.records import TickRecords


def digests(path: Path) -> list[str]:
    with RunFile.open(path) as run:
        return [row[0] for row in run.query("SELECT state_digest FROM ticks ORDER BY tick").rows]


def test_a_run_writes_every_tick_and_says_that_it_is_complete(tmp_path: Path) -> None:
    seen: list[int] = []
    path = simulate(small(), out=tmp_path / "a.duckdb", on_tick=lambda r: seen.append(r.tick))
    assert seen == list(range(9))
    with RunFile.open(path) as run:
        info = run.run
    assert (info.status, info.last_tick) == ("complete", 8)
    assert info.header.scenario_yaml == small().text
    assert info.header.scenario_sha256 == hashlib.sha256(small().text.encode()).hexdigest()
    assert info.header.parameters["recall.k.cheap"] == 3
    assert info.header.encoder == "static"
    assert len(info.header.encoder_sha256 or "") == 64
    assert info.header.packages["numpy"]


def test_the_same_run_again_has_equal_digests_and_another_seed_has_not(tmp_path: Path) -> None:
    first = digests(simulate(small(), out=tmp_path / "a.duckdb"))
    assert digests(simulate(small(), out=tmp_path / "b.duckdb")) == first
    assert digests(simulate(small(), seed=99, out=tmp_path / "c.duckdb"))[-1] != first[-1]


def test_a_scenario_made_in_python_runs_like_its_text(tmp_path: Path) -> None:
    scenario = small().scenario
    assert isinstance(scenario, Scenario)
    made = digests(simulate(scenario, out=tmp_path / "a.duckdb"))
    assert made == digests(simulate(load_scenario(scenario), out=tmp_path / "b.duckdb"))


def test_a_scenario_file_runs_by_its_path_and_settings(tmp_path: Path) -> None:
    (tmp_path / "bar.yaml").write_text(small().text, encoding="utf-8")
    path = simulate(
        tmp_path / "bar.yaml", out=tmp_path / "a.duckdb", settings=["horizon=6", "seed=5"]
    )
    with RunFile.open(path) as run:
        assert (run.run.header.horizon, run.run.header.seed) == (6, 5)
        assert list(run.run.header.settings) == ["horizon=6", "seed=5"]


def test_a_file_that_exists_is_refused_and_kept(tmp_path: Path) -> None:
    taken = tmp_path / "a.duckdb"
    taken.write_text("mine", encoding="utf-8")
    with pytest.raises(RunFileError, match=r"a\.duckdb"):
        simulate(small(), out=taken)
    assert taken.read_text("utf-8") == "mine"


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "bar.yaml").write_text("name: bar\n", encoding="utf-8")
    with pytest.raises(ScenarioError):
        simulate(tmp_path / "bar.yaml", out=tmp_path / "a.duckdb")
    assert [file.name for file in tmp_path.iterdir()] == ["bar.yaml"]


def stop_at(tick: int, error: BaseException) -> object:
    def on_tick(records: TickRecords) -> None:
        if records.tick == tick:
            raise error

    return on_tick


def test_an_interrupted_run_keeps_its_finished_ticks_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with pytest.raises(RunStoppedError, match="interrupted after tick 3 of 8"):
        simulate(small(), out=path, on_tick=stop_at(3, KeyboardInterrupt()))  # type: ignore[arg-type]
    with RunFile.open(path) as run:
        assert (run.run.status, run.run.last_tick) == ("interrupted", 3)


def test_a_run_that_fails_keeps_its_finished_ticks_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with pytest.raises(ZeroDivisionError):
        simulate(small(), out=path, on_tick=stop_at(2, ZeroDivisionError()))  # type: ignore[arg-type]
    with RunFile.open(path) as run:
        assert (run.run.status, run.run.last_tick) == ("failed", 2)


def test_without_a_path_runs_are_numbered_in_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = simulate(small()), simulate(small())
    assert [str(first), str(second)] == [
        "runs/small-seed3.duckdb",
        "runs/small-seed3-2.duckdb",
    ]


def test_checking_a_scenario_embeds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulation.encoders.load", lambda _: pytest.fail("asked for an encoder"))
    assert runs.check(small()).personas == 12


def test_the_file_is_the_state_beliefs_follow_from_its_rows(tmp_path: Path) -> None:
    engine = Engine(small())
    for _ in range(8):
        engine.advance()
    path = simulate(small(), out=tmp_path / "a.duckdb")
    with RunFile.open(path) as run:
        rows = run.query("SELECT persona_id, target, belief FROM beliefs WHERE tick = 8").rows
        held = run.query(
            "SELECT persona_id, memory_id FROM memories WHERE evicted_tick IS NULL"
        ).rows
        edges = run.query("SELECT count(*) FROM edges WHERE removed_tick IS NULL").rows
        attributes = run.query("SELECT attributes FROM personas ORDER BY persona_index").rows
    world = engine.world
    place = {name: i for i, name in enumerate(world.cast.ids)}
    target = {name: i for i, name in enumerate(world.cast.targets)}
    assert len(rows) == world.beliefs.size
    assert all(world.beliefs[place[p], target[t]] == b for p, t, b in rows)
    mine = {
        (world.cast.ids[p], int(m)) for p in range(12) for m in world.memory.memory_id[p] if m >= 0
    }
    assert set(held) == mine
    assert edges == [(len(world.network.source),)]
    assert [json.loads(a) for (a,) in attributes] == [dict(a) for a in engine.people.attributes]
