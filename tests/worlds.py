"""Two worlds side by side, to the last bit; and engines whose ticks go into a run in memory."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.engine import Engine
from simulation.headers import header, sources
from simulation.runlog import RunWriter
from simulation.units.store import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.memory import MemoryStore
    from simulation.scenario import Loaded
    from simulation.world import World

_POSTS = ("tick", "author", "kind", "parent", "root", "claim", "text", "addressee", "stimulus")
_ARRAYS = (
    "activity",
    "tier",
    "interval",
    "beliefs",
    "initial",
    "reflected",
    "heard",
    "turns",
    "since_reflection",
    "last_turn",
    "last_reflection",
    "decided",
    "failing",
    "quarantined",
    "state",
    "block",
)
_PLAIN = ("tick", "peer_credibility", "proposition", "notes", "journal")
_PARTS = {"cast", "events", "personality", "texts", "memory", "network", "posts", "disposition"}


def running(loaded: Loaded, **given: Any) -> Iterator[tuple[Engine, RunWriter]]:
    """Yield an engine and its run in memory after tick 0 and after every tick."""
    engine = Engine(loaded, **given)
    writer = RunWriter.create(None, header(loaded, engine))
    first = engine.records
    writer.write(replace(first, rows=(sources(loaded, engine), *first.rows)), wall_s=0.0)
    yield engine, writer
    while engine.world.tick < engine.scenario.horizon:
        writer.write(engine.advance(), wall_s=0.0)
        yield engine, writer


def assert_equal_worlds(one: World, other: World) -> None:
    """Fail unless both are in the same state, every bit of it."""
    assert {f.name for f in fields(one)} == {*_ARRAYS, *_PLAIN, *_PARTS, "shown", "regards"}
    for name in _PLAIN:
        assert getattr(one, name) == getattr(other, name), name
    for name in _ARRAYS:
        same(getattr(one, name), getattr(other, name), name)
    _same_fields(one.cast, other.cast)
    assert len(one.events) == len(other.events)
    for event, twin in zip(one.events, other.events, strict=True):
        _same_fields(event, twin)
    assert one.personality.kind == other.personality.kind
    same(one.personality.vectors, other.personality.vectors, "vectors")
    _same_fields(one.network, other.network)
    _same_texts(one, other)
    _same_memories(one.memory, other.memory)
    _same_posts(one, other)
    assert (one.disposition is None) == (other.disposition is None)
    if one.disposition is not None and other.disposition is not None:
        same(one.disposition.gains, other.disposition.gains, "gains")
        _same_appraisals(one.disposition.appraisals, other.disposition.appraisals)
    assert (one.regards is None) == (other.regards is None)
    if one.regards is not None and other.regards is not None:
        _same_regards(one, other)
    assert one.digest() == other.digest()


def _same_regards(one: World, other: World) -> None:
    mine, theirs = one.regards, other.regards
    assert mine is not None
    assert theirs is not None
    assert mine.said.journal == theirs.said.journal
    for name in ("owner", "object", "aspect", "polarity", "strength"):
        same(getattr(mine.said.pieces, name), getattr(theirs.said.pieces, name), name)
    told, retold = (
        [None if i < 0 else said.words(i) for i in said.pieces.summary.tolist()]
        for said in (mine.said, theirs.said)
    )
    assert told == retold
    assert (mine.store.next_id, mine.store.cap) == (theirs.store.next_id, theirs.store.cap)
    for name in (*COLUMNS, "confidence"):
        same(getattr(mine.store, name), getattr(theirs.store, name), name)
    for key, twin in zip(mine.store.keys, theirs.store.keys, strict=True):
        same(key, twin, "keys")
    assert (mine.rules, mine.read, mine.act, mine.shown) == (
        theirs.rules,
        theirs.read,
        theirs.act,
        theirs.shown,
    )


def same(one: Any, other: Any, name: str) -> None:
    """Fail unless two arrays are equal in type, shape and every bit."""
    assert (one.dtype, one.shape) == (other.dtype, other.shape), name
    assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes(), name


def _same_fields(one: Any, other: Any) -> None:
    for field in fields(one):
        value, twin = getattr(one, field.name), getattr(other, field.name)
        if isinstance(value, np.ndarray):
            same(value, twin, field.name)
        else:
            assert value == twin, field.name


def _same_texts(one: World, other: World) -> None:
    assert len(one.texts) == len(other.texts)
    for i in range(len(one.texts)):
        assert one.texts[i] == other.texts[i]
    same(one.texts.quantised, other.texts.quantised, "quantised")
    same(one.texts.scale, other.texts.scale, "scale")


def _same_memories(one: MemoryStore, other: MemoryStore) -> None:
    settings = ("cap", "reflection_cap", "affect", "next_id")
    assert [getattr(one, s) for s in settings] == [getattr(other, s) for s in settings]
    same(one.count, other.count, "count")
    everyone = np.arange(len(one.count))
    _same_fields(one.held(everyone), other.held(everyone))


def _same_appraisals(one: Any, other: Any) -> None:
    known = one._known.nonzero()[0]
    assert known.tolist() == other._known.nonzero()[0].tolist()
    same(one._raw[known], other._raw[known], "raw")
    assert one.failures(known) == other.failures(known)


def _same_posts(one: World, other: World) -> None:
    for name in _POSTS:
        same(one.posts.integers(name), other.posts.integers(name), name)
    for name in ("stance", "engagement", "credibility"):
        same(one.posts.floats(name), other.posts.floats(name), name)
    assert list(one.shown) == list(other.shown)
    for post, audience in one.shown.items():
        same(audience, other.shown[post], "shown")
