"""The page on interviews: what it shows comes out, and its commands work in order."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulation.cli.app import execute

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "interviews.md").read_text("utf-8")
COMMANDS = re.findall(r"^\$ simulation (.*)$", PAGE, re.MULTILINE)
SHOWN = PAGE.partition("<!-- output -->\n```text\n")[2].partition("```")[0]
(SCRIPT,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    said = []
    for command in COMMANDS:
        assert execute(shlex.split(command)) == 0
        said.append(capsys.readouterr().out)
    assert said[1].startswith(SHOWN)
    assert "how it came" in said[4]
    assert "rather high" in said[5]
    printed: list[Any] = []
    names: dict[str, Any] = {"print": printed.append}
    exec(compile(SCRIPT, "docs/interviews.md", "exec"), names)  # noqa: S102 - the page's own code
    answer = " ".join(SHOWN.partition("\n\n")[2].split())
    assert printed[0] == printed[2] == answer
    assert printed[1][0][1] == "product"
    assert len(printed) == 4
