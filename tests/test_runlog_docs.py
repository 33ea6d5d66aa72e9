from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import run_rows

from simulation import simulate
from simulation.runlog import Column, RunFile, RunWriter, Table, reference

if TYPE_CHECKING:
    from collections.abc import Iterator

SCENARIO = Path(__file__).parents[1] / "scenarios" / "protein_bar.yaml"
PAGE = Path(__file__).parents[1] / "docs" / "run-database.md"
QUESTIONS = re.findall(r"\*\*(\d+)\..*?```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture(name="run", scope="module")
def real_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunFile]:
    path = tmp_path_factory.mktemp("docs") / "bar.duckdb"
    with RunFile.open(simulate(SCENARIO, out=path)) as opened:
        yield opened


def test_the_page_lists_every_table_and_column_as_the_file_does() -> None:
    with RunWriter.create(None, run_rows.header()) as writer:
        expected = reference(writer.reader().tables())
    page = PAGE.read_text("utf-8")
    found = re.search(r"<!-- tables -->\n(.*)<!-- /tables -->", page, re.DOTALL)
    assert found is not None
    assert found[1] == expected, "write reference(run.tables()) between the markers of the page"


def test_there_are_twelve_questions() -> None:
    assert [number for number, _ in QUESTIONS] == [str(n) for n in range(1, 13)]


@pytest.mark.parametrize("sql", [sql for _, sql in QUESTIONS], ids=[n for n, _ in QUESTIONS])
def test_every_question_of_the_page_has_an_answer(run: RunFile, sql: str) -> None:
    assert run.query(sql).rows


def test_the_settings_question_shows_each_setting() -> None:
    with run_rows.write_run(None, run_rows.story()) as writer:
        rows = writer.reader().query(QUESTIONS[11][1]).rows
    assert rows == [("memory.cap", "50"), ("recall.k.cheap", "3")]


def test_a_plain_run_leaves_only_the_tables_empty_that_it_has_no_use_for(run: RunFile) -> None:
    assert not [table.name for table in run.tables() if "Empty in this version" in table.comment]
    empty = {table.name for table in run.tables() if table.rows == 0}
    assert empty <= {
        "affects",
        "appraisals",
        "gates",
        "model_calls",
        "rejections",
        "resumes",
        "surveys",
    }


def test_a_bar_in_a_comment_does_not_break_the_table() -> None:
    column = Column(name="a", type="INTEGER", comment="this | that")
    table = Table(name="t", kind="table", comment="One.", rows=0, columns=(column,))
    assert "| `a` | INTEGER | this \\| that |" in reference([table])
