"""Opinion dynamics: each formula, and what no setting can break."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from simulation.mind import opinion

if TYPE_CHECKING:
    from simulation.mind.opinion import FloatArray, IntArray

UNIT = st.floats(0.0, 1.0, allow_nan=False)
SIGNED = st.floats(-1.0, 1.0, allow_nan=False)
A, F, C, D = 4, 5, 3, 2


def row(*values: float) -> FloatArray:
    return np.array([values], dtype=np.float64)


def claims_of(*values: int) -> IntArray:
    return np.array([values], dtype=np.int64)


@given(arrays(np.float64, (A, F), elements=UNIT), UNIT)
def test_attention_lies_between_its_floor_and_one(relevance: FloatArray, floor: float) -> None:
    attention = opinion.attention(relevance, floor=floor)
    assert (attention >= floor).all()
    assert (attention <= 1.0).all()


def test_attention_is_a_line_from_the_floor_to_half_relevance() -> None:
    attention = opinion.attention(row(0.0, 0.25, 0.5, 0.9), floor=0.2)
    np.testing.assert_allclose(attention, row(0.2, 0.6, 1.0, 1.0), atol=1e-15)


@given(arrays(np.float64, (A, F), elements=SIGNED))
def test_a_stance_and_the_position_it_speaks_for_are_inverses(stance: FloatArray) -> None:
    np.testing.assert_allclose(opinion.stance(opinion.position(stance)), stance, atol=1e-15)


def test_values_of_claims_reach_their_slots_and_sum_back() -> None:
    claim = claims_of(2, -1, 0, 2)
    assert opinion.of_claim(row(0.1, 0.2, 0.3), claim, otherwise=9.0).tolist() == [
        [0.3, 9.0, 0.1, 0.3]
    ]
    assert opinion.per_claim(row(1.0, 5.0, 2.0, 4.0), claim, claims=3).tolist() == [
        [2.0, 0.0, 5.0]
    ]


def test_a_brief_without_claims_has_nothing_to_sum() -> None:
    nothing = np.zeros((2, 0))
    claim = np.full((2, 3), -1, dtype=np.int64)
    assert opinion.of_claim(nothing, claim).tolist() == [[0.0] * 3] * 2
    assert opinion.per_claim(np.ones((2, 3)), claim, claims=0).shape == (2, 0)
    assert opinion.causes(nothing, np.zeros((2, 3)), claim).shape == (2, 0)
    cause = opinion.spilled_causes(nothing, np.ones((2, D)), np.zeros((0, D)), nothing.astype(int))
    assert cause.tolist() == [[-1, -1]] * 2


def test_the_trust_gate_damps_only_sponsors_and_opens_at_half_trust() -> None:
    trust = np.array([0.0, 0.25, 0.5, 1.0])
    sponsored = np.array([[True, False]] * 4)
    gate = opinion.trust_gate(trust, np.zeros(4), sponsored, floor=0.2)
    np.testing.assert_allclose(gate[:, 0], [0.2, 0.6, 1.0, 1.0], atol=1e-15)
    assert (gate[:, 1] == 1.0).all()


def test_full_scepticism_halves_a_sponsored_message_and_credulity_adds_nothing() -> None:
    sponsored = np.ones((3, 1), dtype=bool)
    gate = opinion.trust_gate(np.ones(3), np.array([-1.0, 1.0, 7.0]), sponsored, floor=0.2)
    assert gate[:, 0].tolist() == [1.0, 0.5, 0.5]


def test_confirmation_bias_damps_only_the_other_side() -> None:
    credence = row(0.9, 0.9, 0.1, 0.5)
    place = row(0.0, 1.0, 1.0, 0.0)
    kept = opinion.confirmation(credence, place, bias=0.5)
    np.testing.assert_allclose(kept, row(0.6, 1.0, 0.6, 1.0), atol=1e-15)


def test_each_repetition_counts_less_on_its_own_side() -> None:
    heard = np.array([[[2.0, 1.0]]])
    kept = opinion.repetition(heard, claims_of(0, 0), row(1.0, -1.0), decay=0.5)
    assert kept.tolist() == [[0.25, 0.5]]


def test_copies_in_one_feed_count_as_heard_and_other_items_do_not() -> None:
    heard = np.zeros((1, 2, 2))
    claim = claims_of(0, -1, 0, 1, 0)
    kept = opinion.repetition(heard, claim, row(1.0, 1.0, 0.0, 1.0, 1.0), decay=0.5)
    assert kept[0, [0, 2, 3, 4]].tolist() == [1.0, 0.5, 1.0, 0.25]
    assert heard.sum() == 0.0


def test_without_decay_repetition_never_tires_and_with_full_decay_only_the_first_counts() -> None:
    heard = np.array([[[0.0, 0.0]], [[3.0, 0.0]]])
    claim = np.zeros((2, 1), dtype=np.int64)
    said = np.ones((2, 1))
    assert opinion.repetition(heard, claim, said, decay=1.0).tolist() == [[1.0], [1.0]]
    assert opinion.repetition(heard, claim, said, decay=0.0).tolist() == [[1.0], [0.0]]


def test_recollection_is_the_mean_stance_weighted_by_score() -> None:
    mean = opinion.recollection(
        claims_of(0, 0, 1, -1), row(1.0, -0.5, 0.3, 1.0), row(3.0, 1.0, 0.0, 9.0), claims=2
    )
    np.testing.assert_allclose(mean, row(2.5 / 4.0, 0.0), atol=1e-15)


def test_memories_amplify_what_they_agree_with_and_mute_the_rest() -> None:
    felt = opinion.resonance(row(1.0, 1.0, 0.0), row(1.0, -1.0, 1.0), strength=0.5)
    assert felt.tolist() == [[1.5, 0.5, 1.0]]


@given(
    arrays(np.float64, (A, F), elements=st.floats(0.0, 8.0)),
    arrays(np.int64, (A, F), elements=st.integers(-1, C - 1)),
    UNIT,
)
def test_all_messages_on_a_claim_close_at_most_the_persuasive_share(
    openness: FloatArray, claim: IntArray, persuasion: float
) -> None:
    share = opinion.shares(openness, claim, persuasion=persuasion, claims=C)
    assert (share >= 0.0).all()
    assert (share[claim < 0] == 0.0).all()
    assert (opinion.per_claim(share, claim, claims=C) <= persuasion + 1e-12).all()


def test_few_messages_are_not_scaled() -> None:
    share = opinion.shares(row(0.5, 0.25), claims_of(0, 0), persuasion=0.4, claims=1)
    np.testing.assert_allclose(share, row(0.2, 0.1), atol=1e-15)


@given(
    credence=arrays(np.float64, (A, C), elements=UNIT),
    initial=arrays(np.float64, (A, C), elements=UNIT),
    claim=arrays(np.int64, (A, F), elements=st.integers(-1, C - 1)),
    place=arrays(np.float64, (A, F), elements=UNIT),
    judged=arrays(np.float64, (A, F), elements=UNIT),
    openness=arrays(np.float64, (A, F), elements=st.floats(0.0, 4.0)),
    peer=arrays(np.bool_, (A, F)),
    persuasion=UNIT,
    influence=UNIT,
    stubbornness=UNIT,
)
def test_a_credence_never_leaves_the_range_of_what_it_was_and_met(
    credence: FloatArray,
    initial: FloatArray,
    claim: IntArray,
    place: FloatArray,
    judged: FloatArray,
    openness: FloatArray,
    peer: opinion.BoolArray,
    persuasion: float,
    influence: float,
    stubbornness: float,
) -> None:
    share = opinion.shares(openness, claim, persuasion=persuasion, claims=C)
    moved = opinion.move(
        credence=credence,
        initial=initial,
        claim=claim,
        place=place,
        judged=judged,
        share=share,
        peer=peer & (claim >= 0),
        influence=influence,
        stubbornness=stubbornness,
    )
    after = credence + moved.change
    for a in range(A):
        for c in range(C):
            about = claim[a] == c
            met = [*judged[a, about], *place[a, about & peer[a]]]
            first = [initial[a, c]] if stubbornness > 0.0 else []
            reach = [credence[a, c], *first, *met]
            assert min(reach) - 1e-12 <= after[a, c] <= max(reach) + 1e-12
            parts = moved.contribution[a, claim[a] == c].sum()
            if stubbornness == 0.0:
                assert moved.change[a, c] == pytest.approx(parts, abs=1e-12)


def test_peers_pull_towards_their_mean() -> None:
    moved = opinion.move(
        credence=row(0.2),
        initial=row(0.2),
        claim=claims_of(0, 0, 0),
        place=row(0.4, 1.0, 0.0),
        judged=row(0.0, 0.0, 0.0),
        share=row(0.0, 0.0, 0.0),
        peer=np.array([[True, True, False]]),
        influence=0.5,
        stubbornness=0.0,
    )
    assert moved.change[0, 0] == pytest.approx(0.5 * (0.7 - 0.2), abs=1e-15)
    assert moved.contribution[0, 2] == 0.0


def test_stubbornness_pulls_back_to_the_first_credence() -> None:
    none = np.zeros((1, 0))
    moved = opinion.move(
        credence=row(0.8),
        initial=row(0.4),
        claim=none.astype(np.int64),
        place=none,
        judged=none,
        share=none,
        peer=none.astype(bool),
        influence=1.0,
        stubbornness=0.25,
    )
    assert moved.change[0, 0] == pytest.approx(-0.1, abs=1e-15)


def test_a_message_persuades_towards_where_it_is_judged_to_stand() -> None:
    moved = opinion.move(
        credence=row(0.5),
        initial=row(0.5),
        claim=claims_of(0),
        place=row(1.0),
        judged=row(0.3),
        share=row(0.5),
        peer=np.array([[False]]),
        influence=0.5,
        stubbornness=0.0,
    )
    assert moved.change[0, 0] == pytest.approx(0.5 * (0.3 - 0.5), abs=1e-15)


SHIFTS = arrays(np.float64, (A, F), elements=st.floats(-3.0, 3.0))
PLACES = arrays(np.float64, (A, F), elements=UNIT)


@given(PLACES, PLACES, SHIFTS)
def test_judging_stays_a_position_and_keeps_order(
    place: FloatArray, credence: FloatArray, shift: FloatArray
) -> None:
    judged = opinion.judge(place, credence, shift)
    assert ((judged >= 0.0) & (judged <= 1.0)).all()
    assert (opinion.judge(place, credence, shift + 0.1) >= judged).all()
    assert np.array_equal(opinion.judge(place, credence, np.zeros_like(shift)), place)


@given(PLACES, PLACES, SHIFTS)
def test_a_message_is_never_judged_to_speak_for_the_other_side(
    place: FloatArray, credence: FloatArray, shift: FloatArray
) -> None:
    side = np.sign(place - credence)
    effect = np.sign(opinion.judge(place, credence, shift) - credence)
    assert ((effect == side) | (effect == 0.0)).all()


@given(PLACES, PLACES, SHIFTS)
def test_judging_is_the_documented_formula(
    place: FloatArray, credence: FloatArray, shift: FloatArray
) -> None:
    side = np.sign(place - credence)
    reach = np.maximum(0.0, np.abs(place - credence) + side * shift)
    expected = np.clip(credence + side * reach, 0.0, 1.0)
    np.testing.assert_allclose(opinion.judge(place, credence, shift), expected, atol=1e-12)


def test_an_implausible_message_leaves_a_credence_where_it_is() -> None:
    judged = opinion.judge(row(1.0, 0.0, 0.7), row(0.5, 0.5, 0.5), row(-0.9, 0.9, 0.1))
    np.testing.assert_allclose(judged, row(0.5, 0.5, 0.8), atol=1e-15)


def test_a_denial_is_agreed_with_by_who_denies_and_firmness_beyond_a_half_adds_nothing() -> None:
    felt = opinion.agreement(row(0.4, -0.4, -0.4, 0.4), row(1.0, 1.0, -0.5, 0.25))
    np.testing.assert_allclose(felt, row(0.4, -0.4, 0.4, 0.2), atol=1e-15)


def test_the_bound_of_confidence_itself_is_near() -> None:
    near = opinion.near(row(0.1, 0.1, 0.1), row(0.4, 0.41, 0.1), confidence=0.3)
    assert near.tolist() == [[True, False, True]]


@given(
    arrays(np.float64, (A, C), elements=SIGNED),
    arrays(np.float64, (C, D), elements=SIGNED),
    UNIT,
)
def test_dimensions_move_by_the_weights_of_the_brief(
    change: FloatArray, weights: FloatArray, spillover: float
) -> None:
    moved = opinion.spill(change, weights, spillover=spillover)
    expected = np.clip(spillover * (change @ weights), -1.0, 1.0)
    np.testing.assert_allclose(moved, expected, atol=1e-12)


def test_the_cause_is_the_slot_that_did_most_in_the_direction_of_the_change() -> None:
    contribution = row(0.1, 0.3, -0.2, 0.3, 0.0)
    claim = claims_of(0, 0, 0, 1, 2)
    cause = opinion.causes(row(0.2, -0.1, 0.0), contribution, claim)
    assert cause.tolist() == [[1, -1, -1]]
    assert opinion.causes(row(-0.2, 0.1, 0.1), contribution, claim).tolist() == [[2, 3, -1]]


def test_an_empty_feed_causes_nothing() -> None:
    none = np.zeros((1, 0))
    assert opinion.causes(row(0.2), none, none.astype(np.int64)).tolist() == [[-1]]


def test_a_dimension_has_the_cause_of_the_claim_that_moved_it_most() -> None:
    change = row(0.2, -0.4)
    weights = np.array([[0.5, 1.0], [0.5, 0.0]])
    moved = row(-0.1, 0.2)
    cause = opinion.spilled_causes(change, moved, weights, claims_of(3, 1))
    assert cause.tolist() == [[1, 3]]
    unmoved = opinion.spilled_causes(change, row(0.0, 0.2), weights, claims_of(3, 1))
    assert unmoved.tolist() == [[-1, 3]]


@given(arrays(np.float64, (A, C), elements=UNIT), arrays(np.float64, (A, C), elements=UNIT), UNIT)
def test_thinking_sharpens_what_moved_and_leaves_the_rest(
    belief: FloatArray, before: FloatArray, consolidation: float
) -> None:
    revised = opinion.sharpen(belief, before, consolidation=consolidation)
    changed = ~np.isnan(revised)
    assert ((revised[changed] >= 0.0) & (revised[changed] <= 1.0)).all()
    onwards = np.sign(revised - belief) == np.sign(belief - before)
    assert onwards[changed].all()
    assert np.isnan(revised[np.abs(belief - before) < 1e-12]).all()


def test_sharpening_dies_out_at_the_ends() -> None:
    revised = opinion.sharpen(row(0.6, 0.99, 1.0), row(0.5, 0.89, 0.9), consolidation=0.5)
    assert revised[0, 0] - 0.6 == pytest.approx(0.5 * 0.1 * 4 * 0.6 * 0.4, abs=1e-15)
    assert revised[0, 1] - 0.99 < 0.003
    assert np.isnan(revised[0, 2])


def test_the_most_moved_target_is_the_first_of_equals_and_none_when_nothing_moved() -> None:
    belief = np.array([[0.5, 0.75, 0.25], [0.5, 0.5, 0.5 + 1e-14]])
    assert opinion.most_moved(belief, np.full((2, 3), 0.5)).tolist() == [1, -1]
