"""What the user decides about calls: plain values, whatever scenario they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulation.calls.prices import Price

HUNG: Final = 30
"""Timeouts after which a provider must have lost track of a request: a streamed answer may take
twenty of them, and a server may be asked in several ways before it takes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How requests are sent.

    concurrency: requests in flight at a time at one host, >= 1.  requests_per_minute: most tries
    in any minute at one host, >= 1; None for no limit.  tries: HTTP tries of one request, >= 1.
    timeout: seconds that a provider gives an answer, or each piece of a streamed one. It sees to
    that itself; a try that takes `HUNG` times as long is given up whatever it does. None: never.
    """

    concurrency: int = 32
    requests_per_minute: int | None = None
    tries: int = 5
    timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """One model.

    provider, model: as the run records them; they are part of a request's digest.  max_tokens:
    longest answer, >= 1.  temperature: None for the provider's own.  price: None for an unknown
    one; then costs are unknown, too, and no budget in USD can be kept.  effort: how much a
    reasoning model thinks; None for the provider's own.
    """

    provider: str
    model: str
    max_tokens: int
    temperature: float | None
    price: Price | None
    effort: str | None = None

    @property
    def name(self) -> str:
        """Provider and model, as the run records them.

        >>> ModelSettings(
        ...     provider="openai", model="gpt", max_tokens=1, temperature=None, price=None
        ... ).name
        'openai:gpt'
        """
        return f"{self.provider}:{self.model}"
