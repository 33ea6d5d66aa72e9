"""The words of aspects in an ontology file."""

from __future__ import annotations

import pytest

from simulation import ontology
from simulation.errors import ScenarioError
from simulation.extractors.clauses import read
from simulation.extractors.lists import Lists

FIELD = "name: x\nattributes: [{id: a, kind: text}]\n"


def aspects(text: str) -> dict[str, tuple[str, ...]]:
    return dict(ontology.from_bytes((FIELD + text).encode(), source="x.yaml").aspects)


def problems(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        aspects(text)
    return [str(problem) for problem in caught.value.problems]


def test_a_field_has_no_aspects_unless_it_names_them() -> None:
    assert aspects("") == {}
    assert aspects("aspects: {}") == {}


def test_the_words_of_aspects_are_kept_in_the_order_of_the_file() -> None:
    given = aspects("aspects:\n  taste: [tasty, Too sweet]\n  price: [cheap]\n")
    assert list(given.items()) == [("taste", ("tasty", "Too sweet")), ("price", ("cheap",))]


def test_one_word_may_speak_of_two_aspects() -> None:
    assert aspects("aspects: {a: [energy], b: [energy]}") == {"a": ("energy",), "b": ("energy",)}


def test_all_problems_of_aspects_are_told_at_once_with_their_lines() -> None:
    text = "aspects:\n  my taste: [tasty]\n  price: [cheap, Cheap]\n  fit: ['!']\n"
    assert problems(text) == [
        (
            'line 4  aspects["my taste"]  '
            "an aspect's name is letters, digits and _, a letter first"
        ),
        'line 5  aspects.price[1]  "cheap" stands twice',
        "line 6  aspects.fit[0]  '!' has no letter to look for",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aspects: [taste]", "a mapping is needed"),
        ("aspects: {taste: tasty}", "a list is needed"),
        ("aspects: {taste: []}", "must not be empty"),
        ("aspects: {taste: [1]}", "a text is needed"),
        ("aspects: {taste: ['']}", "must not be empty"),
        ("aspects: {taste: [x, x]}", '"x" stands twice'),
        (f"aspects: {{taste: [{'x' * 101}]}}", "at most 100 characters"),
        ("aspekts: {taste: [x]}", 'did you mean "aspects"?'),
    ],
)
def test_aspects_of_another_shape_are_named(text: str, message: str) -> None:
    assert any(message in problem for problem in problems(text))


def test_a_fault_in_aspects_hides_no_fault_in_attributes() -> None:
    text = "name: x\nattributes: [{id: a, kind: txt}]\naspects: {taste: [1]}"
    with pytest.raises(ScenarioError) as caught:
        ontology.from_bytes(text.encode(), source="x.yaml")
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("name", ontology.shipped())
def test_shipped_fields_have_words_for_the_dimensions_of_shipped_scenarios(name: str) -> None:
    field = ontology.load(name)
    assert {"value", "fit", "trust"} <= set(field.aspects)
    lists = Lists(field.aspects)
    for aspect, words in field.aspects.items():
        for word in words:
            found = {each for _, each in lists.find(read(word).stems)}
            assert aspect in found, (aspect, word)
