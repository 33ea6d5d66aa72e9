"""What a run may spend on language models, and has spent; `ledger` keeps the two apart.

Needs no event loop: whoever reads a run database imports it, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulation.errors import RunStoppedError

PICO: Final = 10**12
"""Picodollars in a dollar: prices are whole numbers of them, so sums are exact."""


class BudgetExhaustedError(RunStoppedError):
    """The next try could pass a limit of the budget.

    name: of the limit, usd, calls or tokens.  more: a value of it to go on with, as it is set:
    twice what it was, and enough for the next try.
    """

    def __init__(self, message: str, *, name: str = "", more: str = "") -> None:
        """Say which limit was hit."""
        super().__init__(message)
        self.name = name
        self.more = more


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard limits of a run, each > 0; None for no limit.

    usd: money.  calls: tries that a provider may have billed; one that it turned away does not
    count.  tokens: read and written.
    """

    usd: float | None = None
    calls: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """An amount of each kind that is limited; `picousd` are 1e-12 USD."""

    picousd: int = 0
    calls: int = 0
    tokens: int = 0

    def __add__(self, other: Spend) -> Spend:
        """Return the sum of two amounts."""
        return Spend(
            picousd=self.picousd + other.picousd,
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
        )

    def __sub__(self, other: Spend) -> Spend:
        """Return the difference of two amounts."""
        return Spend(
            picousd=self.picousd - other.picousd,
            calls=self.calls - other.calls,
            tokens=self.tokens - other.tokens,
        )

    @property
    def usd(self) -> float:
        """The money in USD."""
        return self.picousd / PICO


NOTHING: Final = Spend()
