"""Every command of the README runs, and what it shows is what comes out."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
]
OUTPUT = re.search(r"<!-- output -->\n```text\n(.*?)```\n<!-- /output -->", README, re.DOTALL)
TIMING = re.compile(r"turns in .* s \(.*/s\)")


@pytest.fixture(name="clone", scope="module")
def fresh_clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    return folder


def run(command: str, folder: Path) -> str:
    words = shlex.split(command)
    assert words[:2] == ["uv", "run"]
    assert words[2] == "simulation"
    done = subprocess.run(
        [sys.executable, "-m", *words[2:]],
        cwd=folder,
        env=os.environ | {"UV_RUN_RECURSION_DEPTH": "1", "COLUMNS": "80"},  # as `uv run` has it
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_shows_the_two_commands_first() -> None:
    assert COMMANDS[:2] == ["uv run simulation run scenarios/protein_bar.yaml", "uv run pytest"]


def test_every_command_runs_in_order_and_the_output_shown_is_real(clone: Path) -> None:
    assert OUTPUT is not None
    found = {command: run(command, clone) for command in COMMANDS if command != "uv run pytest"}
    shown = found[COMMANDS[0]]
    assert TIMING.sub("turns", shown.strip()) == TIMING.sub("turns", OUTPUT[1].strip())
    assert "chalky" in found[COMMANDS[0]]
    assert all(text.strip() for text in found.values())


def test_every_page_that_the_readme_links_is_there() -> None:
    links = re.findall(r"\]\(((?!https?:)[^)#]+)\)", README)
    assert len(links) > 8
    assert [link for link in links if not (ROOT / link).exists()] == []
