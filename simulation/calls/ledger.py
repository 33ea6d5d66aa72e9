"""The ledger of a run: what was spent, and whether one more try may be.

Each try reserves the most that it can cost before it is sent and settles at what it used, so the
limits are hard: whatever is answered, and whatever fails, what may have been billed never passes
them. (A server that bills more than it was asked for can; then nothing more is sent.)
"""

from __future__ import annotations

import asyncio
from collections import deque
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from simulation.calls.budget import NOTHING, PICO, BudgetExhaustedError, Limits, Spend

if TYPE_CHECKING:
    from collections.abc import Iterator


NO_LIMITS = Limits()


class Ledger:
    """Keeps the budget; all methods run on one event loop.

    Reservations are granted in the order in which they were asked for: a small one never overtakes
    a large one that waits.
    """

    def __init__(self, limits: Limits, *, spent_before: Spend = NOTHING) -> None:
        """Start with what was spent before, by an earlier part of the same run."""
        self.spent = spent_before
        self._limits = limits
        self._reserved = NOTHING
        self._open = 0
        self._waiting: deque[tuple[Spend, asyncio.Future[None]]] = deque()
        self._refusal: BudgetExhaustedError | None = None

    async def reserve(self, most: Spend) -> None:
        """Set the most that a try can use aside; waits for those in flight where it must.

        Raises:
            BudgetExhaustedError: it does not fit, and nothing is in flight that could make room;
                from then on nothing does: what is cheaper must not overtake.
        """
        if self._refusal is not None:
            raise self._refusal
        if not self._waiting and self._fits(most):
            self._take(most)
            return
        ticket = asyncio.get_running_loop().create_future()
        self._waiting.append((most, ticket))
        self._admit()
        try:
            await ticket
        except asyncio.CancelledError:
            self._withdraw(most, ticket)
            raise

    def settle(self, most: Spend, used: Spend) -> None:
        """Give a reservation back and book what was used of it."""
        self._reserved -= most
        self._open -= 1
        self.spent += used
        self._admit()

    def _take(self, most: Spend) -> None:
        self._reserved += most
        self._open += 1

    def _withdraw(self, most: Spend, ticket: asyncio.Future[None]) -> None:
        """Forget a wait that was cancelled, also where it was granted a moment before."""
        if ticket.done() and not ticket.cancelled() and ticket.exception() is None:
            self.settle(most, NOTHING)
        else:
            self._waiting = deque(entry for entry in self._waiting if entry[1] is not ticket)
            self._admit()

    def _admit(self) -> None:
        """Grant what fits, in order; end all waits where nothing can make room any more."""
        while self._waiting and self._fits(self._waiting[0][0]):
            most, ticket = self._waiting.popleft()
            if not ticket.done():
                self._take(most)
                ticket.set_result(None)
        if self._waiting and self._open == 0:
            self._refusal = self._refused(self._waiting[0][0])
            for _, ticket in self._waiting:
                if not ticket.done():
                    ticket.set_exception(self._refusal)
            self._waiting.clear()

    def _fits(self, most: Spend) -> bool:
        if self._limits == NO_LIMITS:
            return True
        return next(self._passed(self.spent + self._reserved + most), None) is None

    def _passed(self, total: Spend) -> Iterator[str]:
        """Yield the names of the limits that a total would pass."""
        limits = self._limits
        if limits.usd is not None and total.picousd > limits.usd * PICO:
            yield "usd"
        if limits.calls is not None and total.calls > limits.calls:
            yield "calls"
        if limits.tokens is not None and total.tokens > limits.tokens:
            yield "tokens"

    def _refused(self, most: Spend) -> BudgetExhaustedError:
        total, limits = self.spent + most, self._limits
        name = next(self._passed(total))
        limit, spent, needed, more = {
            "usd": (
                f"{limits.usd} USD",
                f"{self.spent.usd:.6g}",
                f"{most.usd:.6g} USD",
                rounded_up(max(2 * (limits.usd or 0.0), total.usd)),
            ),
            "calls": (
                str(limits.calls),
                str(self.spent.calls),
                "1",
                str(max(2 * (limits.calls or 0), total.calls)),
            ),
            "tokens": (
                str(limits.tokens),
                str(self.spent.tokens),
                str(most.tokens),
                str(max(2 * (limits.tokens or 0), total.tokens)),
            ),
        }[name]
        return BudgetExhaustedError(
            f"the budget is spent: budget.{name} is {limit}, {spent} may have been used, and the "
            f"next call could take up to {needed}",
            name=name,
            more=more,
        )


def rounded_up(amount: float) -> str:
    """Return a positive amount with two digits that say something, never less than it was.

    >>> rounded_up(10.0), rounded_up(0.0341), rounded_up(1234.0), rounded_up(2.0e-6)
    ('10', '0.035', '1300', '0.000002')
    """
    exact = Decimal(repr(amount))
    step = Decimal(1).scaleb(exact.adjusted() - 1)
    return f"{(exact / step).to_integral_value(ROUND_CEILING) * step:f}".rstrip(".")
