"""Worked numbers of method.md sections 1 to 5, computed apart from this project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulation import probes
from simulation.mind import cadence, recency
from simulation.mind.importance import importance

SHARED = Path(__file__).resolve().parents[2] / "shared"

# method.md section 2
BASES = {
    "ignore": 0.05,
    **dict.fromkeys(("like", "upvote", "downvote", "follow"), 0.2),
    "repost": 0.3,
    **dict.fromkeys(("answer", "post", "comment", "reply", "quote", "ask_peer", "complain"), 0.5),
    **dict.fromkeys(("buy", "reject"), 0.7),
}


def golden(name: str) -> Any:
    path = SHARED / "golden" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"golden numbers are not at hand: {path.name}")
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_worked_example_of_the_seed_is_reproduced() -> None:
    case = golden("seed_worked_example")
    memories = case["memories"]
    columns = {k: np.array([m[k] for m in memories]) for k in memories[0] if k != "name"}
    faded = recency.recency(columns["age"], tau=recency.tau(case["horizon"]))
    np.testing.assert_allclose(faded, columns["recency"], atol=1e-9, rtol=0)
    score = recency.score(faded, columns["importance"], columns["relevance"])
    np.testing.assert_allclose(score, columns["score"], atol=1e-9, rtol=0)
    named = dict(zip([m["name"] for m in memories], score.round(3), strict=True))
    assert named == {"A": 0.306, "C": 0.158, "B": 0.142, "D": 0.041}


def test_the_time_constant_is_reproduced() -> None:
    for case in golden("tau"):
        assert recency.tau(case["horizon"]) == pytest.approx(case["tau"], abs=1e-9)


def test_importance_is_reproduced_for_every_action() -> None:
    cases = golden("importance")
    assert {case["action"] for case in cases} == set(BASES)
    result = importance(
        np.array([BASES[case["action"]] for case in cases]),
        np.array([case["max_abs_delta"] for case in cases]),
    )
    expected = [case["importance"] for case in cases]
    np.testing.assert_allclose(result, expected, atol=1e-9, rtol=0)


def test_reflection_intervals_are_reproduced() -> None:
    cases = golden("reflection_interval")
    result = [cadence.interval(case["seed"], case["persona"]) for case in cases]
    assert result == [case["interval"] for case in cases]


def test_the_probed_personas_are_reproduced_in_their_order() -> None:
    for case in golden("probed"):
        result = probes.drawn(case["seed"], case["tick"], case["active"], share=0.02)
        assert list(result) == case["probed"]
