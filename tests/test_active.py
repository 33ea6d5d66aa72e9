"""Passive and active retrieval in full: two sets, a controller between the steps, one result."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minds import ANXIOUS, World

from simulation.active import DONE, Question, RuleController
from simulation.recall import PATHS

if TYPE_CHECKING:
    from collections.abc import Sequence

OPEN: dict[str, Any] = {"gate": {"theta_0": -50.0}}
SHUT: dict[str, Any] = {"gate": {"mode": "off"}}
STREETS = [f"Somebody walked along street number {i}." for i in range(50)]


class Script:
    """A controller that gives prepared answers and keeps what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    def decide(self, question: Question) -> Sequence[str]:
        self.asked.append(question)
        return [self.answers.pop(0)] * len(question.goal)


def paths(world: World, controller: Script | None = None, goal: str = "A walk") -> list[str]:
    found, _ = world.retrieve(goal, controller)
    return [PATHS[code] for code in found.path[0].tolist() if code >= 0]


def test_passive_memories_come_alone_when_there_is_no_step() -> None:
    world = World(max_steps=0)
    world.remember(STREETS[:10])
    assert paths(world) == ["passive"] * 3


def test_the_search_goes_on_with_what_the_controller_says_until_it_is_done() -> None:
    world = World(passive={"draws": 0}, **SHUT)
    world.remember(STREETS[:10])
    script = Script("street number 7\nand more", "x" * 100, "  DONE \n")
    found, decisions = world.retrieve("Somebody on street number 3", script)
    asked = [world.texts[int(text)] for text in found.query[0] if text >= 0]
    assert asked == ["Somebody on street number 3", "street number 7", "x" * 80]
    assert not script.answers
    assert decisions.step.tolist() == [1, 2, 3]
    assert world.words(found)[0] == STREETS[3]


@pytest.mark.parametrize("answer", ["", "\n", " ", DONE])
def test_an_empty_query_ends_the_search(answer: str) -> None:
    world = World(passive={"draws": 0}, **SHUT)
    world.remember(STREETS[:10])
    assert paths(world, Script(answer)) == ["active"]


def test_the_controller_is_not_asked_after_a_redirection() -> None:
    world = World(max_steps=4, passive={"draws": 0}, **OPEN)
    world.remember(STREETS[:10])
    assert paths(world, Script()) == ["redirect"] * 4


def test_a_redirection_without_text_ends_the_search() -> None:
    world = World(passive={"draws": 0}, **OPEN)
    world.remember(["", "", ""])
    assert paths(world, Script()) == ["redirect"]


def test_the_search_ends_with_the_last_memory() -> None:
    world = World(max_steps=9, passive={"draws": 0}, **SHUT)
    world.remember(STREETS[:3])
    assert paths(world, Script("a", "b", "c")) == ["active"] * 3


def test_the_controller_sees_texts_and_neither_personality_nor_state() -> None:
    names = ["row", "now", "goal", "query", "found", "texts"]
    assert [f.name for f in fields(Question)] == names
    world = World(passive={"draws": 0}, **SHUT)
    world.remember(["y" * 70, STREETS[0]])
    script = Script("yyy", DONE)
    world.retrieve("Somebody walked along street number 0.", script)
    assert script.asked[0].excerpts(0) == [STREETS[0][:50]]
    assert script.asked[1].excerpts(0) == [STREETS[0][:50], "y" * 50]


def test_a_memory_in_both_sets_comes_once_by_the_active_path() -> None:
    world = World(**SHUT)
    world.remember(STREETS[:3])
    found, _ = world.retrieve("A walk", Script("a", "b", "c"))
    assert sorted(found.position[0][found.position[0] >= 0].tolist()) == [0, 1, 2]
    assert paths(world, Script("a", "b", "c")) == ["active"] * 3


def test_the_passive_set_is_scored_by_the_goal() -> None:
    world = World(**OPEN)
    world.remember(STREETS[:20])
    found, _ = world.retrieve("A walk")
    came = found.path[0] == PATHS.index("passive")
    assert came.any()
    assert {world.texts[int(text)] for text in found.query[0][came]} == {"A walk"}
    assert (found.score[0][came] > 0).all()


def test_without_memories_nothing_comes_back_and_nobody_is_asked() -> None:
    world = World()
    found, decisions = world.retrieve("A walk", Script())
    assert (found.position == -1).all()
    assert len(decisions.turn) == 0


def test_a_persona_without_memories_stands_beside_one_with_some() -> None:
    world = World([ANXIOUS, ANXIOUS])
    world.remember(STREETS[:5], row=1)
    found, decisions = world.retrieve("A walk")
    assert (found.position[0] == -1).all()
    assert (found.position[1] >= 0).any()
    assert set(decisions.turn.tolist()) == {1}


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), held=st.integers(0, 12))
def test_unused_slots_stand_at_the_end_and_no_memory_twice(seed: int, held: int) -> None:
    world = World(seed=seed)
    world.remember(STREETS[:held])
    found, decisions = world.retrieve("Somebody walked along street number 4.")
    place = found.position[0]
    used = place >= 0
    assert used.tolist() == sorted(used.tolist(), reverse=True)
    assert len(set(place[used].tolist())) == used.sum() <= held
    assert np.isnan(found.score[0][~used]).all()
    redirected = found.memory_id[0][found.path[0] == PATHS.index("redirect")]
    assert redirected.tolist() == decisions.memory_id[decisions.fired].tolist()


def test_the_rule_is_done_when_what_it_finds_gets_weak() -> None:
    world = World()
    goal, near, apart = world.texts.intern(["a street at night", "a street at noon", "qqq zzz"])
    rule = RuleController()

    def decide(*found: int) -> str:
        row = np.array([[*found, -1]])
        question = Question(
            row=np.array([0]),
            now=1,
            goal=np.array([goal]),
            query=np.array([goal]),
            found=row,
            texts=world.texts,
        )
        return rule.decide(question)[0]

    assert decide(near) == "a street at night"
    assert decide(apart) == DONE
    assert decide(near, apart) == DONE
