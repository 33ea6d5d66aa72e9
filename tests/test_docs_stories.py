"""The stories of the scenarios are true: every query of a page gives what the page shows.

On a page, a `sql` block followed by a `text` block is a query on the run of the page's first
command and what `simulation sql` prints for it. A `sql` block followed by a table has a row per
run: its first cell holds the options of that run, the others the row that the query gives there.
With `UPDATE_SNAPSHOTS=1` the pages are written anew; the words around a result stay as they are.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from simulation import Run
from simulation.cli.app import execute

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


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def options(row: str) -> str:
    """Return the options of the run that a row of a table tells of."""
    first = cells(row)[0].strip("`")
    return "" if first == "as it is" else first


def hold(page: str, wanted: str) -> None:
    """Hold a page to the text that its runs give, or write that text."""
    if os.environ.get("UPDATE_SNAPSHOTS") == "1":
        (PAGES / f"{page}.md").write_text(wanted, encoding="utf-8", newline="\n")
    assert read(page) == wanted, "write it again with UPDATE_SNAPSHOTS=1"


def check_shown(teller: Teller, page: str) -> None:
    def told(found: re.Match[str]) -> str:
        said = lines(teller.output("sql", str(teller.run(page)), found[1].strip()))
        return "\n".join([f"```sql\n{found[1]}```\n", "```text", *said, "```"])

    wanted, count = SHOWN.subn(told, read(page))
    assert count
    hold(page, wanted)


@pytest.mark.parametrize("page", STORIES)
def test_every_query_gives_what_the_page_shows(teller: Teller, page: str) -> None:
    check_shown(teller, page)


@pytest.mark.parametrize("page", STORIES)
def test_every_other_run_of_the_page_gives_what_its_tables_say(teller: Teller, page: str) -> None:
    def table(found: re.Match[str]) -> str:
        answers = []
        for shown in lines(found[2])[2:]:
            with Run.open(teller.run(page, options(shown))) as run:
                result = run.query(found[1])
            answers.append([cells(shown)[0], *map(str, result.rows[0])])
        head = ["run", *result.columns]
        rows = [f"| {' | '.join(row)} |" for row in [head, *answers]]
        rows.insert(1, "|---" * len(head) + "|")
        return "\n".join([f"```sql\n{found[1]}```\n", *rows, ""])

    wanted, count = COMPARED.subn(table, read(page))
    assert count
    hold(page, wanted)


@pytest.mark.parametrize("page", STORIES)
def test_a_table_has_the_run_as_it_is_two_seeds_and_some_settings(page: str) -> None:
    tables = COMPARED.findall(read(page))
    assert tables
    for _, shown in tables:
        runs = [options(row) for row in lines(shown)[2:]]
        assert runs.count("") == 1
        assert sum(each.startswith("--seed") for each in runs) == 2
        assert sum(each.startswith("--set") for each in runs) >= 2


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
