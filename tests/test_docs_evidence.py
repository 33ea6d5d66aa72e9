"""The page of evidence: each figure stands on the page of its study, too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
EVIDENCE = (DOCS / "evidence.md").read_text("utf-8")
_FIGURE = re.compile(r"(?<![\w.])\d*\.?\d+")
_STUDY = re.compile(r"\[`([a-z-]+)`\]\(([a-z-]+\.md)\)")


def figures(text: str) -> set[str]:
    """Return the numbers of a text, without sign, leading zeros and percent."""
    found = _FIGURE.findall(text.replace(",", " ").replace("\N{MINUS SIGN}", "-"))
    return {re.sub(r"^0+(?=\.)", "", number) for number in found}


def rows() -> list[tuple[str, str, str]]:
    """Return (study, page, what was found here) of each row of the tables."""
    found, study, page, here = [], "", "", 0
    for line in EVIDENCE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0].startswith("---"):
            continue
        if cells[0] == "study":
            here = next(i for i, cell in enumerate(cells) if cell.startswith("here"))
            continue
        if named := _STUDY.match(cells[0]):
            study, page = named.groups()
        if study:
            found.append((study, page, cells[here]))
    return found


ROWS = rows()


def test_there_are_rows_of_every_part() -> None:
    assert len(ROWS) > 40
    assert len({study for study, _, _ in ROWS}) >= 16


@pytest.mark.parametrize(
    ("study", "page", "here"), ROWS, ids=[f"{r[0]}: {r[2][:40]}" for r in ROWS]
)
def test_what_is_told_of_a_study_stands_on_its_page(study: str, page: str, here: str) -> None:
    told = (DOCS / page).read_text("utf-8")
    known = figures(told) | {f".{n}" for n in re.findall(r"(\d\d?)(?:\.\d)? %", told)}
    known |= {f".{n.replace('.', '')}" for n in re.findall(r"(\d\d\.\d) %", told)}
    lacking = {n for n in figures(here) if len(n.strip(".")) > 1} - known
    assert not lacking, (study, sorted(lacking))
