"""The gate opens for high scores, high arousal and reactive personas, and never when off."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.mind import gate

PARAMETERS = gate.GateParameters()

UNIT = st.floats(0, 1)
SCORE = st.floats(-5, 5)
MODE = st.sampled_from(gate.MODES)


def fires(score: float, trait: float, arousal: float, mode: str = "personality") -> float:
    threshold = gate.threshold(np.array([trait]), mode=mode, parameters=PARAMETERS)
    result = gate.probability(
        np.array([score]), threshold, np.array([arousal]), mode=mode, parameters=PARAMETERS
    )
    assert result.shape == (1,)
    return float(result[0])


@given(SCORE, UNIT, UNIT, MODE)
def test_the_gate_gives_a_probability(
    score: float, trait: float, arousal: float, mode: str
) -> None:
    assert 0 <= fires(score, trait, arousal, mode) <= 1


@given(SCORE, UNIT, UNIT)
def test_the_probability_is_the_formula(score: float, trait: float, arousal: float) -> None:
    logit = 4 * (score - (1.6 - 0.4 * trait)) + 0.5 * arousal
    assert fires(score, trait, arousal) == pytest.approx(1 / (1 + math.exp(-logit)), rel=1e-11)


@given(SCORE, SCORE, UNIT, UNIT, MODE)
def test_a_higher_score_never_fires_less(
    one: float, other: float, trait: float, arousal: float, mode: str
) -> None:
    low, high = (fires(score, trait, arousal, mode) for score in sorted((one, other)))
    assert high >= low - 1e-15


@given(SCORE, UNIT, UNIT, UNIT)
def test_more_arousal_and_a_stronger_trait_never_fire_less(
    score: float, one: float, other: float, held: float
) -> None:
    low, high = sorted((one, other))
    assert fires(score, held, high) >= fires(score, held, low) - 1e-15
    assert fires(score, high, held) >= fires(score, low, held) - 1e-15


@given(SCORE, UNIT, UNIT)
def test_a_gate_that_is_off_never_fires(score: float, trait: float, arousal: float) -> None:
    assert fires(score, trait, arousal, "off") == 0


@given(SCORE, UNIT, UNIT, UNIT)
def test_a_neutral_gate_is_that_of_a_persona_with_trait_zero(
    score: float, one: float, other: float, arousal: float
) -> None:
    neutral = fires(score, one, arousal, "neutral")
    assert neutral == fires(score, other, arousal, "neutral")
    assert neutral == fires(score, 0.0, arousal)


def test_the_threshold_falls_with_the_trait_unless_the_gate_is_neutral() -> None:
    trait = np.array([0.0, 0.5, 1.0])
    found = {m: gate.threshold(trait, mode=m, parameters=PARAMETERS) for m in gate.MODES}
    np.testing.assert_allclose(found["personality"], [1.6, 1.4, 1.2], rtol=1e-12)
    np.testing.assert_allclose(found["neutral"], [1.6, 1.6, 1.6], rtol=1e-12)
    np.testing.assert_allclose(found["off"], found["personality"], rtol=0)


def test_a_score_at_the_threshold_of_a_calm_persona_is_an_even_chance() -> None:
    assert fires(1.6, 0.0, 0.0) == 0.5


@pytest.mark.parametrize("excess", [0.01, -0.01])
def test_a_score_near_the_threshold_is_nearly_an_even_chance_on_its_own_side(
    excess: float,
) -> None:
    expected = 1 / (1 + math.exp(-4 * excess))
    assert fires(1.6 + excess, 0.0, 0.0) == pytest.approx(expected, rel=1e-12)


def test_extreme_scores_are_certain_either_way_and_raise_no_warning() -> None:
    assert fires(1e300, 0.5, 0.5) == 1
    assert fires(-1e300, 0.5, 0.5) == 0


def test_an_unknown_mode_is_refused_by_name() -> None:
    message = 'gate mode "closed" is not one of personality, neutral, off'
    with pytest.raises(ValueError, match=message):
        gate.threshold(np.zeros(1), mode="closed", parameters=PARAMETERS)
    with pytest.raises(ValueError, match=message):
        gate.probability(
            np.zeros(1), np.zeros(1), np.zeros(1), mode="closed", parameters=PARAMETERS
        )
