"""The largest and smallest numbers that a scenario can say still give a run of finite numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from small import small

from simulation import simulate
from simulation.errors import ScenarioError
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from pathlib import Path

LARGE, SMALLEST = 1e6, 1e-6


@pytest.mark.parametrize(
    "changes",
    [
        {"feed": dict.fromkeys(("recent", "engaging", "similar", "stimulus_boost"), LARGE)},
        {"feed": {"addressed_boost": LARGE, "recent": 0.0, "engaging": 0.0, "similar": 0.0}},
        {"rule": {"dispersion": LARGE, "judgement": LARGE, "choice_temperature": SMALLEST}},
        {"rule": {"choice_temperature": LARGE}},
        {"recall": {"tau": SMALLEST}},
        {"recall": {"tau": LARGE, "mode": "generative_agents"}},
        {"memory": {"importance": {"move": LARGE}}},
        {
            "population": {
                "size": 12,
                "beliefs": {"value": {"distribution": "normal", "mean": 0.5, "sd": LARGE}},
            }
        },
        {
            "population": {
                "size": 12,
                "beliefs": {"value": {"distribution": "beta", "a": SMALLEST, "b": SMALLEST}},
            }
        },
        {
            "population": {
                "size": 12,
                "beliefs": {"value": {"distribution": "beta", "a": LARGE, "b": SMALLEST}},
            }
        },
        {
            "population": {
                "size": 12,
                "beliefs": {
                    "value": {
                        "distribution": "choice",
                        "values": [0.0, 1.0],
                        "weights": [SMALLEST, LARGE],
                    }
                },
            }
        },
        {"reflection": {"interval_min": 1_000_000}, "probes": {"every": 1_000_000}},
    ],
)
def test_numbers_at_their_bounds_give_finite_runs(changes: dict[str, Any], tmp_path: Path) -> None:
    path = simulate(small(**changes), out=tmp_path / "a.duckdb")  # a warning of numpy is an error
    with RunFile.open(path) as run:
        beliefs = run.query("SELECT count(*) FROM beliefs WHERE NOT isfinite(belief)").rows
        scores = run.query("SELECT count(*) FROM exposures WHERE NOT isfinite(score)").rows
    assert (beliefs, scores) == ([(0,)], [(0,)])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feed": {"recent": 1e308}}, "feed.recent  must be a number between 0 and 1,000,000"),
        ({"rule": {"dispersion": 1e7}}, "between 0 and 1,000,000"),
        ({"rule": {"choice_temperature": 1e-308}}, "between 0.000001 and 1,000,000"),
        ({"recall": {"tau": 0}}, "between 0.000001 and 1,000,000"),
        ({"reflection": {"interval_min": 10**30}}, "between 1 and 1,000,000"),
        ({"graph": {"degree": 10**30}}, "between 0 and 1,000,000"),
    ],
)
def test_numbers_beyond_their_bounds_are_told_what_is_allowed(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        small(**changes)
    assert message in str(caught.value)
