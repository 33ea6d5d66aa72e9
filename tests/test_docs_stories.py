"""The stories of the scenarios are true: every query of a page gives what the page shows.

On a page, a `sql` block followed by a `text` block is a query on the run of the page's first
command and what `simulation sql` prints for it. A `sql` block followed by a table has a row per
run: its first cell holds the options of that run, the others the row that the query gives there.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simulation import Run
from simulation.cli.app import execute

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "scenarios"
DATA = ROOT.parent / "shared" / "data"
STORIES = ("protein-bar", "town-referendum", "health-rumour", "anxious-neighbours")
SURVEY = "survey-respondents"
COMMAND = re.compile(r"```sh\n([^`]*)```")
SHOWN = re.compile(r"```sql\n([^`]*)```\n\n```text\n([^`]*)```")
COMPARED = re.compile(r"```sql\n([^`]*)```\n\n((?:\|.*\n)+)")
QUERY = re.compile(r"```sql\n")
PLACES = {
    "/path/to/gss_personas.csv": DATA / "populations" / "gss_personas.csv",
    "/path/to/ego_facebook.txt": DATA / "graphs" / "ego_facebook.txt",
}


class Teller:
    """Runs the commands of pages in a folder; a run is made once."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capture = capture

    def command(self, page: str) -> list[str]:
        """Return the words of the page's own run, without `uv run simulation`."""
        first = COMMAND.findall(read(page))[0]
        words = shlex.split(first)
        assert words[:4] == ["uv", "run", "simulation", "run"]
        return [self._place(word) for word in words[3:]]

    def output(self, *words: str) -> str:
        """Return what a command prints."""
        code = execute(words)
        said = self._capture.readouterr()
        assert code == 0, said.err
        return said.out

    def run(self, page: str, options: str = "") -> Path:
        """Return the database of the page's run with more options."""
        name = re.sub(r"\W+", "_", page + options) + ".duckdb"
        path = self._folder / name
        if not path.exists():
            words = [*self.command(page), *shlex.split(options)]
            self.output(*words, "--quiet", "--out", str(path))
        return path

    @staticmethod
    def _place(word: str) -> str:
        for placeholder, path in PLACES.items():
            word = word.replace(placeholder, str(path))
        return word


@pytest.fixture(name="clone", scope="module")
def fresh_clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stories")
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    return folder


@pytest.fixture(name="teller")
def story_teller(
    clone: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Teller:
    monkeypatch.chdir(clone)
    monkeypatch.setenv("COLUMNS", "80")
    return Teller(clone, capsys)


def read(page: str) -> str:
    return (PAGES / f"{page}.md").read_text("utf-8")


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def compared(page: str) -> Iterator[tuple[str, list[str], dict[str, list[str]]]]:
    """Yield each query with a table: its columns and, by options, what is shown."""
    for query, table in COMPARED.findall(read(page)):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines(table)]
        yield query, rows[0][1:], {row[0].strip("`"): row[1:] for row in rows[2:]}


def check_shown(teller: Teller, page: str) -> None:
    found = SHOWN.findall(read(page))
    assert found
    for query, shown in found:
        told = teller.output("sql", str(teller.run(page)), query.strip())
        assert lines(told) == lines(shown), query


@pytest.mark.parametrize("page", STORIES)
def test_every_query_gives_what_the_page_shows(teller: Teller, page: str) -> None:
    check_shown(teller, page)


@pytest.mark.parametrize("page", STORIES)
def test_every_other_run_of_the_page_gives_what_its_tables_say(teller: Teller, page: str) -> None:
    tables = list(compared(page))
    assert tables
    for query, columns, shown in tables:
        assert "as it is" in shown
        assert sum(options.startswith("--seed") for options in shown) == 2
        assert sum(options.startswith("--set") for options in shown) >= 2
        for options, cells in shown.items():
            with Run.open(teller.run(page, "" if options == "as it is" else options)) as run:
                result = run.query(query)
            assert list(result.columns) == columns
            assert [str(value) for value in result.rows[0]] == cells, options


@pytest.mark.parametrize("page", [*STORIES, SURVEY])
def test_a_page_shows_no_query_without_its_result(page: str) -> None:
    text = read(page)
    assert len(QUERY.findall(text)) == len(SHOWN.findall(text)) + len(COMPARED.findall(text))


@pytest.mark.parametrize("page", STORIES)
def test_a_page_is_short_and_says_that_a_model_is_no_forecast(page: str) -> None:
    text = read(page)
    assert 60 <= len(text.splitlines()) <= 200
    assert "not a forecast" in " ".join(text.split())


def test_an_ad_is_called_an_ad_and_a_repost_names_whose_words_it_is(teller: Teller) -> None:
    with Run.open(teller.run("protein-bar")) as run:
        seen = [
            row[0]
            for row in run.query(
                "SELECT DISTINCT detail FROM persona_timeline WHERE what = 'perceived'"
            ).rows
        ]
    assert not any(text.startswith("Bolt (post)") for text in seen)
    assert any(text.startswith("Bolt (ad): Meet Bolt.") for text in seen)
    assert any(text.startswith("Snack Diary (review): I wanted") for text in seen)
    assert any(re.match(r"p\d+ \(repost of Bolt\): Meet Bolt", text) for text in seen)


@pytest.mark.skipif(not DATA.exists(), reason="the survey and the graph are not here")
def test_the_survey_page_shows_a_real_run(teller: Teller) -> None:
    check_shown(teller, SURVEY)
