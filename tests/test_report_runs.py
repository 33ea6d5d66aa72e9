"""Pages of several runs, unfinished runs, long runs and large ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import run_rows
from report_pages import Page, read, small_run, write_rows

from simulation import fork, simulate
from simulation.analysis.report import layout, network, report, source
from simulation.errors import RunFileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


def written(path: Path, seed: int, after: float, **changes: Any) -> Path:
    """Write a run of one tick in which p1 comes to believe C1 so much."""
    status = changes.pop("status", "complete")
    moved = run_rows.tick(
        1,
        turns=[{"persona_id": "p1", "action": "like"}],
        changes=[run_rows.change("p1", "C1", 0.5, after)],
        digest=f"{seed}{after}",
    )
    head = run_rows.header(
        run_id=f"{path.parent.name} {path.stem}", seed=seed, horizon=1, **changes
    )
    run_rows.write_run(path, [run_rows.start(), moved], run=head, status=status)
    return path


def arm(folder: Path, mode: str, after: Sequence[float]) -> list[Path]:
    """Write runs of one setting, one per seed."""
    folder.mkdir(exist_ok=True)
    return [
        written(folder / f"{mode}-{seed}.duckdb", seed, value, parameters={"recall.mode": mode})
        for seed, value in enumerate(after, start=1)
    ]


def page_of(*files: Path) -> Page:
    return read(report(files))


def test_seeds_of_one_setting_show_their_spread(tmp_path: Path) -> None:
    page = page_of(tmp_path / "arm", *arm(tmp_path / "arm", "product", (0.68, 0.7, 0.72)))
    assert (
        "How sure: over 3 seeds the change of C1 lies between +0.06 and +0.07, on average"
        in (page.leads["headline"])
    )
    figure = page.figure("headline", "How far seeds differ")
    assert "leaves out zero for: C1." in figure.says
    row = next(row for row in figure.tables[0] if row[0].startswith("C1"))
    assert row[1:5] == ["3", "0.060", "0.067", "0.073"]
    assert float(row[5]) < 0.067 < float(row[6])
    assert "comparison" not in page.sections
    figure = page.figure("beliefs", "Median")
    assert "that of this run, seed 1, is dashed. Compare them with each other" in figure.says
    layer = next(
        each for each in page.specs[figure.charts[0]]["layer"] if "strokeDash" in each["encoding"]
    )
    assert layer["encoding"]["color"]["scale"]["domain"] == ["1", "2", "3"]
    assert {row["seed"] for row in layer["data"]["values"]} == {"1", "2", "3"}
    assert page.warnings[0].startswith("Of 3 runs the first, product-1.duckdb, is shown whole")


def test_more_seeds_than_colours_are_drawn_alike(tmp_path: Path) -> None:
    page = page_of(*arm(tmp_path, "product", [0.6 + 0.01 * place for place in range(8)]))
    layers = page.specs[page.figure("beliefs", "Median").charts[0]]["layer"]
    encoding = next(each for each in layers if "strokeDash" in each["encoding"])["encoding"]
    assert "color" not in encoding
    assert encoding["detail"]["field"] == "seed"


def test_two_seeds_are_compared_as_a_pair_as_well(tmp_path: Path) -> None:
    page = page_of(*arm(tmp_path, "product", (0.6, 0.7)))
    assert [each.title for each in page.sections["comparison"]] == ["Where the two runs part"]
    assert "The two runs part at tick 1." in page.leads["comparison"]
    assert str(tmp_path) not in page.text


def test_settings_are_compared_with_intervals_over_their_seeds(tmp_path: Path) -> None:
    first = arm(tmp_path, "product", (0.55, 0.6, 0.58))
    second = arm(tmp_path, "random", (0.85, 0.9, 0.87))
    page = page_of(*first, *second)
    lead = page.leads["comparison"]
    assert lead.startswith("At tick 1 B differs from A most in C1, by +0.10 (95")
    assert (
        "with 3 pairs of runs the smallest p is 1/4, and no difference, however large, reaches "
        ".05; run 6 pairs. A hint, no more: intervals of their own leave out zero for C1." in lead
    )
    assert "No difference is" not in page.text
    assert page.leads["headline"].startswith(
        "This page compares A (recall.mode=product) and B (recall.mode=random). "
        "At tick 1 B differs from A most in C1, by +0.10"
    )
    assert "Of the first run, in group A: 3 personas" in page.leads["headline"]
    paths = page.figure("comparison", "Means, tick by tick")
    assert "Each picture has its own scale" in paths.says
    scales = [page.specs[place]["encoding"]["y"]["scale"] for place in paths.charts]
    assert all(scale["zero"] is False for scale in scales)
    for low, high in (scale["domain"] for scale in scales):
        assert 0 <= low < high <= 1
        assert 0.1 <= high - low + 1e-9 < 0.2
    who = page.figure("comparison", "What is compared")
    assert who.says == "2 groups of runs. They differ in recall.mode (product and random)."
    assert who.tables[0][1] == ["A", "recall.mode=product", "3", "1, 2, 3", "–"]  # noqa: RUF001 - the dash of an empty cell
    assert "simulation schema says what it does." in who.text
    figure = page.figure("comparison", "Differences")
    assert "1 of 4 intervals leave out zero; each stands alone" in figure.says
    assert "With so few seeds no p can reach .05: here p says nothing." in figure.text
    row = next(row for row in figure.tables[0] if row[1] == "C1")
    assert row[0] == "B minus A"
    assert float(row[6]) < float(row[5]) < float(row[7])
    assert float(row[5]) == pytest.approx(0.3 / 3, abs=0.01)


def test_enough_seeds_show_a_difference_beyond_chance(tmp_path: Path) -> None:
    values = [0.5 + 0.01 * i for i in range(1, 7)]
    first = arm(tmp_path, "product", values)
    second = arm(tmp_path, "random", [value + 0.3 + 0.002 * value for value in values])
    page = page_of(*first, *second)
    assert "Beyond what seeds do by chance: C1." in page.leads["comparison"]
    assert "here p says nothing" not in page.text


def test_what_is_not_told_apart_is_never_called_alike(tmp_path: Path) -> None:
    first = arm(tmp_path, "product", [0.6 + 0.01 * i for i in range(9)])
    other = arm(tmp_path, "random", [0.8 - 0.05 * i for i in range(9)])
    lead = page_of(*first, *other).leads["comparison"]
    assert "Nothing is told apart from the chance of the seeds, which does not show" in lead


def test_few_seeds_without_a_clear_interval_give_no_hint(tmp_path: Path) -> None:
    first = arm(tmp_path, "product", (0.6, 0.7, 0.6))
    lead = page_of(*first, *arm(tmp_path, "random", (0.9, 0.5, 0.8))).leads["comparison"]
    assert "however large, reaches .05; run 6 pairs." in lead
    assert "A hint" not in lead


def test_a_single_run_per_setting_has_a_difference_and_no_interval(tmp_path: Path) -> None:
    files = [*arm(tmp_path, "product", (0.6,)), *arm(tmp_path, "random", (0.9,))]
    page = page_of(*files)
    assert (
        "With a single run in either this cannot be told from chance."
        in (page.leads["comparison"])
    )
    assert "so there is no interval" in page.figure("comparison", "Differences").says
    same = page_of(*arm(tmp_path / "a", "product", (0.6,)), *arm(tmp_path / "b", "random", (0.6,)))
    assert "the means of A and B agree to two digits" in same.leads["comparison"]


def test_many_settings_that_differ_are_counted_in_words_and_listed(tmp_path: Path) -> None:
    settings = [{f"setting.{i}": value for i in range(50)} for value in ("x" * 200, "y")]
    files = [
        written(tmp_path / f"{i}.duckdb", 1, 0.6 + i / 10, parameters=each)
        for i, each in enumerate(settings)
    ]
    page = page_of(*files)
    figure = page.figure("comparison", "What is compared")
    assert "They differ in 50 settings." in figure.says
    assert "They differ in 50 settings." in page.leads["headline"]
    assert len(figure.tables[1]) == 41
    assert "10 more are left out." in figure.text


def test_a_fork_shows_how_the_difference_went_through_the_graph(tmp_path: Path) -> None:
    parent = small_run(tmp_path / "parent.duckdb")
    child = fork(parent, at=3, settings=["rule.influence=0.6"], out=tmp_path / "child.duckdb")
    page = page_of(parent, child)
    figure = page.figure("comparison", "How the difference went")
    assert figure.says.startswith("The same people with the same chance: the change had reached")
    lead = page.leads["comparison"]
    assert "The two runs part at tick" in lead
    assert "every difference follows from what was set" in lead
    assert "cannot be told from chance" not in page.text
    again = page_of(child)
    commands = again.figure("method", "Run it again").tables[0]
    assert commands[2][1].startswith("simulation fork PARENT --at 3 --set rule.influence=0.6")


def test_a_fork_that_language_models_answered_is_not_free_of_chance(tmp_path: Path) -> None:
    forks = [
        written(
            tmp_path / f"{after}.duckdb",
            1,
            after,
            parameters={"x": after},
            parent_run_id="parent",
            forked_at_tick=0,
        )
        for after in (0.7, 0.9)
    ]
    assert "every difference follows from what was set" in page_of(*forks).leads["comparison"]
    columns = (
        "call_id, tick, purpose, attempt, provider, model, request_sha256, input_tokens, "
        "output_tokens, cost_usd, attempts, billed, unconfirmed_usd, unconfirmed_tokens, outcome"
    )
    write_rows(
        forks[1],
        f"INSERT INTO model_calls ({columns}) VALUES "
        "(1, 1, 'turn', 1, 'openai', 'gpt', 'x', 100, 10, 0.5, 1, 1, 0, 0, 'ok')",
    )
    assert "With a single run in either this" in page_of(*forks).leads["comparison"]


def test_means_say_over_whom_they_are_where_two_runs_have_other_personas(tmp_path: Path) -> None:
    files = []
    for name, personas in (("a", ("p1", "p2")), ("b", ("p1", "p2", "p3"))):
        files.append(tmp_path / f"{name}.duckdb")
        moved = run_rows.tick(1, changes=[run_rows.change("p1", "C1", 0.5, 0.6)])
        run_rows.write_run(
            files[-1],
            [run_rows.start(personas=personas, beliefs={("p3", "C1"): 0.9}), moved],
            run=run_rows.header(run_id=name, horizon=1, parameters={"size": len(personas)}),
        )
    page = page_of(*files)
    over_all = page.figure("comparison", "Differences")
    assert "over all personas of each run: 2 in A, 3 in B." in over_all.says
    common = page.figure("comparison", "Where the two runs part")
    assert "Means here are over the 2 personas in both" in common.says
    assert common.captions[0] == "Means at tick 1 over the 2 personas in both"
    alike = page_of(*arm(tmp_path, "product", (0.6,)), *arm(tmp_path, "random", (0.9,)))
    assert "over all personas of each run" not in alike.text


def test_more_groups_than_a_sentence_holds_are_counted(tmp_path: Path) -> None:
    files = [
        written(tmp_path / f"{i}.duckdb", 1, 0.5 + i / 20, parameters={"x": i}) for i in range(6)
    ]
    assert "2 more groups below." in page_of(*files).leads["headline"]


def test_the_same_run_twice_is_one_and_a_copy_is_refused(tmp_path: Path) -> None:
    run = written(tmp_path / "a.duckdb", 1, 0.6)
    assert page_of(run, run).warnings == []
    copy = tmp_path / "b.duckdb"
    copy.write_bytes(run.read_bytes())
    with pytest.raises(UsageError, match="counts one run twice"):
        report([run, copy])


def test_identical_runs_of_one_seed_in_two_files_are_told(tmp_path: Path) -> None:
    one = written(tmp_path / "a.duckdb", 1, 0.6, parameters={"x": 1})
    two = written(tmp_path / "b.duckdb", 1, 0.6, parameters={"x": 2})
    assert "identical in everything" in page_of(one, two).leads["comparison"]


def test_an_unfinished_run_is_shown_with_a_note_and_left_out_of_comparisons(
    tmp_path: Path,
) -> None:
    done = written(tmp_path / "a.duckdb", 1, 0.6)
    part = written(tmp_path / "b.duckdb", 2, 0.7, status="budget_exhausted")
    assert (
        "b.duckdb is not finished: its status is budget exhausted, and it holds 1 of 1"
        in (page_of(part).warnings[0])
    )
    assert "How sure: this is one run of one seed" in page_of(done, part).leads["headline"]
    other = written(tmp_path / "c.duckdb", 2, 0.7, status="interrupted", parameters={"x": 1})
    page = page_of(done, other)
    assert "Groups are not compared: one of them has no finished run." in page.warnings
    assert "The two runs part at tick 1." in page.leads["comparison"]
    assert "How sure: this is one run of one seed" in page_of(other, done).leads["headline"]


def test_a_long_run_shows_some_ticks_and_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_run(tmp_path / "a.duckdb")
    monkeypatch.setattr(source, "MOST_TICKS", 4)
    page = page_of(run)
    assert page.warnings == [
        (
            "This is a long run, so pictures are aggregated. Of 8 ticks one in 3 is shown, and "
            "the last."
        )
    ]
    table = page.figure("beliefs", "Median").tables[0]
    assert sorted({row[1] for row in table[1:]}) == ["0", "3", "6", "8"]


def test_many_personas_are_drawn_as_communities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_run(tmp_path / "a.duckdb")
    monkeypatch.setattr(network, "MOST_NODES", 5)
    page = page_of(run)
    figure = page.figure("graph", "Who believes what")
    assert figure.says.startswith("With 12 personas each dot is a community")
    people = sum(int(row[2]) for row in figure.tables[0][1:])
    assert people == 12
    monkeypatch.setattr(layout, "MOST_NODES", 1)
    assert "in smaller ones are not drawn." in page_of(run).figure("graph", "Who").says
    monkeypatch.setattr(network, "MOST_PERSONAS", 5)
    page = page_of(run)
    assert page.leads["graph"].startswith("12 personas are too many to be drawn")
    assert [each.title for each in page.sections["graph"]] == ["Do friends agree?"]


def test_ties_beyond_what_can_be_drawn_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_run(tmp_path / "a.duckdb")
    monkeypatch.setattr(layout, "MOST_TIES", 3)
    assert "of the ties are not drawn." in page_of(run).figure("graph", "Who").says


def test_the_gate_is_told_by_attachment(tmp_path: Path) -> None:
    run = simulate(
        SCENARIOS / "anxious_neighbours.yaml", settings=["horizon=5"], out=tmp_path / "a.duckdb"
    )
    figure = page_of(run).figure("memory", "The gate")
    assert "decisions: most for " in figure.says
    names = {row[0] for row in figure.tables[0][1:]}
    assert names <= {"anxious", "avoidant", "fearful", "secure"}
    assert len(names) > 1


def test_the_gate_is_told_by_neuroticism(tmp_path: Path) -> None:
    run = tmp_path / "a.duckdb"
    run_rows.write_run(run, run_rows.story())
    write_rows(
        run,
        "UPDATE personas SET personality_kind = 'big_five', personality = [.5, .5, .5, .5, 1.0]",
        "INSERT INTO gates (tick, persona_id, step, memory_id, mode, fired) "
        "VALUES (1, 'p1', 1, 1, 'personality', true), (1, 'p1', 2, 1, 'personality', false)",
    )
    figure = page_of(run).figure("memory", "The gate")
    assert figure.says == "The gate fired in 50\N{NO-BREAK SPACE}% of 2 decisions."
    assert figure.tables[0][1][0] == "neuroticism 0.8 to 1.0"


def test_attitudes_are_told_by_their_entropy_until_they_end(tmp_path: Path) -> None:
    run = tmp_path / "a.duckdb"
    run_rows.write_run(run, run_rows.story())
    rows = [
        (1, 1, "evidence", "NULL", 1.5),
        (1, 2, "evidence", "NULL", 0.5),
        (1, 3, "evidence", "NULL", 1.0),
        (1, 3, "evidence", "NULL", 1.3),
        (2, 2, "merge", "1", 0.4),
        (3, 3, "delete", "NULL", 1.3),
    ]
    values = ", ".join(
        f"({tick}, 'p1', {step}, {unit}, '{kind}', {other}, {entropy}, 1, 1, 1, 3, 3)"
        for step, (tick, unit, kind, other, entropy) in enumerate(rows, start=1)
    )
    write_rows(
        run,
        "INSERT INTO unit_updates "
        "(tick, persona_id, step, unit_id, kind, other_unit_id, entropy, "
        "positive, negative, neutral, weight, observations) "
        f"VALUES {values}",
    )
    founded = ", ".join(f"({unit}, 'p1', 'brand', 'Bolt', 'taste', 1)" for unit in (1, 2, 3))
    write_rows(run, f"INSERT INTO unit_rows VALUES {founded}")
    figure = page_of(run).figure("memory", "How torn")
    assert [row[:3] for row in figure.tables[0][1:]] == [
        ["1", "3", "1.100"],  # 1.5, 0.5 and the later 1.3
        ["2", "2", "0.850"],  # the first was merged into the second
        ["3", "1", "0.400"],
    ]
    assert figure.says.startswith("1 attitude is alive at the end.")
    assert "from 1.10 bits at tick 1 to 0.40" in figure.says


def test_spend_is_told_by_model_and_purpose(tmp_path: Path) -> None:
    run = tmp_path / "a.duckdb"
    run_rows.write_run(run, run_rows.story())
    columns = (
        "call_id, tick, purpose, attempt, provider, model, request_sha256, input_tokens, "
        "output_tokens, cost_usd, attempts, billed, unconfirmed_usd, unconfirmed_tokens, outcome"
    )
    write_rows(
        run,
        f"INSERT INTO model_calls ({columns}) VALUES "
        "(1, 1, 'turn', 1, 'openai', 'gpt', 'x', 100, 10, 0.5, 1, 1, 0, 0, 'ok'), "
        "(2, 1, 'probe', 1, 'openai', 'gpt', 'y', 100, 10, 0.25, 0, 0, 0, 0, 'invalid')",
    )
    page = page_of(run)
    assert (
        "2 calls to language models cost 0.50 US dollars, 1 of them answered from an earlier"
        in (page.leads["trust"])
    )
    table = page.figure("trust", "Spend").tables[0]
    assert [row[:4] for row in table[1:]] == [
        ["openai: gpt", "turn", "1", "0"],
        ["openai: gpt", "probe", "1", "1"],
    ]


def test_runs_with_nothing_in_common_are_not_compared_and_say_so(tmp_path: Path) -> None:
    one, other = tmp_path / "a.duckdb", tmp_path / "b.duckdb"
    for path, name in ((one, "x"), (other, "y")):
        run_rows.write_run(
            path,
            [run_rows.start(personas=(name,), dimensions=(), claims=(name,))],
            run=run_rows.header(run_id=name, parameters={"name": name}),
        )
    page = page_of(one, other)
    assert "Groups are not compared: their runs have no belief in common." in page.warnings
    assert page.leads["comparison"] == "The two runs have no persona or no belief in common."


def test_a_run_that_goes_on_after_another_agrees_with_it_so_far(tmp_path: Path) -> None:
    short, long = tmp_path / "a.duckdb", tmp_path / "b.duckdb"
    run_rows.write_run(short, [run_rows.start()], run=run_rows.header(run_id="a"))
    head = run_rows.header(run_id="b", seed=8)
    run_rows.write_run(long, [run_rows.start(), run_rows.tick(1)], run=head)
    assert page_of(short, long).leads["comparison"] == (
        "In the ticks that both have, the two runs agree in everything."
    )


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM personas",
        "DELETE FROM initial_beliefs",
        "UPDATE initial_beliefs SET belief = 'inf'",
        "UPDATE belief_changes SET after = 'nan'",
        "DROP TABLE turns CASCADE",
    ],
)
def test_rows_that_make_no_page_are_called_damaged(sql: str, tmp_path: Path) -> None:
    run = tmp_path / "a.duckdb"
    run_rows.write_run(run, run_rows.story())
    write_rows(run, sql)
    with pytest.raises(RunFileError, match=r"a\.duckdb is (damaged|no run database)"):
        report([run])
