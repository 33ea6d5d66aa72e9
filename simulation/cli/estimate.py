"""`simulation estimate`: what will language models take?"""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import click

from simulation.cli.options import (
    access_options,
    debug_option,
    examples,
    json_option,
    scenario_argument,
    seed_option,
    set_option,
)
from simulation.cli.spent import money
from simulation.cli.text import many, paragraph, plain, print_json, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from simulation.planning import Estimate, Limit, Line, Range
    from simulation.scenario import Access

_THOUSAND, _MILLION, _BILLION = 10**3, 10**6, 10**9

_LOW = (
    "low: nobody says or moves anything, reflections come by cadence only, no answer is repaired, "
    "the shared beginning of each prompt is cached, answers are the shortest that can be used"
)
_HIGH = (
    "high: everybody publishes at every turn as much as an answer holds, every turn ends in a "
    "reflection, every answer is max_tokens long and asked for twice, nothing is cached"
)
_EXPECTED = "up to a tenth of the answers repaired, none longer than half of max_tokens"
_LEFT_OUT = (
    "not in it: tries that fail and may be billed all the same (timeouts, broken connections; at "
    "most calls.tries for each call), and that a persona in quarantine is not asked any more"
)


@click.command(
    "estimate",
    epilog=examples(
        "simulation estimate on_claude.yaml",
        "simulation estimate on_claude.yaml --set population.size=1000 --set budget.usd=20",
        "simulation estimate bar.yaml --set 'models.cheap={provider: openai, model: gpt-5-mini}'",
    ),
)
@scenario_argument
@seed_option
@set_option
@access_options
@json_option
@debug_option
def command(
    *,
    scenario: Path,
    seed: int | None,
    settings: tuple[str, ...],
    access: Access,
    as_json: bool,
) -> None:
    """Say what language models will take: calls, tokens, money and time.

    Plays the run with nobody asked, as tersely, as wordily and as the rule model would act, and
    measures the prompts. Nothing is sent and nothing is written; no key is needed.
    """
    from simulation.founding import read
    from simulation.planning import estimate

    loaded = read(scenario, settings=settings, access=access)
    found = estimate(loaded, seed=seed, on_tick=None if as_json else _on_tick)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo("\n\n".join("\n".join(block) for block in _blocks(found) if block))


def _on_tick(done: int, ticks: int) -> None:
    """Show on a terminal how far the two worlds are."""
    if sys.stderr is not None and sys.stderr.isatty():
        end = "\r" + " " * 40 + "\r" if done == ticks else ""
        with contextlib.suppress(OSError):
            click.echo(f"\rplaying the run, tick {done:,} of {ticks:,}{end}", err=True, nl=False)


def _blocks(found: Estimate) -> Iterator[Sequence[str]]:
    yield (paragraph(_head(found)),)
    if found.total is None:
        return
    for name in dict.fromkeys((line.model, line.host) for line in found.lines):
        lines = [line for line in found.lines if (line.model, line.host) == name]
        yield (f"{plain(name[0])} at {plain(name[1])}", *_table(lines))
    yield tuple(_sums(found, found.total))
    yield tuple(paragraph(plain(note), hanging="  ") for note in found.notes)
    yield tuple(paragraph(text, indent="  ", hanging="    ") for text in (_LOW, _HIGH, _LEFT_OUT))


def _head(found: Estimate) -> str:
    size = f"{many(found.personas, 'persona')}, {many(found.ticks, 'tick')}"
    head = f"{plain(found.scenario)}, seed {found.seed}: {size}"
    if found.total is None:
        return f"{head}; the rule model takes all turns: no language model is asked, at no cost"
    prompts = f"{found.rendered:,} rendered prompts"
    return f"{head}, {many(found.turns, 'turn')}; from {prompts}, nothing was sent"


def _table(lines: Sequence[Line]) -> Iterator[str]:
    yield f"  {'purpose':<11}{'calls':>17}{'tokens in':>16}{'tokens out':>16}{'USD':>18}"
    yield from (_row(line) for line in lines)


def _row(line: Line) -> str:
    cells = (line.calls, line.input_tokens, line.output_tokens)
    shown = [span(cell, short) for cell in cells]
    cost = "unknown" if line.cost_usd is None else span(line.cost_usd, cents)
    return f"  {line.purpose:<11}{shown[0]:>17}{shown[1]:>16}{shown[2]:>16}{cost:>18}"


def _sums(found: Estimate, total: Line) -> Iterator[str]:
    yield f"Total    {span(total.calls, short)} calls"
    tokens = total.input_tokens + total.output_tokens
    yield f"         {span(tokens, short)} tokens"
    cost = "of unknown cost" if total.cost_usd is None else f"{span(total.cost_usd, cents)} USD"
    yield f"         {cost}"
    if total.expected is not None and total.cost_usd is not None and total.cost_usd.high:
        words = f"Expect   {span(total.expected, cents)} USD if models act as the rule model does"
        yield paragraph(f"{words}; {_EXPECTED}", hanging=" " * 9)
    if found.seconds is not None:
        yield (
            f"Time     {span(found.seconds, seconds)}, with answers in 1 to 5 s and "
            f"{found.concurrency} at a time"
        )
    for limit in found.budget:
        yield paragraph(f"Budget   {_limit(limit)}", hanging=" " * 9)


def _limit(limit: Limit) -> str:
    show = cents if limit.name == "usd" else short
    need = f"a run needs {span(limit.needed, show)} free"
    return f"budget.{limit.name} of {show(limit.limit)} is {limit.verdict}: {need}"


def span(values: Range, show: Callable[[float], str]) -> str:
    """Return a range as text: `0.93-64`, or one value where both ends are the same."""
    low, high = show(values.low), show(values.high)
    return low if low == high else f"{low} - {high}"


def short(number: float) -> str:
    """Return a number in few characters.

    >>> short(950), short(7_208), short(61_540), short(2_636_177)
    ('950', '7,208', '61.5k', '2.64M')
    """
    for size, letter in ((_BILLION, "G"), (_MILLION, "M"), (10 * _THOUSAND, "k")):
        if number >= size:
            value = number / (_THOUSAND if letter == "k" else size)
            return f"{value:.3g}{letter}" if value < _THOUSAND else f"{value:,.0f}{letter}"
    return f"{number:,.0f}"


def cents(usd: float) -> str:
    """Return US dollars: two decimals, or more where two would hide it."""
    return money(usd)
