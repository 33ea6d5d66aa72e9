"""A call from its prompt to its answer: asked or recorded, read, repaired, recorded."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from simulation.calls.backoff import LONGEST_WAIT
from simulation.calls.base import INVALID, MODEL_ERROR, REFUSED, Answer
from simulation.calls.budget import PICO, BudgetExhaustedError
from simulation.calls.exchange import Tally
from simulation.calls.record import INTERRUPTED, CallRecord, canonical, question
from simulation.calls.recorded import reply_of
from simulation.errors import InputError, InvalidAnswerError, RunStoppedError
from simulation.providers.base import (
    NoConnectionError,
    ProviderError,
    RefusedError,
    Request,
    TransientError,
    UnusableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.calls.base import Call
    from simulation.calls.exchange import Exchange
    from simulation.calls.record import Question
    from simulation.calls.recorded import Recorded
    from simulation.calls.settings import ModelSettings
    from simulation.providers.base import Completion, Prompt

P = TypeVar("P")

MOST_FAILURES: Final = 20
"""Requests in a row that nobody answered, after which a model counts as gone."""

Fault = tuple[str, str]


class ModelUnusableError(RunStoppedError):
    """A model cannot be asked at all: the rest of a run would be nothing but fallbacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came of a request: a text with why it ended, or a fault.

    record: where it was recorded before; tally: where it was asked now.  replayed: whether another
    run's file answered.
    """

    text: str = ""
    finish: str = ""
    fault: Fault | None = None
    record: CallRecord | None = None
    tally: Tally | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Generic[P]):
    """What a reply was read as: a value, or a fault with the outcome that it is recorded as."""

    value: P | None = None
    fault: Fault | None = None
    outcome: str = "ok"


class Conversation:
    """Holds the calls to one model; all methods run on one event loop."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        exchange: Callable[[], Exchange],
        recorded: Recorded | None,
        number: Callable[[Question], int],
        keep: Callable[[CallRecord], None],
    ) -> None:
        """Join the parts; nothing is sent yet.

        Args:
            settings: The model's.
            exchange: Returns the way to the model; called when something has to be asked.
            recorded: Answers that need not be asked for.
            number: Returns how often a question was asked in its tick before this time.
            keep: Takes a record.
        """
        self._settings = settings
        self._exchange = exchange
        self._recorded = recorded
        self._number = number
        self._keep = keep
        self._failures = 0
        self._answered = False

    async def answer(self, call: Call[P]) -> Answer[P]:
        """Return the answer to a call.

        `call.prompt` and `call.read` are the engine's: they only read its state, and its thread
        does nothing but wait for the answers meanwhile, so they may well run in this one.

        Raises:
            RunStoppedError: no more calls can be answered.
        """
        prompt = call.prompt()
        first = self._question(call, prompt)
        reply, reading = await self._ask(call, first, usable="ok")
        if reading.outcome != "invalid" or call.repair is None:
            return _answer(reply, reading, ())
        faults = (reading.fault,) if reading.fault is not None else ()
        mended = call.repair(prompt, faults[0][1] if faults else "")
        again = self._question(call, mended, attempt=first.attempt + 1)
        return _answer(*await self._ask(call, again, usable="repaired"), faults)

    def _question(self, call: Call[P], prompt: Prompt, attempt: int | None = None) -> Question:
        settings = self._settings
        request = Request(
            prompt=prompt,
            schema=call.schema,
            max_tokens=call.max_tokens or settings.max_tokens,
            temperature=settings.temperature if call.temperature is None else call.temperature,
        )
        asked = question(call, prompt, request, settings=settings, attempt=attempt or 1)
        if attempt is None and (before := self._number(asked)):
            return replace(asked, attempt=1 + 2 * before)  # each time takes two: its repair, too
        return asked

    async def _ask(
        self, call: Call[P], asked: Question, *, usable: str
    ) -> tuple[Reply, Reading[P]]:
        """Return a request's reply and what it was read as; one record is kept."""
        reply = await self._reply(asked)
        try:
            reading = _read(call, reply, asked, usable)
        except Exception as error:
            # A flaw of the engine, not of the answer; but what was paid for is recorded.
            self._note(asked, reply, "error", f"{INTERRUPTED}: {type(error).__name__}: {error}")
            raise
        self._note(asked, reply, reading.outcome, reading.fault[1] if reading.fault else None)
        return reply, reading

    async def _reply(self, asked: Question) -> Reply:
        if (said := self._said_before(asked)) is not None:
            return said
        exchange = self._reached()
        tally = Tally(question=asked)
        try:
            completion = await exchange.send(tally)
        except (asyncio.CancelledError, BudgetExhaustedError) as error:
            self._note_interrupted(
                tally, "" if isinstance(error, asyncio.CancelledError) else error
            )
            raise
        except ProviderError as error:
            return self._failed(tally, error)
        self._failures, self._answered = 0, True
        return Reply(text=completion.text, finish=completion.finish, tally=tally)

    def _said_before(self, asked: Question) -> Reply | None:
        """Return a recorded reply; None where there is none and the model may be asked.

        Raises:
            ReplayMissError: it may not.
        """
        sources = () if self._recorded is None else self._recorded.sources
        for source in sources:
            found = source.find(
                asked.tick, asked.persona_id, asked.purpose, asked.attempt, asked.sha256
            )
            if found is not None:
                return _recorded_reply(found, replayed=source.mode == "replay")
        if sources and sources[-1].asks_nobody:
            raise sources[-1].missed(asked)
        return None

    def _reached(self) -> Exchange:
        """Return the way to the model.

        Raises:
            ModelUnusableError: there is none, such as where a key is missing that nobody needed
                as long as recorded replies were enough.
            InputError: there is none, and nobody looked before.
        """
        try:
            return self._exchange()
        except InputError as error:
            if self._recorded is None:
                raise
            raise ModelUnusableError(f"{self._settings.name} cannot be used: {error}") from error

    def _failed(self, tally: Tally, error: ProviderError) -> Reply:
        """Return the fault of a request that got no completion.

        Raises:
            ModelUnusableError: no other request would fare better.
        """
        if isinstance(error, RefusedError):
            return Reply(fault=(REFUSED, str(error)), tally=tally)
        if isinstance(error, UnusableError) or self._is_gone(error):
            self._note_interrupted(tally, error)
            raise ModelUnusableError(f"{self._settings.name} cannot be used: {error}") from error
        tries = f" (after {tally.attempts} tries)" if tally.attempts > 1 else ""
        return Reply(fault=(MODEL_ERROR, f"{error}{tries}"), tally=tally)

    def _is_gone(self, error: ProviderError) -> bool:
        """Tell whether nobody has answered for so long that nobody will."""
        if not isinstance(error, TransientError):
            return False
        away = isinstance(error, NoConnectionError) or (error.retry_after or 0.0) > LONGEST_WAIT
        self._failures += away
        return away and (not self._answered or self._failures >= MOST_FAILURES)

    def _note_interrupted(self, tally: Tally, reason: object) -> None:
        """Record a request that was on its way when the run had to end."""
        if tally.attempts:
            words = [str(part) for part in (INTERRUPTED, reason, tally.trouble) if str(part)]
            # The last trouble is often the reason itself.
            error = ": ".join(dict.fromkeys(words))
            self._note(tally.question, Reply(tally=tally), "error", error)

    def _note(self, asked: Question, reply: Reply, outcome: str, error: str | None) -> None:
        if reply.tally is not None:
            self._keep(_record(asked, reply.tally, self._settings, outcome, error))
        elif reply.record is not None and reply.replayed:
            self._keep(_replayed(reply.record, outcome, error))


def _answer(reply: Reply, reading: Reading[P], before: tuple[Fault, ...]) -> Answer[P]:
    faults = before if reading.fault is None else (*before, reading.fault)
    return Answer(value=reading.value, faults=faults, replayed=reply.replayed)


def _read(call: Call[P], reply: Reply, asked: Question, usable: str) -> Reading[P]:
    """Return what a reply says; what `call.read` raises but InvalidAnswerError goes through."""
    if reply.fault is not None:
        outcome = "refused" if reply.fault[0] == REFUSED else "error"
        return Reading(fault=reply.fault, outcome=outcome)
    if reply.finish == "refusal":
        return Reading(fault=(REFUSED, "the model would not answer"), outcome="refused")
    if reply.finish == "length":
        return _invalid(f"the answer was cut off after {asked.request.max_tokens} tokens")
    if not reply.text.strip():
        return _invalid("the answer is empty")
    try:
        return Reading(value=call.read(reply.text), outcome=usable)
    except InvalidAnswerError as error:
        return _invalid(str(error))


def _invalid(reason: str) -> Reading[Any]:
    return Reading(fault=(INVALID, reason), outcome="invalid")


def _recorded_reply(record: CallRecord, *, replayed: bool) -> Reply:
    said = reply_of(record)
    if said is not None:
        return Reply(text=said[0], finish=said[1], record=record, replayed=replayed)
    kind = REFUSED if record.outcome == "refused" else MODEL_ERROR
    return Reply(fault=(kind, record.error or ""), record=record, replayed=replayed)


def _record(
    asked: Question, tally: Tally, settings: ModelSettings, outcome: str, error: str | None
) -> CallRecord:
    said = tally.completion
    return CallRecord(
        tick=asked.tick,
        persona_id=asked.persona_id,
        purpose=asked.purpose,
        attempt=asked.attempt,
        provider=settings.provider,
        model=settings.model,
        request_sha256=asked.sha256,
        request=asked.text,
        response=None if said is None else _response(said),
        input_tokens=None if said is None else said.input_tokens,
        cached_tokens=None if said is None else said.cached_tokens,
        written_tokens=None if said is None else said.written_tokens,
        output_tokens=None if said is None else said.output_tokens,
        cost_usd=None if tally.picousd is None else tally.picousd / PICO,
        latency_s=tally.latency,
        attempts=tally.attempts,
        outcome=outcome,
        error=error,
        billed=tally.billed,
        unconfirmed_usd=tally.unconfirmed.usd,
        unconfirmed_tokens=tally.unconfirmed.tokens,
    )


def _response(completion: Completion) -> str:
    return canonical({"text": completion.text, "finish": completion.finish}).decode()


def _replayed(record: CallRecord, outcome: str, error: str | None) -> CallRecord:
    return replace(
        record,
        outcome=outcome,
        error=error,
        attempts=0,
        billed=0,
        unconfirmed_usd=0.0,
        unconfirmed_tokens=0,
    )
