"""What calls come to: their number, and measures of prompts that were really rendered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulation.planning.measures import Sums, size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.calls.base import Call
    from simulation.models.targets import Target

SAMPLE: Final = 16
"""Prompts rendered of one batch of calls, evenly spaced; all of a smaller one."""


class Batch(NamedTuple):
    """Calls put together. again: an invalid answer is asked for once more."""

    tick: int
    purpose: str
    calls: int
    again: bool


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts the calls to one model in a world, and measures some.

    measures: each takes a call and returns what it comes to.  sums: purpose: one total per
    measure.  largest: bytes of the longest request seen.  rendered: prompts that were measured.
    """

    target: Target
    measures: tuple[Callable[[Call[Any], Target], Sums], ...]
    batches: list[Batch] = field(default_factory=list)
    sums: dict[str, tuple[Sums, ...]] = field(default_factory=dict)
    largest: int = 0
    rendered: int = 0

    def note(self, calls: Sequence[Call[Any]]) -> None:
        """Count a batch of calls of one purpose, and measure some of them."""
        first = calls[0]
        again = first.repair is not None
        self.batches.append(
            Batch(tick=first.tick, purpose=first.purpose, calls=len(calls), again=again)
        )
        totals = self.of(first.purpose)
        count = min(SAMPLE, len(calls))
        for i in range(count):
            call = calls[i * len(calls) // count]
            for total, measure in zip(totals, self.measures, strict=True):
                total.add(measure(call, self.target), len(calls) / count)
        self.largest = max(self.largest, size(calls[-1]))
        self.rendered += count
        self.sums[first.purpose] = totals

    def of(self, purpose: str) -> tuple[Sums, ...]:
        """Return the totals of a purpose, one per measure."""
        return self.sums.get(purpose) or tuple(Sums() for _ in self.measures)

    def calls(self, purpose: str) -> int:
        """Return how many calls of a purpose there were."""
        return sum(batch.calls for batch in self.batches if batch.purpose == purpose)
