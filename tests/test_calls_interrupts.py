"""Ctrl-C: nothing new is sent, nothing that was paid for is lost, nothing is left running."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest
from calls_world import (
    MODEL,
    FakeProvider,
    Log,
    VirtualLoop,
    call,
    call_threads,
    calls,
    completion,
    world,
)

from simulation.calls.background import Background
from simulation.calls.interrupts import undisturbed
from simulation.calls.record import spent_on
from simulation.calls.settings import Settings
from simulation.calls.switchboard import Switchboard
from simulation.providers.base import TransientError
from simulation.rng import Streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.calls.record import CallRecord
    from simulation.providers.base import Completion, Request


def press() -> None:
    """Press Ctrl-C, from whatever thread; the main one feels it."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


class Held(FakeProvider):
    """Answers nothing before it is let go; says when enough requests are there."""

    def __init__(self, at: int, *, presses: int = 1) -> None:
        super().__init__()
        self.at = at
        self.presses = presses
        self.go = asyncio.Event()

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        if len(self.requests) == self.at:
            for _ in range(self.presses):
                press()
        await self.go.wait()
        return completion()


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert call_threads() == 0


def test_what_is_in_flight_when_ctrl_c_strikes_may_finish_and_nothing_else_starts() -> None:
    provider = Held(4)

    class Noticing(Switchboard):
        def _attend(self, batch: Any, *, until: float | None = None) -> None:
            if until is not None:  # by now it was said that nothing more may be sent
                self._background.call(provider.go.set)
            super()._attend(batch, until=until)

    log = Log()
    board = Noticing(
        streams=Streams(1), settings=Settings(concurrency=4), sink=log, make_loop=VirtualLoop
    )
    with board, pytest.raises(KeyboardInterrupt):
        board.asker(lambda: provider, MODEL).ask(calls(20))
    assert [(r.outcome, r.error) for r in log.records] == [("ok", None)] * 4
    assert len(provider.requests) == 4


def test_what_does_not_finish_in_time_is_recorded_at_its_most() -> None:
    with world(Held(4), grace=0.05) as w:
        with pytest.raises(KeyboardInterrupt):
            w.asker.ask(calls(20))
        assert [(r.outcome, r.error) for r in w.log.records] == [("error", "interrupted")] * 4
        assert all(r.unconfirmed_usd > 0.0 and r.billed == 1 for r in w.log.records)
        assert w.board.spent == spent_on(w.log.records)


def test_a_second_ctrl_c_ends_the_waiting() -> None:
    provider = Held(4)

    class Impatient(Switchboard):
        def _attend(self, batch: Any, *, until: float | None = None) -> None:
            if until is not None:
                press()
            super()._attend(batch, until=until)

    log = Log()
    board = Impatient(streams=Streams(1), settings=Settings(concurrency=4), sink=log, grace=3600.0)
    with board, pytest.raises(KeyboardInterrupt):
        board.asker(lambda: provider, MODEL).ask(calls(20))
    assert [r.error for r in log.records] == ["interrupted"] * 4


def test_those_who_wait_for_another_try_are_recorded_too() -> None:
    def script(number: int, _request: Request) -> TransientError:
        if number == 3:
            press()
        return TransientError("reset", retry_after=200.0)

    # In real time: whoever backs off is still at it when Ctrl-C comes.
    log = Log()
    with Switchboard(
        streams=Streams(1), settings=Settings(concurrency=4), sink=log, grace=0.05
    ) as board:
        provider = FakeProvider(script=script)
        with pytest.raises(KeyboardInterrupt):
            board.asker(lambda: provider, MODEL).ask(calls(4))
    assert [(r.outcome, r.error) for r in log.records] == [("error", "interrupted: reset")] * 4


def test_ctrl_c_before_anything_was_sent_leaves_nothing() -> None:
    strikes = [KeyboardInterrupt()]

    class Early(Background):
        def call(self, function: Any) -> None:
            if strikes:
                raise strikes.pop()
            super().call(function)

    with world(grace=3600.0) as w:
        w.board._background = Early(VirtualLoop)
        with pytest.raises(KeyboardInterrupt):
            w.asker.ask(calls(3))
    assert w.provider.requests == []


def test_ctrl_c_while_models_are_checked_ends_it() -> None:
    class Slow(FakeProvider):
        async def check(self) -> None:
            press()
            await asyncio.Event().wait()

    with world(Slow()) as w, pytest.raises(KeyboardInterrupt):
        w.board.check()


def test_a_log_that_is_being_written_is_not_torn_by_ctrl_c() -> None:
    written: list[CallRecord] = []

    def sink(records: Sequence[CallRecord]) -> None:
        press()
        written.extend(records)  # would never be reached

    with (
        Switchboard(streams=Streams(1), sink=sink, make_loop=VirtualLoop) as board,
        pytest.raises(KeyboardInterrupt),
    ):
        board.asker(FakeProvider, MODEL).ask([call()])
    assert len(written) == 1


def test_a_log_that_cannot_be_written_stops_the_run_and_says_what_is_lost() -> None:
    def sink(_records: Sequence[CallRecord]) -> None:
        raise OSError("disk full")

    with (
        Switchboard(streams=Streams(1), sink=sink, make_loop=VirtualLoop) as board,
        pytest.raises(OSError, match="disk full") as caught,
    ):
        board.asker(FakeProvider, MODEL).ask(calls(3))
    assert caught.value.__notes__ == ["3 calls could not be recorded: disk full"]


def test_a_log_that_recovers_gets_every_record_once() -> None:
    log = Log()
    troubles = [OSError("locked")]

    def sink(records: Sequence[CallRecord]) -> None:
        if troubles:
            raise troubles.pop()
        log(records)

    with (
        Switchboard(streams=Streams(1), sink=sink, make_loop=VirtualLoop) as board,
        pytest.raises(OSError, match="locked") as caught,
    ):
        board.asker(FakeProvider, MODEL).ask(calls(3))
    assert len(log.records) == 3
    assert not hasattr(caught.value, "__notes__")


def test_a_log_that_cannot_be_written_after_ctrl_c_is_told() -> None:
    def sink(_records: Sequence[CallRecord]) -> None:
        raise OSError("disk full")

    with world(Held(4), grace=0.05) as w:
        w.board.sink = sink
        with pytest.raises(OSError, match="disk full") as caught:
            w.asker.ask(calls(4))
    assert isinstance(caught.value.__context__, KeyboardInterrupt)


def test_signals_held_back_come_when_the_block_is_over() -> None:
    done = []

    def work() -> None:
        with undisturbed():
            press()
            press()
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_holds_nothing_back() -> None:
    seen: list[object] = []

    def work() -> None:
        with undisturbed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def test_a_provider_that_will_not_be_cancelled_does_not_keep_the_run() -> None:
    class Stubborn(FakeProvider):
        async def complete(self, request: Request) -> Completion:
            self.requests.append(request)
            press()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return completion()
            raise AssertionError

    with world(Stubborn(), grace=0.01) as w, pytest.raises(KeyboardInterrupt):
        w.asker.ask([call()])
    assert [r.outcome for r in w.log.records] == ["ok"]  # it did answer, at the last moment


def test_work_that_times_out_by_itself_says_so() -> None:
    async def work() -> None:
        raise TimeoutError("mine")

    background = Background(VirtualLoop)
    with pytest.raises(TimeoutError, match="mine"):
        background.run(work())
    background.close()
    background.close()


def test_work_may_take_longer_than_one_look_at_the_signals() -> None:
    async def work() -> int:
        await asyncio.sleep(0.3)
        return 5

    background = Background(asyncio.new_event_loop)
    assert background.run(work()) == 5
    background.close()


def test_closing_cancels_what_is_left() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    tasks: list[asyncio.Task[None]] = []
    background = Background(VirtualLoop)
    background.run(asyncio.sleep(0))
    background.call(lambda: tasks.append(asyncio.get_running_loop().create_task(work())))
    background.run(asyncio.sleep(0))
    background.close()
    assert ended == ["cancelled"]
