"""Who reconsiders a stated probability, how far others pull, and steps that even out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.mind.revision import (
    RevisionParameters,
    openness,
    own_step,
    reconsiders,
    settled_share,
    share,
    stated,
)

UNIT = st.floats(0, 1)
INSIDE = st.floats(1e-9, 1 - 1e-9)
TIMES = st.integers(0, 5)
PARAMETERS = st.builds(
    RevisionParameters,
    pull=UNIT,
    assent=UNIT,
    fade=UNIT,
    settled=UNIT,
    firm=UNIT,
    steepness=st.floats(0.1, 40),
    idle=st.floats(0, 0.99),
    caution=st.floats(0, 12),
)


def of(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


@given(UNIT, PARAMETERS)
def test_the_settled_share_is_a_share_and_the_same_for_both_sides(
    credence: float, parameters: RevisionParameters
) -> None:
    here, there = settled_share(of(credence, 1.0 - credence), parameters)
    assert 0.0 <= here <= 1.0
    assert here == pytest.approx(there, abs=1e-6)


@given(UNIT, UNIT, PARAMETERS)
def test_the_surer_never_settle_less(
    one: float, other: float, parameters: RevisionParameters
) -> None:
    surer, less = sorted((one, other), key=lambda b: -abs(2 * b - 1))
    first, second = settled_share(of(surer, less), parameters)
    assert first >= second - 1e-12


def test_undecided_personas_settle_by_the_base_share_alone() -> None:
    parameters = RevisionParameters(settled=0.1, firm=0.5, steepness=3.0)
    assert settled_share(of(0.5, 0.0, 1.0, 0.75), parameters) == pytest.approx(
        [0.1, 0.6, 0.6, 0.1 + 0.5 * 0.5**3]
    )


@given(UNIT, INSIDE, INSIDE, INSIDE, PARAMETERS)
def test_who_is_settled_reconsiders_in_no_turn(
    credence: float, lasting: float, one: float, other: float, parameters: RevisionParameters
) -> None:
    turns = reconsiders(of(credence, credence), of(lasting, lasting), of(one, other), parameters)
    if lasting < settled_share(of(credence), parameters)[0]:
        assert not turns.any()
    else:
        assert turns.tolist() == [one >= parameters.idle, other >= parameters.idle]


@given(UNIT, UNIT, PARAMETERS)
def test_others_pull_more_from_the_other_side_than_from_ones_own(
    credence: float, place: float, parameters: RevisionParameters
) -> None:
    found = float(openness(of(credence), of(place), parameters)[0])
    same = (credence - 0.5) * (place - 0.5) > 0
    assert found == (parameters.assent if same else 1.0)


@given(UNIT, UNIT, TIMES, PARAMETERS)
def test_a_share_of_the_gap_is_a_share_and_fades_with_each_reconsideration(
    credence: float, place: float, times: int, parameters: RevisionParameters
) -> None:
    now, later = share(of(credence, credence), of(place, place), of(times, times + 1), parameters)
    assert 0.0 <= later <= now <= 1.0


@given(UNIT, UNIT, st.floats(0, 0.2))
def test_the_mean_share_over_settled_and_moving_personas_is_the_pull(
    credence: float, place: float, pull: float
) -> None:
    parameters = RevisionParameters(pull=pull, assent=1.0, settled=0.05, firm=0.5, idle=0.1)
    moving = (1.0 - settled_share(of(credence), parameters)) * (1.0 - parameters.idle)
    closed = share(of(credence), of(place), of(0.0), parameters)
    assert float((moving * closed)[0]) == pytest.approx(pull, abs=1e-9)


@given(UNIT, INSIDE, INSIDE, TIMES, PARAMETERS)
def test_a_step_of_ones_own_stays_among_probabilities(
    credence: float, side: float, size: float, times: int, parameters: RevisionParameters
) -> None:
    step = own_step(of(credence), of(side), of(size), of(times), parameters)
    assert 0.0 <= credence + step[0] <= 1.0


@given(UNIT, INSIDE, TIMES, PARAMETERS)
def test_steps_of_ones_own_move_nobody_on_average(
    credence: float, size: float, times: int, parameters: RevisionParameters
) -> None:
    # up with probability `credence`, down with the rest: the mean over `side`, exactly
    up, down = own_step(
        of(credence, credence), of(-1.0, 2.0), of(size, size), of(times, times), parameters
    )
    assert credence * up + (1.0 - credence) * down == pytest.approx(0.0, abs=1e-12)


@given(st.sampled_from([0.0, 1.0]), INSIDE, INSIDE, PARAMETERS)
def test_the_certain_take_no_step_of_their_own(
    credence: float, side: float, size: float, parameters: RevisionParameters
) -> None:
    assert own_step(of(credence), of(side), of(size), of(0.0), parameters)[0] == 0.0


def test_the_more_caution_the_smaller_the_step() -> None:
    bold, wary = (
        own_step(of(0.5), of(0.2), of(0.5), of(0.0), replace(RevisionParameters(), caution=c))[0]
        for c in (0.0, 3.0)
    )
    assert bold == 0.5
    assert wary == pytest.approx(0.5 * 0.5**3)


@given(UNIT)
def test_what_is_stated_is_the_nearest_hundredth(credence: float) -> None:
    said = stated(of(credence))[0]
    assert abs(said - credence) <= 0.005 + 1e-12
    assert said == round(said * 100) / 100


def test_what_is_stated_may_be_coarser() -> None:
    assert stated(of(0.44, 0.46), steps=10).tolist() == [0.4, 0.5]
