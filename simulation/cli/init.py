"""`simulation init`: a scenario to start from."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

import shlex
from pathlib import Path

import click

from simulation.cli.calling import program_call
from simulation.cli.options import debug_option, examples, refuse_existing
from simulation.cli.shipped import shipped_scenarios
from simulation.errors import UsageError

_SHIPPED = tuple(shipped_scenarios())


@click.command(
    "init",
    epilog=examples("simulation init", "simulation init my_product", "simulation init protein_bar")
    + f"\n\nScenarios that ship: {', '.join(_SHIPPED) or 'none'}.",
)
@click.argument("name", default="my_scenario")
@debug_option
def command(*, name: str) -> None:
    """Write a commented scenario to start from, NAME.yaml, into the current folder.

    NAME is my_scenario if left out. The name of a scenario that ships gives a copy of that one. A
    file of that name is never written over.
    """
    name = name.removesuffix(".yaml")
    text, what = _scenario(name)
    path = Path(f"{name}.yaml")
    refuse_existing(path)
    _write(path, text)
    shown, program = shlex.quote(str(path)), program_call()
    click.echo(
        f"wrote {path}: {what}\n\n"
        f"Next\n"
        f"  {program} validate {shown}    check it after each change\n"
        f"  {program} run {shown}         run it; no key is needed"
    )


def _scenario(name: str) -> tuple[str, str]:
    """Return the text of a new scenario and what it is."""
    there = shipped_scenarios().get(name)
    if there is not None:
        return there.read_text(encoding="utf-8"), (
            "a copy of the scenario of that name that ships; its first lines say what it needs"
        )
    from simulation.scenario import starter

    what = "a small population, one brief, a few stimuli, every part explained"
    return starter(name), what


def _write(path: Path, text: str) -> None:
    """Write a new file, wholly or not at all.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        file = path.open("x", encoding="utf-8", newline="\n")
    except OSError as error:
        raise _not_written(path, error) from error
    try:
        with file:
            file.write(text)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise _not_written(path, error) from error


def _not_written(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} could not be written: {error.strerror or error}")
