"""The way of one request to a model and back: budget, pace, tries, back-off."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from simulation.calls.backoff import LONGEST_WAIT, waiting_time
from simulation.calls.budget import NOTHING, Spend
from simulation.calls.prices import Tariff
from simulation.calls.settings import HUNG
from simulation.providers.base import (
    Completion,
    ProviderError,
    RateLimitedError,
    TransientError,
)

if TYPE_CHECKING:
    from simulation.calls.ledger import Ledger
    from simulation.calls.pace import Pace
    from simulation.calls.prices import Price
    from simulation.calls.record import Question
    from simulation.calls.settings import Settings
    from simulation.providers.base import Provider, Request
    from simulation.rng import Streams

TEMPLATE_TOKENS: Final = 1024
"""Tokens that a provider may add to a request: its chat template, what it says about a schema or
a tool. Anthropic adds up to about 800 for tools, the others less."""

LONGEST_ANSWER: Final = 200_000
"""Characters of an answer that are looked at; a longer one counts as cut off."""


@dataclass(slots=True, kw_only=True)
class Halt:
    """Whether nothing more may be sent."""

    on: bool = False


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a request has come to so far; it grows while the request is under way.

    picousd: what it cost as far as that is certain; None where it is not.
    """

    question: Question
    attempts: int = 0
    latency: float = 0.0
    billed: int = 0
    completion: Completion | None = None
    picousd: int | None = None
    unconfirmed: Spend = NOTHING
    trouble: str = ""


class Exchange:
    """Puts requests to one model; all methods run on one event loop."""

    def __init__(
        self,
        provider: Provider,
        *,
        price: Price | None,
        ledger: Ledger,
        pace: Pace,
        settings: Settings,
        streams: Streams,
        halt: Halt,
    ) -> None:
        """Join the parts; nothing is sent yet."""
        self.provider = provider
        self.sending: set[asyncio.Task[object] | None] = set()
        self._tariff = Tariff(price) if price is not None else None
        self._ledger = ledger
        self._pace = pace
        self._settings = settings
        self._streams = streams
        self._halt = halt
        self._longest = None if settings.timeout is None else HUNG * settings.timeout

    async def send(self, tally: Tally) -> Completion:
        """Return the completion of a request, after as many tries as it takes.

        Raises:
            ProviderError: there is none; the error of the last try.
            BudgetExhaustedError: one more try could pass the budget.
            CancelledError: nothing more may be sent.
        """
        while True:
            self._heed_halt()
            try:
                return await self._try(tally)
            except TransientError as error:
                tally.trouble = str(error)
                if self._is_last(tally, error):
                    raise
                retry_after = error.retry_after
            self._heed_halt()
            await asyncio.sleep(self._wait(tally, retry_after))

    def _heed_halt(self) -> None:
        if self._halt.on:
            raise asyncio.CancelledError

    def _is_last(self, tally: Tally, error: TransientError) -> bool:
        too_long = (error.retry_after or 0.0) > LONGEST_WAIT
        return too_long or tally.attempts >= self._settings.tries

    def _wait(self, tally: Tally, retry_after: float | None) -> float:
        question = tally.question
        return waiting_time(
            self._streams,
            tick=question.tick,
            stream_id=f"{question.persona_id}|{question.attempt}|{question.sha256}",
            failed=tally.attempts,
            retry_after=retry_after,
        )

    async def _try(self, tally: Tally) -> Completion:
        most = self._most(tally.question)
        await self._ledger.reserve(most)
        used = NOTHING
        try:
            await self._enter()
            used = most  # until the opposite is known
            try:
                completion = await self._sent(tally)
            except ProviderError as error:
                used = most if error.billed else NOTHING
                raise
            used = self._account(tally, completion, most)
        finally:
            if tally.completion is None:
                tally.billed += used.calls
                tally.unconfirmed += used
            self._ledger.settle(most, used)
        return completion

    async def _enter(self) -> None:
        await self._pace.enter()
        if self._halt.on:
            self._pace.leave()
            raise asyncio.CancelledError

    async def _sent(self, tally: Tally) -> Completion:
        """Send a request once, in its place."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        tally.attempts += 1
        started = loop.time()
        completed = False
        self.sending.add(task)
        try:
            completion = await self._completion(tally.question.request)
            completed = True
        except RateLimitedError as error:
            wait = error.retry_after
            heeded = wait is not None and wait <= LONGEST_WAIT
            self._pace.slow_down(sent_at=started, retry_after=wait if heeded else None)
            raise
        finally:
            self.sending.discard(task)
            tally.latency = loop.time() - started
            self._pace.leave(success=completed)
        return completion

    async def _completion(self, request: Request) -> Completion:
        try:
            async with asyncio.timeout(self._longest):
                completion = await self.provider.complete(request)
        except TimeoutError:
            raise TransientError("no answer in time", billed=True) from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Nobody here cancelled anything: an SDK gave its own request up.
            raise TransientError("the request was given up on the way", billed=True) from None
        except ProviderError:
            raise
        except Exception as error:  # whatever an SDK raises, the run goes on
            raise TransientError(
                f"unexpected {type(error).__name__}: {error}", billed=True
            ) from error
        if len(completion.text) > LONGEST_ANSWER:
            return replace(completion, text=completion.text[:LONGEST_ANSWER], finish="length")
        return completion

    def _most(self, question: Question) -> Spend:
        """Return the most that a try can use: a token has at least one byte."""
        read, written = question.size + TEMPLATE_TOKENS, question.request.max_tokens
        picousd = self._tariff.maximum(read, written) if self._tariff is not None else 0
        return Spend(picousd=picousd, calls=1, tokens=read + written)

    def _account(self, tally: Tally, completion: Completion, most: Spend) -> Spend:
        """Note what a completion used and return it, at most where the provider did not say."""
        read, written = completion.input_tokens, completion.output_tokens
        tally.completion = completion
        tally.billed += 1
        if read is not None and written is not None:
            tally.picousd = self._cost(completion, read, written)
            return Spend(picousd=tally.picousd or 0, calls=1, tokens=read + written)
        longest = tally.question.request.max_tokens
        bound_read = most.tokens - longest if read is None else read
        bound_written = longest if written is None else written
        picousd = self._cost(completion, bound_read, bound_written) or 0
        if read is None and self._tariff is not None:
            picousd = self._tariff.maximum(bound_read, bound_written)
        tokens = bound_read + bound_written
        known = (read or 0) + (written or 0)
        tally.unconfirmed += Spend(picousd=picousd, tokens=tokens - known)
        return Spend(picousd=picousd, calls=1, tokens=tokens)

    def _cost(self, completion: Completion, read: int, written: int) -> int | None:
        if self._tariff is None:
            return None
        return self._tariff.cost(
            read,
            written,
            cached_tokens=completion.cached_tokens,
            written_tokens=completion.written_tokens,
        )
