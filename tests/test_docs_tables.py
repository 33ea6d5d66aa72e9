"""Pages that follow one run by queries: all of them run, and the tables are what they give."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from simulation import simulate
from simulation.runlog import RunFile

ROOT = Path(__file__).parents[1]
PAGES = {"persmem": "anxious_neighbours", "attitudes": "protein_bar"}
QUERY = re.compile(r"```sql\n(.*?)```\n(?:\n(?:\|[^\n]*\n)+)?", re.DOTALL)


def cell(value: Any) -> str:
    return "" if value is None else str(value).replace("|", "\\|")


def table(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


@pytest.mark.parametrize("name", PAGES)
def test_every_query_of_the_page_gives_the_table_below_it(name: str, tmp_path: Path) -> None:
    page = ROOT / "docs" / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    out = simulate(ROOT / "scenarios" / f"{PAGES[name]}.yaml", out=tmp_path / "run.duckdb")
    with RunFile.open(out) as run:

        def answered(found: re.Match[str]) -> str:
            answer = run.query(found[1])
            assert answer.rows, found[1]
            return f"```sql\n{found[1]}```\n\n{table(tuple(answer.columns), answer.rows)}"

        wanted = QUERY.sub(answered, text)
    assert wanted.count("```sql") > 3
    if os.environ.get("UPDATE_SNAPSHOTS") == "1":
        page.write_text(wanted, encoding="utf-8", newline="\n")
    assert page.read_text(encoding="utf-8") == wanted, "write it again with UPDATE_SNAPSHOTS=1"
