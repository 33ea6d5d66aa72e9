"""`simulation tables`: what the tables and columns of a run mean."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from simulation.cli.calling import program_call
from simulation.cli.options import debug_option, examples, json_option, run_argument
from simulation.cli.text import explained, paragraph, print_json
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.runlog import Table


@click.command(
    "tables",
    epilog=examples(
        "simulation tables runs/protein_bar-seed7.duckdb",
        "simulation tables runs/protein_bar-seed7.duckdb turns",
        "simulation tables runs/protein_bar-sweep/sweep.duckdb",
    ),
)
@run_argument
@click.argument("table", required=False)
@json_option
@debug_option
def command(*, run: Path, table: str | None, as_json: bool) -> None:
    """Say what the tables and views of a run mean, or the columns of one TABLE.

    Also of the sweep.duckdb of a sweep, and of a transcript of interviews.
    """
    from simulation.runlog import open_database

    with open_database(run) as opened:
        tables = opened.tables()
    if table is not None:
        tables = (_named(table, tables),)
    if as_json:
        print_json([asdict(each) for each in tables])
    elif table is not None:
        click.echo(_columns(tables[0]))
    else:
        click.echo(_listed(tables, run))


def _named(name: str, tables: Sequence[Table]) -> Table:
    for table in tables:
        if table.name == name.lower():
            return table
    from simulation.spelling import did_you_mean

    known = [table.name for table in tables]
    hint = did_you_mean(name, known)
    raise UsageError(f'there is no table "{name}"{hint}\nTables and views: {", ".join(known)}')


def _listed(tables: Sequence[Table], run: Path) -> str:
    rows = [[t.name, f"{t.rows:,}", t.comment] for t in tables if t.rows is not None]
    wide = max((len(row[1]) for row in rows), default=0)
    stored = explained([[name, f"{count:>{wide}}", comment] for name, count, comment in rows])
    views = explained([[t.name, t.comment] for t in tables if t.rows is None])
    path, names = shlex.quote(str(run)), [table.name for table in tables]
    closer = "turns" if "turns" in names else names[0]
    asked = "belief_summary" if "belief_summary" in names else names[0]
    query = f'"SELECT * FROM {asked}"'  # noqa: S608 - words to show
    parts = [f"Tables, with their rows\n{stored}"]
    if views:
        parts.append(f"Views, made from the tables\n{views}")
    parts.append(
        f"Next\n  {program_call()} tables {path} {closer}\n  {program_call()} sql {path} {query}"
    )
    return "\n\n".join(parts)


def _columns(table: Table) -> str:
    size = table.kind if table.rows is None else f"{table.kind}, {table.rows:,} rows"
    columns = explained([column.name, column.type, column.comment] for column in table.columns)
    return f"{table.name} ({size})\n{paragraph(table.comment, indent='  ')}\n\n{columns}"
