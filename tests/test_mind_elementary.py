from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.mind import elementary

PINNED = [
    "0x1.7622c78a98a07p-3",
    "-0x1.34378fcbda721p+0",
    "-0x1.3c6ef372fe94ep-2",
    "0x1.caa5ab1fd3daap-6",
    "0x1.32873061674b2p-1",
]
CLOSE = 4e-16  # relative: about two units in the last place


@given(st.floats(-700.0, 700.0))
def test_exp_is_that_of_mathematics(x: float) -> None:
    assert float(elementary.exp(x)) == pytest.approx(math.exp(x), rel=CLOSE)


@given(st.floats(1e-300, 1e300))
def test_log_is_that_of_mathematics(x: float) -> None:
    assert float(elementary.log(x)) == pytest.approx(math.log(x), rel=CLOSE, abs=CLOSE)


@given(st.floats(-0.999, 1e6))
def test_log1p_is_that_of_mathematics(x: float) -> None:
    assert elementary.log1p(x) == pytest.approx(math.log1p(x), rel=2 * CLOSE)


@given(st.floats(0.0, 1.0))
def test_cos_of_turns_is_that_of_mathematics(u: float) -> None:
    assert float(elementary.cos_of_turns(u)) == pytest.approx(
        math.cos(2.0 * math.pi * u), abs=1e-15
    )


@given(st.floats(0.0, 1.0), st.integers(0, 60))
def test_power_of_a_count_is_repeated_multiplication(base: float, count: int) -> None:
    assert float(elementary.power(base, count)) == pytest.approx(
        base**count, rel=1e-13, abs=1e-300
    )


@given(st.floats(-800.0, 800.0))
def test_logistic_lies_in_the_unit_interval_and_mirrors(x: float) -> None:
    value = float(elementary.logistic(x))
    assert 0.0 <= value <= 1.0
    assert value + float(elementary.logistic(-x)) == pytest.approx(1.0, abs=1e-15)


def test_the_ends_are_those_of_floats() -> None:
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert elementary.exp([-1e9, -750.0, 0.0, 710.0, 1e9]).tolist() == [
            0,
            0,
            1,
            np.inf,
            np.inf,
        ]
        assert elementary.log([0.0, 1.0, np.inf]).tolist() == [-np.inf, 0.0, np.inf]
    assert np.isnan(elementary.log([-1.0, np.nan])).all()
    assert np.isnan(elementary.exp(np.nan))
    assert elementary.exp(-740.0) > 0.0
    assert elementary.log1p(-1.0) == -np.inf
    assert elementary.log1p(1e-20) == 1e-20
    assert elementary.cos_of_turns([0.0, 0.25, 0.5, 0.75, 1.0]).tolist() == [1, 0, -1, 0, 1]
    assert elementary.power(0.0, [0.0, 1.0, 2.0]).tolist() == [1.0, 0.0, 0.0]


def test_the_bits_are_pinned_for_all_machines() -> None:
    found = [
        float(elementary.exp(-1.7)),
        float(elementary.log(0.3)),
        float(elementary.cos_of_turns(0.3)),
        float(elementary.power(0.6, 7)),
        float(elementary.logistic(0.4)),
    ]
    assert [value.hex() for value in found] == PINNED


def test_a_value_does_not_depend_on_its_neighbours() -> None:
    values = np.linspace(-5.0, 5.0, 37)
    for function in (elementary.exp, elementary.logistic, elementary.cos_of_turns):
        whole = function(values)
        assert [float(function(v)) for v in values] == whole.tolist()
