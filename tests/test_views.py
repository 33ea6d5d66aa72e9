"""What prompts tell of settled attitudes: for all turns at once the same as for each alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from small import small

from simulation import units
from simulation.engine import Engine
from simulation.regards.views import Views

if TYPE_CHECKING:
    from simulation.world import World


def _lived(ticks: int = 6) -> World:
    engine = Engine(small())
    for _ in range(ticks):
        engine.advance()
    return engine.world


def _alone(world: World, row: int, objects: list[int], query: int) -> list[tuple[str, str]]:
    """Return the views of one turn by two-stage retrieval."""
    regards = world.regards
    assert regards is not None
    store = regards.store
    known = [obj for obj in objects if obj >= 0 and len(store.about(row, obj))]
    if not known:
        return []
    found = units.retrieve(
        store, world.texts, persona=row, query=query, k=regards.shown, objects=known
    )
    at = store.place(found).tolist()
    return [(regards.name(int(store.object[i])), world.texts[int(store.summary[i])]) for i in at]


def test_views_of_all_turns_are_those_that_each_turn_alone_retrieves() -> None:
    world = _lived()
    regards = world.regards
    assert regards is not None
    people = len(world.cast.ids)
    row = np.arange(people)
    objects = np.tile(np.arange(-2, people + 3), (people, 1))
    objects[0] = -1  # nothing is before this one
    objects[1, :] = 0  # and one thing many times before this one
    query = np.full(people, world.proposition)
    views = Views(regards, world.texts, row=row, objects=objects, query=query)
    expected = [_alone(world, i, objects[i].tolist(), world.proposition) for i in range(people)]
    assert [views(i) for i in range(people)] == expected
    assert expected[0] == []
    assert max(map(len, expected)) == regards.shown


def test_what_nobody_has_settled_anything_about_has_no_view() -> None:
    world = _lived(0)
    assert world.regards is not None
    row = np.arange(3)
    views = Views(
        world.regards, world.texts, row=row, objects=np.zeros((3, 2), np.int64), query=row
    )
    assert [views(i) for i in range(3)] == [[], [], []]


def test_views_are_worked_out_once_and_only_when_asked_for() -> None:
    world = _lived()
    regards = world.regards
    assert regards is not None
    row = np.arange(len(world.cast.ids))
    objects = np.zeros((len(row), 1), np.int64)
    query = np.full(len(row), world.proposition)
    views = Views(regards, world.texts, row=row, objects=objects, query=query)
    first = [views(i) for i in row.tolist()]
    assert any(first)
    regards.store.summary = np.zeros_like(regards.store.summary)  # would be told otherwise
    assert [views(i) for i in row.tolist()] == first
