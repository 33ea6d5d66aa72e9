"""What an estimate says, and that real runs lie within it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from answering_server import answering, clumsy, longest, shortest
from hypothesis import given
from hypothesis import strategies as st
from local_model import local_server
from small import small

from simulation.calls.base import Call
from simulation.models.parsing import answer_schema, parse_probe
from simulation.models.targets import targets
from simulation.planning import Estimate, Range, estimate, tokens
from simulation.planning.answers import Wordy, least, terse
from simulation.planning.answers import shortest as shortest_value
from simulation.planning.tokens import few, fewest, many, most
from simulation.providers.base import Prompt
from simulation.runlog import RunFile
from simulation.runs import simulate

if TYPE_CHECKING:
    from pathlib import Path

    from answering_server import Say

    from simulation.scenario import Loaded

PRICE = {"input": 1.0, "output": 5.0, "cached_input": 0.1, "cache_write": 1.25}
SMALLER: dict[str, Any] = {
    "horizon": 5,
    "population": {"size": 6, "activity": 0.9},
    "stimuli": [{"tick": 1, "text": "No sugar in Bolt."}],
}
SEARCHING: dict[str, Any] = {
    "population": {
        "size": 6,
        "activity": 0.9,
        "personality": {"kind": "attachment", "profile": "anxious"},
    },
    "affect": {"appraiser": "model"},
    "recall": {"mode": "persmem"},
    "persmem": {"controller": "model"},
    "units": {"extractor": "model"},
}
ASKING: dict[str, Any] = {
    "surveys": [
        {"id": "intent", "tick": [2, 4], "question": "Would you buy it?", "share": 0.5},
        {"id": "why", "tick": 3, "question": "Which?", "kind": "choice", "choices": ["a", "b"]},
    ],
    "probes": {"every": 2, "share": 0.5},
}


def asking(url: str = "http://127.0.0.1:9/v1", **changes: Any) -> Loaded:
    model = {"provider": "openai", "model": "parrot", "base_url": url, "price": PRICE}
    models = {"cheap": model, "frontier": model | {"max_tokens": 300}}
    return small(**({"models": models} | SMALLER | changes))


def spent(path: Path) -> dict[str, dict[str, float]]:
    """Return what a run took by purpose."""
    sql = """
        SELECT purpose, count(*) AS calls, sum(input_tokens)::DOUBLE AS input_tokens,
            sum(output_tokens)::DOUBLE AS output_tokens, sum(cost_usd) AS cost_usd
        FROM model_calls GROUP BY purpose
    """
    with RunFile.open(path) as run:
        return {row.pop("purpose"): row for row in run.query(sql).dicts()}


def estimated(found: Estimate, purpose: str, what: str) -> Range:
    ranges = [getattr(line, what) for line in found.lines if line.purpose == purpose]
    return sum(ranges, Range(low=0.0, high=0.0))


@pytest.mark.parametrize("say", [shortest, longest, clumsy])
@pytest.mark.parametrize("changes", [{}, SEARCHING, ASKING], ids=["plain", "search", "survey"])
def test_what_a_run_takes_lies_within_its_estimate(
    say: Say, changes: dict[str, Any], tmp_path: Path
) -> None:
    with answering(say) as url:
        loaded = asking(url, **changes)
        found = estimate(loaded)
        took = spent(simulate(loaded, out=tmp_path / "run.duckdb"))
    assert {"turn", "reflection"} < took.keys()
    check(found, took)


def check(found: Estimate, took: dict[str, dict[str, float]]) -> None:
    """Hold what a run took against its estimate, purpose by purpose."""
    assert took.keys() == {line.purpose for line in found.lines}
    for purpose, row in took.items():
        for what, value in row.items():
            span = estimated(found, purpose, what)
            assert span.low <= value <= span.high, (purpose, what, value, span)


@pytest.mark.local_model
def test_what_a_run_on_a_real_model_takes_lies_within_its_estimate(tmp_path: Path) -> None:
    few_calls: dict[str, Any] = {
        "horizon": 2,
        "population": {"size": 3},
        "graph": {"kind": "none"},
        "reflection": {"interval_min": 2, "interval_spread": 1},
        "probes": {"every": 2, "share": 0.5},
        "calls": {"concurrency": 4, "timeout": 600},
    }
    with local_server() as url:
        model = {
            "provider": "openai",
            "model": "smollm2",
            "base_url": f"{url}/v1",
            "price": PRICE,
            "max_tokens": 80,
        }
        loaded = asking(models={"cheap": model, "frontier": model}, **few_calls)
        found = estimate(loaded)
        took = spent(simulate(loaded, out=tmp_path / "run.duckdb"))
    check(found, took)


def test_turns_probes_and_surveys_are_known_exactly(tmp_path: Path) -> None:
    with answering(shortest) as url:
        loaded = asking(url, **ASKING)
        found = estimate(loaded)
        took = spent(simulate(loaded, out=tmp_path / "run.duckdb"))
    assert found.turns == took["turn"]["calls"] == estimated(found, "turn", "calls").low
    assert estimated(found, "probe", "calls") == Range(
        low=took["probe"]["calls"], high=took["probe"]["calls"]
    )
    assert estimated(found, "survey", "calls").low == took["survey"]["calls"]
    assert estimated(found, "reflection", "calls").low == took["reflection"]["calls"]
    assert estimated(found, "reflection", "calls").high == 2 * found.turns


def test_a_scenario_that_is_all_by_rule_asks_nothing() -> None:
    found = estimate(small())
    assert (found.lines, found.total, found.seconds, found.rendered) == ((), None, None, 0)
    assert found.personas == 12


def test_where_only_the_frontier_tier_asks_only_reflections_are_asked() -> None:
    model = {"provider": "openai", "model": "gpt-5-mini"}
    found = estimate(small(models={"frontier": model}))
    assert {line.purpose for line in found.lines} == {"reflection"}
    assert found.lines[0].model == "openai:gpt-5-mini"
    assert found.lines[0].host == "api.openai.com"


def test_the_totals_are_the_sums_of_the_lines() -> None:
    found = estimate(asking())
    assert found.total is not None
    for what in ("calls", "input_tokens", "output_tokens", "cost_usd", "expected"):
        whole = sum((getattr(line, what) for line in found.lines), Range(low=0.0, high=0.0))
        assert getattr(found.total, what) == whole


def test_what_is_expected_lies_within_the_bounds() -> None:
    for line in estimate(asking(**SEARCHING)).lines:
        assert line.expected is not None
        assert line.cost_usd is not None
        assert line.cost_usd.low <= line.expected.low <= line.expected.high
        assert line.expected.high <= line.cost_usd.high


def test_the_same_scenario_gives_the_same_estimate_and_a_seed_another() -> None:
    first = estimate(asking())
    assert first == estimate(asking())
    assert first != estimate(asking(), seed=4)


def test_it_needs_no_key_and_knows_the_prices_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    model = {"provider": "anthropic", "model": "claude-haiku-4-5"}
    found = estimate(small(models={"cheap": model}, **SMALLER))
    assert found.total is not None
    assert found.total.cost_usd is not None
    assert found.total.cost_usd.low > 0


def test_a_model_on_this_machine_costs_nothing() -> None:
    model = {"provider": "openai", "model": "own", "base_url": "http://127.0.0.1:9/v1"}
    found = estimate(small(models={"cheap": model}, **SMALLER))
    assert found.total is not None
    assert found.total.cost_usd == Range(low=0.0, high=0.0)


def test_without_a_price_there_is_no_cost_and_a_note_says_so() -> None:
    model = {"provider": "openai", "model": "gpt-99"}
    found = estimate(small(models={"cheap": model}, **SMALLER))
    assert found.total is not None
    assert found.total.cost_usd is None
    assert found.total.expected is None
    assert found.lines[0].cost_usd is None
    assert "models.cheap.price" in found.notes[0]


def test_a_budget_is_measured_against_both_ends() -> None:
    found = estimate(asking())
    assert found.total is not None
    low, high = found.total.calls.low, found.total.calls.high
    for limit, verdict in ((low - 1, "not enough"), (low, "perhaps enough"), (high, "enough")):
        checked = estimate(asking(budget={"calls": limit})).budget
        assert [(each.name, each.verdict) for each in checked] == [("calls", verdict)]


def test_a_budget_in_tokens_and_usd_has_to_hold_what_the_last_call_sets_aside() -> None:
    found = estimate(asking(budget={"usd": 1.0, "tokens": 10_000}))
    assert found.total is not None
    assert found.total.cost_usd is not None
    usd, tokens_ = found.budget
    assert (usd.name, tokens_.name) == ("usd", "tokens")
    assert usd.needed.low == found.total.cost_usd.low
    assert usd.needed.high > found.total.cost_usd.high
    assert tokens_.needed.high > found.total.input_tokens.high + found.total.output_tokens.high


def test_time_follows_from_concurrency_and_pace() -> None:
    def seconds(**calls: int) -> Range:
        found = estimate(asking(calls=calls)).seconds
        assert found is not None
        return found

    one, many_ = seconds(concurrency=1), seconds(concurrency=32)
    assert one.low > many_.low >= 5  # a round a tick at least
    found = estimate(asking())
    assert found.total is not None
    slow = seconds(requests_per_minute=1)
    assert slow == Range(low=60 * found.total.calls.low, high=60 * found.total.calls.high)


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    estimate(asking(), on_tick=lambda done, ticks: told.append((done, ticks)))
    assert told == [(i, 15) for i in range(1, 16)]


def test_equal_tiers_are_one_model_and_a_strangers_price_is_not_the_owners() -> None:
    model = {"provider": "openai", "model": "gpt-5-mini"}
    both = targets(small(models={"cheap": model, "frontier": model}))
    assert [target.tiers for target in both] == [("cheap", "frontier")]
    assert both[0].price is not None
    away = model | {"base_url": "http://[::1]:80/v1"}
    two = targets(small(models={"cheap": model, "frontier": away}))
    assert [target.loopback for target in two] == [False, True]
    assert two[1].host == "[::1]:80"


@given(st.text(max_size=200))
def test_a_text_has_at_least_the_fewest_and_at_most_the_most_tokens(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    assert 0 <= fewest(text) <= few(text) <= many(text) <= most(text) <= size


def test_tokens_are_rounded_up() -> None:
    assert [tokens.whole(value) for value in (0.0, 1.0, 1.2, 2.0000000001)] == [0, 1, 2, 2]


def call(purpose: str, schema: dict[str, Any] | None) -> Call[str]:
    return Call(
        tick=1,
        persona_id="p1",
        purpose=purpose,
        prompt=lambda: Prompt(system="", persona="", question=""),
        schema=schema,
        read=parse_probe,
    )


def test_the_shortest_value_of_a_schema_keeps_to_it() -> None:
    schema = {
        "type": "object",
        "properties": {
            "pick": {"enum": ["long one", "b"]},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "count": {"type": "integer", "minimum": 2},
            "share": {"type": "number", "minimum": -1, "maximum": 1},
            "list": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "free": {"type": "array", "items": {"type": "string"}},
            "yes": {"type": "boolean"},
        },
    }
    assert shortest_value(schema) == {
        "pick": "b",
        "maybe": None,
        "count": 2,
        "share": 0,
        "list": ["x", "x"],
        "free": [],
        "yes": True,
    }


def test_the_shortest_answer_depends_on_who_keeps_to_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"action": {"enum": ["ignore", "buy"]}, "words": {"type": "string"}},
    }
    assert least(call("turn", schema), enforced=True) == '{"action":"buy","words":"x"}'
    assert least(call("turn", schema), enforced=False) == '{"action":"buy"}'
    assert least(call("controller", None), enforced=True) == "x"
    assert least(call("probe", answer_schema()), enforced=False) == '{"answer":"x"}'
    assert '"memories"' in least(call("reflection", schema), enforced=False)


def test_a_question_that_nobody_knows_is_answered_by_its_schema() -> None:
    wordy = Wordy("bar", max_tokens=50, varied=True)
    for write in (terse, wordy):
        assert list(write(call("probe", answer_schema()))) == ['{"answer":"x"}']
        assert all(write(call("unheard of", None)))
    assert list(terse(call("controller", None))) == ["DONE"]
