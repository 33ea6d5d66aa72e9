"""`simulation interview`: ask a persona of a run, once or in a conversation."""

# ruff: noqa: PLC0415 - the engine is imported when it runs, so that --help answers at once

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulation.cli.options import (
    access_options,
    debug_option,
    examples,
    json_option,
    run_argument,
    set_option,
)
from simulation.cli.text import cut, paragraph, plain, print_json, print_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.interviewing import Interview, Statement
    from simulation.runlog import RunInfo
    from simulation.scenario import Access

_RECALLED = 3  # memories that are shown; --json and a transcript have all


@click.command(
    "interview",
    epilog=examples(
        'simulation interview runs/protein_bar-seed7.duckdb p0003 "Would you buy it?"',
        'simulation interview runs/protein_bar-seed7.duckdb p0003 "Do you trust it?" --at 10',
        "simulation interview runs/protein_bar-seed7.duckdb p0003 --out talk.jsonl",
    ),
)
@run_argument
@click.argument("persona")
@click.argument("question", required=False)
@click.option(
    "--at",
    type=click.IntRange(min=0),
    metavar="T",
    help="Ask the persona as it was at the end of this tick; default, the last one.",
)
@click.option(
    "--rule",
    "by_rule",
    is_flag=True,
    help="Let the rule model answer, whatever answered in the run: no key, no cost.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Let language models answer from this transcript again: no key, no cost.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write or add to a transcript: JSON lines, or a database where it ends in .duckdb.",
)
@set_option
@access_options
@json_option
@debug_option
def command(
    *,
    run: Path,
    persona: str,
    question: str | None,
    at: int | None,
    by_rule: bool,
    replay: Path | None,
    out: Path | None,
    settings: tuple[str, ...],
    access: Access,
    as_json: bool,
) -> None:
    """Ask a PERSONA of a run a QUESTION; without one, talk until an empty line.

    It answers as it was at the end of tick T, from its description, its beliefs and the memories
    that the question brings back. The run is only read.
    """
    from simulation.interviewing import Interview

    if question is not None and not question.strip():
        raise click.UsageError("the question is empty; leave it out to talk")
    if by_rule and replay is not None:
        raise click.UsageError("choose one of --rule and --replay")
    with Interview(
        run,
        persona,
        tick=at,
        settings=settings,
        access=access,
        by_rule=by_rule,
        replay=replay,
        out=out,
    ) as talk:
        _unfinished(run, talk.run, talk.tick)
        if question is not None:
            _tell(talk.ask(question), as_json=as_json)
        else:
            _converse(talk, as_json=as_json)
    if out is not None and not as_json:
        click.echo(plain(f"transcript: {out}"), err=True)


def _unfinished(run: Path, info: RunInfo, tick: int) -> None:
    """Say of a run that stopped early how far it got, where that is not what was asked for."""
    horizon = info.header.horizon
    if info.status != "complete" and tick == info.last_tick < horizon:
        click.echo(
            plain(f"{run} is {info.status} after tick {tick} of {horizon}; asking as of then"),
            err=True,
        )


def _tell(said: Statement, *, as_json: bool) -> None:
    """Print an answer and what it came from."""
    if as_json:
        print_json(said.to_dict())
        return
    where = f"{said.scenario_name}, seed {said.seed}"
    click.echo(paragraph(plain(f"{said.persona_id} at tick {said.tick} ({where})")))
    click.echo(f"\n{paragraph(plain(said.answer), indent='  ')}\n")
    for line in _behind(said):
        click.echo(line)


def _behind(said: Statement) -> Iterator[str]:
    """Yield the lines about where an answer came from."""
    for i, each in enumerate(said.recalled[:_RECALLED]):
        head = "Came to mind  " if not i else " " * 14
        words = cut(each.text, 200)
        yield paragraph(f"{head}tick {each.tick}: {words}", hanging=" " * 16)
    yield f"Answered by   {_by(said)}"
    if said.error:
        yield paragraph(plain(f"Trouble       {said.error}"), hanging=" " * 16)


def _by(said: Statement) -> str:
    from simulation.cli.spent import money

    if said.source == "fallback":
        return plain(f"the rule model, since {said.model} failed")
    cost = f", {money(said.cost_usd)} USD" if said.cost_usd else ""
    kept = ", from the transcript" if said.source == "replay" else ""
    return plain(f"{said.model}{kept}{cost}")


def _converse(talk: Interview, *, as_json: bool) -> None:
    """Put line after line, until an empty one or the end; only a terminal gets prompts."""
    on_terminal = sys.stdin.isatty()
    if on_terminal:
        click.echo(
            plain(f"{talk.persona_id} at tick {talk.tick}. An empty line ends the interview."),
            err=True,
        )
    for question in _lines("> " if on_terminal else ""):
        said = talk.ask(question)
        if as_json:
            print_line(said.to_dict())
            continue
        click.echo(paragraph(plain(said.answer), indent="  "))
        if said.error:
            click.echo(paragraph(plain(f"({said.error})"), indent="  "), err=True)


def _lines(mark: str) -> Iterator[str]:
    """Yield what is typed, line by line."""
    while True:
        if mark:
            click.echo(mark, nl=False, err=True)
        line = sys.stdin.readline()
        if not line and mark:
            click.echo(err=True)  # the shell's own prompt begins on a line of its own
        if not line.strip():
            return
        yield line.strip()
