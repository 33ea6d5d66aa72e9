"""What a turn adds to what a persona has settled: what it read and did becomes evidence.

Every persona's own units only; what one turn says about one unit is one piece of evidence, so that
its order within the turn cannot matter.

Source: DAM-LLM, "Memory Update and Compression"; method.md 10; docs/attitudes.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simulation import records, units
from simulation.mind import attitude, opinion
from simulation.models.base import ACTION_CODE
from simulation.posts import KIND_CODE
from simulation.regards import BRAND, TYPES, Pieces, combined
from simulation.turn.columns import coded, repeated, taken
from simulation.turn.rows import persona_column
from simulation.units import Merge

if TYPE_CHECKING:
    from simulation.models.base import Reactions
    from simulation.records import FloatArray, IntArray, Rows
    from simulation.regards import Regards
    from simulation.scenario import Scenario
    from simulation.turn.prepare import Turns
    from simulation.units import Deletion, Observed
    from simulation.world import World

KINDS = ("evidence", "merge", "delete")
_APPROVING = ("like", "upvote", "repost")
_DECISIONS = {"buy": 1.0, "reject": -1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Updates:
    """N changes of units: what happened, why, and how the unit stands afterwards.

    aspects: of merges, the sides that the unit answers for; of other changes nothing, ().
    """

    kind: IntArray
    persona: IntArray
    unit_id: IntArray
    other: IntArray
    cause: IntArray
    summary: IntArray
    strength: FloatArray
    polarity: FloatArray
    confidence: FloatArray
    weight: FloatArray
    entropy: FloatArray
    observations: IntArray
    aspects: tuple[tuple[int, ...], ...] = ()


def settle_attitudes(
    world: World, scenario: Scenario, turns: Turns, reactions: Reactions, published: IntArray
) -> tuple[Rows, ...]:
    """Update the units of all who took a turn, compress them, and return what changed as rows.

    published: ids of what the turns published, its evidence known.  Without units nothing.
    """
    regards = world.regards
    if regards is None:
        return ()
    pieces = Pieces.joined(
        [
            _read(regards, scenario, turns),
            _of_peers(world, regards, scenario, turns),
            _endorsed(regards, turns, reactions),
            _toward_peers(world, regards, turns, reactions),
            _own_words(world, regards, published),
            _decided(regards, turns, reactions),
        ]
    )
    pieces = combined(pieces, _units_of(regards, pieces))
    store, first = regards.store, regards.store.next_id
    seen = store.observe(
        pieces.owner,
        pieces.object,
        pieces.aspect,
        pieces.polarity,
        pieces.strength,
        tick=turns.tick,
    )
    at = np.sort(seen.place)
    store.summary[at] = regards.summarise(world.texts, at)
    updates = [_seen(regards, pieces, seen)]
    founded = _founded(world, regards, turns.tick, first)
    done = units.compress(
        store,
        world.texts,
        rules=regards.rules,
        tick=turns.tick,
        summarise=lambda ids: regards.summarise(world.texts, store.place(ids)),
        touched=seen.unit_id,
    )
    updates += [_ended(1, merge) for merge in done.rounds]
    updates.append(_ended(2, done.deleted))
    return (founded, _table(world, regards, turns.tick, updates))


def _units_of(regards: Regards, pieces: Pieces) -> IntArray:
    """Return one number per unit that pieces belong to, (N,), also where it is to be founded."""
    side = regards.store.side(pieces.owner, pieces.object, pieces.aspect)
    return units.key(pieces.owner, pieces.object, side)


def _read(regards: Regards, scenario: Scenario, turns: Turns) -> Pieces:
    """Return what the items of the feeds say, as far as each is taken in and believed."""
    feed = turns.requests.feed
    turn, slot = np.nonzero((feed.post >= 0) & (feed.author != turns.rows[:, None]))
    post = feed.post[turn, slot]
    which, at = regards.said.of(post)
    pieces = regards.said.pieces.take(at)
    heed = _heed(regards, scenario, turns, turn, slot)
    return replace(
        pieces,
        owner=turns.rows[turn[which]],
        strength=pieces.strength * heed[which],
        cause=post[which],
    )


def _heed(
    regards: Regards, scenario: Scenario, turns: Turns, turn: IntArray, slot: IntArray
) -> FloatArray:
    """Return what is kept of an item's strength: the share of reading, belief, attention, (N,)."""
    feed = turns.requests.feed
    attention = opinion.attention(feed.relevance[turn, slot], floor=scenario.rule.attention_floor)
    return np.asarray(regards.read * feed.credibility[turn, slot] * attention)


def _of_peers(world: World, regards: Regards, scenario: Scenario, turns: Turns) -> Pieces:
    """Return what it says of a followed peer that it agrees with the reader, or not.

    The firmer both are about the claim, the more; to somebody undecided it says nothing.
    """
    feed, requests = turns.requests.feed, turns.requests
    says = (feed.author >= 0) & (feed.claim >= 0) & (feed.stance != 0.0)
    turn, slot = np.nonzero(says & world.network.has(turns.rows[:, None], feed.author))
    claim, stance = feed.claim[turn, slot], feed.stance[turn, slot]
    credence = requests.beliefs[turn, len(requests.cast.dimensions) + claim]
    accord = (2.0 * credence - 1.0) * stance
    heed = _heed(regards, scenario, turns, turn, slot)
    return Pieces(
        owner=turns.rows[turn],
        object=regards.peer(feed.author[turn, slot]),
        aspect=regards.aspect[claim],
        polarity=attitude.polarity_of(np.sign(accord) * (0.5 + 0.5 * np.abs(accord))),
        strength=heed * np.abs(accord),
        cause=feed.post[turn, slot],
        summary=repeated(len(turn), -1),
    )


def _endorsed(regards: Regards, turns: Turns, reactions: Reactions) -> Pieces:
    """Return what the post says that a persona approved of or voted down, as its own view."""
    turn, sign = _votes(reactions)
    post = reactions.post[turn]
    which, at = regards.said.of(post)
    pieces = regards.said.pieces.take(at)
    flipped = pieces.polarity[:, [1, 0, 2]]
    return replace(
        pieces,
        owner=turns.rows[turn[which]],
        polarity=np.where((sign[which] > 0)[:, None], pieces.polarity, flipped),
        strength=pieces.strength * regards.act,
        cause=post[which],
    )


def _toward_peers(world: World, regards: Regards, turns: Turns, reactions: Reactions) -> Pieces:
    """Return what a vote on its post, or following it, says about a followed peer."""
    voted, sign = _votes(reactions)
    followed = np.flatnonzero(reactions.action == ACTION_CODE["follow"])
    turn = np.concatenate([voted, followed])
    lean = np.concatenate([sign, np.ones(len(followed))])
    post = np.maximum(reactions.post[turn], -1)
    author = taken(world.posts.integers("author"), post)
    peer = np.where(post >= 0, author, reactions.persona[turn])
    near = world.network.has(turns.rows[turn], peer) & (peer != turns.rows[turn])
    turn, lean, post, peer = turn[near], lean[near], post[near], peer[near]
    return Pieces(
        owner=turns.rows[turn],
        object=regards.peer(peer),
        aspect=regards.aspect[reactions.claim[turn]],
        polarity=attitude.polarity_of(lean),
        strength=np.full(len(turn), regards.act),
        cause=post,
        summary=repeated(len(turn), -1),
    )


def _votes(reactions: Reactions) -> tuple[IntArray, FloatArray]:
    """Return the turns that approved of a post or voted it down, and which: 1 or -1."""
    approving = np.isin(reactions.action, [ACTION_CODE[name] for name in _APPROVING])
    voting = approving | (reactions.action == ACTION_CODE["downvote"])
    turn = np.flatnonzero(voting & (reactions.post >= 0))
    return turn, np.where(approving[turn], 1.0, -1.0)


def _own_words(world: World, regards: Regards, published: IntArray) -> Pieces:
    """Return what personas said in words of their own."""
    own = published[world.posts.integers("kind")[published] != KIND_CODE["repost"]]
    which, at = regards.said.of(own)
    pieces = regards.said.pieces.take(at)
    return replace(
        pieces,
        owner=world.posts.integers("author")[own[which]],
        strength=pieces.strength * regards.act,
        cause=own[which],
    )


def _decided(regards: Regards, turns: Turns, reactions: Reactions) -> Pieces:
    """Return what a decision for or against the proposition says about the brand: every side."""
    lean = np.zeros(len(turns.rows))
    for name, sign in _DECISIONS.items():
        lean[reactions.action == ACTION_CODE[name]] = sign
    turn, sides = np.flatnonzero(lean), len(regards.cast.dimensions)
    count = len(turn) * sides
    return Pieces(
        owner=np.repeat(turns.rows[turn], sides),
        object=repeated(count, BRAND),
        aspect=np.tile(np.arange(sides, dtype=np.int64), len(turn)),
        polarity=attitude.polarity_of(np.repeat(lean[turn], sides)),
        strength=np.full(count, regards.act),
        cause=repeated(count, -1),
        summary=repeated(count, -1),
    )


def _founded(world: World, regards: Regards, tick: int, first: int) -> records.UnitRows:
    """Return the units from id `first` on."""
    store = regards.store
    at = np.arange(np.searchsorted(store.unit_id, first), len(store))
    obj = store.object[at]
    return records.UnitRows(
        unit_id=store.unit_id[at],
        persona_id=persona_column(world, store.persona[at]),
        object_type=records.Coded(codes=regards.kind(obj), names=TYPES),
        object=coded(obj, regards.name),
        aspect=records.Coded(codes=store.aspect[at], names=regards.cast.dimensions),
        created_tick=repeated(len(at), tick),
    )


def _seen(regards: Regards, pieces: Pieces, seen: Observed) -> _Updates:
    store, count = regards.store, len(pieces)
    return _Updates(
        kind=repeated(count, 0),
        persona=pieces.owner,
        unit_id=seen.unit_id,
        other=repeated(count, -1),
        cause=pieces.cause,
        summary=store.summary[seen.place],
        strength=pieces.strength,
        polarity=pieces.polarity,
        confidence=seen.confidence,
        weight=seen.weight,
        entropy=seen.entropy,
        observations=seen.observations,
    )


def _ended(kind: int, change: Merge | Deletion) -> _Updates:
    """Return merges or deletions, which no evidence of their own brings about."""
    count = len(change.unit_id)
    merge = change if isinstance(change, Merge) else None
    return _Updates(
        kind=repeated(count, kind),
        persona=change.persona,
        unit_id=change.unit_id,
        other=repeated(count, -1) if merge is None else merge.other,
        cause=repeated(count, -1),
        summary=change.summary,
        strength=np.full(count, np.nan),
        polarity=np.full((count, 3), np.nan),
        confidence=change.confidence,
        weight=change.weight,
        entropy=change.entropy,
        observations=change.observations,
        aspects=() if merge is None else merge.aspects,
    )


def _table(
    world: World, regards: Regards, tick: int, parts: list[_Updates]
) -> records.UnitUpdates:
    """Return updates by persona, each with its number among those of its persona and tick."""
    persona = np.concatenate([part.persona for part in parts])
    order = np.argsort(persona, kind="stable")
    persona = persona[order]
    column = {
        name: np.concatenate([getattr(part, name) for part in parts])[order]
        for name in _Updates.__slots__
        if name != "aspects"
    }
    polarity, confidence = column["polarity"], column["confidence"]
    return records.UnitUpdates(
        tick=repeated(len(persona), tick),
        persona_id=persona_column(world, persona),
        step=units.occurrence(persona) + 1,
        unit_id=column["unit_id"],
        kind=records.Coded(codes=column["kind"], names=KINDS),
        other_unit_id=column["other"],
        cause_post_id=column["cause"],
        summary=coded(column["summary"], world.texts.__getitem__),
        strength=column["strength"],
        p_positive=polarity[:, 0],
        p_negative=polarity[:, 1],
        p_neutral=polarity[:, 2],
        positive=confidence[:, 0],
        negative=confidence[:, 1],
        neutral=confidence[:, 2],
        weight=column["weight"],
        entropy=column["entropy"],
        observations=column["observations"],
        aspects=_sides(regards, parts, order),
    )


def _sides(regards: Regards, parts: list[_Updates], order: IntArray) -> list[list[str] | None]:
    """Return the names of the sides of merges; nearly all updates are no merges and have none.

    order: (N,) where in the parts, one after the other, each row comes from.
    """
    row = np.empty(len(order), np.int64)
    row[order] = np.arange(len(order))
    names = regards.cast.dimensions
    found: list[list[str] | None] = [None] * len(order)
    start = 0
    for part in parts:
        places = row[start : start + len(part.aspects)].tolist()
        for place, own in zip(places, part.aspects, strict=True):
            found[place] = [names[side] for side in own]
        start += len(part.persona)
    return found
