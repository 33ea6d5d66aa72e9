"""A run in short: every number from the rows of its file, and words that read well."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from run_rows import (
    CLAIMS,
    DIMENSIONS,
    PERSONAS,
    change,
    header,
    rows,
    start,
    story,
    tick,
    write_run,
)

from simulation import records
from simulation.analysis.summary import Summary, summarise
from simulation.cli.closing import closing
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

AGAIN = ["simulation", "run", "bar.yaml", "--seed", "8"]
OTHER = "runs/bar-seed8.duckdb"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "bar.duckdb"
    write_run(file, story())
    return file


@pytest.fixture
def told(path: Path) -> Summary:
    return summarise(path)


def made(
    tmp_path: Path, ticks: Sequence[records.TickRecords], status: str = "complete"
) -> Summary:
    file = tmp_path / "made.duckdb"
    write_run(file, ticks, status=status)
    return summarise(file)


def words(summary: Summary) -> str:
    return closing(summary, AGAIN, OTHER)


def test_means_and_shares_equal_those_of_the_view_of_every_tick(path: Path, told: Summary) -> None:
    sql = "SELECT target, mean, share_above_half FROM belief_summary WHERE tick = ?"
    with RunFile.open(path) as run:
        ends = [run.query(sql, parameters=[t]).rows for t in (0, told.last_tick)]
    start_of, end_of = ({name: values for name, *values in rows} for rows in ends)
    assert len(told.beliefs) == 4
    for each in told.beliefs:
        assert start_of[each.target] == pytest.approx([each.start, each.start_above])
        assert end_of[each.target] == pytest.approx([each.end, each.end_above])


def test_the_reflection_share_equals_that_of_the_view_at_the_last_tick(
    path: Path, told: Summary
) -> None:
    sql = "SELECT avg(reflection_share) FROM memory_composition WHERE tick = ?"
    with RunFile.open(path) as run:
        assert run.query(sql, parameters=[told.last_tick]).rows[0][0] == told.reflection_share
    assert told.reflection_share is not None


def test_beliefs_come_in_the_order_of_the_brief(tmp_path: Path) -> None:
    file = tmp_path / "order.duckdb"
    run = header(parameters={"brief.dimensions": ["value", "trust"]})
    write_run(file, [start(claims=("C2", "C1"))], run=run)
    summary = summarise(file)
    assert [each.target for each in summary.beliefs] == ["value", "trust", "C2", "C1"]
    assert [each.text for each in summary.beliefs] == [None, None, "C2.", "C1."]


def test_a_reflection_in_the_same_tick_has_the_last_word(tmp_path: Path) -> None:
    changes = [
        change("p1", "C1", 0.7, 0.1, phase="reflection"),
        change("p1", "C1", 0.5, 0.7),
    ]
    summary = made(tmp_path, [start(), tick(1, changes=changes)])
    assert [(m.persona_id, m.target, m.after) for m in summary.movers] == [("p1", "C1", 0.1)]


def test_each_persona_is_named_once_among_those_who_moved_most(tmp_path: Path) -> None:
    changes = [
        change("p1", "C1", 0.5, 0.9),
        change("p1", "value", 0.5, 0.8),
        change("p2", "C1", 0.5, 0.3),
        change("p3", "C2", 0.5, 0.5),
    ]
    summary = made(tmp_path, [start(), tick(1, changes=changes)])
    assert [(m.persona_id, m.target) for m in summary.movers] == [("p1", "C1"), ("p2", "C1")]


def test_actions_are_shared_out_commonest_first_and_buyers_counted_once(tmp_path: Path) -> None:
    turns = [{"persona_id": "p1", "action": "buy"}, {"persona_id": "p2"}, {"persona_id": "p3"}]
    again = [{"persona_id": "p1", "action": "buy"}]
    summary = made(tmp_path, [start(), tick(1, turns=turns), tick(2, turns=again)])
    assert [(a.action, a.turns, a.share) for a in summary.actions] == [
        ("buy", 2, 0.5),
        ("ignore", 2, 0.5),
    ]
    assert (summary.bought, summary.rejected) == (1, 0)


def test_flips_name_their_direction_and_cause(told: Summary) -> None:
    by_claim = {each.claim_id: each for each in told.claim_flips}
    assert set(by_claim) == {"C1", "C2"}
    first = told.largest_flips[0]
    sizes = [abs(each.after - each.before) for each in told.largest_flips]
    assert sizes == sorted(sizes, reverse=True)
    assert first.claim_id == "C1"


def test_a_crossing_counts_by_the_side_it_ends_on(tmp_path: Path) -> None:
    summary = made(
        tmp_path,
        [
            start(beliefs={("p1", "C1"): 0.4, ("p2", "C1"): 0.6, ("p3", "C1"): 0.7}),
            tick(
                1,
                changes=[
                    change("p1", "C1", 0.4, 0.6),
                    change("p2", "C1", 0.6, 0.4),
                    change("p3", "C1", 0.7, 0.45),
                ],
            ),
        ],
    )
    first = summary.claim_flips[0]
    assert (first.claim_id, first.to_belief, first.to_doubt) == ("C1", 1, 2)
    assert "C1 1 up, 2 down" in words(summary)


def test_failures_are_counted_over_all_ticks_with_their_kinds(told: Summary) -> None:
    turn = next(each for each in told.failures if each.purpose == "turn")
    assert turn.failed == 2
    assert turn.share == turn.failed / turn.asked
    assert "1 fallback" in turn.kinds
    assert "1 unknown_belief" in turn.kinds
    assert f"turn 2 of {turn.asked} (" in words(told)


def test_a_run_without_failures_says_none(tmp_path: Path) -> None:
    summary = made(tmp_path, [start(), tick(1, turns=[{"persona_id": "p1"}])])
    assert summary.failures == ()
    assert "Failures  none" in words(summary)


def test_drift_counts_the_probed_and_those_who_contradict_themselves(told: Summary) -> None:
    assert told.drift is not None
    assert (told.drift.probed, told.drift.disagreed) == (2, 1)
    assert "1 of 2 personas probed in 1 round contradicted themselves" in words(told).replace(
        "\n          ", " "
    )


def test_a_run_without_probes_says_that_drift_was_not_measured(tmp_path: Path) -> None:
    summary = made(tmp_path, [start()])
    assert summary.drift is None
    assert "Drift     not measured" in words(summary)


def memories(kinds: Sequence[str]) -> records.Memories:
    each = [
        {"memory_id": i, "persona_id": "p1", "tick": 1, "kind": kind}
        for i, kind in enumerate(kinds)
    ]
    return rows(records.Memories, each)


@pytest.mark.parametrize(("reflections", "warns"), [(4, False), (5, True)])
def test_a_run_warns_when_reflections_fill_more_than_four_fifths(
    tmp_path: Path, *, reflections: int, warns: bool
) -> None:
    kinds = ["turn"] + ["reflection"] * reflections
    summary = made(tmp_path, [start(), tick(1, extra=[memories(kinds)])])
    assert bool(summary.warnings) is warns
    assert ("Warning   reflections are 83%" in words(summary)) is warns


def dropped(*details: str) -> records.Rejections:
    given = {"purpose": "graph", "kind": "edges", "persona_id": None, "tick": 0}
    return rows(records.Rejections, [given | {"detail": detail} for detail in details])


def test_what_the_edge_file_lost_is_told_in_its_order_and_is_no_failure(tmp_path: Path) -> None:
    notes = ("graph: 7 of 9 nodes are unused; 12 lines drop", "graph: 3 lines are loops and drop")
    summary = made(tmp_path, [start(extra=[dropped(*notes)]), tick(1)])
    assert summary.notes == notes
    assert summary.failures == ()
    said = words(summary)
    assert [line for line in said.splitlines() if line.startswith("Note ")] == [
        f"Note      {note}" for note in notes
    ]


def test_a_run_that_lost_nothing_has_no_notes(told: Summary) -> None:
    assert told.notes == ()
    assert "Note " not in words(told)


def test_the_pace_is_turns_by_the_time_from_start_to_end(told: Summary) -> None:
    assert told.seconds > 0
    assert told.turns_per_s == pytest.approx(told.turns / told.seconds)


def test_a_run_that_stopped_early_says_so(tmp_path: Path) -> None:
    summary = made(tmp_path, [start(), tick(1)], status="interrupted")
    text = words(summary)
    assert "1 of 4 ticks" in text
    assert "Status    interrupted" in text


def test_a_run_without_people_can_be_told(tmp_path: Path) -> None:
    summary = made(tmp_path, [start(personas=()), tick(1)])
    assert summary.personas == 0
    text = words(summary)
    assert "0 personas" in text
    assert "nobody took a turn" in text
    assert "nan" not in text.lower()


def test_a_run_that_holds_not_even_its_start_can_be_told(tmp_path: Path) -> None:
    summary = made(tmp_path, [], status="failed")
    assert summary.digest is None
    assert summary.last_tick == -1
    assert "Digest    none" in words(summary)


def test_a_start_at_exactly_one_half_is_explained_where_most_have_it(tmp_path: Path) -> None:
    beliefs = {("p1", "C1"): 0.6, ("p2", "C1"): 0.4, ("p1", "trust"): 0.7, ("p1", "C2"): 0.3}
    summary = made(tmp_path, [start(beliefs=beliefs)])
    assert {shift.target: round(shift.start_at, 2) for shift in summary.beliefs} == {
        "value": 1.0,
        "trust": 0.67,
        "C1": 0.33,
        "C2": 0.67,
    }
    told = " ".join(words(summary).split())
    assert "(most start at exactly .5, which is not above it, in trust, value and C2)" in told
    apart = {(p, t): 0.6 for p in PERSONAS for t in (*DIMENSIONS, *CLAIMS)}
    (tmp_path / "made.duckdb").unlink()
    assert "exactly .5" not in words(made(tmp_path, [start(beliefs=apart)]))
    one = apart | {("p1", "C1"): 0.5, ("p2", "C1"): 0.5}
    (tmp_path / "made.duckdb").unlink()
    assert "not above it, in C1)" in words(made(tmp_path, [start(beliefs=one)]))


def test_the_summary_is_plain_values(told: Summary) -> None:
    values = told.to_dict()
    assert values["beliefs"][0]["target"] == told.beliefs[0].target
    assert values["drift"]["probed"] == 2
    assert values["scenario"] == "bar"


def test_the_words_fit_eighty_columns_but_for_commands_and_paths(
    told: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text, _, commands = words(told).partition("\nFile ")
    assert max(map(len, text.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in text.splitlines())
    assert "simulation tables" in commands


def test_the_next_steps_carry_the_real_paths_ready_to_paste(told: Summary) -> None:
    text = words(replace(told, path="runs/my bar.duckdb"))
    assert "  simulation tables 'runs/my bar.duckdb'\n" in text
    assert "  simulation run bar.yaml --seed 8\n" in text
    assert text.endswith(f"  simulation compare 'runs/my bar.duckdb' {OTHER}")


def test_a_hostile_persona_id_stays_inside_its_quotes(told: Summary) -> None:
    hostile = replace(told.movers[0], persona_id="x'; $(rm -rf ~) \"")
    text = words(replace(told, movers=(hostile,)))
    line = next(line for line in text.splitlines() if line.startswith("  simulation sql"))
    assert line.split("duckdb ", 1)[1].startswith("'SELECT")


def test_spending_is_told_when_there_was_any(told: Summary) -> None:
    spent = replace(told, model_calls=3, input_tokens=1200, output_tokens=40, cost_usd=0.012)
    assert "3 model calls, 1,200 tokens in, 40 out, 0.01 USD" in words(spent)
    assert "model call" not in words(told)
