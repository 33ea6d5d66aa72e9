"""The budget is hard, whatever is answered and whatever fails."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from calls_world import MODEL, FakeProvider, call, calls, completion, in_virtual_time, world
from hypothesis import given
from hypothesis import settings as thorough
from hypothesis import strategies as st

from simulation.calls.budget import NOTHING, PICO, BudgetExhaustedError, Limits, Spend
from simulation.calls.ledger import Ledger
from simulation.calls.record import spent_on
from simulation.calls.settings import Settings
from simulation.errors import UsageError
from simulation.providers.base import (
    Completion,
    RateLimitedError,
    RefusedError,
    RequestError,
    TransientError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from calls_world import Step

    from simulation.providers.base import Request

ONE = Spend(picousd=PICO, calls=1, tokens=100)


async def waits(work: asyncio.Task[None]) -> bool:
    await asyncio.sleep(1.0)
    return not work.done()


def test_amounts_add_up() -> None:
    both = ONE + ONE
    assert both == Spend(picousd=2 * PICO, calls=2, tokens=200)
    assert ONE + ONE - ONE == ONE
    assert (ONE + ONE).usd == 2.0


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(usd=2.5), "budget.usd is 2.5 USD, 2 may have been used, and the next call could"),
        (Limits(calls=2), "budget.calls is 2, 2 may have been used, and the next call could"),
        (Limits(tokens=299), "budget.tokens is 299, 200 may have been used, and the next call"),
    ],
)
def test_a_limit_that_could_be_passed_ends_it_and_says_which(limits: Limits, said: str) -> None:
    async def spend() -> None:
        ledger = Ledger(limits, spent_before=ONE)
        await ledger.reserve(ONE)
        ledger.settle(ONE, ONE)
        await ledger.reserve(ONE)

    with pytest.raises(BudgetExhaustedError, match=said):
        in_virtual_time(spend())


def test_a_limit_may_be_reached_to_the_last_cent() -> None:
    async def spend() -> Spend:
        ledger = Ledger(Limits(usd=1.0, calls=1, tokens=100))
        await ledger.reserve(ONE)
        ledger.settle(ONE, ONE)
        return ledger.spent

    assert in_virtual_time(spend()) == ONE


def test_what_does_not_fit_waits_for_what_is_in_flight() -> None:
    async def spend() -> None:
        ledger = Ledger(Limits(calls=1))
        await ledger.reserve(ONE)
        second = asyncio.create_task(ledger.reserve(ONE))
        assert await waits(second)
        ledger.settle(ONE, NOTHING)
        await second

    in_virtual_time(spend())


def test_a_cheaper_one_never_overtakes() -> None:
    async def spend() -> None:
        ledger = Ledger(Limits(tokens=150))
        await ledger.reserve(ONE)
        large = asyncio.create_task(ledger.reserve(ONE))
        await asyncio.sleep(0)
        small = asyncio.create_task(ledger.reserve(Spend(tokens=1)))
        assert await waits(small)
        ledger.settle(ONE, NOTHING)
        await large
        await small

    in_virtual_time(spend())


def test_one_who_gives_up_waiting_lets_the_next_in() -> None:
    async def spend() -> None:
        ledger = Ledger(Limits(tokens=150))
        await ledger.reserve(ONE)
        large = asyncio.create_task(ledger.reserve(ONE))
        small = asyncio.create_task(ledger.reserve(Spend(tokens=1)))
        await asyncio.sleep(1.0)
        large.cancel()
        await small
        with pytest.raises(asyncio.CancelledError):
            await large

    in_virtual_time(spend())


def test_one_who_gives_up_as_it_is_granted_gives_it_back() -> None:
    async def spend() -> None:
        ledger = Ledger(Limits(calls=1))
        await ledger.reserve(ONE)
        second = asyncio.create_task(ledger.reserve(ONE))
        await asyncio.sleep(1.0)
        ledger.settle(ONE, NOTHING)
        second.cancel()
        await asyncio.sleep(1.0)
        await ledger.reserve(ONE)

    in_virtual_time(spend())


def test_one_who_gives_up_in_the_same_moment_is_passed_over() -> None:
    async def spend() -> None:
        ledger = Ledger(Limits(calls=1))
        await ledger.reserve(ONE)
        waiting = [asyncio.create_task(ledger.reserve(ONE)) for _ in range(3)]
        await asyncio.sleep(1.0)
        waiting[0].cancel()
        ledger.settle(ONE, NOTHING)
        await waiting[1]
        waiting[2].cancel()
        ledger.settle(ONE, ONE)
        ends = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(end) for end in ends] == [
            asyncio.CancelledError,
            type(None),
            asyncio.CancelledError,
        ]

    in_virtual_time(spend())


def test_when_nothing_is_in_flight_all_who_wait_are_told() -> None:
    async def spend() -> list[BaseException | None]:
        ledger = Ledger(Limits(calls=1))
        await ledger.reserve(ONE)
        waiting = [asyncio.create_task(ledger.reserve(ONE)) for _ in range(3)]
        await asyncio.sleep(1.0)
        ledger.settle(ONE, ONE)
        return await asyncio.gather(*waiting, return_exceptions=True)

    assert all(isinstance(e, BudgetExhaustedError) for e in in_virtual_time(spend()))


def test_a_run_stops_before_the_call_that_could_pass_its_budget() -> None:
    with (
        world(FakeProvider(latency=1.0), limits=Limits(calls=6)) as w,
        pytest.raises(BudgetExhaustedError, match=r"budget\.calls is 6, 6 may have been used"),
    ):
        w.asker.ask(calls(10))
    assert [r.outcome for r in w.log.records] == ["ok"] * 6


def test_what_was_spent_before_counts() -> None:
    with (
        world(limits=Limits(calls=6), spent_before=Spend(calls=5)) as w,
        pytest.raises(BudgetExhaustedError),
    ):
        w.asker.ask(calls(10))
    assert len(w.log.records) == 1


def test_a_request_that_the_budget_ends_between_its_tries_is_recorded() -> None:
    provider = FakeProvider(script=lambda *_: TransientError("broke off", billed=True))
    with (
        world(provider, limits=Limits(calls=2)) as w,
        pytest.raises(BudgetExhaustedError),
    ):
        w.asker.ask([call()])
    (record,) = w.log.records
    assert (record.attempts, record.billed, record.outcome) == (2, 2, "error")
    assert (record.error or "").startswith("interrupted: the budget is spent: budget.calls")
    assert (record.error or "").endswith("broke off")


def test_tries_that_were_turned_away_use_no_budget() -> None:
    def script(number: int, _request: Request) -> Step:
        return completion() if number % 2 else RateLimitedError("slowly")

    with world(FakeProvider(script=script), limits=Limits(calls=5)) as w:
        answers = w.asker.ask(calls(5))
    assert all(answer.value == 1 for answer in answers)


def test_a_server_that_takes_more_than_it_was_asked_for_is_asked_nothing_more() -> None:
    greedy = FakeProvider(script=lambda *_: completion(read=10**9, written=10**9))
    with (
        world(greedy, limits=Limits(usd=1.0), settings=Settings(concurrency=1)) as w,
        pytest.raises(BudgetExhaustedError, match=r"budget\.usd is 1\.0 USD, 12000 may have been"),
    ):
        w.asker.ask(calls(3))
    assert [r.cost_usd for r in w.log.records] == [6000.0] * 2  # told in full; two had their place


def test_a_budget_in_usd_needs_a_price() -> None:
    with (
        world(limits=Limits(usd=1.0)) as w,
        pytest.raises(
            UsageError, match=r"budget\.usd cannot be kept: the price of openai:gpt-test"
        ),
    ):
        w.board.asker(FakeProvider, replace(MODEL, price=None))


def _some_tokens(most: int) -> st.SearchStrategy[int | None]:
    return st.none() | st.integers(0, most)


@st.composite
def steps(draw: st.DrawFn) -> Callable[[Request], Step]:
    kind = draw(st.integers(0, 6))
    billed = draw(st.booleans())
    errors: list[Step] = [
        TransientError("reset", billed=billed),
        RateLimitedError("slowly", billed=billed, retry_after=1.0),
        RefusedError("no", billed=billed),
        RequestError("too long", billed=billed),
    ]
    if kind < len(errors):
        return lambda _request: errors[kind]
    # A server keeps to what it was asked: at least a byte a token, at most max_tokens.
    said = Completion(
        text=draw(st.sampled_from(['{"n": 1}', "one", ""])),
        finish=draw(st.sampled_from(["stop", "length", "refusal", "other"])),
        input_tokens=draw(_some_tokens(40)),
        cached_tokens=draw(_some_tokens(40)),
        written_tokens=draw(_some_tokens(40)),
        output_tokens=draw(_some_tokens(100)),
    )
    return lambda _request: said


@thorough(max_examples=150, deadline=None)
@given(
    script=st.lists(steps(), min_size=1, max_size=12),
    usd=st.none() | st.floats(0.001, 0.05),
    most=st.none() | st.integers(1, 20),
    tokens=st.none() | st.integers(1000, 40_000),
    concurrency=st.integers(1, 5),
    latency=st.sampled_from([0.0, 1.0]),
)
def test_what_may_have_been_billed_never_passes_the_limits(
    script: list[Callable[[Request], Step]],
    usd: float | None,
    most: int | None,
    tokens: int | None,
    concurrency: int,
    latency: float,
) -> None:
    provider = FakeProvider(
        script=lambda n, request: script[n % len(script)](request), latency=latency
    )
    limits = Limits(usd=usd, calls=most, tokens=tokens)
    stopped = False
    with world(provider, limits=limits, settings=Settings(concurrency=concurrency, tries=3)) as w:
        try:
            answers = w.asker.ask(calls(12))
        except BudgetExhaustedError:
            stopped = True
        spent = w.board.spent
    assert spent == spent_on(w.log.records)
    assert usd is None or spent.usd <= usd
    assert most is None or spent.calls <= most
    assert tokens is None or spent.tokens <= tokens
    assert sum(r.attempts for r in w.log.records) == len(provider.requests)
    if not stopped:
        assert all((a.value == 1) != bool(a.faults) or len(a.faults) == 1 for a in answers)


@thorough(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.floats(0.0, 1.0), st.integers(0, 3)),
        min_size=1,
        max_size=30,
    ),
    st.integers(0, 120),
)
def test_the_ledger_never_grants_more_than_is_left(
    wishes: list[tuple[int, float, int]], limit: int
) -> None:
    granted: list[int] = []

    async def one(place: int, ledger: Ledger, most: int, share: float, wait: int) -> None:
        await ledger.reserve(Spend(tokens=most))
        granted.append(place)
        await asyncio.sleep(wait)
        ledger.settle(Spend(tokens=most), Spend(tokens=int(most * share)))

    async def all_of_them() -> Spend:
        ledger = Ledger(Limits(tokens=limit))
        ones = [one(i, ledger, *wish) for i, wish in enumerate(wishes)]
        for end in await asyncio.gather(*ones, return_exceptions=True):
            assert end is None or isinstance(end, BudgetExhaustedError)
        return ledger.spent

    assert in_virtual_time(all_of_them()).tokens <= limit
    assert granted == list(range(len(granted)))  # in order, and none left out
