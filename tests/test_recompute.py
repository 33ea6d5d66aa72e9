"""Every number of the scenarios that ship is recomputed from their run databases."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
import recompute
import recompute_persmem
import recompute_units
from small import small

from simulation import simulate

SCENARIOS = Path(__file__).parents[1] / "scenarios"
STORIES = ("protein_bar", "town_referendum", "health_rumour")


@pytest.fixture(name="run_of", scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    found = {
        name: simulate(SCENARIOS / f"{name}.yaml", out=folder / f"{name}.duckdb")
        for name in STORIES
    }
    found["frontier"] = simulate(
        SCENARIOS / "protein_bar.yaml",
        out=folder / "frontier.duckdb",
        settings=[
            "tier=frontier",
            "memory.cap=12",
            "population.size=40",
            "rule.drift_rate=0.3",
            "units.merge_similarity=0.5",
            "units.delete_weight=1.2",
            "units.delete_after=2",
            "units.weight_cap=2.5",
        ],
    )
    return found


EVERY = [*recompute.CHECKS, *recompute_units.CHECKS]


@pytest.mark.parametrize("name", [*STORIES, "frontier"])
@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.__name__)
def test_the_file_agrees_with_the_method(
    name: str, check: recompute.Check, run_of: dict[str, Path]
) -> None:
    assert check(recompute.Run(str(run_of[name]))) == []


SPOILS = {
    "tau": "UPDATE run SET tau = 7",
    "belief_chain": "UPDATE belief_changes SET after = after + 0.001 WHERE tick = 9",
    "importances": "UPDATE turns SET importance = 0.42 WHERE tick = 9 AND action = 'ignore'",
    "one_memory_a_turn": "DELETE FROM memories WHERE tick = 9 AND kind = 'turn'",
    "recalls": "UPDATE recalls SET relevance = relevance + 0.01 WHERE tick = 9 AND slot = 2",
    "evictions": "UPDATE memories SET evicted_tick = NULL WHERE evicted_tick = 20",
    "reflections": "UPDATE reflections SET trigger = 'sharp_move' WHERE tick = 9",
    "probes": "DELETE FROM probes WHERE tick = 10",
    "feeds": "UPDATE exposures SET tick = tick - 1 WHERE tick = 9",
    "causes": "UPDATE belief_changes SET cause_post_id = 0 WHERE tick = 9",
    "final_decisions": "UPDATE turns SET action = 'buy' WHERE tick = 9",
    "what_posts_say": "UPDATE evidence SET strength = strength - 0.01 WHERE tick = 9",
    "what_turns_learn": "UPDATE unit_updates SET strength = strength / 2 WHERE tick = 9",
    "how_units_stand": "UPDATE unit_updates SET positive = positive + 0.001 WHERE tick = 9",
    "what_views_say": "UPDATE unit_updates SET cause_post_id = 999999 WHERE kind = 'merge'",
    "what_merges_and_ends": "DELETE FROM unit_updates WHERE kind = 'delete'",
}


def test_every_check_has_a_spoilt_file() -> None:
    assert sorted(SPOILS) == sorted(check.__name__ for check in EVERY)


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.__name__)
def test_a_spoilt_file_is_found_out(
    check: recompute.Check, run_of: dict[str, Path], tmp_path: Path
) -> None:
    copy = tmp_path / "spoilt.duckdb"
    shutil.copy(run_of["frontier"], copy)
    with duckdb.connect(str(copy)) as connection:
        connection.execute(SPOILS[check.__name__])
    assert check(recompute.Run(str(copy))) != []


def test_the_reported_share_of_contradictions_recovers_the_rate(tmp_path: Path) -> None:
    path = simulate(
        SCENARIOS / "protein_bar.yaml",
        out=tmp_path / "drift.duckdb",
        settings=[
            "population.size=600",
            "horizon=2",
            "stimuli=[]",
            "probes={share: 1.0, every: 1}",
            "rule.drift_rate=0.3",
        ],
    )
    rows = recompute.Run(str(path)).rows("SELECT avg((NOT agrees)::INT), count(*) FROM probes")
    share, answers = rows[0]
    assert answers > 1500
    assert share == pytest.approx(0.3, abs=4.0 * (0.3 * 0.7 / answers) ** 0.5)


MINDS = {
    "attachment": ("attachment", []),
    "big_five": ("big_five", ["tier=frontier", "memory.cap=6"]),
    "neutral": ("attachment", ["persmem.gate.mode=neutral", "persmem.rate=0.3"]),
    "off": ("big_five", ["persmem.gate.mode=off"]),
    "without": (
        "attachment",
        ["persmem.switches={A: false, R: false, P: false, S: false}", "affect.appraiser=lexicon"],
    ),
    "switched": ("big_five", ["persmem.switches={A: false, R: false, P: false, G: false}"]),
    "persmem": ("attachment", ["recall.mode=persmem"]),
    "human": ("big_five", ["persmem.gains=human"]),
    "reference": ("attachment", ["persmem.gains=reference"]),
    "fixed": ("big_five", ["persmem.gains=reference"]),
}


@pytest.fixture(name="mind_of", scope="module")
def minds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("minds")
    found = {}
    for name, (kind, settings) in MINDS.items():
        people = {"size": 12, "activity": 0.9, "personality": {"kind": kind, "sample": True}}
        loaded = small(population=people, horizon=9, settings=settings)
        found[name] = simulate(loaded, out=folder / f"{name}.duckdb")
    return found


@pytest.mark.parametrize("name", MINDS)
@pytest.mark.parametrize(
    "check", [*EVERY, *recompute_persmem.CHECKS], ids=lambda check: check.__name__
)
def test_a_run_with_personality_agrees_with_the_method(
    name: str, check: recompute.Check, mind_of: dict[str, Path]
) -> None:
    assert check(recompute.Run(str(mind_of[name]))) == []


MIND_SPOILS = {
    "gains": "UPDATE personas SET gains = [gains[1], gains[2], gains[3] + 0.001]",
    "appraisals": "UPDATE affects SET arousal = arousal + 0.001 WHERE tick = 4",
    "states": "UPDATE affects SET state_dominance = 0.7 WHERE tick = 4 AND phase = 'out'",
    "memory_affects": "UPDATE memories SET valence = valence + 0.001 WHERE tick = 4",
    "gates": "UPDATE gates SET fired = NOT fired WHERE tick = 4",
    "passive_scores": "UPDATE gates SET relation = relation + 0.001 WHERE tick = 4",
    "redirects": "UPDATE recalls SET path = 'product' WHERE tick = 4",
    "slots": "UPDATE recalls SET query = 'something else' WHERE tick = 4 AND slot = 2",
}


def test_every_check_of_personality_has_a_spoilt_file() -> None:
    assert sorted(MIND_SPOILS) == sorted(c.__name__ for c in recompute_persmem.CHECKS)


@pytest.mark.parametrize("check", recompute_persmem.CHECKS, ids=lambda check: check.__name__)
def test_a_spoilt_file_of_personality_is_found_out(
    check: recompute.Check, mind_of: dict[str, Path], tmp_path: Path
) -> None:
    copy = tmp_path / "spoilt.duckdb"
    shutil.copy(mind_of["attachment"], copy)
    with duckdb.connect(str(copy)) as connection:
        connection.execute(MIND_SPOILS[check.__name__])
    assert check(recompute.Run(str(copy))) != []
