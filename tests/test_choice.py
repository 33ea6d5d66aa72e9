"""Memories are drawn without replacement, with exactly the probabilities of their scores."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simulation.choice import top_without_replacement
from simulation.rng import Streams, stream_keys

TRIALS = 40_000
KEYS = stream_keys(f"p{i}" for i in range(TRIALS))

SCORES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 20)), elements=st.floats(-3, 3)
)


def noise(rows: int, width: int, *, seed: int = 1) -> np.ndarray:
    return Streams(seed).gumbel("test", tick=0, keys=KEYS[:rows, None], index=np.arange(width))


def sequences(score: list[float], temperature: float, count: int) -> dict[tuple[int, ...], float]:
    """Return the probability of every ordered draw, by the definition: one after another."""
    result = {}
    for order in itertools.permutations(range(len(score)), count):
        left, probability = list(range(len(score))), 1.0
        for place in order:
            weights = {other: math.exp(score[other] / temperature) for other in left}
            probability *= weights[place] / math.fsum(weights.values())
            left.remove(place)
        result[order] = probability
    return result


def chi_square_bound(degrees: int) -> float:
    """Return about the 1 - 1e-6 quantile of chi-square (Wilson & Hilferty 1931)."""
    part = 2 / (9 * degrees)
    return degrees * (1 - part + 4.75 * math.sqrt(part)) ** 3


@pytest.mark.parametrize(
    ("score", "temperature", "count"),
    [
        ([0.0, 0.1, 0.3, 0.25], 0.12, 1),
        ([1.2, 1.1, 1.0, 1.05], 0.12, 2),
        ([1.2, 1.1, 1.0, 1.05], 0.5, 3),
        ([0.5, 0.5, 0.5], 0.02, 3),
        ([2.0, 1.99, 1.97, 1.96, 1.95], 0.02, 2),
    ],
)
def test_ordered_draws_have_the_exact_probabilities(
    score: list[float], temperature: float, count: int
) -> None:
    drawn = top_without_replacement(
        np.tile(score, (TRIALS, 1)),
        np.ones((TRIALS, len(score)), np.bool_),
        temperature=temperature,
        count=count,
        gumbel=noise(TRIALS, len(score)),
    )
    exact = sequences(score, temperature, count)
    assert math.fsum(exact.values()) == pytest.approx(1)
    expected = {order: TRIALS * probability for order, probability in exact.items()}
    assert min(expected.values()) > 5
    found, times = np.unique(drawn, axis=0, return_counts=True)
    seen = {tuple(order): n for order, n in zip(found.tolist(), times.tolist(), strict=True)}
    assert seen.keys() <= expected.keys()
    statistic = math.fsum((seen.get(o, 0) - e) ** 2 / e for o, e in expected.items())
    assert statistic < chi_square_bound(len(expected) - 1)


def test_masked_memories_leave_their_probability_to_the_others() -> None:
    score = np.tile([0.1, 5.0, 0.2, 0.0], (TRIALS, 1))
    mask = np.tile([True, False, True, True], (TRIALS, 1))
    drawn = top_without_replacement(
        score, mask, temperature=0.12, count=1, gumbel=noise(TRIALS, 4)
    )
    weights = np.exp(np.array([0.1, 0.2, 0.0]) / 0.12)
    expected = TRIALS * weights / weights.sum()
    seen = np.array([(drawn == place).sum() for place in (0, 2, 3)])
    assert seen.sum() == TRIALS
    assert ((seen - expected) ** 2 / expected).sum() < chi_square_bound(2)


@pytest.mark.parametrize("temperature", [1e-5, 1e-20, 1e-300, 5e-324])
def test_equal_scores_stay_equally_likely_at_any_temperature(temperature: float) -> None:
    drawn = top_without_replacement(
        np.tile([0.3, 0.1, 0.1, 0.1], (TRIALS, 1)),
        np.ones((TRIALS, 4), np.bool_),
        temperature=temperature,
        count=2,
        gumbel=noise(TRIALS, 4),
    )
    assert (drawn[:, 0] == 0).all()
    seen = np.array([(drawn[:, 1] == place).sum() for place in (1, 2, 3)])
    assert ((seen - TRIALS / 3) ** 2 / (TRIALS / 3)).sum() < chi_square_bound(2)


@given(SCORES, st.integers(0, 25), st.sampled_from([1e-300, 1e-9, 0.12, 10.0, 1e300]), st.data())
def test_draws_are_distinct_allowed_and_as_many_as_there_are(
    score: np.ndarray, count: int, temperature: float, data: Any
) -> None:
    mask = data.draw(hnp.arrays(np.bool_, score.shape))
    candidates = data.draw(st.one_of(st.none(), st.integers(0, 25)))
    drawn = top_without_replacement(
        score,
        mask,
        temperature=temperature,
        count=count,
        gumbel=noise(*score.shape),
        candidates=candidates,
    )
    assert drawn.shape == (len(score), count)
    limit = score.shape[1] if candidates is None else candidates
    for row, allowed, scores in zip(drawn.tolist(), mask, score, strict=True):
        number = min(count, int(allowed.sum()), limit)
        chosen = row[:number]
        assert row[number:] == [-1] * (count - number)
        assert len(set(chosen)) == number
        ranked = sorted(np.flatnonzero(allowed).tolist(), key=lambda k: (-scores[k], k))
        assert set(chosen) <= set(ranked[:limit])


@given(SCORES, st.integers(1, 25))
def test_near_temperature_zero_different_scores_are_drawn_in_their_order(
    score: np.ndarray, count: int
) -> None:
    distinct = np.round(score, 3) + np.arange(score.shape[1]) * 1e-5
    drawn = top_without_replacement(
        distinct,
        np.ones(score.shape, np.bool_),
        temperature=1e-12,
        count=count,
        gumbel=noise(*score.shape),
        candidates=None,
    )
    order = np.argsort(-distinct, axis=1, kind="stable")[:, :count]
    assert (drawn[:, : order.shape[1]] == order).all()


def test_only_the_twelve_best_can_be_drawn_and_of_equals_the_first() -> None:
    score = np.zeros((200, 30))
    score[:, 25] = 0.01
    drawn = top_without_replacement(
        score,
        np.ones(score.shape, np.bool_),
        temperature=10.0,
        count=30,
        gumbel=noise(200, 30),
    )
    assert (drawn[:, 12:] == -1).all()
    assert set(drawn[:, :12].ravel().tolist()) == {*range(11), 25}


def test_exact_ties_resolve_in_index_order() -> None:
    drawn = top_without_replacement(
        np.ones((1, 4)),
        np.array([[True, False, True, True]]),
        temperature=0.12,
        count=3,
        gumbel=np.full((1, 4), 0.7),
    )
    assert drawn.tolist() == [[0, 2, 3]]


@given(SCORES, st.data())
def test_a_row_draws_the_same_alone_and_in_company(score: np.ndarray, data: Any) -> None:
    rows, width = score.shape
    mask = data.draw(hnp.arrays(np.bool_, score.shape))
    count = data.draw(hnp.arrays(np.int64, rows, elements=st.integers(0, 5)))
    heat = data.draw(hnp.arrays(np.float64, rows, elements=st.floats(0.02, 0.5)))
    gumbel = noise(rows, width)
    together = top_without_replacement(score, mask, temperature=heat, count=count, gumbel=gumbel)
    for row in range(rows):
        one = slice(row, row + 1)
        alone = top_without_replacement(
            score[one],
            mask[one],
            temperature=heat[row],
            count=int(count[row]),
            gumbel=gumbel[one],
        )[0]
        assert together[row, : len(alone)].tolist() == alone.tolist()
        assert (together[row, len(alone) :] == -1).all()


def test_what_may_not_be_drawn_need_not_be_a_number() -> None:
    score = np.array([[np.nan, 0.2, np.inf, -np.inf]])
    mask = np.array([[False, True, False, False]])
    drawn = top_without_replacement(
        score, mask, temperature=0.12, count=2, gumbel=np.zeros((1, 4)), candidates=2
    )
    assert drawn.tolist() == [[1, -1]]


def test_the_arguments_are_left_as_they_were() -> None:
    score, mask = np.arange(6.0).reshape(2, 3), np.ones((2, 3), np.bool_)
    for candidates in (None, 2, 12):
        top_without_replacement(
            score,
            mask,
            temperature=1.0,
            count=2,
            gumbel=np.zeros((2, 3)),
            candidates=candidates,
        )
    assert mask.all()
    assert score.ravel().tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("rows", "width", "count"), [(0, 5, 3), (3, 0, 2), (0, 0, 1), (2, 4, 0)])
def test_nothing_to_draw_from_or_for_gives_empty_slots(rows: int, width: int, count: int) -> None:
    drawn = top_without_replacement(
        np.zeros((rows, width)),
        np.ones((rows, width), np.bool_),
        temperature=0.12,
        count=count,
        gumbel=np.zeros((rows, width)),
    )
    assert drawn.shape == (rows, count)
    assert (drawn == -1).all()


def test_extreme_scores_are_drawn_without_a_warning() -> None:
    score = np.array([[1.7e308, -1.7e308, 0.0, 1.7e308]])
    drawn = top_without_replacement(
        score,
        np.ones((1, 4), np.bool_),
        temperature=1e-300,
        count=4,
        gumbel=np.array([[0.0, 0.0, 0.0, 1.0]]),
    )
    assert drawn.tolist() == [[3, 0, 2, 1]]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="score to draw by is NaN or infinite"):
        draw_one(score=bad)


@pytest.mark.parametrize("bad", [0.0, -0.1, np.nan, np.inf])
def test_a_temperature_must_be_a_positive_number(bad: float) -> None:
    with pytest.raises(ValueError, match="temperature is not a number above 0"):
        draw_one(temperature=bad)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="count of draws is negative"):
        draw_one(count=-1)


def draw_one(*, score: float = 0.0, temperature: float = 0.12, count: int = 1) -> np.ndarray:
    return top_without_replacement(
        np.array([[score, 0.5]]),
        np.ones((1, 2), np.bool_),
        temperature=temperature,
        count=count,
        gumbel=np.zeros((1, 2)),
    )
