"""Groups of runs: pairing by seed, what is left out, and what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pytest
import run_rows
from small import small

from simulation import compare_by, compare_groups, simulate
from simulation.analysis import arms, groups
from simulation.analysis.group_wording import p_value, spans
from simulation.analysis.measures import RunMeasures, measure
from simulation.errors import RunFileError, UsageError
from simulation.runlog import RunInfo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simulation.analysis.group_comparison import Contrast, Effect, GroupComparison


def run_of(
    seed: int,
    belief: float | Sequence[float] | NDArray[np.float64] = 0.5,
    *,
    arm: str = "a",
    like: Sequence[float] | None = None,
    target: str = "C1",
    settings: Mapping[str, Any] | None = None,
    **changes: Any,
) -> RunMeasures:
    """Return the measures of a run that was never run: one belief by tick."""
    values = np.atleast_1d(np.asarray(belief, dtype=np.float64))
    if len(values) == 1:
        values = np.repeat(values, 3)
    name = f"{arm}-{seed}"
    trust = 0.5 + (arm != "a") * (seed % 3 - 1) / 100  # differs, but to no side
    head = run_rows.header(
        run_id=name, seed=seed, parameters={"seed": seed, "memory.cap": 50, **(settings or {})},
        **changes,
    )  # fmt: skip
    info = RunInfo(
        header=head,
        schema_version=1,
        status="complete",
        last_tick=len(values) - 1,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        finished_at=None,
    )
    return RunMeasures(
        path=Path(f"{name}.duckdb"),
        info=info,
        beliefs={"trust": np.full(len(values), trust), target: values},
        actions={} if like is None else {"like": np.asarray(like)},
        personas=10,
        turns=20,
        digest=name,
    )


def compared(*parts: Sequence[RunMeasures]) -> GroupComparison:
    made = [
        arms.Group(letter=letter, name=letter.lower(), runs=tuple(runs), left_out={})
        for letter, runs in zip("ABC", parts, strict=False)
    ]
    arms.refuse_doubles(made)
    return groups._compare(made)


def end_of(contrast: Contrast, name: str = "C1") -> Effect:
    return next(effect for effect in contrast.end if effect.measure == name)


def text_of(comparison: GroupComparison) -> str:
    return "\n".join(comparison.summary())


NOISE = (0.02, -0.01, 0.03, -0.02, 0.0, 0.01, -0.03, 0.015)


def pairs(count: int, gap: float = 0.1) -> tuple[list[RunMeasures], list[RunMeasures]]:
    """Return arms whose runs of one seed share most of their chance; B is higher by `gap`."""
    first = [run_of(s, 0.5 + NOISE[s % 8], arm="a") for s in range(count)]
    second = [
        run_of(s, 0.5 + gap + NOISE[s % 8] + NOISE[(3 * s + 1) % 8] / 10, arm="b")
        for s in range(count)
    ]
    return first, second


def test_runs_are_paired_by_seed_whatever_their_order() -> None:
    first, second = pairs(8)
    found = compared(first, second[::-1]).contrasts[0]
    assert (found.paired, found.seeds, found.size_name) == (True, tuple(range(8)), "d_z")
    effect = end_of(found)
    assert effect.difference == pytest.approx(0.1, abs=0.003)
    assert effect.low is not None
    assert effect.high is not None
    assert effect.high - effect.low < 0.005  # the shared chance cancels
    assert effect.noise == pytest.approx(0.02, abs=0.003)
    assert effect.p == pytest.approx(2 / 2**8)
    assert effect.p_holm == pytest.approx(2 * 2 / 2**8)  # over C1 and trust
    assert found.smallest_p == 1 / 128


def test_what_is_told_apart_is_told_with_its_interval() -> None:
    text = text_of(compared(*pairs(8)))
    assert "8 pairs of runs with the same seed; paired t intervals." in text
    assert "C1: B is higher than A by 0.1" in text
    assert "p = .016 after Holm." in text
    assert "Holm: corrected over 2 beliefs" in text
    assert (
        "Noise floor: standard deviation between seeds within an arm: trust 0.0059, C1 0.021"
        in text
    )


def test_too_few_pairs_are_told_that_nothing_can_reach_five_per_cent() -> None:
    comparison = compared(*pairs(5))
    assert end_of(comparison.contrasts[0]).p == pytest.approx(1 / 16)
    text = text_of(comparison)
    assert "with 5 pairs the smallest p is 1/16 = .062, and no difference, however large," in text
    assert "reaches .05; run 7 pairs. A hint, no more: intervals of their own leave out 0" in text
    assert "higher" not in text


def test_holm_alone_can_put_five_per_cent_out_of_reach() -> None:
    text = text_of(compared(*pairs(6)))
    assert "1/32 = .031, and no difference, however large, reaches .05 after Holm over 2;" in text
    assert "run 7 pairs." in text


def test_without_common_seeds_runs_are_independent() -> None:
    first, second = pairs(8)
    moved = [run_of(20 + i, run.beliefs["C1"], arm="b") for i, run in enumerate(second)]
    found = compared(first, moved[:6]).contrasts[0]
    assert (found.paired, found.seeds, found.runs) == (False, (), (8, 6))
    assert found.size_name == "Hedges' g"
    assert found.test == "permutation test, all 3,003 arrangements"
    assert found.unpaired == ()
    assert "8 and 6 runs, not paired by seed; Welch's t intervals." in text_of(
        compared(first, moved[:6])
    )


def test_a_seed_that_is_missing_in_one_arm_is_left_out_and_named() -> None:
    first, second = pairs(8)
    comparison = compared(first, [*second[:3], *second[4:]])
    found = comparison.contrasts[0]
    assert (found.paired, found.runs, found.unpaired) == (True, (7, 7), ("a-3.duckdb",))
    assert "Without a partner, left out: a-3.duckdb." in text_of(comparison)


def test_few_common_seeds_among_many_runs_are_no_pairs() -> None:
    first, _ = pairs(8)
    second = [run_of(6 + i, 0.5 + NOISE[i], arm="b") for i in range(8)]
    assert not compared(first, second).contrasts[0].paired


def test_one_run_in_an_arm_gives_a_difference_and_nothing_more() -> None:
    for second in ([run_of(1, 0.6, arm="b")], [run_of(s, 0.6 + s / 50, arm="b") for s in (1, 2)]):
        comparison = compared([run_of(1, 0.5)], second)
        effect = end_of(comparison.contrasts[0])
        assert effect.difference > 0
        assert (effect.low, effect.p, effect.p_holm, effect.effect_size) == (None,) * 4
        assert effect.detectable is None
        assert "With one run in an arm nothing separates" in text_of(comparison)
    json.dumps(comparison.to_dict(), allow_nan=False)


def test_without_spread_a_difference_has_no_test_but_its_signs() -> None:
    first = [run_of(s, 0.5) for s in range(8)]
    second = [run_of(s, 0.6, arm="b") for s in range(8)]
    comparison = compared(first, second)
    effect = end_of(comparison.contrasts[0])
    assert (effect.low, effect.high, effect.noise) == (0.1, 0.1, 0.0)
    assert effect.effect_size is None
    assert effect.p == pytest.approx(1 / 128)
    assert "The same difference at every seed, so without an interval of its own: C1." in text_of(
        comparison
    )


def test_runs_of_other_lengths_are_compared_over_their_common_ticks() -> None:
    first = [run_of(s, [0.5, 0.6, 0.7, 0.8, 0.9]) for s in (1, 2)]
    second = [run_of(s, [0.5, 0.5, 0.5 + s / 10], arm="b") for s in (1, 2)]
    comparison = compared(first, second)
    assert comparison.common_ticks == 2
    assert end_of(comparison.contrasts[0]).means == pytest.approx((0.7, 0.65))
    assert "Runs end at different ticks (2, 4); the first 2 are compared." in text_of(comparison)


def test_only_targets_of_all_runs_are_compared_and_the_others_are_named() -> None:
    first = [run_of(s, 0.5) for s in (1, 2)]
    second = [run_of(s, 0.6, arm="b", target="C2") for s in (1, 2)]
    comparison = compared(first, second)
    assert comparison.targets == ("trust",)
    assert comparison.only_some == ("C1", "C2")
    assert "Not in every run, so left out: C1, C2." in text_of(comparison)


def test_an_action_that_one_arm_never_took_counts_as_nothing_there() -> None:
    first = [run_of(s, 0.5) for s in range(8)]
    second = [run_of(s, 0.5, arm="b", like=[0, 0.1, 0.2 + s / 100]) for s in range(8)]
    comparison = compared(first, second)
    effect = end_of(comparison.contrasts[0], "like")
    assert effect.kind == "action"
    assert effect.means == pytest.approx((0.0, 0.235))
    assert comparison.tests == {"belief": 1, "action": 1}
    assert "like: B is higher than A by 0.235" in text_of(comparison)


def test_the_time_course_is_the_mean_over_the_ticks_after_the_start() -> None:
    first = [run_of(s, [0.0, 0.2, 0.4]) for s in (1, 2)]
    second = [run_of(s, [1.0, 0.3, 0.4 + s / 10], arm="b") for s in (1, 2)]
    course = next(
        each for each in compared(first, second).contrasts[0].course if each.measure == "C1"
    )
    assert course.means == pytest.approx((0.3, 0.425))
    assert course.when == "course"


def test_three_arms_are_each_compared_with_the_first_and_corrected_together() -> None:
    first, second = pairs(8)
    third = [run_of(run.info.header.seed, 0.4 + i / 99, arm="c") for i, run in enumerate(first)]
    comparison = compared(first, second, third)
    assert [each.arms for each in comparison.contrasts] == [("A", "B"), ("A", "C")]
    assert comparison.tests["belief"] == 4
    assert "of 2 contrasts" in text_of(comparison)
    p = {each.arms[1]: end_of(each) for each in comparison.contrasts}
    assert p["B"].p_holm == pytest.approx(4 / 128)


def test_runs_that_differ_in_more_than_the_seed_are_paired_by_that_too() -> None:
    def arm(name: str, gap: float) -> list[RunMeasures]:
        return [
            run_of(s, 0.4 + gap + size / 1000 + s / 100, arm=f"{name}{size}",
                   settings={"population.size": size, "recall.mode": name})
            for size in (40, 80) for s in (1, 2, 3)
        ]  # fmt: skip

    comparison = compared(arm("product", 0.0), arm("random", 0.1))
    found = comparison.contrasts[0]
    assert (found.paired, len(found.seeds)) == (True, 6)
    assert found.settings == {"recall.mode": ("product", "random")}
    assert comparison.arms[0].differing == ("population.size",)
    assert "A mixes settings: population.size differ between its runs." in text_of(comparison)


def test_a_seed_that_stands_twice_in_an_arm_makes_no_pairs() -> None:
    first, second = pairs(4)
    again = replace(
        run_of(0, 0.52, arm="again"), digest="another"
    )  # a language model, asked a second time
    assert not compared([*first, again], second).contrasts[0].paired


def test_a_run_that_is_counted_twice_is_refused() -> None:
    first, second = pairs(4)
    with pytest.raises(UsageError, match="groups A and B count one run twice"):
        compared(first, [*second, first[0]])
    with pytest.raises(UsageError, match="group A counts one run twice"):
        compared([*first, replace(first[0], path=Path("copy.duckdb"))], second)
    repeated = run_of(0, 0.5, arm="other")
    with pytest.raises(UsageError, match="have the seed 0 and end in the same state"):
        compared([*first, replace(repeated, digest=first[0].digest)], second)


def test_versions_that_differ_are_noted() -> None:
    first = [run_of(s) for s in (1, 2)]
    second = [run_of(s, arm="b", engine_version="9.9") for s in (1, 2)]
    assert "Note: Runs differ in engine version: 0.1.0, 9.9." in text_of(compared(first, second))


def test_runs_that_are_the_same_in_both_arms_are_not_told_apart() -> None:
    first = [run_of(s, 0.5 + s / 10) for s in (1, 2, 3)]
    second = [run_of(s, 0.5 + s / 10, arm="b") for s in (1, 2, 3)]
    comparison = compared(first, second)
    effect = end_of(comparison.contrasts[0])
    assert (effect.difference, effect.p, effect.p_holm) == (0.0, None, None)
    assert comparison.tests["belief"] == 1  # a test that could find nothing is none
    assert "higher" not in text_of(comparison)


def test_a_run_of_no_ticks_has_an_end_but_no_course() -> None:
    first = [run_of(s, [s / 10]) for s in (1, 2)]
    first = [replace(run, beliefs={"C1": run.beliefs["C1"][:1]}) for run in first]
    short = [replace(run, info=replace(run.info, last_tick=0)) for run in first]
    other = [
        replace(run, info=replace(run.info, header=replace(run.info.header, run_id=f"b{i}")))
        for i, run in enumerate(short)
    ]
    found = compared(short, other)
    assert found.common_ticks == 0
    assert found.contrasts[0].course == ()
    assert "Time course" not in text_of(found)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((1, 2, 3, 7), "1-3, 7"), ((5,), "5"), ((-2, -1, 0, 4, 5), "-2 to 0, 4-5"), ((), "")],
)
def test_seeds_are_told_in_short(numbers: tuple[int, ...], text: str) -> None:
    assert spans(numbers) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(None, "-"), (0.0002, "<.001"), (0.0625, ".062"), (1.0, "1"), (0.05, ".050")],
)
def test_p_values_are_written_as_in_papers(p: float | None, text: str) -> None:
    assert p_value(p) == text


# From here on with files.


def written(path: Path, seed: int, after: float, **changes: Any) -> Path:
    """Write a run of two ticks in which p1 comes to believe C1 so much, likes and buys."""
    status = changes.pop("status", "complete")
    moved = run_rows.tick(
        1,
        turns=[{"persona_id": "p1", "action": "like"}, {"persona_id": "p2", "action": "buy"}],
        changes=[run_rows.change("p1", "C1", 0.5, after)],
        digest=f"{seed}{after}",
    )
    again = run_rows.tick(
        2, turns=[{"persona_id": "p2", "action": "buy"}], digest=f"{seed}{after}"
    )
    head = run_rows.header(run_id=str(path), seed=seed, horizon=2, **changes)
    run_rows.write_run(path, [run_rows.start(), moved, again], run=head, status=status)
    return path


def arm_of(folder: Path, mode: str, after: Sequence[float]) -> Path:
    folder.mkdir(exist_ok=True)
    for seed, value in enumerate(after, start=1):
        settings = {"recall.mode": mode, "memory.cap": 50}
        written(folder / f"{mode}-{seed}.duckdb", seed, value, parameters=settings)
    return folder


def test_the_measures_of_a_run_are_means_and_shares_by_tick(tmp_path: Path) -> None:
    found = measure(written(tmp_path / "a.duckdb", 1, 0.8))
    assert found.beliefs["C1"] == pytest.approx([0.5, 0.6, 0.6])
    assert sorted(found.actions) == ["bought", "like"]
    assert found.actions["bought"] == pytest.approx([0, 1 / 3, 1 / 3])  # of people, once each
    assert found.actions["like"] == pytest.approx([0, 1 / 2, 1 / 3])  # of turns so far
    assert found.value("action", "reject").tolist() == [0, 0, 0]
    assert (found.personas, found.turns, found.digest) == (3, 3, "10.8")


def test_a_damaged_run_has_no_measures(tmp_path: Path) -> None:
    run_rows.write_run(tmp_path / "a.duckdb", [])
    with pytest.raises(RunFileError, match="holds no tick yet"):
        measure(tmp_path / "a.duckdb")


def test_groups_are_files_folders_or_patterns(tmp_path: Path) -> None:
    first = arm_of(tmp_path / "a", "product", (0.6, 0.7))
    second = arm_of(tmp_path / "b", "random", (0.7, 0.8))
    (first / "sweep.duckdb").write_bytes(b"no run")
    expected = compare_groups([first, second]).contrasts
    assert compare_groups([str(first / "*.duckdb"), str(second / "*")]).contrasts == expected
    files = [sorted(folder.glob("*-*.duckdb")) for folder in (first, second)]
    assert compare_groups([[*files[0], first], files[1]]).contrasts == expected
    named = compare_groups({"without": [first], "with": [second]})
    assert [arm.name for arm in named.arms] == ["without", "with"]
    assert compare_by([first, second], "recall.mode").contrasts == expected
    effect = end_of(expected[0])
    assert effect.difference == pytest.approx(0.1 / 3)
    assert end_of(expected[0], "bought").means == pytest.approx((1 / 3, 1 / 3))


def test_runs_are_grouped_by_numbers_in_order_and_by_what_set_changed(tmp_path: Path) -> None:
    for size in (100, 20, 3):
        settings = (f"population.size={size}", 'stimuli[0].text="a, b"' if size > 9 else "x=1")
        parameters = {"population.size": size}
        path = tmp_path / f"{size}.duckdb"
        written(path, 1, 0.5 + size / 1000, parameters=parameters, settings=settings)
    found = compare_by([tmp_path], "population.size")
    assert [arm.name for arm in found.arms] == [f"population.size={n}" for n in (3, 20, 100)]
    with pytest.raises(UsageError, match='has no setting "stimuli'):
        compare_by([tmp_path], "stimuli[0].text")
    (tmp_path / "3.duckdb").unlink()
    with pytest.raises(UsageError, match=r"stimuli\[0\].text is .* in every run"):
        compare_by([tmp_path], "stimuli[0].text")
    with pytest.raises(UsageError, match=r'did you mean "population.size"'):
        compare_by([tmp_path], "population.sise")


def test_unfinished_and_unreadable_runs_are_left_out_and_named(tmp_path: Path) -> None:
    first = arm_of(tmp_path / "a", "product", (0.6, 0.7))
    second = arm_of(tmp_path / "b", "random", (0.7, 0.8))
    written(second / "stopped.duckdb", 3, 0.9, status="interrupted")
    (second / "odd.duckdb").write_bytes(b"odd" * 5000)
    found = compare_groups([first, second])
    out = found.arms[1].left_out
    assert out[str(second / "stopped.duckdb")] == "interrupted after tick 2 of 2"
    assert "is no run database" in out[str(second / "odd.duckdb")]
    assert f"left out: {second / 'stopped.duckdb'}: interrupted" in text_of(found)
    assert found.arms[1].seeds == (1, 2)


def test_a_group_without_a_finished_run_is_refused(tmp_path: Path) -> None:
    first = arm_of(tmp_path / "a", "product", (0.6, 0.7))
    stopped = written(tmp_path / "stopped.duckdb", 3, 0.9, status="interrupted")
    with pytest.raises(UsageError, match=r"group B \(.*\) holds no finished run: .* interrupted"):
        compare_groups([first, stopped])
    with pytest.raises(UsageError, match=r"holds no run: there is no \.duckdb file"):
        compare_groups([first, str(tmp_path / "c*.duckdb")])
    with pytest.raises(RunFileError, match="does not exist"):
        compare_groups([first, tmp_path / "no.duckdb"])
    with pytest.raises(UsageError, match="from 2 to 26 at a time; 1 given"):
        compare_groups([first])
    with pytest.raises(RunFileError, match="Groups are made of run databases alone"):
        compare_by([tmp_path / "no.duckdb"], "recall.mode")


def test_of_many_runs_left_out_and_settings_that_differ_only_some_are_listed() -> None:
    first = [run_of(s, settings={f"k{i}": 0 for i in range(7)}) for s in (1, 2)]
    second = [run_of(s, arm="b", settings={f"k{i}": 1 for i in range(7)}) for s in (1, 2)]
    out = {f"{i}.duckdb": "failed" for i in range(8)}
    comparison = groups._compare(
        [
            arms.Group(letter="A", name="a", runs=tuple(first), left_out=out),
            arms.Group(letter="B", name="b", runs=tuple(second), left_out={}),
        ]
    )
    lines = comparison.summary()
    assert "   and 3 more left out" in lines
    assert "  and 2 more settings differ" in lines
    assert "  k0: 0 -> 1" in lines


def test_a_permutation_test_can_find_what_an_interval_does_not() -> None:
    first = [run_of(s, 0.0) for s in range(6)]
    gaps = (0.01, 0.01, 0.01, 0.01, 0.01, 0.2)
    second = [run_of(s, gap, arm="b") for s, gap in enumerate(gaps)]
    second = [replace(run, beliefs={"C1": run.beliefs["C1"]}) for run in second]
    comparison = compared(first, second)
    effect = end_of(comparison.contrasts[0])
    assert effect.low is not None
    assert effect.low < 0 < effect.difference
    assert effect.p_holm == pytest.approx(1 / 32)
    assert "C1: B is higher than A by 0.042 (-0.040 to +0.123), p = .031" in text_of(comparison)


def test_a_run_whose_beliefs_have_holes_is_called_damaged(tmp_path: Path) -> None:
    path = written(tmp_path / "a.duckdb", 1, 0.8)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE run SET last_tick = 1")
        connection.execute("DELETE FROM initial_beliefs WHERE target = 'C1'")
        connection.execute("DELETE FROM belief_changes")
        connection.execute(
            "INSERT INTO belief_changes BY NAME SELECT 1 AS tick, 'p1' AS persona_id, "
            "'turn' AS phase, 'C1' AS target, 0.5 AS before, 0.6 AS after"
        )
    with pytest.raises(RunFileError, match="is damaged: beliefs are missing for some ticks"):
        measure(path)


def test_groups_of_one_name_are_numbered(tmp_path: Path) -> None:
    first = arm_of(tmp_path / "a", "product", (0.6, 0.7))
    with pytest.raises(UsageError, match="count one run twice"):
        compare_groups([first, first])
    assert list(groups._named([first, [first, first], first])) == [
        str(first), f"{first} and 1 more", f"{first} (2)",
    ]  # fmt: skip


def test_runs_with_nothing_in_common_are_refused(tmp_path: Path) -> None:
    nobody = [
        [
            simulate(
                small(population={"size": 0}, graph={"kind": "none"}, seed=seed),
                out=tmp_path / name,
            )
        ]
        for seed, name in ((1, "a.duckdb"), (2, "b.duckdb"))
    ]
    with pytest.raises(UsageError, match="neither a belief nor an action in common"):
        compare_groups(nobody)
