"""Gated recall: one slot after the other, by the product unless a memory takes over."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minds import ANXIOUS, NOW, SECURE, TAU, World

from simulation import gated
from simulation.recall import PATHS, Recalled, recall

if TYPE_CHECKING:
    from simulation.search import Decisions

OPEN: dict[str, Any] = {"gate": {"theta_0": -50.0}}  # always fires
SHUT: dict[str, Any] = {"gate": {"theta_0": 50.0}}  # never does, though it is not off
STREETS = [f"Somebody walked along street number {i}." for i in range(50)]


def same(left: Recalled | Decisions, right: Recalled | Decisions) -> bool:
    return all(
        np.array_equal(
            getattr(left, f.name),
            getattr(right, f.name),
            equal_nan=getattr(left, f.name).dtype.kind == "f",
        )
        for f in fields(left)
    )


def by_product(world: World, query: str, k: int) -> Recalled:
    mind = world.mind(query)
    return recall(
        world.store, world.texts, rows=mind.rows, query=mind.query, now=NOW, tau=TAU,
        k=np.full(len(mind.rows), k), mode="product", streams=world.streams, keys=mind.keys,
    )  # fmt: skip


@pytest.mark.parametrize("held", [0, 1, 2, 50])
@pytest.mark.parametrize("k", [0, 1, 3, 60])
@pytest.mark.parametrize("gate", [OPEN, SHUT, {}])
def test_a_store_of_any_size_gives_k_memories_or_all(
    held: int, k: int, gate: dict[str, Any]
) -> None:
    world = World(**gate)
    world.remember(STREETS[:held])
    found, decisions = world.gated("A walk along the street", k)
    assert found.position.shape == (1, k)
    used = found.position[0] >= 0
    assert used.sum() == min(held, k) == len(decisions.turn)
    assert used[: min(held, k)].all()
    assert len(set(found.position[0][used].tolist())) == used.sum()
    assert decisions.step.tolist() == list(range(1, min(held, k) + 1))


@pytest.mark.parametrize("persmem", [{"gate": {"mode": "off"}}, {"switches": {"G": False}}, SHUT])
@pytest.mark.parametrize("personality", [(ANXIOUS, SECURE), ((0.5, 0.1, 0.9, 0.4, 0.8),) * 2])
def test_a_gate_that_never_fires_recalls_as_the_product_does_to_the_last_bit(
    persmem: dict[str, Any], personality: tuple[tuple[float, ...], ...]
) -> None:
    world = World(personality, **persmem)
    world.remember(STREETS[:20], affect=(-0.5, 0.7, 0.2))
    world.remember(STREETS[10:12], row=1)
    found, decisions = world.gated("Somebody on street number 7", 4)
    assert same(found, by_product(world, "Somebody on street number 7", 4))
    assert len(decisions.turn) == 6
    assert not decisions.fired.any()


def test_a_gate_that_always_fires_follows_the_memories_it_is_led_to() -> None:
    world = World(**OPEN)
    world.remember(STREETS[:9])
    found, decisions = world.gated("A walk", 4)
    assert [PATHS[code] for code in found.path[0]] == ["redirect"] * 4
    words = world.words(found)
    asked = [world.texts[int(text)] for text in found.query[0]]
    assert asked == ["A walk", *(text[:60] for text in words[:-1])]
    assert decisions.query.tolist() == found.query[0].tolist()
    assert decisions.passive_score.tolist() == found.score[0].tolist()
    assert decisions.semantic.tolist() == found.relevance[0].tolist()


def test_the_query_is_the_first_sixty_code_points_of_the_memory() -> None:
    world = World(**OPEN)
    world.remember(["🙂" * 100])
    world.remember(["x" * 70], tick=1)
    found, _ = world.gated("A walk", 2)
    first = world.words(found)[0]
    assert world.texts[int(found.query[0, 1])] == first[:60]


def test_a_memory_without_text_leaves_the_query() -> None:
    world = World(**OPEN)
    world.remember(["", ""], tick=[1, 2])
    found, _ = world.gated("A walk", 2)
    assert [world.texts[int(text)] for text in found.query[0]] == ["A walk", "A walk"]


@pytest.mark.parametrize("text", ["", "🙂🎉", "   \n", "word " * 20_000])
@pytest.mark.parametrize("mode", ["gated", "retrieve"])
def test_odd_texts_are_recalled_like_others(text: str, mode: str) -> None:
    world = World()
    world.remember([text, "Somebody walked.", text])
    found, decisions = getattr(world, mode)(text)
    assert (found.position[0] >= 0).sum() == 3
    assert np.isfinite(decisions.passive_score).all()


def test_of_identical_memories_the_product_takes_the_newest_first() -> None:
    world = World(**SHUT)
    world.remember(["Somebody walked."] * 5, tick=3)
    found, _ = world.gated("Somebody walked.", 3)
    assert found.position[0].tolist() == [0, 1, 2]  # all of one tick: the lowest id
    world.remember(["Somebody walked."], tick=4)
    assert world.gated("Somebody walked.", 1)[0].position[0].tolist() == [5]


def test_draws_depend_on_nobody_else() -> None:
    personality = [ANXIOUS, SECURE, (0.4, 0.9), ANXIOUS]
    world = World(personality)
    for row in range(4):
        world.remember(STREETS[row * 10 : row * 10 + 12], row=row)
    together = world.gated("A walk along the street")
    for row in range(4):
        alone = world.gated("A walk along the street", rows=[row])
        assert alone[0].position[0].tolist() == together[0].position[row].tolist()
        mine = together[1].turn == row
        assert alone[1].draw.tolist() == together[1].draw[mine].tolist()
        assert alone[1].memory_id.tolist() == together[1].memory_id[mine].tolist()


def test_draws_do_not_depend_on_what_others_wrote() -> None:
    positions = []
    for others in (0, 17):
        world = World([SECURE, ANXIOUS])
        if others:
            world.remember(STREETS[:others])
        world.remember(STREETS[20:40], row=1)  # with other ids, then
        positions.append(world.gated("A walk")[0].position[1].tolist())
    assert positions[0] == positions[1]


def test_many_personas_recall_as_few_do(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([ANXIOUS, SECURE, (0.5, 0.9)])
    for row in range(3):
        world.remember(STREETS[row : row + 15], row=row)
    whole = (world.gated("A walk"), world.retrieve("A walk"))
    monkeypatch.setattr("simulation.gated.BLOCK", 1)
    monkeypatch.setattr("simulation.active.BLOCK", 2)
    pieces = (world.gated("A walk"), world.retrieve("A walk"))
    for one, other in zip(whole, pieces, strict=True):
        assert same(one[0], other[0])
        assert same(one[1], other[1])


def test_a_turn_of_nobody_recalls_nothing() -> None:
    world = World()
    mind = world.mind("A walk", rows=[0]).block(1, 1)
    found, decisions = gated.gated(
        world.store, world.texts, world.streams, world.disposition, mind, k=np.zeros(0, np.int64)
    )
    assert found.position.shape == (0, 0)
    assert len(decisions.turn) == 0


def test_only_the_best_candidates_are_proposed() -> None:
    world = World(passive={"candidates": 1}, **SHUT)
    world.remember(STREETS[:30])
    _, decisions = world.gated("Somebody walked along street number 4.", 1)
    search_for_best = World(passive={"temperature": 0.001}, **SHUT)
    search_for_best.remember(STREETS[:30])
    _, best = search_for_best.gated("Somebody walked along street number 4.", 1)
    assert decisions.memory_id.tolist() == best.memory_id.tolist()


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), anxiety=st.floats(0, 1), k=st.integers(1, 6))
def test_what_fired_is_what_was_redirected(seed: int, anxiety: float, k: int) -> None:
    world = World([(anxiety, 0.3)], seed=seed)
    world.remember(STREETS[:12], affect=(-0.6, 0.8, 0.3))
    found, decisions = world.gated("Somebody walked", k, state=(-0.4, 0.7, 0.4))
    redirected = found.path[0] == PATHS.index("redirect")
    assert decisions.fired.tolist() == redirected.tolist()
    assert (decisions.fired == (decisions.draw < decisions.probability)).all()
    assert found.memory_id[0][redirected].tolist() == decisions.memory_id[decisions.fired].tolist()


def test_an_anxious_persona_is_led_to_bad_memories_more_often_than_a_secure_one() -> None:
    shares = []
    for personality in (ANXIOUS, SECURE):
        people = 300
        world = World([personality] * people)
        for row in range(people):
            world.remember(STREETS[:8], row=row, affect=(0.5, 0.4, 0.5))
            world.remember(STREETS[8:16], row=row, affect=(-0.5, 0.4, 0.5))
        found, _ = world.gated("Somebody walked along a street")
        shares.append(float((found.position >= 8).mean()))
    assert shares[0] > shares[1] + 0.1
