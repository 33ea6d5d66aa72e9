"""The pages lead to each other, on a site and as plain files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulation.models.base import ACTIONS
from simulation.posts import ENGAGEMENT_OF_ACTION

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(((?!https?:|mailto:)[^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def links(page: Path) -> list[tuple[Path, str]]:
    """Return the files, with anchors, that a page links in plain Markdown."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    parts = [link.partition("#") for link in LINK.findall(text)]
    return [((page.parent / path).resolve() if path else page, tag) for path, _, tag in parts]


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    words = [
        re.sub(r"[^\w\s-]", "", each.lower()) for each in HEADING.findall(page.read_text("utf-8"))
    ]
    return {each.strip().replace(" ", "-") for each in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        assert target.exists(), target
        assert not anchor or anchor in anchors(target), f"{target}#{anchor}"


def test_every_page_can_be_reached_from_the_readme_by_plain_links() -> None:
    seen, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page not in seen:
            seen.add(page)
            left += [target for target, _ in links(page) if target.suffix == ".md"]
    assert [page for page in PAGES if page not in seen] == []


@pytest.mark.parametrize("index", ["index.md", "adr/index.md", "scenarios/index.md"])
def test_an_index_names_each_page_of_its_folder_with_a_sentence(index: str) -> None:
    page = DOCS / index
    text = page.read_text("utf-8")
    beside = [other for other in page.parent.glob("*.md") if other != page]
    assert beside
    for other in beside:
        assert re.search(rf"^- \[[^\]]+\]\({re.escape(other.name)}\): \S+ \S+", text, re.MULTILINE)
    assert text.count("```{toctree}") == text.count(":hidden:")


def test_the_readme_counts_the_stories_that_there_are() -> None:
    stories = [page for page in (DOCS / "scenarios").glob("*.md") if page.name != "index.md"]
    number = {3: "three", 4: "four", 5: "five", 6: "six"}[len(stories)]
    assert f"{number} stories" in (ROOT / "README.md").read_text("utf-8")
    assert f"{number} stories" in (DOCS / "index.md").read_text("utf-8")
    assert len(stories) == len(list((ROOT / "scenarios").glob("*.yaml")))


def test_the_table_of_actions_says_what_each_adds_to_the_engagement() -> None:
    table = re.findall(
        r"^\| ([a-z_, ]+) \| .* \| (-?\d) \|$", (DOCS / "turn.md").read_text("utf-8"), re.MULTILINE
    )
    told = {name: float(adds) for names, adds in table for name in names.split(", ")}
    assert told == {name: ENGAGEMENT_OF_ACTION.get(name, 0.0) for name in ACTIONS}
