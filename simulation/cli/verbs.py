"""The verbs by name. A verb's module is imported only when it is used, so that help is instant."""

# ruff: noqa: PLC0415 - what only some command lines need is imported there: --help is instant

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

VERBS = {
    "run": "Run a scenario and write its run database.",
    "resume": "Go on with a run that stopped.",
    "fork": "Branch a run at a tick: same history, another future.",
    "init": "Write a commented scenario to start from.",
    "validate": "Check a scenario without running it.",
    "estimate": "Say what language models will take, before anything is spent.",
    "doctor": "Check the language models of a scenario with one tiny call each.",
    "schema": "Print the JSON Schema of a scenario, for editors.",
    "tables": "Say what the tables and columns of a run mean.",
    "sql": "Put a SQL query to a run database.",
    "interview": "Ask a persona of a run something, as it was at a tick.",
    "sweep": "Run a scenario with every combination of settings and every seed.",
    "compare": "Say where two runs part, or whether groups of runs differ beyond chance.",
    "report": "Write what happened as one page of pictures that works offline.",
    "study": "Repeat an experiment of the sources, with tables and a picture.",
}


class Verbs(click.Group):
    """The commands of `VERBS`; each is the attribute `command` of the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the verbs in the order of use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a verb; None if there is none of that name."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"simulation.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb of a command line.

        Raises:
            click.UsageError: there is no such verb; the message names the nearest and all.
        """
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            raise click.UsageError(no_verb(name), ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: Any) -> None:  # noqa: ARG002 - click's signature
        """List the verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def no_verb(name: str) -> str:
    """Return the message for a verb that does not exist."""
    from simulation.spelling import did_you_mean

    hint = did_you_mean(name, VERBS) or "."
    return f'there is no verb "{name}"{hint} Verbs: {", ".join(VERBS)}.'
