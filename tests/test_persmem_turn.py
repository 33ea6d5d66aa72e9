"""Personality in every turn: what is felt, what comes back, what is logged, what is told."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minds import ANXIOUS, SECURE, Neutral, World
from small import small
from written_requests import turns as requests_of

from simulation import prompts, simulate
from simulation.analysis.summary import summarise
from simulation.appraisal import Appraisals
from simulation.engine import Engine
from simulation.errors import ScenarioError, UsageError
from simulation.models.batches import take_turns
from simulation.personality import maps
from simulation.runlog import RunFile
from simulation.runs import check
from simulation.scenario import flatten, read_scenario
from simulation.scenario.persmem import MAPS
from simulation.society import Society
from simulation.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.scenario import Loaded

SCENARIOS = Path(__file__).parents[1] / "scenarios"
KINDS = ("attachment", "big_five")


def personal(kind: str = "attachment", settings: Sequence[str] = (), **changes: Any) -> Loaded:
    people = {"size": 12, "activity": 0.9, "personality": {"kind": kind, "sample": True}}
    return small(settings=settings, **({"population": people} | changes))


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with RunFile.open(path) as run:
        return run.query(query).rows


def last_digest(loaded: Loaded | Path) -> str:
    society = Society(loaded)
    while society.running:
        society.step()
    return society.records.state_digest


# What stays as it was


def test_a_run_without_personality_and_attitudes_ends_in_the_digest_it_always_had() -> None:
    plain = read_scenario(SCENARIOS / "protein_bar.yaml", settings=["memory.units=off"])
    assert last_digest(plain) == (
        "65ac535cfc3ecac46165dd00cca7d2b91e0dd9dab357c1cb5ee84daa3d4bd2a8"
    )


def test_a_run_without_personality_has_no_affect(tmp_path: Path) -> None:
    path = simulate(small(horizon=3, stimuli=[]), out=tmp_path / "run.duckdb")
    assert rows(path, "SELECT count(*) FROM affects UNION ALL SELECT count(*) FROM gates") == [
        (0,),
        (0,),
    ]
    labels = rows(path, "SELECT DISTINCT valence, arousal, dominance, specificity FROM memories")
    assert labels == [(None, None, None, "specific")]
    assert Engine(small()).appraiser is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("off", ["persmem.gate.mode=off", "persmem.switches.G=false"])
def test_a_gate_that_is_off_gives_the_very_rows_of_recall_by_product(
    kind: str, off: str, tmp_path: Path
) -> None:
    gated = simulate(personal(kind, [off]), out=tmp_path / "off.duckdb")
    product = simulate(personal(kind, ["recall.mode=product"]), out=tmp_path / "product.duckdb")
    for table in ("recalls", "memories", "turns", "affects", "belief_changes"):
        query = f"SELECT * FROM {table} ORDER BY ALL"
        assert rows(gated, query) == rows(product, query), table
    digests = "SELECT state_digest FROM ticks ORDER BY tick"
    assert rows(gated, digests) == rows(product, digests)
    decisions = "SELECT count(*), count(*) FILTER (fired), max(probability) FROM gates"
    assert rows(gated, decisions) == [(*rows(gated, "SELECT count(*) FROM recalls")[0], 0, 0.0)]
    assert rows(product, "SELECT count(*) FROM gates") == [(0,)]


# What is felt


def test_every_turn_moves_the_state_and_nobody_elses() -> None:
    society = Society(personal())
    world = society.world
    assert world.state.tolist() == [[0.0, 0.4, 0.5]] * 12
    society.step()
    acted = world.last_turn == 1
    assert 0 < acted.sum() < 12
    assert (world.state[~acted] == [0.0, 0.4, 0.5]).all()
    assert (world.state[acted] != [0.0, 0.4, 0.5]).any(axis=1).all()


def test_the_digest_covers_states_and_affects() -> None:
    society = Society(personal())
    society.step()
    world, found = society.world, {society.records.state_digest}
    world.state[3, 1] += 1e-9
    found.add(world.digest())
    world.memory.valence[0, 0] += 1e-9
    found.add(world.digest())
    world.memory.overgeneral[0, 0] = True
    found.add(world.digest())
    assert len(found) == 4


def test_equal_people_with_another_personality_live_through_another_run() -> None:
    digests = {
        last_digest(
            personal(population={"size": 12, "personality": {"kind": "attachment", "profile": p}})
        )
        for p in ("secure", "anxious", "avoidant", "fearful")
    }
    assert len(digests) == 4


def test_two_runs_of_one_seed_are_equal() -> None:
    for mode in ("gated", "persmem"):
        loaded = personal("big_five", [f"recall.mode={mode}"])
        assert last_digest(loaded) == last_digest(loaded)


def test_each_text_is_appraised_once_and_all_new_ones_together() -> None:
    texts = Texts(lambda new: np.ones((len(new), 2), np.float32), width=2)
    appraiser = Neutral((0.3, 0.2, 2.0))
    appraisals = Appraisals(appraiser, texts)
    ids = texts.intern(["b", "a", "b"])
    assert appraisals.raw(ids).tolist() == [[0.3, 0.2, 1.0]] * 3
    assert appraiser.asked == [["b", "a"]]
    more = texts.intern([*map(str, range(99)), "a"])
    assert appraisals.raw(more).shape == (100, 3)
    assert appraisals.raw(ids).tolist() == [[0.3, 0.2, 1.0]] * 3
    assert [len(asked) for asked in appraiser.asked] == [2, 99]
    assert appraisals.failures(more) == []


def test_what_cannot_be_appraised_is_replaced_and_logged() -> None:
    broken = Neutral((np.nan, 0.1, 0.1))
    engine = Engine(personal(), appraiser=broken)
    records = engine.advance()
    affects, lost = records.of("affects"), records.of("rejections")
    assert affects is not None
    assert lost is not None
    assert set(affects.columns()["raw_arousal"].tolist()) == {0.0}
    kinds = lost.columns()["kind"]
    assert [kinds.names[code] for code in kinds.codes] == ["invalid_appraisal"] * len(affects)
    failing = Neutral()
    failing.failures = ((0, "the model said no"),)
    appraisals = Appraisals(failing, engine.world.texts)
    ids = engine.world.texts.intern(["one", "two"])
    appraisals.raw(ids)
    assert appraisals.failures(ids[::-1]) == [(1, "the model said no")]


def test_what_a_reflection_writes_and_cannot_be_appraised_is_logged_too() -> None:
    engine = Engine(personal(), appraiser=Neutral((np.nan, 0.1, 0.1)))
    while engine.world.tick < engine.scenario.horizon:
        records = engine.advance()
        memories = records.of("memories")
        assert memories is not None
    reflected = [r for r in records.rows if r.table == "reflections"]
    assert reflected or engine.world.memory.overgeneral.any()


def test_what_the_appraiser_cannot_do_is_said_at_the_start(tmp_path: Path) -> None:
    loaded = personal(settings=["affect.appraiser=lexicon"], horizon=1, stimuli=[])
    path = simulate(loaded, out=tmp_path / "run.duckdb")
    (note,) = rows(path, "SELECT detail FROM rejections WHERE purpose = 'appraisal'")
    assert "no word norms are named" in note[0]
    (name,) = rows(path, "SELECT parameters ->> '$.\"affect.name\"' FROM run")
    assert name == ("lexicon",)
    assert any("no word norms are named" in said for said in summarise(path).notes)


def test_an_appraiser_that_does_not_know_the_encoder_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="take the appraiser lexicon"):
        Engine(personal(settings=["encoder.name=ngram"]))
    assert Engine(personal(settings=["encoder.name=ngram", "affect.appraiser=lexicon"])).appraiser


def test_an_appraiser_that_asks_a_model_needs_one() -> None:
    with pytest.raises(
        ScenarioError, match=r"affect\.appraiser  model asks the model of the cheap tier"
    ):
        personal(settings=["affect.appraiser=model"])


def test_a_scenario_with_personality_can_be_checked_without_an_encoder() -> None:
    assert check(personal()).disposition is not None
    assert check(personal(settings=["affect.appraiser=lexicon"])).personas == 12


def test_norms_are_read_from_the_folder_of_the_scenario(tmp_path: Path) -> None:
    header = "word,arousal_mean,dominance_mean\n"
    (tmp_path / "norms.csv").write_text(header + "bolt,9,1\nsugar,9,1\n", encoding="utf-8")
    people = {"size": 12, "personality": {"kind": "attachment", "profile": "secure"}}
    loaded = small(
        tmp_path, population=people, affect={"appraiser": "lexicon", "norms": "norms.csv"}
    )
    engine = Engine(loaded)
    assert engine.appraiser is not None
    assert engine.appraiser.name == "lexicon+norms"
    with pytest.raises(ScenarioError, match=r"affect\.norms"):
        small(tmp_path, population=people, affect={"appraiser": "lexicon", "norms": "no.csv"})


# What a scenario says


def complaints(settings: Sequence[str], **changes: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        small(settings=settings, **changes)
    return str(caught.value)


@pytest.mark.parametrize("mode", ["gated", "persmem"])
def test_recall_by_personality_needs_one(mode: str) -> None:
    found = complaints([f"recall.mode={mode}"])
    assert f"{mode} needs personas with a personality; population.personality is none" in found


def test_a_setting_of_another_appraiser_is_refused() -> None:
    found = complaints(["affect={appraiser: model, norms: n.csv, coefficients: c.npz}"])
    assert "belongs to the appraiser lexicon, not model" in found
    assert "belongs to the appraiser embedding, not model" in found


@pytest.mark.parametrize(
    "setting",
    [
        "persmem.gate.mode=shut",
        "persmem.gate.eta=-1",
        "persmem.passive.temperature=0",
        "persmem.switches.X=true",
        "persmem.switches.A=1",
        "persmem.rate=1.2",
        "persmem.passive.candidates=0",
        "persmem.gains=mine",
        "persmem.gate.theta_0=.nan",
    ],
)
def test_a_constant_out_of_bounds_is_refused(setting: str) -> None:
    assert setting.split("=", maxsplit=1)[0] in complaints([setting])


def test_a_map_that_a_kind_of_personality_lacks_is_refused_with_those_it_has() -> None:
    people = {"size": 12, "personality": {"kind": "attachment", "sample": True}}
    found = complaints(["persmem.gains=human"], population=people)
    assert "there is no map human for the personality attachment; there are paper" in found
    assert found.count("persmem.gains") == 1


def test_the_line_of_a_map_that_does_not_exist_is_told(tmp_path: Path) -> None:
    text = (SCENARIOS / "anxious_neighbours.yaml").read_text(encoding="utf-8")
    path = tmp_path / "street.yaml"
    path.write_text(text + "persmem:\n  gains: human\n", encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        read_scenario(path)
    (problem,) = caught.value.problems
    assert (problem.where, problem.line) == ("persmem.gains", text.count("\n") + 2)


def test_the_maps_a_scenario_may_name_are_those_that_ship() -> None:
    assert {kind: maps.available(kind) for kind in maps.RANGES} == MAPS


@pytest.mark.parametrize(
    ("kind", "gains"),
    [(kind, gains) for kind, names in MAPS.items() for gains in (None, *names)],
)
def test_everybody_has_the_gains_of_the_map_and_the_file_says_so(
    tmp_path: Path, kind: str, gains: str | None
) -> None:
    loaded = personal(kind, [f"persmem.gains={gains}"] if gains else [], horizon=1, stimuli=[])
    path = simulate(loaded, out=tmp_path / "run.duckdb")
    with RunFile.open(path) as run:
        found = run.query("SELECT personality, gains FROM personas").rows
        parameters = run.run.header.parameters
    wanted = maps.gains(gains or "paper", kind, np.array([vector for vector, _ in found]))
    assert [list(row) for _, row in found] == wanted.tolist()
    assert parameters["persmem.gains"] == (gains or "paper")
    assert parameters.get("persmem.gains_sha256") == (
        None if gains == "reference" else maps.sha256()
    )


def test_personas_without_personality_have_no_gains(tmp_path: Path) -> None:
    path = simulate(small(horizon=1, stimuli=[]), out=tmp_path / "run.duckdb")
    assert rows(path, "SELECT DISTINCT gains FROM personas") == [(None,)]
    with RunFile.open(path) as run:
        assert "persmem.gains_sha256" not in run.run.header.parameters


def test_openness_sets_the_temperature_unless_personality_is_off_the_score() -> None:
    open_minded, closed = (1.0, 0.5, 0.5, 0.5, 0.5), (0.0, 0.5, 0.5, 0.5, 0.5)
    both = np.array([0, 1])
    mind = World([open_minded, closed]).disposition
    assert mind.temperature(both).tolist() == mind.gains[:, 4].tolist()
    assert mind.temperature(both)[0] > 2.0 * mind.temperature(both)[1]
    off = World([open_minded, closed], switches={"P": False}).disposition
    assert off.temperature(both).tolist() == [0.12, 0.12]
    attached = World([ANXIOUS, SECURE]).disposition
    assert attached.temperature(both).tolist() == [0.12, 0.12]


def test_nobody_can_change_the_gains() -> None:
    with pytest.raises(ValueError, match="read-only"):
        World().disposition.gains[0, 0] = 1.0


def test_parameters_name_the_mode_and_the_switches_in_force() -> None:
    plain, gated = flatten(small().scenario), flatten(personal().scenario)
    assert plain["recall.mode"] == "product"
    assert gated["recall.mode"] == "gated"
    assert gated["persmem.gate.mode"] == "personality"
    assert gated["persmem.switches"] == ["A", "R", "P", "G", "S"]
    changed = flatten(personal(settings=["persmem.switches={A: false, G: false}"]).scenario)
    assert changed["persmem.switches"] == ["R", "P", "S"]
    assert changed["persmem.switches.A"] is False
    assert flatten(personal(settings=["recall.mode=random"]).scenario)["recall.mode"] == "random"


@pytest.mark.parametrize("word", ["off", '"off"'])
def test_off_may_be_written_with_or_without_quotes(word: str) -> None:
    scenario = personal(settings=[f"persmem.gate.mode={word}"]).scenario
    assert scenario.persmem.gate.mode == "off"


@pytest.mark.parametrize(
    "mode", ["product", "hybrid", "semantic", "generative_agents", "random", "none"]
)
def test_personality_goes_with_every_way_of_recall(mode: str) -> None:
    society = Society(personal(settings=[f"recall.mode={mode}"], horizon=3, stimuli=[]))
    while society.running:
        society.step()
    assert society.records.of("affects") is not None
    assert society.records.of("gates") is None


def test_a_population_of_nobody_with_personality_runs() -> None:
    people = {"size": 0, "personality": {"kind": "big_five", "sample": True}}
    graph = {"kind": "none"}
    assert last_digest(small(population=people, graph=graph, horizon=2, stimuli=[]))


# What is told

NAMES = [
    "anxiety",
    "anxious",
    "avoidance",
    "avoidant",
    "attachment",
    "secure",
    "fearful",
    "openness",
    "conscientious",
    "conscientiousness",
    "extraversion",
    "extraverted",
    "agreeableness",
    "agreeable",
    "neuroticism",
    "neurotic",
    "personality",
    "trait",
    "big.five",
]


@pytest.mark.parametrize("mode", ["gated", "persmem"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_prompt_holds_a_trait_a_profile_or_a_component(kind: str, mode: str) -> None:
    people = {"size": 30, "activity": 1.0, "personality": {"kind": kind, "sample": True}}
    engine = Engine(personal(kind, [f"recall.mode={mode}"], population=people))
    asked: list[tuple[int, str]] = []
    rule = engine.rule

    class Listener:
        name = "listener"

        def react(self, requests: Any) -> Any:
            assert requests.state is not None
            asked.extend((requests.row[i], str(requests.prompt(i))) for i in range(len(requests)))
            return rule.react(requests)

        def reflect(self, requests: Any) -> Any:
            asked.extend((requests.row[i], str(requests.prompt(i))) for i in range(len(requests)))
            return rule.reflect(requests)

        def answer_probes(self, requests: Any) -> Any:
            return rule.answer_probes(requests)

        def answer_surveys(self, requests: Any) -> Any:
            return rule.answer_surveys(requests)

        def answer_interviews(self, requests: Any) -> Any:
            return rule.answer_interviews(requests)

    engine.tiers = (Listener(), Listener())
    for _ in range(6):
        engine.advance()
    vectors = engine.world.personality.vectors
    assert len(asked) > 150
    for row, prompt in asked:
        assert not re.search(rf"(?i)\b({'|'.join(NAMES)})\b", prompt)
        components = [f"{value:.4f}"[:6] for value in vectors[row].tolist()]
        assert not [c for c in components if c in prompt and len(c.rstrip("0")) > 4]


def felt(valence: float, arousal: float, dominance: float, memory: float = 0.0) -> str:
    requests = requests_of()
    state = np.tile([valence, arousal, dominance], (3, 1))
    recalled = replace(requests.recalled, valence=np.full((3, 2), memory))
    return str(prompts.turn(replace(requests, state=state, recalled=recalled), 1))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ((-0.21, 0.29, 0.39), "You feel bad, calm and not in control of things."),
        ((-0.2, 0.3, 0.4), "You feel neither bad nor good, awake and somewhat in control."),
        ((0.2, 0.6, 0.6), "You feel neither bad nor good, awake and somewhat in control."),
        ((0.21, 0.61, 0.61), "You feel good, stirred up and in control of things."),
    ],
)
def test_a_state_is_told_in_words_by_the_thresholds(
    state: tuple[float, float, float], words: str
) -> None:
    assert f"# How you feel\n{words}" in felt(*state)


@pytest.mark.parametrize(
    ("valence", "label"),
    [(-0.21, "negative"), (-0.2, "neutral"), (0.2, "neutral"), (0.21, "positive")],
)
def test_a_memory_is_labelled_by_its_valence(valence: float, label: str) -> None:
    assert f'<memory tick="2" felt="{label}">' in felt(0.0, 0.4, 0.5, valence)


def test_a_memory_is_cut_for_a_persona_with_personality_only() -> None:
    long = ["x" * 500] * 8
    requests = requests_of(texts=long)
    with_valence = replace(requests.recalled, valence=np.zeros((3, 2)))
    cut = str(prompts.turn(replace(requests, recalled=with_valence), 0))
    assert f">{'x' * 120}</memory>" in cut
    assert f">{'x' * 500}</memory>" in str(prompts.turn(requests, 0))
    assert "How you feel" not in str(prompts.turn(requests, 0))


@settings(max_examples=30)
@given(v=st.floats(-1, 1), a=st.floats(0, 1), d=st.floats(0, 1), memory=st.floats(-1, 1))
def test_a_prompt_says_no_number_of_a_state(v: float, a: float, d: float, memory: float) -> None:
    told, plain = felt(v, a, d, memory), felt(0.0, 0.4, 0.5)
    assert re.findall(r"\d+\.\d+", told) == re.findall(r"\d+\.\d+", plain)


def test_a_part_of_a_batch_keeps_its_states() -> None:
    requests = requests_of()
    state = np.arange(9.0).reshape(3, 3) / 10
    recalled = replace(requests.recalled, valence=np.arange(6.0).reshape(3, 2) / 10)
    part = take_turns(replace(requests, state=state, recalled=recalled), [2, 0])
    assert part.state is not None
    assert part.recalled.valence is not None
    assert part.state.tolist() == state[[2, 0]].tolist()
    assert part.recalled.valence[:, 0].tolist() == [0.4, 0.0]
    assert take_turns(requests, [1]).state is None


# What it comes to

STORY = SCENARIOS / "anxious_neighbours.yaml"
RECALLED_BAD = """
WITH person AS (
    SELECT persona_id, personality[1] > 0.5 AS anxious FROM personas
), lived AS (
    SELECT tick, persona_id, avg(raw_valence) < -0.2 AS bad FROM affects GROUP BY ALL
)
SELECT anxious, avg(bad::INT)
FROM recalls JOIN memories USING (memory_id, persona_id) JOIN person USING (persona_id)
JOIN lived ON lived.tick = memories.tick AND lived.persona_id = memories.persona_id
WHERE memories.kind = 'turn' GROUP BY ALL ORDER BY ALL
"""


def shares(tmp_path: Path, mode: str) -> list[float]:
    path = simulate(STORY, out=tmp_path / f"{mode}.duckdb", settings=[f"persmem.gate.mode={mode}"])
    return [share for _, share in rows(path, RECALLED_BAD)]


def test_anxious_neighbours_recall_more_bad_days_and_only_because_of_the_gate(
    tmp_path: Path,
) -> None:
    calm, anxious = shares(tmp_path, "personality")
    assert anxious > 1.3 * calm
    calm, anxious = shares(tmp_path, "off")
    assert abs(anxious - calm) < 0.02


def test_a_note_is_no_failure_and_a_lost_appraisal_is_one(tmp_path: Path) -> None:
    loaded = personal(settings=["affect.appraiser=lexicon"], horizon=2, stimuli=[])
    path = simulate(loaded, out=tmp_path / "run.duckdb")
    failed = "SELECT sum(failed), count(*) FROM failures WHERE purpose = 'appraisal'"
    assert rows(path, failed) == [(0, 2)]
