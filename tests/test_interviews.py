"""Interview questions: what a persona answers, by rule and in writing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_requests import cast

from simulation import prompts
from simulation.errors import EmptyPersonaBlockError, InvalidAnswerError, ModelError
from simulation.models.asking import BackendAsker
from simulation.models.base import SOURCES
from simulation.models.interviews import (
    InterviewRequests,
    answer_by_rule,
    named,
    parse_interview,
)
from simulation.models.schemas import answer_schema
from simulation.models.written import WrittenModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.base import Cast


def asked(*questions: str, who: Cast | None = None, **given_: Any) -> InterviewRequests:
    count = len(questions)
    plain: dict[str, Any] = {
        "cast": who or cast(),
        "tick": 5,
        "row": np.arange(count),
        "beliefs": np.tile([0.9, 0.3, 0.95, 0.05], (count, 1)),
        "question": questions,
        "known": [""] * count,
        "memories": lambda _: [("I tried a bar once.", 2)],
    }
    requests = InterviewRequests(
        **(plain | given_), prompt=lambda i: prompts.interview(requests, i)
    )
    return requests


class Says:
    name = "says"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def complete(self, texts: Sequence[str], *, schemas: Sequence[dict[str, Any]]) -> list[Any]:
        assert all(schema == answer_schema() for schema in schemas)
        self.asked += texts
        return [self.answers.pop(0) for _ in texts]


def written(backend: Says) -> WrittenModel:
    fallback: Any = None  # turns and reflections only
    return WrittenModel(asker=BackendAsker(backend), fallback=fallback, repair=prompts.repair)


def test_the_rule_answers_about_the_claim_that_the_question_names() -> None:
    replies = answer_by_rule(asked("Has it any sugar?", "How much protein has it?"))
    assert replies.answer == [
        'No. "It has no sugar": I am sure that this is false. I remember: I tried a bar once.',
        'Yes. "It has 20 g protein": I am sure of it. I remember: I tried a bar once.',
    ]
    assert [SOURCES[code] for code in replies.source] == ["rule", "rule"]


def test_the_rule_answers_about_a_dimension_or_else_the_whole() -> None:
    (trust, whole) = answer_by_rule(asked("Do you trust it?", "Hm?", memories=lambda _: [])).answer
    assert trust == "As for trust: rather low."
    assert whole.startswith("All in all, ")
    assert "Bolt" in whole


def test_the_rule_answers_about_itself_from_its_attributes() -> None:
    replies = answer_by_rule(asked("How old are you?", known=["34"]))
    assert replies.answer == ["34"]


@given(st.text(), st.lists(st.text(max_size=30), max_size=5))
def test_what_a_question_names_is_among_the_texts(question: str, texts: list[str]) -> None:
    found = named(question, texts)
    assert found == sorted(found)
    assert all(0 <= at < len(texts) for at in found)


def test_an_answer_in_writing_is_taken_and_one_that_cannot_be_read_is_asked_for_again() -> None:
    backend = Says('{"answer": "Never."}', '{"reply": 1}', "It is\nfine.")
    replies = written(backend).answer_interviews(asked("Would you buy it?", "And you?"))
    assert replies.answer == ["Never.", "It is fine."]
    assert [SOURCES[code] for code in replies.source] == ["model", "model"]
    assert [(item.index, item.kind) for item in replies.rejections] == [(1, "invalid_answer")]
    assert "could not be used" in backend.asked[2]


def test_a_failed_answer_is_given_by_rule_and_says_so() -> None:
    replies = written(Says(ModelError("down"))).answer_interviews(asked("Has it any sugar?"))
    assert replies.answer == answer_by_rule(asked("Has it any sugar?")).answer
    assert [SOURCES[code] for code in replies.source] == ["fallback"]
    assert replies.error == {0: "attempt 1: down"}


@pytest.mark.parametrize(
    "answer", ["", " \n", "{}", '{"answer": 7}', '{"answer": ""}', "x" * 30_000]
)
def test_what_says_nothing_is_no_answer(answer: str) -> None:
    with pytest.raises(InvalidAnswerError):
        parse_interview(answer)


def test_a_long_answer_is_cut_and_the_cut_is_told() -> None:
    parsed = parse_interview("y" * 1_500)
    assert parsed.answer == "y" * 1_000
    assert parsed.dropped


def test_the_prompt_holds_what_the_persona_knows_and_what_was_said_between_tags() -> None:
    requests = asked(
        "</question> And now?",
        attitudes=lambda _: ["certain: the taste is good"],
        earlier=lambda _: [("Hello?", "Hi <b>.")],
    )
    prompt = str(prompts.interview(requests, 0))
    for part in (
        '<memory tick="2">I tried a bar once.</memory>',
        "<attitude>certain: the taste is good</attitude>",
        "<question>Hello?</question>",
        "<answer>Hi &lt;b&gt;.</answer>",
        "<question>&lt;/question&gt; And now?</question>",
        "- trust: 0.30 (rather low)",
    ):
        assert part in prompt
    bare = str(prompts.interview(asked("Now?", memories=lambda _: []), 0))
    assert "What was said before" not in bare
    assert "How you feel about things" not in bare
    assert "Nothing in particular." in bare


def test_a_persona_without_a_block_is_not_interviewed() -> None:
    requests = asked("Now?", who=cast(blocks=["", "b", "c", "d"]))
    with pytest.raises(EmptyPersonaBlockError):
        written(Says()).answer_interviews(requests)
    with pytest.raises(EmptyPersonaBlockError):
        prompts.interview(replace(requests), 0)
