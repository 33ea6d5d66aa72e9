"""The shipped scenarios end in the states that they ended in before.

A digest that changes means that the same file and seed give another trajectory. That is either a
defect, or a change to be told under "Results change" in CHANGELOG.md, with the new digest here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from simulation.engine import Engine
from simulation.scenario import read_scenario

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
BIG_FIVE = "population.personality={kind: big_five, sample: true}"
ATTACHMENT = "population.personality={kind: attachment, sample: true}"
FEW = ("population.size=60", "horizon=6")


@pytest.mark.parametrize(
    ("scenario", "settings", "digest"),
    [
        ("anxious_neighbours", ("horizon=6",), "8ebabc2c88e1ca06"),
        ("health_rumour", ("horizon=6",), "7188742f02a822db"),
        ("protein_bar", ("horizon=6",), "72dfc562027127e5"),
        ("town_referendum", ("horizon=6",), "e9d31d7e24d05c1f"),
        ("protein_bar", (*FEW, "memory.units=off"), "fd84f9d276f6f7ca"),
        ("protein_bar", (*FEW, "memory.cap=3"), "10c8073d80dc8ce3"),
        ("protein_bar", (*FEW, "recall.mode=generative_agents"), "6992fd312797cb18"),
        ("protein_bar", (*FEW, BIG_FIVE, "recall.mode=persmem"), "ec186cffc60f4e20"),
        ("protein_bar", (*FEW, ATTACHMENT, "recall.mode=gated"), "7c82ef1d5415e5cf"),
    ],
)
def test_a_shipped_scenario_ends_where_it_ended(
    scenario: str, settings: tuple[str, ...], digest: str
) -> None:
    engine = Engine(read_scenario(SCENARIOS / f"{scenario}.yaml", settings=settings))
    while engine.world.tick < engine.scenario.horizon:
        engine.advance()
    assert engine.records.state_digest[:16] == digest
