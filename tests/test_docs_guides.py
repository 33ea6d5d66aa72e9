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
    if os.environ.get("UPDATE_SNAPSHOTS") == "1":
        (DOCS / f"{page}.md").write_text(with_outputs(text, shown), "utf-8")
        return
    for each in shown:
        assert without_times(each.told) == without_times(each.found)


@pytest.mark.parametrize("page", GUIDES)
def test_a_command_that_is_not_run_here_has_a_verb_and_options_that_exist(page: str) -> None:
    for words in typed(read(page)):
        if words[0] in {".", "--version"}:
            continue
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
