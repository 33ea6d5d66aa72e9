from __future__ import annotations

import csv
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from small import small

from simulation.errors import EmptyPersonaBlockError, UsageError
from simulation.models.base import ACTION_CODE, ACTIONS
from simulation.models.rule import RuleModel, RuleParameters
from simulation.rng import Streams
from simulation.society import Persona, Society

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.models.base import (
        ProbeReplies,
        ProbeRequests,
        Reactions,
        ReflectionReplies,
        ReflectionRequests,
        TurnRequests,
    )
    from simulation.records import Rows
    from simulation.scenario import Loaded


def digests(loaded: Loaded, seed: int | None = None, **options: Any) -> list[str]:
    society = Society(loaded, seed, **options)
    found = [society.records.state_digest]
    for _ in range(society.engine.scenario.horizon):
        society.step()
        found.append(society.records.state_digest)
    return found


def tables(society: Society) -> dict[str, list[Rows]]:
    found: dict[str, list[Rows]] = {}
    for rows in society.records.rows:
        found.setdefault(rows.table, []).append(rows)
    return found


def test_the_same_seed_gives_the_same_digests_and_another_seed_does_not() -> None:
    first = digests(small())
    assert first == digests(small())
    assert first[-1] != digests(small(), seed=4)[-1]
    assert len(set(first)) == len(first)


def test_hash_randomisation_of_the_process_does_not_matter() -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests'); from small import small; "
        "from test_society import digests; print(digests(small())[-1])"
    )
    found = set()
    for hash_seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(run.stdout.strip())
    assert found == {digests(small())[-1]}


def test_probes_on_or_off_give_equal_digests() -> None:
    assert digests(small()) == digests(small(probes={"share": 0.0}))


def write_people(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_the_order_of_a_population_file_does_not_matter(tmp_path: Path) -> None:
    rows = [{"who": f"π{i}", "age": "30", "trust": str(0.1 * i)} for i in range(9)]
    population = {
        "source": "people.csv",
        "id_column": "who",
        "beliefs": {"trust": {"column": "trust"}},
    }
    write_people(tmp_path / "people.csv", rows)
    forwards = digests(small(tmp_path, population=population))
    write_people(tmp_path / "people.csv", rows[::-1])
    assert digests(small(tmp_path, population=population)) == forwards


@pytest.mark.parametrize(
    "changes",
    [
        {"population": {"size": 0}},
        {"population": {"size": 1}},
        {"graph": {"kind": "none"}},
        {"stimuli": []},
        {"horizon": 3, "stimuli": [], "population": {"size": 12, "activity": 0.0}},
        {"recall": {"mode": "none"}},
        {"recall": {"mode": "random"}},
        {"recall": {"k": {"cheap": 0}}},
        {"memory": {"cap": 1}},
        {"feed": {"size": 1}},
        {"actions": ["ignore"]},
        {"tier": "frontier"},
    ],
)
def test_unusual_scenarios_run_to_their_horizon(changes: dict[str, Any]) -> None:
    assert len(digests(small(**changes))) == (changes.get("horizon", 8)) + 1


def test_a_horizon_of_one_tick_works() -> None:
    assert len(digests(small(horizon=1, stimuli=[]))) == 2


def test_a_step_past_the_horizon_is_refused() -> None:
    society = Society(small(horizon=1, stimuli=[]))
    society.step()
    assert not society.running
    with pytest.raises(UsageError, match="horizon of 1"):
        society.step()


def test_run_model_steps_to_the_horizon_as_in_any_mesa_model() -> None:
    society = Society(small())
    society.run_model()
    assert society.tick == society.steps == 8


def test_personas_are_views_on_the_world() -> None:
    society = Society(small())
    society.run_model()
    persona = society.persona("p0003")
    assert isinstance(persona, Persona)
    assert persona.beliefs["C1"] == society.world.beliefs[3, 3]
    assert persona.turns == society.world.turns[3]
    assert len(persona.memories) == society.world.memory.count[3]
    assert persona.block.startswith("You ")
    assert set(persona.attributes) <= {a.id for a in society.engine.ontology.attributes}
    assert "p0003" not in persona.follows
    assert len(society.agents) == 12
    assert society.persona("p0003") is persona
    with pytest.raises(KeyError, match="nobody"):
        society.persona("nobody")


def test_one_memory_is_written_a_turn_in_the_first_person() -> None:
    society = Society(small())
    society.step()
    found = tables(society)
    memories, turns = found["memories"][0], found["turns"][0]
    assert len(memories) == len(turns)
    texts: list[str] = memories.columns()["text"]
    assert all(" I " in f" {text}" for text in texts)


class Stubborn(RuleModel):
    """Answers as `rule` does, then spoils some answers."""

    def __init__(self, spoil: dict[str, Any]) -> None:
        super().__init__(parameters=RuleParameters(), streams=Streams(3))
        object.__setattr__(self, "spoil", spoil)

    def react(self, requests: TurnRequests) -> Reactions:
        spoil: dict[str, Any] = object.__getattribute__(self, "spoil")
        good = super().react(requests)
        bad = {}
        for name, value in spoil.items():
            column = getattr(good, name).copy()
            column[::2] = value
            bad[name] = column
        return replace(good, **bad)


@pytest.mark.parametrize(
    "spoil",
    [
        {"action": 99},
        {"action": -1},
        {"action": ACTION_CODE["like"], "post": 12345},
        {"action": ACTION_CODE["answer"], "post": -1},
        {"action": ACTION_CODE["follow"], "persona": 11},
        {"action": ACTION_CODE["ask_peer"], "persona": -1},
        {"change": np.nan},
        {"change": np.inf},
        {"stance": np.nan},
    ],
)
def test_an_impossible_reaction_is_taken_by_rule_and_flagged(spoil: dict[str, Any]) -> None:
    model = Stubborn(spoil)
    society = Society(small(), tiers=(model, model))
    society.step()
    found = tables(society)
    turns = found["turns"][0].columns()
    sources = [turns["source"].names[code] for code in turns["source"].codes]
    assert sources[::2] == ["fallback"] * len(sources[::2])
    assert all(turns["error"][::2])
    rejected = found["rejections"][0].columns()
    assert rejected["kind"] == ["invalid_reaction"] * len(sources[::2])
    assert np.isfinite(society.world.beliefs).all()


def test_a_change_beyond_one_is_clipped_and_logged_as_requested() -> None:
    model = Stubborn({"change": 7.0})
    society = Society(small(), tiers=(model, model))
    society.step()
    changes = tables(society)["belief_changes"][0].columns()
    asked = changes["requested"] == 7.0
    assert asked.any()
    assert (changes["after"][asked] == 1.0).all()
    triggers = tables(society)["reflections"][0].columns()["trigger"]
    assert "sharp_move" in {triggers.names[code] for code in triggers.codes}


def test_each_tier_asks_its_own_model(tmp_path: Path) -> None:
    rows = [{"id": f"q{i}", "age": "30", "t": "cheap" if i % 2 else "frontier"}
            for i in range(8)]  # fmt: skip
    write_people(tmp_path / "people.csv", rows)
    population = {"source": "people.csv", "id_column": "id", "tier": {"column": "t"}}
    spoilt = Stubborn({"action": 99})
    rule = RuleModel(parameters=RuleParameters(), streams=Streams(3))
    society = Society(small(tmp_path, population=population), tiers=(spoilt, rule))
    society.step()
    turns = tables(society)["turns"][0].columns()
    by_tier = {0: set[str](), 1: set[str]()}
    for tier, source in zip(turns["tier"].codes, turns["source"].codes, strict=True):
        by_tier[int(tier)].add(turns["source"].names[source])
    assert "fallback" in by_tier[0]
    assert by_tier[1] == {"rule"}


class Rater(RuleModel):
    """Rates the importance of every turn."""

    def react(self, requests: TurnRequests) -> Reactions:
        answer = super().react(requests)
        return replace(answer, importance=np.full(len(requests), 0.123))


@pytest.mark.parametrize(("tier", "counts"), [("frontier", True), ("cheap", False)])
def test_a_models_rating_of_importance_counts_on_the_frontier_tier_only(
    tier: str,
    counts: bool,  # noqa: FBT001  (a parametrised case)
) -> None:
    rater = Rater(parameters=RuleParameters(), streams=Streams(3))
    society = Society(small(tier=tier), tiers=(rater, rater))
    society.step()
    importance = tables(society)["turns"][0].columns()["importance"]
    assert (importance == 0.123).all() == counts


class Thinker(RuleModel):
    """Reflects with three memories and revises the first belief to a fixed value."""

    def reflect(self, requests: ReflectionRequests) -> ReflectionReplies:
        answer = super().reflect(requests)
        revised = np.full(requests.beliefs.shape, np.nan)
        revised[:, 0] = 0.9
        count = len(requests)
        return replace(
            answer, revised=revised, memories=[("I see.", "I do.", "So be it.")] * count
        )


def test_a_reflection_revises_beliefs_to_absolute_values_and_writes_up_to_three_memories() -> None:
    thinker = Thinker(parameters=RuleParameters(), streams=Streams(3))
    society = Society(small(), tiers=(thinker, thinker))
    while "reflections" not in tables(society):
        society.step()
    found = tables(society)
    reflections = found["reflections"][0].columns()
    rows = [society.world.cast.ids.index(reflections["persona_id"].names[code])
            for code in reflections["persona_id"].codes]  # fmt: skip
    assert (society.world.beliefs[rows, 0] == 0.9).all()
    assert [len(ids) for ids in reflections["memory_ids"]] == [3] * len(rows)
    changes = found["belief_changes"][-1].columns()
    assert set(changes["requested"]) == {0.9}
    owners = dict(
        zip(
            found["memories"][-1].columns()["memory_id"].tolist(),
            found["memories"][-1].columns()["persona_id"].codes.tolist(),
            strict=True,
        )
    )
    for row, ids in zip(rows, reflections["memory_ids"], strict=True):
        assert {owners[i] for i in ids} == {row}


class Silent(RuleModel):
    """Fails every probe."""

    def answer_probes(self, requests: ProbeRequests) -> ProbeReplies:
        answer = super().answer_probes(requests)
        failed = dict.fromkeys(range(len(requests)), "no answer")
        return replace(answer, answer=[None] * len(requests), error=failed)


def test_a_failed_probe_is_a_row_with_no_answer_and_changes_nothing() -> None:
    silent = Silent(parameters=RuleParameters(), streams=Streams(3))
    loaded = small()
    society = Society(loaded, tiers=(silent, silent))
    for _ in range(4):
        society.step()
    probes = tables(society)["probes"][0].columns()
    assert set(probes["agrees"]) == {None}
    assert len(tables(society)["rejections"][-1]) == len(probes["agrees"])
    assert society.records.state_digest == digests(loaded)[4]


def test_an_empty_persona_block_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulation.ontology.Attribute.sentence", lambda *_: " ")
    with pytest.raises(EmptyPersonaBlockError, match="p0000"):
        Society(small())


def test_every_part_of_the_state_changes_the_digest() -> None:
    society = Society(small())
    for _ in range(4):
        society.step()
    world = society.world
    found = {world.digest()}
    for name in ("beliefs", "reflected", "heard", "turns", "since_reflection", "last_turn",
                 "last_reflection", "decided"):  # fmt: skip
        array = getattr(world, name)
        kept = array.copy()
        array.flat[1] = not kept.flat[1] if kept.dtype == bool else kept.flat[1] + 1
        found.add(world.digest())
        array[...] = kept
    for name in ("memory_id", "tick", "importance", "kind", "claim", "stance", "text"):
        array = getattr(world.memory, name)
        kept = array.copy()
        array[0, 0] = 1 if name == "text" else array[0, 0] + 1
        found.add(world.digest())
        array[...] = kept
    world.network.weight[0] = 2.0
    found.add(world.digest())
    world.network.weight[0] = 1.0
    world.journal = b"x" * 32
    found.add(world.digest())
    assert len(found) == 1 + 8 + 7 + 2


def test_a_network_knows_what_it_holds_and_takes_new_follows_in_order() -> None:
    network = Society(small()).world.network
    pairs = set(zip(network.source.tolist(), network.target.tolist(), strict=True))
    everyone = np.arange(12)
    asked = network.has(everyone[:, None], everyone[None, :])
    assert {(int(a), int(b)) for a, b in np.argwhere(asked)} == pairs
    assert not network.has(everyone, np.full(12, -1)).any()
    new = min((a, b) for a in range(12) for b in range(12) if a != b and (a, b) not in pairs)
    network.add(np.array([new[0]]), np.array([new[1]]), tick=5)
    assert network.has(np.array([new[0]]), np.array([new[1]])).all()
    assert network.source.tolist() == sorted(network.source.tolist())
    assert network.created.max() == 5


def test_all_actions_occur_in_a_lively_population() -> None:
    society = Society(small(population={"size": 120}, horizon=25))
    seen: set[str] = set()
    for _ in range(25):
        society.step()
        turns = tables(society)["turns"][0].columns()
        seen |= {ACTIONS[code] for code in turns["action"].codes}
    assert seen >= set(ACTIONS) - {"buy", "reject", "complain", "follow"}


class Speechless:
    """A backend that answers nothing that can be used."""

    name = "speechless"

    def __init__(self) -> None:
        self.batches = 0

    def complete(
        self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]
    ) -> Sequence[str]:
        self.batches += 1
        return [""] * len(schemas[: len(prompts)])


def test_a_backend_is_asked_for_both_tiers_and_rule_takes_what_it_cannot_answer() -> None:
    backend = Speechless()
    society = Society(small(), backend=backend)
    assert [model.name for model in society.engine.tiers] == ["speechless", "speechless"]
    society.step()
    assert backend.batches == 2  # once, and once more for all that was invalid
    turns = tables(society)["turns"][0].columns()
    assert {turns["source"].names[code] for code in turns["source"].codes} == {"fallback"}
    assert len(tables(society)["rejections"][0]) == 2 * len(tables(society)["turns"][0])


def test_each_tier_can_be_a_backend_or_a_model() -> None:
    backend = Speechless()
    rule = RuleModel(parameters=RuleParameters(), streams=Streams(3))
    society = Society(small(), tiers=(rule, backend))
    society.step()
    assert society.engine.tiers[0] is rule
    assert society.engine.tiers[1].name == "speechless"
    assert backend.batches == 0  # everyone is on the cheap tier, and nobody reflects yet


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": Speechless(), "tiers": (Speechless(), Speechless())}, "not both"),
        ({"tiers": (Speechless(),)}, "1 given"),
        ({"tiers": ()}, "0 given"),
        ({"backend": "gpt"}, "type str is no language model: it has no text `name`"),
        ({"backend": small}, "type function is no language model"),
        ({"backend": type("Half", (), {"name": "half"})()}, "neither `complete"),
    ],
)
def test_what_is_no_model_is_refused_with_what_one_is(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Society(small(), **options)


def test_what_a_persona_shows_cannot_be_set() -> None:
    society = Society(small())
    persona: Any = society.persona("p0003")
    for shown in (persona.beliefs, persona.attributes):
        with pytest.raises(TypeError, match="does not support item assignment"):
            shown[next(iter(shown))] = 1.0
    with pytest.raises(AttributeError):
        persona.beliefs = {}
    assert isinstance(persona.memories, tuple)
