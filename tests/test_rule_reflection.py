"""Reflections and probes by rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rule_requests import make_cast, make_probes, make_reflections

from simulation.models.base import SOURCES
from simulation.models.rule import RuleModel, RuleParameters
from simulation.rng import Streams

DEPTH = 3  # dimensions before the first claim


def model(**given: float) -> RuleModel:
    return RuleModel(parameters=RuleParameters(**given), streams=Streams(1))


def test_reflection_sharpens_what_moved_and_names_it() -> None:
    beliefs = np.full((1, 6), 0.5)
    before = beliefs.copy()
    beliefs[0, DEPTH + 1] = 0.7
    reply = model(consolidation=0.5).reflect(make_reflections(beliefs, before))
    assert reply.revised[0, DEPTH + 1] == pytest.approx(0.7 + 0.5 * 0.2 * 4 * 0.7 * 0.3)
    assert np.isnan(np.delete(reply.revised[0], DEPTH + 1)).all()
    assert reply.claim.tolist() == [1]
    assert reply.stance[0] == pytest.approx(2.0 * reply.revised[0, DEPTH + 1] - 1.0)
    assert reply.source.tolist() == [SOURCES.index("rule")]
    assert "It keeps you full until lunch" in reply.memories[0][0]


def test_a_reflection_in_place_of_a_failed_one_leaves_beliefs_alone() -> None:
    beliefs, before = np.full((2, 6), 0.5), np.full((2, 6), 0.5)
    beliefs[:, 0] = 0.2
    reply = model().consolidate(make_reflections(beliefs, before))
    assert np.isnan(reply.revised).all()
    assert reply.source.tolist() == [SOURCES.index("fallback")] * 2
    assert reply.claim.tolist() == [-1, -1]
    assert reply.stance.tolist() == [0.0, 0.0]
    assert [len(texts) for texts in reply.memories] == [1, 1]


MEMORIES = [[(0, 0.9, 1), (1, 0.6, 2), (2, 0.3, 3)]] * 40
TEXTS = ("A price.", "Another ad.", "It is dry and chalky.")


def reflected(
    target: int, claims: list[int], felt: tuple[float, ...] = (0.0,) * 3, *, fallback: bool = False
) -> set[str]:
    """Return which of the three memories the reflections quote after one target moved."""
    before = np.full((40, 6), 0.5)
    beliefs = before.copy()
    beliefs[:, target] = 0.3
    beliefs[:, DEPTH] += 0.01  # C1, by a little and the other way
    if target < DEPTH:
        beliefs[:, DEPTH + 2] = 0.35  # what lowers a dimension is C3
    views = [list(zip(claims, felt[: len(claims)], strict=True))] * 40
    requests = make_reflections(
        beliefs, before, texts=TEXTS, memories=MEMORIES, memory_views=views
    )
    reply = model().consolidate(requests) if fallback else model().reflect(requests)
    texts = [text for (text,) in reply.memories]
    found = [quote for quote in TEXTS if any(quote.rstrip(".") in text for text in texts)]
    assert all(sum(quote.rstrip(".") in text for quote in TEXTS) == 1 for text in texts)
    return set(found)


def test_a_reflection_quotes_the_most_important_memory_of_the_claim_that_moved_most() -> None:
    assert reflected(DEPTH + 1, [0, -1, 1]) == {TEXTS[2]}
    assert reflected(DEPTH + 1, [0, 1, 1]) == {TEXTS[1]}


def test_it_rather_quotes_what_felt_the_way_that_the_belief_went() -> None:
    assert reflected(DEPTH + 1, [0, 1, 1], (0.0, -0.1, -0.6)) == {TEXTS[2]}
    assert reflected(DEPTH + 1, [0, 1, 1], (-0.9, 0.1, 0.6)) == {TEXTS[1]}
    assert reflected(2, [2, 1, 2], (0.3, -0.3, -0.3)) == {TEXTS[2]}


def test_without_a_memory_of_that_claim_it_quotes_the_most_important_of_all() -> None:
    assert reflected(DEPTH + 1, [0, -1, 2]) == {TEXTS[0]}
    assert reflected(DEPTH + 1, []) == {TEXTS[0]}


def test_of_a_dimension_it_quotes_what_is_about_the_claim_that_moved_it() -> None:
    assert reflected(2, [0, 1, 2]) == {TEXTS[2]}  # trust: C3 weighs 0.5 in it
    assert reflected(1, [2, 1, 1]) == {TEXTS[0]}  # fit: no claim lowered it


def test_in_place_of_a_failed_one_it_quotes_the_most_important_memory() -> None:
    assert reflected(DEPTH + 1, [0, -1, 1], fallback=True) == {TEXTS[0]}


def test_a_reflection_depends_on_its_own_row_only() -> None:
    rng = np.random.default_rng(3)
    beliefs, before = rng.random((20, 6)), rng.random((20, 6))
    cast = make_cast(20)
    whole = model().reflect(make_reflections(beliefs, before, cast=cast))
    part = make_reflections(beliefs[7:9], before[7:9], cast=cast)
    reply = model().reflect(replace(part, row=np.array([7, 8])))
    assert list(reply.memories) == list(whole.memories)[7:9]
    np.testing.assert_array_equal(reply.revised, whole.revised[7:9])


def test_probes_are_answered_from_the_attributes() -> None:
    assert model().answer_probes(make_probes(50)).answer == ["nurse"] * 50


def test_the_drift_rate_is_the_share_of_contradictions() -> None:
    answers = model(drift_rate=0.3).answer_probes(make_probes(4000)).answer
    assert set(answers) == {"nurse", "pilot"}
    assert answers.count("pilot") / 4000 == pytest.approx(0.3, abs=0.025)


def test_who_drifts_differs_between_attributes_and_not_with_the_batch() -> None:
    some, other = (
        model(drift_rate=0.5).answer_probes(make_probes(200, attribute=a)).answer
        for a in ("occupation", "region")
    )
    assert some != other
    assert model(drift_rate=0.5).answer_probes(make_probes(90)).answer == some[:90]


def test_without_another_answer_nobody_drifts() -> None:
    answers = model(drift_rate=1.0).answer_probes(make_probes(20, other="")).answer
    assert answers == ["nurse"] * 20


def test_in_a_brief_without_claims_it_quotes_the_most_important_memory() -> None:
    cast = make_cast(1, claims=(), claim_texts=(), weights=np.zeros((0, 3)))
    before = np.full((1, 3), 0.5)
    memories, views = [[(1, 0.9, 1), (0, 0.2, 2)]], [[(-1, 0.0), (-1, 0.0)]]
    requests = make_reflections(
        before + 0.1, before, cast=cast, texts=TEXTS, memories=memories, memory_views=views
    )
    assert "Another ad" in model().reflect(requests).memories[0][0]
