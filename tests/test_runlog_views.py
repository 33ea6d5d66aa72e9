from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import run_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation import records
from simulation.calls.record import CallRecord
from simulation.calls.rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.runlog import RunFile, RunWriter


@pytest.fixture(name="run", scope="module")
def story_run() -> Iterator[RunFile]:
    with run_rows.write_run(None, run_rows.story()) as writer:
        yield writer.reader()


def rows(run: RunFile, sql: str) -> list[tuple[Any, ...]]:
    return run.query(sql).rows


changes = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["p1", "p2"]),
        st.sampled_from(["turn", "reflection"]),
        st.sampled_from(["value", "C1"]),
        st.floats(0, 1),
    ),
    max_size=12,
    unique_by=lambda change: change[:4],
)


def moved_run(moves: list[tuple[int, str, str, str, float]], last: int) -> RunWriter:
    start = run_rows.start(personas=("p1", "p2"), dimensions=("value",), claims=("C1",))
    state: dict[tuple[str, str], float] = {}
    chained: dict[int, list[dict[str, Any]]] = {}
    for tick, persona, phase, target, after in sorted(moves, key=lambda m: (m[0], m[2] != "turn")):
        before = state.get((persona, target), 0.5)
        state[persona, target] = after
        row = run_rows.change(persona, target, before, after, phase=phase)
        chained.setdefault(tick, []).insert(0, row)  # the order in the file must not matter
    ticks = [run_rows.tick(t, changes=chained.get(t, [])) for t in range(1, last + 1)]
    return run_rows.write_run(None, [start, *ticks])


@settings(max_examples=8, deadline=None)
@given(changes)
def test_beliefs_carry_each_state_forward_to_the_last_tick(
    moves: list[tuple[int, str, str, str, float]],
) -> None:
    expected: dict[tuple[int, str, str], float] = {}
    state = {(p, t): 0.5 for p in ("p1", "p2") for t in ("value", "C1")}
    for tick in range(6):
        for phase in ("turn", "reflection"):
            state |= {(m[1], m[3]): m[4] for m in moves if m[0] == tick and m[2] == phase}
        expected |= {(tick, *key): value for key, value in state.items()}
    with moved_run(moves, 5) as writer:
        found = rows(writer.reader(), "SELECT tick, persona_id, target, belief FROM beliefs")
    assert len(found) == len(expected)
    assert {row[:3]: row[3] for row in found} == expected


def test_beliefs_of_a_run_that_only_started_are_those_of_tick_zero() -> None:
    with run_rows.write_run(None, [run_rows.start()]) as writer:
        assert rows(writer.reader(), "SELECT DISTINCT tick, belief FROM beliefs") == [(0, 0.5)]


def test_a_summary_describes_the_whole_population(run: RunFile) -> None:
    row = rows(
        run, "SELECT * EXCLUDE (tick, target) FROM belief_summary WHERE tick = 3 AND target = 'C1'"
    )[0]
    values = [0.45, 0.5, 0.6]
    assert row[0] == 3
    assert row[1:3] == pytest.approx((statistics.fmean(values), statistics.pstdev(values)))
    assert row[3:] == pytest.approx((0.46, 0.5, 0.58, 1 / 3))


def test_action_counts_share_out_the_turns_of_a_tick(run: RunFile) -> None:
    found = rows(run, "SELECT * FROM action_counts ORDER BY tick, action")
    assert found == [
        (1, "comment", 1, pytest.approx(1 / 3)),
        (1, "ignore", 2, pytest.approx(2 / 3)),
        (2, "follow", 1, 0.5),
        (2, "like", 1, 0.5),
    ]


def test_a_flip_names_the_post_that_caused_it(run: RunFile) -> None:
    found = rows(
        run,
        "SELECT tick, persona_id, claim_id, before, after, crossed, jumped, phase, "
        "cause_stimulus_id, cause_author, cause_text FROM claim_flips ORDER BY tick",
    )
    assert found == [
        (1, "p1", "C1", 0.4, 0.6, True, False, "turn", "ad1", "Bolt", "Twenty grams!"),
    ]


def flips(*path: float) -> list[tuple[Any, ...]]:
    moves = [(t, "p1", "turn", "C1", after) for t, after in enumerate(path, 1)]
    with moved_run(moves, len(path)) as writer:
        sql = "SELECT tick, crossed, jumped FROM claim_flips ORDER BY tick"
        return rows(writer.reader(), sql)


def test_leaving_the_undecided_start_is_no_flip_but_changing_sides_is() -> None:
    assert flips(0.6) == []
    assert flips(0.4) == []
    assert flips(0.4, 0.6) == [(2, True, False)]
    assert flips(0.6, 0.4) == [(2, True, False)]


def test_a_stay_at_one_half_does_not_hide_a_flip() -> None:
    assert flips(0.6, 0.5, 0.4) == [(3, True, False)]
    assert flips(0.6, 0.5, 0.6) == []


def test_a_move_of_exactly_three_tenths_is_no_jump_and_a_larger_one_is() -> None:
    assert flips(0.8) == []
    assert flips(0.81) == [(1, False, True)]
    assert flips(0.19) == [(1, False, True)]


def test_a_flip_counts_the_tick_as_a_whole_and_names_the_larger_move() -> None:
    moves = [(1, "p1", "turn", "C1", 0.7), (1, "p1", "reflection", "C1", 0.95)]
    with moved_run(moves, 1) as writer:
        sql = "SELECT before, after, jumped, phase FROM claim_flips"
        assert rows(writer.reader(), sql) == [(0.5, 0.95, True, "reflection")]
    tied = [(1, "p1", "turn", "C1", 0.75), (1, "p1", "reflection", "C1", 1.0)]
    with moved_run(tied, 1) as writer:
        assert rows(writer.reader(), "SELECT phase FROM claim_flips") == [("turn",)]


def test_dimensions_do_not_flip() -> None:
    with moved_run([(1, "p1", "turn", "value", 1.0)], 1) as writer:
        assert rows(writer.reader(), "SELECT * FROM claim_flips") == []


def test_drift_counts_personas_and_answers_and_no_failed_call(run: RunFile) -> None:
    assert rows(run, "SELECT * FROM drift") == [(2, 2, 1, 0.5, 3, 2, 1, 0.5)]


def test_drift_without_any_answer_has_no_share() -> None:
    asked = [{"tick": 1, "persona_id": "p1", "answer": None, "agrees": None}]
    extra = [run_rows.rows(records.Probes, asked)]
    with run_rows.write_run(None, [run_rows.start(), run_rows.tick(1, extra=extra)]) as writer:
        assert rows(writer.reader(), "SELECT * FROM drift") == [(1, 1, 0, None, 1, 0, 0, None)]


def test_failures_give_the_share_of_personas_asked(run: RunFile) -> None:
    found = rows(
        run,
        "SELECT tick, purpose, asked, failed, share, fallback, unanswered, rejected "
        "FROM failures ORDER BY tick, purpose",
    )
    assert found == [
        (1, "turn", 3, 2, pytest.approx(2 / 3), 1, 0, 1),
        (2, "probe", 2, 1, 0.5, 0, 1, 0),
        (2, "reflection", 1, 0, 0.0, 0, 0, 0),
        (2, "turn", 2, 0, 0.0, 0, 0, 0),
    ]


def called(persona_id: str, latency_s: float | None, outcome: str) -> CallRecord:
    return CallRecord(
        tick=1,
        persona_id=persona_id,
        purpose="turn",
        attempt=1,
        provider="x",
        model="m",
        request_sha256="",
        request="{}",
        response=None,
        input_tokens=10,
        cached_tokens=None,
        written_tokens=None,
        output_tokens=2,
        cost_usd=0.5,
        latency_s=math.nan if latency_s is None else latency_s,
        attempts=1,
        outcome=outcome,
        error=None,
        billed=1,
        unconfirmed_usd=0.25,
        unconfirmed_tokens=0,
    )


def test_calls_to_models_count_under_spend_and_failures() -> None:
    with run_rows.write_run(None, [run_rows.start(), run_rows.tick(1)]) as writer:
        calls = [("p1", 1.0, "ok"), ("p2", 3.0, "repaired"), ("p3", None, "refused")]
        writer.log_calls(rows_of([called(*call) for call in calls]))
        run = writer.reader()
        assert rows(run, "SELECT * FROM spend") == [
            (1, "turn", "x", "m", 3, 0, 30, 0, 6, 1.5, 0.75, 0.0, 2.0)
        ]
        sql = "SELECT asked, failed, repaired, invalid, refused, error FROM failures"
        assert rows(run, sql) == [(3, 2, 1, 0, 1, 0)]


@pytest.mark.parametrize(("last", "rejected"), [("note", 0), ("unknown_belief", 1)])
def test_what_nothing_asked_for_is_no_failure(last: str, rejected: int) -> None:
    refused = [
        {"tick": 1, "persona_id": "p1", "purpose": "turn", "kind": kind, "detail": "x"}
        for kind in ("unused_target", "unknown_key", last)
    ]
    plain = run_rows.tick(1)
    kept = tuple(part for part in plain.rows if part.table != "rejections")
    tick = replace(plain, rows=(*kept, run_rows.rows(records.Rejections, refused)))
    with run_rows.write_run(None, [run_rows.start(), tick]) as writer:
        sql = "SELECT coalesce(sum(rejected), 0) FROM failures WHERE purpose = 'turn'"
        assert rows(writer.reader(), sql) == [(rejected,)]


def test_memory_composition_holds_what_was_written_and_not_yet_evicted(run: RunFile) -> None:
    found = rows(run, "SELECT * FROM memory_composition WHERE persona_id = 'p2' ORDER BY tick")
    assert found == [
        (0, "p2", 0, 0, None),
        (1, "p2", 1, 0, 0.0),
        (2, "p2", 2, 1, 0.5),
        (3, "p2", 2, 1, 0.5),
    ]
    assert rows(run, "SELECT count(*) FROM memory_composition") == [(12,)]


def test_reach_says_who_saw_a_post_and_what_it_did(run: RunFile) -> None:
    found = rows(
        run,
        "SELECT post_id, author, exposures, personas, first_seen_tick, last_seen_tick, "
        "engagements, belief_changes, total_change FROM posts_reach ORDER BY post_id",
    )
    assert found == [
        (1, "Bolt", 2, 2, 1, 1, 1, 2, pytest.approx(0.25)),
        (2, "p1", 1, 1, 2, 2, 1, 1, pytest.approx(0.4)),
    ]


def test_a_post_that_nobody_saw_has_reach_zero() -> None:
    lone = [run_rows.rows(records.Posts, [{"post_id": 9, "tick": 1, "author": "p1"}])]
    with run_rows.write_run(None, [run_rows.start(), run_rows.tick(1, extra=lone)]) as writer:
        sql = "SELECT exposures, first_seen_tick, engagements, total_change FROM posts_reach"
        assert rows(writer.reader(), sql) == [(0, None, 0, 0.0)]


def test_a_timeline_reads_as_what_happened(run: RunFile) -> None:
    sql = (
        "SELECT tick, step, what, detail FROM persona_timeline "
        "WHERE persona_id = '{}' AND (tick > 0 OR target_c1) ORDER BY tick, step"
    )
    lines = {
        persona: rows(run, sql.format(persona).replace("target_c1", "subject = 'C1'"))
        for persona in ("p1", "p2", "p3")
    }
    assert lines["p1"] == [
        (0, 1, "started", "C1 = 0.400"),
        (1, 1, "perceived", "Bolt (ad): Twenty grams!"),
        (1, 2, "did", "comment post 1 by Bolt: Twenty grams!"),
        (1, 3, "said", "Sounds great."),
        (1, 4, "changed belief", "C1 0.400 -> 0.600 mainly because of Bolt: Twenty grams!"),
        (1, 5, "changed belief", "value 0.500 -> 0.550 mainly because of Bolt: Twenty grams!"),
        (1, 6, "remembered", "I saw an ad."),
        (1, 7, "had refused", "turn, unknown_belief: no belief C9"),
    ]
    assert lines["p2"][3:] == [
        (2, 1, "perceived", "p1 (comment): Sounds great."),
        (2, 2, "recalled", "from tick 1 (product): I saw an ad."),
        (2, 3, "did", "like post 2 by p1: Sounds great."),
        (2, 4, "changed belief", "C1 0.500 -> 0.100 mainly because of p1: Sounds great."),
        (2, 5, "remembered", "I liked it."),
        (2, 6, "reflected", "after a sharp move"),
        (2, 7, "changed belief", "C1 0.100 -> 0.450 on reflection"),
        (2, 8, "remembered", "I saw an ad."),
        (2, 9, "forgot", "from tick 1: I saw an ad."),
        (2, 10, "was probed", "How old are you? 40 (agrees)"),
    ]
    assert lines["p3"][3:] == [
        (1, 3, "remembered", "I saw an ad."),
        (2, 1, "did", "follow p1"),
        (2, 2, "was probed", "How old are you? 12 (disagrees: 40)"),
        (2, 3, "was probed", "How old are you? (no answer)"),
    ]


def test_a_timeline_has_no_line_without_words(run: RunFile) -> None:
    assert rows(run, "SELECT * FROM persona_timeline WHERE detail IS NULL") == []


def test_a_stimulus_that_is_no_post_is_perceived_by_its_own_text() -> None:
    event = {"stimulus_id": "s1", "tick": 1, "source": "Gazette", "text": "Vote!", "kind": "news"}
    seen = {"tick": 1, "persona_id": "p1", "post_id": -1, "stimulus_id": "s1"}
    moved = run_rows.change("p1", "C1", 0.5, 0.6, cause_stimulus_id="s1")
    ticks = [
        run_rows.start(extra=[run_rows.rows(records.Stimuli, [event])]),
        run_rows.tick(1, changes=[moved], extra=[run_rows.rows(records.Exposures, [seen])]),
    ]
    with run_rows.write_run(None, ticks) as writer:
        sql = "SELECT what, detail FROM persona_timeline WHERE tick = 1 ORDER BY step"
        assert rows(writer.reader(), sql) == [
            ("perceived", "Gazette (news): Vote!"),
            ("changed belief", "C1 0.500 -> 0.600 mainly because of s1"),
        ]


def test_a_reflection_out_of_habit_says_after_how_many_turns() -> None:
    mused = {"tick": 1, "persona_id": "p1", "trigger": "cadence", "source": "fallback"}
    ticks = [
        run_rows.start(),
        run_rows.tick(1, extra=[run_rows.rows(records.Reflections, [mused])]),
    ]
    with run_rows.write_run(None, ticks) as writer:
        sql = "SELECT detail FROM persona_timeline WHERE what = 'reflected'"
        told = "after 5 turns (by rule, after a failed answer)"
        assert rows(writer.reader(), sql) == [(told,)]


def test_survey_summary_has_the_mean_point_and_the_share_of_each() -> None:
    answers = [("p1", "no", [0.5, 0.5, 0.0]), ("p2", "yes", [0.0, 0.0, 1.0]), ("p3", None, None)]
    asked = [
        {"tick": 1, "persona_id": who, "question_id": "q", "answer": said, "scale_pmf": pmf}
        for who, said, pmf in answers
    ]
    silent = {"tick": 1, "persona_id": "p1", "question_id": "r", "answer": None, "scale_pmf": None}
    extra = [run_rows.rows(records.Surveys, [*asked, silent])]
    with run_rows.write_run(None, [run_rows.start(), run_rows.tick(1, extra=extra)]) as writer:
        found = rows(writer.reader(), "SELECT * FROM survey_summary ORDER BY question_id")
    assert found == [
        (1, "q", 3, 2, 2.25, 0.75, [0.25, 0.25, 0.5]),
        (1, "r", 1, 0, None, None, None),
    ]
