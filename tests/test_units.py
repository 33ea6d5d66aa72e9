"""Memory units: the store, its compression and its retrieval (method.md 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation import units
from simulation.encoders import EncoderSpec, load
from simulation.mind import attitude
from simulation.texts import Texts
from simulation.units import Rules, UnitStore, compress, retrieve

if TYPE_CHECKING:
    from numpy.typing import NDArray

ASPECTS = ("taste", "price", "packaging", "smell")
ALIKE = Rules(similarity=-1.0)  # merge by polarity and entropy alone


def ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def flat_texts() -> Texts:
    return Texts(lambda new: np.ones((len(new), 2), np.float32), width=2)


def told(store: UnitStore, texts: Texts) -> Any:
    def summarise(ids: NDArray[np.int64]) -> NDArray[np.int64]:
        at = store.place(ids)
        leans = attitude.lean(store.confidence[at])
        return texts.intern(
            [
                units.summary(f"thing {obj}", [ASPECTS[a] for a in store.aspects(unit)], lean, 0.0)
                for unit, obj, lean in zip(ids.tolist(), store.object[at], leans, strict=True)
            ]
        )

    return summarise


def see(
    store: UnitStore, *pieces: tuple[int, int, int, tuple[float, float, float], float], tick: int
) -> units.Observed:
    persona, obj, aspect, polarity, strength = (list(c) for c in zip(*pieces, strict=True))
    return store.observe(
        ints(*persona),
        ints(*obj),
        ints(*aspect),
        np.array(polarity, float),
        np.array(strength, float),
        tick=tick,
    )


def squeeze(store: UnitStore, texts: Texts, tick: int, rules: Rules = ALIKE) -> units.Compression:
    store.summary[:] = told(store, texts)(store.unit_id)
    return compress(store, texts, rules=rules, tick=tick, summarise=told(store, texts))


GOOD, BAD, TORN = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05), (0.36, 0.34, 0.3)


def test_evidence_about_one_side_goes_to_one_unit() -> None:
    store = UnitStore()
    seen = see(store, (0, 1, 2, GOOD, 0.4), (0, 1, 2, BAD, 0.4), (0, 1, 3, GOOD, 0.2), tick=4)
    assert seen.unit_id.tolist() == [0, 0, 1]
    assert store.observations.tolist() == [2, 1]
    np.testing.assert_allclose(store.confidence[0], (0.475, 0.475, 0.05))
    np.testing.assert_allclose(seen.confidence[0], GOOD)
    assert store.weight.tolist() == [0.8, 0.2]
    assert store.created.tolist() == store.updated.tolist() == [4, 4]
    assert store.find(ints(0, 0, 1), ints(1, 1, 1), ints(2, 0, 2)).tolist() == [0, -1, -1]


def test_a_store_without_updates_founds_a_unit_per_piece() -> None:
    store = UnitStore(updating=False)
    seen = see(store, *[(0, 1, 2, GOOD, 0.4)] * 3, tick=1)
    assert seen.unit_id.tolist() == [0, 1, 2]
    see(store, (0, 1, 2, GOOD, 0.4), tick=2)
    assert len(store) == 4
    assert store.about(0, 1, 2).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("polarity", "strength", "fault"),
    [
        ((0.0, 0.0, 0.0), 0.5, "sum to 1"),
        ((1.5, -0.5, 0.0), 0.5, "in [0, 1]"),
        ((float("nan"), 0.5, 0.5), 0.5, "in [0, 1]"),
        (GOOD, 0.0, "strength"),
        (GOOD, 1.01, "strength"),
        (GOOD, -0.1, "strength"),
        (GOOD, float("nan"), "strength"),
    ],
)
def test_impossible_evidence_is_refused_and_changes_nothing(
    polarity: tuple[float, float, float], strength: float, fault: str
) -> None:
    store = UnitStore()
    with pytest.raises(ValueError, match=fault.replace("[", r"\[")):
        see(store, (0, 1, 2, GOOD, 0.4), (0, 1, 2, polarity, strength), tick=1)
    assert (len(store), store.next_id) == (0, 0)


@pytest.mark.parametrize("persona", [-1, units.index.PERSONAS])
def test_numbers_that_a_store_cannot_tell_apart_are_refused(persona: int) -> None:
    with pytest.raises(ValueError, match="lies outside"):
        see(UnitStore(), (persona, 1, 2, GOOD, 0.4), tick=1)


@pytest.mark.parametrize("cap", [0.0, -1.0, float("nan")])
def test_a_cap_must_be_above_zero(cap: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        UnitStore(cap=cap)


def test_a_unit_that_does_not_live_is_told() -> None:
    store = UnitStore()
    with pytest.raises(KeyError, match="no such living unit"):
        store.place(ints(0))
    see(store, (0, 1, 2, GOOD, 0.4), tick=1)
    with pytest.raises(KeyError, match="no such living unit"):
        store.place(ints(0, 7))


def test_alike_units_of_one_object_merge_and_later_evidence_goes_to_the_survivor() -> None:
    store, texts = UnitStore(), flat_texts()
    see(
        store,
        (0, 1, 0, GOOD, 0.2),
        (0, 1, 1, GOOD, 0.6),
        (0, 2, 0, GOOD, 0.6),
        (1, 1, 0, GOOD, 0.6),
        tick=1,
    )
    done = squeeze(store, texts, 1)
    assert [(m.unit_id.tolist(), m.other.tolist()) for m in done.rounds] == [([1], [0])]
    assert done.rounds[0].aspects == ((0, 1),)
    assert store.unit_id.tolist() == [1, 2, 3]
    assert store.aspects(1) == (0, 1)
    assert store.find(ints(0), ints(1), ints(0)).tolist() == [1]
    assert texts[int(store.summary[0])].startswith("thing 1, taste and price")
    np.testing.assert_allclose(store.weight[0], 0.8)
    assert see(store, (0, 1, 0, BAD, 0.2), tick=2).unit_id.tolist() == [1]
    assert store.observations[0] == 3


def test_of_equally_heavy_units_the_older_survives() -> None:
    store = UnitStore()
    see(store, (0, 1, 1, GOOD, 0.5), (0, 1, 0, GOOD, 0.5), tick=1)
    squeeze(store, flat_texts(), 1)
    assert store.unit_id.tolist() == [0]


def test_units_that_lean_apart_or_say_other_things_stay_apart() -> None:
    store = UnitStore()
    see(store, (0, 1, 0, GOOD, 0.5), (0, 1, 1, BAD, 0.5), tick=1)
    assert squeeze(store, flat_texts(), 1).rounds == ()
    other = UnitStore()
    see(other, (0, 1, 0, GOOD, 0.5), (0, 1, 1, GOOD, 0.5), tick=1)
    apart = Texts(lambda new: np.eye(len(new), 8, dtype=np.float32), width=8)
    assert squeeze(other, apart, 1, Rules()).rounds == ()


def test_the_pair_that_lowers_entropy_most_merges_first() -> None:
    store = UnitStore()
    torn = (0.5, 0.3, 0.2)
    see(store, *[(0, 1, i, p, 0.5) for i, p in enumerate((GOOD, torn, torn))], tick=1)
    done = squeeze(store, flat_texts(), 1)
    assert [m.other.tolist() for m in done.rounds] == [[2], [0]]
    assert store.aspects(1) == (0, 1, 2)


def test_noise_is_forgotten_only_after_its_time_and_its_side_can_be_founded_anew() -> None:
    store, texts = UnitStore(), flat_texts()
    see(store, (0, 1, 0, TORN, 0.5), (0, 1, 1, GOOD, 0.5), tick=1)
    alone = Rules(merging=False)
    assert len(squeeze(store, texts, 5, alone).deleted.unit_id) == 0
    gone = squeeze(store, texts, 6, alone).deleted
    assert gone.unit_id.tolist() == [0]
    np.testing.assert_allclose(gone.confidence, [TORN])
    assert store.find(ints(0), ints(1), ints(0)).tolist() == [-1]
    assert see(store, (0, 1, 0, GOOD, 0.5), tick=7).unit_id.tolist() == [2]


def test_what_merges_away_is_not_forgotten_besides_and_what_is_idle_goes_with_it() -> None:
    store = UnitStore()
    see(store, (0, 1, 0, TORN, 0.3), (0, 1, 1, TORN, 0.2), (0, 2, 0, TORN, 0.3), tick=1)
    see(store, (0, 3, 0, GOOD, 0.3), tick=7)
    done = squeeze(store, flat_texts(), 7)
    assert [(m.unit_id.tolist(), m.other.tolist()) for m in done.rounds] == [([0], [1])]
    assert done.deleted.unit_id.tolist() == [0, 2]
    assert done.deleted.entropy.tolist() == attitude.entropy(done.deleted.confidence).tolist()
    assert store.unit_id.tolist() == [3]
    assert store.about(0).tolist() == [3]
    again = see(store, (0, 1, 1, GOOD, 0.3), (0, 3, 0, GOOD, 0.3), tick=8)
    assert again.unit_id.tolist() == [4, 3]
    assert again.observations.tolist() == [1, 2]


def test_merging_and_deleting_can_be_switched_off() -> None:
    store = UnitStore()
    see(store, (0, 1, 0, TORN, 0.5), (0, 1, 1, TORN, 0.5), tick=1)
    off = Rules(similarity=-1.0, merging=False, deleting=False)
    done = squeeze(store, flat_texts(), 50, off)
    assert (done.rounds, len(done.deleted.unit_id), len(store)) == ((), 0, 2)


pieces = st.tuples(
    st.integers(0, 1),
    st.integers(0, 2),
    st.integers(0, 3),
    st.sampled_from([GOOD, BAD, TORN, (0.2, 0.2, 0.6), (1.0, 0.0, 0.0)]),
    st.sampled_from([0.1, 0.3, 0.7]),
)


def state(store: UnitStore) -> list[Any]:
    columns = (store.unit_id, store.confidence, store.weight, store.summary, *store.keys)
    return [column.tolist() for column in columns]


@settings(deadline=None, max_examples=60)
@given(st.lists(pieces, min_size=1, max_size=40))
def test_compression_is_idempotent_deterministic_and_never_raises_entropy(
    evidence: list[tuple[int, int, int, tuple[float, float, float], float]],
) -> None:
    stores = []
    for _ in range(2):
        store, texts = UnitStore(), flat_texts()
        see(store, *evidence, tick=1)
        before = store.entropy()
        squeeze(store, texts, 9)
        assert store.entropy() <= before + 1e-9
        once = state(store)
        again = squeeze(store, texts, 9)
        assert (again.rounds, len(again.deleted.unit_id)) == ((), 0)
        assert state(store) == once
        stores.append(once)
    assert stores[0] == stores[1]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(pieces, min_size=1, max_size=8), min_size=1, max_size=8))
def test_only_touched_units_need_to_be_looked_at(
    ticks: list[list[tuple[int, int, int, tuple[float, float, float], float]]],
) -> None:
    whole, part, texts = UnitStore(), UnitStore(), flat_texts()
    for tick, evidence in enumerate(ticks, 1):
        for store, narrow in ((whole, False), (part, True)):
            touched = np.unique(see(store, *evidence, tick=tick).unit_id)
            store.summary[store.place(touched)] = told(store, texts)(touched)
            compress(
                store,
                texts,
                rules=ALIKE,
                tick=tick,
                summarise=told(store, texts),
                touched=touched if narrow else None,
            )
            np.testing.assert_array_equal(store.disorder, attitude.entropy(store.confidence))
            keys, owner = store.keys
            assert keys.tolist() == sorted(keys.tolist())
            assert np.bincount(store.place(owner), minlength=len(store)).tolist() == (
                store.width.tolist()
            )
            assert store.width.tolist() == [len(store.aspects(i)) for i in store.unit_id.tolist()]
    assert state(whole) == state(part)


@settings(deadline=None, max_examples=40)
@given(st.lists(pieces, min_size=1, max_size=30))
def test_merging_one_object_changes_nothing_about_the_others(
    evidence: list[tuple[int, int, int, tuple[float, float, float], float]],
) -> None:
    merged, apart = UnitStore(), UnitStore()
    for store, rules in ((merged, ALIKE), (apart, Rules(merging=False))):
        see(store, *evidence, tick=1)
        squeeze(store, flat_texts(), 2, rules)
    alone = [
        unit
        for unit in apart.unit_id.tolist()
        if np.isin(unit, merged.unit_id) and len(merged.aspects(unit)) == 1
    ]
    at, other = merged.place(ints(*alone)), apart.place(ints(*alone))
    np.testing.assert_array_equal(merged.confidence[at], apart.confidence[other])
    np.testing.assert_array_equal(merged.weight[at], apart.weight[other])


def test_a_hundred_objects_with_ten_sides_each_are_told_apart() -> None:
    store = UnitStore()
    every = [(3, obj, side, GOOD, 0.5) for obj in range(100) for side in range(10)]
    see(store, *every, tick=1)
    see(store, *reversed(every), tick=2)
    assert len(store) == 1000
    assert store.about(3).tolist() == list(range(1000))
    assert store.about(3, 42).tolist() == list(range(420, 430))
    assert store.about(3, 99, 9).tolist() == [999]
    assert store.about(2).tolist() == store.about(4).tolist() == []


def test_a_store_comes_back_as_it_was() -> None:
    store, texts = UnitStore(), flat_texts()
    see(store, *[(0, 1, i, GOOD, 0.5) for i in range(3)], (1, 0, 0, BAD, 0.3), tick=1)
    squeeze(store, texts, 1)
    again = UnitStore()
    columns = {name: getattr(store, name) for name in (*units.store.COLUMNS, "confidence")}
    keys, owner = store.keys
    again.restore(columns, keys[::-1], owner[::-1], store.next_id)
    assert state(again) == state(store)
    assert again.next_id == store.next_id


def test_retrieval_narrows_by_side_then_object_then_ranks_by_meaning() -> None:
    encoder = load(EncoderSpec(name="static"))
    texts = Texts(encoder.encode, width=encoder.width)
    store = UnitStore()
    said = {
        (0, 0): "the coffee tastes wonderful and rich",
        (0, 1): "the coffee is far too expensive",
        (1, 0): "the tea tastes of nothing",
        (1, 2): "the box of the tea is pretty",
    }
    see(store, *[(0, obj, side, GOOD, 0.5) for obj, side in said], tick=1)
    store.summary[:] = texts.intern(list(said.values()))
    ask = int(texts.intern(["How much does the coffee cost?"])[0])
    common: Any = {"persona": 0, "query": ask, "k": 2}
    assert retrieve(store, texts, **common, objects=[0], aspect=0).tolist() == [0]
    assert retrieve(store, texts, **common, objects=[0], aspect=3).tolist() == [1, 0]
    assert retrieve(store, texts, **common, objects=[0]).tolist() == [1, 0]
    assert retrieve(store, texts, **common, objects=[7])[0] == 1
    assert retrieve(store, texts, **common)[0] == 1
    assert retrieve(store, texts, persona=5, query=ask, k=2).tolist() == []
    assert retrieve(store, texts, persona=0, query=ask, k=0).tolist() == []


@pytest.mark.parametrize(
    ("lean", "entropy", "words"),
    [
        (0.8, 0.3, "Bolt, taste and price: very good, certain."),
        (0.3, 0.6, "Bolt, taste and price: rather good, mixed."),
        (0.0, 1.2, "Bolt, taste and price: neither good nor bad, torn."),
        (-0.25, 1.3, "Bolt, taste and price: rather bad, torn."),
        (-0.9, 0.59, "Bolt, taste and price: very bad, certain."),
    ],
)
def test_a_unit_is_put_in_words(lean: float, entropy: float, words: str) -> None:
    assert units.summary("Bolt", ["taste", "price"], lean, entropy) == words
    assert units.summary("Bolt", ["taste"], 0.8, 0.3, "it melts").endswith("certain; it melts")
