from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import run_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small import small

from simulation import records, simulate
from simulation.analysis.compare import compare
from simulation.errors import RunFileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.analysis.comparison import Comparison
    from simulation.runlog import RunHeader


def pair(
    folder: Path,
    first: Sequence[records.TickRecords],
    second: Sequence[records.TickRecords],
    *,
    other: RunHeader | None = None,
) -> Comparison:
    run_rows.write_run(folder / "a.duckdb", first)
    run_rows.write_run(folder / "b.duckdb", second, run=other)
    return compare([folder / "a.duckdb", folder / "b.duckdb"])


def text_of(comparison: Comparison) -> str:
    return "\n".join(comparison.summary())


def test_a_run_is_identical_with_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    run_rows.write_run(path, run_rows.story())
    same = compare([path, path])
    assert same.identical
    assert (same.same_scenario, same.same_seed, same.same_versions) == (True, True, True)
    assert same.same_state is True
    assert (same.settings, same.divergence, same.largest) == ({}, None, ())
    assert {mean.difference for mean in same.means} == {0.0}
    assert "Identical: every belief, turn and state digest of 3 ticks agrees." in same.summary()


def test_two_files_of_equal_rows_are_identical(tmp_path: Path) -> None:
    assert pair(tmp_path, run_rows.story(), run_rows.story()).identical


def moved(persona: str, after: float, *, action: str = "ignore") -> list[records.TickRecords]:
    post = {"post_id": 1, "tick": 1, "author": "Bolt", "text": "Twenty grams!"}
    quiet = run_rows.tick(
        1,
        turns=[{"persona_id": "p1"}],
        extra=[run_rows.rows(records.Posts, [post])],
    )
    loud = run_rows.tick(
        2,
        turns=[{"persona_id": persona, "action": action}],
        changes=[run_rows.change(persona, "C2", 0.5, after, cause_post_id=1)],
    )
    return [run_rows.start(), quiet, loud, run_rows.tick(3)]


def test_the_first_belief_that_differs_is_named_with_its_cause(tmp_path: Path) -> None:
    found = pair(tmp_path, moved("p2", 0.7), moved("p2", 0.6, action="like"))
    where = found.divergence
    assert where is not None
    assert (where.kind, where.tick, where.persona_id, where.target) == ("belief", 2, "p2", "C2")
    assert where.values == (0.7, 0.6)
    assert where.personas == 1
    assert [turn and turn["action"] for turn in where.turns] == ["ignore", "like"]
    assert [len(changes) for changes in where.changes] == [1, 1]
    assert where.changes[0][0]["cause_author"] == "Bolt"
    assert found.same_state is False
    assert found.first_different_digest == 2
    assert not found.identical
    lines = found.summary()
    assert "They part at tick 2, persona p2, C2: 0.7 and 0.6." in lines
    assert "  A: ignore" in lines
    assert '     turn: 0.5 -> 0.6, because of Bolt: "Twenty grams!"' in lines
    assert "  C2     0.567  0.533  -0.033" in lines
    assert "  p2 C2: 0.700  0.600  -0.100" in lines
    assert "  like: 0  1" in lines


def test_an_event_of_the_scenario_is_a_cause_without_a_post(tmp_path: Path) -> None:
    event = {"stimulus_id": "s1", "tick": 1, "source": "Gazette", "text": "Vote!"}
    start = run_rows.start(extra=[run_rows.rows(records.Stimuli, [event])])
    moves = [run_rows.change("p1", "C1", 0.5, 0.75, cause_stimulus_id="s1")]
    found = pair(tmp_path, [start, run_rows.tick(1, changes=moves)], [start, run_rows.tick(1)])
    assert '     turn: 0.5 -> 0.75, because of Gazette: "Vote!"' in found.summary()


def test_of_several_beliefs_the_first_persona_and_target_is_named(tmp_path: Path) -> None:
    changes = [run_rows.change(p, t, 0.5, 0.9) for p in ("p3", "p2") for t in ("trust", "C2")]
    first = [run_rows.start(), run_rows.tick(1, changes=changes)]
    found = pair(tmp_path, first, [run_rows.start(), run_rows.tick(1)])
    where = found.divergence
    assert where is not None
    assert (where.persona_id, where.target, where.personas) == ("p2", "C2", 2)
    assert "(2 personas differ in that tick)" in text_of(found)
    assert "  A: no turn" in found.summary()


def recalling(
    *slots: tuple[int, float], after: float = 0.75, seen: Sequence[int] = (1,)
) -> list[records.TickRecords]:
    """Return a run in whose tick 2 p1 recalls memories with scores, sees posts and is moved."""
    told = ("I saw an ad.", "I asked Ann.", "I went home.")
    memories = [
        {"memory_id": i, "persona_id": "p1", "tick": 1, "text": text}
        for i, text in enumerate(told, 1)
    ]
    posts = [
        {"post_id": i, "tick": 1, "author": "Bolt", "text": text}
        for i, text in enumerate(("Buy!", "Wait!"), 1)
    ]
    recalls = [
        {"tick": 2, "persona_id": "p1", "slot": slot, "memory_id": memory, "score": score}
        for slot, (memory, score) in enumerate(slots, 1)
    ]
    feed = [
        {"tick": 2, "persona_id": "p1", "post_id": post, "position": place}
        for place, post in enumerate(seen)
    ]
    before = [run_rows.rows(records.Posts, posts), run_rows.rows(records.Memories, memories)]
    put = [run_rows.rows(records.Recalls, recalls), run_rows.rows(records.Exposures, feed)]
    moves = [run_rows.change("p1", "C1", 0.5, after)]
    turn = run_rows.tick(2, turns=[{"persona_id": "p1"}], changes=moves, extra=put)
    later = run_rows.tick(3, changes=[run_rows.change("p2", "C2", 0.5, round(after, 3))])
    return [run_rows.start(), run_rows.tick(1, extra=before), turn, later]


def test_what_only_one_run_recalled_or_saw_is_named_as_the_cause(tmp_path: Path) -> None:
    first = recalling((1, 0.5), (2, 0.25), seen=(1, 2))
    found = pair(tmp_path, first, recalling((1, 0.5), (3, 0.25), after=0.25))
    assert found.divergence is not None
    feed, memory = found.divergence.inputs
    assert (feed.kind, feed.only, feed.reordered) == ("feed", (("Bolt: Wait!",), ()), False)
    assert (memory.kind, memory.only) == ("memory", (("I asked Ann.",), ("I went home.",)))
    lines = found.summary()
    assert '  Only in A it saw "Bolt: Wait!"' in lines
    assert '  Only in A it recalled "I asked Ann."' in lines
    assert '  Only in B it recalled "I went home."' in lines
    assert found.visible == found.divergence
    assert "1e-9" not in text_of(found)


def test_of_many_things_seen_in_one_run_only_the_first_are_listed(tmp_path: Path) -> None:
    found = pair(tmp_path, recalling(seen=(1, *[2] * 7)), recalling(seen=(1,), after=0.25))
    assert found.summary().count('  Only in A it saw "Bolt: Wait!"') == 5
    assert "  and 2 more" in found.summary()


def test_a_difference_of_the_last_bit_shows_its_digits_its_cause_and_the_first_visible_one(
    tmp_path: Path,
) -> None:
    first, second = (
        recalling((1, 0.5), (2, 0.25)),
        recalling((2, 0.25), (1, 0.5), after=0.7500000001),
    )
    second[-1] = run_rows.tick(3, changes=[run_rows.change("p2", "C2", 0.5, 0.9)])
    found = pair(tmp_path, first, second)
    text = text_of(found)
    assert "p1, C1: 0.75 and 0.7500000001, 1e-10 apart." in text
    assert "     turn: 0.5 -> 0.7500000001" in found.summary()
    assert "  It recalled the same in both, in another order or with other scores." in text
    assert "more than 1e-9: tick 3, persona p2, C2, 0.75 and 0.9." in text
    assert found.visible is not None
    assert (found.visible.tick, found.visible.values) == (3, (0.75, 0.9))


def test_runs_that_differ_only_by_rounding_are_told_so(tmp_path: Path) -> None:
    other = recalling((1, 0.5), after=0.7500000001)
    found = pair(tmp_path, recalling((1, 0.5)), other)
    assert found.visible is None
    assert "  No belief differs by more than 1e-9." in found.summary()
    assert "  It saw and recalled the same in both, with equal scores." in found.summary()


def test_other_people_are_left_out_of_the_differences_by_persona(tmp_path: Path) -> None:
    run_rows.write_run(tmp_path / "a.duckdb", [run_rows.start(), run_rows.tick(1)])
    moves = [run_rows.change(p, "C1", 0.5, 0.9) for p in ("p1", "p2")]
    began = run_rows.start()
    people = began.rows[0]
    assert isinstance(people, records.Personas)
    other = replace(people, block_sha256=["x" * 64, *people.block_sha256[1:]])
    began = replace(began, rows=(other, *began.rows[1:]))
    run_rows.write_run(tmp_path / "b.duckdb", [began, run_rows.tick(1, changes=moves)])
    found = compare([tmp_path / "a.duckdb", tmp_path / "b.duckdb"])
    assert [each.persona_id for each in found.largest] == ["p2"]
    said = "Differences by persona leave out 1 of 3: other people with the same ids."
    assert said in found.summary()


def test_actions_that_are_as_many_are_named(tmp_path: Path) -> None:
    turns = [{"persona_id": "p1", "action": "buy"}, {"persona_id": "p2", "action": "post"}]
    first = [run_rows.start(), run_rows.tick(1, turns=turns)]
    more = [*turns, {"persona_id": "p3", "action": "like"}]
    found = pair(tmp_path, first, [run_rows.start(), run_rows.tick(1, turns=more)])
    assert found.summary()[-3:] == ["Actions (A, B):", "  like: 0  1", "  the same: buy, post"]


def test_a_start_that_differs_is_tick_zero(tmp_path: Path) -> None:
    other = [run_rows.start(beliefs={("p1", "trust"): 0.2})]
    found = pair(tmp_path, [run_rows.start()], other)
    assert found.divergence is not None
    assert (found.divergence.tick, found.divergence.target) == (0, "trust")
    assert found.same_state is None
    assert not found.identical
    assert "They part at the start, tick 0, persona p1, trust: 0.5 and 0.2." in found.summary()
    assert "  A: no turn" not in found.summary()


def test_a_turn_that_differs_before_any_belief_is_named(tmp_path: Path) -> None:
    def runs(text: str, after: float) -> list[records.TickRecords]:
        said = {"persona_id": "p1", "action": "post", "text": text}
        later = [run_rows.change("p1", "C1", 0.5, after)]
        return [run_rows.start(), run_rows.tick(1, turns=[said]), run_rows.tick(2, changes=later)]

    found = pair(tmp_path, runs("Yes.", 0.6), runs("No.", 0.4))
    where = found.divergence
    assert where is not None
    assert (where.kind, where.tick, where.persona_id, where.target) == ("turn", 1, "p1", None)
    assert "They part at tick 1, in the turn of persona p1." in found.summary()
    assert '  A: post: "Yes."' in found.summary()
    assert '  B: post: "No."' in found.summary()


def test_a_turn_that_only_one_run_took_differs(tmp_path: Path) -> None:
    first = [run_rows.start(), run_rows.tick(1, turns=[{"persona_id": "p2"}])]
    found = pair(tmp_path, first, [run_rows.start(), run_rows.tick(1)])
    assert found.divergence is not None
    assert found.divergence.kind == "turn"
    assert found.divergence.turns[1] is None
    assert "  B: no turn" in found.summary()


def test_a_digest_alone_that_differs_is_told(tmp_path: Path) -> None:
    first = [run_rows.start(), run_rows.tick(1, digest="1" * 64)]
    found = pair(tmp_path, first, [run_rows.start(), run_rows.tick(1, digest="2" * 64)])
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.tick) == ("state", 1)
    assert "They part at tick 1: beliefs and turns agree, the state digest does not" in text_of(
        found
    )


def test_settings_that_differ_are_listed_by_their_keys(tmp_path: Path) -> None:
    settings_of_b = {"recall.k.cheap": 5, **{f"x.{i}": "y" * 200 for i in range(7)}}
    other = run_rows.header(
        seed=8,
        parameters=settings_of_b,
        packages={"numpy": "3"},
        engine_version="0.2.0",
    )
    found = pair(tmp_path, run_rows.story(), run_rows.story(), other=other)
    assert not found.same_scenario
    assert not found.same_seed
    assert not found.same_versions
    assert found.settings["recall.k.cheap"] == (3, 5)
    assert found.settings["memory.cap"] == (50, None)
    assert found.settings["packages.numpy"] == ("2", "3")
    lines = found.summary()
    assert "Scenario: different (the same text)." in lines
    assert "  memory.cap: 50 -> (not set)" in lines
    assert "  and 5 more settings differ" in lines
    assert "Seed: 7 and 8." in lines
    assert (
        "Engine and encoder: 0.1.0 with static eeeeeeee and 0.2.0 with static eeeeeeee." in lines
    )
    assert max(map(len, lines[2:])) <= 110


def test_other_people_and_other_follows_are_told(tmp_path: Path) -> None:
    someone = {"persona_id": "p4", "persona_index": 3}
    follow = [run_rows.rows(records.Edges, [{"source": "p1", "target": "p2"}])]

    def begin(block: str) -> records.TickRecords:
        person = run_rows.rows(records.Personas, [{**someone, "block_sha256": block}])
        belief = {"persona_id": "p4", "target": "value", "belief": 0.5}
        more = {t: {**belief, "target": t} for t in ("value", "trust", "C1", "C2")}
        initial = run_rows.rows(records.InitialBeliefs, more.values())
        return run_rows.start(extra=[person, initial, *(follow if block == "x" else [])])

    turns = [{"persona_id": "p1"}]
    first = [begin("x"), run_rows.tick(1, digest="1"), run_rows.tick(2, turns=turns)]
    second = [begin("y"), run_rows.tick(1, digest="2"), run_rows.tick(2)]
    found = pair(tmp_path, first, second)
    assert (found.different_personas, found.same_graph) == (1, False)
    assert "Personas: 1 of 4 in common are not the same person." in found.summary()
    assert "Graph: the follows differ from the start." in found.summary()
    assert "They part at tick 2, in the turn of persona p1." in found.summary()
    earlier = "  The state digest differs from tick 1 on (personas, graph, memories or posts)."
    assert earlier in found.summary()


def test_another_scenario_text_is_another_scenario(tmp_path: Path) -> None:
    other = run_rows.header(scenario_sha256="b" * 64, encoder_sha256=None)
    found = pair(tmp_path, run_rows.story(), run_rows.story(), other=other)
    assert not found.same_scenario
    assert "Scenario: different (other text)." in found.summary()
    assert found.sides[1].encoder_sha256 is None


def test_runs_of_different_length_are_compared_over_their_common_ticks(tmp_path: Path) -> None:
    found = pair(tmp_path, run_rows.story(), run_rows.story()[:3])
    assert found.common_ticks == 2
    assert found.divergence is None
    assert found.same_state is False
    assert not found.identical
    assert {mean.tick for mean in found.means} == {0, 1, 2}
    assert "Ticks: 3 and 2; the first 2 are compared." in found.summary()
    agrees = "What they have in common agrees: every belief, turn and state digest."
    assert agrees in found.summary()


def test_only_what_both_runs_have_is_compared(tmp_path: Path) -> None:
    many = [f"q{i}" for i in range(6)]
    moves = [run_rows.change("q0", "C1", 0.5, 0.9), run_rows.change("p2", "C3", 0.5, 0.9)]
    turns = [{"persona_id": "q1"}]
    second = [
        run_rows.start(personas=("p2", *many), claims=("C1", "C3")),
        run_rows.tick(1, changes=moves, turns=turns, digest="d"),
    ]
    found = pair(tmp_path, [run_rows.start(), run_rows.tick(1, digest="d")], second)
    assert found.common_personas == 1
    assert found.common_targets == ("C1", "trust", "value")
    assert (found.divergence, found.largest) == (None, ())
    assert not found.identical
    assert found.sides[0].only_personas == ("p1", "p3")
    lines = found.summary()
    assert "Only in A: 2 personas (p1, p3)." in lines
    assert "Only in A: 1 target (C2)." in lines
    assert "Only in B: 6 personas (q0, q1, q2, q3, q4, and 1 more)." in lines


def test_runs_with_nothing_in_common_are_told_so(tmp_path: Path) -> None:
    second = [run_rows.start(personas=("x",), dimensions=("y",), claims=()), run_rows.tick(1)]
    found = pair(tmp_path, [run_rows.start(), run_rows.tick(1)], second)
    assert (found.means, found.largest, found.common_personas) == ((), (), 0)
    assert "no persona or no target in common" in text_of(found)


changes = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.sampled_from(["p1", "p2", "p3"]),
        st.sampled_from(["C1", "trust"]),
        st.sampled_from([0.5, 0.6, 0.9]),
    ),
    max_size=5,
    unique_by=lambda change: change[:3],
)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes, changes)
def test_comparing_the_other_way_round_mirrors_everything(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[tuple[int, str, str, float]],
    second: list[tuple[int, str, str, float]],
) -> None:
    folder = tmp_path_factory.mktemp("pair")

    def ticks(moves: list[tuple[int, str, str, float]]) -> list[records.TickRecords]:
        def of(tick: int) -> list[dict[str, Any]]:
            return [run_rows.change(m[1], m[2], 0.5, m[3]) for m in moves if m[0] == tick]

        return [run_rows.start(), *(run_rows.tick(t, changes=of(t)) for t in range(1, 4))]

    forth = pair(folder, ticks(first), ticks(second))
    back = compare([folder / "b.duckdb", folder / "a.duckdb"])
    assert back.sides == forth.sides[::-1]
    assert back.identical == forth.identical
    assert [m.difference for m in back.means] == [-m.difference for m in forth.means]
    assert [d.difference for d in back.largest] == [-d.difference for d in forth.largest]
    here, there = forth.divergence, back.divergence
    assert (here is None) == (there is None)
    if here and there:
        assert (here.kind, here.tick, here.persona_id, here.target) == (
            there.kind,
            there.tick,
            there.persona_id,
            there.target,
        )
        assert here.values == (there.values[::-1] if there.values else None)
        assert here.turns == there.turns[::-1]
        assert here.changes == there.changes[::-1]


def test_a_comparison_can_be_written_as_json(tmp_path: Path) -> None:
    found = pair(tmp_path, moved("p2", 0.7), moved("p1", 0.6, action="like"))
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["identical"] is False
    assert told["divergence"]["tick"] == 2
    assert told["sides"][0]["seed"] == 7
    assert told["actions"] == {"ignore": [2, 1], "like": [0, 1]}


def test_the_largest_differences_come_first_and_ties_by_name(tmp_path: Path) -> None:
    moves = [
        run_rows.change("p3", "C1", 0.5, 0.6),
        run_rows.change("p1", "value", 0.5, 0.6),
        run_rows.change("p2", "trust", 0.5, 0.1),
    ]
    second = [run_rows.start(), run_rows.tick(1, changes=moves)]
    found = pair(tmp_path, [run_rows.start(), run_rows.tick(1)], second)
    names = [(each.persona_id, each.target) for each in found.largest]
    assert names == [("p2", "trust"), ("p1", "value"), ("p3", "C1")]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_exactly_two_runs_are_compared(tmp_path: Path, count: int) -> None:
    with pytest.raises(UsageError, match=f"compare takes two runs; {count} given"):
        compare([tmp_path] * count)


def test_a_run_that_has_not_started_cannot_be_compared(tmp_path: Path) -> None:
    run_rows.write_run(tmp_path / "a.duckdb", [])
    with pytest.raises(RunFileError, match="holds no tick yet"):
        compare([tmp_path / "a.duckdb", tmp_path / "a.duckdb"])


def test_a_run_with_missing_beliefs_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    run_rows.write_run(path, run_rows.story())
    with duckdb.connect(str(path)) as connection:
        connection.execute("DELETE FROM initial_beliefs WHERE persona_id = 'p1' AND target = 'C2'")
    with pytest.raises(RunFileError, match="is damaged"):
        compare([path, path])


def test_means_say_over_whom_they_are_where_one_run_has_more_people(tmp_path: Path) -> None:
    few, more = (
        simulate(small(population={"size": size}), out=tmp_path / f"{size}.duckdb")
        for size in (6, 9)
    )
    text = "\n".join(compare([few, more]).summary())
    assert "Mean beliefs after tick 8 over the 6 personas in both (A, B, B - A):" in text
