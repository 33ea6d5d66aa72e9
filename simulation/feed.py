"""What reaches a persona: posts by those it follows, posts addressed to it, stimuli; ranked, cut.

A post of tick t can be seen from tick t + 1, a stimulus of tick t at t. A persona sees what came
since its last turn. One original shared by several peers is shown once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.posts import KIND_CODE, SPREADING, PostLog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_HALF_ENGAGEMENT = 4.0  # reactions at which a post has half of the weight of engagement


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Weights of the feed's ranking, all >= 0; see `score`."""

    size: int = 5
    recent: float = 1.0
    engaging: float = 0.5
    similar: float = 1.0
    stimulus_boost: float = 1.0
    addressed_boost: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeds:
    """Ranked feeds of A turns: post ids (A, F), -1 in unused slots at the end, and scores."""

    post: IntArray
    score: FloatArray


def build(
    *,
    posts: PostLog,
    offsets: IntArray,
    followees: IntArray,
    shown: Mapping[int, BoolArray],
    rows: IntArray,
    last_turn: IntArray,
    tick: int,
    ranking: Ranking,
    similarity: Callable[[IntArray, IntArray], FloatArray],
) -> Feeds:
    """Return the feeds of the personas `rows`, (A,).

    offsets, followees: whom each persona follows: row p follows
    followees[offsets[p]:offsets[p + 1]].
    shown: post id of a stimulus: (P,) who is shown it.  last_turn: (A,) tick of the last turn, 0
    for none.  similarity: (persona rows, post ids) -> clipped cosine, [0, 1].
    """
    turn, post = _candidates(posts, offsets, followees, shown, rows, last_turn, tick)
    own = posts.integers("author")[posts.integers("root")[post]] == rows[turn]
    turn, post = turn[~own], post[~own]
    value = _score(posts, rows[turn], post, tick, ranking, similarity)
    return _best(posts, turn, post, value, count=len(rows), size=ranking.size)


def _candidates(
    posts: PostLog,
    offsets: IntArray,
    followees: IntArray,
    shown: Mapping[int, BoolArray],
    rows: IntArray,
    last_turn: IntArray,
    tick: int,
) -> tuple[IntArray, IntArray]:
    """Return pairs (index into rows, post id), unordered, perhaps with repeats."""
    first = int(last_turn.min(initial=tick))
    published = posts.integers("tick")
    start = int(np.searchsorted(published, first))
    recent = np.arange(start, len(posts), dtype=np.int64)
    recent = recent[published[recent] < tick]
    spreading = np.isin(posts.integers("kind")[recent], [KIND_CODE[k] for k in SPREADING])
    by_author = recent[spreading & (posts.integers("author")[recent] >= 0)]

    turn, followee = _spread(offsets, followees, rows)
    pairs = [_since(posts, "author", by_author, turn, followee, last_turn, tick)]
    addressed = recent[posts.integers("addressee")[recent] >= 0]
    everyone = np.arange(len(rows), dtype=np.int64)
    pairs.append(_since(posts, "addressee", addressed, everyone, rows, last_turn, tick))
    for post, audience in shown.items():
        if published[post] <= first:
            continue  # everyone here has looked since
        sees = audience[rows] & (published[post] > last_turn) & (published[post] <= tick)
        seen = np.flatnonzero(sees)
        pairs.append((seen, np.full(len(seen), post, dtype=np.int64)))
    return (
        np.concatenate([turn for turn, _ in pairs]),
        np.concatenate([post for _, post in pairs]),
    )


def _spread(offsets: IntArray, values: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return (index into rows, value) for all values of the rows of a ragged array."""
    return _ranges(offsets[rows], offsets[rows + 1], values)


def _ranges(start: IntArray, stop: IntArray, values: IntArray) -> tuple[IntArray, IntArray]:
    """Return (i, v) for every v in values[start[i]:stop[i]], in order."""
    lengths = stop - start
    index = np.repeat(np.arange(len(start), dtype=np.int64), lengths)
    before = np.cumsum(lengths) - lengths
    place = np.arange(len(index), dtype=np.int64) - before[index] + start[index]
    return index, values[place]


def _since(
    posts: PostLog,
    column: str,
    ids: IntArray,
    turn: IntArray,
    who: IntArray,
    last_turn: IntArray,
    tick: int,
) -> tuple[IntArray, IntArray]:
    """Return pairs (turn, post) where the post's `column` is `who` and it is new to that turn."""
    span = tick + 1
    key = posts.integers(column)[ids] * span + posts.integers("tick")[ids]
    order = np.argsort(key, kind="stable")
    key, ids = key[order], ids[order]
    start = np.searchsorted(key, who * span + last_turn[turn])
    stop = np.searchsorted(key, (who + 1) * span)
    pair, post = _ranges(start, stop, ids)
    return turn[pair], post


def _score(
    posts: PostLog,
    rows: IntArray,
    post: IntArray,
    tick: int,
    ranking: Ranking,
    similarity: Callable[[IntArray, IntArray], FloatArray],
) -> FloatArray:
    """Return recent/(1 + age) + engaging·e/(e + 4) + similar·cos + boosts, per pair."""
    age = tick - posts.integers("tick")[post]
    reactions = np.maximum(posts.floats("engagement")[posts.integers("root")[post]], 0.0)
    value = ranking.recent / (1.0 + age)
    value += ranking.engaging * reactions / (reactions + _HALF_ENGAGEMENT)
    value += ranking.stimulus_boost * (posts.integers("stimulus")[post] >= 0)
    value += ranking.addressed_boost * (posts.integers("addressee")[post] == rows)
    if ranking.similar > 0.0:
        value += ranking.similar * similarity(rows, post)
    return np.asarray(value, dtype=np.float64)


def _best(
    posts: PostLog, turn: IntArray, post: IntArray, value: FloatArray, *, count: int, size: int
) -> Feeds:
    """Keep each original once per turn, rank by score, then by the newer post, and cut."""
    order = np.lexsort((-post, -value, turn))
    turn, post, value = turn[order], post[order], value[order]
    original = turn * np.int64(len(posts) + 1) + posts.integers("root")[post]
    _, first = np.unique(original, return_index=True)
    keep = np.sort(first)  # np.unique returns the first occurrence, the best ranked
    turn, post, value = turn[keep], post[keep], value[keep]
    place = np.arange(len(turn)) - np.searchsorted(turn, turn)
    shown = place < size
    feed = np.full((count, size), -1, dtype=np.int64)
    score = np.full((count, size), np.nan)
    feed[turn[shown], place[shown]] = post[shown]
    score[turn[shown], place[shown]] = value[shown]
    return Feeds(post=feed, score=score)
