"""The page on language models: its examples work, and its figures are those of today's code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from small import SMALL
from study_costs import HEAD, PAIRS, prices, row

from simulation.calls import prices as price_room
from simulation.calls.base import PURPOSES
from simulation.scenario import Access, load_text
from simulation.scenario.addresses import KEY_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "models.md"
TEXT = PAGE.read_text("utf-8")


def examples() -> Iterator[dict[str, Any]]:
    for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL):
        yield yaml.safe_load(block)


def table() -> list[str]:
    """Return the lines of the table of costs."""
    lines = TEXT.splitlines()
    start = lines.index(HEAD[0])
    assert lines[start + 1] == HEAD[1]
    return lines[start + 2 : start + 2 + len(PAIRS)]


@pytest.mark.parametrize("example", list(examples()), ids=lambda each: next(iter(each)))
def test_every_example_is_part_of_a_scenario_that_can_be_read(example: dict[str, Any]) -> None:
    text = yaml.safe_dump(SMALL | example, sort_keys=False)
    access = Access(allow_hosts=("gpu.example.org",))
    assert load_text(text, access=access).scenario.models is not None


def test_the_page_names_keys_hosts_and_purposes() -> None:
    for name in (*KEY_VARIABLES.values(), "--allow-host", "--key-for", "--no-price"):
        assert name in TEXT
    asked = [each for each in PURPOSES if each not in ("importance", "interview")]
    for purpose in asked:
        assert f"\n| `{purpose}` |" in TEXT


def test_the_prices_in_the_table_of_costs_are_those_of_the_engine() -> None:
    for line, (cheap, frontier) in zip(table(), PAIRS, strict=True):
        names = [model.partition(":")[2] for model in (cheap, frontier)]
        assert line.startswith(f"| `{names[0]}` | `{names[1]}` | {prices(cheap, frontier)} |")


def test_the_table_of_costs_names_the_day_of_the_prices() -> None:
    written = Path(price_room.__file__).with_name("prices.yaml").read_text("utf-8")
    days = set(re.findall(r"^  read: (\S+)$", written, re.MULTILINE))
    assert days
    assert all(f"prices of {day}" in " ".join(TEXT.split()) for day in days)


@pytest.mark.slow
def test_the_table_of_costs_can_be_made_again() -> None:
    assert table()[2] == row(*PAIRS[2]), "make it again: python tests/study_costs.py"
