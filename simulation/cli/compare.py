"""`simulation compare`: where runs part, and by how much they differ."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

from pathlib import Path

import click

from simulation.cli.options import debug_option, examples, json_option


@click.command(
    "compare",
    epilog=examples(
        "simulation compare runs/protein_bar-seed7.duckdb runs/protein_bar-seed8.duckdb",
        "simulation compare a.duckdb b.duckdb --json",
    ),
)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN…")
@json_option
@debug_option
def command(*, runs: tuple[Path, ...], as_json: bool) -> None:
    """Say where runs part and by how much they differ.

    Same scenario, same seed? The first tick, persona and target where they part, and why; then the
    largest differences.
    """
    from simulation.analysis.compare import compare
    from simulation.cli.text import plain, print_json

    compared = compare(runs)
    if as_json:
        print_json(compared.to_dict())
    else:
        click.echo("\n".join(plain(line) for line in compared.summary()))
