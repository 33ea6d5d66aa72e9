"""What a persona keeps and what it forgets, against a plain list."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.memory import KINDS, MemoryStore

TURN, REFLECTION, SEED = range(3)
COLUMNS = ("memory_id", "tick", "importance", "kind", "text", "claim", "stance")

Entry = tuple[int, int, float, int, int, int, float]


@dataclass
class Plain:
    """The store as a list of tuples per persona, in the words of method.md 2."""

    personas: int
    cap: int
    reflection_cap: int | None
    next_id: int = 0
    held: list[list[Entry]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.held = [[] for _ in range(self.personas)]

    def write(self, row: int, *rest: float) -> int:
        self.held[row].append((self.next_id, *rest))  # type: ignore[arg-type]
        self.next_id += 1
        return self.next_id - 1

    def settle(self) -> list[int]:
        evicted = []
        for entries in self.held:
            if self.reflection_cap is not None:
                reflections = [e for e in entries if e[3] == REFLECTION]
                evicted += self._drop(entries, reflections, self.reflection_cap)
            evicted += self._drop(entries, list(entries), self.cap)
        return sorted(evicted)

    @staticmethod
    def _drop(entries: list[Entry], among: list[Entry], cap: int) -> list[int]:
        worst = sorted(among, key=lambda e: (e[2], e[1], e[0]))[: max(0, len(among) - cap)]
        for entry in worst:
            entries.remove(entry)
        return [entry[0] for entry in worst]


def assert_same(store: MemoryStore, plain: Plain) -> None:
    assert store.next_id == plain.next_id
    assert store.count.tolist() == [len(entries) for entries in plain.held]
    for row, entries in enumerate(plain.held):
        n = len(entries)
        columns = [getattr(store, name)[row] for name in COLUMNS]
        assert [tuple(c[i] for c in columns) for i in range(n)] == entries
        assert (store.memory_id[row, n:] == -1).all()
        assert (store.text[row, n:] == -1).all()
        assert (store.kind[row, n:] == -1).all()


STEPS = st.lists(
    st.lists(
        st.tuples(
            st.integers(0, 3),  # row
            st.sampled_from([0.05, 0.2, 0.5, 0.85, 1.0]),  # importance: many ties
            st.sampled_from([TURN, REFLECTION, SEED]),
            st.integers(-2, 1),  # tick, against the present one
        ),
        max_size=14,
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=150)
@given(STEPS, st.integers(1, 12), st.one_of(st.none(), st.integers(1, 4)))
def test_the_store_keeps_what_a_plain_list_keeps(
    steps: list[list[tuple[int, float, int, int]]], cap: int, reflection_cap: int | None
) -> None:
    store = MemoryStore(4, cap=cap, reflection_cap=reflection_cap)
    plain = Plain(4, cap, reflection_cap)
    for now, step in enumerate(steps):
        entries = [
            (row, now + shift, importance, kind, 10 * now + i, i % 3 - 1, (i % 5 - 2) / 2)
            for i, (row, importance, kind, shift) in enumerate(step)
        ]
        expected = [plain.write(*entry) for entry in entries]
        row, tick, importance, kind, text, claim, stance = (
            np.array([e[c] for e in entries]) for c in range(7)
        )
        ids = store.write(
            row.astype(np.int64), tick=tick, kind=kind, importance=importance, text=text,
            claim=claim, stance=stance,
        )  # fmt: skip
        assert ids.tolist() == expected
        assert_same(store, plain)
        assert store.settle().tolist() == plain.settle()
        assert_same(store, plain)
        assert store.settle().tolist() == []


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([0.05, 0.2, 0.5, 0.85]), min_size=2, max_size=40),
    st.integers(1, 8),
)
def test_the_most_important_memory_is_never_dropped(weights: list[float], cap: int) -> None:
    store = MemoryStore(1, cap=cap)
    best = 0.0
    for tick, weight in enumerate(weights, start=1):
        store.write(np.array([0]), tick=tick, kind=TURN, importance=weight, text=tick)
        store.settle()
        best = max(best, weight)
        held = store.held(np.array([0]))
        assert held.importance.max() == best
        assert held.used.sum() == min(tick, cap)


def test_many_crowded_personas_settle_as_few_do(monkeypatch: pytest.MonkeyPatch) -> None:
    stores = [MemoryStore(5, cap=3, reflection_cap=1) for _ in range(2)]
    evicted = []
    for store, block in zip(stores, (100, 2), strict=True):
        monkeypatch.setattr("simulation.memory._BLOCK", block)
        rows = np.arange(30) % 5
        store.write(
            rows, tick=np.arange(30) // 5, kind=np.arange(30) % 2, importance=rows / 5, text=rows
        )
        evicted.append(store.settle().tolist())
    assert evicted[0] == evicted[1] == sorted(evicted[0])
    for name in COLUMNS:
        assert (getattr(stores[0], name) == getattr(stores[1], name)).all()


def full(weights: list[float], ticks: list[int], *, cap: int, kinds: list[int]) -> MemoryStore:
    store = MemoryStore(1, cap=cap)
    store.write(
        np.zeros(len(weights), np.int64), tick=ticks, kind=kinds, importance=weights, text=0
    )
    return store


def test_of_equally_important_memories_the_oldest_goes_then_the_lower_id() -> None:
    store = full([0.2, 0.2, 0.2, 0.9], [5, 3, 3, 1], cap=3, kinds=[TURN] * 4)
    assert store.settle().tolist() == [1]
    store = full([0.2, 0.2, 0.2, 0.9], [5, 3, 3, 1], cap=2, kinds=[TURN] * 4)
    assert store.settle().tolist() == [1, 2]
    store = full([0.2, 0.2, 0.2, 0.9], [5, 3, 3, 1], cap=1, kinds=[TURN] * 4)
    assert store.settle().tolist() == [0, 1, 2]


def test_without_a_cap_of_their_own_reflections_crowd_out_turns() -> None:
    store = full([0.2, 0.85, 0.85, 0.85], [1, 1, 2, 3], cap=3, kinds=[TURN, *[REFLECTION] * 3])
    assert store.settle().tolist() == [0]
    assert store.composition().tolist() == [1.0]


def test_with_a_cap_of_their_own_the_oldest_reflection_goes_and_the_turn_stays() -> None:
    store = full([0.2, 0.85, 0.85, 0.85], [1, 1, 2, 3], cap=3, kinds=[TURN, *[REFLECTION] * 3])
    store.reflection_cap = 2
    assert store.settle().tolist() == [1]
    assert store.memory_id[0, :3].tolist() == [0, 2, 3]


def test_composition_is_the_share_of_reflections_and_nothing_for_an_empty_memory() -> None:
    store = MemoryStore(3)
    rows = np.array([0, 0, 0, 0, 2])
    store.write(rows, tick=1, kind=[0, 1, 2, 0, 1], importance=0.5, text=0)
    assert store.composition().tolist() == [0.25, 0.0, 1.0]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from([0.05, 0.5, 0.85])), max_size=20),
    st.integers(-1, 6),
)
def test_memories_since_a_tick_come_most_important_first_then_newer_then_lower_id(
    entries: list[tuple[int, float]], since: int
) -> None:
    store = MemoryStore(3, cap=30)
    store.write(np.array([2]), tick=since, kind=TURN, importance=1.0, text=0)
    ticks, weights = [t for t, _ in entries], [w for _, w in entries]
    store.write(np.ones(len(entries), np.int64), tick=ticks, kind=TURN, importance=weights, text=0)
    later = [i for i, t in enumerate(ticks) if t > since]
    expected = sorted(later, key=lambda i: (-weights[i], -ticks[i], i))
    rows, after = np.array([2, 1, 0, 1]), np.array([since - 1, since, since, 99])
    which, slots = store.since(rows, after)
    assert which.tolist() == [0] + [1] * len(expected)
    assert slots.tolist() == [0, *expected]


@settings(deadline=None, max_examples=50)
@given(STEPS)
def test_a_store_written_from_its_log_is_the_same_store(
    steps: list[list[tuple[int, float, int, int]]],
) -> None:
    store = MemoryStore(4, cap=5)
    for now, step in enumerate(steps):
        for row, importance, kind, shift in step:
            store.write(
                np.array([row]), tick=now + shift, kind=kind, importance=importance, text=now
            )
        store.settle()
    held = store.held(np.arange(4))
    log = {name: getattr(held, name)[held.used] for name in COLUMNS}
    rows = np.repeat(np.arange(4), store.count)
    order = np.argsort(log["memory_id"])
    again = MemoryStore(4, cap=5)
    ids = log.pop("memory_id")[order]
    again.write(rows[order], ids=ids, **{name: log[name][order] for name in log})
    again.next_id = store.next_id
    copy = again.held(np.arange(4))
    for name in COLUMNS:
        assert (getattr(copy, name) == getattr(held, name)).all()
    assert again.settle().tolist() == []


def test_given_ids_must_rise_from_the_next_one_on() -> None:
    store = MemoryStore(3)
    store.write(np.array([0]), tick=1, kind=TURN, importance=0.5, text=0, ids=np.array([4]))
    assert store.next_id == 5
    for wrong in ([4, 6], [6, 6], [7, 6]):
        with pytest.raises(ValueError, match="must rise from 5"):
            store.write(
                np.array([1, 2]), tick=1, kind=0, importance=0.5, text=0, ids=np.array(wrong)
            )
    assert store.count.tolist() == [1, 0, 0]


def test_one_persona_s_memories_do_not_touch_another_s() -> None:
    store = MemoryStore(3, cap=2)
    store.write(np.array([0, 2]), tick=1, kind=TURN, importance=0.5, text=[7, 8], claim=1)
    before = store.held(np.array([0, 2]))
    for tick in range(2, 12):
        store.write(np.array([1]), tick=tick, kind=TURN, importance=0.9, text=9, stance=1.0)
        store.settle()
    after = store.held(np.array([0, 2]))
    for name in COLUMNS:
        assert (getattr(before, name) == getattr(after, name)).all()


def test_held_memories_come_in_the_order_of_the_rows_asked_for() -> None:
    store = MemoryStore(3)
    store.write(np.array([2, 0, 2]), tick=1, kind=TURN, importance=0.5, text=[5, 6, 7])
    held = store.held(np.array([2, 1, 0]))
    assert held.text.tolist() == [[5, 7], [-1, -1], [6, -1]]
    assert held.used.tolist() == [[True, True], [False, False], [True, False]]
    assert store.held(np.array([1])).used.shape == (1, 0)
    assert store.held(np.zeros(0, np.int64)).used.shape == (0, 0)


def test_room_grows_by_doubling_and_not_far_beyond_the_cap() -> None:
    store = MemoryStore(1, cap=20)
    widths = [store.memory_id.shape[1]]
    for tick in range(1, 60):
        store.write(np.array([0]), tick=tick, kind=TURN, importance=0.5, text=0)
        store.settle()
        widths.append(store.memory_id.shape[1])
    assert sorted(set(widths)) == [8, 16, 24]
    store.write(np.zeros(90, np.int64), tick=60, kind=TURN, importance=0.5, text=0)
    assert len(store.settle()) == 90


@pytest.mark.parametrize(("cap", "reflection_cap"), [(0, None), (-1, None), (5, 0)])
def test_a_cap_below_one_is_refused(cap: int, reflection_cap: int | None) -> None:
    with pytest.raises(ValueError, match="caps start at 1"):
        MemoryStore(1, cap=cap, reflection_cap=reflection_cap)


def test_a_store_of_nobody_and_a_write_of_nothing_are_no_errors() -> None:
    store = MemoryStore(0)
    none = np.zeros(0, np.int64)
    assert store.write(none, tick=1, kind=TURN, importance=0.5, text=none).tolist() == []
    assert store.settle().tolist() == []
    assert store.composition().tolist() == []
    assert store.next_id == 0
    assert KINDS == ("turn", "reflection", "seed")


def test_affects_and_labels_stay_with_their_memories_when_others_go() -> None:
    store = MemoryStore(2, cap=3, affect=True)
    for i in range(12):
        store.write(
            np.array([i % 2]),
            tick=i,
            kind=0,
            importance=[0.1, 0.9, 0.5][i % 3],
            text=i,
            affect=np.array([[i / 12 - 0.5, i / 12, 1 - i / 12]]),
            overgeneral=i % 3 == 1,
        )
        store.settle()
    for row in range(2):
        kept = store.text[row, : store.count[row]]
        assert store.valence[row, :3].tolist() == (kept / 12 - 0.5).tolist()
        assert store.arousal[row, :3].tolist() == (kept / 12).tolist()
        assert store.dominance[row, :3].tolist() == (1 - kept / 12).tolist()
        assert store.overgeneral[row, :3].tolist() == (kept % 3 == 1).tolist()
    assert not store.valence[:, 3:].any()
    assert store.held(np.array([0])).overgeneral.shape == (1, 3)


def test_a_store_without_affect_has_no_columns_of_it() -> None:
    store = MemoryStore(1)
    store.write(np.array([0]), tick=1, kind=0, importance=0.5, text=0, overgeneral=True)
    assert store.valence.size == store.overgeneral.size == 0
    assert store.held(np.array([0])).valence.size == 0


@pytest.mark.parametrize(
    ("kept", "affect"),
    [(True, None), (False, [[0.0, 0.0, 0.0]]), (True, [[np.nan, 0.0, 0.0]])],
)
def test_an_affect_that_is_missing_or_has_no_place_is_refused(
    *, kept: bool, affect: list[list[float]] | None
) -> None:
    store = MemoryStore(1, affect=kept)
    given = None if affect is None else np.array(affect)
    with pytest.raises(ValueError, match="affect"):
        store.write(np.array([0]), tick=1, kind=0, importance=0.5, text=0, affect=given)
    assert store.count.tolist() == [0]
