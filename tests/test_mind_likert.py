"""Semantic similarity rating: cosines become a distribution over the points of a scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from simulation.mind import likert

# Two sets of five anchors; the distributions were computed with the formula of the authors'
# package, whose similarity is (1 + cosine) / 2.
COSINE = np.array([[[0.1, 0.3, 0.25, 0.6, 0.5], [0.2, 0.2, 0.4, 0.35, 0.9]]])
WORKED = {
    (0.0, 1.0): [0.0, 0.08, 0.155238095238, 0.271428571429, 0.493333333333],
    (0.05, 1.0): [0.080515297907, 0.074074074074, 0.142512077295, 0.25040257649, 0.452495974235],
    (0.05, 0.5): [0.021628262083, 0.018306161027, 0.067759182279, 0.209190713689, 0.683115680923],
}

cosines = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(2, 11)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-1.0, 1.0))
)


@pytest.mark.parametrize(("epsilon", "temperature"), WORKED)
def test_worked_distributions_come_out(epsilon: float, temperature: float) -> None:
    pmf = likert.rate(COSINE, epsilon=epsilon, temperature=temperature)
    np.testing.assert_allclose(pmf[0], WORKED[epsilon, temperature], rtol=0, atol=1e-11)


@settings(deadline=None)
@given(cosines, st.floats(0.0, 10.0), st.floats(0.01, 100.0))
def test_every_answer_has_a_distribution(
    cosine: np.ndarray, epsilon: float, temperature: float
) -> None:
    pmf = likert.rate(cosine, epsilon=epsilon, temperature=temperature)
    assert pmf.shape == (cosine.shape[0], cosine.shape[2])
    assert (pmf >= 0.0).all()
    np.testing.assert_allclose(pmf.sum(axis=1), 1.0)
    mean = likert.mean(pmf)
    assert ((mean >= 1.0 - 1e-9) & (mean <= cosine.shape[2] + 1e-9)).all()


@settings(deadline=None)
@given(cosines)
def test_an_answer_has_the_same_bits_alone_and_in_a_batch(cosine: np.ndarray) -> None:
    whole = likert.rate(cosine, epsilon=0.1, temperature=0.7)
    for i in range(len(cosine)):
        alone = likert.rate(cosine[i : i + 1], epsilon=0.1, temperature=0.7)
        assert alone.tobytes() == whole[i : i + 1].tobytes()


def test_the_nearest_anchor_is_the_likeliest_point_and_the_farthest_has_nothing() -> None:
    pmf = likert.rate(np.array([[[0.9, 0.2, 0.4]], [[0.1, 0.2, 0.4]]]))
    assert likert.point(pmf).tolist() == [1, 3]
    assert pmf[0, 1] == 0.0
    assert pmf[1, 0] == 0.0


def test_epsilon_is_what_the_farthest_point_keeps() -> None:
    pmf = likert.rate(np.array([[[0.0, 0.2, 0.4]]]), epsilon=0.3)
    np.testing.assert_allclose(pmf, [[0.5, 1 / 6, 1 / 3]])


def test_of_equally_far_anchors_the_lowest_gets_epsilon() -> None:
    pmf = likert.rate(np.array([[[0.5, 0.1, 0.1]]]), epsilon=0.2)
    np.testing.assert_allclose(pmf, [[0.5, 0.5, 0.0]])


def test_anchors_that_are_all_as_near_say_nothing() -> None:
    np.testing.assert_array_equal(likert.rate(np.full((1, 1, 4), 0.3)), np.full((1, 4), 0.25))
    np.testing.assert_array_equal(likert.rate(np.zeros((2, 2, 5)))[1], np.full(5, 0.2))


def test_sets_count_alike_however_far_apart_their_anchors_are() -> None:
    wide, narrow = [0.0, 1.0], [0.51, 0.5]
    np.testing.assert_allclose(likert.rate(np.array([[wide, narrow]])), [[0.5, 0.5]])


def test_a_low_temperature_sharpens_and_a_high_one_flattens() -> None:
    pmf = np.array([[0.2, 0.3, 0.5]])
    np.testing.assert_allclose(likert.tempered(pmf, 1e-4), [[0.0, 0.0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(likert.tempered(pmf, 1e6), np.full((1, 3), 1 / 3), atol=1e-5)
    assert likert.tempered(pmf, 1.0) is pmf


def test_the_mean_point_is_the_expectation() -> None:
    np.testing.assert_allclose(likert.mean(np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])), [2, 2])
    assert likert.point(np.array([[0.4, 0.4, 0.2]])).tolist() == [1]


def test_no_answers_have_no_distributions() -> None:
    assert likert.rate(np.zeros((0, 2, 5))).shape == (0, 5)
