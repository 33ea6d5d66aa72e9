"""Memories fade, aroused ones slowly, and bad ones slowly for whom they trouble."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.mind import recency
from simulation.mind.retention import RetentionParameters, decay_factor, retention

PARAMETERS = RetentionParameters()

UNIT = st.floats(0, 1)
VALENCE = st.floats(-1, 1)
AGE = st.integers(0, 500)
TAU = st.floats(1, 200)


def kept(
    age: int,
    arousal: float = 0.0,
    valence: float = 0.0,
    trait: float = 0.0,
    *,
    tau: float = 7.5,
    personality: bool = True,
) -> float:
    result = retention(
        np.array([[age]]),
        np.array([[arousal]]),
        np.array([[valence]]),
        np.array([trait]),
        tau=tau,
        parameters=PARAMETERS,
        personality=personality,
    )
    assert result.shape == (1, 1)
    return float(result[0, 0])


@given(AGE, UNIT, VALENCE, UNIT, TAU)
def test_retention_lies_in_the_unit_interval(
    age: int, arousal: float, valence: float, trait: float, tau: float
) -> None:
    for personality in (True, False):
        assert 0 <= kept(age, arousal, valence, trait, tau=tau, personality=personality) <= 1


@given(AGE, AGE, UNIT, VALENCE, UNIT)
def test_an_older_memory_is_never_kept_better_than_a_newer_equal_one(
    one: int, other: int, arousal: float, valence: float, trait: float
) -> None:
    newer, older = sorted((one, other))
    assert kept(older, arousal, valence, trait) <= kept(newer, arousal, valence, trait)


@given(AGE, UNIT, UNIT, VALENCE, UNIT)
def test_a_more_aroused_memory_is_never_kept_worse(
    age: int, one: float, other: float, valence: float, trait: float
) -> None:
    calm, stirred = sorted((one, other))
    assert kept(age, stirred, valence, trait) >= kept(age, calm, valence, trait) - 1e-15


@given(AGE, UNIT, VALENCE, UNIT, UNIT)
def test_a_stronger_trait_keeps_bad_memories_better_and_leaves_the_others(
    age: int, arousal: float, valence: float, one: float, other: float
) -> None:
    weak, strong = (kept(age, arousal, valence, trait) for trait in sorted((one, other)))
    if valence >= 0:
        assert strong == weak
    else:
        assert strong >= weak - 1e-15


@given(UNIT, VALENCE, UNIT)
def test_the_personality_factor_is_never_below_three_fifths(
    arousal: float, valence: float, trait: float
) -> None:
    arguments = np.array([[arousal]]), np.array([[valence]]), np.array([trait])
    felt = decay_factor(*arguments, parameters=PARAMETERS)[0, 0]
    bare = decay_factor(*arguments, parameters=PARAMETERS, personality=False)[0, 0]
    assert bare == 1 - 0.5 * arousal
    assert 0.6 * bare - 1e-15 <= felt <= bare


def test_the_least_factor_holds_where_the_parameters_would_stop_the_decay() -> None:
    strong = RetentionParameters(rho_a=0.0, rho_n=1.0, rho_min=0.25)
    factor = decay_factor(
        np.zeros((1, 2)), np.array([[-1.0, -0.5]]), np.ones(1), parameters=strong
    )
    assert factor.tolist() == [[0.25, 0.5]]


@given(st.lists(AGE, min_size=1, max_size=20), VALENCE, UNIT, TAU)
def test_without_personality_a_calm_memory_is_kept_exactly_as_recency_has_it(
    ages: list[int], valence: float, trait: float, tau: float
) -> None:
    age = np.array([ages])
    result = retention(
        age,
        np.zeros(age.shape),
        np.full(age.shape, valence),
        np.array([trait]),
        tau=tau,
        parameters=PARAMETERS,
        personality=False,
    )
    assert (result == recency.recency(age, tau=tau)).all()


@given(AGE, UNIT, VALENCE, UNIT, UNIT)
def test_without_personality_the_trait_counts_for_nothing(
    age: int, arousal: float, valence: float, one: float, other: float
) -> None:
    assert kept(age, arousal, valence, one, personality=False) == kept(
        age, arousal, valence, other, personality=False
    )


@given(AGE, UNIT, VALENCE, UNIT, TAU)
def test_retention_is_the_formula(
    age: int, arousal: float, valence: float, trait: float, tau: float
) -> None:
    rate = (1 - 0.5 * arousal) * max(0.1, 1 - 0.4 * trait * max(-valence, 0)) / tau
    expected = math.exp(-age * rate)
    assert kept(age, arousal, valence, trait, tau=tau) == pytest.approx(expected, rel=1e-11)


def test_each_persona_brings_its_own_trait_to_its_own_memories() -> None:
    age, bad = np.full((2, 2), 6), np.array([[-1.0, 0.5], [-1.0, 0.5]])
    result = retention(
        age, np.zeros((2, 2)), bad, np.array([0.0, 1.0]), tau=6.0, parameters=PARAMETERS
    )
    expected = np.exp([[-1.0, -1.0], [-0.6, -1.0]])
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_no_memories_have_no_retention() -> None:
    none = np.zeros((3, 0))
    ages = none.astype(np.int64)
    result = retention(ages, none, none, np.ones(3), tau=1.0, parameters=PARAMETERS)
    assert result.shape == (3, 0)


def test_a_memory_of_the_future_is_refused() -> None:
    with pytest.raises(ValueError, match="after the present tick"):
        kept(-1)


@pytest.mark.parametrize("tau", [0.0, -1.0, math.nan])
def test_a_time_constant_must_be_positive(tau: float) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        kept(1, tau=tau)
