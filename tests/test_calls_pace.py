"""How fast a host is asked: places, requests a minute, back-off."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from typing import TYPE_CHECKING

import pytest
from calls_world import FakeProvider, calls, completion, in_virtual_time, scripted, world
from hypothesis import given
from hypothesis import settings as thorough
from hypothesis import strategies as st

from simulation.calls.backoff import CAP, waiting_time
from simulation.calls.pace import Pace
from simulation.calls.settings import Settings
from simulation.providers.base import RateLimitedError, TransientError
from simulation.rng import Streams

if TYPE_CHECKING:
    from calls_world import Step

    from simulation.providers.base import Request

MINUTE = 60.0


def most_in_a_minute(times: list[float]) -> int:
    return max(
        (bisect_left(times, start + MINUTE) - place for place, start in enumerate(times)),
        default=0,
    )


def test_no_more_requests_than_places_are_in_flight() -> None:
    with world(FakeProvider(latency=1.0), settings=Settings(concurrency=7)) as w:
        w.asker.ask(calls(50))
    assert w.provider.most_flying == 7
    assert w.provider.sent_at[-1] == 1000.0 + 50 // 7


def test_models_at_one_host_share_its_places() -> None:
    provider = FakeProvider(latency=1.0)
    with world(provider, settings=Settings(concurrency=2, requests_per_minute=3)) as w:
        other = w.board.asker(lambda: provider, w.board._lines[0].conversation._settings)
        w.asker.ask(calls(3))
        other.ask(calls(3))
    assert most_in_a_minute(provider.sent_at) == 3


@thorough(max_examples=60, deadline=None)
@given(
    per_minute=st.integers(1, 12),
    concurrency=st.integers(1, 8),
    latency=st.sampled_from([0.0, 0.3, 20.0]),
    fail=st.sets(st.integers(0, 30)),
)
def test_no_minute_ever_has_more_tries_than_it_may(
    per_minute: int, concurrency: int, latency: float, fail: set[int]
) -> None:
    def script(number: int, _request: Request) -> Step:
        return RateLimitedError("slowly", retry_after=2.0) if number in fail else completion()

    settings = Settings(concurrency=concurrency, requests_per_minute=per_minute)
    with world(FakeProvider(script=script, latency=latency), settings=settings) as w:
        w.asker.ask(calls(20))
    times = w.provider.sent_at
    assert len(times) >= 20
    assert most_in_a_minute(times) <= per_minute


def test_a_minute_is_used_to_the_full() -> None:
    with world(settings=Settings(concurrency=5, requests_per_minute=10)) as w:
        w.asker.ask(calls(30))
    assert w.provider.sent_at[-1] == pytest.approx(1000.0 + 2 * 61.0)


def test_too_many_at_once_halve_the_places_once_for_all_in_flight() -> None:
    async def limits() -> list[int]:
        pace = Pace(concurrency=16, requests_per_minute=None)
        seen = []
        for _ in range(4):
            await pace.enter()
        sent_at = asyncio.get_running_loop().time()
        await asyncio.sleep(1.0)
        for _ in range(3):
            pace.slow_down(sent_at=sent_at, retry_after=None)
            seen.append(pace.limit)
        pace.slow_down(sent_at=sent_at + 2.0, retry_after=None)
        seen.append(pace.limit)
        for _ in range(10):
            await asyncio.sleep(1.0)
            pace.slow_down(sent_at=asyncio.get_running_loop().time() + 1.0, retry_after=None)
        return [*seen, pace.limit]

    assert in_virtual_time(limits()) == [8, 8, 8, 4, 1]


def test_as_many_successes_as_there_are_places_win_one_back() -> None:
    async def limits() -> list[int]:
        pace = Pace(concurrency=4, requests_per_minute=None)
        pace.slow_down(sent_at=0.0, retry_after=None)
        seen = []
        for success in (True, False, True, True, True, True, True, True, True):
            await pace.enter()
            pace.leave(success=success)
            seen.append(pace.limit)
        return seen

    # Two places need two successes, three need three, and four are all there are.
    assert in_virtual_time(limits()) == [2, 2, 3, 3, 3, 4, 4, 4, 4]


def test_everyone_waits_as_long_as_the_host_asks() -> None:
    def script(number: int, _request: Request) -> Step:
        return RateLimitedError("slowly", retry_after=30.0) if number == 0 else completion()

    with world(FakeProvider(script=script, latency=1.0), settings=Settings(concurrency=2)) as w:
        w.asker.ask(calls(6))
    assert w.provider.sent_at[:2] == [1000.0, 1000.0]
    assert min(w.provider.sent_at[2:]) >= 1031.0


def test_places_are_given_in_order_and_not_lost_by_those_who_leave() -> None:
    async def order() -> list[int]:
        pace = Pace(concurrency=1, requests_per_minute=None)
        came: list[int] = []

        async def one(i: int) -> None:
            await pace.enter()
            came.append(i)
            await asyncio.sleep(1.0)
            pace.leave()

        ones = [asyncio.create_task(one(i)) for i in range(6)]
        await asyncio.sleep(0.5)
        ones[2].cancel()
        await asyncio.sleep(0.5)  # the place passes from the first to the second in this moment
        ones[1].cancel()
        await asyncio.gather(*ones, return_exceptions=True)
        return came

    assert in_virtual_time(order())[-3:] == [3, 4, 5]


def test_a_place_granted_to_one_who_has_just_left_goes_on() -> None:
    async def next_one() -> float:
        pace = Pace(concurrency=1, requests_per_minute=None)
        await pace.enter()
        gone = asyncio.create_task(pace.enter())
        await asyncio.sleep(1.0)
        pace.leave()
        gone.cancel()
        await asyncio.sleep(0.0)
        async with asyncio.timeout(1.0):
            await pace.enter()
        return pace.limit

    assert in_virtual_time(next_one()) == 1


def wait(failed: int, *, stream_id: str = "p1", retry_after: float | None = None) -> float:
    return waiting_time(
        Streams(3), tick=1, stream_id=stream_id, failed=failed, retry_after=retry_after
    )


@given(st.integers(1, 40), st.text())
def test_back_off_lies_below_its_doubling_bound(failed: int, stream_id: str) -> None:
    assert 0.0 < wait(failed, stream_id=stream_id) < min(CAP, 2.0 ** (failed - 1))


def test_back_off_is_keyed_so_that_no_two_wait_alike() -> None:
    waits = {wait(failed, stream_id=who) for who in ("p1", "p2") for failed in (1, 2, 3)}
    assert len(waits) == 6
    assert wait(2) == wait(2)


def test_back_off_comes_on_top_of_what_the_host_asked_for() -> None:
    assert wait(1, retry_after=30.0) == 30.0 + wait(1)
    assert wait(1, retry_after=-5.0) == wait(1)


def test_a_host_that_asks_to_wait_too_long_fails_its_call_only() -> None:
    def script(number: int, _request: Request) -> Step:
        return TransientError("in an hour", retry_after=3600.0) if number == 1 else completion()

    with world(FakeProvider(script=script), settings=Settings(concurrency=1)) as w:
        answers = w.asker.ask(calls(3))
    assert [answer.faults for answer in answers] == [(), (("model_error", "in an hour"),), ()]
    assert w.provider.sent_at[-1] == 1000.0


def test_those_who_back_off_leave_their_places_to_others() -> None:
    provider = scripted(TransientError("x", retry_after=100.0), completion())
    with world(provider, settings=Settings(concurrency=1)) as w:
        w.asker.ask(calls(10))
    assert sorted(w.provider.sent_at)[9] == 1000.0
    assert w.provider.sent_at[10] > 1100.0
