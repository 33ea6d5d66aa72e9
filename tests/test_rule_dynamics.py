"""The rule model against the closed forms of the models that it contains, on small graphs.

Everyone posts in every tick and sees the posts of all neighbours in the next one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rule_requests import allow, make_cast, make_feed, make_reflections, make_requests

from simulation.models.base import ACTION_CODE
from simulation.models.rule import RuleModel, RuleParameters
from simulation.rng import Streams

if TYPE_CHECKING:
    from rule_requests import Setting

    from simulation.models.base import Cast, FloatArray, IntArray, TurnRequests

RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
STAR = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]
LOPSIDED = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 6)]
PURE: Setting = {"persuasion": 0.0, "confidence": 1.0}


def model(**given: float) -> RuleModel:
    return RuleModel(parameters=RuleParameters(**given), streams=Streams(3))


def adjacency(edges: list[tuple[int, int]]) -> FloatArray:
    size = max(max(edge) for edge in edges) + 1
    matrix = np.zeros((size, size))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1.0
    return matrix


def neighbours(matrix: FloatArray) -> IntArray:
    """Return the neighbours of each node, -1 past the last."""
    width = int(matrix.sum(axis=1).max())
    found = np.full((len(matrix), width), -1, dtype=np.int64)
    for i, line in enumerate(matrix):
        who = np.flatnonzero(line)
        found[i, : len(who)] = who
    return found


def one_claim(people: int) -> Cast:
    return make_cast(
        people,
        dimensions=("trust",),
        claims=("C1",),
        claim_texts=("It works.",),
        weights=np.array([[0.5]]),
    )


def request(
    cast: Cast,
    beliefs: FloatArray,
    first: FloatArray,
    seen: IntArray,
    stance: FloatArray,
    tick: int,
) -> TurnRequests:
    post = np.where(seen >= 0, tick * len(cast.ids) + seen, -1)
    feed = make_feed(
        *seen.shape,
        post=post,
        author=seen,
        claim=np.where(seen >= 0, 0, -1),
        stance=np.where(seen >= 0, stance[seen], 0.0),
        credibility=np.full(seen.shape, 0.6),
    )
    return make_requests(
        len(seen),
        cast=cast,
        tick=tick,
        beliefs=beliefs,
        initial=first,
        feed=feed,
        allowed=allow(len(seen), "post"),
    )


def run(rule: RuleModel, matrix: FloatArray, start: FloatArray, ticks: int) -> list[FloatArray]:
    """Return the credences at every tick, the start first."""
    cast = one_claim(len(matrix))
    first = np.column_stack([np.full(len(start), 0.5), start])
    beliefs, stance = first, 2.0 * start - 1.0
    path = [start]
    seen = neighbours(matrix)
    for tick in range(1, ticks + 1):
        answer = rule.react(request(cast, beliefs, first, seen, stance, tick))
        assert (answer.action == ACTION_CODE["post"]).all()
        beliefs = np.clip(beliefs + answer.change, 0.0, 1.0)
        stance = answer.stance
        path.append(beliefs[:, 1])
    return path


def averaging(matrix: FloatArray) -> FloatArray:
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("edges", [RING, STAR, LOPSIDED])
@pytest.mark.parametrize("influence", [0.2, 0.7, 1.0])
def test_with_influence_alone_it_is_degroot(
    edges: list[tuple[int, int]], influence: float
) -> None:
    matrix = adjacency(edges)
    start = np.linspace(0.05, 0.95, len(matrix)) ** 1.5
    path = run(model(influence=influence, **PURE), matrix, start, 25)
    step = (1.0 - influence) * np.eye(len(matrix)) + influence * averaging(matrix)
    for tick, credence in enumerate(path):
        closed = np.linalg.matrix_power(step, tick) @ start
        np.testing.assert_allclose(credence, closed, rtol=0.0, atol=1e-12)


def test_an_open_population_converges_to_the_degree_weighted_mean() -> None:
    matrix = adjacency(LOPSIDED)
    start = np.linspace(0.0, 1.0, len(matrix))
    last = run(model(influence=0.5, **PURE), matrix, start, 1500)[-1]
    degree = matrix.sum(axis=1)
    np.testing.assert_allclose(last, (degree * start).sum() / degree.sum(), atol=1e-12)


@pytest.mark.parametrize("edges", [RING, STAR, LOPSIDED])
def test_with_stubbornness_it_is_friedkin_johnsen(edges: list[tuple[int, int]]) -> None:
    matrix = adjacency(edges)
    influence, stubbornness = 0.5, 0.2
    start = np.linspace(0.9, 0.1, len(matrix)) ** 2
    path = run(model(influence=influence, stubbornness=stubbornness, **PURE), matrix, start, 400)
    one = np.eye(len(matrix))
    step = (1.0 - influence - stubbornness) * one + influence * averaging(matrix)
    rest = np.linalg.solve(one - step, stubbornness * start)  # where the map stands still
    for tick, credence in enumerate(path):
        closed = rest + np.linalg.matrix_power(step, tick) @ (start - rest)
        np.testing.assert_allclose(credence, closed, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(path[-1], rest, rtol=0.0, atol=1e-12)
    assert np.ptp(rest) > 0.05  # they keep disagreeing


@pytest.mark.parametrize("persuasion", [0.0, 0.35])
def test_two_camps_beyond_the_bound_of_confidence_stay_apart(persuasion: float) -> None:
    size = 24
    matrix = np.ones((size, size)) - np.eye(size)
    rng = np.random.default_rng(4)
    low = np.arange(size) < size // 2
    start = np.where(low, 0.1, 0.9) + rng.uniform(-0.08, 0.08, size)
    rule = model(persuasion=persuasion, influence=0.4, confidence=0.5)
    last = run(rule, matrix, start, 60)[-1]
    assert last[low].max() < 0.2
    assert last[~low].min() > 0.8
    assert np.ptp(last[low]) < 1e-3
    assert np.ptp(last[~low]) < 1e-3


def test_the_same_camps_merge_when_everyone_listens_to_everyone() -> None:
    size = 24
    matrix = np.ones((size, size)) - np.eye(size)
    start = np.where(np.arange(size) < size // 2, 0.1, 0.9)
    last = run(model(influence=0.4, **PURE), matrix, start, 60)[-1]
    np.testing.assert_allclose(last, 0.5, atol=1e-9)


def test_credences_move_the_dimension_by_spillover_and_weight() -> None:
    matrix = adjacency(RING)
    start = np.linspace(0.1, 0.9, 5)
    cast = one_claim(5)
    beliefs = np.column_stack([np.full(5, 0.5), start])
    rule = model(influence=0.5, spillover=0.4, **PURE)
    answer = rule.react(request(cast, beliefs, beliefs, neighbours(matrix), 2.0 * start - 1.0, 1))
    np.testing.assert_allclose(answer.change[:, 0], 0.4 * 0.5 * answer.change[:, 1], atol=1e-15)


@pytest.mark.parametrize("start", [0.5, 0.23])
def test_without_persuasion_influence_and_stubbornness_nothing_moves(start: float) -> None:
    matrix = adjacency(STAR)
    rule = model(persuasion=0.0, influence=0.0, stubbornness=0.0, consolidation=1.0)
    credence = np.linspace(start / 2.0, start, 6)
    path = run(rule, matrix, credence, 5)
    for later in path:
        assert later.tolist() == credence.tolist()
    beliefs = np.column_stack([np.full(6, start), path[-1]])
    before = np.column_stack([np.full(6, start), credence])
    reply = rule.reflect(make_reflections(beliefs, before, cast=one_claim(6)))
    assert np.isnan(reply.revised).all()


def test_nothing_moves_whatever_else_is_set_and_nothing_is_said_to_be_a_cause() -> None:
    rule = model(persuasion=0.0, influence=0.0, memory=1.0, attention_floor=1.0, spillover=1.0)
    requests = make_requests(50, beliefs=np.full((50, 6), 0.31))
    answer = rule.react(replace(requests, heard=np.ones((50, 3, 2))))
    assert not answer.change.any()
    assert (answer.cause == -1).all()
