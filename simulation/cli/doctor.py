"""`simulation doctor`: do the language models of a scenario answer, and how?"""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simulation.cli.options import (
    access_options,
    debug_option,
    examples,
    json_option,
    scenario_argument,
    set_option,
)
from simulation.cli.text import paragraph, plain, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulation.planning import EncoderFinding, Examination, ModelFinding
    from simulation.scenario import Access

_BAD = 2  # exit code


@click.command(
    "doctor",
    epilog=examples(
        "simulation doctor on_claude.yaml",
        "simulation doctor on_claude.yaml --free",
        "simulation doctor bar.yaml --set 'models.cheap={provider: openai, model: gpt-5-mini}'",
    ),
)
@scenario_argument
@set_option
@access_options
@click.option("--free", is_flag=True, help="Leave out the tiny call, and all that may be billed.")
@json_option
@debug_option
@click.pass_context
def command(
    context: click.Context,
    *,
    scenario: Path,
    settings: tuple[str, ...],
    access: Access,
    free: bool,
    as_json: bool,
) -> None:
    """Check the language models of a scenario, and its encoder.

    Asks each whether key, model and network are in order, which costs nothing; then puts one tiny
    question to each language model, a fraction of a cent. Exits with 0 when all can be used, else
    with 2.
    """
    from simulation.founding import read
    from simulation.planning import examine

    found = examine(read(scenario, settings=settings, access=access), free=free)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo("\n".join(_told(found)))
    if not found.ok:
        context.exit(_BAD)


def _told(found: Examination) -> Iterator[str]:
    for model in found.models:
        yield from _model(model)
    if not found.models:
        yield "rule: nothing to check; the embedded model takes all turns"
    yield _encoder(found.encoder)


def _model(model: ModelFinding) -> Iterator[str]:
    head = f"{plain(model.model)} at {plain(model.host)} ({' and '.join(model.tiers)})"
    if model.problem is not None:
        yield f"{head}: {plain(model.problem)}"
        return
    yield f"{head}: ok"
    for text in (*_facts(model), *model.notes):
        yield paragraph(plain(text), indent="  ", hanging="    ")


def _facts(model: ModelFinding) -> Iterator[str]:
    price = "unknown"
    if model.price == (0.0, 0.0):
        price = "nothing"
    elif model.price is not None:
        price = f"{model.price[0]:g} and {model.price[1]:g} USD per million tokens in and out"
    yield f"key {model.key}; price {price}"
    if model.latency_s is None:
        yield "no call was made"
        return
    tokens = "tokens not told"
    if model.usage:
        tokens = f"{model.input_tokens:,} tokens in, {model.output_tokens:,} out"
    yield f"answered in {model.latency_s:.2f} s; {tokens}"
    yield (f"JSON by {model.structured}; temperature {model.temperature}; effort {model.effort}")


def _encoder(found: EncoderFinding) -> str:
    host = f" at {plain(found.host)}, key {found.key}" if found.host else ""
    head = f"encoder {plain(found.name)}{host}"
    if found.problem is not None:
        return f"{head}: {plain(found.problem)}"
    width = "not asked" if found.width is None else f"ok, {found.width} components"
    return f"{head}: {width}"
