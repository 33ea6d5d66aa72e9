"""Formulas of settled attitudes (method.md 10)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from simulation.mind import attitude

SHARED = Path(__file__).resolve().parents[2] / "shared"
CAP = 12.0
Array = NDArray[np.float64]

shares = st.tuples(*[st.integers(0, 1000)] * 3).filter(any)
strengths = st.floats(0.001, 1.0)
confidences = st.tuples(*[st.floats(0.0, 1.0)] * 3)


def golden(name: str) -> Any:
    path = SHARED / "golden" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"golden numbers are not at hand: {path.name}")
    return json.loads(path.read_text(encoding="utf-8"))


def polarity(given_shares: tuple[int, ...]) -> Array:
    return np.array([given_shares], np.float64) / sum(given_shares)


def one(*values: float) -> Array:
    return np.array([values])


def settle(evidence: list[tuple[tuple[int, ...], float]], *, cap: float = CAP) -> Any:
    state, weight = np.zeros((1, 3)), np.zeros(1)
    for given_shares, strength in evidence:
        state, weight = attitude.update(
            state, weight, polarity(given_shares), np.array([strength]), cap=cap
        )
    return state, weight


def test_the_worked_updates_are_reproduced() -> None:
    state, weight = np.zeros((1, 3)), np.zeros(1)
    for case in golden("unit_updates"):
        state, weight = attitude.update(
            state, weight, one(*case["evidence"]), np.array([case["strength"]]), cap=CAP
        )
        np.testing.assert_allclose(state[0], case["confidence"], atol=1e-9, rtol=0)
        assert weight[0] == pytest.approx(case["weight"], abs=1e-9)
        assert attitude.entropy(state)[0] == pytest.approx(case["entropy"], abs=1e-9)


def test_the_worked_entropies_are_reproduced() -> None:
    for case in golden("entropy"):
        found = attitude.entropy(one(*case["confidence"]))[0]
        assert found == pytest.approx(case["entropy"], abs=1e-9)


@given(confidences)
def test_p_is_a_distribution_and_entropy_lies_between_0_and_log2_of_3(
    confidence: tuple[float, float, float],
) -> None:
    p = attitude.normalised(one(*confidence))
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    assert 0.0 <= attitude.entropy(one(*confidence))[0] <= math.log2(3)
    assert -1.0 <= attitude.lean(one(*confidence))[0] <= 1.0


@given(st.lists(st.tuples(shares, strengths), min_size=1, max_size=12), st.randoms())
def test_below_the_cap_evidence_in_any_order_gives_equal_confidence(
    evidence: list[tuple[tuple[int, ...], float]], chance: Any
) -> None:
    shuffled = evidence.copy()
    chance.shuffle(shuffled)
    first, second = settle(evidence, cap=np.inf), settle(shuffled, cap=np.inf)
    np.testing.assert_allclose(first[0], second[0], atol=1e-9, rtol=0)
    np.testing.assert_allclose(first[1], second[1], atol=1e-9, rtol=0)


@given(st.lists(st.tuples(shares, strengths), min_size=1, max_size=60))
def test_a_unit_stays_a_distribution_and_its_weight_below_the_cap(
    evidence: list[tuple[tuple[int, ...], float]],
) -> None:
    state, weight = settle(evidence)
    assert state.min() >= 0.0
    assert state.sum() == pytest.approx(1.0, abs=1e-12)
    assert 0.0 < weight[0] <= CAP


def test_ten_thousand_updates_do_not_drift() -> None:
    state, weight = np.zeros((1, 3)), np.zeros(1)
    evidence, strength = one(0.7, 0.2, 0.1), np.array([0.37])
    for _ in range(10_000):
        state, weight = attitude.update(state, weight, evidence, strength, cap=CAP)
    np.testing.assert_allclose(state, evidence, atol=1e-12, rtol=0)
    assert weight[0] == CAP


def test_the_first_evidence_is_the_confidence() -> None:
    state, weight = settle([((3, 1, 0), 0.4)])
    assert state.tolist() == [[0.75, 0.25, 0.0]]
    assert weight.tolist() == [0.4]


def test_stronger_evidence_moves_a_unit_further() -> None:
    old, weight, against = one(1.0, 0.0, 0.0), np.array([2.0]), one(0.0, 1.0, 0.0)
    left = [
        attitude.update(old, weight, against, np.array([s]), cap=CAP)[0][0, 0]
        for s in (0.1, 0.4, 1.0)
    ]
    assert left == sorted(left, reverse=True)
    assert len(set(left)) == len(left)


def test_the_cap_keeps_a_settled_unit_movable() -> None:
    change = {}
    for cap in (CAP, np.inf):
        state, weight = settle([((1, 0, 0), 0.5)] * 200, cap=cap)
        n = 0
        while attitude.lean(state)[0] > 0:
            state, weight = attitude.update(
                state, weight, one(0.0, 1.0, 0.0), np.array([0.5]), cap=cap
            )
            n += 1
        change[cap] = n
    assert change[CAP] < 20
    assert change[np.inf] in (200, 201)


units = st.tuples(confidences.filter(lambda c: sum(c) > 0.01), st.floats(0.01, CAP))


@given(units, units)
def test_a_merge_never_raises_total_entropy_nor_joins_opposite_leanings(
    first: tuple[Any, float], second: tuple[Any, float]
) -> None:
    a, b = one(*first[0]), one(*second[0])
    wa, wb = np.array([first[1]]), np.array([second[1]])
    gain = attitude.drop(a, wa, b, wb)[0]
    both, weight = attitude.joined(a, wa, b, wb, cap=CAP)
    swapped = attitude.drop(b, wb, a, wa)[0]
    assert (gain < 0) == (swapped < 0) or abs(gain - swapped) < 1e-9
    assert weight[0] <= CAP
    if gain >= 0:
        before = attitude.entropy(a)[0] + attitude.entropy(b)[0]
        assert attitude.entropy(both)[0] <= before + 1e-12
        assert gain == pytest.approx(before - attitude.entropy(both)[0], abs=1e-12)
        assert attitude.leading(a)[0] == attitude.leading(b)[0]


def test_opposite_units_are_not_merged_and_alike_ones_are() -> None:
    good, bad, w = one(0.9, 0.1, 0.0), one(0.1, 0.9, 0.0), np.array([1.0])
    assert attitude.drop(good, w, bad, w)[0] == -1.0
    assert attitude.drop(good, w, good, w)[0] == pytest.approx(attitude.entropy(good)[0])


@pytest.mark.parametrize(
    ("confidence", "weight", "idle", "noise"),
    [
        ((0.4, 0.35, 0.25), 0.75, 5, True),
        ((0.4, 0.35, 0.25), 0.76, 5, False),
        ((0.4, 0.35, 0.25), 0.75, 4, False),
        ((0.9, 0.05, 0.05), 0.2, 50, False),
    ],
)
def test_only_idle_light_and_torn_units_are_noise(
    confidence: tuple[float, ...], weight: float, idle: int, *, noise: bool
) -> None:
    found = attitude.is_noise(
        one(*confidence),
        np.array([weight]),
        np.array([idle]),
        min_entropy=1.4,
        max_weight=0.75,
        min_idle=5,
    )
    assert found.tolist() == [noise]


@given(st.floats(-1.0, 1.0))
def test_the_polarity_of_a_leaning_leans_so(value: float) -> None:
    p = attitude.polarity_of(value)
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0, abs=1e-15)
    assert attitude.lean(p) == pytest.approx(value, abs=1e-12)
