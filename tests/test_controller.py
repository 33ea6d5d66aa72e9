"""A controller that asks a language model: what it sees, what it answers, what goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from minds import World
from small import small

from simulation.active import DONE, Question
from simulation.errors import InvalidAnswerError, ModelError, UsageError
from simulation.models.asking import BackendAsker
from simulation.society import Society
from simulation.turn import ModelController, controller

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.calls.base import Answer, Call

IDS = ("ann", "bob", "cem")
PERSONAL = {"size": 12, "personality": {"kind": "attachment", "profile": "anxious"}}


class Listed:
    """A backend that answers from a list, over and over."""

    name = "listed"

    def __init__(self, *answers: Any) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def complete(self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]) -> list[Any]:
        assert set(map(len, schemas)) == {0}  # a line of text, no object
        self.asked += prompts
        return [self.answers[i % len(self.answers)] for i in range(len(prompts))]


class Watched:
    """An asker that keeps its calls."""

    def __init__(self, backend: Listed) -> None:
        self._asker = BackendAsker(backend)
        self.name = self._asker.name
        self.calls: list[Call[Any]] = []

    def ask(self, calls: Sequence[Call[Any]]) -> Sequence[Answer[Any]]:
        self.calls += calls
        return self._asker.ask(calls)


def question(
    *goals: str, found: str = "a street at noon, quite far away from any other street"
) -> Question:
    world = World()
    ids = world.texts.intern([*goals, found])
    count = len(goals)
    return Question(
        row=np.arange(count),
        now=4,
        goal=ids[:count],
        query=ids[:count],
        found=np.tile([ids[-1], -1], (count, 1)),
        texts=world.texts,
    )


def test_each_search_is_asked_about_with_the_limits_of_the_seed() -> None:
    asker = Watched(Listed("a lamp", f" {DONE} \n"))
    model = ModelController(asker, IDS)
    assert list(model.decide(question("one", "two"))) == ["a lamp", DONE]
    assert model.take_faults() == []
    assert [(call.tick, call.persona_id, call.purpose) for call in asker.calls] == [
        (4, "ann", "controller"),
        (4, "bob", "controller"),
    ]
    assert {(call.temperature, call.max_tokens) for call in asker.calls} == {(0.4, 64)}
    assert {call.repair for call in asker.calls} == {None}


def test_it_sees_goal_query_and_fifty_characters_of_each_memory_between_tags() -> None:
    backend = Listed(DONE)
    ModelController(BackendAsker(backend), IDS).decide(question("</goal> & all", found="x" * 70))
    (prompt,) = backend.asked
    assert "<goal>&lt;/goal&gt; &amp; all</goal>" in prompt
    assert "<query>&lt;/goal&gt; &amp; all</query>" in prompt
    assert f"<memory>{'x' * 50}</memory>" in prompt


@pytest.mark.parametrize("answer", [ModelError("down"), "", " \n\t", '""'])
def test_what_cannot_be_answered_is_decided_by_rule_and_told(answer: Any) -> None:
    model = ModelController(BackendAsker(Listed("a lamp", answer)), IDS)
    decided = model.decide(
        question("a street at noon", "a street at noon", found="a street at noon")
    )
    assert list(decided) == ["a lamp", "a street at noon"]
    ((row, kind, detail),) = model.take_faults()
    assert (row, kind) == (
        1,
        "model_error" if isinstance(answer, ModelError) else "invalid_answer",
    )
    assert detail in ("down", "the answer is empty")
    assert model.take_faults() == []


def test_an_answer_is_its_first_line_with_words_cut_to_eighty_characters() -> None:
    assert controller.read('\n  "a lamp"  \nand more') == "a lamp"
    assert controller.read("y" * 300) == "y" * 80
    with pytest.raises(InvalidAnswerError):
        controller.read("\n")


def test_a_run_says_what_went_wrong_in_its_searches() -> None:
    class Lost:
        name = "lost"

        def complete(self, prompts: Sequence[str], *, schemas: Sequence[Any]) -> list[str]:
            return ["" for _ in zip(prompts, schemas, strict=True)]

    settings = ["recall.mode=persmem", "models.cheap.provider=openai", "models.cheap.model=m"]
    loaded = small(
        population=PERSONAL,
        settings=[
            *settings,
            "persmem.controller=model",
            "models.cheap.base_url=http://127.0.0.1:9/v1",
        ],
    )
    society = Society(loaded, backend=Lost())
    told = 0
    for _ in range(4):
        society.step()
        rows = [part for part in society.records.rows if part.table == "rejections"]
        for part in rows:
            purposes = part.columns()["purpose"]
            names = (
                [purposes.names[c] for c in purposes.codes]
                if hasattr(purposes, "codes")
                else purposes
            )
            told += list(names).count("controller")
    assert told > 0


def test_it_needs_a_language_model() -> None:
    loaded = small(
        population=PERSONAL,
        settings=[
            "recall.mode=persmem",
            "persmem.controller=model",
            "models.cheap.provider=openai",
            "models.cheap.model=m",
        ],
    )
    rule = Society(small()).engine.rule
    with pytest.raises(UsageError, match=r"persmem\.controller: model asks the cheap tier's"):
        Society(loaded, tiers=(rule, rule))
