"""Many calls: the house is full, nothing of them stays, and the log holds none of them up."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from typing import TYPE_CHECKING, Any

from calls_world import FakeProvider, calls, completion, number_in, world

from simulation.calls import switchboard
from simulation.calls.base import Answer, Call
from simulation.calls.conversation import Reply
from simulation.calls.exchange import Tally
from simulation.calls.record import CallRecord, Question
from simulation.calls.settings import Settings
from simulation.providers.base import Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from simulation.providers.base import Completion, Request

HOUSE = 64
PATIENCE = 20.0  # seconds until a test gives up what should have happened at once


class Forgetful:
    """A provider that keeps nothing; `gate` is awaited for each request, by its number."""

    provider, model, host = "openai", "gpt-test", "api.test"
    notes: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.sent = 0

    async def check(self) -> None: ...

    async def close(self) -> None: ...

    async def gate(self, number: int) -> None:
        """Let all through."""

    async def complete(self, request: Request) -> Completion:
        assert request.prompt.question
        self.sent += 1
        await self.gate(self.sent)
        return completion()


def test_a_thousand_calls_of_a_second_take_as_long_as_full_houses_need() -> None:
    provider = FakeProvider(latency=1.0)
    with world(provider, settings=Settings(concurrency=HOUSE)) as w:
        answers = w.asker.ask(calls(1000))
    assert all(answer.value == 1 for answer in answers)
    assert provider.most_flying == HOUSE
    houses = -(-1000 // HOUSE)
    took = max(provider.sent_at) + 1.0 - min(provider.sent_at)
    assert took < houses + 1e-6


def test_the_house_stays_full_while_answers_are_repaired() -> None:
    def script(number: int, _request: Request) -> Completion:
        return completion("no number" if number % 4 == 0 else '{"n": 1}')

    provider = FakeProvider(script=script, latency=1.0)
    with world(provider, settings=Settings(concurrency=HOUSE)) as w:
        w.asker.ask(calls(1000))
    took = max(provider.sent_at) + 1.0 - min(provider.sent_at)
    assert took <= 1.1 * -(-len(provider.requests) // HOUSE)


def test_no_more_prompts_are_held_than_twice_the_places() -> None:
    held, most = 0, 0

    def prompt() -> Prompt:
        nonlocal held, most
        held += 1
        most = max(most, held)
        return Prompt(system="", persona="", question="Which number?")

    def read(text: str) -> int:
        nonlocal held
        held -= 1
        return number_in(text)

    with world(FakeProvider(latency=1.0), settings=Settings(concurrency=8)) as w:
        w.asker.ask(calls(500, prompt=prompt, read=read))
    assert held == 0
    assert most <= 2 * 8


def test_nothing_is_kept_of_calls_once_they_are_answered_and_written() -> None:
    kinds = (Call, Answer, Question, Tally, Reply, CallRecord, Prompt)

    def living() -> list[object]:
        gc.collect()
        return [each for each in gc.get_objects() if type(each) in kinds]

    written = 0

    def sink(records: Sequence[CallRecord]) -> None:
        nonlocal written
        written += len(records)

    before = len(living())
    provider: Any = Forgetful()
    with world(provider, settings=Settings(concurrency=HOUSE)) as w:
        w.board.sink = sink
        for tick in range(1, 11):
            w.asker.ask(calls(200, tick=tick))
        assert written == 2000
        assert len(living()) <= before
        assert len(w.board._asked) <= 200  # the questions of the last tick, by digest


def test_the_log_is_written_in_few_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switchboard, "FLUSH_EVERY", PATIENCE)  # only a full batch wakes the log
    batches: list[int] = []
    provider: Any = Forgetful()
    with world(provider, settings=Settings(concurrency=HOUSE)) as w:
        w.board.sink = lambda records: batches.append(len(records))
        w.asker.ask(calls(4 * switchboard.FLUSH_AT + 10))
    assert sum(batches) == 4 * switchboard.FLUSH_AT + 10
    assert len(batches) <= 5
    assert all(size >= switchboard.FLUSH_AT for size in batches[:-1])


def test_calls_go_on_while_a_batch_is_being_written() -> None:
    """Requests after the first batch wait for the log, and the log waits for more of them."""
    first, enough = switchboard.FLUSH_AT + 100, switchboard.FLUSH_AT + 100 + HOUSE
    writing, sent_meanwhile = threading.Event(), threading.Event()

    class Gated(Forgetful):
        async def gate(self, number: int) -> None:
            if number >= enough:
                sent_meanwhile.set()
            end = time.monotonic() + PATIENCE
            while number > first and not writing.is_set() and time.monotonic() < end:  # noqa: ASYNC110 - another thread sets it
                await asyncio.sleep(0.0)

    def sink(records: Sequence[CallRecord]) -> None:
        assert records
        writing.set()
        assert sent_meanwhile.wait(PATIENCE)

    provider: Any = Gated()
    with world(provider, settings=Settings(concurrency=HOUSE)) as w:
        w.board.sink = sink
        answers = w.asker.ask(calls(2 * enough))
    assert all(answer.value == 1 for answer in answers)
    assert provider.sent == 2 * enough
