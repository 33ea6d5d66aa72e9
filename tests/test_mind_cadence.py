"""When a persona reflects."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.mind import cadence


@settings(deadline=None)
@given(st.integers(), st.text(st.characters(codec="utf-8")))
def test_the_interval_is_four_plus_a_byte_of_the_seeded_digest_mod_five(
    seed: int, persona: str
) -> None:
    digest = hashlib.sha256(f"reflection-cadence|{seed}|{persona}".encode()).digest()
    assert cadence.interval(seed, persona) == 4 + digest[0] % 5


@settings(deadline=None)
@given(st.integers(), st.text(), st.integers(1, 20), st.integers(1, 50))
def test_the_interval_stays_within_its_range(
    seed: int, persona: str, minimum: int, spread: int
) -> None:
    interval = cadence.interval(seed, persona, minimum=minimum, spread=spread)
    assert minimum <= interval < minimum + spread


def test_every_interval_from_four_to_eight_occurs_about_equally_often() -> None:
    counts = Counter(cadence.interval(3, f"p{i}") for i in range(5000))
    assert sorted(counts) == [4, 5, 6, 7, 8]
    assert all(850 < n < 1150 for n in counts.values())


def test_the_cadence_fires_on_the_turn_that_completes_the_interval() -> None:
    fires = cadence.due(np.array([0, 3, 4, 5, 7]), np.array([4, 4, 4, 4, 8]))
    assert fires.tolist() == [False, False, True, True, False]


def test_a_move_of_exactly_the_threshold_is_not_sharp_and_one_beyond_the_margin_is() -> None:
    rounded = 0.8 - 0.5  # 0.30000000000000004
    moves = np.array([0.0, 0.3, rounded, 0.3 + 0.9e-6, 0.3 + 1.1e-6, 1.0])
    assert cadence.sharp(moves).tolist() == [False, False, False, False, True, True]
    assert cadence.sharp(np.array([0.45, 0.55]), threshold=0.5).tolist() == [False, True]
