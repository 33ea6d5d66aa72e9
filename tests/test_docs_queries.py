"""The page of worked queries: each runs, and prints what the page shows.

`python tests/test_docs_queries.py` writes the answers into the page again, after results changed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simulation.cli.app import execute

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "queries.md"
WORKED = re.compile(
    r"^### (\d+)\. (.*?)\n(.*?)```sql\n(.*?)```\n\n```text\n(.*?)```", re.MULTILINE | re.DOTALL
)
QUERIES = [
    (int(number), sql, shown)
    for number, _, _, sql, shown in WORKED.findall(PAGE.read_text("utf-8"))
]
COMMANDS = re.findall(r"^\$ simulation (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)


def scripts(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def file_of(number: int) -> str:
    """Return the file that a query of the page is put to."""
    if number == 20:
        return "feeds/sweep.duckdb"
    return "bar.duckdb" if number < 18 else "town.duckdb"


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a folder, with lines of 80 columns and no terminal."""
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = "80"
    try:
        yield
    finally:
        os.chdir(before)
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns


def made_in(folder: Path) -> Path:
    """Run the commands of the page in a folder."""
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    with working_in(folder), contextlib.redirect_stdout(io.StringIO()):
        for command in COMMANDS:
            assert execute([*shlex.split(command), "--quiet"]) == 0
    return folder


def printed(folder: Path, *words: str) -> str:
    """Return what a command line prints in a folder."""
    said = io.StringIO()
    with working_in(folder), contextlib.redirect_stdout(said):
        assert execute(words) == 0
    return said.getvalue()


@pytest.fixture(name="folder", scope="module")
def with_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_in(tmp_path_factory.mktemp("queries"))


def test_there_are_twenty() -> None:
    assert [number for number, _, _ in QUERIES] == list(range(1, 21))


@pytest.mark.parametrize(("number", "sql", "shown"), QUERIES, ids=[str(n) for n, _, _ in QUERIES])
def test_a_query_prints_what_the_page_shows(
    folder: Path, number: int, sql: str, shown: str
) -> None:
    assert printed(folder, "sql", file_of(number), sql) == shown
    assert "(0 rows" not in shown
    assert "columns left out" not in shown


def run_script(script: str, folder: Path) -> list[str]:
    """Return the lines that a block of Python prints."""
    said: list[str] = []
    names: dict[str, Any] = {"print": lambda *words: said.append(" ".join(map(str, words)))}
    with working_in(folder):
        exec(compile(script, "docs/queries.md", "exec"), names)  # noqa: S102 - the page's own code
    return said


def test_pandas_reads_the_file_with_this_package_and_without(folder: Path) -> None:
    script = next(each for each in scripts("python") if "duckdb" in each and "polars" not in each)
    assert run_script(script, folder) == ["1050 True"]


def test_polars_reads_the_file(folder: Path) -> None:
    pytest.importorskip("polars")
    script = next(each for each in scripts("python") if "polars" in each)
    (said,) = run_script(script, folder)
    most = printed(
        folder, "sql", "bar.duckdb", "SELECT action, count(*) AS n FROM turns GROUP BY 1 "
        "ORDER BY n DESC LIMIT 1", "--csv"
    )  # fmt: skip
    action, count = most.splitlines()[1].split(",")
    assert said == f"('{action}', {count})"


def test_the_duckdb_shell_reads_the_file(folder: Path) -> None:
    shell = shutil.which("duckdb")
    if shell is None:
        pytest.skip("the DuckDB shell is not installed")
    version = subprocess.run([shell, "--version"], capture_output=True, text=True, check=True)
    if version.stdout.startswith("v1."):
        pytest.skip("the DuckDB shell that is installed is of version 1")
    command = scripts("sh")[0].splitlines()[0]
    done = subprocess.run(
        shlex.split(command), cwd=folder, capture_output=True, text=True, check=True
    )
    assert "trust" in done.stdout


def test_r_reads_the_file(folder: Path) -> None:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed")
    (script,) = scripts("r")
    done = subprocess.run(
        [program, "-e", script], cwd=folder, capture_output=True, text=True, check=False
    )
    if "there is no package called" in done.stderr:
        pytest.skip("R has no package duckdb")
    assert done.returncode == 0, done.stderr
    assert "Median" in done.stdout


def write_answers() -> None:
    """Put what the queries print now into the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = made_in(Path(name))

        def filled(found: re.Match[str]) -> str:
            number, title, words, sql, _ = found.groups()
            shown = printed(folder, "sql", file_of(int(number)), sql)
            return f"### {number}. {title}\n{words}```sql\n{sql}```\n\n```text\n{shown}```"

        PAGE.write_text(WORKED.sub(filled, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    write_answers()
