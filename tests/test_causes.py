"""Why two runs part: settings, seeds, versions, and what a language model answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import run_rows
from small import small

from simulation.analysis.cause_wording import why
from simulation.analysis.causes import Cause
from simulation.analysis.compare import compare
from simulation.runs import fork, simulate

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.analysis.comparison import Comparison

Call = tuple[int, str, str, str]  # tick, persona, digest of the request, response


def pair(
    folder: Path,
    *,
    calls: tuple[list[Call], list[Call]] = ([], []),
    same: bool = False,
    **other: Any,
) -> Comparison:
    """Return a comparison of two runs that part in tick 2; `other` differs in the second."""
    paths = [folder / "a.duckdb", folder / "b.duckdb"]
    for path, after, changes in zip(paths, (0.7, 0.7 if same else 0.6), ({}, other), strict=True):
        ticks = [
            run_rows.start(),
            run_rows.tick(1),
            run_rows.tick(2, changes=[run_rows.change("p1", "C1", 0.5, after)]),
            run_rows.tick(3),
        ]
        run_rows.write_run(path, ticks, run=run_rows.header(**changes))
    for path, rows in zip(paths, calls, strict=True):
        with duckdb.connect(str(path)) as connection:
            for i, (tick, persona, digest, response) in enumerate(rows):
                connection.execute(
                    "INSERT INTO model_calls BY NAME SELECT ? AS call_id, ? AS tick, "
                    "? AS persona_id, 'turn' AS purpose, 1 AS attempt, 'openai' AS provider, "
                    "'m' AS model, 1 AS billed, 0 AS unconfirmed_usd, 0 AS unconfirmed_tokens, "
                    "? AS request_sha256, '{}' AS request, ? AS response, 1 AS attempts, "
                    "'ok' AS outcome",
                    [i, tick, persona, digest, response],
                )
    return compare(paths)


def told(comparison: Comparison) -> str:
    return "\n".join(comparison.summary())


def test_runs_that_do_not_part_have_no_cause(tmp_path: Path) -> None:
    found = pair(tmp_path, same=True)
    assert found.causes == ()
    assert "Why" not in told(found)


def test_what_nothing_explains_is_called_unknown(tmp_path: Path) -> None:
    found = pair(tmp_path)
    assert found.causes == (Cause(kind="unknown"),)
    assert "Why: unknown: scenario, seed, engine, encoder, packages and model calls agree" in told(
        found
    )


@pytest.mark.parametrize(
    ("changes", "kind", "name", "line"),
    [
        ({"seed": 8}, "seed", "seed", "Why: the seed differs (7 and 8), and with it all chance."),
        (
            {"parameters": {"recall.k.cheap": 5, "memory.cap": 50}},
            "setting",
            "recall.k.cheap",
            "Why: the setting recall.k.cheap differs.",
        ),
        (
            {"models": {"cheap": {"provider": "openai"}}},
            "model",
            "cheap",
            "Why: the model of tier cheap differs.",
        ),
        ({"packages": {"numpy": "3"}}, "package", "numpy", "Why: the version of numpy differs."),
        (
            {"engine_version": "0.2.0"},
            "engine",
            "simulation",
            "Why: the engine's version differs (0.1.0 and 0.2.0).",
        ),
        (
            {"encoder_sha256": "f" * 64},
            "encoder",
            "encoder",
            "Why: the encoder differs (static eeeeeeeeeeee and static ffffffffffff).",
        ),
    ],
)
def test_one_thing_that_differs_is_the_reason(
    tmp_path: Path, changes: dict[str, Any], kind: str, name: str, line: str
) -> None:
    found = pair(tmp_path, **changes)
    assert [(cause.kind, cause.name) for cause in found.causes] == [(kind, name)]
    assert line in found.summary()


def test_of_several_reasons_nobody_can_say_which(tmp_path: Path) -> None:
    packages = {f"package{i}": "1" for i in range(7)}
    lines = pair(tmp_path, engine_version="0.2.0", packages=packages, seed=8).summary()
    at = lines.index("Why: any of these can be the reason.")
    assert lines[at + 1].startswith("  the versions of numpy, package0, package1")
    assert lines[at + 1].endswith("and 3 more differ")
    assert lines[at + 2].startswith("  the seed differs")


def test_a_model_that_answered_the_same_request_in_two_ways_is_named(tmp_path: Path) -> None:
    first = [(1, "p2", "r1", '"yes"'), (2, "p1", "r2", '"like"'), (2, "p1", "r3", '"x"')]
    second = [(1, "p2", "r1", '"yes"'), (2, "p1", "r2", '"buy"'), (2, "p1", "r4", '"x"')]
    found = pair(tmp_path, calls=(first, second))
    (cause,) = found.causes
    assert (cause.kind, cause.tick, cause.persona_id, cause.name) == (
        "model_reply", 2, "p1", "turn",
    )  # fmt: skip
    assert cause.values == ('"like"', '"buy"')
    assert (
        "Why: a language model answered the same request in two ways, first in tick 2, persona "
        'p1, turn: "like" and "buy".'
    ) in found.summary()


def test_a_request_that_only_one_run_made_is_named(tmp_path: Path) -> None:
    found = pair(tmp_path, calls=([(1, "p1", "r1", '"a"')], []))
    (cause,) = found.causes
    assert (cause.kind, cause.values) == ("model_request", ("r1", None))
    assert "first in tick 1, persona p1, turn: only one run asked." in told(found)


def test_other_requests_come_first_where_no_answer_differed_before(tmp_path: Path) -> None:
    first = [(1, "p1", "r1", '"a"'), (2, "p1", "r2", '"a"')]
    second = [(1, "p1", "r9", '"a"'), (2, "p1", "r2", '"b"')]
    (cause,) = pair(tmp_path, calls=(first, second)).causes
    assert (cause.kind, cause.tick, cause.values) == ("model_request", 1, ("r1", "r9"))
    assert "each run asked something else" in why([cause])[0]


def test_an_answer_of_a_tick_is_the_reason_for_other_requests_of_that_tick(tmp_path: Path) -> None:
    first = [(2, "p1", "r1", '"a"'), (2, "p2", "r2", '"a"')]
    second = [(2, "p1", "r9", '"a"'), (2, "p2", "r2", '"b"')]
    (cause,) = pair(tmp_path, calls=(first, second)).causes
    assert (cause.kind, cause.persona_id) == ("model_reply", "p2")


def test_calls_after_the_parting_are_no_reason(tmp_path: Path) -> None:
    calls = ([(3, "p1", "r1", '"a"')], [(3, "p1", "r1", '"b"')])
    assert pair(tmp_path, calls=calls).causes == (Cause(kind="unknown"),)


def test_other_people_or_follows_under_the_same_settings_point_to_a_file(tmp_path: Path) -> None:
    paths = [tmp_path / "a.duckdb", tmp_path / "b.duckdb"]
    for path, people in zip(paths, (("p1", "p2", "p3"), ("p1", "p3", "p2")), strict=True):
        start = run_rows.start(
            personas=people, beliefs={("p1", "C1"): 0.9 if path == paths[1] else 0.5}
        )
        run_rows.write_run(path, [start])
    with duckdb.connect(str(paths[1])) as connection:
        connection.execute("UPDATE personas SET block_sha256 = 'other' WHERE persona_id = 'p1'")
    found = compare(paths)
    assert [cause.kind for cause in found.causes] == ["personas", "graph"]
    text = told(found)
    assert "a file of the population or the ontology has changed" in text
    assert "a file of the graph has changed" in text


def test_a_fork_is_told_which_run_it_comes_from(tmp_path: Path) -> None:
    found = pair(tmp_path, run_id="child", parent_run_id="r1", forked_at_tick=1)
    assert "B was forked from A after tick 1." in found.summary()
    assert found.sides[1].forked_at_tick == 1


def test_what_a_fork_changed_is_followed_through_the_graph(tmp_path: Path) -> None:
    loaded = small(tmp_path, ["horizon=4"])
    parent = simulate(loaded, out=tmp_path / "parent.duckdb")
    forks = [
        fork(parent, at=2, settings=changes, out=tmp_path / f"{i}.duckdb")
        for i, changes in enumerate((["rule.persuasion=0.1"], ["rule.persuasion=0.9"], []))
    ]
    found = compare([parent, forks[0]])
    assert found.counterfactual is not None
    assert found.counterfactual.forked_at == 2
    told = found.counterfactual.lines()
    assert found.summary()[-len(told) :] == told
    assert found.to_dict()["counterfactual"]["forked_at"] == 2
    assert compare(forks[:2]).counterfactual is not None  # two forks of one run
    assert compare([parent, forks[2]]).counterfactual is None  # nothing differs
    other = simulate(loaded, seed=9, out=tmp_path / "other.duckdb")
    assert compare([parent, other]).counterfactual is None  # no fork
