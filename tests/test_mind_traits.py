"""A personality maps smoothly onto gains within their ranges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simulation.mind import traits

LOW, HIGH = np.array(traits.BIG_FIVE_LOW), np.array(traits.BIG_FIVE_HIGH)

UNIT = st.floats(0, 1)
PEOPLE = hnp.arrays(np.float64, (4, 5), elements=UNIT)
WEIGHTS = hnp.arrays(np.float64, (5, 5), elements=st.floats(-50, 50))
BIAS = hnp.arrays(np.float64, 5, elements=st.floats(-50, 50))


def mapped(people: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return traits.gains(people, weights, bias, low=LOW, high=HIGH)


@given(PEOPLE, WEIGHTS, BIAS)
def test_gains_stay_within_their_ranges(
    people: np.ndarray, weights: np.ndarray, bias: np.ndarray
) -> None:
    result = mapped(people, weights, bias)
    assert result.shape == (4, 5)
    assert ((result >= LOW) & (result <= HIGH)).all()


@given(PEOPLE, WEIGHTS, BIAS)
def test_gains_are_the_formula(people: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> None:
    result = mapped(people, weights, bias)
    for row, person in enumerate(people.tolist()):
        for gain in range(5):
            terms = zip(weights[gain].tolist(), person, strict=True)
            inner = bias[gain] + math.fsum(w * p for w, p in terms)
            expected = LOW[gain] + (HIGH[gain] - LOW[gain]) / (1 + math.exp(-inner))
            assert result[row, gain] == pytest.approx(expected, abs=1e-12)


@given(PEOPLE, WEIGHTS, BIAS)
def test_a_persona_has_the_same_gains_alone_and_in_company(
    people: np.ndarray, weights: np.ndarray, bias: np.ndarray
) -> None:
    together = mapped(people, weights, bias)
    for row in range(len(people)):
        assert (mapped(people[row : row + 1], weights, bias)[0] == together[row]).all()


@given(PEOPLE, st.integers(0, 4), st.integers(0, 4), UNIT)
def test_a_gain_rises_with_a_trait_of_positive_weight(
    people: np.ndarray, gain: int, trait: int, raised: float
) -> None:
    weights = np.zeros((5, 5))
    weights[gain, trait] = 3.0
    more = people.copy()
    more[:, trait] = np.maximum(people[:, trait], raised)
    before, after = mapped(people, weights, np.zeros(5)), mapped(more, weights, np.zeros(5))
    assert (after[:, gain] >= before[:, gain] - 1e-15).all()
    others = np.arange(5) != gain
    assert (after[:, others] == before[:, others]).all()


def test_an_empty_map_gives_the_middle_of_each_range() -> None:
    result = mapped(np.full((1, 5), 0.3), np.zeros((5, 5)), np.zeros(5))
    np.testing.assert_allclose(result, [[0.5, 0.5, 0.5, 0.6, 0.26]], rtol=1e-12)


@pytest.mark.parametrize("inner", [0.05, -0.05])
def test_a_map_near_its_middle_leans_to_its_own_side(inner: float) -> None:
    result = mapped(np.zeros((1, 5)), np.zeros((5, 5)), np.full(5, inner))
    expected = LOW + (HIGH - LOW) / (1 + math.exp(-inner))
    np.testing.assert_allclose(result, [expected], rtol=1e-12)


def test_the_ranges_and_references_are_those_of_the_method() -> None:
    assert list(traits.ATTACHMENT_LOW) == [0, 0, 0]
    assert list(traits.ATTACHMENT_HIGH) == [1, 1, 1.2]
    assert list(traits.ATTACHMENT_REFERENCE) == [0.6, 0.6, 0.6]
    assert list(traits.BIG_FIVE_LOW) == [0, 0, 0, 0, 0.02]
    assert list(traits.BIG_FIVE_HIGH) == [1, 1, 1, 1.2, 0.5]
    assert list(traits.BIG_FIVE_REFERENCE) == [0.6, 0.6, 0.6, 0.6, 0.12]


def test_an_extreme_map_gives_the_ends_of_each_range_and_no_warning() -> None:
    nobody = np.zeros((1, 5))
    np.testing.assert_array_equal(mapped(nobody, np.zeros((5, 5)), np.full(5, 1e300)), [HIGH])
    np.testing.assert_array_equal(mapped(nobody, np.zeros((5, 5)), np.full(5, -1e300)), [LOW])


def test_an_uncalibrated_run_has_the_same_gains_for_everyone() -> None:
    result = traits.fixed_gains(traits.BIG_FIVE_REFERENCE, personas=2)
    assert result.tolist() == [[0.6, 0.6, 0.6, 0.6, 0.12]] * 2
    assert traits.fixed_gains(traits.ATTACHMENT_REFERENCE, personas=0).shape == (0, 3)


@given(hnp.arrays(np.float64, 9, elements=st.floats(-5, 5)))
def test_a_map_survives_being_written_as_one_vector(vector: np.ndarray) -> None:
    weights, bias = traits.unpack(vector, gains=3, traits=2)
    assert weights.shape == (3, 2)
    assert bias.shape == (3,)
    assert (traits.pack(weights, bias) == vector).all()


def test_the_vector_holds_the_weights_gain_by_gain_and_then_the_bias() -> None:
    weights, bias = traits.unpack(np.arange(9.0), gains=3, traits=2)
    assert weights.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert bias.tolist() == [6, 7, 8]


def test_a_vector_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 traits to 3 gains has 9 coefficients"):
        traits.unpack(np.zeros(8), gains=3, traits=2)


def test_the_names_ranges_and_references_belong_together() -> None:
    for names, low, high, reference in (
        (
            traits.ATTACHMENT_GAINS,
            traits.ATTACHMENT_LOW,
            traits.ATTACHMENT_HIGH,
            traits.ATTACHMENT_REFERENCE,
        ),
        (
            traits.BIG_FIVE_GAINS,
            traits.BIG_FIVE_LOW,
            traits.BIG_FIVE_HIGH,
            traits.BIG_FIVE_REFERENCE,
        ),
    ):
        assert len(names) == len(low) == len(high) == len(reference)
        bounds = zip(low, reference, high, strict=True)
        assert all(bottom < middle < top for bottom, middle, top in bounds)
    assert traits.ATTACHMENT_TRAITS[traits.ATTACHMENT_REACTIVITY] == "anxiety"
    assert traits.BIG_FIVE_TRAITS[traits.BIG_FIVE_REACTIVITY] == "neuroticism"
    assert "".join(name[0] for name in traits.BIG_FIVE_TRAITS) == "ocean"


def test_the_four_profiles_are_the_corners_of_attachment() -> None:
    assert traits.ATTACHMENT_PROFILES == {
        "secure": (0.15, 0.15),
        "anxious": (0.85, 0.15),
        "avoidant": (0.15, 0.85),
        "fearful": (0.85, 0.85),
    }
