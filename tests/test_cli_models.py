"""The command line with language models: estimate, dry run, validate, run, and what they print."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from answering_server import answering, clumsy, longest, shortest
from small import SMALL

from simulation.analysis.spending import Asked, BudgetUse, Quarantined, Spending, spending
from simulation.analysis.summary import summarise
from simulation.cli.app import execute
from simulation.cli.estimate import cents, short, span
from simulation.cli.progress import Tally
from simulation.cli.spent import spent_on
from simulation.planning import Range, preview
from simulation.records import Tick, TickRecords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Cli = Callable[..., tuple[int, str, str]]

PRICE = {"input": 1.0, "output": 5.0}
CLAUDE = {"provider": "anthropic", "model": "claude-haiku-4-5"}
GPT = {"provider": "openai", "model": "gpt-5-mini"}
UNKNOWN = {"provider": "openai", "model": "gpt-99"}
FEW: dict[str, Any] = {"population": {"size": 5, "activity": 0.9}, "horizon": 6}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def run(*words: object) -> tuple[int, str, str]:
        code = execute([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "small.yaml"
    content = {**SMALL, "stimuli": SMALL["stimuli"][:2], **FEW, **changes}
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def parrot() -> Iterator[str]:
    with answering(longest) as url:
        yield url


def at(url: str, **settings: Any) -> dict[str, Any]:
    return {"provider": "openai", "model": "parrot", "base_url": url, "price": PRICE} | settings


# estimate


def test_an_estimate_says_calls_tokens_and_cost_of_each_purpose_and_model(
    cli: Cli, tmp_path: Path
) -> None:
    path = written(tmp_path, models={"cheap": GPT, "frontier": CLAUDE}, budget={"usd": 0.001})
    code, out, err = cli("estimate", path, "--seed", "5")
    assert (code, err) == (0, "")
    assert out.startswith("small, seed 5: 5 personas, 6 ticks, ")
    assert "openai:gpt-5-mini at api.openai.com" in out
    assert "anthropic:claude-haiku-4-5 at api.anthropic.com" in out
    for purpose in ("turn", "probe", "reflection"):
        row = next(line for line in out.splitlines() if line.startswith(f"  {purpose} "))
        assert len(re.findall(r"\d \s*-\s* \d", row)) >= 2
    for head in ("Total ", "Expect ", "Time ", "Budget ", "  low: ", "  high: ", "  not in it: "):
        assert f"\n{head}" in out
    assert "budget.usd of 0.001 is not enough" in out
    assert max(map(len, out.splitlines())) <= 80


def test_an_estimate_takes_settings_and_gives_json(cli: Cli, tmp_path: Path) -> None:
    setting = "models.cheap={provider: openai, model: gpt-5-mini}"
    code, out, _ = cli("estimate", written(tmp_path), "--set", setting, "--json")
    found = json.loads(out)
    assert code == 0
    assert {line["purpose"] for line in found["lines"]} == {"turn", "probe"}
    assert found["total"]["cost_usd"]["low"] < found["total"]["cost_usd"]["high"]
    assert found["total"]["purpose"] == "all"


def test_an_estimate_of_a_scenario_by_rule_says_that_nothing_is_asked(
    cli: Cli, tmp_path: Path
) -> None:
    code, out, _ = cli("estimate", written(tmp_path))
    assert code == 0
    assert "no language model is asked" in " ".join(out.split())


def test_an_estimate_without_a_price_says_so_unless_told(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, models={"cheap": UNKNOWN})
    code, out, _ = cli("estimate", path)
    assert code == 0
    assert "unknown" in out
    assert "no price is known for openai:gpt-99" in out
    code, out, _ = cli("estimate", path, "--no-price")
    assert (code, "no price is known" in out) == (0, False)


def test_bad_input_is_one_message(cli: Cli, tmp_path: Path) -> None:
    for words in (("estimate", "none.yaml"), ("estimate", written(tmp_path), "--set", "size=1")):
        code, out, err = cli(*words)
        assert (code, out) == (2, "")
        assert err.count("cannot be used") == 1


def test_numbers_are_short_and_ranges_have_two_ends() -> None:
    assert [short(n) for n in (0, 9_999, 10_000, 999_499, 2_000_000, 3.2e9)] == [
        "0", "9,999", "10k", "999k", "2M", "3.2G",
    ]  # fmt: skip
    assert [cents(n) for n in (0.0, 0.004, 0.1, 12.345)] == ["0.00", "0.004", "0.10", "12.35"]
    assert span(Range(low=1, high=2), short) == "1 - 2"
    assert span(Range(low=1.2, high=1.4), short) == "1"


# dry run


def test_a_dry_run_shows_prompts_and_writes_and_sends_nothing(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, models={"cheap": GPT, "frontier": CLAUDE}, tier="frontier")
    code, out, err = cli("run", path, "--dry-run")
    assert (code, err) == (0, "")
    assert [each.name for each in tmp_path.iterdir()] == ["small.yaml"]
    heads = re.findall(r"^(\w+), (\w+) tier, tick (\d+)", out, re.MULTILINE)
    assert ("turn", "frontier", "1") in heads
    assert ("probe", "cheap", "4") in heads
    assert any(head[:2] == ("reflection", "frontier") for head in heads)
    assert "anthropic:claude-haiku-4-5 at api.anthropic.com" in out
    assert "You are one person in a simulated population." in out
    assert '"additionalProperties": false' in out
    assert "at most 400 tokens, temperature the provider's own, structured auto" in out
    assert "api.anthropic.com gets the prompts of the frontier tier" in out
    assert out.rstrip().endswith("Nothing was sent and nothing was written.")


def test_the_first_prompts_of_a_dry_run_are_those_that_are_sent(tmp_path: Path) -> None:
    seen: list[str] = []

    def say(body: dict[str, Any], schema: dict[str, Any] | None) -> str:
        seen.append("\n\n".join(message["content"] for message in body["messages"]))
        return shortest(body, schema)

    from simulation.founding import read  # noqa: PLC0415 - beside what it is used with
    from simulation.runs import simulate  # noqa: PLC0415 - as above

    with answering(say) as url:
        loaded = read(written(tmp_path, models={"cheap": at(url)}))
        shown = {each.purpose: each for each in preview(loaded).requests}
        assert seen == []
        simulate(loaded, out=tmp_path / "run.duckdb")
    for purpose in ("turn", "probe"):
        each = shown[purpose]
        assert each.exact
        assert f"{each.system}\n\n{each.persona}\n\n{each.question}" in seen


def test_a_dry_run_by_rule_says_that_nothing_is_sent(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli("run", written(tmp_path), "--dry-run")
    assert code == 0
    assert "nothing leaves this machine: the rule model takes all turns" in out
    assert "tick 1" not in out


def test_a_dry_run_of_a_scenario_that_cannot_run_says_so(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, population={"source": "none.csv"})
    code, out, err = cli("run", path, "--dry-run")
    assert (code, out) == (2, "")
    assert "none.csv" in err


def test_a_dry_run_shows_the_schema_as_the_server_is_sent_it(tmp_path: Path) -> None:
    from simulation.founding import read  # noqa: PLC0415 - beside what it is used with

    for model, bounded in ((CLAUDE, False), (at("http://127.0.0.1:9/v1"), True)):
        shown = preview(read(written(tmp_path, models={"cheap": model}))).requests[0]
        text = json.dumps(shown.schema)
        assert "x-varies" not in text
        assert ('"minimum": -1' in text) is bounded


def test_a_dry_run_is_json_too(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli("run", written(tmp_path, models={"cheap": GPT}), "--dry-run", "--json")
    shown = json.loads(out)
    assert code == 0
    assert shown["requests"][0]["purpose"] == "turn"
    assert shown["requests"][0]["schema"]["type"] == "object"
    assert set(shown) == {"scenario", "requests", "leaves", "notes"}


def test_a_dry_run_says_what_could_not_be_rendered_as_it_will_be(cli: Cli, tmp_path: Path) -> None:
    people = {"size": 5, "personality": {"kind": "attachment", "profile": "anxious"}}
    path = written(
        tmp_path,
        population=people,
        horizon=1,
        stimuli=[],
        models={"cheap": GPT | {"temperature": 0.5, "effort": "low"}, "frontier": CLAUDE},
        affect={"appraiser": "model"},
        encoder={"name": "openai", "model": "e", "base_url": "http://127.0.0.1:9/v1"},
    )
    code, out, _ = cli("run", path, "--dry-run")
    said = " ".join(out.split())
    assert code == 0
    assert "the encoder openai was not used" in said
    assert "http://127.0.0.1:9/v1 gets every text that is embedded" in said
    assert "nobody was asked how texts feel" in said
    assert "no reflection came up in 1 ticks" in said
    assert "temperature 0.5, structured auto, effort low" in said
    assert "temperature 0.1" in said  # of an appraisal
    assert "exact yes" not in said


def test_a_model_on_this_machine_is_told_as_such(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli(
        "run", written(tmp_path, models={"cheap": at("http://[::1]:9")}), "--dry-run"
    )
    assert code == 0
    assert "this machine gets the prompts of the cheap tier (openai:parrot), without a key" in (
        " ".join(out.split())
    )


# validate, and what a run refuses


def test_validate_tells_missing_keys_and_prices_as_notes(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, models={"cheap": CLAUDE, "frontier": UNKNOWN})
    code, out, _ = cli("validate", path)
    said = " ".join(out.split())
    assert code == 0
    assert "a run needs more: models.cheap.provider: anthropic needs a key" in said
    assert "models.frontier.model: no price is known for gpt-99" in said
    assert "model anthropic:claude-haiku-4-5 and openai:gpt-99" in said
    code, out, _ = cli("validate", path, "--no-price", "--json")
    assert "price" not in " ".join(json.loads(out)["notes"])


def test_a_run_without_a_key_or_a_price_is_refused_before_anything(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, models={"cheap": UNKNOWN})
    code, out, err = cli("run", path)
    assert (code, out) == (2, "")
    assert "OPENAI_API_KEY" in err
    assert "--no-price" in err
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    code, _, err = cli("run", path, "--no-price", "--set", "budget.usd=1")
    assert code == 2
    assert "budget.usd" in err
    assert not (tmp_path / "runs").exists()


# run


def test_a_run_tells_what_its_models_did_and_cost(cli: Cli, tmp_path: Path, parrot: str) -> None:
    path = written(tmp_path, models={"cheap": at(parrot)}, budget={"usd": 2.0, "calls": 500})
    code, out, err = cli("run", path)
    assert code == 0
    block = out.partition("\nLanguage models\n")[2].partition("\n\n")[0]
    first, *rest = block.splitlines()
    assert re.fullmatch(r"  \d+ calls, [\d,]+ tokens in, [\d,]+ out, [\d.]+ USD", first)
    turn = r"  turn   openai:parrot: \d+ asked, 100% valid; [\d.]+ USD"
    assert any(re.fullmatch(turn, line) for line in rest)
    assert re.search(r"budget: [\d.]+ of 2.00 USD, \d+ of 500 calls", block)
    assert re.search(r"tick 6/6, .* \d+ of 500 calls, [\d,]+ tokens, [\d.]+ of 2.00 USD$", err)
    found = spending(tmp_path / "runs" / "small-seed3.duckdb")
    summary = summarise(tmp_path / "runs" / "small-seed3.duckdb")
    assert found is not None
    assert (found.calls, found.input_tokens) == (summary.model_calls, summary.input_tokens)
    assert found.cost_usd == pytest.approx(summary.cost_usd)
    assert found.budget[0].used == pytest.approx(summary.cost_usd)


def test_repaired_and_unanswered_questions_are_counted_apart(cli: Cli, tmp_path: Path) -> None:
    with answering(clumsy) as url:
        code, out, _ = cli("run", written(tmp_path, models={"cheap": at(url)}), "--json")
    assert code == 0
    asked = {each["purpose"]: each for each in json.loads(out)["language_models"]["asked"]}
    turns, probes = asked["turn"], asked["probe"]
    assert (turns["valid"], turns["repaired"], turns["failed"]) == (0, turns["questions"], 0)
    assert turns["calls"] == 2 * turns["questions"]
    assert (probes["valid"], probes["failed"]) == (0, probes["questions"])


def test_a_run_by_rule_tells_nothing_of_language_models(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli("run", written(tmp_path), "--json", "--out", "rule.duckdb")
    assert code == 0
    assert "language_models" not in json.loads(out)
    assert spending(tmp_path / "rule.duckdb") is None


def test_a_spent_budget_stops_the_run_with_exit_code_1(
    cli: Cli, tmp_path: Path, parrot: str
) -> None:
    path = written(tmp_path, models={"cheap": at(parrot)}, budget={"calls": 7})
    code, out, err = cli("run", path, "--quiet", "--out", "spent.duckdb")
    assert (code, out) == (1, "")
    assert "budget.calls is 7" in err
    assert "Traceback" not in err
    found = spending(tmp_path / "spent.duckdb")
    assert found is not None
    assert found.budget == (BudgetUse(name="calls", used=7, limit=7),)


def test_without_a_price_a_run_counts_no_money(
    cli: Cli, tmp_path: Path, parrot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulation.models import targets  # noqa: PLC0415 - beside what it is used for

    monkeypatch.setattr(targets, "_price", lambda *_, **__: None)
    path = written(tmp_path, models={"cheap": at(parrot)})
    code, out, _ = cli("run", path, "--no-price", "--out", "free.duckdb")
    assert code == 0
    assert re.search(r"the cost of \d+ calls is not known and not counted", " ".join(out.split()))
    assert "--no-price --seed" in " ".join(out.replace("\\\n", " ").split())


def a_spending(**changes: Any) -> Spending:
    asked = Asked(
        purpose="probe",
        model="openai:m",
        questions=4,
        valid=2,
        repaired=0,
        failed=2,
        calls=4,
        cost_usd=0.02,
    )
    values: dict[str, Any] = {
        "calls": 4,
        "replayed": 3,
        "replayed_usd": 0.4,
        "input_tokens": 1000,
        "cached_tokens": 250,
        "output_tokens": 40,
        "cost_usd": 0.02,
        "unconfirmed_usd": 0.005,
        "unpriced": 1,
        "asked": (asked,),
        "budget": (BudgetUse(name="tokens", used=1040, limit=2000),),
        "quarantined": tuple(Quarantined(persona_id=f"p{i}", tick=i) for i in range(1, 8)),
        "notes": ("h takes no \x1b schema",),
    }
    return Spending(**(values | changes))


def test_the_words_name_what_was_cached_unconfirmed_quarantined_and_found_out() -> None:
    said = " ".join("\n".join(spent_on(a_spending())).split())
    for part in (
        "4 calls, 1,000 tokens in (25% of them cached), 40 out, 0.02 USD",
        "probe openai:m: 4 asked, 50% valid, 50% unanswered; 0.02 USD",
        "budget: 1,040 of 2,000 tokens",
        "up to 0.005 USD more may have been billed",
        "3 calls an earlier run had answered and paid (0.40 USD): replayed, and not paid again",
        "the cost of 1 call is not known",
        "7 personas left to the rule model, as turns kept failing: p1 (tick 1), p2 (tick 2)",
        "p5 (tick 5), …",
        "h takes no \\x1b schema",
    ):
        assert part in said


def test_the_words_of_a_run_that_was_broken_off_name_what_nobody_answered() -> None:
    none = Asked(
        purpose="turn", model="m", questions=0, valid=0, repaired=0, failed=0, calls=2, cost_usd=0
    )
    spent = a_spending(asked=(none,), quarantined=(), notes=(), budget=())
    said = "\n".join(spent_on(spent))
    assert "m: 2 calls, none answered before the end" in said
    assert "quarantine" not in said


def test_progress_names_the_budget() -> None:
    import numpy as np  # noqa: PLC0415 - one test needs it

    one = np.ones(1, dtype=np.int64)
    row = Tick(
        tick=one,
        active=one,
        turns=one,
        reflections=one,
        probes=one,
        model_calls=3 * one,
        input_tokens=1000 * one,
        output_tokens=200 * one,
        cost_usd=np.array([0.4]),
        unit_entropy=np.zeros(1),
        state_digest=["d"],
    )
    for budget, said in (
        ({"usd": 2.0}, "1,200 tokens, 0.40 of 2.00 USD"),
        ({"tokens": 5_000, "calls": 9}, "3 of 9 calls, 1,200 of 5,000 tokens, 0.40 USD"),
    ):
        tally = Tally(4, budget)
        tally.add(TickRecords(tick=1, state_digest="d", rows=(row,)))
        assert said in tally.words()


def test_an_estimate_shows_on_a_terminal_how_far_it_is(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, _, err = cli("estimate", written(tmp_path, models={"cheap": GPT}, horizon=1, stimuli=[]))
    assert code == 0
    assert err.startswith("\rplaying the run, tick 1 of 3")
    assert err.endswith("\r" + " " * 40 + "\r")
