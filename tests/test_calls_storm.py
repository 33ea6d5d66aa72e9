"""A thousand calls through a provider that fails in every way it can."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from calls_world import FakeProvider, calls, completion, world
from test_calls_pace import most_in_a_minute

from simulation.calls.budget import BudgetExhaustedError, Limits
from simulation.calls.record import spent_on
from simulation.calls.recorded import Recorded
from simulation.calls.settings import Settings
from simulation.providers.base import (
    NoConnectionError,
    RateLimitedError,
    RefusedError,
    RequestError,
    TransientError,
)
from simulation.rng import Streams, stream_keys

if TYPE_CHECKING:
    from calls_world import Step

    from simulation.providers.base import Request

FAILURES: tuple[Step, ...] = (
    RateLimitedError("slowly", retry_after=2.0),
    RateLimitedError("overloaded"),
    TransientError("500"),
    TransientError("503", retry_after=5.0),
    TransientError("timed out", billed=True),
    TransientError("reset", billed=True),
    TransientError("cut off in the middle", billed=True),
    NoConnectionError("nobody there"),
    OSError("raw"),
    RequestError("too long"),
    RefusedError("a filter said no", billed=True),
    completion("", written=0),
    completion("I would rather not", finish="refusal"),
    completion('{"n": 1', finish="length"),
    completion("no JSON"),
    completion('{"m": 1}'),
    completion("x" * 300_000),
    completion("\0\ud800"),
    completion(read=None, written=None),
)


def stormy(number: int, request: Request) -> Step:
    """Fail 30 % of tries, all ways alike, as the place of the try says."""
    draw = float(Streams(5).uniform("storm", tick=0, keys=stream_keys(["x"]), index=number)[0])
    if draw < 0.3:
        return FAILURES[int(draw / 0.3 * len(FAILURES))]
    who = request.prompt.persona.removeprefix("You are p").removesuffix(".")
    return completion(f'{{"n": {who}}}')


def test_a_thousand_calls_in_a_storm_are_all_accounted_for() -> None:
    settings = Settings(concurrency=32, requests_per_minute=300)
    with world(FakeProvider(script=stormy, latency=0.8), settings=settings) as w:
        answers = w.asker.ask(calls(1000))
        spent, totals = w.board.spent, w.board.totals(1)
    assert len(answers) == 1000
    for place, answer in enumerate(answers):
        assert answer.value in (place, 1) or (answer.value is None and answer.faults)
    records = w.log.records
    assert sorted({r.persona_id or "" for r in records}) == sorted(f"p{i}" for i in range(1000))
    assert len({(r.persona_id, r.attempt) for r in records}) == len(records) == totals.calls
    assert sum(r.attempts for r in records) == len(w.provider.requests)
    assert spent == spent_on(records)
    assert most_in_a_minute(w.provider.sent_at) <= 300
    assert w.provider.most_flying <= 32
    outcomes = Counter(r.outcome for r in records)
    assert sorted(outcomes) == ["error", "invalid", "ok", "refused", "repaired"]
    usable = outcomes["ok"] + outcomes["repaired"]
    assert usable == sum(answer.value is not None for answer in answers)
    told = Counter(kind for answer in answers for kind, _ in answer.faults)
    assert told == {
        "invalid_answer": outcomes["invalid"],
        "refused": outcomes["refused"],
        "model_error": outcomes["error"],
    }


def test_a_budget_holds_in_a_storm_and_the_run_goes_on_where_it_stopped() -> None:
    settings = Settings(concurrency=32)
    limits = Limits(usd=0.2, calls=600, tokens=200_000)
    with world(FakeProvider(script=stormy, latency=0.8), settings=settings, limits=limits) as w:
        try:
            w.asker.ask(calls(1000))
        except BudgetExhaustedError:
            pass
        else:
            raise AssertionError
        spent = w.board.spent
    first = w.log.records
    assert spent == spent_on(first)
    assert (spent.usd <= 0.2, spent.calls <= 600, spent.tokens <= 200_000) == (True, True, True)
    assert spent.calls > 100

    with world(
        FakeProvider(script=stormy, latency=0.8),
        settings=settings,
        recorded=Recorded(first, mode="resume"),
        spent_before=spent_on(first),
    ) as w:
        answers = w.asker.ask(calls(1000))
        assert w.board.spent == spent_on([*first, *w.log.records])
    replied = {(r.persona_id, r.attempt) for r in first if r.response is not None}
    assert not replied & {(r.persona_id, r.attempt) for r in w.log.records}
    old = Recorded([*first, *w.log.records], mode="replay", miss="stop")
    with world(recorded=old) as w:
        again = w.asker.ask(calls(1000))
    assert [(a.value, a.faults) for a in again] == [(a.value, a.faults) for a in answers]
    assert w.provider.requests == []
