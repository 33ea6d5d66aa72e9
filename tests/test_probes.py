"""Who is probed, and about what."""

from __future__ import annotations

import hashlib
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from simulation import probes

IDS = st.lists(st.text(st.characters(codec="utf-8")), unique=True, max_size=40)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_probes_are_due_at_every_tenth_tick() -> None:
    assert [t for t in range(1, 41) if probes.due(t, every=10)] == [10, 20, 30, 40]
    assert [t for t in range(1, 4) if probes.due(t, every=1)] == [1, 2, 3]


@settings(deadline=None)
@given(st.integers(), st.integers(1, 1000), IDS, st.floats(0, 1))
def test_the_probed_are_those_of_the_smallest_digests_in_their_order(
    seed: int, tick: int, ids: list[str], share: float
) -> None:
    result = probes.drawn(seed, tick, ids, share=share)
    order = sorted((digest(f"drift-probe|{seed}|{tick}|{i}"), i) for i in ids)
    count = max(0, math.ceil(share * len(ids) - 1e-9))
    assert result == tuple(i for _, i in order[:count])


@settings(deadline=None)
@given(IDS, st.randoms(use_true_random=False))
def test_the_order_of_the_active_personas_does_not_matter(
    ids: list[str], shuffler: object
) -> None:
    shuffled = list(ids)
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
    assert probes.drawn(1, 10, ids, share=0.3) == probes.drawn(1, 10, shuffled, share=0.3)


def test_two_percent_is_rounded_up_but_not_by_rounding_errors() -> None:
    sizes = {
        n: len(probes.drawn(7, 10, [f"p{i}" for i in range(n)], share=0.02))
        for n in (0, 1, 49, 50, 51, 100, 101, 149, 150, 151, 350)
    }
    assert sizes == {
        0: 0,
        1: 1,
        49: 1,
        50: 1,
        51: 2,
        100: 2,
        101: 3,
        149: 3,
        150: 3,
        151: 4,
        350: 7,
    }


def test_a_share_of_zero_probes_nobody_and_of_one_everybody() -> None:
    ids = ["a", "b", "c"]
    assert probes.drawn(1, 10, ids, share=0.0) == ()
    assert sorted(probes.drawn(1, 10, ids, share=1.0)) == ids


@settings(deadline=None)
@given(st.integers(), st.integers(1, 1000), st.text(st.characters(codec="utf-8")), IDS)
def test_the_two_questions_are_the_first_by_digest_or_all_there_are(
    seed: int, tick: int, persona: str, attributes: list[str]
) -> None:
    result = probes.questions(seed, tick, persona, attributes)
    order = sorted((digest(f"probe-question|{seed}|{tick}|{persona}|{a}"), a) for a in attributes)
    assert result == tuple(a for _, a in order[:2])


def test_the_number_of_questions_can_be_set() -> None:
    attributes = [f"attribute {i}" for i in range(6)]
    three = probes.questions(1, 10, "anna", attributes, count=3)
    assert three[:2] == probes.questions(1, 10, "anna", attributes)
    assert len(three) == 3


def test_questions_vary_over_ticks_and_personas() -> None:
    attributes = [f"attribute {i}" for i in range(6)]
    asked = {probes.questions(1, t, p, attributes) for t in (10, 20, 30) for p in "abcdefgh"}
    assert len(asked) > 10
