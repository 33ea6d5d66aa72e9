"""Calls: asked at once, answered in order, repaired once, recorded one by one."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from calls_world import (
    MODEL,
    FakeProvider,
    Log,
    call,
    call_threads,
    calls,
    completion,
    in_virtual_time,
    scripted,
    world,
)

from simulation.calls.conversation import ModelUnusableError
from simulation.calls.exchange import LONGEST_ANSWER, TEMPLATE_TOKENS
from simulation.calls.record import spent_on
from simulation.calls.settings import Settings
from simulation.calls.switchboard import Switchboard
from simulation.errors import UsageError
from simulation.providers.base import (
    NoConnectionError,
    Prompt,
    RateLimitedError,
    RefusedError,
    RequestError,
    TransientError,
    UnusableError,
)
from simulation.rng import Streams, sha256_hex

if TYPE_CHECKING:
    from simulation.providers.base import Completion, Request


def echo(_number: int, request: Request) -> Completion:
    who = request.prompt.persona.removeprefix("You are p").removesuffix(".")
    return completion(f'{{"n": {who}}}')


def test_answers_keep_the_order_of_their_calls() -> None:
    with world(FakeProvider(script=echo, latency=1.0)) as w:
        answers = w.asker.ask(calls(50))
    assert [answer.value for answer in answers] == list(range(50))
    assert not any(answer.faults or answer.replayed for answer in answers)


def test_nothing_asked_starts_no_thread() -> None:
    with world() as w:
        assert w.asker.ask([]) == []
        assert call_threads() == 0


def test_an_asker_is_named_after_provider_and_model() -> None:
    with world() as w:
        assert w.asker.name == "openai:gpt-test"


def test_a_record_says_all_of_a_request() -> None:
    with world(FakeProvider(latency=0.5)) as w:
        w.asker.ask([call("p1", tick=3)])
    (record,) = w.log.records
    assert (record.tick, record.persona_id, record.purpose) == (3, "p1", "turn")
    assert (record.attempt, record.attempts, record.billed) == (1, 1, 1)
    assert (record.provider, record.model) == ("openai", "gpt-test")
    assert record.request == (
        '{"effort":null,"max_tokens":100,"model":"gpt-test","persona":"You are p1.",'
        '"provider":"openai","question":"Which number?","schema":{"type":"object"},'
        '"system":"Be brief.","temperature":0.7}'
    )
    assert record.request_sha256 == sha256_hex(record.request)
    assert record.response == '{"finish":"stop","text":"{\\"n\\": 1}"}'
    assert (record.input_tokens, record.output_tokens) == (50, 10)
    assert (record.cached_tokens, record.written_tokens) == (0, 0)
    assert record.cost_usd == pytest.approx(100e-6)
    assert record.latency_s == pytest.approx(0.5)
    assert (record.outcome, record.error) == ("ok", None)
    assert (record.unconfirmed_usd, record.unconfirmed_tokens) == (0.0, 0)


def test_a_call_may_set_its_own_length_and_temperature() -> None:
    short = call()
    short = type(short)(
        **{f: getattr(short, f) for f in short.__slots__} | {"max_tokens": 7, "temperature": 0.0}
    )
    with world() as w:
        w.asker.ask([short])
    assert w.provider.requests[0].max_tokens == 7
    assert w.provider.requests[0].temperature == 0.0


def test_an_invalid_answer_is_put_once_more_with_the_reason() -> None:
    with world(scripted(completion("well, one"), completion())) as w:
        (answer,) = w.asker.ask([call()])
    assert answer.value == 1
    assert answer.faults == (("invalid_answer", "n has to be a number"),)
    assert w.provider.requests[1].prompt.question == "Which number? (n has to be a number)"
    assert [(r.attempt, r.outcome, r.error) for r in w.log.records] == [
        (1, "invalid", "n has to be a number"),
        (2, "repaired", None),
    ]


def test_a_failed_repair_is_the_last_word() -> None:
    with world(scripted(completion("one"), completion(""))) as w:
        (answer,) = w.asker.ask([call()])
    assert answer.value is None
    assert answer.faults == (
        ("invalid_answer", "n has to be a number"),
        ("invalid_answer", "the answer is empty"),
    )
    assert [r.outcome for r in w.log.records] == ["invalid", "invalid"]


def test_a_call_without_repair_is_asked_once() -> None:
    with world(scripted(completion("one"))) as w:
        (answer,) = w.asker.ask([call(repair=None)])
    assert answer.value is None
    assert len(w.provider.requests) == 1


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (completion(finish="length"), "the answer was cut off after 100 tokens"),
        (completion(" \n"), "the answer is empty"),
        (completion("1" * (LONGEST_ANSWER + 1)), "the answer was cut off after 100 tokens"),
    ],
)
def test_what_cannot_be_an_answer_is_not_even_read(said: Completion, reason: str) -> None:
    with world(scripted(said)) as w:
        (answer,) = w.asker.ask([call(repair=None)])
    assert answer.faults == (("invalid_answer", reason),)
    assert len(w.log.records[0].response or "") < LONGEST_ANSWER + 100


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (completion("I cannot", finish="refusal"), "the model would not answer"),
        (RefusedError("a filter said no"), "a filter said no"),
    ],
)
def test_a_refusal_is_neither_tried_again_nor_repaired(
    step: Completion | RefusedError, said: str
) -> None:
    with world(scripted(step)) as w:
        (answer,) = w.asker.ask([call()])
    assert answer.value is None
    assert answer.faults == (("refused", said),)
    assert [(r.outcome, r.error, r.attempts) for r in w.log.records] == [("refused", said, 1)]


def test_a_transient_fault_is_tried_again() -> None:
    with world(scripted(TransientError("reset"), TransientError("reset"), completion())) as w:
        (answer,) = w.asker.ask([call()])
    assert answer.value == 1
    assert answer.faults == ()
    (record,) = w.log.records
    assert (record.attempts, record.billed, record.outcome) == (3, 1, "ok")


def test_tries_have_an_end() -> None:
    with world(scripted(TransientError("reset")), settings=Settings(tries=3)) as w:
        (answer,) = w.asker.ask([call()])
    assert answer.faults == (("model_error", "reset (after 3 tries)"),)
    (record,) = w.log.records
    assert (record.attempts, record.outcome, record.error) == (3, "error", "reset (after 3 tries)")
    assert (record.response, record.cost_usd, record.unconfirmed_usd) == (None, None, 0.0)


def test_a_request_that_can_never_be_answered_is_not_tried_again() -> None:
    with world(scripted(RequestError("too long"))) as w:
        (answer,) = w.asker.ask([call()])
    assert answer.faults == (("model_error", "too long"),)
    assert len(w.provider.requests) == 1


def test_an_error_that_no_provider_should_raise_is_told_and_may_have_been_billed() -> None:
    with world(scripted(OSError("odd")), settings=Settings(tries=2)) as w:
        (answer,) = w.asker.ask([call()])
    assert answer.faults == (("model_error", "unexpected OSError: odd (after 2 tries)"),)
    assert w.log.records[0].billed == 2


def test_a_try_that_its_provider_lost_track_of_is_given_up() -> None:
    settings = Settings(tries=1, timeout=1.0)
    with world(FakeProvider(latency=31.0), settings=settings) as w:
        (answer,) = w.asker.ask([call()])
    assert answer.faults == (("model_error", "no answer in time"),)
    assert w.log.records[0].latency_s == pytest.approx(30.0)


def test_tries_that_may_have_been_billed_count_at_their_most() -> None:
    with world(scripted(TransientError("broke off", billed=True), completion())) as w:
        w.asker.ask([call()])
        (record,) = w.log.records
        assert record.cost_usd == pytest.approx(100e-6)
        most = len((record.request or "").encode()) + TEMPLATE_TOKENS
        assert record.unconfirmed_tokens == most + 100
        assert record.unconfirmed_usd == pytest.approx((most * 1.25 + 100 * 5.0) * 1e-6)
        assert record.billed == 2
        assert w.board.spent == spent_on(w.log.records)


@pytest.mark.parametrize(("read", "written"), [(None, None), (50, None), (None, 10)])
def test_tokens_that_nobody_reported_count_at_their_most(
    read: int | None, written: int | None
) -> None:
    with world(scripted(completion(read=read, written=written))) as w:
        w.asker.ask([call()])
        (record,) = w.log.records
        most = len((record.request or "").encode()) + TEMPLATE_TOKENS
        tokens = (most if read is None else 50, 100 if written is None else 10)
        assert (record.input_tokens, record.output_tokens) == (read, written)
        assert record.cost_usd is None
        assert record.unconfirmed_tokens == sum(tokens) - (read or 0) - (written or 0)
        price = 1.25 if read is None else 1.0
        assert record.unconfirmed_usd == pytest.approx((tokens[0] * price + tokens[1] * 5) * 1e-6)
        assert w.board.spent == spent_on(w.log.records)
        assert w.board.spent.tokens == sum(tokens)


def test_a_model_without_a_price_costs_nothing_that_is_known() -> None:
    model = type(MODEL)(provider="o", model="m", max_tokens=9, temperature=None, price=None)
    with world(scripted(completion(), completion(read=None)), model=model) as w:
        w.asker.ask(calls(2))
        assert [r.cost_usd for r in w.log.records] == [None, None]
        assert w.board.spent.picousd == 0


def test_the_same_words_asked_again_in_a_tick_are_told_apart() -> None:
    with world() as w:
        w.asker.ask([call("p1"), call("p2"), call("p1")])
        w.asker.ask([call("p1"), call("p1", tick=2)])
    assert [(r.persona_id, r.tick, r.attempt) for r in w.log.records] == [
        ("p1", 1, 1),
        ("p2", 1, 1),
        ("p1", 1, 3),
        ("p1", 1, 5),
        ("p1", 2, 1),
    ]


def test_prompts_are_rendered_no_earlier_than_needed() -> None:
    rendered: list[int] = []
    done: list[int] = []
    ahead: list[int] = []

    def rendering(i: int) -> Prompt:
        rendered.append(i)
        ahead.append(len(rendered) - len(done))
        return Prompt(system="", persona="", question=str(i))

    def reading(_text: str) -> int:
        done.append(1)
        return 1

    asked = [call(prompt=lambda i=i: rendering(i), read=reading) for i in range(100)]  # type: ignore[misc]
    with world(FakeProvider(latency=1.0)) as w:
        w.asker.ask(asked)
    assert rendered == list(range(100))
    assert max(ahead) <= 2 * 4
    assert w.provider.most_flying == 4


def test_text_that_is_no_unicode_is_recorded_as_its_escape() -> None:
    with world(scripted(completion('{"n": 1, "t": "\ud800\0é"}'))) as w:
        w.asker.ask([call(question="\udfff?", read=lambda _text: 1)])
    (record,) = w.log.records
    assert "\\udfff?" in (record.request or "")
    assert record.request_sha256 == sha256_hex(record.request or "")
    assert json.loads(record.response or "")["text"] == '{"n": 1, "t": "\ud800\0é"}'
    assert "é" in (record.response or "")


def test_totals_are_kept_by_tick() -> None:
    with world(scripted(completion(), TransientError("x", billed=True), completion())) as w:
        w.asker.ask([call(tick=1)])
        w.asker.ask([call(tick=2)])
        one, two, none = (w.board.totals(tick) for tick in (1, 2, 3))
    assert (one.calls, one.input_tokens, one.output_tokens) == (1, 50, 10)
    assert one.cost_usd == pytest.approx(100e-6)
    assert one.unconfirmed_usd == 0.0
    assert two.unconfirmed_usd > 0.0
    assert none.calls == 0


def test_a_wrong_key_stops_at_once_with_one_message() -> None:
    with (
        world(FakeProvider(script=lambda *_: UnusableError("wrong key"), latency=1.0)) as w,
        pytest.raises(ModelUnusableError, match=r"^openai:gpt-test cannot be used: wrong key$"),
    ):
        w.asker.ask(calls(100))
    assert len(w.provider.requests) == 4
    assert [r.error for r in w.log.records] == ["interrupted: wrong key"] * 4


def test_a_request_that_an_sdk_gave_up_by_itself_is_tried_again() -> None:
    with world(scripted(asyncio.CancelledError(), completion())) as w:
        (answer,) = w.asker.ask([call()])
    assert answer.value == 1
    assert (w.log.records[0].attempts, w.log.records[0].billed) == (2, 2)


def test_what_is_in_flight_when_a_run_stops_is_finished_and_recorded() -> None:
    def script(number: int, _request: Request) -> Completion | UnusableError | TransientError:
        if number == 0:
            return UnusableError("no credit")
        return TransientError("reset", billed=True) if number == 1 else completion("one")

    with (
        world(FakeProvider(script=script, latency=1.0)) as w,
        pytest.raises(ModelUnusableError),
    ):
        w.asker.ask(calls(100))
    assert sorted((r.persona_id, r.outcome, r.error) for r in w.log.records) == [
        ("p0", "error", "interrupted: no credit"),
        ("p1", "error", "interrupted: reset"),
        ("p2", "invalid", "n has to be a number"),
        ("p3", "invalid", "n has to be a number"),
    ]


def test_nobody_there_at_the_start_stops_the_run() -> None:
    with (
        world(scripted(NoConnectionError("nobody there"))) as w,
        pytest.raises(ModelUnusableError, match="nobody there"),
    ):
        w.asker.ask(calls(10))


def test_a_server_that_goes_away_stops_the_run_after_twenty_calls() -> None:
    def script(number: int, _request: Request) -> Completion | NoConnectionError:
        return completion() if number == 0 else NoConnectionError("gone")

    with (
        world(FakeProvider(script=script), settings=Settings(concurrency=1, tries=1)) as w,
        pytest.raises(ModelUnusableError, match="gone"),
    ):
        w.asker.ask(calls(100))
    assert len(w.log.records) == 21
    assert [r.error for r in w.log.records[-2:]] == ["gone", "interrupted: gone"]


def test_a_server_that_comes_back_is_forgiven() -> None:
    def script(number: int, _request: Request) -> Completion | NoConnectionError:
        return completion() if number % 15 == 0 else NoConnectionError("gone")

    with world(FakeProvider(script=script), settings=Settings(concurrency=1, tries=1)) as w:
        answers = w.asker.ask(calls(60))
    assert sum(answer.value == 1 for answer in answers) == 4


def test_a_quota_that_is_used_up_for_hours_stops_the_run() -> None:
    with (
        world(scripted(RateLimitedError("come back later", retry_after=3600.0))) as w,
        pytest.raises(ModelUnusableError, match="come back later"),
    ):
        w.asker.ask(calls(10))
    assert max(w.provider.sent_at) == 1000.0


def test_a_flaw_of_the_engine_comes_through_and_its_paid_reply_is_kept() -> None:
    def read(_text: str) -> int:
        raise ZeroDivisionError("oops")

    with world() as w, pytest.raises(ZeroDivisionError):
        w.asker.ask([call(read=read)])
    (record,) = w.log.records
    assert record.outcome == "error"
    assert record.error == "interrupted: ZeroDivisionError: oops"
    assert record.response is not None


def test_a_prompt_that_cannot_be_rendered_comes_through() -> None:
    def prompt() -> Prompt:
        raise UsageError("empty")

    with world() as w:
        with pytest.raises(UsageError, match="empty"):
            w.asker.ask([call(prompt=prompt)])
        assert w.asker.ask([call()])[0].value == 1  # and the next batch is none the worse


def test_a_provider_that_cannot_be_loaded_comes_through() -> None:
    def load() -> FakeProvider:
        raise UsageError("OPENAI_API_KEY is not set")

    with Switchboard(streams=Streams(1)) as board:
        asker = board.asker(load, MODEL)
        with pytest.raises(UsageError, match="OPENAI_API_KEY"):
            asker.ask([call()])
        with pytest.raises(UsageError, match="OPENAI_API_KEY"):
            board.check()


def test_a_check_names_every_model_that_cannot_be_used_once() -> None:
    bad = FakeProvider(trouble=UnusableError("wrong key"))
    same = FakeProvider(trouble=UnusableError("wrong key"))
    away = FakeProvider(model="other", trouble=NoConnectionError("no network"))
    busy = FakeProvider(model="third", trouble=RateLimitedError("slowly"))
    with Switchboard(streams=Streams(1)) as board:
        for provider in (bad, same, away, busy, FakeProvider(model="good")):
            board.asker(lambda provider=provider: provider, MODEL)  # type: ignore[misc]
        with pytest.raises(UsageError) as caught:
            board.check()
    assert str(caught.value).splitlines() == [
        "openai:gpt-test at api.test: wrong key",
        "openai:other at api.test: no network",
    ]


def test_a_check_of_good_models_says_nothing() -> None:
    with world() as w:
        w.board.check()
    assert w.provider.requests == []


def test_notes_come_once() -> None:
    limited = RateLimitedError("slowly", retry_after=1.0)
    provider = scripted(limited, completion())
    provider.notes = ["takes no schema", "takes no schema"]
    with world(provider) as w:
        assert w.board.notes == []
        w.asker.ask([call()])
        assert w.board.notes == [
            "takes no schema",
            "api.test asked to slow down: fewer requests were in flight for a while",
        ]


def test_closing_closes_providers_and_leaves_no_thread() -> None:
    with world() as w:
        w.asker.ask(calls(3))
        assert call_threads() == 1
    assert w.provider.closed == 1
    assert call_threads() == 0
    w.board.close()
    assert w.provider.closed == 1


def test_a_provider_that_cannot_close_does_not_hold_the_others() -> None:
    class Stuck(FakeProvider):
        async def close(self) -> None:
            raise OSError("never opened")

    stuck = Stuck()
    with world(stuck) as w:
        other = FakeProvider()
        w.board.asker(lambda: other, MODEL).ask([call()])
        w.asker.ask([call("p2")])
    assert other.closed == 1


def test_without_a_sink_records_are_only_counted() -> None:
    with Switchboard(streams=Streams(1)) as board:
        board.asker(FakeProvider, MODEL).ask([call()])
        assert board.totals(1).calls == 1


def test_a_sink_may_be_set_later() -> None:
    log = Log()
    with Switchboard(streams=Streams(1)) as board:
        asker = board.asker(FakeProvider, MODEL)
        board.sink = log
        asker.ask([call()])
    assert len(log.records) == 1


def test_virtual_time_takes_none() -> None:
    async def sleep() -> float:
        loop = asyncio.get_running_loop()
        start = loop.time()
        await asyncio.sleep(3600.0)
        return loop.time() - start

    assert in_virtual_time(sleep()) == pytest.approx(3600.0)
