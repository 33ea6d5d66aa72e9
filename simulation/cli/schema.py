"""`simulation schema`: the JSON Schema of a scenario."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

import click

from simulation.cli.options import debug_option, examples


@click.command(
    "schema",
    epilog=examples(
        "simulation schema > scenario.schema.json",
        "then begin a scenario with this line, for editors that know the YAML language server:",
        "# yaml-language-server: $schema=scenario.schema.json",
    ),
)
@debug_option
def command() -> None:
    """Print the JSON Schema of a scenario: every key with its type, default and meaning."""
    from simulation.cli.text import print_json
    from simulation.scenario import json_schema

    print_json(json_schema())
