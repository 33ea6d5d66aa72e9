"""What comes back by its words: BM25, the hybrid score, and what neighbours lend."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from simulation.mind.lexical import (
    HybridParameters,
    LexicalParameters,
    bm25,
    frequencies,
    hybrid,
    lent,
    scaled,
    spanned,
)

WORDS = 6
EVERYTHING = np.ones((1, 3), np.bool_)

memories = st.integers(1, 6).flatmap(
    lambda k: arrays(np.int64, (1, k, 5), elements=st.integers(-1, WORDS - 1))
)
query = arrays(np.int64, (1, 3), elements=st.integers(-1, WORDS - 1), unique=False)


def _bm25(
    given_memories: np.ndarray, given_query: np.ndarray, used: np.ndarray | None = None
) -> np.ndarray:
    length = np.count_nonzero(given_memories >= 0, axis=2)
    used = np.ones(length.shape, np.bool_) if used is None else used
    tf = frequencies(given_memories, given_query)
    return bm25(tf, length, used, parameters=LexicalParameters())


def test_a_word_is_counted_in_each_memory_and_no_word_is_never_found() -> None:
    found = frequencies(np.array([[[0, 1, 0], [2, -1, -1]]]), np.array([[0, 2, -1], [1, 1, 5]]))
    assert found.tolist() == [[[2, 0, 0], [0, 1, 0]], [[1, 1, 0], [0, 0, 0]]]


def test_the_score_is_that_of_the_formula() -> None:
    tf = np.array([[[2, 0], [0, 1], [0, 0]]])
    length = np.array([[4, 2, 3]])
    parameters = LexicalParameters(k_1=1.2, b=0.75)
    rarity = log(1 + 2.5 / 1.5)
    first = rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3))
    second = rarity * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3))
    found = bm25(tf, length, EVERYTHING, parameters=parameters)
    np.testing.assert_allclose(found, [[first, second, 0.0]], rtol=1e-12)


def test_without_b_length_does_not_matter_and_without_k_1_repetition_does_not() -> None:
    tf, length = np.array([[[1], [3], [0]]]), np.array([[9, 3, 1]])
    same = bm25(tf, length, EVERYTHING, parameters=LexicalParameters(k_1=0.0, b=0.75))
    assert same[0, 0] == same[0, 1] > 0
    even = np.array([[[1], [1], [0]]])
    flat = bm25(even, length, EVERYTHING, parameters=LexicalParameters(k_1=1.2, b=0.0))
    assert flat[0, 0] == flat[0, 1]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    found = _bm25(np.array([[[0], [0], [1]]]), np.array([[0, 1]]))
    assert found[0, 2] > found[0, 0]


def test_forgotten_memories_count_for_nothing() -> None:
    both = np.array([[[0, 1], [0, 2], [0, 0]]])
    used = np.array([[True, True, False]])
    found = _bm25(both, np.array([[0]]), used)
    np.testing.assert_array_equal(found[:, :2], _bm25(both[:, :2], np.array([[0]])))
    assert found[0, 2] == 0


def test_nothing_remembered_gives_nothing() -> None:
    unused = np.zeros((1, 2), np.bool_)
    assert _bm25(np.array([[[0], [1]]]), np.array([[0]]), unused).tolist() == [[0.0, 0.0]]
    assert spanned(np.array([[1.0, 2.0]]), unused).tolist() == [[0.0, 0.0]]
    assert scaled(np.array([[1.0, 2.0]]), unused).tolist() == [[0.0, 0.0]]
    assert _bm25(np.zeros((1, 0, 0), np.int64), np.array([[0]])).shape == (1, 0)
    assert spanned(np.zeros((1, 0)), np.zeros((1, 0), np.bool_)).shape == (1, 0)


@given(memories, query)
@settings(max_examples=60, deadline=None)
def test_scores_are_never_negative_and_positive_just_where_a_word_is_shared(
    given_memories: np.ndarray, given_query: np.ndarray
) -> None:
    score = _bm25(given_memories, given_query)
    shared = frequencies(given_memories, given_query).sum(axis=2) > 0
    np.testing.assert_array_equal(score > 0, shared)
    assert (score >= 0).all()


@given(memories, query, st.permutations(range(WORDS)))
@settings(max_examples=40, deadline=None)
def test_numbers_of_words_are_only_names(
    given_memories: np.ndarray, given_query: np.ndarray, names: list[int]
) -> None:
    renamed = np.array([*names, -1])
    np.testing.assert_array_equal(
        _bm25(given_memories, given_query), _bm25(renamed[given_memories], renamed[given_query])
    )


@given(memories, query, query)
@settings(max_examples=40, deadline=None)
def test_a_turn_has_the_same_bits_whatever_stands_beside_it(
    given_memories: np.ndarray, one: np.ndarray, other: np.ndarray
) -> None:
    rows = np.concatenate([given_memories, given_memories[:, ::-1]])
    together = _bm25(rows, np.concatenate([one, other]))
    np.testing.assert_array_equal(together[:1], _bm25(given_memories, one))


def test_scores_are_scaled_to_the_best_and_to_their_range() -> None:
    score, used = np.array([[2.0, 4.0, 8.0, 99.0]]), np.array([[True, True, True, False]])
    assert scaled(score, used).tolist() == [[0.25, 0.5, 1.0, 0.0]]
    assert spanned(score, used).tolist() == [[0.0, 1 / 3, 1.0, 0.0]]
    assert spanned(np.ones((1, 3)), EVERYTHING).tolist() == [[0.0, 0.0, 0.0]]
    assert scaled(np.zeros((1, 3)), EVERYTHING).tolist() == [[0.0, 0.0, 0.0]]


def _lent(score: list[float], order: list[int], occasion: list[int]) -> list[float]:
    parameters = HybridParameters(before=0.5, after=0.25, reach=2)
    used = np.ones((1, len(score)), np.bool_)
    found = lent(
        np.array([score], np.float64),
        np.array([order]),
        np.array([occasion]),
        used,
        parameters=parameters,
    )
    return [float(value) for value in found[0]]


def test_a_memory_lends_to_the_next_ones_and_to_the_one_before() -> None:
    assert _lent([0, 8, 0, 0, 0], [0, 1, 2, 3, 4], [1] * 5) == [2.0, 8.0, 4.0, 2.0, 0.0]


def test_nothing_is_lent_across_occasions() -> None:
    assert _lent([0, 8, 0], [0, 1, 2], [1, 2, 3]) == [0.0, 8.0, 0.0]


def test_a_forgotten_memory_leaves_a_gap() -> None:
    assert _lent([8, 0, 0], [0, 2, 5], [1] * 3) == [8.0, 2.0, 0.0]


def test_a_single_memory_has_no_neighbours() -> None:
    assert _lent([8], [0], [1]) == [8.0]


def test_unused_slots_neither_lend_nor_get() -> None:
    used = np.array([[True, False]])
    found = lent(
        np.array([[1.0, 8.0]]),
        np.array([[0, 1]]),
        np.array([[1, 1]]),
        used,
        parameters=HybridParameters(),
    )
    assert found.tolist() == [[1.0, 0.0]]


def test_without_weights_neighbours_change_nothing() -> None:
    score = np.array([[1.0, 2.0, 3.0]])
    parameters = HybridParameters(before=0.0, after=0.0)
    places = np.array([[0, 1, 2]])
    found = lent(score, places, np.zeros((1, 3), np.int64), EVERYTHING, parameters=parameters)
    np.testing.assert_array_equal(found, score)


def test_the_hybrid_score_is_the_sum_of_its_weighed_parts() -> None:
    parameters = HybridParameters(dense=0.5, importance=0.25, recency=0.125)
    found = hybrid(
        np.array([[2.0, 4.0, 0.0]]),
        np.array([[0.5, -1.0, 1.0]]),
        np.array([[1.0, 0.0, 1.0]]),
        np.array([[1.0, 1.0, 0.0]]),
        EVERYTHING,
        parameters=parameters,
    )
    expected = [0.5 + 0.25 + 0.25 + 0.125, 1.0 + 0.125, 0.5 + 0.25]
    np.testing.assert_allclose(found, [expected], rtol=1e-12)


@pytest.mark.parametrize("part", ["dense", "importance", "recency"])
def test_a_part_of_no_weight_does_not_count(part: str) -> None:
    weight: dict[str, Any] = {part: 1.0}
    nothing = HybridParameters(dense=0.0, importance=0.0, recency=0.0)
    ramp, flat = np.array([[0.0, 0.5, 1.0]]), np.zeros((1, 3))
    parts = {"cosine": flat, "importance": flat, "recency": flat}
    parts["cosine" if part == "dense" else part] = ramp
    found = hybrid(flat, **parts, used=EVERYTHING, parameters=replace(nothing, **weight))
    np.testing.assert_array_equal(found, ramp)
