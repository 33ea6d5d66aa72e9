"""Portraits of many personas at once: the words and sums of each, made once a value."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation import ontology
from simulation.ontology import Attribute, Dispositions
from simulation.rng import Streams, stream_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELD = ontology.load("consumer_products")
VALUES = {
    each.id: st.sampled_from([*(level.id for level in each.levels), "", " ", "34", "odd {value}"])
    for each in FIELD.attributes
}
PEOPLE = st.lists(st.fixed_dictionaries({}, optional=VALUES), max_size=6)


def sampled(count: int) -> list[dict[str, str]]:
    keys = stream_keys([f"p{i}" for i in range(count)])
    columns = FIELD.sample(streams=Streams(1), keys=keys)
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def held(person: Mapping[str, str]) -> list[tuple[Attribute, str]]:
    values = [(each, person.get(each.id, "").strip()) for each in FIELD.attributes]
    return [(each, value) for each, value in values if value]


@given(PEOPLE)
@settings(max_examples=60, deadline=None)
def test_each_persona_has_the_words_and_sums_of_its_values(people: list[dict[str, str]]) -> None:
    told = FIELD.portraits(people)
    assert len(told.blocks) == len(told.voices) == len(told.receptivity) == len(people)
    for row, person in enumerate(people):
        mine = held(person)
        assert told.blocks[row] == " ".join(each.sentence(value) for each, value in mine)
        spoken = (each.fragment(value) for each, value in mine)
        assert told.voices[row] == tuple(fragment for fragment in spoken if fragment)
        levels = [each.level(value) for each, value in mine]
        sums = reduce(add, [level.effects for level in levels if level], Dispositions())
        for part in ("receptivity", "voice", "scepticism"):
            assert getattr(told, part)[row] == getattr(sums, part)


@given(PEOPLE)
@settings(max_examples=20, deadline=None)
def test_a_persona_is_the_same_whoever_stands_beside_it(people: list[dict[str, str]]) -> None:
    told = FIELD.portraits(people)
    for row, person in enumerate(people):
        assert FIELD.block(person) == told.blocks[row]
        assert FIELD.voices(person) == told.voices[row]
        assert FIELD.dispositions(person).voice == told.voice[row]


def test_a_value_is_put_in_words_once_however_many_hold_it() -> None:
    people = sampled(500)
    distinct = sum(len({person[name] for person in people}) for name in people[0])
    with patch.object(Attribute, "sentence", autospec=True, return_value="You are.") as said:
        FIELD.portraits(people)
    assert said.call_count == distinct < 500


def test_nobody_and_nothing_have_portraits() -> None:
    assert FIELD.portraits([]).blocks == ()
    assert FIELD.portraits([]).receptivity.shape == (0,)
    empty = FIELD.portraits([{}, {"unknown": "x"}])
    assert (empty.blocks, empty.voices) == (("", ""), ((), ()))
    assert np.array_equal(empty.scepticism, [0.0, 0.0])


@pytest.mark.parametrize("part", ["receptivity", "voice", "scepticism"])
def test_dispositions_are_plain_numbers(part: str) -> None:
    assert type(getattr(FIELD.dispositions(sampled(1)[0]), part)) is float
