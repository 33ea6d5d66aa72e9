"""The pages on sweeps and comparisons are true: what a page shows is what the command prints.

With `UPDATE_SNAPSHOTS=1` the pages are written anew; the words around an output stay as they are.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from simulation.cli.app import execute
from simulation.sweeps.base import Executor

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SHOWN = re.compile(r"```console\n\$ simulation ([^`]*)```\n\n```text\n([^`]*)```")
BLOCKS = re.compile(r"```python\n(.*?)```", re.DOTALL)


def read(page: str) -> str:
    return (DOCS / f"{page}.md").read_text("utf-8")


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.fixture(name="folder", scope="module")
def clone_with_the_sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ensembles")
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", ["sweep", "compare"])  # in this order: one sweep for both
def test_every_command_prints_what_the_page_shows(
    page: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    if page == "compare":
        execute(shlex.split(SHOWN.findall(read("sweep"))[0][0]))
        capsys.readouterr()

    def printed(found: re.Match[str]) -> str:
        code = execute(shlex.split(found[1]))
        said = capsys.readouterr()
        assert code == 0, said.err
        # How many of the runs were there before depends on the order of the tests.
        told = [line.partition(", 20 of them")[0] for line in lines(said.out)]
        return "\n".join([f"```console\n$ simulation {found[1]}```\n", "```text", *told, "```"])

    wanted, count = SHOWN.subn(printed, read(page))
    assert count
    if os.environ.get("UPDATE_SNAPSHOTS") == "1":
        (DOCS / f"{page}.md").write_text(wanted, encoding="utf-8", newline="\n")
    assert read(page) == wanted, "write it again with UPDATE_SNAPSHOTS=1"


@pytest.mark.slow
def test_the_python_of_the_pages_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    execute(shlex.split(SHOWN.findall(read("sweep"))[0][0]))
    first, second = sorted(Path("ads").glob("*-seed1.duckdb"))
    shutil.copy(first, "a.duckdb")
    shutil.copy(second, "b.duckdb")
    for name in ("before", "after"):
        Path(name).mkdir()
    for path in Path("ads").glob("*-seed*.duckdb"):
        shutil.copy(path, "before" if "=0.2" in path.name else "after")
    printed: list[str] = []
    names: dict[str, Any] = {"print": lambda *said: printed.append(" ".join(map(str, said)))}
    query, _ = BLOCKS.findall(read("sweep"))
    (comparison,) = BLOCKS.findall(read("compare"))
    for block in (query, comparison):
        exec(compile(block, "page", "exec"), names)  # noqa: S102 - the page's own code
    assert printed[0].startswith("[('0.2', 10, 0.5")
    assert "What can be said" in printed[-1]
    assert names["arms"].contrasts[0].seeds == tuple(range(1, 11))


def test_the_page_names_the_methods_of_an_executor() -> None:
    said = re.search(r"is four methods\s+\(`simulation.sweeps.base.Executor`\)", read("sweep"))
    assert said is not None
    methods = [name for name in vars(Executor) if not name.startswith("_")]
    assert methods == ["submit", "poll", "stop", "close"]
