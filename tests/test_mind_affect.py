"""Traits bend how a text is felt, and the state follows what is felt."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.mind import affect

PARAMETERS = affect.AppraisalParameters()

UNIT = st.floats(0, 1)
AFFECT = st.tuples(st.floats(-1, 1), UNIT, UNIT)
TRAITS = st.tuples(UNIT, UNIT, UNIT, UNIT, UNIT)
O, C, E, A, N = range(5)  # noqa: E741 - the field's letters


def attached(
    raw: tuple[float, ...], anxiety: float, avoidance: float
) -> tuple[float, float, float]:
    felt = affect.appraise_attachment(
        np.array([raw]), np.array([anxiety]), np.array([avoidance]), parameters=PARAMETERS
    )
    valence, arousal, dominance = felt[0].tolist()
    return valence, arousal, dominance


def big_five(raw: tuple[float, ...], traits: list[float]) -> tuple[float, float, float]:
    felt = affect.appraise_big_five(np.array([raw]), np.array([traits]), parameters=PARAMETERS)
    valence, arousal, dominance = felt[0].tolist()
    return valence, arousal, dominance


def with_trait(traits: tuple[float, ...], trait: int, value: float) -> list[float]:
    return [value if place == trait else other for place, other in enumerate(traits)]


def within(vector: np.ndarray) -> bool:
    return bool(((vector >= affect.LOWEST) & (vector <= affect.HIGHEST)).all())


@given(AFFECT, UNIT, UNIT, TRAITS)
def test_an_appraised_affect_stays_in_its_ranges(
    raw: tuple[float, ...], anxiety: float, avoidance: float, traits: tuple[float, ...]
) -> None:
    assert within(np.array(attached(raw, anxiety, avoidance)))
    assert within(np.array(big_five(raw, list(traits))))


@given(AFFECT, UNIT, UNIT, UNIT)
def test_more_anxiety_never_brightens_calms_or_empowers(
    raw: tuple[float, ...], one: float, other: float, avoidance: float
) -> None:
    calm, anxious = (attached(raw, x, avoidance) for x in sorted((one, other)))
    assert anxious[0] <= calm[0]
    assert anxious[1] >= calm[1]
    assert anxious[2] <= calm[2]


@given(AFFECT, UNIT, UNIT, UNIT)
def test_more_avoidance_damps_arousal_adds_dominance_and_leaves_valence(
    raw: tuple[float, ...], one: float, other: float, anxiety: float
) -> None:
    near, distant = (attached(raw, anxiety, x) for x in sorted((one, other)))
    assert distant[0] == near[0]
    assert distant[1] <= near[1]
    assert distant[2] >= near[2]


@given(AFFECT, UNIT, UNIT, TRAITS)
def test_more_neuroticism_never_brightens_or_calms_and_leaves_dominance(
    raw: tuple[float, ...], one: float, other: float, traits: tuple[float, ...]
) -> None:
    low, high = (big_five(raw, with_trait(traits, N, x)) for x in sorted((one, other)))
    assert high[0] <= low[0]
    assert high[1] >= low[1]
    assert high[2] == low[2]


@given(AFFECT, UNIT, UNIT, TRAITS, st.sampled_from([E, A]))
def test_more_extraversion_or_agreeableness_only_brightens_what_is_bright(
    raw: tuple[float, ...], one: float, other: float, traits: tuple[float, ...], trait: int
) -> None:
    low, high = (big_five(raw, with_trait(traits, trait, x)) for x in sorted((one, other)))
    assert high[0] >= low[0]
    if raw[0] <= 0:
        assert high[0] == low[0]
    assert high[1] == low[1]
    assert high[2] <= low[2] if trait == A else high[2] == low[2]


@given(AFFECT, UNIT, UNIT, TRAITS, st.sampled_from([O, C]))
def test_openness_and_conscientiousness_do_not_bend_a_raw_affect(
    raw: tuple[float, ...], one: float, other: float, traits: tuple[float, ...], trait: int
) -> None:
    assert big_five(raw, with_trait(traits, trait, one)) == big_five(
        raw, with_trait(traits, trait, other)
    )


def clipped(*vector: float) -> np.ndarray:
    bounds = zip(vector, affect.LOWEST, affect.HIGHEST, strict=True)
    return np.array([min(high, max(low, x)) for x, low, high in bounds])


@given(AFFECT, UNIT, UNIT)
def test_the_appraisal_of_an_attachment_style_is_the_formula(
    raw: tuple[float, ...], anxiety: float, avoidance: float
) -> None:
    valence, arousal, dominance = raw
    threat = anxiety * max(-valence, 0)
    expected = clipped(
        valence - 0.5 * threat,
        arousal * (1 - 0.4 * avoidance) + 0.4 * threat,
        dominance - 0.2 * anxiety + 0.2 * avoidance,
    )
    np.testing.assert_allclose(attached(raw, anxiety, avoidance), expected, atol=1e-12)


@given(AFFECT, TRAITS)
def test_the_appraisal_of_big_five_traits_is_the_formula(
    raw: tuple[float, ...], traits: tuple[float, ...]
) -> None:
    valence, arousal, dominance = raw
    threat = traits[N] * max(-valence, 0)
    expected = clipped(
        valence - 0.5 * threat + 0.4 * (traits[E] + traits[A]) / 2 * max(valence, 0),
        arousal + 0.4 * threat,
        dominance + 0.2 * (1 - traits[A]),
    )
    np.testing.assert_allclose(big_five(raw, list(traits)), expected, atol=1e-12)


@given(AFFECT)
def test_who_has_no_attachment_trait_feels_the_raw_affect(raw: tuple[float, ...]) -> None:
    assert attached(raw, 0.0, 0.0) == raw


def test_every_parameter_is_felt_where_it_should_be() -> None:
    zero = dict.fromkeys(affect.AppraisalParameters.__dataclass_fields__, 0.0)
    grim, glad = (-0.4, 0.3, 0.5), (0.4, 0.3, 0.5)
    effects = {
        "kappa_v": (attached, grim, 0, -0.4),
        "kappa_a": (attached, grim, 1, 0.4),
        "kappa_b": (attached, grim, 1, -0.3),
        "kappa_d": (attached, grim, 2, -1.0),
        "kappa_e": (attached, grim, 2, 1.0),
        "kappa_p": (big_five, glad, 0, 0.4),
    }
    assert effects.keys() == zero.keys()
    for name, (kind, raw, component, slope) in effects.items():
        parameters = affect.AppraisalParameters(**{**zero, name: 0.1})
        one = np.ones(1)
        if kind is attached:
            felt = affect.appraise_attachment(np.array([raw]), one, one, parameters=parameters)
        else:
            felt = affect.appraise_big_five(
                np.array([raw]), np.ones((1, 5)), parameters=parameters
            )
        expected = np.array([raw])
        expected[0, component] += 0.1 * slope
        np.testing.assert_allclose(felt, expected, atol=1e-12, err_msg=name)


@given(st.lists(st.tuples(AFFECT, UNIT, UNIT, TRAITS), min_size=1, max_size=9))
def test_a_persona_feels_the_same_alone_and_in_company(
    rows: list[tuple[tuple[float, ...], float, float, tuple[float, ...]]],
) -> None:
    raw, anxiety, avoidance, traits = (np.array(column) for column in zip(*rows, strict=True))
    together = affect.appraise_attachment(raw, anxiety, avoidance, parameters=PARAMETERS)
    ocean = affect.appraise_big_five(raw, traits, parameters=PARAMETERS)
    for row, (one, anx, avo, five) in enumerate(rows):
        assert tuple(together[row].tolist()) == attached(one, anx, avo)
        assert tuple(ocean[row].tolist()) == big_five(one, list(five))


@given(AFFECT, AFFECT, UNIT)
def test_a_state_lies_between_the_old_one_and_what_is_felt(
    before: tuple[float, ...], felt: tuple[float, ...], rate: float
) -> None:
    old, new = np.array([before]), np.array([felt])
    state = affect.update_state(old, new, rate=rate)
    assert within(state)
    assert (state >= np.minimum(old, new) - 1e-15).all()
    assert (state <= np.maximum(old, new) + 1e-15).all()


@given(AFFECT, AFFECT)
def test_the_rate_is_the_share_of_the_new(
    before: tuple[float, ...], felt: tuple[float, ...]
) -> None:
    old, new = np.array([before]), np.array([felt])
    assert (affect.update_state(old, new, rate=0.0) == old).all()
    assert (affect.update_state(old, new, rate=1.0) == new).all()
    np.testing.assert_allclose(affect.update_state(old, new), (old + new) / 2, atol=1e-15)


@given(AFFECT, AFFECT)
def test_a_memory_keeps_the_mean_of_what_came_in_and_what_was_answered(
    e_in: tuple[float, ...], e_reply: tuple[float, ...]
) -> None:
    kept = affect.memory_affect(np.array([e_in]), np.array([e_reply]))
    assert kept[0].tolist() == [(a + b) / 2 for a, b in zip(e_in, e_reply, strict=True)]
    assert within(kept)


@given(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 3))
def test_any_answer_of_an_appraiser_becomes_an_affect(raw: tuple[float, ...]) -> None:
    given_row = np.array([raw])
    clipped = affect.clip_affect(given_row)
    assert within(clipped)
    if np.isfinite(raw).all():
        expected = [min(1.0, max(low, x)) for x, low in zip(raw, affect.LOWEST, strict=True)]
        assert affect.is_valid(given_row).tolist() == [True]
        assert clipped[0].tolist() == expected
    else:
        assert affect.is_valid(given_row).tolist() == [False]
        assert tuple(clipped[0].tolist()) == affect.UNKNOWN_AFFECT


def test_one_invalid_answer_does_not_touch_the_others() -> None:
    raw = np.array([[-3.0, 0.2, 7.0], [0.5, np.nan, 0.9], [0.1, 0.2, 0.3]])
    assert affect.clip_affect(raw).tolist() == [[-1, 0.2, 1], [0, 0, 0.5], [0.1, 0.2, 0.3]]


def test_the_first_state_is_neutral_and_calm() -> None:
    assert affect.NEUTRAL_STATE == (0.0, 0.4, 0.5)


def test_parameters_cannot_be_changed_or_given_by_place() -> None:
    with pytest.raises(AttributeError):
        PARAMETERS.kappa_v = 0.9  # type: ignore[misc]
    with pytest.raises(TypeError):
        affect.AppraisalParameters(0.5)  # type: ignore[call-arg]
