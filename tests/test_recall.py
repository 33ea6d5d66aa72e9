"""Which memories come back, against a plain loop over one persona at a time."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.memory import MemoryStore
from simulation.recall import MODES, PATHS, Recalled, recall
from simulation.rng import Streams, stream_keys
from simulation.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

PERSONAS = 3
NOW = 9
TAU = 2.5
STREAMS = Streams(5)
KEYS = stream_keys(["anna", "ben", "Zoë"])
# few directions, so that cosines tie, are zero and are negative; the last has no known word
VECTORS = {"up": (1, 0), "also up": (2, 0), "right": (0, 1), "down": (-1, 0), "slant": (3, 4),
           "unknown": (0, 0)}  # fmt: skip
TEXTS = tuple(VECTORS)


def table() -> Texts:
    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.array([VECTORS[text] for text in texts], np.float32)

    texts = Texts(encode, width=2)
    texts.intern(TEXTS)
    return texts


Memory = tuple[int, int, float, int]  # row, tick, importance, text
MEMORIES = st.lists(
    st.tuples(
        st.integers(0, PERSONAS - 1),
        st.integers(0, NOW - 1),
        st.sampled_from([0.05, 0.2, 0.5, 0.85]),
        st.integers(0, len(TEXTS) - 1),
    ),
    max_size=40,
)


def store_of(memories: list[Memory]) -> MemoryStore:
    store = MemoryStore(PERSONAS, cap=40)
    row, tick, importance, text = (np.array([m[c] for m in memories]) for c in range(4))
    store.write(row.astype(np.int64), tick=tick, kind=0, importance=importance, text=text)
    return store


def call(
    store: MemoryStore,
    *,
    mode: str,
    rows: Sequence[int] = range(PERSONAS),
    query: Sequence[int] = (0, 4, 2),
    k: Sequence[int] = (3, 3, 3),
) -> Recalled:
    chosen = np.array(rows, np.int64)
    return recall(
        store, table(), rows=chosen, query=np.array(query, np.int64), now=NOW, tau=TAU,
        k=np.array(k, np.int64), mode=mode, streams=STREAMS, keys=KEYS[chosen],
    )  # fmt: skip


def plain_relevance(text: int, query: int) -> float:
    (a, b), (c, d) = VECTORS[TEXTS[text]], VECTORS[TEXTS[query]]
    norm = math.hypot(a, b) * math.hypot(c, d)
    return max(0.0, (a * c + b * d) / norm) if norm else 0.0


def plain_recall(
    memories: list[Memory], row: int, query: int, k: int, mode: str
) -> list[tuple[int, list[float]]]:
    """Return (memory id, [recency, importance, relevance, score]), best first."""
    own = [(i, m) for i, m in enumerate(memories) if m[0] == row]
    parts = [
        [math.exp(-(NOW - tick) / TAU), importance, plain_relevance(text, query)]
        for _, (_, tick, importance, text) in own
    ]
    lows, highs = ([f(column) for column in zip(*parts, strict=True)] for f in (min, max))
    entries = []
    for place, ((i, memory), (r, w, c)) in enumerate(zip(own, parts, strict=True)):
        scaled = [
            (x - low) / (high - low) if high > low else 0.0
            for x, low, high in zip((r, w, c), lows, highs, strict=True)
        ]
        draw = STREAMS.uniform("recall-random", tick=NOW, keys=KEYS[row], index=place)
        score = {
            "product": r * w * c,
            "semantic": c,
            "generative_agents": sum(scaled),
            "random": float(draw),
        }[mode]
        entries.append((-round(score, 9), -memory[1], i, [r, w, c, score]))
    return [(i, rest) for _, _, i, rest in sorted(entries)[:k]]


@settings(deadline=None, max_examples=200)
@given(
    MEMORIES,
    st.sampled_from([m for m in MODES if m not in ("none", "hybrid")]),  # has its own file
    st.lists(st.integers(0, len(TEXTS) - 1), min_size=PERSONAS, max_size=PERSONAS),
    st.lists(st.integers(0, 8), min_size=PERSONAS, max_size=PERSONAS),
    st.permutations(range(PERSONAS)),
)
def test_recall_is_that_of_a_plain_loop(
    memories: list[Memory], mode: str, query: list[int], k: list[int], rows: list[int]
) -> None:
    store = store_of(memories)
    result = call(store, mode=mode, rows=rows, query=query, k=k)
    assert result.position.shape == (PERSONAS, max(k))
    for a, row in enumerate(rows):
        expected = plain_recall(memories, row, query[a], k[a], mode)
        n = len(expected)
        assert n == min(k[a], int(store.count[row]))
        assert result.memory_id[a, :n].tolist() == [i for i, _ in expected]
        got = np.stack(
            [result.recency[a], result.importance[a], result.relevance[a], result.score[a]], axis=1
        )
        # int8 vectors know a slant of (3, 4) as (95, 127)
        np.testing.assert_allclose(
            got[:n], np.reshape([parts for _, parts in expected], (n, 4)), atol=5e-3
        )
        assert np.isnan(got[n:]).all()
        assert (result.path[a, :n] == PATHS.index(mode)).all()
        for unused in (result.position, result.memory_id, result.path):
            assert (unused[a, n:] == -1).all()
        positions = result.position[a, :n]
        assert (store.memory_id[row, positions] == result.memory_id[a, :n]).all()


@settings(deadline=None, max_examples=60)
@given(MEMORIES, MEMORIES, st.sampled_from(MODES))
def test_recall_never_depends_on_another_persona_s_memories(
    own: list[Memory], others: list[Memory], mode: str
) -> None:
    own = [(1, *m[1:]) for m in own]
    foreign = [(2 * (m[0] % 2), *m[1:]) for m in others]
    alone = call(store_of(own), mode=mode, rows=[1], query=[4], k=[5])
    store = store_of(own + foreign)
    crowded = call(store, mode=mode)
    among = call(store, mode=mode, rows=[1], query=[4], k=[5])
    for name in (field.name for field in fields(Recalled)):
        np.testing.assert_array_equal(getattr(alone, name), getattr(among, name))
        np.testing.assert_array_equal(getattr(crowded, name)[1], getattr(alone, name)[0, :3])


@pytest.mark.parametrize("mode", MODES)
def test_how_much_others_wrote_before_changes_no_score(mode: str) -> None:
    own = [(1, tick, 0.1 * tick, tick % 6) for tick in range(7)]
    others = [(row, 0, 0.5, 3) for row in (0, 2, 2, 2, 0)]
    alone = call(store_of(own), mode=mode, rows=[1], query=[4], k=[5])
    later = call(store_of(others + own), mode=mode, rows=[1], query=[4], k=[5])
    for name in ("position", "recency", "importance", "relevance", "score"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(later, name))


@pytest.mark.parametrize("mode", MODES)
def test_many_personas_recall_as_few_do(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memories = [(r, t, 0.1 * t, (r + t) % 6) for t in range(7) for r in range(PERSONAS)]
    store = store_of(memories[:-4])
    at_once = call(store, mode=mode, k=[2, 4, 3])
    monkeypatch.setattr("simulation.recall.BLOCK", 1)
    singly = call(store, mode=mode, k=[2, 4, 3])
    for field in fields(Recalled):
        expected, got = getattr(at_once, field.name), getattr(singly, field.name)
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == expected.dtype


def test_recall_does_not_read_the_rows_of_others() -> None:
    store = store_of([(r, t, 0.5, t % 5) for t in range(6) for r in range(PERSONAS)])
    before = call(store, mode="product", rows=[1], query=[4], k=[3])
    for row in (0, 2):  # anything read from here would be an error or show
        store.text[row] = 10**6
        store.importance[row] = np.nan
        store.tick[row] = NOW + 100
    after = call(store, mode="product", rows=[1], query=[4], k=[3])
    for name in (field.name for field in fields(Recalled)):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


def test_k_memories_come_back_even_when_nothing_is_relevant() -> None:
    store = store_of([(0, 2, 0.9, 3), (0, 5, 0.1, 3), (0, 5, 0.2, 3), (0, 1, 0.8, 3)])
    result = call(store, mode="product", rows=[0], query=[0], k=[3])
    assert result.score.tolist() == [[0, 0, 0]]
    assert result.memory_id.tolist() == [[1, 2, 0]]  # newer first, then the lower id


def test_a_score_of_zero_by_vanished_recency_still_comes_back() -> None:
    store = store_of([(0, 0, 0.5, 0)])
    result = recall(
        store, table(), rows=np.array([0]), query=np.array([0]), now=10_000, tau=1.0,
        k=np.array([1]), mode="product", streams=STREAMS, keys=KEYS[:1],
    )  # fmt: skip
    assert result.memory_id.tolist() == [[0]]
    assert result.score.tolist() == [[0.0]]


def test_without_recall_every_slot_is_unused() -> None:
    store = store_of([(0, 2, 0.9, 0)])
    result = call(store, mode="none")
    assert result.memory_id.shape == (PERSONAS, 3)
    assert (result.memory_id == -1).all()
    assert (result.path == -1).all()
    assert np.isnan(result.score).all()


@pytest.mark.parametrize("mode", MODES)
def test_nobody_no_memory_and_no_slot_are_no_errors(mode: str) -> None:
    empty, some = MemoryStore(PERSONAS), store_of([(0, 2, 0.9, 0)])
    assert call(empty, mode=mode).position.tolist() == [[-1] * 3] * 3
    assert call(some, mode=mode, rows=[], query=[], k=[]).position.shape == (0, 0)
    assert call(some, mode=mode, k=[0, 0, 0]).position.shape == (PERSONAS, 0)


def test_random_recall_draws_every_memory_equally_often_and_never_twice() -> None:
    store = store_of([(0, t % NOW, 0.5, 0) for t in range(8)])
    drawn = np.zeros(8, np.int64)
    for seed in range(600):
        result = recall(
            store, table(), rows=np.array([0]), query=np.array([0]), now=NOW, tau=TAU,
            k=np.array([3]), mode="random", streams=Streams(seed), keys=KEYS[:1],
        )  # fmt: skip
        ids = result.memory_id[0]
        assert len(set(ids.tolist())) == 3
        drawn[ids] += 1
    assert (np.abs(drawn - 225) < 60).all()  # five standard deviations of a binomial


def test_the_query_none_makes_nothing_relevant() -> None:
    store = store_of([(0, 2, 0.9, 0)])
    result = call(store, mode="semantic", rows=[0], query=[-1], k=[1])
    assert result.relevance.tolist() == [[0.0]]


def test_a_memory_of_the_future_is_refused() -> None:
    store = store_of([(0, NOW + 1, 0.9, 0)])
    with pytest.raises(ValueError, match="after the present tick"):
        call(store, mode="product")


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r'"gated".*product, semantic'):
        call(MemoryStore(PERSONAS), mode="gated")
