"""JSON Schemas in the words that each provider knows."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_dialects import NAMES, SCHEMA

from simulation.providers.schemas import VARIES, strict, whole

both = pytest.mark.parametrize("name", NAMES)


@both
def test_what_varies_from_turn_to_turn_is_left_out(name: str) -> None:
    first, second = copy.deepcopy(SCHEMA), copy.deepcopy(SCHEMA)
    second["properties"]["action"]["enum"] = ["wait"]
    assert strict(first, provider=name) == strict(second, provider=name)
    assert whole(first) != whole(second)


@both
def test_an_enum_that_does_not_vary_is_kept(name: str) -> None:
    schema = {"type": "string", "enum": ["a", "b"]}
    assert strict(schema, provider=name) == schema


def test_anthropic_reads_bounds_in_the_description() -> None:
    schema = {"type": "number", "description": "How sure.", "minimum": 0, "maximum": 1}
    assert strict(schema, provider="anthropic") == {
        "type": "number",
        "description": "How sure. (minimum: 0, maximum: 1)",
    }


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ({"minItems": 1}, {"minItems": 1}),
        ({"minItems": 2}, {"description": "(minItems: 2)"}),
        ({"maxItems": 3}, {"description": "(maxItems: 3)"}),
    ],
)
def test_anthropic_knows_small_minimums_of_lists_only(
    given_: dict[str, Any], kept: dict[str, Any]
) -> None:
    base = {"type": "array", "items": {"type": "string"}}
    assert strict(base | given_, provider="anthropic") == base | kept


def test_openai_knows_bounds_but_no_lengths() -> None:
    schema = {"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 3}
    assert strict(schema, provider="openai") == {
        "type": "array",
        "items": {"type": "string", "description": "(maxLength: 9)"},
        "maxItems": 3,
    }


@both
def test_alternatives_and_definitions_are_transformed_too(name: str) -> None:
    part = {"type": "object", "properties": {"x": {"type": "string", "minLength": 1}}}
    done = strict(
        {"anyOf": [part, {"type": "null"}], "$defs": {"p": part}, "title": "T"}, provider=name
    )
    closed = {
        "type": "object",
        "properties": {"x": {"type": "string", "description": "(minLength: 1)"}},
        "additionalProperties": False,
    }
    assert done == {"anyOf": [closed, {"type": "null"}], "$defs": {"p": closed}}
    assert strict({"oneOf": [part]}, provider=name) == {"anyOf": [closed]}


@both
def test_only_known_formats_are_kept(name: str) -> None:
    assert strict({"type": "string", "format": "date"}, provider=name)["format"] == "date"
    odd = strict({"type": "string", "format": "tweet"}, provider=name)
    assert odd == {"type": "string", "description": "(format: tweet)"}


def test_a_property_may_bear_the_name_of_a_word() -> None:
    schema = {"type": "object", "properties": {"minimum": {"type": "number"}, VARIES: True}}
    assert strict(schema, provider="anthropic")["properties"] == schema["properties"]
    assert whole(schema) == schema


schemas = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "number"])},
        optional={VARIES: st.just(True), "enum": st.just(["a"]), "minimum": st.just(0)},
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.text("ab"), inner)}
        ),
    ),
    max_leaves=6,
)


@given(schemas)
def test_the_schema_given_is_never_changed_and_nothing_varies_after(
    schema: dict[str, Any],
) -> None:
    before = copy.deepcopy(schema)
    done = [*(strict(schema, provider=name) for name in NAMES), whole(schema)]
    assert schema == before
    assert VARIES not in str(done)
    assert all(strict(each, provider="openai") is not each for each in done)
