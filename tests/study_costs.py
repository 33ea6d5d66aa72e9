"""The table of docs/models.md: what a study costs. Run this file to make it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simulation.calls.prices import price_of
from simulation.cli.estimate import cents, span
from simulation.founding import read
from simulation.planning import estimate
from simulation.scenario.addresses import OWN_HOSTS

if TYPE_CHECKING:
    from collections.abc import Iterator

STUDY = Path(__file__).resolve().parents[1] / "scenarios" / "protein_bar.yaml"
HEAD = (
    "| cheap tier | frontier tier | prices in, out | low - high, USD | to be expected, USD |",
    "|---|---|---|---|---|",
)
PAIRS = (
    ("openai:gpt-6-luna", "openai:gpt-6-luna"),
    ("anthropic:claude-haiku-5-5", "anthropic:claude-haiku-5-5"),
    ("openai:gpt-6-luna", "openai:gpt-6.2-sol"),
    ("anthropic:claude-haiku-5-5", "anthropic:claude-sonnet-5-5"),
    ("openai:gpt-6.1-terra", "openai:gpt-6.1-terra"),
    ("openai:gpt-6.2-sol", "openai:gpt-6.2-sol"),
    ("anthropic:claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"),
    ("anthropic:claude-opus-5-5", "anthropic:claude-opus-5-5"),
)


def prices(*models: str) -> str:
    """Return the prices of models, each once, as the table has them."""
    told = []
    for model in dict.fromkeys(models):
        provider, _, name = model.partition(":")
        price = price_of(provider, name, OWN_HOSTS[provider])
        assert price is not None, model
        told.append(f"{price.input:g}, {price.output:g}")
    return "; ".join(told)


def row(cheap: str, frontier: str) -> str:
    """Return the row of a pair of models: an estimate of the study as it ships."""
    settings = [
        f"models.{tier}={{provider: {model.replace(':', ', model: ')}}}"
        for tier, model in (("cheap", cheap), ("frontier", frontier))
    ]
    total = estimate(read(STUDY, settings=settings)).total
    assert total is not None
    assert total.cost_usd is not None
    assert total.expected is not None
    cells = (
        f"`{cheap.partition(':')[2]}`",
        f"`{frontier.partition(':')[2]}`",
        prices(cheap, frontier),
        span(total.cost_usd, cents),
        span(total.expected, cents),
    )
    return f"| {' | '.join(cells)} |"


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    yield from HEAD
    for pair in PAIRS:
        yield row(*pair)


if __name__ == "__main__":
    print("\n".join(table()))  # noqa: T201 - run by hand
