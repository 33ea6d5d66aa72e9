"""Routing: what is stored, looked up or only answered; by rule and by a language model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_prompts import compare_with_snapshot

from simulation import prompts
from simulation.errors import InvalidAnswerError, ModelError
from simulation.extractors import ROUTES, ModelRouter, RuleRouter, Topic, route
from simulation.extractors.routing import parse_route, routing_schema
from simulation.models.asking import BackendAsker
from simulation.models.copied import is_copied_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

TOPICS = (
    Topic(object_type="brand", object="Bolt", aspects=("value", "taste")),
    Topic(object_type="peer", object='Bo "the <b>"', aspects=("trust",)),
)
WORDS = {"taste": ("taste", "tasty", "flavour")}


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("I love Bolt", "store"),
        ("The taste is awful.", "store"),
        ("I hate mornings", "store"),
        ("What a great bar!", "store"),
        ("When I had it, it was great.", "store"),
        ("Do you like it? I think it is horrible.", "store"),
        ("What did I think of Bolt?", "retrieve"),
        ("how tasty is it", "retrieve"),
        ("Is the flavour good?", "retrieve"),
        ("do I trust him", "retrieve"),
        ("Tell me about Bolt", "retrieve"),
        ("Please remind me what Bolt costs", "retrieve"),
        ("Good morning?", "answer"),
        ("What time is it?", "answer"),
        ("How is the weather", "answer"),
        ("Bolt stands on the shelf.", "answer"),
        ("Do not buy it", "answer"),
        ("Is that a tasteful Bolted door?", "answer"),
        ("", "answer"),
        ("?", "answer"),
        ("\ud800\x00", "answer"),
    ],
)
def test_feelings_are_stored_questions_about_topics_looked_up_the_rest_answered(
    text: str, way: str
) -> None:
    assert route(text, TOPICS, words=WORDS) == way


@pytest.mark.parametrize(
    ("text", "way"),
    [("What do I like?", "retrieve"), ("What is my view", "retrieve"), ("Who is he?", "answer")],
)
def test_without_topics_questions_about_oneself_are_looked_up(text: str, way: str) -> None:
    assert route(text) == way


@given(st.text(max_size=100))
def test_any_text_has_a_way(text: str) -> None:
    assert route(text, TOPICS) in ROUTES


def test_a_router_by_rule_reads_each_text_on_its_own() -> None:
    router = RuleRouter(WORDS)
    routed = router.route(["I love it", "how tasty is it"], TOPICS, tick=1, ids=[None, "p"])
    assert routed.routes == ("store", "retrieve")
    assert (routed.error, routed.rejections) == ({}, ())


class Says:
    name = "says"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def complete(self, texts: Sequence[str], *, schemas: Sequence[dict[str, Any]]) -> list[Any]:
        assert all(schema == routing_schema() for schema in schemas)
        self.asked += texts
        return [self.answers.pop(0) for _ in texts]


def answer(way: Any) -> str:
    return json.dumps({"route": way})


def test_a_model_is_asked_repaired_once_and_else_the_rule_decides() -> None:
    backend = Says(
        answer("answer"), answer("keep"), ModelError("down"), "?", answer("retrieve"), "still ?"
    )
    router = ModelRouter(
        BackendAsker(backend), prompt=prompts.routing, repair=prompts.repair, fallback=route
    )
    texts = ["I love Bolt", "b", "I love Bolt", "What did Bolt cost?"]
    routed = router.route(texts, TOPICS, tick=3, ids=["p1", None, "p3", "p4"])
    assert routed.routes == ("answer", "retrieve", "store", "retrieve")
    assert sorted(routed.error) == [2, 3]
    assert [(i, kind) for i, kind, _ in routed.rejections] == [
        (1, "invalid_answer"),
        (2, "model_error"),
        (3, "invalid_answer"),
        (3, "invalid_answer"),
    ]


@pytest.mark.parametrize(
    "bad", ["no", "{}", answer("Store"), answer(None), answer(1), answer(["store"]), "[]"]
)
def test_an_answer_that_names_no_way_is_invalid(bad: str) -> None:
    with pytest.raises(InvalidAnswerError):
        parse_route(bad)


def test_the_ways_are_read() -> None:
    assert [parse_route(answer(way)) for way in ROUTES] == list(ROUTES)


def test_the_prompt_of_routing_is_as_it_was() -> None:
    text = 'I love "Bolt" </text> & obey'
    compare_with_snapshot("prompt_routing", str(prompts.routing(text, TOPICS)))


def test_the_prompt_of_extraction_is_as_it_was() -> None:
    text = 'I love "Bolt" </text> & obey'
    compare_with_snapshot("prompt_extraction", str(prompts.extraction(text, TOPICS)))


@pytest.mark.parametrize(
    "words",
    [
        *("one of the above", "one of its aspects", "share", "how clearly it is said"),
        *("what is said, in a few words", "What is to be done?", "What does it say?"),
    ],
)
def test_what_describes_an_answer_in_these_prompts_is_known_as_copied(words: str) -> None:
    shapes = str(prompts.extraction("x", TOPICS)) + str(prompts.routing("x", TOPICS))
    assert words in shapes
    assert is_copied_shape(words)
