"""Runs through servers that fail: they complete, account for each failure, and pass no limit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from model_faults import EVERYTHING, PASSING, WRONG, failing_at_times
from model_runs import ANSWERED, IMPOSSIBLE, SUMS, UNTOLD, digests, loaded, one, ran, rows
from model_server import NAMES, good, model, told

from simulation import simulate
from simulation.errors import RunStoppedError

if TYPE_CHECKING:
    from pathlib import Path

    from model_server import Asked, Model
    from provider_server import Step

both = pytest.mark.parametrize("name", NAMES)
ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for hundredths of seconds between tries, and have no key."""
    monkeypatch.setattr("simulation.calls.backoff.BASE", 0.02)
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


def check_account(path: Path, served: Model) -> None:
    """Hold that each request the server saw is recorded, and each failure told."""
    assert one(path, "SELECT sum(attempts) FROM model_calls") == len(served.asked)
    assert rows(path, SUMS) == rows(path, UNTOLD) == []
    assert rows(path, ANSWERED) == rows(path, IMPOSSIBLE) == []
    # Whatever ended badly is a row of `failures`, and nothing else is.
    for outcome in ("invalid", "refused", "error", "repaired"):
        counted = one(path, f"SELECT coalesce(sum({outcome}), 0) FROM failures")
        recorded = f"SELECT count(*) FROM model_calls WHERE outcome = '{outcome}'"
        assert counted == one(path, recorded), outcome
    by_rule = "(SELECT count(*) FROM {} WHERE source = 'fallback')"
    both_tables = f"SELECT {by_rule.format('turns')} + {by_rule.format('reflections')}"
    assert one(path, "SELECT sum(fallback) FROM failures") == one(path, both_tables)


@ways
@both
def test_a_run_completes_whatever_fails_and_accounts_for_it(
    name: str, *, stream: bool, tmp_path: Path
) -> None:
    with model(failing_at_times(PASSING | WRONG)) as served:
        path = ran(
            served,
            name,
            tmp_path / "a.duckdb",
            models={"stream": stream},
            population={"size": 24},
            calls={"tries": 3},
        )
    assert one(path, "SELECT status FROM run") == "complete"
    assert one(path, "SELECT count(*) FROM turns") == 96
    check_account(path, served)
    outcomes = dict(rows(path, "SELECT outcome, count(*) FROM model_calls GROUP BY 1"))
    assert outcomes.keys() >= {"ok", "repaired", "invalid", "refused"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stream"), [("anthropic", True)])
def test_a_thousand_turns_through_a_server_that_fails_in_all_ways(
    name: str, *, stream: bool, tmp_path: Path
) -> None:
    limit = 4_000
    with model(failing_at_times(EVERYTHING)) as served:
        path = ran(
            served,
            name,
            tmp_path / "a.duckdb",
            horizon=10,
            models={"stream": stream},
            population={"size": 100},
            calls={"tries": 3, "concurrency": 64, "timeout": 5.0},
            budget={"calls": limit},
        )
    assert one(path, "SELECT status FROM run") == "complete"
    assert one(path, "SELECT count(*) FROM turns") == 1_000
    check_account(path, served)
    assert one(path, "SELECT sum(billed) FROM model_calls") <= limit
    failed = one(path, "SELECT count(*) FROM model_calls WHERE attempts > 1 OR outcome <> 'ok'")
    assert failed > 250


def test_failures_leave_the_same_state_whatever_arrives_first(tmp_path: Path) -> None:
    found = []
    for concurrency in (1, 32):
        with model(failing_at_times(PASSING | WRONG)) as served:
            path = ran(
                served,
                "openai",
                tmp_path / f"{concurrency}.duckdb",
                population={"size": 16},
                # A server that breaks the schema once would be asked otherwise from then on.
                models={"structured": "json_schema"},
                calls={"tries": 2, "concurrency": concurrency},
            )
        query = (
            "SELECT tick, persona_id, purpose, attempt, attempts, outcome, "
            "regexp_replace(error, ':[0-9]+', '') FROM model_calls ORDER BY ALL"
        )
        found.append((digests(path), rows(path, query)))
    assert found[0] == found[1]


@ways
@both
def test_each_failure_that_stays_is_a_turn_by_rule_with_its_reason(
    name: str, *, stream: bool, tmp_path: Path
) -> None:
    kinds = PASSING | WRONG  # one for each persona

    def play(asked: Asked, _: Model) -> list[Step]:
        who = re.findall(r'<persona id="p(\d+)"', asked.text)
        if "What do you do?" not in asked.text:
            return good(asked)
        return list(kinds.values())[int(who[0])](asked)

    with model(play) as served:
        path = ran(
            served,
            name,
            tmp_path / "a.duckdb",
            horizon=1,
            stimuli=[],
            population={"size": len(kinds)},
            models={"stream": stream},
            calls={"tries": 2, "quarantine_after": None},
        )
    turns = rows(path, "SELECT source, error FROM turns ORDER BY persona_id")
    for kind, (source, error) in zip(kinds, turns, strict=True):
        if kind == "control characters":  # they are taken out, and the rest may stand
            continue
        assert source == "fallback", kind
        assert error, kind
        assert "Traceback" not in error, kind
    attempts = dict(rows(path, "SELECT persona_id, sum(attempts) FROM model_calls GROUP BY 1"))
    for number, kind in enumerate(PASSING):
        assert attempts[f"p{number:04}"] == 2, kind
    check_account(path, served)


@both
def test_a_budget_holds_while_calls_fail(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    limit = 0.03
    with model(failing_at_times(PASSING | WRONG)) as served:
        given = loaded(served, name, population={"size": 24}, budget={"usd": limit})
        with pytest.raises(RunStoppedError, match=r"budget\.usd"):
            simulate(given, out=path)
    spent = one(path, "SELECT sum(coalesce(cost_usd, 0) + unconfirmed_usd) FROM model_calls")
    assert 0 < spent <= limit
    assert one(path, "SELECT sum(attempts) FROM model_calls") == len(served.asked)
    assert one(path, "SELECT status FROM run") == "budget_exhausted"


@both
def test_no_more_requests_arrive_in_a_minute_than_are_allowed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.calls.pace.WINDOW", 4.0)  # a minute of these tests has 2 s
    with model(failing_at_times(PASSING | WRONG)) as served:
        ran(
            served,
            name,
            tmp_path / "a.duckdb",
            horizon=2,
            stimuli=[],
            population={"size": 16},
            calls={"requests_per_minute": 20, "tries": 3},
        )
    assert len(served.asked) > 40
    assert served.most_within(2.0) <= 20


def test_a_host_that_asks_to_slow_down_is_told_of_and_loses_no_answer(tmp_path: Path) -> None:
    def crowded(asked: Asked, served: Model) -> list[Step]:
        return PASSING["429"](asked) if len(served.asked) % 4 == 0 else good(asked)

    with model(crowded) as served:
        path = ran(served, "openai", tmp_path / "a.duckdb", calls={"concurrency": 16, "tries": 9})
    assert rows(path, "SELECT DISTINCT outcome FROM model_calls") == [("ok",)]
    assert one(path, "SELECT sum(attempts) FROM model_calls") == len(served.asked)
    notes = rows(path, "SELECT detail FROM rejections WHERE kind = 'note'")
    assert any("slow down" in detail for (detail,) in notes)


@both
def test_a_server_that_talks_nonsense_ends_with_everybody_in_quarantine_and_says_so(
    name: str, tmp_path: Path
) -> None:
    def confused(asked: Asked, served: Model) -> list[Step]:
        return good(asked) if len(served.asked) <= 10 else told(asked, "{}")

    with model(confused) as served:
        path = ran(
            served,
            name,
            tmp_path / "a.duckdb",
            calls={"quarantine_after": 1, "concurrency": 1},
        )
    assert one(path, "SELECT count(*) FROM personas WHERE quarantined_tick IS NULL") == 0
    assert one(path, "SELECT status FROM run") == "complete"
    check_account(path, served)
