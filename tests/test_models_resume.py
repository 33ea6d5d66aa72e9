"""Runs on language models go on, branch and are repeated, and no answer is paid for twice."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import yaml
from model_faults import PASSING, WRONG, failing_at_times
from model_runs import SUMS, UNTOLD, WHOLE, described, digests, loaded, one, ran, rows
from model_server import good, model, told
from small import small
from worlds import assert_equal_worlds, running

from simulation.analysis.compare import compare
from simulation.analysis.spending import spending
from simulation.analysis.summary import summarise
from simulation.calls.recorded import ReplayMissError
from simulation.cli.app import execute
from simulation.errors import RunFileError, RunStoppedError, UsageError
from simulation.rebuilding import rebuild
from simulation.runs import fork, resume, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from model_server import Asked, Model
    from provider_server import Step

    from simulation.records import TickRecords

SLOW = pytest.mark.slow
ASKS = [
    {"id": "intent", "tick": [2, 4], "question": "Will you buy it?", "target": "value"},
    {"id": "ways", "tick": 3, "question": "How often?", "kind": "choice",
     "choices": ["never", "at times", "daily"]},
]  # fmt: skip
EVERYTHING = WHOLE | {"surveys": ASKS}
"""All purposes: turns, reflections, probes, surveys, appraisals, searches."""

FAULTS = PASSING | WRONG
CALLS = {"concurrency": 8, "timeout": 20.0, "tries": 5}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(name="served")
def served_model() -> Iterator[Model]:
    with model() as made:
        yield made


@pytest.fixture(name="whole", scope="module")
def never_stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counter[str]]:
    """Return a run without a budget that asks for everything, and what its server was asked."""
    with model() as served:
        path = ran(served, "openai", tmp_path_factory.mktemp("whole") / "a.duckdb", **EVERYTHING)
        return path, bodies(served)


def bodies(*served: Model) -> Counter[str]:
    """Return how often each request body arrived."""
    return Counter(
        json.dumps(asked.body, sort_keys=True) for each in served for asked in each.asked
    )


def scenario_file(folder: Path, described_as: dict[str, Any]) -> str:
    path = folder / "asked.yaml"
    path.write_text(yaml.safe_dump(described_as, sort_keys=False), "utf-8")
    return str(path)


def stopping_after(tick: int) -> Any:
    def stop(records: TickRecords) -> None:
        if records.tick == tick:
            raise KeyboardInterrupt

    return stop


TWICE = """
    SELECT tick, persona_id, purpose, attempt, request_sha256 FROM model_calls
    WHERE response IS NOT NULL GROUP BY ALL HAVING count(*) > 1
"""
"""Replies that were asked for although they were recorded."""

SPENT = {
    "usd": "sum(coalesce(cost_usd, 0) + unconfirmed_usd)",
    "calls": "sum(billed)",
    "tokens": "sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + unconfirmed_tokens)",
}

# Budgets


@pytest.mark.parametrize(
    "key", ["usd", *(pytest.param(k, marks=SLOW) for k in ("calls", "tokens"))]
)
def test_a_budget_stops_a_run_at_whole_ticks_and_more_of_it_lets_it_go_on(
    key: str, whole: tuple[Path, Counter[str]], served: Model, tmp_path: Path
) -> None:
    path = tmp_path / "a.duckdb"
    needed = one(whole[0], f"SELECT {SPENT[key]} FROM model_calls")
    shares = [share * needed for share in (0.3, 0.32, 0.8)]
    limits = [round(limit, 4) if key == "usd" else int(limit) for limit in shares]
    with pytest.raises(RunStoppedError, match=rf"--set budget\.{key}=\d"):
        ran(served, "openai", path, budget={key: limits[0]}, **EVERYTHING)
    held = -1
    for before, limit in zip(limits, (*limits[1:], None), strict=True):
        last = one(path, "SELECT last_tick FROM run")
        assert one(path, "SELECT status FROM run") == "budget_exhausted"
        assert held <= last < 4
        held = last
        assert digests(path) == digests(whole[0])[: last + 1]
        for table in ("turns", "memories", "posts", "exposures", "ticks"):
            assert (one(path, f"SELECT max(tick) FROM {table}") or 0) <= last, table
        used = one(path, f"SELECT {SPENT[key]} FROM model_calls")
        assert 0 < used <= before
        if limit is not None:
            with pytest.raises(RunStoppedError, match=rf"budget\.{key} is {limit}"):
                resume(path, settings=[f"budget.{key}={limit}"])
    resume(path, settings=["budget={}"])
    assert digests(path) == digests(whole[0])
    assert bodies(served) == whole[1]
    assert rows(path, TWICE) == rows(path, SUMS) == []
    assert one(path, "SELECT status FROM run") == "complete"


def test_a_lower_budget_than_was_spent_asks_nothing(served: Model, tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with pytest.raises(RunStoppedError):
        ran(served, "openai", path, budget={"calls": 21})
    asked = len(served.asked)
    for limit in (5, 21):
        with pytest.raises(RunStoppedError, match=f"budget.calls is {limit}, 21 may have been"):
            resume(path, settings=[f"budget.calls={limit}"])
    assert len(served.asked) == asked


@pytest.mark.parametrize(
    "key", ["usd", *(pytest.param(k, marks=SLOW) for k in ("calls", "tokens"))]
)
def test_the_words_of_a_spent_budget_can_be_typed_as_they_are(
    key: str, served: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "with a space" / "a.duckdb"
    limit = {"usd": 0.02, "calls": 21, "tokens": 18_000}[key]
    file = scenario_file(tmp_path, described(served, "openai", budget={key: limit}))
    assert execute(["run", file, "--out", str(path), "--quiet"]) == 1
    done = 0
    for _ in range(4):
        said = capsys.readouterr().err
        words = next(line for line in said.splitlines() if "simulation resume " in line)
        command = words.partition("simulation ")[2]
        assert f"--set budget.{key}=" in command
        parts = subprocess.run(
            ["/bin/sh", "-c", f'printf "%s\\n" {command}'],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        done = execute([*parts, "--quiet"])
        if not done:
            break
    assert done == 0
    assert one(path, "SELECT status FROM run") == "complete"


# Ends in mid-tick


def slowly(asked: Asked, _: Model) -> list[Step]:
    """Answer well, after a time that depends on what is asked."""
    return [asked.draw[5] / 2000, *good(asked)]


def begun(served: Model, folder: Path, **changes: Any) -> tuple[subprocess.Popen[str], Path]:
    """Start a run in a process of its own; return it and its file."""
    file = scenario_file(folder, described(served, "openai", **changes))
    out = folder / "a.duckdb"
    words = [sys.executable, "-m", "simulation", "run", file, "--out", str(out), "--quiet"]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True), out


def gone_on(folder: Path, out: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "simulation", "resume", str(out), "--quiet"]
    return subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    "moments",
    [
        pytest.param((45, 50), id="twice in one tick"),
        pytest.param((9, 60), id="early", marks=pytest.mark.slow),
        pytest.param((80, 100), id="late", marks=pytest.mark.slow),
        pytest.param((25, 61, 99), id="three times", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "how",
    [
        pytest.param(signal.SIGKILL, id="kill"),
        pytest.param(signal.SIGINT, id="ctrl-c", marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_struck_in_mid_tick_goes_on_and_asks_for_no_recorded_reply(
    how: signal.Signals,
    moments: tuple[int, ...],
    whole: tuple[Path, Counter[str]],
    tmp_path: Path,
) -> None:
    with model(slowly) as served:
        served.wake_at = moments[0]
        process, out = begun(served, tmp_path, **EVERYTHING)
        for moment in (*moments[1:], None):
            assert served.arrived.wait(60)
            process.send_signal(how)
            _, said = process.communicate(timeout=60)
            assert process.returncode != 0, said
            assert "Traceback" not in said
            before = digests(out)
            assert before == digests(whole[0])[: len(before)]
            kept = one(out, "SELECT count(*) FROM model_calls WHERE response IS NOT NULL")
            sent = len(served.asked)
            served.arrived.clear()
            served.wake_at = moment or 0
            process = gone_on(tmp_path, out)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        new = one(out, "SELECT count(*) FROM model_calls WHERE response IS NOT NULL") - kept
        assert len(served.asked) - sent == new
    assert digests(out) == digests(whole[0])
    assert rows(out, TWICE) == rows(out, SUMS) == rows(out, UNTOLD) == []
    assert one(out, "SELECT count(*) FROM model_calls WHERE outcome = 'ok'") == whole[1].total()
    if how == signal.SIGINT:  # what was in flight was waited for, so nothing at all is asked twice
        assert bodies(served) == whole[1]


def test_a_server_that_is_gone_for_good_fails_the_run_which_goes_on_when_it_is_back(
    whole: tuple[Path, Counter[str]], tmp_path: Path
) -> None:
    path = tmp_path / "a.duckdb"
    with ExitStack() as open_servers:
        served = open_servers.enter_context(model())
        host = served.url.partition("//")[2]

        def leave(records: TickRecords) -> None:
            if records.tick == 2:
                open_servers.close()

        given = loaded(served, "openai", calls={"tries": 1}, **EVERYTHING)
        with pytest.raises(RunStoppedError, match=r"(?s)cannot be used.*simulation resume"):
            simulate(given, out=path, on_tick=leave)
    assert one(path, "SELECT status FROM run") == "failed"
    assert digests(path) == digests(whole[0])[:3]
    with pytest.raises(UsageError, match=host):
        resume(path)
    assert one(path, "SELECT status FROM run") == "failed"
    with model() as back:
        resume(path, settings=at(back))
    assert digests(path) == digests(whole[0])
    assert bodies(served, back) == whole[1]
    assert rows(path, TWICE) == rows(path, SUMS) == []
    assert one(path, "SELECT status FROM run") == "complete"


def at(served: Model) -> list[str]:
    """Return settings that say where the model is now."""
    url = served.base_url("openai")
    return [f"models.{tier}.base_url={url}" for tier in ("cheap", "frontier")]


# Replay


def replayed(path: Path, out: Path, given: Any, **options: Any) -> Path:
    """Return a replay of a run; nobody is asked."""
    return simulate(given, out=out, replay=path, **options)


def nowhere(**changes: Any) -> Any:
    """Return the scenario with a server that is not there."""
    return loaded("http://127.0.0.1:9/v1", "openai", **changes)


CALLED = (
    "SELECT tick, persona_id, purpose, attempt, request_sha256, request, response, input_tokens, "
    "cached_tokens, written_tokens, output_tokens, cost_usd, outcome, error FROM model_calls "
    "WHERE NOT coalesce(starts_with(error, 'interrupted'), false) ORDER BY ALL"
)
FELL = (
    "SELECT tick, persona_id, purpose, kind, detail FROM rejections WHERE purpose <> 'model' "
    "ORDER BY ALL"
)
TURNS = (
    "SELECT * REPLACE (CASE source WHEN 'replay' THEN 'model' ELSE source END AS source) "
    "FROM {table} ORDER BY ALL"
)


def assert_repeats(path: Path, again: Path) -> None:
    """Fail unless the second run is the first one, asked of nobody and paid by nobody."""
    assert digests(again) == digests(path)
    assert rows(again, CALLED) == rows(path, CALLED)
    assert rows(again, FELL) == rows(path, FELL)
    for table in ("turns", "reflections"):
        assert rows(again, TURNS.format(table=table)) == rows(path, TURNS.format(table=table))
        assert one(again, f"SELECT count(*) FROM {table} WHERE source = 'model'") == 0
    for table in ("probes", "surveys", "personas", "failures"):
        sql = f"SELECT * FROM {table} ORDER BY ALL"
        assert rows(again, sql) == rows(path, sql), table
    paid = "SELECT DISTINCT attempts, billed, unconfirmed_usd, unconfirmed_tokens FROM model_calls"
    assert rows(again, paid) == [(0, 0, 0.0, 0)]
    assert one(again, "SELECT status FROM run") == "complete"
    assert rows(again, SUMS) == []
    assert_unpaid(path, again)


def assert_unpaid(path: Path, again: Path) -> None:
    """Fail if anything tells what was replayed as paid."""
    first, second = spending(path), spending(again)
    assert first is not None
    assert second is not None
    assert (second.cost_usd, second.unconfirmed_usd, second.unpriced) == (0.0, 0.0, 0)
    assert second.replayed == second.calls
    assert [each.cost_usd for each in second.asked] == [0.0] * len(first.asked)
    assert all(each.used == 0 for each in second.budget)
    assert summarise(again).cost_usd == 0.0
    assert one(again, "SELECT sum(cost_usd) FROM ticks") == 0.0
    assert one(again, "SELECT sum(cost_usd) + sum(unconfirmed_usd) FROM spend") == 0.0
    assert one(again, "SELECT sum(calls) - sum(replayed) FROM spend") == 0
    worth = one(path, "SELECT sum(cost_usd) FROM model_calls")
    if not one(path, "SELECT count(*) FROM model_calls WHERE starts_with(error, 'interrupted')"):
        assert one(again, "SELECT sum(replayed_usd) FROM spend") == pytest.approx(worth)
        assert second.replayed_usd == pytest.approx(worth)


def test_a_replay_is_the_run_again_without_a_server_or_a_budget(
    whole: tuple[Path, Counter[str]], tmp_path: Path
) -> None:
    given = nowhere(budget={"usd": 1e-6, "calls": 1, "tokens": 1}, **EVERYTHING)
    again = replayed(whole[0], tmp_path / "a.duckdb", given)
    assert_repeats(whole[0], again)
    assert_repeats(whole[0], replayed(again, tmp_path / "b.duckdb", given))
    found = compare([whole[0], again])
    assert found.divergence is None
    assert found.first_different_digest is None


@pytest.mark.parametrize("host", [None, "https://models.example.org/v1"])
def test_a_replay_needs_no_key(host: str | None, served: Model, tmp_path: Path) -> None:
    path = ran(served, "anthropic", tmp_path / "a.duckdb")
    given = described(host or "", "anthropic")
    for spec in given["models"].values():
        spec.pop("price", None)
        if host is None:
            spec.pop("base_url", None)
    file = scenario_file(tmp_path, given)
    words = ["--allow-host", "models.example.org"] if host else []
    out = tmp_path / "b.duckdb"
    assert execute(["run", file, "--replay", str(path), "--out", str(out), "--quiet", *words]) == 0
    assert_repeats(path, out)


@pytest.mark.parametrize("name", ["openai", pytest.param("anthropic", marks=SLOW)])
def test_a_replay_fails_as_the_run_did(name: str, tmp_path: Path) -> None:
    changes: dict[str, Any] = {"models": {"max_tokens": 2000}} | EVERYTHING

    def failing(asked: Asked, served: Model) -> list[Step]:
        refused = asked.draw[7] < 9
        return WRONG["refusal"](asked) if refused else failing_at_times(FAULTS)(asked, served)

    with model(failing) as served:
        calls = {"quarantine_after": 1, "tries": 2, "timeout": 2.0}
        path = ran(served, name, tmp_path / "a.duckdb", calls=calls, **changes)
    outcomes = {row[0] for row in rows(path, "SELECT DISTINCT outcome FROM model_calls")}
    assert outcomes == {"ok", "repaired", "invalid", "refused", "error"}
    assert one(path, "SELECT count(*) FROM turns WHERE source = 'fallback'") > 0
    assert one(path, "SELECT count(quarantined_tick) FROM personas") > 0
    given = loaded("http://127.0.0.1:9/v1", name, calls=calls, **changes)
    again = replayed(path, tmp_path / "b.duckdb", given)
    assert_repeats(path, again)
    assert_repeats(path, replayed(again, tmp_path / "c.duckdb", given))


def test_a_run_that_was_stopped_and_resumed_can_be_replayed(
    whole: tuple[Path, Counter[str]], tmp_path: Path
) -> None:
    with model(slowly) as served:
        served.wake_at = 45
        process, path = begun(served, tmp_path, calls={"timeout": 9.0}, **EVERYTHING)
        assert served.arrived.wait(60)
        process.kill()
        process.communicate(timeout=60)
        resume(path)
    again = replayed(path, tmp_path / "b.duckdb", nowhere(**EVERYTHING))
    assert digests(again) == digests(whole[0])
    assert_unpaid(path, again)


def test_a_log_of_digests_is_enough_to_replay(served: Model, tmp_path: Path) -> None:
    path = ran(served, "openai", tmp_path / "a.duckdb", log={"requests": "digest"})
    assert one(path, "SELECT count(request) FROM model_calls") == 0
    given = nowhere(log={"requests": "digest"})
    assert_repeats(path, replayed(path, tmp_path / "b.duckdb", given))
    with pytest.raises(ReplayMissError, match=r"was not kept \(log.requests: digest\)"):
        replayed(path, tmp_path / "c.duckdb", nowhere(temperature=0.1))


@pytest.mark.parametrize(
    ("changes", "options", "why"),
    [
        ({}, {"seed": 4}, r"tick 1, turn of p000\d, attempt 1.*`persona` differs from character"),
        ({"temperature": 0.25}, {}, r"tick 1, turn of p0000, attempt 1.*`temperature` differs"),
        ({"models": {"model": "n"}}, {}, r"tick 1, turn of p0000.*`model` differs.*\"m\".*\"n\""),
        ({"population": {"size": 9}}, {}, r"tick 1, turn of p000\d"),
    ],
    ids=["seed", "temperature", "model", "population"],
)
def test_what_was_not_asked_stops_a_replay_at_once_and_leaves_no_file(
    changes: dict[str, Any],
    options: dict[str, Any],
    why: str,
    plain: Path,
    tmp_path: Path,
) -> None:
    out = tmp_path / "new" / "b.duckdb"
    with pytest.raises(ReplayMissError, match=f"(?s){why}.*Nothing was written"):
        replayed(plain, out, nowhere(**changes), **options)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(name="plain", scope="module")
def plain_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that asks for turns, reflections and probes."""
    with model() as served:
        return ran(served, "openai", tmp_path_factory.mktemp("plain") / "a.duckdb")


LATER: dict[str, Any] = {"stimuli": [
    {"tick": 1, "kind": "ad", "source": "Bolt", "text": "No sugar in Bolt.", "claim": "C1"},
    {"tick": 2, "kind": "news", "source": "Weekly", "text": "Bolt tastes of chocolate.",
     "claim": "C2", "stance": 0.8},
    {"id": "ask", "tick": 3, "kind": "question", "text": "Would you taste Bolt?", "reach": 0.7},
]}  # fmt: skip
"""The same scenario with another event at tick 3."""


def test_a_miss_later_on_keeps_whole_ticks_and_may_be_asked(
    plain: Path,
    served: Model,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = scenario_file(tmp_path, described(served, "openai", **LATER))
    out = tmp_path / "b.duckdb"
    words = ["run", file, "--replay", str(plain), "--out", str(out), "--quiet"]
    assert execute(words) == 1
    said = capsys.readouterr().err
    assert "tick 3, turn of p000" in said
    assert "`question` differs from character" in said
    assert re.search(r'recorded "….+", now "…', said)
    assert "Traceback" not in said
    assert rows(out, "SELECT status, last_tick FROM run") == [("failed", 2)]
    assert digests(out) == digests(plain)[:3]
    assert one(out, "SELECT max(tick) FROM turns") == 2
    assert served.asked == []
    line = next(line for line in said.splitlines() if "To go on: " in line)
    command = line.partition("To go on: simulation ")[2]
    assert command == f"resume {out} --replay {plain} --replay-miss live"
    assert execute([*command.split(), "--quiet"]) == 0
    live = simulate(file, out=tmp_path / "live.duckdb")
    assert digests(out) == digests(live)
    assert one(out, "SELECT count(*) FROM model_calls WHERE attempts > 0 AND tick < 3") == 0
    known = {row[0] for row in rows(plain, "SELECT request_sha256 FROM model_calls")}
    sent = rows(out, "SELECT request_sha256 FROM model_calls WHERE attempts > 0")
    assert sent
    assert known.isdisjoint(row[0] for row in sent)


def test_only_misses_are_asked_live(plain: Path, served: Model, tmp_path: Path) -> None:
    given = loaded(served, "openai", **LATER)
    again = replayed(plain, tmp_path / "b.duckdb", given, ask_misses=True)
    asked = one(again, "SELECT count(*) FROM model_calls WHERE attempts > 0")
    assert 0 < asked == len(served.asked) < one(again, "SELECT count(*) FROM model_calls")
    spent = spending(again)
    assert spent is not None
    assert spent.calls - spent.replayed == asked
    paid = one(again, "SELECT sum(cost_usd) FROM model_calls WHERE attempts > 0")
    assert spent.cost_usd == pytest.approx(paid) == pytest.approx(summarise(again).cost_usd)
    assert digests(again) == digests(simulate(given, out=tmp_path / "c.duckdb"))
    assert {row[0] for row in rows(again, "SELECT DISTINCT source FROM turns")} == {
        "model",
        "replay",
    }


def test_what_a_budget_is_spent_on_in_a_replay_is_what_is_asked(
    plain: Path, served: Model, tmp_path: Path
) -> None:
    given = loaded(served, "openai", budget={"calls": 3}, **LATER)
    path = tmp_path / "b.duckdb"
    with pytest.raises(RunStoppedError, match=r"budget.calls is 3, 3 may have been used"):
        replayed(plain, path, given, ask_misses=True)
    spent = spending(path)
    assert spent is not None
    assert [(each.name, each.used) for each in spent.budget] == [("calls", 3)]
    with pytest.raises(RunStoppedError, match=r"budget.calls is 4, 4 may have been used"):
        resume(path, settings=["budget.calls=4"], replay=plain, ask_misses=True)
    assert len(served.asked) == 4


def test_a_replay_that_was_interrupted_is_resumed_without_asking(
    plain: Path, tmp_path: Path
) -> None:
    path = tmp_path / "b.duckdb"
    with pytest.raises(RunStoppedError, match=rf"resume {path} --replay {plain}$"):
        replayed(plain, path, nowhere(), on_tick=stopping_after(2))
    resume(path, replay=plain)
    assert_repeats(plain, path)


def test_what_cannot_be_replayed_says_so(
    plain: Path, served: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "b.duckdb"
    by_rule = simulate(small(), out=tmp_path / "rule.duckdb")
    with pytest.raises(UsageError, match=r"rule.duckdb holds no answers of a language model"):
        replayed(by_rule, out, nowhere())
    with pytest.raises(UsageError, match="asks no language model"):
        replayed(plain, out, small())
    with pytest.raises(UsageError, match="needs a run to replay"):
        simulate(nowhere(), out=out, ask_misses=True)
    with pytest.raises(RunFileError, match=r"none\.duckdb does not exist"):
        replayed(tmp_path / "none.duckdb", out, nowhere())
    foreign = tmp_path / "foreign.duckdb"
    foreign.write_bytes(b"no database at all" * 999)
    with pytest.raises(RunFileError, match=r"foreign.duckdb"):
        replayed(foreign, out, nowhere())
    old = tmp_path / "old.duckdb"
    shutil.copy(plain, old)
    with duckdb.connect(str(old)) as connection:
        connection.execute("UPDATE run SET schema_version = 1")
    with pytest.raises(RunFileError, match="has layout 1"):
        replayed(old, out, nowhere())
    file = scenario_file(tmp_path, described(served, "openai"))
    words = ["run", file, "--replay", str(by_rule), "--out", str(out)]
    assert execute(words) == 2
    assert "nothing to replay" in capsys.readouterr().err
    assert not out.exists()
    with pytest.raises(RunStoppedError):
        simulate(small(), out=out, on_tick=stopping_after(2))
    with pytest.raises(UsageError, match="asks no language model"):
        resume(out, replay=plain)


def test_a_run_that_is_still_written_cannot_be_replayed(tmp_path: Path) -> None:
    with model(slowly) as served:
        served.wake_at = 30
        process, path = begun(served, tmp_path)
        try:
            assert served.arrived.wait(60)
            with pytest.raises(RunFileError, match=f"is in use by process {process.pid} "):
                replayed(path, tmp_path / "b.duckdb", nowhere())
        finally:
            process.kill()
            process.communicate(timeout=60)


# Fork


@pytest.mark.parametrize("at", [0, 2, 3])
def test_a_fork_with_nothing_set_repeats_its_parent_and_asks_nobody(
    at: int, whole: tuple[Path, Counter[str]], tmp_path: Path
) -> None:
    other = fork(whole[0], at=at, out=tmp_path / "b.duckdb")  # its server is gone
    assert digests(other) == digests(whole[0])
    assert rows(other, CALLED) == rows(whole[0], CALLED)
    assert one(other, f"SELECT count(*) FROM model_calls WHERE attempts > 0 AND tick > {at}") == 0
    found = compare([whole[0], other])
    assert found.divergence is None
    spent = spending(other)
    assert spent is not None
    assert (spent.cost_usd, spent.replayed) == (0.0, spent.calls)
    assert summarise(other).cost_usd == 0.0


def test_a_fork_asks_only_what_its_parent_did_not_and_pays_for_that_alone(
    plain: Path, served: Model, tmp_path: Path
) -> None:
    settings = [*at(served), "stimuli[2].text=Would you taste Bolt?"]
    other = fork(plain, at=1, settings=settings, out=tmp_path / "b.duckdb")
    live = simulate(loaded(served, "openai", **LATER), out=tmp_path / "live.duckdb")
    assert digests(other) == digests(live)
    sent = rows(
        other, "SELECT tick, request_sha256 FROM model_calls WHERE attempts > 0 AND tick > 1"
    )
    assert sent
    assert min(row[0] for row in sent) == 3
    known = {row[0] for row in rows(plain, "SELECT request_sha256 FROM model_calls")}
    assert known.isdisjoint(row[1] for row in sent)
    spent = spending(other)
    assert spent is not None
    assert spent.calls - spent.replayed == len(sent)
    found = compare([plain, other])
    assert found.divergence is not None
    assert found.divergence.tick == 3


def test_the_budget_of_a_fork_starts_anew_and_its_resumption_counts_its_own_calls(
    plain: Path, served: Model, tmp_path: Path
) -> None:
    settings = [*at(served), "budget.calls=3", "stimuli[2].text=Would you taste Bolt?"]
    path = tmp_path / "b.duckdb"
    with pytest.raises(RunStoppedError, match=r"budget.calls is 3, 3 may") as told_so:
        fork(plain, at=2, settings=settings, out=path)
    assert f"--replay {plain} --replay-miss live --set budget.calls=6" in str(told_so.value)
    assert one(path, "SELECT last_tick FROM run") == 2
    with pytest.raises(RunStoppedError, match=r"budget.calls is 5, 5 may"):
        resume(path, settings=["budget.calls=5"], replay=plain, ask_misses=True)
    assert len(served.asked) == 5
    resume(path, settings=["budget.calls=100"], replay=plain, ask_misses=True)
    live = simulate(loaded(served, "openai", **LATER), out=tmp_path / "live.duckdb")
    assert digests(path) == digests(live)
    assert rows(path, TWICE) == rows(path, SUMS) == []


def test_a_fork_that_was_interrupted_still_asks_nobody(plain: Path, tmp_path: Path) -> None:
    path = tmp_path / "b.duckdb"
    with pytest.raises(RunStoppedError, match=f"--replay {plain} --replay-miss live"):
        fork(plain, at=1, out=path, on_tick=stopping_after(2))
    resume(path, replay=plain)
    assert digests(path) == digests(plain)


def test_a_fork_of_a_run_that_ended_early_looks_for_its_models_first(tmp_path: Path) -> None:
    with model() as served:
        path = tmp_path / "a.duckdb"
        given = loaded(served, "openai")
        with pytest.raises(RunStoppedError):
            simulate(given, out=path, on_tick=stopping_after(2))
    with pytest.raises(UsageError, match=r"127\.0\.0\.1"):
        fork(path, at=1, out=tmp_path / "b.duckdb")
    assert [file.name for file in tmp_path.iterdir()] == ["a.duckdb"]


def test_a_complete_parent_whose_answers_are_not_enough_stops_the_fork(
    plain: Path, tmp_path: Path
) -> None:
    """Nothing is set, but somebody deleted what the parent was told."""
    path = tmp_path / "a.duckdb"
    shutil.copy(plain, path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("DELETE FROM model_calls WHERE tick = 3")
    with pytest.raises(RunStoppedError, match=r"cannot be used.*\n.*after tick 2 of 4"):
        fork(path, at=1, out=tmp_path / "b.duckdb")
    assert one(tmp_path / "b.duckdb", "SELECT status FROM run") == "failed"
    there = [f"models.{tier}.base_url=null" for tier in ("cheap", "frontier")]
    with pytest.raises(RunStoppedError, match=r"(?s)OPENAI_API_KEY.*after tick 2 of 4"):
        fork(path, at=1, settings=there, out=tmp_path / "c.duckdb")


# Quarantine


def lost(asked: Asked, _: Model) -> list[Step]:
    """Have nothing to say for some personas in most turns."""
    who = ("p0003", "p0006")
    silent = any(f'id="{name}"' in asked.text for name in who) and asked.draw[1] % 8
    return told(asked, "I am lost.") if silent else good(asked)


LOSING = EVERYTHING | {"horizon": 6}


def test_failures_and_quarantine_come_back_from_the_rows_after_every_tick() -> None:
    seen: set[tuple[int, ...]] = set()
    with model(lost) as served:
        for engine, writer in running(
            loaded(served, "openai", calls={"quarantine_after": 2}, **LOSING)
        ):
            assert_equal_worlds(rebuild(writer.reader()), engine.world)
            seen.add((int(engine.world.failing.max()), int((engine.world.quarantined > 0).sum())))
        engine.close()
    assert (0, 0) in seen
    assert max(seen)[1] > 0


def test_a_fork_before_a_quarantine_lives_to_see_it_and_one_after_it_keeps_it(
    tmp_path: Path,
) -> None:
    with model(lost) as served:
        path = ran(
            served, "openai", tmp_path / "a.duckdb", calls={"quarantine_after": 2}, **LOSING
        )
    since = rows(path, "SELECT persona_id, quarantined_tick FROM personas ORDER BY ALL")
    caught = [tick for _, tick in since if tick is not None]
    assert caught
    for tick in range(6):
        other = fork(path, at=tick, out=tmp_path / f"{tick}.duckdb")
        assert digests(other) == digests(path)
        assert (
            rows(other, "SELECT persona_id, quarantined_tick FROM personas ORDER BY ALL") == since
        )
        assert rows(other, FELL) == rows(path, FELL)
    with model(lost) as served:
        before, after = min(caught) - 1, min(caught)
        never = [*at(served), "calls.quarantine_after=null"]
        free = fork(path, at=before, settings=never, out=tmp_path / "free.duckdb")
        kept = fork(path, at=after, settings=never, out=tmp_path / "kept.duckdb")
    assert one(free, "SELECT count(quarantined_tick) FROM personas") == 0
    assert one(kept, "SELECT count(quarantined_tick) FROM personas") == caught.count(after)


def test_a_run_with_personas_in_quarantine_goes_on_as_if_it_had_never_stopped(
    tmp_path: Path,
) -> None:
    calls = {"quarantine_after": 2}
    with model(lost) as served:
        whole = ran(served, "openai", tmp_path / "whole.duckdb", calls=calls, **LOSING)
        for after in (1, 2, 3):
            path = tmp_path / f"{after}.duckdb"
            given = loaded(served, "openai", calls=calls, **LOSING)
            with pytest.raises(RunStoppedError):
                simulate(given, out=path, on_tick=stopping_after(after))
            resume(path)
            assert digests(path) == digests(whole)
            for sql in (FELL, "SELECT * FROM personas ORDER BY ALL"):
                assert rows(path, sql) == rows(whole, sql)
