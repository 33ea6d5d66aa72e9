"""Prices: found by name, applied to the picodollar."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.calls import prices
from simulation.calls.prices import (
    FREE,
    LongPrompts,
    Price,
    Tariff,
    _tables,
    price_of,
)
from simulation.yaml_reading import read_plain_yaml

HOST = "api.anthropic.com"
LONG = Price(
    input=2.0,
    output=10.0,
    cached_input=0.1,
    cache_write=2.5,
    long=LongPrompts(above=1000, input=2.0, output=1.5),
)
USD = 1e12


@pytest.mark.parametrize(
    ("provider", "model", "price"),
    [
        ("anthropic", "claude-haiku-4-5", 1.0),
        ("anthropic", "claude-haiku-4-5-20251001", 1.0),
        ("anthropic", "claude-opus-5-5-latest", 4.0),
        ("openai", "gpt-4o-2024-11-20", 2.5),
        ("openai", "gpt-4o-mini", 0.15),
        ("openai", "gpt-6-luna", 0.1),
        ("openai", "gpt-5.6", 5.0),
    ],
)
def test_a_model_is_found_by_its_name_or_alias_with_or_without_a_date(
    provider: str, model: str, price: float
) -> None:
    found = price_of(provider, model, HOST)
    assert found is not None
    assert found.input == price


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "claude-haiku-4-5"),
        ("anthropic", "claude-haiku-9"),
        ("openai", "gpt-5-2025-preview"),
        ("other", "gpt-5"),
    ],
)
def test_a_model_that_is_not_in_the_table_has_no_price(provider: str, model: str) -> None:
    assert price_of(provider, model, HOST) is None


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:80", "[::1]:80", "::1", "[::1]"],
)
def test_a_model_on_this_machine_is_free(host: str) -> None:
    assert price_of("openai", "anything", host) is FREE


@pytest.mark.parametrize("host", ["localhost.example.com", "10.0.0.1:80", "128.0.0.1", ""])
def test_a_model_elsewhere_is_not(host: str) -> None:
    assert price_of("openai", "anything", host) is None


def test_every_price_of_the_table_makes_sense() -> None:
    tables = _tables()
    assert sorted(tables) == ["anthropic", "openai"]
    assert sum(len(table) for table in tables.values()) >= 20
    for table in tables.values():
        for price in table.values():
            assert 0.0 < (price.cached_input or 0.0) < price.input < price.output
            assert price.cache_write is None or price.cache_write > price.input
            assert price.long is None or min(price.long.input, price.long.output) > 1.0


def test_the_table_says_where_and_when_it_was_read() -> None:
    text = (Path(prices.__file__).parent / "prices.yaml").read_text(encoding="utf-8")
    for part in read_plain_yaml(text).data.values():
        assert part["source"].startswith("https://")
        assert date.fromisoformat(str(part["read"])) >= date(2026, 11, 1)


def test_each_kind_of_token_has_its_price() -> None:
    tariff = Tariff(LONG)
    cost = tariff.cost(100, 10, cached_tokens=60, written_tokens=30)
    assert cost == round((10 * 2.0 + 60 * 0.1 + 30 * 2.5 + 10 * 10.0) * 1e6)


def test_input_that_may_have_been_written_to_the_cache_counts_as_if_it_was() -> None:
    tariff = Tariff(LONG)
    assert tariff.cost(100, 0, cached_tokens=60) == tariff.cost(
        100, 0, cached_tokens=60, written_tokens=40
    )


def test_a_price_without_a_cache_prices_all_input_alike() -> None:
    tariff = Tariff(Price(input=3.0, output=6.0))
    assert tariff.cost(100, 0, cached_tokens=50, written_tokens=50) == 300_000_000
    assert tariff.cost(100, 0) == 300_000_000


def test_a_long_prompt_costs_more_from_its_first_token_on() -> None:
    tariff = Tariff(LONG)
    assert tariff.cost(1000, 10, written_tokens=0) == round((1000 * 2 + 10 * 10) * 1e6)
    assert tariff.cost(1001, 10, written_tokens=0) == round((1001 * 4 + 10 * 15) * 1e6)


def test_binary_fractions_do_not_make_prices_dearer() -> None:
    for price in (0.07, 0.1, 0.125, 0.29, 4.35):
        assert Tariff(Price(input=price, output=0.0)).cost(10**6, 0) == round(price * USD)


@given(
    read=st.integers(0, 3000),
    written=st.integers(0, 500),
    spare=st.tuples(st.integers(0, 500), st.integers(0, 500)),
    cached=st.none() | st.integers(0, 3000),
    stored=st.none() | st.integers(0, 3000),
    price=st.sampled_from([LONG, Price(input=3.0, output=6.0), FREE]),
)
def test_the_most_is_never_less_than_the_cost(
    read: int,
    written: int,
    spare: tuple[int, int],
    cached: int | None,
    stored: int | None,
    price: Price,
) -> None:
    tariff = Tariff(price)
    cost = tariff.cost(read, written, cached_tokens=cached, written_tokens=stored)
    assert 0 <= cost <= tariff.maximum(read + spare[0], written + spare[1])
