"""Importance is what was done plus how far beliefs moved, at most 1."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.mind.importance import importance

UNIT = st.floats(0, 1)


@settings(deadline=None)
@given(UNIT, UNIT)
def test_importance_is_a_base_plus_six_tenths_of_the_move_at_most_one(
    base: float, move: float
) -> None:
    result = importance(np.array([base]), np.array([move]))
    assert result.tolist() == [min(1.0, base + 0.6 * move)]


@settings(deadline=None)
@given(UNIT, UNIT, UNIT)
def test_a_larger_move_never_weighs_less(base: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    light, heavy = importance(np.full(2, base), np.array([low, high]))
    assert light <= heavy


def test_a_quiet_turn_weighs_its_base_and_the_weight_of_a_move_can_be_set() -> None:
    base, move = np.array([0.05, 0.7]), np.array([0.0, 0.5])
    assert importance(base, move).tolist() == [0.05, 1.0]
    assert importance(base, move, move=0.0).tolist() == base.tolist()
