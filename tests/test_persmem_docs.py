"""The page about personality in memory: its queries run, and its tables are what they give."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from simulation import simulate
from simulation.runlog import RunFile

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "persmem.md"
QUERY = re.compile(r"```sql\n(.*?)```\n(?:\n(?:\|[^\n]*\n)+)?", re.DOTALL)


def cell(value: Any) -> str:
    return "" if value is None else str(value).replace("|", "\\|")


def table(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


@pytest.fixture(name="street", scope="module")
def street_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("street") / "street.duckdb"
    return simulate(ROOT / "scenarios" / "anxious_neighbours.yaml", out=out)


def test_every_query_of_the_page_gives_the_table_below_it(street: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    with RunFile.open(street) as run:

        def answered(found: re.Match[str]) -> str:
            answer = run.query(found[1])
            assert answer.rows, found[1]
            return f"```sql\n{found[1]}```\n\n{table(tuple(answer.columns), answer.rows)}"

        wanted = QUERY.sub(answered, page)
    if os.environ.get("UPDATE_SNAPSHOTS") == "1":
        PAGE.write_text(wanted, encoding="utf-8", newline="\n")
    assert PAGE.read_text(encoding="utf-8") == wanted, "write it again with UPDATE_SNAPSHOTS=1"
