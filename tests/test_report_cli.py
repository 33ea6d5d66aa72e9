"""The verb `report`: a page in a new file, or one message and exit code 2."""

from __future__ import annotations

import errno
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
import run_rows

from simulation.analysis.report import write_report
from simulation.cli.app import execute
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

Run = tuple[int, str, str]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Return a function that runs a command line: its exit code, stdout and stderr."""

    def run(*words: str | Path) -> Run:
        code = execute([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """Return a hand-made run."""
    path = tmp_path / "story.duckdb"
    run_rows.write_run(path, run_rows.story())
    return path


def test_a_page_is_written_where_it_is_asked_for_and_its_folders_are_made(
    story: Path, tmp_path: Path, cli: Callable[..., Run]
) -> None:
    page = tmp_path / "a" / "b" / "page.html"
    code, out, err = cli("report", story, "-o", page)
    assert (code, err) == (0, "")
    assert out.startswith(f"wrote {page}: 1 run, 1.")
    assert out.endswith(" MB; open it in a browser\n")
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>\n<html lang")


def test_without_a_name_a_page_stands_beside_its_run_and_writes_over_none(
    story: Path, tmp_path: Path, cli: Callable[..., Run]
) -> None:
    for name in ("story.html", "story-2.html"):
        code, out, _ = cli("report", story, "--json")
        assert code == 0
        told = json.loads(out)
        assert told["path"] == str(tmp_path / name)
        assert told["runs"] == 1
        assert told["bytes"] == (tmp_path / name).stat().st_size


def test_a_folder_or_pattern_of_runs_is_a_page_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Run]
) -> None:
    folder = tmp_path / "v1.5"
    folder.mkdir()
    run_rows.write_run(folder / "a.duckdb", run_rows.story())
    assert cli("report", folder)[0] == 0
    assert (tmp_path / "v1.5.html").exists()
    assert cli("report", f"{folder}/*.duckdb")[0] == 0
    assert (folder / "a.html").exists()
    monkeypatch.chdir(folder)
    assert cli("report", ".")[0] == 0
    assert (tmp_path / "v1.5-2.html").exists()


def test_a_file_that_exists_is_never_written_over(
    story: Path, tmp_path: Path, cli: Callable[..., Run]
) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    code, out, err = cli("report", story, "-o", page)
    assert (code, out) == (2, "")
    assert err == f"{page} exists and is not written over; choose another name, or delete it\n"
    with pytest.raises(UsageError, match="exists and is not written over"):
        write_report([story], page)
    assert page.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.duckdb",), "does not exist"),
        (("no.txt",), "is no run database"),
        (("empty",), "holds no run: there is no .duckdb file in it"),
        (("story.duckdb", "-o", "page.pdf"), "is no name of a page; a page ends in .html"),
        (("story.duckdb", "-o", "no.txt/page.html"), "could not be written"),
        (("story.duckdb", "-o", "x" * 300 + ".html"), "cannot be the name of a file"),
    ],
)
def test_what_cannot_be_used_is_one_message_and_exit_code_two(
    words: tuple[str, ...],
    message: str,
    story: Path,
    monkeypatch: pytest.MonkeyPatch,
    cli: Callable[..., Run],
) -> None:
    monkeypatch.chdir(story.parent)
    (story.parent / "no.txt").write_text("no run")
    (story.parent / "empty").mkdir()
    code, out, err = cli("report", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert not list(story.parent.rglob("*.html"))


def test_a_run_without_a_tick_is_one_message(tmp_path: Path, cli: Callable[..., Run]) -> None:
    path = tmp_path / "empty.duckdb"
    run_rows.write_run(path, [], status="running")
    code, _, err = cli("report", path)
    assert (code, err) == (
        2,
        f"{path} holds no tick yet, not even the start: nothing to report\n",
    )


def test_without_a_run_the_usage_is_told(cli: Callable[..., Run]) -> None:
    code, _, err = cli("report")
    assert code == 2
    assert err == "simulation report: Missing argument 'RUN…'.\nTry: simulation report --help\n"


class Full(io.BytesIO):
    """A file on a disk that is full."""

    def write(self, _: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


class Stopped(io.BytesIO):
    """A file whose writer is interrupted."""

    def write(self, _: Any) -> int:
        raise KeyboardInterrupt


def opening(answer: Callable[[Path], Any]) -> Callable[..., Any]:
    """Return a `Path.open` that answers otherwise for a new page."""
    usual = Path.open

    def opened(path: Path, mode: str = "r", *args: Any, **given: Any) -> Any:
        return answer(path) if mode == "xb" else usual(path, mode, *args, **given)

    return opened


def test_a_folder_that_cannot_be_written_is_one_message(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Run]
) -> None:
    def refuse(_: Path) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    page = tmp_path / "page.html"
    monkeypatch.setattr(Path, "open", opening(refuse))
    assert cli("report", story, "-o", page) == (
        2,
        "",
        f"{page} could not be written: Permission denied\n",
    )


@pytest.mark.parametrize(
    ("file", "error", "message"),
    [
        (Full, UsageError, "could not be written: No space left on device"),
        (Stopped, KeyboardInterrupt, "^$"),
    ],
)
def test_no_half_page_is_left(
    file: Callable[[], Any],
    error: type[BaseException],
    message: str,
    story: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def made(path: Path) -> Any:
        path.touch()
        return file()

    page = tmp_path / "page.html"
    monkeypatch.setattr(Path, "open", opening(made))
    with pytest.raises(error, match=message):
        write_report([story], page)
    assert not page.exists()
