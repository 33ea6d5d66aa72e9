"""Recency fades, relevance is clipped, and their product with importance ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.mind import recency as mind


@settings(deadline=None)
@given(st.integers(1, 100_000))
def test_tau_is_a_quarter_of_the_horizon_and_at_least_a_tick(horizon: int) -> None:
    assert mind.tau(horizon) == (horizon / 4 if horizon >= 4 else 1.0)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5000), min_size=1), st.floats(0.1, 500))
def test_recency_is_the_exponential_of_age_over_tau(ages: list[int], tau: float) -> None:
    result = mind.recency(np.array(ages), tau=tau)
    expected = [math.exp(-age / tau) for age in ages]
    np.testing.assert_allclose(result, expected, rtol=1e-13, atol=0)
    assert ((result >= 0) & (result <= 1)).all()


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(0, 300), st.floats(1, 100))
def test_a_newer_memory_never_scores_lower_than_an_older_equal_one(
    one: int, other: int, tau: float
) -> None:
    newer, older = sorted((one, other))
    fresh, stale = mind.recency(np.array([newer, older]), tau=tau)
    assert fresh >= stale


def test_a_memory_of_the_present_tick_has_recency_one_and_no_memories_give_none() -> None:
    assert mind.recency(np.array([0]), tau=1.0).tolist() == [1.0]
    assert mind.recency(np.zeros((2, 0), np.int64), tau=1.0).shape == (2, 0)


def test_a_memory_of_the_future_is_refused() -> None:
    with pytest.raises(ValueError, match="after the present tick"):
        mind.recency(np.array([3, -1]), tau=7.5)


@pytest.mark.parametrize("tau", [0.0, -1.0, math.nan])
def test_a_time_constant_must_be_positive(tau: float) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        mind.recency(np.array([1]), tau=tau)


@settings(deadline=None)
@given(st.floats(-1.001, 1.001))
def test_relevance_is_the_cosine_clipped_to_the_unit_interval(cosine: float) -> None:
    assert mind.relevance(np.array([cosine])).tolist() == [min(1.0, max(0.0, cosine))]


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_score_is_the_product_of_its_three_parts(a: float, b: float, c: float) -> None:
    result = mind.score(np.array([a]), np.array([b]), np.array([c]))
    assert result.tolist() == [a * b * c]
