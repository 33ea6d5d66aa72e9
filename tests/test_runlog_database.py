"""Databases opened for reading: tables as data frames, and files that are no runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import run_rows
from pandas import DataFrame

from simulation import Run
from simulation.errors import RunFileError, UsageError
from simulation.runlog import RunFile, open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(name="path", scope="module")
def story_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "story.duckdb"
    run_rows.write_run(path, run_rows.story())
    return path


@pytest.fixture(name="run", scope="module")
def story_run(path: Path) -> Iterator[Run]:
    with Run(path) as run:
        yield run


def test_a_run_is_opened_by_its_path(path: Path) -> None:
    with Run(str(path)) as run:
        assert run.run.last_tick == 3
    with pytest.raises(RunFileError, match="does not exist"):
        Run(path.with_name("gone.duckdb"))


def test_every_table_and_view_is_a_data_frame_by_its_name(run: Run) -> None:
    for table in run.tables():
        frame = getattr(run, table.name)() if table.name != "run" else run.table("run")
        assert isinstance(frame, DataFrame)
        assert list(frame.columns) == [column.name for column in table.columns]
        assert table.rows is None or len(frame) == table.rows
        assert table.name in dir(run)


def test_a_frame_can_be_narrowed_to_values_of_its_columns(run: Run) -> None:
    whole = run.turns()
    assert len(whole) == 5
    assert list(run.turns(tick=2, persona_id="p2")["action"]) == ["like"]
    assert len(run.turns(tick=[1, 2])) == 5
    assert len(run.turns(tick=range(1, 2))) == 3
    assert len(run.turns(tick=np.int64(1))) == len(run.turns(tick=np.array([1])))
    assert len(run.turns(tick=[])) == 0
    assert set(run.turns(error=None)["tick"]) == {1, 2}


@pytest.mark.parametrize("tick", [99, -1, 1.5, True, [1, 99], float("nan")])
def test_a_tick_that_the_run_does_not_have_is_told(run: Run, tick: Any) -> None:
    with pytest.raises(UsageError, match=r"has no tick .*; it holds the ticks 0 to 3"):
        run.turns(tick=tick)
    assert len(run.stimuli(tick=99)) == 0


def test_a_view_comes_sorted_by_its_columns(run: Run) -> None:
    found = run.beliefs(arrow=True).to_pylist()
    assert [(row["tick"], row["persona_id"], row["target"]) for row in found] == sorted(
        (row["tick"], row["persona_id"], row["target"]) for row in found
    )


def test_arrow_needs_no_pandas_and_a_frame_says_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bare:
        def to_pandas(self) -> None:
            raise ModuleNotFoundError("No module named 'pandas'")

    assert isinstance(run.turns(arrow=True), pa.Table)
    assert run.frame("SELECT 1 AS a")["a"].tolist() == [1]
    monkeypatch.setattr(RunFile, "arrow", lambda *_, **__: Bare())
    with pytest.raises(UsageError, match=r"pip install pandas, or ask for Arrow"):
        run.turns()
    with pytest.raises(UsageError, match="pip install pandas"):
        run.frame("SELECT 1")


def test_a_wrong_name_is_answered_with_the_nearest(run: Run) -> None:
    with pytest.raises(AttributeError, match="no table 'turnz'; did you mean \"turns\""):
        run.turnz  # noqa: B018 - looking the name up is the test
    with pytest.raises(AttributeError):
        run._turns  # noqa: B018 - as above
    with pytest.raises(UsageError, match='no table "turnz"; did you mean "turns"'):
        run.table("turnz")
    with pytest.raises(UsageError, match='no column "tik" in "turns"; did you mean "tick"'):
        run.turns(tik=1)
    assert not hasattr(run, "nothing")


def test_rows_can_be_skipped(run: Run) -> None:
    sql = "SELECT tick FROM ticks ORDER BY tick"
    assert run.query(sql, limit=1, skip=1).rows == [(2,)]
    assert run.query(sql, skip=2).rows == [(3,)]
    assert run.query(sql, limit=1, skip=9).rows == []


def test_what_is_written_comes_back_in_the_order_of_writing(run: Run) -> None:
    ticks = [row[0] for row in run.query("SELECT tick FROM turns").rows]
    assert ticks == sorted(ticks)


def made(path: Path, sql: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.execute(sql)
    return path


def test_the_summary_of_a_sweep_can_be_asked_too(tmp_path: Path) -> None:
    path = made(
        tmp_path / "sweep.duckdb",
        "CREATE TABLE sweep (a INT); CREATE TABLE runs (seed INT); INSERT INTO runs VALUES (3)",
    )
    with open_database(path) as opened:
        assert opened.query("SELECT seed FROM runs").rows == [(3,)]
        assert opened.runs(seed=3, arrow=True).num_rows == 1
        assert [table.name for table in opened.tables()] == ["runs", "sweep"]
        with pytest.raises(UsageError, match="the summary of a sweep is only read: DROP is"):
            opened.query("DROP TABLE runs")


def test_a_run_opens_as_a_run(path: Path) -> None:
    with open_database(path) as opened:
        assert isinstance(opened, RunFile)
        with pytest.raises(UsageError, match="a run database is only read"):
            opened.query("DROP TABLE turns")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("CREATE TABLE sweep (a INT)", "no run; nor is it the summary of a sweep or a transcript"),
        ("CREATE TABLE run (a INT)", 'no usable table "run"'),
    ],
)
def test_a_database_of_somebody_else_is_refused(tmp_path: Path, sql: str, said: str) -> None:
    with pytest.raises(RunFileError, match=said):
        open_database(made(tmp_path / "other.duckdb", sql))


def test_a_file_that_is_closed_in_the_middle_lets_go_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("simulation.runlog.reader.reading", stop)
        with pytest.raises(KeyboardInterrupt):
            open_database(path)
    with open_database(path) as opened:
        assert opened.query("SELECT 1").rows == [(1,)]
