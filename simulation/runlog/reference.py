"""The tables of a run database in words, made from the comments that every file carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulation.runlog.reader import Table


def reference(tables: Iterable[Table]) -> str:
    """Return Markdown that lists every table and view with its columns and their meaning."""
    return "\n".join(_section(table) for table in tables)


def _section(table: Table) -> str:
    lines = [
        f"### {table.kind} `{table.name}`",
        "",
        table.comment,
        "",
        "| column | type | meaning |",
        "|---|---|---|",
        *(f"| `{each.name}` | {each.type} | {_cell(each.comment)} |" for each in table.columns),
        "",
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
