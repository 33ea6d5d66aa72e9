"""The table of studies: each can be run as the command line runs it, and each is documented."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simulation.cli.app import execute
from simulation.cli.studies import STUDIES

if TYPE_CHECKING:
    from simulation.cli.studies import Study

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_a_study_takes_what_the_table_says(study: Study) -> None:
    parameters = inspect.signature(import_module(study.module).run).parameters
    assert list(parameters)[:3] == ["folder", "quick", "data"]
    assert ("models" in parameters) == study.models


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_a_page_and_a_verdict(name: str) -> None:
    lines = (DOCS / "command-line.md").read_text("utf-8").splitlines()
    line = next(line for line in lines if line.startswith(f"| [`{name}`]("))
    page = re.findall(r"\]\(([a-z-]+\.md)\)", line)[0]
    assert f"simulation study {name}" in (DOCS / page).read_text("utf-8"), page
    assert f"`{name}`" in (DOCS / "evidence.md").read_text("utf-8")


def test_the_help_lists_all_studies(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["study", "--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"      {name} " in said for name in STUDIES)


@pytest.mark.parametrize("name", [name for name, study in STUDIES.items() if study.needed])
def test_a_study_that_needs_data_says_which(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert execute(["study", name, "--quick", "--out", str(out)]) == 2
    assert f"the study {name} needs --data PATH: {STUDIES[name].data}" in capsys.readouterr().err
    assert execute(["study", name, "--data", "no/such.csv", "--out", str(out)]) == 2
    assert "no/such.csv does not exist" in capsys.readouterr().err
    assert not out.exists()


def test_without_a_name_all_studies_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["study"]) == 2
    assert f"name a study. Studies: {', '.join(STUDIES)}." in capsys.readouterr().err


def test_a_study_without_language_models_refuses_to_be_given_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert execute(["study", "attachment", "--max-tokens", "3"]) == 2
    said = capsys.readouterr().err
    assert "asks no language model and takes no --max-tokens" in said
    assert "those that do: conditioning, attachment-response" in said
