"""The words at the end of a run: what changed, what people did, what failed, what to do next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from simulation.analysis.spending import spending
from simulation.analysis.summary import summarise
from simulation.cli.calling import program_call
from simulation.cli.spent import spent_on, told
from simulation.cli.text import (
    cut,
    many,
    paragraph,
    percent,
    plain,
    print_json,
    seconds,
    width,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from simulation.analysis.spending import Spending
    from simulation.analysis.summary import BeliefShift, Failure, Flip, Summary

MOST = 0.5  # share of personas from which on their start at .5 needs a word
_NUMBERS = 36  # columns of the numbers in the table of beliefs


def tell(
    path: Path,
    *,
    as_json: bool,
    following: Callable[[Summary], tuple[Sequence[str], str]] = lambda _: ((), ""),
    parent: str | None = None,
) -> None:
    """Print the summary of a run, as JSON or in words.

    following: the words of a command that makes a run to compare with, and the file that this
    makes.  parent: of a fork, to compare it with.
    """
    summary, spent = summarise(path), spending(path)
    if as_json:
        print_json(summary.to_dict() | told(spent))
        return
    again, other = following(summary)
    click.echo(closing(summary, again, other, spent, parent=parent))


def closing(
    summary: Summary,
    again: Sequence[str],
    other: str,
    spent: Spending | None = None,
    *,
    parent: str | None = None,
) -> str:
    """Return what a run prints at its end, for 80 columns without colour.

    again: the words of a command that makes a run to compare with; none for a fork.  other: the
    run that this makes.  spent: what language models did; None where there were none.
    parent: of a fork, to compare it with.
    """
    blocks = (
        _head(summary, spent),
        _beliefs(summary),
        _actions(summary),
        _minds(summary),
        _trust(summary),
        () if spent is None else spent_on(spent),
        _file(summary),
        _next(summary, again, (parent, summary.path) if parent else (summary.path, other)),
    )
    return "\n\n".join("\n".join(block) for block in map(list, blocks) if block)


def _head(summary: Summary, spent: Spending | None) -> Iterator[str]:
    ticks = many(summary.last_tick, "tick")
    if summary.last_tick < summary.horizon:
        ticks = f"{summary.last_tick:,} of {many(summary.horizon, 'tick')}"
    size = f"{many(summary.personas, 'persona')}, {ticks}, {many(summary.turns, 'turn')}"
    speed = f"{seconds(summary.seconds)} ({summary.turns_per_s:,.0f}/s)"
    yield paragraph(f"{plain(summary.scenario)}, seed {summary.seed}: {size} in {speed}")
    if summary.model_calls and spent is None:
        tokens = f"{summary.input_tokens:,} tokens in, {summary.output_tokens:,} out"
        calls = many(summary.model_calls, "model call")
        yield paragraph(f"{calls}, {tokens}, {summary.cost_usd:.2f} USD")


def _beliefs(summary: Summary) -> Iterator[str]:
    if not summary.personas:
        return
    room = max(24, min(width(), 100) - _NUMBERS)
    yield f"{'What changed (means)':<{room}}{'start':>7}{'end':>6}{'change':>8}{'above .5':>15}"
    for shift in summary.beliefs:
        yield _belief(shift, room)
    even = [plain(shift.target) for shift in summary.beliefs if shift.start_at > MOST]
    if even:
        targets = f"{', '.join(even[:-1])} and {even[-1]}" if len(even) > 1 else even[0]
        words = f"(most start at exactly .5, which is not above it, in {targets})"
        yield paragraph(words, indent="  ", hanging="   ")


def _belief(shift: BeliefShift, room: int) -> str:
    name = plain(shift.target) if shift.text is None else f"{plain(shift.target)} {shift.text}"
    above = f"{shift.start_above:.0%} -> {shift.end_above:.0%}"
    numbers = f"{shift.start:>7.2f}{shift.end:>6.2f}{shift.end - shift.start:>+z8.2f}{above:>15}"
    return f"  {cut(name, room - 3):<{room - 2}}{numbers}"


def _actions(summary: Summary) -> Iterator[str]:
    yield "What people did"
    if not summary.actions:
        yield "  nothing: nobody took a turn"
        return
    shares = [f"{each.action} {percent(each.share)}" for each in summary.actions]
    yield paragraph(", ".join(shares), indent="  ")
    verdicts = f"{summary.bought:,} bought and {summary.rejected:,} rejected"
    wrote = many(summary.posts, "post, comment or the like", "posts, comments and the like")
    yield paragraph(
        f"{verdicts} it, of {many(summary.personas, 'persona')}; {wrote} published; "
        f"{many(summary.reflections, 'reflection')}",
        indent="  ",
    )


def _minds(summary: Summary) -> Iterator[str]:
    if not summary.personas:
        return
    yield "Who changed their mind"
    if summary.claim_flips:
        yield paragraph(f"credence crossed .5: {_crossings(summary)}", indent="  ")
    for flip in summary.largest_flips[:2]:
        yield _flip(flip)
    moved = [
        f"{plain(each.persona_id)} {plain(each.target)} {each.before:.2f} -> {each.after:.2f}"
        for each in summary.movers
    ]
    yield paragraph(f"moved most: {', '.join(moved) or 'nobody moved'}", indent="  ")


def _crossings(summary: Summary) -> str:
    crossed = [
        f"{plain(each.claim_id)} {each.to_belief:,} up, {each.to_doubt:,} down"
        for each in summary.claim_flips
        if each.to_belief or each.to_doubt
    ]
    return "; ".join(crossed) or "never"


def _flip(flip: Flip) -> str:
    words = f"{plain(flip.persona_id)} at tick {flip.tick}, {plain(flip.claim_id)} "
    words += f"{flip.before:.2f} -> {flip.after:.2f}"
    if flip.text:
        words += f', after {cut(flip.author or "someone", 30)}: "{cut(flip.text, 70)}"'
    return paragraph(words, indent="  ", hanging="    ")


def _trust(summary: Summary) -> Iterator[str]:
    """Say whether the run can be relied on: failures, drift, notes and warnings."""
    if summary.status != "complete":
        yield f"Status    {summary.status}"
    failures = [_failure(each) for each in summary.failures]
    yield f"Failures  {failures[0] if failures else 'none'}"
    yield from (f"          {line}" for line in failures[1:])
    yield paragraph(f"Drift     {_drift(summary)}", hanging=" " * 10)
    for note in summary.notes:
        yield paragraph(f"Note      {plain(note)}", hanging=" " * 10)
    for warning in summary.warnings:
        yield paragraph(f"Warning   {warning}", hanging=" " * 10)


def _failure(failure: Failure) -> str:
    share = f"{failure.failed:,} of {failure.asked:,} ({percent(failure.share)})"
    kinds = f": {', '.join(failure.kinds[:4])}" if failure.kinds else ""
    return f"{failure.purpose} {share}{plain(kinds)}"


def _drift(summary: Summary) -> str:
    drift = summary.drift
    if drift is None:
        return "not measured: nobody was probed"
    rounds = many(drift.rounds, "round")
    asked = many(drift.probed, "persona")
    return (
        f"{drift.disagreed:,} of {asked} probed in {rounds} contradicted themselves, "
        f"in {drift.disagreeing_answers:,} of {many(drift.answers, 'answer')}"
    )


def _file(summary: Summary) -> Iterator[str]:
    yield f"Digest    {summary.digest or 'none'}"
    yield f"File      {plain(summary.path)}"


def _next(summary: Summary, again: Sequence[str], pair: tuple[str, str]) -> Iterator[str]:
    path, program = shlex.quote(summary.path), program_call()
    yield "Next"
    yield f"  {program} report {path}"
    yield f"  {program} tables {path}"
    if summary.movers:
        yield f"  {program} sql {path} {_quoted(_story(summary.movers[0].persona_id))}"
    if again:
        yield f"  {shlex.join(again)}"
    yield f"  {program} compare {shlex.join(pair)}"


def _story(persona_id: str) -> str:
    """Return the query for all that happened to a persona."""
    who = persona_id.replace("'", "''")
    return (
        "SELECT tick, what, detail FROM persona_timeline "  # noqa: S608 - words to show, quotes doubled
        f"WHERE persona_id = '{who}' ORDER BY tick, step"
    )


def _quoted(sql: str) -> str:
    """Return a query as one word of a shell, in double quotes where that is enough."""
    return shlex.quote(sql) if any(mark in sql for mark in '"$`\\!') else f'"{sql}"'
