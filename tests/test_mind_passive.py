"""Memories that feel like the moment come back, each personality leaning its own way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.mind import passive

PARAMETERS = passive.PassiveParameters()

UNIT = st.floats(0, 1)
AFFECT = st.tuples(st.floats(-1, 1), UNIT, UNIT)
GAINS = st.tuples(UNIT, UNIT, UNIT)
FIVE = st.tuples(UNIT, UNIT, UNIT, UNIT, UNIT)
O, C, E, A, N = range(5)  # noqa: E741 - the field's letters


def match(memory: tuple[float, ...], state: tuple[float, ...]) -> float:
    return float(passive.affect_match(np.array([[memory]]), np.array([state]))[0, 0])


def attached(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    gains: tuple[float, ...],
    *,
    overgeneral: bool = True,
    **switches: bool,
) -> float:
    relation = passive.relation_attachment(
        np.array([[memory]]),
        np.array([state]),
        np.array([[overgeneral]]),
        anxiety=np.array([traits[0]]),
        avoidance=np.array([traits[1]]),
        gains=np.array([gains]),
        parameters=PARAMETERS,
        **switches,
    )
    assert relation.shape == (1, 1)
    return float(relation[0, 0])


def big_five(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    gains: tuple[float, ...],
    *,
    overgeneral: bool = True,
    **switches: bool,
) -> float:
    relation = passive.relation_big_five(
        np.array([[memory]]),
        np.array([state]),
        np.array([[overgeneral]]),
        traits=np.array([traits]),
        gains=np.array([gains]),
        **switches,
    )
    assert relation.shape == (1, 1)
    return float(relation[0, 0])


def with_trait(traits: tuple[float, ...], trait: int, value: float) -> tuple[float, ...]:
    return tuple(value if place == trait else other for place, other in enumerate(traits))


@given(AFFECT, AFFECT)
def test_the_match_is_one_minus_the_distance_and_does_not_care_which_is_which(
    memory: tuple[float, ...], state: tuple[float, ...]
) -> None:
    expected = 1 - math.dist(memory, state) / math.sqrt(6)
    assert match(memory, state) == pytest.approx(expected, abs=1e-12)
    assert 0 <= match(memory, state) <= 1
    assert match(memory, state) == match(state, memory)


def test_the_match_is_one_for_the_same_affect_and_zero_for_opposite_ends() -> None:
    assert match((0.3, 0.2, 0.9), (0.3, 0.2, 0.9)) == 1
    assert match((-1, 0, 0), (1, 1, 1)) == 0


@given(AFFECT, AFFECT, UNIT, UNIT, GAINS)
def test_the_relation_to_an_attachment_style_is_the_formula(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    anxiety: float,
    avoidance: float,
    gains: tuple[float, ...],
) -> None:
    mu, mu_d, kappa = gains
    leaning = mu * anxiety * max(-memory[0], 0) + mu_d * avoidance * memory[2]
    vague = kappa * (0.25 * avoidance + max(-state[0], 0) * (0.5 + 0.5 * avoidance))
    expected = match(memory, state) + leaning + vague
    found = attached(memory, state, (anxiety, avoidance), gains)
    assert found == pytest.approx(expected, abs=1e-12)


@given(AFFECT, AFFECT, FIVE, GAINS, UNIT)
def test_the_relation_to_big_five_traits_is_the_formula(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    gains: tuple[float, ...],
    kappa: float,
) -> None:
    mu, mu_pos, mu_d = gains
    leaning = (
        mu * traits[N] * max(-memory[0], 0)
        + mu_pos * (traits[E] + traits[A]) / 2 * max(memory[0], 0)
        + mu_d * (1 - traits[A]) * memory[2]
    )
    vague = kappa * ((1 - traits[C]) + traits[N] + max(-state[0], 0) * state[1])
    expected = match(memory, state) + leaning + vague
    found = big_five(memory, state, traits, (*gains, kappa))
    assert found == pytest.approx(expected, abs=1e-12)


@given(AFFECT, AFFECT, UNIT, UNIT, UNIT, GAINS, st.sampled_from([True, False]))
def test_more_anxiety_favours_bad_memories_and_no_others(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    one: float,
    other: float,
    avoidance: float,
    gains: tuple[float, ...],
    overgeneral: bool,  # noqa: FBT001 - hypothesis fills it in
) -> None:
    calm, anxious = (
        attached(memory, state, (x, avoidance), gains, overgeneral=overgeneral)
        for x in sorted((one, other))
    )
    assert anxious >= calm
    if memory[0] >= 0:
        assert anxious == calm


@given(AFFECT, AFFECT, UNIT, UNIT, UNIT, GAINS)
def test_more_avoidance_never_takes_from_a_memory_and_favours_the_dominant(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    one: float,
    other: float,
    anxiety: float,
    gains: tuple[float, ...],
) -> None:
    low, high = sorted((one, other))
    near = attached(memory, state, (anxiety, low), gains)
    assert attached(memory, state, (anxiety, high), gains) >= near - 1e-15
    specific_near, specific_far = (
        attached(memory, state, (anxiety, x), gains, overgeneral=False) for x in (low, high)
    )
    expected = gains[1] * (high - low) * memory[2]
    assert specific_far - specific_near == pytest.approx(expected, abs=1e-12)


@given(AFFECT, UNIT, UNIT, UNIT, UNIT, UNIT)
def test_a_darker_state_never_makes_overgeneral_recall_less_likely(
    memory: tuple[float, ...], one: float, other: float, anxiety: float, avoidance: float, k: float
) -> None:
    def favour(valence: float) -> float:
        arguments = memory, (valence, 0.4, 0.5), (anxiety, avoidance), (0.6, 0.6, k)
        return attached(*arguments) - attached(*arguments, overgeneral=False)

    dark, bright = sorted((-one, -other))
    assert favour(dark) >= favour(bright) - 1e-12
    expected = k * (0.25 * avoidance - dark * (0.5 + 0.5 * avoidance))
    assert favour(dark) == pytest.approx(expected, abs=1e-12)


@given(AFFECT, AFFECT, FIVE, UNIT, UNIT, GAINS)
def test_more_neuroticism_favours_bad_memories(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    one: float,
    other: float,
    gains: tuple[float, ...],
) -> None:
    low, high = (
        big_five(memory, state, with_trait(traits, N, x), (*gains, 0.5), overgeneral=False)
        for x in sorted((one, other))
    )
    assert high >= low
    if memory[0] >= 0:
        assert high == low


@given(AFFECT, AFFECT, FIVE, UNIT, UNIT, GAINS)
def test_more_extraversion_favours_good_memories(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    one: float,
    other: float,
    gains: tuple[float, ...],
) -> None:
    low, high = (
        big_five(memory, state, with_trait(traits, E, x), (*gains, 0.5))
        for x in sorted((one, other))
    )
    assert high >= low
    if memory[0] <= 0:
        assert high == low


@given(AFFECT, AFFECT, FIVE, UNIT, UNIT, GAINS)
def test_more_agreeableness_favours_good_memories_and_disfavours_dominant_ones(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    one: float,
    other: float,
    gains: tuple[float, ...],
) -> None:
    low, high = sorted((one, other))
    less, more = (
        big_five(memory, state, with_trait(traits, A, x), (*gains, 0.5)) for x in (low, high)
    )
    good = gains[1] * 0.5 * max(memory[0], 0.0)
    expected = (high - low) * (good - gains[2] * memory[2])
    assert more - less == pytest.approx(expected, abs=1e-12)


@given(AFFECT, AFFECT, FIVE, GAINS, UNIT)
def test_overgeneral_recall_grows_with_carelessness_neuroticism_and_stirred_distress(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    gains: tuple[float, ...],
    k: float,
) -> None:
    arguments = memory, state, traits, (*gains, k)
    favour = big_five(*arguments) - big_five(*arguments, overgeneral=False)
    distress = max(-state[0], 0.0) * state[1]
    assert favour == pytest.approx(k * (1 - traits[C] + traits[N] + distress), abs=1e-12)


@given(AFFECT, AFFECT, FIVE, GAINS)
def test_openness_is_no_part_of_the_relation(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    gains: tuple[float, ...],
) -> None:
    closed, opened = (
        big_five(memory, state, with_trait(traits, O, x), (*gains, 0.5)) for x in (0.0, 1.0)
    )
    assert closed == opened


@given(AFFECT, AFFECT, FIVE, GAINS, st.sampled_from([True, False]))
def test_without_personality_only_the_match_is_left(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    gains: tuple[float, ...],
    specificity: bool,  # noqa: FBT001 - hypothesis fills it in
) -> None:
    switches = {"personality": False, "specificity": specificity}
    expected = match(memory, state)
    assert attached(memory, state, traits[:2], gains, **switches) == expected
    assert big_five(memory, state, traits, (*gains, 0.5), **switches) == expected


@given(AFFECT, AFFECT, FIVE, GAINS)
def test_without_specificity_an_overgeneral_memory_is_like_any_other(
    memory: tuple[float, ...],
    state: tuple[float, ...],
    traits: tuple[float, ...],
    gains: tuple[float, ...],
) -> None:
    for relation, given_traits, given_gains in (
        (attached, traits[:2], gains),
        (big_five, traits, (*gains, 0.5)),
    ):
        arguments: Any = (memory, state, given_traits, given_gains)
        specific = relation(*arguments, overgeneral=False)
        assert relation(*arguments, specificity=False) == specific
        assert relation(*arguments, overgeneral=False, specificity=False) == specific


@given(UNIT, UNIT)
def test_the_weight_of_the_relation_rises_with_the_trait_unless_personality_is_off(
    one: float, other: float
) -> None:
    trait = np.array(sorted((one, other)))
    weight = passive.relation_weight(trait, parameters=PARAMETERS)
    assert weight[1] >= weight[0] >= 0.6
    np.testing.assert_allclose(weight, 0.6 + 0.3 * trait, rtol=1e-12)
    bare = passive.relation_weight(trait, parameters=PARAMETERS, personality=False)
    assert bare.tolist() == [0.6, 0.6]


def test_the_temperature_is_the_fifth_gain_unless_personality_is_off() -> None:
    gains = np.array([[0.1, 0.2, 0.3, 0.4, 0.02], [0.6, 0.7, 0.8, 0.9, 0.5]])
    found = passive.temperature_big_five(gains, parameters=PARAMETERS)
    assert found.tolist() == [0.02, 0.5]
    bare = passive.temperature_big_five(gains, parameters=PARAMETERS, personality=False)
    assert bare.tolist() == [0.12, 0.12]


def test_the_fifth_gain_does_not_touch_the_relation() -> None:
    memory, state, traits = (-0.5, 0.2, 0.9), (-0.3, 0.4, 0.5), (0.1, 0.2, 0.3, 0.4, 0.5)
    four = (0.1, 0.2, 0.3, 0.4)
    assert big_five(memory, state, traits, four) == big_five(memory, state, traits, (*four, 0.3))


@given(UNIT, UNIT, st.floats(0, 4), UNIT)
def test_the_score_is_the_weighted_sum_of_its_parts(
    semantic: float, retention: float, relation: float, trait: float
) -> None:
    weight = passive.relation_weight(np.array([trait]), parameters=PARAMETERS)
    result = passive.score(
        np.array([[semantic]]),
        np.array([[relation]]),
        np.array([[retention]]),
        weight=weight,
        parameters=PARAMETERS,
    )
    expected = semantic + 0.6 * (1 + 0.5 * trait) * relation + 0.3 * retention
    assert float(result[0, 0]) == pytest.approx(expected, abs=1e-12)


def test_the_weights_of_similarity_and_retention_are_parameters() -> None:
    part = np.array([[0.5]])
    other = passive.PassiveParameters(alpha=2.0, gamma=4.0)
    result = passive.score(part, part, part, weight=np.array([1.0]), parameters=other)
    assert result.tolist() == [[3.5]]


def test_the_overgeneral_constants_are_parameters() -> None:
    other = passive.PassiveParameters(phi_0=1.0, phi_a=0.0)
    one = np.ones(1)
    arguments = np.array([[(0.0, 0.0, 0.0)]]), np.array([(-0.5, 0.0, 0.0)])

    def relation(*, overgeneral: bool, avoidance: float) -> float:
        found = passive.relation_attachment(
            *arguments,
            np.array([[overgeneral]]),
            anxiety=one,
            avoidance=np.array([avoidance]),
            gains=np.ones((1, 3)),
            parameters=other,
        )
        return float(found[0, 0])

    for avoidance, expected in ((0.0, 0.0), (1.0, 1.5)):
        favour = relation(overgeneral=True, avoidance=avoidance) - relation(
            overgeneral=False, avoidance=avoidance
        )
        assert favour == pytest.approx(expected, abs=1e-12)


def test_each_persona_brings_its_own_traits_state_and_gains_to_its_own_memories() -> None:
    rows = [
        ((-0.5, 0.2, 0.9), (-0.3, 0.4, 0.5), (0.1, 0.2, 0.3, 0.4, 0.5), (0.1, 0.2, 0.3, 0.4)),
        ((0.7, 0.6, 0.1), (0.3, 0.9, 0.2), (0.9, 0.8, 0.7, 0.6, 0.5), (0.9, 0.8, 0.7, 0.6)),
    ]
    memory, state, traits, gains = (np.array(column) for column in zip(*rows, strict=True))
    both = np.stack([memory, memory[::-1]], axis=1)
    overgeneral = np.array([[True, False], [False, True]])
    found = passive.relation_big_five(both, state, overgeneral, traits=traits, gains=gains)
    attachment = passive.relation_attachment(
        both,
        state,
        overgeneral,
        anxiety=traits[:, 0],
        avoidance=traits[:, 1],
        gains=gains[:, :3],
        parameters=PARAMETERS,
    )
    for turn in range(2):
        for slot in range(2):
            felt, label = tuple(both[turn, slot].tolist()), bool(overgeneral[turn, slot])
            _, moment, five, four = rows[turn]
            expected = big_five(felt, moment, five, four, overgeneral=label)
            assert found[turn, slot] == expected
            expected = attached(felt, moment, five, four[:3], overgeneral=label)
            assert attachment[turn, slot] == expected


def test_no_memories_have_no_relation() -> None:
    memory, label = np.zeros((2, 0, 3)), np.zeros((2, 0), np.bool_)
    found = passive.relation_big_five(
        memory, np.zeros((2, 3)), label, traits=np.ones((2, 5)), gains=np.ones((2, 5))
    )
    assert found.shape == (2, 0)
