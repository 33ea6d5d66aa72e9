"""Prices of language models, and what a request costs.

Money is counted in whole picodollars (1e-12 USD): a price of 0.005 USD per million tokens is 5,000
of them for a token, so sums are exact, in any order, however many calls there are.
"""

from __future__ import annotations

import ipaddress
import math
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from simulation.yaml_reading import read_plain_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

_PER_TOKEN: Final = 10**6  # picodollars a token for one dollar per million tokens
_DATED: Final = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LongPrompts:
    """What requests with more than `above` input tokens cost, as factors on the whole request."""

    above: int
    input: float
    output: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD per million tokens, each >= 0.

    cached_input, cache_write: tokens read from and written into the provider's prompt cache; None
    for the price of other input.  long: a surcharge on long prompts.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    long: LongPrompts | None = None


FREE: Final = Price(input=0.0, output=0.0)
"""The price of a model on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    """Picodollars a token."""

    read: int
    cached: int
    written: int
    answered: int

    @property
    def dearest(self) -> int:
        return max(self.read, self.cached, self.written)


class Tariff:
    """A price, ready to be applied; results are whole picodollars, never rounded down."""

    def __init__(self, price: Price) -> None:
        """Work out what a token costs."""
        self._usual = _rates(price, 1.0, 1.0)
        self._long = self._usual
        self._above: float = math.inf
        if price.long is not None:
            self._long = _rates(price, price.long.input, price.long.output)
            self._above = price.long.above

    def cost(
        self,
        input_tokens: int,
        output_tokens: int,
        *,
        cached_tokens: int | None = None,
        written_tokens: int | None = None,
    ) -> int:
        """Return what a request costs.

        cached_tokens: of the input, read from a cache; None counts as none.  written_tokens: of
        the rest, written into one; None: the provider did not say, so all of it may have been.
        """
        rates = self._long if input_tokens > self._above else self._usual
        cached = min(cached_tokens or 0, input_tokens)
        fresh = input_tokens - cached
        if written_tokens is None:
            paid = fresh * max(rates.read, rates.written)
        else:
            written = min(written_tokens, fresh)
            paid = (fresh - written) * rates.read + written * rates.written
        return paid + cached * rates.cached + output_tokens * rates.answered

    def maximum(self, input_tokens: int, output_tokens: int) -> int:
        """Return the most that a request of at most so many tokens can cost."""
        costs = [
            input_tokens * rates.dearest + output_tokens * rates.answered
            for rates in (self._usual, self._long)
        ]
        return max(costs) if input_tokens > self._above else costs[0]


def price_of(provider: str, model: str, host: str) -> Price | None:
    """Return what a model costs, or None where that is not known.

    host: host that is asked, with or without a port: models on this machine cost nothing. A date
    or `-latest` at the end of a name is left out when the table does not know the name with it.
    """
    if _is_loopback(host):
        return FREE
    table = _tables().get(provider, {})
    return table.get(model) or table.get(_DATED.sub("", model))


def _rates(price: Price, more_input: float, more_output: float) -> _Rates:
    cached = price.input if price.cached_input is None else price.cached_input
    written = price.input if price.cache_write is None else price.cache_write
    return _Rates(
        read=_rate(price.input * more_input),
        cached=_rate(cached * more_input),
        written=_rate(written * more_input),
        answered=_rate(price.output * more_output),
    )


def _rate(usd_per_million: float) -> int:
    # Rounding first forgives binary fractions: 0.07 * 1e6 is a hair above 70,000.
    return math.ceil(round(usd_per_million * _PER_TOKEN, 3))


def _is_loopback(host: str) -> bool:
    name = host.rpartition(":")[0] if re.search(r"[^:]:\d+$|\]:\d+$", host) else host
    name = name.strip("[]").rstrip(".").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@cache
def _tables() -> dict[str, dict[str, Price]]:
    """Return provider: model: price, aliases included."""
    text = resources.files(__package__).joinpath("prices.yaml").read_text(encoding="utf-8")
    return {provider: _table(part) for provider, part in read_plain_yaml(text).data.items()}


def _table(part: Mapping[str, Any]) -> dict[str, Price]:
    table = {model: _price(values) for model, values in part["models"].items()}
    return table | {alias: table[model] for alias, model in part.get("aliases", {}).items()}


def _price(values: Mapping[str, Any]) -> Price:
    long = values.get("long")
    usual = {name: float(value) for name, value in values.items() if name != "long"}
    return Price(**usual, long=None if long is None else LongPrompts(**long))
