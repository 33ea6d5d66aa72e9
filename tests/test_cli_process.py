"""The program as a process: streams that are closed or full, and what is left behind."""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml
from small import SMALL

from simulation.cli import process
from simulation.cli.app import execute
from simulation.cli.progress import Bar, Lines
from simulation.errors import RunStoppedError
from simulation.records import TickRecords
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


RUN = f"{sys.executable} -m simulation "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("process")
    text = yaml.safe_dump(SMALL, sort_keys=False)
    (made / "small.yaml").write_text(text, encoding="utf-8")
    return made


def shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash; its exit code is that of the program, whatever reads from it."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],  # noqa: S607 - the tests need a shell anyway
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("number", "streams"),
    [
        (1, "2>&-"),
        (2, ">&-"),
        (3, ">&- 2>&-"),
        (4, "<&- >&- 2>&-"),
        (5, "2> >(true)"),
        (6, "| true"),
        (7, "2>&1 | head -1"),
        (8, "2>/dev/full"),
    ],
)
def test_a_run_whose_streams_are_gone_is_whole(number: int, streams: str, folder: Path) -> None:
    done = shell(folder, f"{RUN} run small.yaml --out {number}.duckdb {streams}")
    assert (done.returncode, done.stderr if "2>&-" in streams else "") == (0, "")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    with RunFile.open(folder / f"{number}.duckdb") as run:
        assert (run.run.status, run.run.last_tick) == ("complete", 8)


def test_a_reader_that_leaves_a_query_early_is_no_error(folder: Path) -> None:
    shell(folder, f"{RUN} run small.yaml --out q.duckdb --quiet")
    query = '"SELECT a.range, b.range FROM range(300) a, range(300) b"'
    done = shell(folder, f"{RUN} sql q.duckdb {query} --all | head -1")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_a_stdout_that_is_full_is_one_message(folder: Path) -> None:
    done = shell(folder, f"{RUN} schema > /dev/full")
    assert (done.returncode, done.stderr) == (1, "No space left on device\n")


def test_an_error_that_nobody_reads_still_has_its_exit_code(folder: Path) -> None:
    assert shell(folder, f"{RUN} run nowhere.yaml 2>/dev/full").returncode == 2
    assert shell(folder, f"{RUN} run nowhere.yaml 2>&-").returncode == 2


class Broken:
    """A stream that refuses everything."""

    encoding = "utf-8"

    def __init__(self, error: OSError) -> None:
        self.error = error

    def write(self, _: str) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("error", [BrokenPipeError(32, "gone"), OSError(28, "full")])
def test_progress_that_cannot_be_written_ends_nothing(
    error: OSError, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", Broken(error))
    told = []
    for kind in (Lines, Bar):
        with kind("bar", 3) as shown:
            for tick in range(3):
                shown.tick(TickRecords(tick=tick, state_digest="", rows=()))
                told.append(tick)
    assert told == [0, 1, 2] * 2


def test_an_error_of_progress_itself_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), Lines("bar", 0) as shown:
        shown.tick(TickRecords(tick=1, state_digest="", rows=()))


def small_files(size: int) -> Callable[[], None]:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def test_init_that_cannot_write_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simulation", "init"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=small_files(100),
    )
    assert done.returncode == 2
    assert done.stderr == "my_scenario.yaml could not be written: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_init_into_a_folder_that_is_gone_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert execute(["init"]) == 2
    assert "my_scenario.yaml could not be written: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "small.yaml", "--out", "x" * 5000], "File name too long"),
        (["run", "small.yaml", "--out", "s3://bucket/x"], "begins the address of another"),
        (["run", "small.yaml", "--out", "."], "exists"),
        (["sql", "x" * 5000, "SELECT 1"], "File name too long"),
        (["sql", "small.yaml", "SELECT 1", "--parquet", "x" * 5000], "File name too long"),
        (["sql", "small.yaml", "SELECT 1"], "small.yaml is no run database"),
    ],
)
def test_a_name_that_no_file_can_have_is_bad_input(
    words: list[str],
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert execute(words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.splitlines()) == 1
    assert len(said) < 500


def test_bytes_that_are_not_utf_8_are_bad_input(folder: Path) -> None:
    shell(folder, f"{RUN} run small.yaml --out u.duckdb --quiet")
    for line in ("sql u.duckdb $'SELECT \\'\\xff\\''", "run small.yaml --out $'new/\\xff'"):
        done = shell(folder, RUN + line)
        assert (done.returncode, done.stdout) == (2, "")
        assert "not valid UTF-8" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not (folder / "new").exists()


@pytest.mark.parametrize("name", ["a" * 5000, "a/" * 2000 + "b.yaml"])
def test_an_ontology_of_an_endless_name_is_named_with_its_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = yaml.safe_dump({**SMALL, "ontology": name}, sort_keys=False, width=10**6)
    (tmp_path / "bar.yaml").write_text(text, encoding="utf-8")
    assert execute(["run", str(tmp_path / "bar.yaml")]) == 2
    said = capsys.readouterr().err.splitlines()[1]
    assert re.match(r"  line \d+  ontology  ", said)
    assert len(said) < 500


def test_the_end_of_a_run_is_told_however_often_it_was_interrupted() -> None:
    end = RunStoppedError("after tick 3")
    second = KeyboardInterrupt()
    second.__context__ = end
    third = KeyboardInterrupt()
    third.__cause__ = second
    assert process.stop_in(third) is end
    assert process.stop_in(KeyboardInterrupt()) is None


@pytest.mark.parametrize(
    ("end", "code", "message"),
    [(None, 130, "interrupted"), (RunStoppedError("after tick 3"), 1, "after tick 3")],
)
def test_ctrl_c_in_the_last_lines_of_the_program_is_no_traceback(
    end: Exception | None,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def late(_: object) -> int:
        raise KeyboardInterrupt from end

    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("simulation.cli.app.execute", late)
    with pytest.raises(SystemExit) as ended:
        process.main(["schema"])
    assert ended.value.code == code
    assert capsys.readouterr().err == f"{message}\n"


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from simulation.cli import process; process._prepare()\n"
        "print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, "
        "signal.getsignal(signal.SIGTERM) == signal.default_int_handler)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"
