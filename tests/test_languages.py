"""From what a scenario says of its language models to what answers; nothing is sent."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from small import SMALL, small

from simulation.calls.recorded import Recorded
from simulation.engine import Engine
from simulation.errors import ScenarioError
from simulation.models.languages import connect, missing
from simulation.models.written import WrittenModel
from simulation.rng import Streams
from simulation.runs import check
from simulation.scenario import Access, load_text

LOCAL = {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
CLAUDE = {"provider": "anthropic", "model": "claude-haiku-4-5"}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def lacks(access: Access | None = None, **changes: Any) -> list[str]:
    text = yaml.safe_dump(SMALL | changes, sort_keys=False)
    loaded = load_text(text, name="small.yaml", access=access or Access())
    return [f"{problem.where}: {problem.message}" for problem in missing(loaded)]


def test_equal_models_of_both_tiers_are_one_and_are_asked_in_one_batch() -> None:
    engine = Engine(small(models={"cheap": LOCAL, "frontier": LOCAL}))
    assert engine.tiers[0] is engine.tiers[1]
    other = Engine(small(models={"cheap": LOCAL, "frontier": LOCAL | {"model": "n"}}))
    assert [model.name for model in other.tiers] == ["openai:m", "openai:n"]
    for each in (engine, other):
        each.close()


def test_a_tier_without_a_language_model_stays_by_rule() -> None:
    engine = Engine(small(models={"frontier": LOCAL}))
    assert engine.tiers[0] is engine.rule
    assert isinstance(engine.tiers[1], WrittenModel)
    assert Engine(small()).languages is None


def test_a_model_on_this_machine_needs_neither_key_nor_price() -> None:
    assert lacks(models={"cheap": LOCAL}) == []


def test_a_provider_needs_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "models.cheap.provider: anthropic needs a key; set the environment's ANTHROPIC_API_KEY"
    assert lacks(models={"cheap": CLAUDE}) == [key]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    assert lacks(models={"cheap": CLAUDE}) == []


def test_a_price_that_nobody_knows_is_asked_for_or_waived() -> None:
    stranger = LOCAL | {"base_url": "http://gpu.lan:8000/v1", "model": "gpt-5"}
    allowed = Access(allow_hosts=("gpu.lan",))
    (told,) = lacks(allowed, models={"cheap": stranger})
    assert told.startswith("models.cheap.model: no price is known for gpt-5 at gpu.lan; ")
    priced = stranger | {"price": {"input": 1, "output": 2}}
    assert lacks(allowed, models={"cheap": priced}) == []
    waived = Access(allow_hosts=("gpu.lan",), no_price=True)
    assert lacks(waived, models={"cheap": stranger}) == []
    kept = lacks(waived, models={"cheap": stranger}, budget={"usd": 1.0})
    assert kept == ["budget.usd: cannot be kept: no price is known for gpt-5 at gpu.lan"]


def test_a_replay_needs_nothing() -> None:
    loaded = small(models={"cheap": CLAUDE})
    replay = Recorded([], mode="replay", miss="stop")
    assert list(missing(loaded, recorded=replay)) == []
    assert connect(loaded, Streams(3), recorded=replay).askers["cheap"].name == (
        "anthropic:claude-haiku-4-5"
    )


def test_a_run_without_its_key_is_refused_and_a_check_is_not() -> None:
    loaded = small(models={"cheap": CLAUDE})
    with pytest.raises(ScenarioError, match="needs a key"):
        Engine(loaded)
    assert check(loaded).personas == 12


@pytest.mark.parametrize(
    ("models", "told"),
    [
        ({"cheap": {"provider": "openai"}}, "models.cheap.model  is required by the provider"),
        (
            {"cheap": LOCAL | {"structured": "tool"}},
            "tool is none of its ways; the provider openai",
        ),
        ({"cheap": CLAUDE | {"structured": "json_object"}}, "json_object is none of its ways"),
        ({"cheap": CLAUDE | {"temperature": 1.5}}, "models.cheap.temperature  must be at most 1"),
        ({"cheap": LOCAL | {"price": {"input": 1}}}, "models.cheap.price.output  is required"),
        ({"cheap": LOCAL | {"effort": "hgh"}}, 'did you mean "high"'),
    ],
)
def test_settings_of_models_that_cannot_be_are_told(models: Any, told: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        small(models=models)
    assert told in str(caught.value)


def test_the_scenarios_own_temperature_counts_where_a_model_names_none() -> None:
    with pytest.raises(ScenarioError, match=r"temperature  must be at most 1 for .* anthropic"):
        small(models={"cheap": CLAUDE}, temperature=1.5)
    assert small(models={"cheap": CLAUDE | {"temperature": 0.5}}, temperature=1.5)


def test_what_concerns_language_models_only_has_no_effect_by_rule() -> None:
    loaded = small(budget={"usd": 1.0}, calls={"tries": 2}, temperature=0.3)
    notes = [note for note in check(loaded).notes if "no effect" in note]
    assert notes == [
        "budget.usd: has no effect with the provider rule",
        "calls.tries: has no effect with the provider rule",
        "temperature: has no effect with the provider rule",
    ]
