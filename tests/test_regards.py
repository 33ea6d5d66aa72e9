"""What posts say: evidence kept by post, against a plain list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.regards import Pieces, Said

SOME = [(0.9, 0.1, 0.0), (0.1, 0.6, 0.3), (0.0, 0.0, 1.0)]

said_of_a_side = st.tuples(
    st.integers(0, 2),  # object
    st.integers(0, 1),  # aspect
    st.sampled_from(SOME),
    st.sampled_from([0.001, 0.3, 0.8]),  # the first is too faint to be kept
)
ticks = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.lists(said_of_a_side, max_size=4)), max_size=4),
    max_size=6,
)


def pieces(rows: list[tuple[int, int, int, tuple[float, float, float], float]]) -> Pieces:
    owner, obj, aspect, polarity, strength = zip(*rows, strict=True) if rows else [()] * 5
    return Pieces(
        owner=np.array(owner, np.int64),
        object=np.array(obj, np.int64),
        aspect=np.array(aspect, np.int64),
        polarity=np.array(polarity, float).reshape(-1, 3),
        strength=np.array(strength, float),
        cause=np.array(owner, np.int64),
        summary=np.full(len(rows), -1),
    )


@settings(deadline=None, max_examples=60)
@given(ticks)
def test_a_post_says_what_was_added_of_it_however_much_came_later(
    ticks: list[list[tuple[int, list[Any]]]],
) -> None:
    said, post, parts = Said(), -1, []
    for tick in ticks:
        rows = []
        for step, sides in tick:
            post += 1 + step
            rows += [(post, *side) for side in sides]
        before = said.pieces.take(np.arange(len(said.pieces)))
        parts.append(said.add(pieces(rows)))
        for name in ("owner", "polarity", "strength"):
            now = getattr(said.pieces, name)[: len(before)]
            np.testing.assert_array_equal(now, getattr(before, name))
    whole = Pieces.joined([Pieces.none(), *parts])
    for name in ("owner", "object", "aspect", "polarity", "strength", "cause", "summary"):
        np.testing.assert_array_equal(getattr(said.pieces, name), getattr(whole, name))
    asked = [post + 9, *range(post, -2, -1), 0, 0]
    which, at = said.of(np.array(asked, np.int64))
    owner = whole.owner.tolist()
    assert list(zip(which.tolist(), at.tolist(), strict=True)) == [
        (i, place)
        for i, wanted in enumerate(asked)
        for place in range(len(owner))
        if owner[place] == wanted >= 0
    ]


def test_evidence_of_a_post_that_is_not_later_is_refused_and_changes_nothing() -> None:
    said = Said()
    said.add(pieces([(4, 0, 0, SOME[0], 0.5)]))
    for post in (3, 4):
        with pytest.raises(ValueError, match="order of the posts"):
            said.add(pieces([(post, 0, 0, SOME[0], 0.5)]))
    assert said.pieces.owner.tolist() == [4]
