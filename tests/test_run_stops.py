"""How a run ends early: signals at any moment, a full disk, names that no file can have."""

from __future__ import annotations

import os
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
from small import SMALL, small

from simulation import simulate
from simulation.engine import Engine
from simulation.errors import RunFileError, RunStoppedError, UsageError
from simulation.runlog import RunFile, RunWriter, Signals
from simulation.runlog.signals import ENDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.records import TickRecords


def held(path: Path) -> tuple[str, int]:
    with RunFile.open(path) as run:
        return run.run.status, run.run.last_tick


def send(*numbers: int) -> None:
    for number in numbers:
        os.kill(os.getpid(), number)


class Struck(RunWriter):
    """A writer in the middle of whose statements signals arrive."""

    at: int = 3
    times: int = 1

    def _put(self, rows: Any, wall_s: float) -> None:
        super()._put(rows, wall_s)
        if rows.table == "ticks" and self.last_tick + 1 == self.at:
            send(*[signal.SIGINT] * self.times)


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("at", [0, 3])
def test_ctrl_c_while_duckdb_works_waits_for_the_tick_and_ends_the_run(
    at: int, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.runs.RunWriter", Struck)
    monkeypatch.setattr(Struck, "at", at)
    monkeypatch.setattr(Struck, "times", times)
    path = tmp_path / "a.duckdb"
    with pytest.raises(RunStoppedError, match=f"interrupted after tick {at} of 8; .*a.duckdb"):
        simulate(small(), out=path)
    assert held(path) == ("interrupted", at)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_during_the_last_write_leaves_a_complete_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.runs.RunWriter", Struck)
    monkeypatch.setattr(Struck, "at", 8)
    assert held(simulate(small(), out=tmp_path / "a.duckdb")) == ("complete", 8)


def test_ctrl_c_before_tick_0_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.runs._loaded", lambda *_: send(signal.SIGINT))
    with pytest.raises(RunStoppedError, match="interrupted before tick 0; nothing was written"):
        simulate(small(), out=tmp_path / "new" / "a.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_from_elsewhere_before_tick_0_is_in_the_file_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("Query interrupted")  # what DuckDB makes of somebody else's handler

    monkeypatch.setattr(RunWriter, "_put", refuse)
    with pytest.raises(RunStoppedError, match="interrupted before tick 0; nothing was written"):
        simulate(small(), out=tmp_path / "new" / "a.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_another_handler_of_signals_stays_in_force(tmp_path: Path) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        path = simulate(small(), out=tmp_path / "a.duckdb", on_tick=lambda _: send(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(seen) == 9
    assert held(path) == ("complete", 8)


def test_a_run_in_another_thread_leaves_signals_alone(tmp_path: Path) -> None:
    made: list[Path] = []
    thread = threading.Thread(
        target=lambda: made.append(simulate(small(), out=tmp_path / "a.duckdb"))
    )
    thread.start()
    thread.join()
    assert held(made[0]) == ("complete", 8)


def test_a_signal_strikes_once_and_only_where_it_may() -> None:
    with Signals() as signals:
        send(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), signals.may_strike():
            pytest.fail("the signal held back did not strike")
        send(signal.SIGINT, signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), signals.may_strike():
            pytest.fail("one that was swallowed strikes again at the next place")


def process(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "simulation", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = yaml.safe_dump({**SMALL, "horizon": 5000}, sort_keys=False)
    (tmp_path / "long.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def wait_for(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.005)


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("delay", [0.0, 0.03, 0.31])
def test_a_signal_ends_the_program_with_a_whole_file(
    number: signal.Signals, delay: float, folder: Path
) -> None:
    running = process(folder, "run", "long.yaml", "--out", "a.duckdb")
    wait_for((folder / "a.duckdb").exists)
    time.sleep(delay)
    for _ in range(3):
        running.send_signal(number)
        time.sleep(0.002)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 1, said
    last = said.splitlines()[-1]
    status, tick = held(folder / "a.duckdb")
    assert status == "interrupted"
    assert last == (
        f"interrupted after tick {tick} of 5000; a.duckdb holds every finished tick. "
        "To go on: simulation resume a.duckdb"
    )
    assert "Traceback" not in said
    assert [entry.name for entry in folder.glob("*a.duckdb*")] == ["a.duckdb"]


@pytest.mark.parametrize("delay", [0.15, 0.3, 0.5, 0.8])
def test_a_signal_at_the_start_is_one_word(delay: float, folder: Path) -> None:
    running = process(folder, "run", "long.yaml", "--out", "a.duckdb")
    time.sleep(delay)
    if running.poll() is None:
        running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert "Traceback" not in said
    assert "interrupted" in said.splitlines()[-1]
    assert running.returncode == (1 if "tick" in said.splitlines()[-1] else 130)
    assert (folder / "a.duckdb").exists() == ("holds every" in said)


def struck(folder: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """Run the program with another `execute`, which these lines of Python put in its place."""
    script = (
        "import simulation.cli.app as app",
        "from simulation.cli import main",
        *lines,
        "main()\n",
    )
    (folder / "struck.py").write_text("\n".join(script))
    return subprocess.run(
        [sys.executable, "-m", "struck"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_an_interrupt_in_code_run_from_a_string_keeps_the_exit_code(tmp_path: Path) -> None:
    ran = struck(tmp_path, "app.execute = lambda _: exec('raise KeyboardInterrupt')")
    assert (ran.returncode, ran.stderr.strip()) == (130, "interrupted")


def test_an_interrupt_that_a_library_swallows_strikes_again(tmp_path: Path) -> None:
    ran = struck(
        tmp_path,
        "import time",
        "class Swallows:",
        "    def __del__(self):",
        "        raise KeyboardInterrupt",
        "def execute(_):",
        "    Swallows()",
        "    time.sleep(600)",
        "    print('went on')",
        "app.execute = execute",
    )
    assert (ran.returncode, ran.stdout, ran.stderr.strip()) == (130, "", "interrupted")


def test_other_errors_that_nobody_can_catch_are_still_told(tmp_path: Path) -> None:
    ran = struck(
        tmp_path,
        "class Fails:",
        "    def __del__(self):",
        "        raise ValueError('told')",
        "app.execute = lambda _: bool(Fails())",
    )
    assert "ValueError: told" in ran.stderr


def test_a_signal_during_a_query_is_one_word(tmp_path: Path) -> None:
    simulate(small(), out=tmp_path / "a.duckdb")
    slow = "SELECT sum(a.range * b.range + c.range) FROM range(9999) a, range(9999) b, range(9) c"
    running = process(tmp_path, "sql", "a.duckdb", slow)
    time.sleep(2.0)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said.strip()) == (130, "interrupted")


class Full(RunWriter):
    """A writer on a disk that is full from a tick on."""

    at: int = 0

    def _put(self, rows: Any, wall_s: float) -> None:
        if self.last_tick + 1 == self.at:
            raise duckdb.IOException("IO Error: No space left on device")
        super()._put(rows, wall_s)


def test_a_disk_that_fills_up_stops_the_run_and_its_ticks_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.runs.RunWriter", Full)
    monkeypatch.setattr(Full, "at", 4)
    path = tmp_path / "a.duckdb"
    with pytest.raises(RunStoppedError) as caught:
        simulate(small(), out=path)
    said = str(caught.value)
    assert "tick 4 could not be written" in said
    assert "no space is left on the disk" in said
    assert f"stopped after tick 3 of 8; {path} holds every finished tick" in said
    assert held(path) == ("failed", 3)


def test_a_disk_that_is_full_before_tick_0_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.runs.RunWriter", Full)
    monkeypatch.setattr(Full, "at", 0)
    with pytest.raises(RunFileError, match="no space is left"):
        simulate(small(), out=tmp_path / "new" / "er" / "a.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_that_cannot_be_marked_still_says_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise RunFileError("no space is left")

    def stop(records: TickRecords) -> None:
        if records.tick == 2:
            monkeypatch.setattr(RunWriter, "finish", full)
            raise KeyboardInterrupt

    with pytest.raises(RunStoppedError, match=r"(?s)no space is left.*after tick 2 of 8"):
        simulate(small(), out=tmp_path / "a.duckdb", on_tick=stop)
    assert held(tmp_path / "a.duckdb") == ("running", 2)


@pytest.mark.parametrize(
    "name", [":memory:", "md:x", "s3:x", "a*[b] {c}%20'd\"\n;#~.duckdb", "temp", "n" * 250]
)
def test_a_name_that_duckdb_takes_specially_is_a_file_like_any_other(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert simulate(small(), out=name) == Path(name)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    assert held(Path(name)) == ("complete", 8)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("s3://bucket/run", '"s3:" begins the address of another'),
        ("new/a?b.duckdb", "question mark"),
        ("new\\b.duckdb", "backslash"),
        ("new/a\udcff.duckdb", "not valid UTF-8"),
        ("new/" + "x" * 253, "File name too long"),
        ("new/a\0b", "null byte"),
    ],
)
def test_a_name_that_no_file_can_have_is_refused_and_leaves_nothing(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunFileError, match=why):
        simulate(small(), out=name)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RunFileError):
        RunFile.open(name)


def test_a_pipe_is_named_as_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RunFileError, match="pipe exists"):
        simulate(small(), out=tmp_path / "pipe")
    with pytest.raises(RunFileError, match="pipe is a pipe or a device"):
        RunFile.open(tmp_path / "pipe")
    with pytest.raises(RunFileError, match="is a folder"):
        RunFile.open(tmp_path)
    with pytest.raises(RunFileError, match="exists"):
        simulate(small(), out=tmp_path)


def test_a_file_that_was_cut_short_is_called_damaged_whatever_is_asked(tmp_path: Path) -> None:
    whole = simulate(small(), out=tmp_path / "a.duckdb").read_bytes()
    cut = tmp_path / "cut.duckdb"
    messages = set()
    for share in (0.05, 0.2, 0.5, 0.8, 0.95):
        cut.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(RunFileError, match="is damaged: it was cut short") as caught:
            ask_everything(cut)
        messages.add(str(caught.value))
    assert messages == {f"{cut} is no run database, or is damaged: it was cut short"}


def ask_everything(path: Path) -> None:
    with RunFile.open(path) as run:
        for table in run.tables():
            run.query(f"SELECT * FROM {table.name}", limit=2**70)
            run.arrow(f"SELECT * FROM {table.name}")
        run.query("SELECT * FROM turns")


@pytest.mark.parametrize("column", ["parameters", "models", "packages"])
@pytest.mark.parametrize("value", ["[1]", "3", "null", '"x"'])
def test_a_run_whose_settings_are_no_object_is_no_run(
    column: str, value: str, tmp_path: Path
) -> None:
    path = simulate(small(), out=tmp_path / "a.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"UPDATE run SET {column} = ?", [value])
    with pytest.raises(RunFileError, match='no usable table "run"'):
        RunFile.open(path)


def test_a_query_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    with (
        RunFile.open(simulate(small(), out=tmp_path / "a.duckdb")) as run,
        pytest.raises(UsageError, match="not valid UTF-8"),
    ):
        run.query("SELECT '\udcff'")


@pytest.mark.parametrize("seed", [1.5, True, "7", 2**70, -(2**63) - 1, float("nan")])
def test_a_seed_that_is_none_is_refused_and_leaves_nothing(seed: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no seed; a seed is a whole number"):
        simulate(small(), seed=seed, out=tmp_path / "a.duckdb")
    with pytest.raises(UsageError, match="is no seed"):
        Engine(small(), seed)
    assert list(tmp_path.iterdir()) == []


def test_a_seed_of_numpy_is_a_seed() -> None:
    assert Engine(small(), np.int64(7)).seed == 7  # type: ignore[arg-type]
