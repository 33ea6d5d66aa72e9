"""What is recorded of calls: one row for each request that was put to a model."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simulation.calls.budget import NOTHING, PICO, Spend

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulation.calls.base import Call
    from simulation.calls.settings import ModelSettings
    from simulation.providers.base import Prompt, Request

INTERRUPTED: Final = "interrupted"
"""How the error of a request begins that its run did not wait for: it is no answer."""

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One row of the table `model_calls`; the number of a row is given by who writes it.

    attempt: 1 for a call's first request and 2 for its repair; a call that was asked word for
    word the same of the same persona in the same tick and purpose before has 3 and 4, and so on.
    request: the logical request as canonical JSON.  request_sha256: its digest.
    response: `{"finish":…,"text":…}`; None where nothing came back.
    input_tokens, cached_tokens, written_tokens, output_tokens: as the provider said; None where
    it did not.  cost_usd: their price; None where one of them or the price is not known.
    latency_s: seconds of the last try.  attempts: HTTP tries; 0 for a replayed answer.
    outcome: `ok`, `repaired` (the answer to a repair could be used), `invalid`, `refused`,
    `error`.  error: why not ok.
    billed: tries that may have been billed.  unconfirmed_usd, unconfirmed_tokens: the most that
    those of them may have cost and used of which no account came back.
    """

    tick: int
    persona_id: str | None
    purpose: str
    attempt: int
    provider: str
    model: str
    request_sha256: str
    request: str | None
    response: str | None
    input_tokens: int | None
    cached_tokens: int | None
    written_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    latency_s: float
    attempts: int
    outcome: str
    error: str | None
    billed: int
    unconfirmed_usd: float
    unconfirmed_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request with all that its record says of it; size: UTF-8 bytes of its JSON."""

    tick: int
    persona_id: str | None
    purpose: str
    attempt: int
    request: Request
    text: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over requests; what a provider did not report counts as nothing.

    calls, input_tokens, output_tokens: replayed answers included.  cost_usd, unconfirmed_usd:
    of what was sent.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unconfirmed_usd: float = 0.0


class Sums:
    """Totals that grow, by tick."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._ticks: dict[int, list[int]] = {}

    def add(self, record: CallRecord) -> None:
        """Add one request."""
        sums = self._ticks.setdefault(record.tick, [0, 0, 0, 0, 0])
        sums[0] += 1
        sums[1] += record.input_tokens or 0
        sums[2] += record.output_tokens or 0
        if record.attempts:  # what another run's file answered is not paid for again
            sums[3] += picousd(record.cost_usd)
            sums[4] += picousd(record.unconfirmed_usd)

    def of(self, tick: int) -> Totals:
        """Return the totals of a tick."""
        calls, read, written, cost, unconfirmed = self._ticks.get(tick, [0, 0, 0, 0, 0])
        return Totals(
            calls=calls,
            input_tokens=read,
            output_tokens=written,
            cost_usd=cost / PICO,
            unconfirmed_usd=unconfirmed / PICO,
        )


def spent_on(records: Iterable[CallRecord]) -> Spend:
    """Return what requests may have cost a budget; replayed answers cost nothing again."""
    total = NOTHING
    for record in records:
        if record.attempts:
            known = (record.input_tokens or 0) + (record.output_tokens or 0)
            total += Spend(
                picousd=picousd(record.cost_usd) + picousd(record.unconfirmed_usd),
                calls=record.billed,
                tokens=known + record.unconfirmed_tokens,
            )
    return total


def picousd(usd: float | None) -> int:
    """Return an amount in whole picodollars; None is nothing."""
    return round(usd * PICO) if usd else 0


def question(
    call: Call[Any], prompt: Prompt, request: Request, *, settings: ModelSettings, attempt: int
) -> Question:
    """Return a call's request with its canonical JSON and digest.

    Canonical: keys sorted, no spaces, UTF-8, lone surrogates as their escapes. Nothing that only
    concerns the way to the server is in it, so the digest outlives a change of address.
    """
    encoded = canonical(
        {
            "provider": settings.provider,
            "model": settings.model,
            "system": prompt.system,
            "persona": prompt.persona,
            "question": prompt.question,
            "schema": request.schema,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "effort": settings.effort,
        }
    )
    return Question(
        tick=call.tick,
        persona_id=call.persona_id,
        purpose=call.purpose,
        attempt=attempt,
        request=request,
        text=encoded.decode(),
        size=len(encoded),
        sha256=hashlib.sha256(encoded).hexdigest(),
    )


def canonical(value: object) -> bytes:
    r"""Return a JSON value as canonical bytes.

    >>> canonical({"b": "é", "a": "\ud800"})
    b'{"a":"\\ud800","b":"\xc3\xa9"}'
    """
    # backslashreplace writes a lone surrogate exactly as JSON escapes it.
    return _ENCODE(value).encode("utf-8", "backslashreplace")
