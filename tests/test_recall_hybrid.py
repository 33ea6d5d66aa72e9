"""Recall by words, cosine and neighbours: `recall.mode: hybrid`, against a plain loop."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from executing import cut_small, told
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small import small
from test_resume import digests, stopped
from worlds import assert_equal_worlds, running

from simulation import recall as engine_recall
from simulation.encoders import EncoderSpec, load
from simulation.executors.local import Local
from simulation.memory import MemoryStore
from simulation.rebuilding import engine_at
from simulation.recall import MODES, PATHS, Recalled, recall
from simulation.rng import Streams, stream_keys
from simulation.runlog import RunFile
from simulation.runs import fork, resume, simulate
from simulation.scenario.effects import without_effect
from simulation.texts import Texts
from simulation.words import content, stem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.engine import Engine

PERSONAS = 3
NOW = 9
STREAMS = Streams(5)
KEYS = stream_keys(["anna", "ben", "Zoë"])
SENTENCES = (
    "Where did you hear of the grey seals?",
    "Two grey seals slept on the rocks, grey as the rocks.",
    "My sister moved her bakery to the harbour.",
    "Bakeries, bakeries and sleeping seals!",
    "It is what it was.",  # no word that says anything
    "…",  # no word
    "The harbour.",
)
ENCODER = load(EncoderSpec(name="ngram"))
HYBRID: dict[str, Any] = {"recall": {"mode": "hybrid"}}


def table() -> Texts:
    texts = Texts(ENCODER.encode, width=ENCODER.width)
    texts.intern(SENTENCES)
    return texts


TABLE = table()
Memory = tuple[int, int, int]  # row, tick, text
TEXT = st.integers(0, len(SENTENCES) - 1)
MEMORIES = st.lists(st.tuples(st.integers(0, PERSONAS - 1), st.integers(0, 3), TEXT), max_size=30)


def store_of(memories: Sequence[Memory], *, cap: int = 40) -> MemoryStore:
    store = MemoryStore(PERSONAS, cap=cap)
    ordered = sorted(memories, key=lambda memory: memory[1])  # as ticks go by
    row, tick, text = (np.array([m[c] for m in ordered], np.int64) for c in range(3))
    store.write(row, tick=tick, kind=0, importance=0.5, text=text)
    return store


def call(
    store: MemoryStore,
    *,
    rows: Sequence[int] = range(PERSONAS),
    query: Sequence[int] = (0, 3, 6),
    k: int = 4,
    texts: Texts = TABLE,
    now: int = NOW,
) -> Recalled:
    chosen = np.array(rows, np.int64)
    return recall(
        store, texts, rows=chosen, query=np.array(query, np.int64), now=now, tau=2.5,
        k=np.full(len(rows), k), mode="hybrid", streams=STREAMS, keys=KEYS[chosen],
    )  # fmt: skip


def same(one: Recalled, other: Recalled, *names: str) -> None:
    for name in names or tuple(field.name for field in fields(Recalled)):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


# The score.


def words(text: int) -> list[str]:
    return [stem(word) for word in content(SENTENCES[text])] if text >= 0 else []


def plain_scores(own: Sequence[Memory], query: int) -> list[float]:
    """Return the score of each memory of one persona, by a loop."""
    held = [words(text) for _, _, text in own]
    mean = sum(map(len, held)) / len(held) or 1.0
    lexical = [0.0] * len(own)
    for word in dict.fromkeys(words(query)):
        df = sum(word in each for each in held)
        rarity = math.log(1 + (len(held) - df + 0.5) / (df + 0.5))
        for i, each in enumerate(held):
            tf = each.count(word)
            damping = 0.6 * (1 - 0.2 + 0.2 * len(each) / mean)
            lexical[i] += rarity * tf * 1.6 / (tf + damping)
    ids = np.array([text for _, _, text in own])
    cosine = np.clip(TABLE.cosine(ids, np.full(len(own), query)), 0, 1).tolist()
    low, high, best = min(cosine), max(cosine), max(lexical)
    score = [
        (x / best if best else 0.0) + (0.15 * (c - low) / (high - low) if high > low else 0.0)
        for x, c in zip(lexical, cosine, strict=True)
    ]
    lent = list(score)
    for i, (_, tick, _) in enumerate(own):
        for n in (1, 2, 3):
            if i >= n and own[i - n][1] == tick:
                lent[i] += 0.6**n * score[i - n]
        if i + 1 < len(own) and own[i + 1][1] == tick:
            lent[i] += 0.2 * score[i + 1]
    return lent


@settings(deadline=None, max_examples=150)
@given(MEMORIES, st.lists(st.integers(-1, len(SENTENCES) - 1), min_size=3, max_size=3))
def test_recall_is_that_of_a_plain_loop(memories: list[Memory], query: list[int]) -> None:
    found = call(store_of(memories), query=query)
    ordered = sorted(memories, key=lambda memory: memory[1])
    for row in range(PERSONAS):
        own = [memory for memory in ordered if memory[0] == row]
        score = plain_scores(own, query[row]) if own else []
        best = sorted(range(len(own)), key=lambda i: (-round(score[i], 9), -own[i][1], i))[:4]
        count = len(best)
        np.testing.assert_allclose(
            found.score[row, :count], [score[i] for i in best], rtol=1e-12, atol=1e-12
        )
        assert np.isnan(found.score[row, count:]).all()
        rounded = [round(each, 9) for each in score]
        if len(set(rounded)) == len(rounded):  # rounding may turn equals round
            assert found.position[row, :count].tolist() == best


def test_what_answers_comes_back_after_what_sounds_like_the_question() -> None:
    talk = [(0, 1, 4), (0, 2, 2), (0, 3, 0), (0, 3, 6)]  # "The harbour." answers in one tick
    assert call(store_of(talk), rows=[0], query=[0], k=2).position.tolist() == [[2, 3]]
    apart = [(0, 1, 4), (0, 2, 2), (0, 3, 0), (0, 4, 6)]  # and a tick later it does not
    lent = call(store_of(talk), rows=[0], query=[0], k=4)
    alone = call(store_of(apart), rows=[0], query=[0], k=4)
    assert lent.score[0, 1] > alone.score[0, 1] + 0.5


def test_the_words_of_a_query_count_once() -> None:
    texts = Texts(lambda new: np.zeros((len(new), 1), np.float32), width=1)
    texts.intern(["seal", "rock", "seal seal seal rock", "seal rock"])
    store = store_of([(0, 1, 0), (0, 2, 1), (0, 3, 1)])
    thrice, once = (
        call(store, rows=[0], query=[query], texts=texts, k=3).score for query in (2, 3)
    )
    np.testing.assert_array_equal(thrice, once)


def test_relevance_recency_and_importance_are_those_of_the_other_modes() -> None:
    store = store_of([(r, t, (r + t) % 6) for t in range(4) for r in range(PERSONAS)])
    found = call(store)
    for a in range(PERSONAS):
        text = store.text[a, found.position[a]]
        cosine = TABLE.cosine(text, np.full(4, (0, 3, 6)[a]))
        np.testing.assert_array_equal(found.relevance[a], np.clip(cosine, 0, 1))
    np.testing.assert_array_equal(found.importance, 0.5)
    assert ((found.recency > 0) & (found.recency < 1)).all()
    assert (found.path == PATHS.index("hybrid")).all()


# Whoever stands beside.


@settings(deadline=None, max_examples=80)
@example([(0, 0, 1)] * 9 + [(2, 0, 3)], [2, 0])
@given(MEMORIES, st.permutations(range(PERSONAS)).map(lambda rows: rows[:2]))
def test_a_row_has_the_same_bits_whoever_stands_beside_it(
    memories: list[Memory], some: list[int]
) -> None:
    store = store_of(memories)
    everyone = call(store)
    few = call(store, rows=some, query=[(0, 3, 6)[row] for row in some])
    for name in (field.name for field in fields(Recalled)):
        np.testing.assert_array_equal(getattr(everyone, name)[some], getattr(few, name))
    for a, row in enumerate(some):  # and whatever the others remember
        alone = call(
            store_of([memory for memory in memories if memory[0] == row]),
            rows=[row],
            query=[(0, 3, 6)[row]],
        )
        for name in ("position", "score", "relevance"):
            np.testing.assert_array_equal(getattr(few, name)[a], getattr(alone, name)[0])


def test_how_much_others_write_in_between_parts_no_neighbours() -> None:
    own = [(1, 2, 0), (1, 2, 6), (1, 2, 2)]
    alone = call(store_of(own), rows=[1], query=[0])
    between = [own[0], (0, 2, 3), (2, 2, 3), own[1], (0, 2, 1), own[2]]
    crowded = call(store_of(between), rows=[1], query=[0])
    same(alone, crowded, "position", "score")


def test_the_order_in_which_texts_became_known_changes_nothing() -> None:
    turned = Texts(ENCODER.encode, width=ENCODER.width)
    turned.intern(SENTENCES[::-1])
    last = len(SENTENCES) - 1
    memories = [(0, t // 2, t) for t in range(6)]
    found = call(store_of(memories), rows=[0], query=[0])
    other = call(
        store_of([(r, t, last - text) for r, t, text in memories]),
        rows=[0],
        query=[last],
        texts=turned,
    )
    same(found, other, "position", "score", "relevance")


@pytest.mark.parametrize("room", [1, 40, 500])
def test_small_pieces_give_what_the_whole_gives(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of([(r, t % 4, (r * t) % 7) for t in range(9) for r in range(PERSONAS)][:-3])
    large = call(store)
    monkeypatch.setattr(engine_recall, "ROOM", room)
    same(call(store), large)


def test_a_forgotten_memory_leaves_no_gap() -> None:
    store = MemoryStore(1, cap=2)
    store.write(
        np.zeros(3, np.int64),
        tick=1,
        kind=0,
        importance=np.array([0.5, 0.1, 0.5]),
        text=np.array([0, 5, 6]),
    )
    store.settle()
    found = call(store, rows=[0], query=[0])
    assert found.score[0, 1] > 0.6


# Words of texts.


def test_words_are_numbers_by_first_appearance_and_stay() -> None:
    texts = table()
    first = texts.words(np.array([1, -1, 4]))
    assert first.tolist() == [[3, 1, 2, 4, 5, 1, 5], [-1] * 7, [-1] * 7]  # "hear" is 0
    texts.intern(["A bakery by the sea", "seals"])
    ids = np.array([[1, 7], [8, 6]])
    assert texts.words(ids).shape == (2, 2, 7)
    assert texts.word_counts(np.array([1, -1, 4, 8])).tolist() == [7, 0, 0, 1]
    np.testing.assert_array_equal(texts.words(ids)[0, 0], first[0])
    assert texts.words(np.array([8])).tolist() == [[2]]
    assert texts.words(np.zeros((2, 0), np.int64)).shape == (2, 0, 0)
    with pytest.raises(IndexError):
        texts.words(np.array([9]))


def test_a_text_is_read_once_and_only_where_words_count(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str, **more: Any) -> list[str]:
        read.append(text)
        return content(text, **more)

    monkeypatch.setattr("simulation.words.content", counted)
    texts = table()
    store = store_of([(0, t, t) for t in range(4)])
    for mode in [mode for mode in MODES if mode != "hybrid"]:
        recall(
            store, texts, rows=np.array([0]), query=np.array([0]), now=NOW, tau=2.5,
            k=np.array([2]), mode=mode, streams=STREAMS, keys=KEYS[:1],
        )  # fmt: skip
    assert read == []
    for _ in range(2):
        call(store, rows=[0], query=[0], texts=texts)
    assert read == list(SENTENCES)


def test_codes_of_the_other_paths_are_as_they_were() -> None:
    assert PATHS[:8] == (
        *("product", "semantic", "generative_agents", "random", "none"),
        *("redirect", "passive", "active"),
    )
    assert set(MODES) < set(PATHS)


# Runs.


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(small(**HYBRID), out=tmp_path_factory.mktemp("whole") / "a.duckdb")


def test_a_run_is_logged_with_the_score_that_ranked(whole: Path) -> None:
    with RunFile.open(whole) as run:
        rows = run.query("SELECT path, relevance, score FROM recalls").rows
        unordered = run.query(
            "SELECT count(*) FROM recalls a JOIN recalls b USING (tick, persona_id) "
            "WHERE a.slot = b.slot + 1 AND a.score > b.score"
        ).rows
        parameters = run.run.header.parameters
    assert len(rows) > 50
    assert {path for path, _, _ in rows} == {"hybrid"}
    assert all(0 <= relevance <= 1 for _, relevance, _ in rows)
    assert max(score for _, _, score in rows) > 1  # words of the best, a cosine, neighbours
    assert unordered == [(0,)]
    assert parameters["recall.mode"] == "hybrid"


def test_a_world_from_rows_is_the_world_and_goes_on_as_it_did() -> None:
    after: list[str] = []
    started: dict[int, Engine] = {}
    loaded = small(**HYBRID, memory={"cap": 4, "reflection_cap": 1}, horizon=6)
    for engine, writer in running(loaded):
        after.append(engine.records.state_digest)
        if engine.world.tick in (1, 4):
            started[engine.world.tick] = engine_at(writer.reader())
            assert_equal_worlds(started[engine.world.tick].world, engine.world)
    for tick, engine in started.items():
        assert [engine.advance().state_digest for _ in after[tick + 1 :]] == after[tick + 1 :]


def test_a_run_that_stopped_goes_on_to_the_same_digests(whole: Path, tmp_path: Path) -> None:
    path = stopped(tmp_path / "cut.duckdb", after=4, **HYBRID)
    resume(path)
    assert digests(path) == digests(whole)


def test_a_fork_takes_another_way_from_its_tick_on(whole: Path, tmp_path: Path) -> None:
    path = fork(whole, at=3, settings=["recall.mode=semantic"], out=tmp_path / "fork.duckdb")
    assert digests(path)[:4] == digests(whole)[:4]
    assert digests(path) != digests(whole)


def test_a_run_in_parts_tells_what_the_whole_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = small(**HYBRID, horizon=5)
    here = told(loaded, None)
    cut_small(monkeypatch, 5)
    monkeypatch.setattr(engine_recall, "BLOCK", 5)
    monkeypatch.setattr(engine_recall, "ROOM", 100)
    assert told(loaded, Local()) == here


@pytest.mark.parametrize("kind", ["attachment", "big_five"])
def test_a_personality_bends_nothing_of_it(kind: str, tmp_path: Path) -> None:
    people = {"size": 8, "activity": 0.9, "personality": {"kind": kind, "sample": True}}
    path = simulate(small(**HYBRID, population=people, horizon=5), out=tmp_path / "a.duckdb")
    with RunFile.open(path) as run:
        assert run.query("SELECT DISTINCT path FROM recalls").rows == [("hybrid",)]
        assert run.query("SELECT count(*) FROM gates").rows == [(0,)]
        assert run.query("SELECT count(*) FROM affects").rows[0][0] > 0


def test_a_time_constant_is_said_to_have_no_effect() -> None:
    scenario = small(recall={"mode": "hybrid", "tau": 2.0}).scenario
    assert without_effect(scenario) == ("recall.tau: has no effect with mode hybrid",)
