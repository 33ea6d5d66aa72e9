"""Answers that copy their prompt say nothing: they are asked for again."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_requests import probes, reflections, turns

from simulation import prompts
from simulation.models.copied import is_copied, is_copied_shape
from simulation.models.parsing import (
    InvalidAnswerError,
    parse_probe,
    parse_reaction,
    parse_reflection,
)


def react(**fields: Any) -> Any:
    return parse_reaction(json.dumps({"action": "post", "changes": {}} | fields), turns(), 0)


def shown_in(prompt: object) -> list[str]:
    """Return the texts by which the last part of a prompt describes an answer."""
    last = str(prompt).rpartition("\n# ")[2]
    described = re.findall(r'": (?:")?([a-z][^"{]*?)(?:"?})?,?$', last, re.MULTILINE)
    return [text for text in described if not re.match(r"from 0|null", text)]


@pytest.mark.parametrize(
    "words",
    [
        "what you say",
        "What you say.",
        "0",
        "1000",
        "43.84",
        '"your_words"',
        "</memory>ok",
        "your_story",
        "your last answer was cut off after 160 tokens",
        "What you believe: 0.50 (undecided),",
    ],
)
def test_words_copied_from_the_prompt_are_none(words: str) -> None:
    with pytest.raises(InvalidAnswerError, match="must be what you say"):
        react(words=words)
    quiet = react(action="buy", words=words)
    assert quiet.words == ""
    assert quiet.dropped == (("copied", f"words: {words!r}"),)


@pytest.mark.parametrize(
    "words",
    ["10/10", "100 %", "👍", "No.", "2.49 is too much", "What you say is not true", "A 5!"],
)
def test_short_words_of_ones_own_stand(words: str) -> None:
    assert react(words=words).words == words


def test_a_number_answers_a_question() -> None:
    assert react(action="answer", target="12", words="2.49").words == "2.49"
    with pytest.raises(InvalidAnswerError, match="must be what you say"):
        react(action="answer", target="12", words="what you say")


@pytest.mark.parametrize(
    "memory", ["what you will remember", "14", "C1: 0.50 (undecided)", "Your feed, best first: "]
)
def test_a_reflection_that_copies_is_invalid(memory: str) -> None:
    with pytest.raises(InvalidAnswerError, match="must be what you remember"):
        parse_reflection(
            json.dumps({"beliefs": {}, "memories": ["I was there.", memory]}), reflections(), 0
        )


def test_a_probe_may_be_a_number_but_not_the_words_of_its_question() -> None:
    assert parse_probe('{"answer": "45"}') == "45"
    with pytest.raises(InvalidAnswerError, match="no answer"):
        parse_probe('{"answer": "your answer"}')
    with pytest.raises(InvalidAnswerError, match="no answer"):
        parse_probe("Your answer.")


def test_whatever_describes_an_answer_in_a_prompt_is_known() -> None:
    described = [
        *shown_in(prompts.turn(turns(), 0)),
        *shown_in(prompts.reflection(reflections(), 0)),
        *shown_in(prompts.probe(probes(), 0)),
    ]
    assert len(described) >= 5
    for text in described:
        first = re.split("[,;:]", text)[0]
        assert is_copied_shape(first), first


def test_a_text_that_is_quoted_as_the_prompt_escapes_it_is_stored_as_it_was() -> None:
    assert react(words="A &amp; B &lt;3 &quot;so&quot;").words == 'A & B <3 "so"'
    assert react(words="&amp;lt;").words == "&lt;"
    assert react(words="&eacute;&nbsp;A&B;").words == "&eacute;&nbsp;A&B;"


@given(st.text(max_size=80))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert is_copied(text) >= is_copied_shape(text)
