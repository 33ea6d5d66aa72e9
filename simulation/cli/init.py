"""`simulation init`: a scenario to start from."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

import shlex
from pathlib import Path

import click

from simulation.cli.options import debug_option, examples, refuse_existing


@click.command("init", epilog=examples("simulation init", "simulation init my_product"))
@click.argument("name", default="my_scenario")
@debug_option
def command(*, name: str) -> None:
    """Write a commented scenario to start from, NAME.yaml, into the current folder.

    NAME is my_scenario if left out. A file of that name is never written over.
    """
    from simulation.scenario import starter

    name = name.removesuffix(".yaml")
    text = starter(name)
    path = Path(f"{name}.yaml")
    refuse_existing(path)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
    shown = shlex.quote(str(path))
    click.echo(
        f"wrote {path}: a small population, one brief, a few stimuli, every part explained\n\n"
        f"Next\n"
        f"  simulation validate {shown}    check it after each change\n"
        f"  simulation run {shown}         run it; no key is needed"
    )
