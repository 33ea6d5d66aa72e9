"""Beliefs stay in [0, 1] and move by what was asked, no further."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simulation.mind import beliefs

UNIT = st.floats(0, 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)


def pairs(values: st.SearchStrategy[float]) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float64, (3, 4), elements=values)


@settings(deadline=None)
@given(pairs(UNIT), pairs(FINITE))
def test_a_belief_never_leaves_the_unit_interval_whatever_is_asked(
    before: np.ndarray, change: np.ndarray
) -> None:
    after = beliefs.apply(before, change)
    assert ((after >= 0) & (after <= 1)).all()


@settings(deadline=None)
@given(pairs(UNIT), pairs(st.floats(-1, 1)))
def test_a_change_is_applied_whole_up_to_the_bound(before: np.ndarray, change: np.ndarray) -> None:
    after = beliefs.apply(before, change)
    expected = [min(1.0, max(0.0, b + c)) for b, c in zip(before.flat, change.flat, strict=True)]
    assert after.ravel().tolist() == expected


@settings(deadline=None)
@given(pairs(UNIT))
def test_no_change_leaves_every_belief_as_it_was(before: np.ndarray) -> None:
    assert (beliefs.apply(before, np.zeros_like(before)) == before).all()


def test_a_change_outside_is_clipped_to_the_bound() -> None:
    assert beliefs.clip_change(np.array([-7.0, -1, 0.25, 3])).tolist() == [-1, -1, 0.25, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_change_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="NaN or infinite"):
        beliefs.apply(np.array([0.5, 0.5]), np.array([0.1, bad]))


def test_the_largest_move_counts_what_was_applied_not_what_was_asked() -> None:
    before = np.array([[0.9, 0.5], [0.5, 0.5]])
    after = beliefs.apply(before, np.array([[0.8, -0.05], [0.0, -0.2]]))
    np.testing.assert_allclose(beliefs.largest_move(before, after), [0.1, 0.2], atol=1e-12)


def test_without_any_target_nothing_moves() -> None:
    none = np.zeros((3, 0))
    assert beliefs.largest_move(none, none).tolist() == [0, 0, 0]
