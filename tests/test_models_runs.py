"""Whole runs on language models, through both SDKs: what is asked, paid, recorded and refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from model_runs import (
    ANSWERED,
    IMPOSSIBLE,
    SUMS,
    UNTOLD,
    WHOLE,
    described,
    digests,
    loaded,
    one,
    ran,
    rows,
)
from model_server import NAMES, PRICE, good, model, tokens_of, told
from provider_server import failing

from simulation import simulate
from simulation.cli.app import execute
from simulation.errors import RunStoppedError, ScenarioError, UsageError
from simulation.scenario import Access

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from model_server import Asked, Model
    from provider_server import Step

both = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(name="served")
def served_model() -> Iterator[Model]:
    with model() as made:
        yield made


def late(asked: Asked, _: Model) -> list[Step]:
    """Answer well, but whoever asked later may be answered sooner."""
    return [asked.draw[3] / 2550, *good(asked)]


def scenario_file(folder: Path, described_as: dict[str, Any]) -> str:
    path = folder / "asked.yaml"
    path.write_text(yaml.safe_dump(described_as, sort_keys=False), "utf-8")
    return str(path)


def stopped(served: Model, out: Path, name: str = "openai", **changes: Any) -> str:
    """Return what a run that cannot go on says."""
    with pytest.raises(RunStoppedError) as told_so:
        ran(served, name, out, **changes)
    return str(told_so.value)


@pytest.mark.parametrize("stream", [False, True])
@both
def test_a_run_asks_for_everything_and_records_each_request(
    name: str, *, stream: bool, served: Model, tmp_path: Path
) -> None:
    path = ran(served, name, tmp_path / "a.duckdb", models={"stream": stream}, **WHOLE)
    assert all(asked.streamed == stream for asked in served.asked)
    recorded = rows(path, "SELECT purpose, outcome, attempts, attempt, error FROM model_calls")
    assert len(recorded) == len(served.asked)
    purposes = {row[0] for row in recorded}
    assert purposes == {"turn", "reflection", "probe", "appraisal", "controller", "extraction"}
    # The same text may be appraised twice in a tick: its places are 1, 3, 5, ...
    assert all(row[1:3] == ("ok", 1) and row[3] % 2 and row[4] is None for row in recorded)
    assert rows(path, SUMS) == rows(path, UNTOLD) == []
    assert rows(path, ANSWERED) == rows(path, IMPOSSIBLE) == []
    for table in ("turns", "reflections"):
        assert rows(path, f"SELECT DISTINCT source FROM {table}") == [("model",)]
    assert one(path, "SELECT count(*) - count(answer) FROM probes") == 0
    assert one(path, "SELECT coalesce(sum(failed), 0) FROM failures") == 0
    assert one(path, "SELECT status FROM run") == "complete"
    assert one(path, "SELECT count(*) FROM turns") == 32


@both
def test_tokens_are_those_the_server_told_and_money_is_their_price(
    name: str, served: Model, tmp_path: Path
) -> None:
    path = ran(served, name, tmp_path / "a.duckdb")
    answers = rows(
        path,
        "SELECT response ->> 'text', input_tokens, cached_tokens, output_tokens, cost_usd "
        "FROM model_calls",
    )
    said = sorted((row[1], row[2], row[3]) for row in answers)
    meant = sorted(tokens_of(asked, good_text(asked)) for asked in served.asked)
    assert said == meant
    for _, read, cached, written, cost in answers:
        fresh = (read - cached) * PRICE["input"] + cached * PRICE["cached_input"]
        assert cost == pytest.approx((fresh + written * PRICE["output"]) / 1e6, abs=1e-12)
    spent = rows(path, "SELECT sum(cost_usd), sum(input_tokens) FROM ticks")[0]
    assert spent == pytest.approx((sum(r[4] for r in answers), sum(r[1] for r in answers)))


def good_text(asked: Asked) -> str:
    step = good(asked)[0]
    assert isinstance(step, bytes)
    body = json.loads(step.partition(b"\r\n\r\n")[2])
    if asked.name == "openai":
        return str(body["choices"][0]["message"]["content"])
    return str(body["content"][0]["text"])


def test_who_is_answered_first_changes_nothing(tmp_path: Path) -> None:
    found = []
    for number, concurrency in enumerate((1, 8, 64)):
        with model(late if concurrency > 1 else None) as served:
            path = ran(
                served,
                "openai",
                tmp_path / f"{number}.duckdb",
                calls={"concurrency": concurrency},
                **WHOLE,
            )
        asked = rows(
            path,
            "SELECT tick, persona_id, purpose, attempt, request_sha256, response "
            "FROM model_calls ORDER BY ALL",
        )
        found.append((digests(path), asked))
    assert found[0] == found[1] == found[2]
    assert len(set(found[0][0])) == 5


def test_both_sdks_hear_the_same_and_end_in_the_same_state(tmp_path: Path) -> None:
    found = []
    for name in NAMES:
        with model() as served:
            found.append(digests(ran(served, name, tmp_path / f"{name}.duckdb")))
    assert found[0] == found[1]


@pytest.mark.parametrize("structured", ["json_object", "plain", "tool"])
@both
def test_every_way_of_asking_for_json_is_one_scenario(
    name: str, structured: str, served: Model, tmp_path: Path
) -> None:
    if (name, structured) in {("openai", "tool"), ("anthropic", "json_object")}:
        with pytest.raises((ScenarioError, UsageError), match=structured):
            ran(served, name, tmp_path / "a.duckdb", models={"structured": structured})
        return
    path = ran(served, name, tmp_path / "a.duckdb", models={"structured": structured})
    assert rows(path, "SELECT DISTINCT outcome FROM model_calls") == [("ok",)]
    with model() as other:
        assert digests(path) == digests(ran(other, name, tmp_path / "b.duckdb"))


def lost(asked: Asked, _: Model) -> list[Step]:
    """Have nothing to say for one persona."""
    return told(asked, "I am lost.") if 'id="p0003"' in asked.text else good(asked)


def test_a_persona_whose_turns_keep_failing_is_left_alone(tmp_path: Path) -> None:
    with model(lost) as served:
        path = ran(served, "openai", tmp_path / "a.duckdb", population={"size": 8})
    told_of = rows(path, "SELECT persona_id, quarantined_tick FROM personas ORDER BY 1")
    assert told_of == [(f"p000{i}", 3 if i == 3 else None) for i in range(8)]
    asked = rows(
        path,
        "SELECT tick, purpose, attempt, outcome FROM model_calls WHERE persona_id = 'p0003' "
        "AND purpose = 'turn' ORDER BY tick, attempt",
    )
    assert asked == [(t, "turn", a, "invalid") for t in (1, 2, 3) for a in (1, 2)]
    later = "SELECT count(*) FROM model_calls WHERE persona_id = 'p0003' AND tick > 3"
    assert one(path, later) == 0
    turns = rows(path, "SELECT source, error FROM turns WHERE persona_id = 'p0003' ORDER BY tick")
    assert [source for source, _ in turns] == ["fallback"] * 4
    assert all("quarantine since tick 3" in error for _, error in turns[3:])
    kinds = "SELECT tick, kind, count(*) FROM rejections WHERE purpose = 'turn' GROUP BY ALL"
    assert (3, "quarantine", 1) in rows(path, kinds)
    assert rows(path, UNTOLD) == rows(path, SUMS) == []
    turn = "SELECT fallback, invalid FROM failures WHERE purpose = 'turn' ORDER BY tick"
    assert rows(path, turn) == [(1, 2), (1, 2), (1, 2), (1, 0)]


@pytest.mark.parametrize(
    ("limit", "used"),
    [
        ({"calls": 21}, "sum(billed)"),
        ({"tokens": 18_000}, "sum(input_tokens + output_tokens + unconfirmed_tokens)"),
        ({"usd": 0.018}, "sum(cost_usd + unconfirmed_usd)"),
    ],
    ids=["calls", "tokens", "usd"],
)
@both
def test_a_budget_is_never_passed_and_ends_the_run_at_a_whole_tick(
    name: str, limit: dict[str, float], used: str, served: Model, tmp_path: Path
) -> None:
    path = tmp_path / "a.duckdb"
    message = stopped(served, path, name, budget=limit)
    assert f"budget.{next(iter(limit))}" in message
    assert "holds every finished tick" in message
    last = one(path, "SELECT last_tick FROM run")
    assert one(path, "SELECT status FROM run") == "budget_exhausted"
    assert one(path, "SELECT max(tick) FROM ticks") == last < 4
    assert one(path, "SELECT max(tick) FROM turns") in (None, last)
    assert 0 < one(path, f"SELECT {used} FROM model_calls") <= next(iter(limit.values()))
    assert one(path, "SELECT sum(attempts) FROM model_calls") == len(served.asked)
    assert rows(path, f"{SUMS} AND t.tick <= {last}") == []


def test_no_budget_at_all_asks_nothing(served: Model, tmp_path: Path) -> None:
    stopped(served, tmp_path / "a.duckdb", budget={"calls": 0})
    assert served.asked == []
    assert one(tmp_path / "a.duckdb", "SELECT last_tick FROM run") == 0


def test_a_spent_budget_is_exit_code_1_and_one_message(
    served: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = scenario_file(tmp_path, described(served, "openai", budget={"calls": 12}))
    out = tmp_path / "a.duckdb"
    assert execute(["run", file, "--out", str(out), "--quiet"]) == 1
    said = capsys.readouterr().err
    assert "budget.calls is 12" in said
    assert "Traceback" not in said
    assert one(out, "SELECT status FROM run") == "budget_exhausted"


@pytest.mark.parametrize("status", [401, 404])
@both
def test_a_wrong_key_or_an_unknown_model_is_told_before_anything_is_written(
    name: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def turned_away(_asked: Asked, _model: Model) -> list[Step]:
        return failing(status, "no such thing", type="not_found_error", code="model_not_found")

    out = tmp_path / "a.duckdb"
    with model(turned_away) as served:
        served.inventory = [*failing(401, "invalid key")] if status == 401 else ["a", "b"]
        file = scenario_file(tmp_path, described(served, name))
        assert execute(["run", file, "--out", str(out), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert ("key" if status == 401 else 'no model "m"') in said
    assert "Traceback" not in said
    assert not out.exists()
    assert served.asked == []


@both
def test_nobody_there_is_one_message_and_nothing_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = scenario_file(tmp_path, described("http://127.0.0.1:9", name))
    out = tmp_path / "a.duckdb"
    assert execute(["run", file, "--out", str(out), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "127.0.0.1:9" in said
    assert said.count(f"{name}:m") == 1  # both tiers are one model
    assert not out.exists()


@pytest.mark.parametrize("status", [401, 404])
@both
def test_a_key_that_dies_on_the_way_stops_the_run_and_keeps_what_was_paid(
    name: str, status: int, tmp_path: Path
) -> None:
    def until_the_20th(asked: Asked, served: Model) -> list[Step]:
        if len(served.asked) <= 20:
            return good(asked)
        return failing(status, "no longer", type="authentication_error", code="model_not_found")

    path = tmp_path / "a.duckdb"
    with model(until_the_20th) as served:
        message = stopped(served, path, name)
    assert "cannot be used" in message
    assert rows(path, "SELECT status FROM run") == [("failed",)]
    assert one(path, "SELECT count(*) FROM model_calls WHERE outcome = 'ok'") == 20
    assert one(path, "SELECT sum(attempts) FROM model_calls") == len(served.asked)
    last = one(path, "SELECT last_tick FROM run")
    assert one(path, "SELECT max(tick) FROM turns") == last < 4
    assert one(path, "SELECT max(tick) FROM model_calls") == last + 1


@both
def test_ctrl_c_amid_slow_calls_keeps_whole_ticks_and_every_request(
    name: str, tmp_path: Path
) -> None:
    def slow(asked: Asked, served: Model) -> list[Step]:
        return [0.5 if len(served.asked) > 20 else 0.0, *good(asked)]

    out = tmp_path / "a.duckdb"
    with model(slow) as served:
        served.wake_at = 22
        file = scenario_file(tmp_path, described(served, name))
        process = subprocess.Popen(
            [sys.executable, "-m", "simulation", "run", file, "--out", str(out), "--quiet"],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert served.arrived.wait(60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert "interrupted after tick" in said
    assert "Traceback" not in said
    assert process.returncode != 0
    last = one(out, "SELECT last_tick FROM run")
    assert rows(out, "SELECT status FROM run") == [("interrupted",)]
    assert one(out, "SELECT max(tick) FROM turns") == last
    assert one(out, "SELECT sum(attempts) FROM model_calls") == len(served.asked)
    assert len(served.asked) < 60
    # What was in flight was waited for, so it is an answer.
    assert rows(out, "SELECT DISTINCT outcome FROM model_calls") == [("ok",)]


@pytest.mark.slow
def test_ctrl_c_amid_stuck_calls_gives_them_up_and_says_what_they_may_cost(tmp_path: Path) -> None:
    def stuck(asked: Asked, served: Model) -> list[Step]:
        return [60.0 if len(served.asked) > 20 else 0.0, *good(asked)]

    out = tmp_path / "a.duckdb"
    with model(stuck) as served:
        served.wake_at = 22
        file = scenario_file(tmp_path, described(served, "openai", calls={"timeout": 90.0}))
        process = subprocess.Popen(
            [sys.executable, "-m", "simulation", "run", file, "--out", str(out), "--quiet"],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert served.arrived.wait(60)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, said = process.communicate(timeout=60)
    assert time.monotonic() - started < 40.0  # of which ten are what calls in flight may take
    assert "interrupted after tick" in said
    assert one(out, "SELECT sum(attempts) FROM model_calls") == len(served.asked)
    given_up = rows(
        out,
        "SELECT outcome, error, unconfirmed_usd > 0 FROM model_calls WHERE outcome <> 'ok'",
    )
    assert given_up
    assert all(row[0] == "error" and "interrupted" in row[1] and row[2] for row in given_up)


def test_a_log_of_digests_holds_no_request(served: Model, tmp_path: Path) -> None:
    with model() as other:
        whole = ran(other, "openai", tmp_path / "whole.duckdb")
    short = ran(served, "openai", tmp_path / "short.duckdb", log={"requests": "digest"})
    assert one(short, "SELECT count(request) FROM model_calls") == 0
    query = (
        "SELECT tick, persona_id, purpose, request_sha256, response FROM model_calls ORDER BY ALL"
    )
    assert rows(short, query) == rows(whole, query)
    assert one(whole, "SELECT count(*) - count(request) FROM model_calls") == 0
    assert digests(short) == digests(whole)


@both
def test_a_key_goes_where_it_may_and_never_into_the_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-secret-0123456789abcdef"
    monkeypatch.setenv(f"{name.upper()}_API_KEY", key)

    def gossip(asked: Asked, served: Model) -> list[Step]:
        """Tell the key back in errors and answers, as careless servers do."""
        if asked.number == 0 and asked.draw[0] < 100:
            return failing(400 if len(served.asked) % 2 else 500, f"odd request with key {key}")
        return good(asked)

    with model(gossip) as served:
        path = ran(
            served, name, tmp_path / "a.duckdb", access=Access(key_for=("127.0.0.1",)), calls={}
        )
        sent = [seen.headers for seen in served.server.seen] if served.server else []
    assert sent
    assert all(key in headers["authorization"] for headers in sent)
    assert one(path, "SELECT count(*) FROM model_calls WHERE error IS NOT NULL") > 0
    for file in tmp_path.iterdir():
        assert key.encode() not in file.read_bytes(), file


@both
def test_a_server_that_was_not_named_for_the_key_never_sees_it(
    name: str, served: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-secret-0123456789abcdef"
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(variable, key)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_ORG_ID", key)
    ran(served, name, tmp_path / "a.duckdb")
    assert served.server is not None
    assert served.server.seen
    assert key not in repr([seen.headers for seen in served.server.seen])


def test_two_models_are_asked_each_for_its_own(tmp_path: Path) -> None:
    with model() as cheap, model() as frontier:
        specs = {
            "cheap": described(cheap, "openai")["models"]["cheap"] | {"model": "small"},
            "frontier": described(frontier, "anthropic")["models"]["cheap"] | {"model": "large"},
        }
        given = described(cheap, "openai", **WHOLE) | {"models": specs}
        path = simulate(scenario_file(tmp_path, given), out=tmp_path / "a.duckdb", access=Access())
    by_model = rows(path, "SELECT DISTINCT model, purpose FROM model_calls ORDER BY ALL")
    assert {purpose for who, purpose in by_model if who == "large"} == {"reflection"}
    assert len(cheap.asked) + len(frontier.asked) == one(path, "SELECT count(*) FROM model_calls")
    assert all(asked.name == "anthropic" for asked in frontier.asked)


def test_a_check_asks_nobody(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, described("http://127.0.0.1:9", "openai"))
    assert execute(["validate", file]) == 0
    assert loaded("http://127.0.0.1:9", "openai").scenario.languages
    assert [file.name for file in tmp_path.iterdir()] == ["asked.yaml"]
