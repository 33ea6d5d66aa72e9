"""Answers from the record: a run that goes on, and a run that is repeated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest
from calls_world import (
    MODEL,
    FakeProvider,
    Log,
    call,
    calls,
    completion,
    scripted,
    world,
)

from simulation.calls.budget import Limits
from simulation.calls.record import CallRecord, spent_on
from simulation.calls.recorded import Recorded, ReplayMissError
from simulation.calls.settings import Settings
from simulation.calls.switchboard import Switchboard
from simulation.providers.base import RefusedError, TransientError
from simulation.rng import Streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.calls.base import Answer, Call

STEPS = (
    completion(),  # p0
    completion("one"),  # p1 and its repair
    completion(),
    completion("one"),  # p2, not to be repaired
    completion("", read=None),
    RefusedError("a filter said no"),  # p3
    completion("no", finish="refusal"),  # p4
    TransientError("reset", billed=True),  # p5
)


def first_run(asked: Sequence[Call[int]]) -> tuple[list[CallRecord], Sequence[Answer[int]]]:
    with world(scripted(*STEPS), settings=Settings(concurrency=1, tries=1)) as w:
        answers = w.asker.ask(asked)
    return w.log.records, answers


def one_by_one(count: int = 6) -> list[Call[int]]:
    return calls(count)


@pytest.fixture
def recorded() -> tuple[list[CallRecord], list[Answer[int]]]:
    """Return what a run recorded, asked one call after the other."""
    log = Log()
    answers: list[Answer[int]] = []
    with world(scripted(*STEPS), settings=Settings(concurrency=1, tries=1), log=log) as w:
        for asked in one_by_one():
            answers += w.asker.ask([asked])
    return log.records, answers


def nobody() -> FakeProvider:
    raise AssertionError("a replay needs no provider")


def replay(
    records: list[CallRecord],
    asked: Sequence[Call[int]],
    *,
    miss: Literal["ask", "stop"] = "stop",
) -> tuple[Switchboard, Log, list[Answer[int]]]:
    log = Log()
    with Switchboard(
        streams=Streams(1),
        sink=log,
        limits=Limits(calls=1),
        recorded=Recorded(records, mode="replay", miss=miss),
    ) as board:
        board.check()
        answers = list(board.asker(nobody, MODEL).ask(asked))
    return board, log, answers


def test_the_record_holds_every_kind_of_end(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    assert [(r.persona_id, r.attempt, r.outcome) for r in recorded[0]] == [
        ("p0", 1, "ok"),
        ("p1", 1, "invalid"),
        ("p1", 2, "repaired"),
        ("p2", 1, "invalid"),
        ("p2", 2, "invalid"),
        ("p3", 1, "refused"),
        ("p4", 1, "refused"),
        ("p5", 1, "error"),
    ]


def test_a_replay_gives_the_same_answers_without_a_model(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    records, answers = recorded
    board, log, again = replay(records, one_by_one())
    assert again == [replace(answer, replayed=True) for answer in answers]
    assert board.spent == spent_on([])
    assert board.totals(1).calls == len(records)
    assert board.totals(1).input_tokens == sum(r.input_tokens or 0 for r in records)
    assert board.totals(1).cost_usd == 0.0
    assert log.records == [
        replace(r, attempts=0, billed=0, unconfirmed_usd=0.0, unconfirmed_tokens=0)
        for r in sorted(log.records, key=log.records.index)
    ]


def test_a_replay_writes_the_rows_it_was_answered_from_as_unpaid(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    records, answers = recorded
    _, log, _ = replay(records, one_by_one())

    def key(r: CallRecord) -> tuple[str, int]:
        return r.persona_id or "", r.attempt

    unpaid = {"attempts": 0, "billed": 0, "unconfirmed_usd": 0.0, "unconfirmed_tokens": 0}
    assert sorted(log.records, key=key) == [replace(r, **unpaid) for r in records]  # type: ignore[arg-type]
    assert spent_on(log.records) == spent_on([])
    _, _, third = replay(log.records, one_by_one())  # a replay can be replayed
    assert third == [replace(answer, replayed=True) for answer in answers]


def test_a_replay_that_misses_says_what_differs(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    with pytest.raises(ReplayMissError) as caught:
        replay(recorded[0], [call("p0", question="Which number? Think.")])
    assert str(caught.value) == (
        "tick 1, turn of p0, attempt 1: this is not what the recorded run asked: `question` "
        'differs from character 14 on: recorded "Which number?", now "Which number? Think."'
    )


def test_a_miss_compares_with_the_nearest_recorded_call(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    with pytest.raises(ReplayMissError, match=r"attempt 1: .*`question` differs from char"):
        replay(recorded[0], [call("p1", question="Which letter?")])
    with pytest.raises(ReplayMissError, match="tick 2, turn of p0, attempt 1: the recorded run"):
        replay(recorded[0], [call("p0", tick=2)])


def test_a_miss_for_another_model_says_so(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    with Switchboard(
        streams=Streams(1), recorded=Recorded(recorded[0], mode="replay", miss="stop")
    ) as board:
        other = board.asker(nobody, replace(MODEL, model="gpt-other"))
        with pytest.raises(ReplayMissError, match=r'`model` differs .* now "gpt-other"'):
            other.ask([call("p0")])
        warmer = board.asker(nobody, replace(MODEL, temperature=1.0))
        with pytest.raises(ReplayMissError, match=r'`temperature` .* recorded "0\.7", now "1\.0"'):
            warmer.ask([call("p0")])


def test_a_long_difference_is_shown_in_part(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    long = call("p9", question="a" * 500 + "b" * 500)
    records, _ = first_run([long])
    with pytest.raises(ReplayMissError) as caught:
        replay([*recorded[0], *records], [call("p9", question="a" * 500 + "\n" * 500)])
    assert f'now "…{"a" * 20}{chr(92)}n{chr(92)}n' in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_miss_whose_words_were_asked_less_often_says_so(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    with pytest.raises(ReplayMissError, match="the same words were recorded as attempt 1"):
        replay(recorded[0], [call("p0"), call("p0")])


def test_a_miss_without_recorded_words_says_why_it_cannot_tell(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    digests = [replace(r, request=None) for r in recorded[0]]
    replay(digests, one_by_one())
    with pytest.raises(ReplayMissError, match=r"log\.requests: digest"):
        replay(digests, [call("p0", question="?")])


def test_a_call_about_no_persona_is_named_by_its_purpose() -> None:
    about_a_text = replace(call(), persona_id=None, purpose="appraisal")
    with pytest.raises(ReplayMissError, match=r"^tick 1, appraisal, attempt 1: the recorded run"):
        replay([], [about_a_text])


def test_a_replay_may_ask_live_what_it_misses(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    old = Recorded(recorded[0], mode="replay", miss="ask")
    with world(recorded=old) as w:
        w.board.check()
        answers = w.asker.ask([call("p0"), call("p7"), call("p1")])
    assert [answer.replayed for answer in answers] == [True, False, True]
    assert [r.prompt.persona for r in w.provider.requests] == ["You are p7."]
    assert sorted((r.persona_id, r.attempts) for r in w.log.records) == [
        ("p0", 0),
        ("p1", 0),
        ("p1", 0),
        ("p7", 1),
    ]


def test_a_resumed_run_pays_for_nothing_twice_and_writes_nothing_twice(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    records, answers = recorded
    old = Recorded(records, mode="resume")
    with world(recorded=old, spent_before=spent_on(records)) as w:
        again = w.asker.ask(one_by_one(7))
        assert again[:5] == answers[:5]
        assert [a.value for a in again[5:]] == [1, 1]  # p5 had failed, p6 was not asked
        assert not any(answer.replayed for answer in again)
        assert [r.persona_id for r in w.log.records] == ["p5", "p6"]
        file = [*records, *w.log.records]
        assert w.board.totals(1).calls == len(file)
        assert w.board.totals(1).cost_usd == pytest.approx(sum(r.cost_usd or 0.0 for r in file))
        assert w.board.spent == spent_on(file)


def test_a_resumed_run_repairs_what_it_had_no_time_to() -> None:
    records, _ = first_run([call("p0"), call("p1", repair=None)])
    assert records[-1].outcome == "invalid"
    with world(recorded=Recorded(records, mode="resume")) as w:
        answers = w.asker.ask([call("p0"), call("p1")])
    assert [answer.value for answer in answers] == [1, 1]
    assert [(r.attempt, r.outcome) for r in w.log.records] == [(2, "repaired")]


def test_of_several_with_one_digest_the_last_counts(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    failed = replace(recorded[0][0], outcome="error", error="reset", response=None)
    cut_off = replace(failed, error="interrupted: budget")
    good = recorded[0][0]
    for records in ([failed, good], [cut_off, good], [good, cut_off]):
        _, _, (answer,) = replay(records, [call("p0")])
        assert answer.value == 1
    _, _, (answer,) = replay([good, failed], [call("p0")])
    assert answer.faults == (("model_error", "reset"),)
    with pytest.raises(ReplayMissError):
        replay([cut_off], [call("p0")])


def test_a_reply_that_the_engine_choked_on_is_not_paid_for_again(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    choked = replace(recorded[0][0], outcome="error", error="interrupted: ZeroDivisionError: x")
    with world(recorded=Recorded([choked], mode="resume")) as w:
        assert w.asker.ask([call("p0")])[0].value == 1
    assert w.provider.requests == []


def test_a_record_is_found_by_all_parts_of_its_key(
    recorded: tuple[list[CallRecord], list[Answer[int]]],
) -> None:
    first = recorded[0][0]
    old = Recorded(recorded[0], mode="replay")
    sha = first.request_sha256
    assert old.find(1, "p0", "turn", 1, sha) == first
    for key in (
        (2, "p0", "turn", 1, sha),
        (1, "p1", "turn", 1, sha),
        (1, "p0", "probe", 1, sha),
        (1, "p0", "turn", 2, sha),
        (1, "p0", "turn", 1, "0" * 64),
    ):
        assert old.find(*key) is None
