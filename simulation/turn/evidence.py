"""What new posts say about the brand and the claims: found once, when they are published.

By rule a post about a claim says what its stance says; a text about no claim is read by words. A
language model, where the scenario asks one, reads every text; what it cannot answer is told and
found by rule.

Source: DAM-LLM, "Evidence Analysis and Processing"; docs/attitudes.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation import records
from simulation.extractors import Topic
from simulation.mind import attitude
from simulation.posts import KIND_CODE
from simulation.regards import BRAND, TYPES, Pieces
from simulation.turn.columns import coded, constant, repeated
from simulation.turn.rows import persona_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.extractors import Evidence, Extracted, Extractor
    from simulation.records import BoolArray, IntArray, Rows
    from simulation.regards import Regards
    from simulation.world import World

SOURCES = ("rule", "model", "fallback")
_RULE, _MODEL, _FALLBACK = range(3)


def extract(
    world: World, tick: int, posts: IntArray, *, extractor: Extractor, by_model: bool
) -> tuple[Rows, ...]:
    """Find the evidence in new posts, keep it, and return it as rows; without units nothing.

    posts: (N,) ids, rising.  extractor: reads texts.  by_model: it is a language model.
    """
    regards = world.regards
    if regards is None or not len(posts):
        return ()
    kind = world.posts.integers("kind")[posts]
    shared = kind == KIND_CODE["repost"]
    asked = ~shared if by_model else ~shared & _about_no_claim(world, posts, kind)
    reading = posts[asked]
    found = extractor.extract(
        [world.texts[i] for i in world.posts.integers("text")[reading].tolist()],
        topics(regards, claims=by_model),
        tick=tick,
        ids=[_author(world, post) for post in reading.tolist()],
    )
    lost = reading[np.array(sorted(found.error), np.int64)] if by_model else reading[:0]
    structured = posts[~shared & ~asked]
    pieces = Pieces.joined(
        [
            _by_stance(world, regards, np.concatenate([structured, lost])),
            _by_text(regards, reading, found),
            _of_parents(world, regards, posts[shared]),
        ]
    )
    kept = regards.said.add(pieces)
    failed = np.isin(kept.owner, lost)
    model = np.isin(kept.owner, reading) & by_model
    source = np.where(failed, _FALLBACK, np.where(model, _MODEL, _RULE))
    return (_rows(regards, tick, kept, source), _rejected(world, tick, reading, found))


def topics(regards: Regards, *, claims: bool) -> list[Topic]:
    """Return what texts may be about. claims: also the claims, called by id and text."""
    cast = regards.cast
    sides = cast.dimensions
    found = [Topic(object_type="brand", object=cast.brand, aspects=sides)]
    if claims:
        found += [
            Topic(object_type="claim", object=_claim_name(regards, i), aspects=sides)
            for i in range(len(cast.claims))
        ]
    return found


def _claim_name(regards: Regards, index: int) -> str:
    return f"{regards.cast.claims[index]}: {regards.label(index + 1)}"


def _about_no_claim(world: World, posts: IntArray, kind: IntArray) -> BoolArray:
    """Return which posts state something that is about no claim, (N,)."""
    about_none = world.posts.integers("claim")[posts] < 0
    return np.asarray(about_none & (kind != KIND_CODE["question"]))


def _author(world: World, post: int) -> str | None:
    author = int(world.posts.integers("author")[post])
    return world.cast.ids[author] if author >= 0 else None


def _by_stance(world: World, regards: Regards, posts: IntArray) -> Pieces:
    """Return what posts about claims say: of the claim, and of the brand, each on one side.

    The side is the dimension that the claim moves most. Who is undecided says nothing.
    """
    claim = world.posts.integers("claim")[posts]
    stance = world.posts.floats("stance")[posts]
    says = (claim >= 0) & (stance != 0.0)
    posts, claim, stance = posts[says], claim[says], stance[says]
    aspect = regards.aspect[claim]
    weight = regards.cast.weights[claim, aspect]
    strength = 0.5 + 0.5 * np.abs(stance)
    return Pieces(
        owner=np.tile(posts, 2),
        object=np.concatenate([regards.claim(claim), repeated(len(posts), BRAND)]),
        aspect=np.tile(aspect, 2),
        polarity=attitude.polarity_of(np.concatenate([stance, stance * np.sign(weight)])),
        strength=np.concatenate([strength, strength * np.abs(weight)]),
        cause=np.tile(posts, 2),
        summary=repeated(2 * len(posts), -1),
    )


def _by_text(regards: Regards, posts: IntArray, found: Extracted) -> Pieces:
    """Return what was found in the texts of posts that could be read."""
    cast = regards.cast
    names = {cast.brand: BRAND} | {_claim_name(regards, i): i + 1 for i in range(len(cast.claims))}
    owner: list[int] = []
    said: list[Evidence] = []
    for i, (post, evidence) in enumerate(zip(posts.tolist(), found.evidence, strict=True)):
        if i not in found.error:
            owner += [post] * len(evidence)
            said += evidence
    return Pieces(
        owner=np.array(owner, np.int64),
        object=np.array([names[each.object] for each in said], np.int64),
        aspect=np.array([cast.dimensions.index(each.aspect) for each in said], np.int64),
        polarity=np.array([each.polarity for each in said], np.float64).reshape(-1, 3),
        strength=np.array([each.strength for each in said], np.float64),
        cause=np.array(owner, np.int64),
        summary=regards.said.word([each.summary for each in said]),
    )


def _of_parents(world: World, regards: Regards, posts: IntArray) -> Pieces:
    """Return what reposts say: what the post says that they share."""
    which, at = regards.said.of(world.posts.integers("parent")[posts])
    pieces = regards.said.pieces.take(at)
    return Pieces(
        owner=posts[which],
        object=pieces.object,
        aspect=pieces.aspect,
        polarity=pieces.polarity,
        strength=pieces.strength,
        cause=posts[which],
        summary=pieces.summary,
    )


def _rows(regards: Regards, tick: int, pieces: Pieces, source: IntArray) -> records.Evidence:
    return records.Evidence(
        tick=repeated(len(pieces), tick),
        post_id=pieces.owner,
        object_type=records.Coded(codes=regards.kind(pieces.object), names=TYPES),
        object=coded(pieces.object, regards.name),
        aspect=records.Coded(codes=pieces.aspect, names=regards.cast.dimensions),
        positive=pieces.polarity[:, 0],
        negative=pieces.polarity[:, 1],
        neutral=pieces.polarity[:, 2],
        strength=pieces.strength,
        summary=coded(pieces.summary, regards.said.words),
        source=records.Coded(codes=source, names=SOURCES),
    )


def _rejected(world: World, tick: int, posts: IntArray, found: Extracted) -> records.Rejections:
    """Return what of a model's answers was dropped or could not be used."""
    said: Sequence[tuple[int, str, str]] = found.rejections
    which = np.array([i for i, _, _ in said], np.int64)
    author = world.posts.integers("author")[posts[which]]
    return records.Rejections(
        tick=repeated(len(said), tick),
        persona_id=persona_column(world, author),
        purpose=constant(len(said), "extraction"),
        kind=[kind for _, kind, _ in said],
        detail=[detail for _, _, detail in said],
    )
