"""Worked numbers of method.md section 7, computed apart from this project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulation.mind import affect, gate, passive, recency, retention

SHARED = Path(__file__).resolve().parents[2] / "shared"

APPRAISAL = affect.AppraisalParameters()
RETENTION = retention.RetentionParameters()
PASSIVE = passive.PassiveParameters()
GATE = gate.GateParameters()


def golden(name: str) -> list[dict[str, Any]]:
    path = SHARED / "golden" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"golden numbers are not at hand: {path.name}")
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return cases


def column(cases: list[dict[str, Any]], name: str) -> np.ndarray:
    return np.array([case[name] for case in cases], np.float64)


def assert_close(result: np.ndarray, expected: np.ndarray) -> None:
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, atol=1e-9, rtol=0)


def test_the_appraisals_of_attachment_styles_are_reproduced() -> None:
    cases = golden("appraisal_attachment")
    felt = affect.appraise_attachment(
        column(cases, "raw"),
        column(cases, "anxiety"),
        column(cases, "avoidance"),
        parameters=APPRAISAL,
    )
    assert_close(felt, column(cases, "adjusted"))


def test_the_appraisals_of_big_five_personalities_are_reproduced() -> None:
    cases = golden("appraisal_big_five")
    felt = affect.appraise_big_five(
        column(cases, "raw"), column(cases, "OCEAN"), parameters=APPRAISAL
    )
    assert_close(felt, column(cases, "adjusted"))


def test_the_chain_of_affective_states_is_reproduced_from_the_neutral_state_on() -> None:
    state = np.array([affect.NEUTRAL_STATE])
    for case in golden("affective_state"):
        e_in, e_reply = np.array([case["e_in"]]), np.array([case["e_reply"]])
        assert_close(state, np.array([case["before"]]))
        inward = affect.update_state(state, e_in)
        assert_close(inward, np.array([case["s_in"]]))
        state = affect.update_state(inward, e_reply)
        assert_close(state, np.array([case["s_out"]]))
        assert_close(affect.memory_affect(e_in, e_reply), np.array([case["memory_affect"]]))


def test_retention_is_reproduced() -> None:
    cases = golden("retention")
    (horizon,) = {case["horizon"] for case in cases}
    kept = retention.retention(
        column(cases, "age").astype(np.int64)[:, None],
        column(cases, "arousal")[:, None],
        column(cases, "valence")[:, None],
        column(cases, "trait"),
        tau=recency.tau(horizon),
        parameters=RETENTION,
    )
    assert_close(kept, column(cases, "retention")[:, None])


def test_the_passive_scores_of_attachment_styles_are_reproduced() -> None:
    cases = golden("passive_attachment")
    anxiety = column(cases, "anxiety")
    relation = passive.relation_attachment(
        column(cases, "memory")[:, None],
        column(cases, "state"),
        column(cases, "overgeneral")[:, None] > 0,
        anxiety=anxiety,
        avoidance=column(cases, "avoidance"),
        gains=column(cases, "gains"),
        parameters=PASSIVE,
    )
    assert_close(scored(cases, relation, anxiety), column(cases, "score")[:, None])


def test_the_passive_scores_of_big_five_personalities_are_reproduced() -> None:
    cases = golden("passive_big_five")
    traits = column(cases, "OCEAN")
    relation = passive.relation_big_five(
        column(cases, "memory")[:, None],
        column(cases, "state"),
        column(cases, "overgeneral")[:, None] > 0,
        traits=traits,
        gains=column(cases, "gains"),
    )
    assert_close(scored(cases, relation, traits[:, 4]), column(cases, "score")[:, None])


def scored(cases: list[dict[str, Any]], relation: np.ndarray, trait: np.ndarray) -> np.ndarray:
    return passive.score(
        column(cases, "semantic")[:, None],
        relation,
        column(cases, "retention")[:, None],
        weight=passive.relation_weight(trait, parameters=PASSIVE),
        parameters=PASSIVE,
    )


@pytest.mark.parametrize("mode", gate.MODES)
def test_the_gate_is_reproduced_in_every_mode(mode: str) -> None:
    cases = [case for case in golden("gate") if case["mode"] == mode]
    assert cases
    threshold = gate.threshold(column(cases, "trait"), mode=mode, parameters=GATE)
    fires = gate.probability(
        column(cases, "score"), threshold, column(cases, "arousal"), mode=mode, parameters=GATE
    )
    assert_close(fires, column(cases, "probability"))
