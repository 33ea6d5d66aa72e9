"""Quick start, tutorial and recipes: whoever types what they say sees what they show.

`UPDATE_SNAPSHOTS=1 pytest tests/test_docs_guides.py` writes the outputs into the pages again,
after results changed.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import click
import pytest
from guide_pages import BLOCK, Walk, with_outputs, without_times

from simulation import Run, compare_groups
from simulation.cli.app import program

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GUIDES = ("quick-start", "tutorial", "how-to")


def read(page: str) -> str:
    return (DOCS / f"{page}.md").read_text("utf-8")


def typed(page: str) -> list[list[str]]:
    """Return the words of each `simulation …` in the blocks that are read and not run."""
    blocks = [block["body"] for block in BLOCK.finditer(page) if block["kind"] == "sh"]
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    return [each[each.index("simulation") + 1 :] for each in words if "simulation" in each]


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES)
def test_who_follows_a_page_sees_what_it_shows(page: str, tmp_path: Path) -> None:
    text = read(page)
    shown = Walk(tmp_path).follow(text)
    if page == "tutorial":
        check_what_the_tutorial_says(tmp_path)
    if os.environ.get("UPDATE_SNAPSHOTS") == "1":
        (DOCS / f"{page}.md").write_text(with_outputs(text, shown), "utf-8")
        return
    for each in shown:
        assert without_times(each.told) == without_times(each.found)


def check_what_the_tutorial_says(folder: Path) -> None:
    """Hold its sentences to its runs: the newspaper's effect, and what each message moves."""
    with Run(folder / "both.duckdb") as run:
        mean = dict(run.query("SELECT tick, mean FROM belief_summary WHERE target = 'C1'").rows)
    assert mean[0] < mean[7] > mean[12]
    higher = {"C1": False, "C2": True, "fit": True, "value": False, "trust": False}
    arms = compare_groups({name: [str(folder / name)] for name in ("costs", "children")})
    ends = arms.contrasts[0].end
    assert higher.keys() <= {effect.measure for effect in ends}
    for effect in ends:
        if effect.measure in higher:
            assert effect.low is not None
            assert effect.high is not None
            bound = effect.low if higher[effect.measure] else -effect.high
            assert bound > 0, effect.measure
    with Run(folder / "silent.duckdb") as run:
        silent = run.query("SELECT mean FROM belief_summary WHERE target = 'C1' AND tick = 12")
    assert silent.rows[0][0] > mean[12]


@pytest.mark.parametrize("page", ["quick-start", "how-to"])
def test_a_command_that_is_not_run_here_has_a_verb_and_options_that_exist(page: str) -> None:
    commands = [words for words in typed(read(page)) if words[0] != "--version"]
    assert commands
    for words in commands:
        verb = program.get_command(click.Context(program), words[0])
        assert verb is not None, words
        verb.make_context(words[0], words[1:], parent=click.Context(program))


@pytest.mark.parametrize("page", ["quick-start", "tutorial"])
def test_a_page_to_begin_with_shows_what_comes_out(page: str) -> None:
    kinds = [block["kind"] for block in BLOCK.finditer(read(page))]
    assert kinds.count("text") >= 4
    assert len(read(page).split()) < 3000


def test_every_recipe_has_something_to_type_and_a_page_to_go_on_to() -> None:
    recipes = re.split(r"^## ", read("how-to"), flags=re.MULTILINE)[1:]
    assert len(recipes) >= 12
    for recipe in recipes:
        title = recipe.partition("\n")[0]
        assert BLOCK.search(recipe), title
        assert re.search(r"\]\([a-z-]+\.(md|ipynb)", recipe), title


def test_an_output_is_written_again_where_more_than_its_time_is_another(tmp_path: Path) -> None:
    page = (
        "<!-- file: said.txt -->\n```text\nred\ngreen\n```\n\n"
        "<!-- change: said.txt to new.txt -->\n```diff\n-red\n+blue\n```\n\n"
        "```python\nprint('9 turns in 2 s (5/s)')\n```\n\n```text\n9 turns in 1 s (9/s)\n```\n\n"
        "```python\nimport pathlib\nprint(pathlib.Path('new.txt').read_text() + 'end')\n```\n\n"
        "<!-- from: green -->\n<!-- until: end -->\n```text\nold\n```\n"
    )
    again = with_outputs(page, Walk(tmp_path).follow(page))
    assert again == page.replace("old\n", "…\ngreen\n…\n")


def test_a_command_that_fails_where_it_should_not_stops_the_walk(tmp_path: Path) -> None:
    failing = "```console\n$ simulation validate nothing.yaml\n```\n"
    with pytest.raises(AssertionError, match=r"nothing\.yaml"):
        Walk(tmp_path).follow(failing)
    shown = Walk(tmp_path).follow(f"<!-- exit: 2 -->\n{failing}\n```text\n```\n")
    assert "nothing.yaml" in shown[0].found
