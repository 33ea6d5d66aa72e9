"""Recompute the memory units of a run from its database alone: method.md 10, docs/attitudes.md.

It imports nothing of the package, as `recompute`, whose `Run` it reads. Each check returns a list
of differences, empty when the file agrees.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from recompute import Run

APPROVING = {"like", "upvote", "repost"}
FULL_RELEVANCE = 0.5
THOUSANDTH = 0.001 + 1e-9
FAINT = 0.01
State = tuple[list[float], float]


@dataclass
class Piece:
    """One piece of evidence, before those of a turn come together."""

    polarity: tuple[float, float, float]
    strength: float
    post: int | None


@dataclass
class Book:
    """What the checks read more than once."""

    run: Run
    dimensions: list[str]
    side: dict[str | None, str]
    weight: dict[str, float]
    evidence: dict[int, list[tuple[str, str, str, tuple[float, ...], float]]]
    posts: dict[int, tuple[Any, ...]]
    follows: dict[tuple[str, str], int]
    cosine: Callable[[str, str], float]
    units: dict[int, tuple[str, str, str, str]] = field(default_factory=dict)
    groups: dict[tuple[str, ...], list[int]] = field(default_factory=lambda: defaultdict(list))

    def value(self, key: str) -> Any:
        return self.run.parameters[key]


def book(run: Run) -> Book:
    brief = run.parameters["brief.claims"]
    dimensions = run.parameters["brief.dimensions"]
    side: dict[str | None, str] = {None: dimensions[0]}
    weight = {}
    for claim in brief:
        sizes = [abs(claim["weights"].get(name, 0.0)) for name in dimensions]
        side[claim["id"]] = dimensions[sizes.index(max(sizes))]
        weight[claim["id"]] = claim["weights"].get(side[claim["id"]], 0.0)
    evidence = defaultdict(list)
    for post, kind, obj, aspect, *shares, strength in run.rows(
        "SELECT post_id, object_type, object, aspect, positive, negative, neutral, strength "
        "FROM evidence"
    ):
        evidence[post].append((kind, obj, aspect, tuple(shares), strength))
    posts = {
        row[0]: row
        for row in run.rows(
            "SELECT post_id, tick, author, kind, parent_id, claim_id, valence, credibility, text, "
            "stimulus_id FROM posts"
        )
    }
    follows = {(a, b): t for a, b, t in run.rows("SELECT source, target, created_tick FROM edges")}
    vectors = {
        text: np.frombuffer(vector, np.int8).astype(np.float64)
        for text, vector in run.rows("SELECT text, quantised FROM embedding_rows")
    }

    def cosine(left: str, right: str) -> float:
        a, b = vectors[left], vectors[right]
        size = math.sqrt(a @ a) * math.sqrt(b @ b)
        return float(a @ b / size) if size else 0.0

    found = Book(run, dimensions, side, weight, evidence, posts, follows, cosine)
    found.units = {
        row[0]: row[1:]
        for row in run.rows(
            "SELECT unit_id, persona_id, object_type, object, aspect FROM unit_rows"
        )
    }
    for unit, key in sorted(found.units.items()):
        found.groups[key[:3]].append(unit)
    return found


def polarity_of(lean: float) -> tuple[float, float, float]:
    return max(lean, 0.0), max(-lean, 0.0), 1.0 - abs(lean)


def entropy(confidence: list[float]) -> float:
    total = sum(confidence)
    p = [c / total for c in confidence] if total else [1 / 3] * 3
    return -sum(x * math.log2(x) for x in p if x > 0)


def what_posts_say(run: Run) -> list[str]:
    """A stance about a claim, the same for the brand by the sign of its weight; reposts repeat."""
    b = book(run)
    wrong = []
    for post, row in b.posts.items():
        said = {row[:3]: (row[3], row[4]) for row in b.evidence[post]}
        wanted = _wanted(b, row)
        if wanted is None:
            continue
        if said.keys() != wanted.keys():
            wrong.append(f"post {post}: says {sorted(said)}, not {sorted(wanted)}")
            continue
        for key, (shares, strength) in wanted.items():
            gaps = [abs(x - y) for x, y in zip(said[key][0], shares, strict=True)]
            if max(*gaps, abs(said[key][1] - strength)) > THOUSANDTH:
                wrong.append(f"post {post}: {key} is {said[key]}, not {shares, strength}")
    return wrong


def _wanted(b: Book, row: tuple[Any, ...]) -> dict[Any, Any] | None:
    """Return what a post is to say; None where that is read by words."""
    _, _, _, kind, parent, claim, stance, *_ = row
    if kind == "repost":
        return {row[:3]: (row[3], row[4]) for row in b.evidence[parent]}
    if claim is None:
        return {} if kind == "question" else None
    if stance == 0:
        return {}
    firm, size = 0.5 + 0.5 * abs(stance), b.weight[claim]
    found = {("claim", claim, b.side[claim]): (polarity_of(stance), firm)}
    if firm * abs(size) >= FAINT:
        lean = polarity_of(stance * math.copysign(1.0, size))
        found["brand", b.value("brief.brand"), b.side[claim]] = (lean, firm * abs(size))
    return found


class Lessons:
    """What each turn learns about which side of what, as it was met."""

    def __init__(self, b: Book) -> None:
        self.book = b
        self.found: dict[Any, list[Piece]] = defaultdict(list)
        self.act = b.value("units.act")
        self.beliefs = {
            (t, p, c): x
            for t, p, c, x in b.run.rows(
                "SELECT tick, persona_id, target, belief FROM beliefs "
                "WHERE target IN (SELECT claim_id FROM claims)"
            )
        }
        self.blocks = dict(b.run.rows("SELECT persona_id, persona_block FROM personas"))
        for row in b.run.rows("SELECT tick, persona_id, post_id FROM exposures"):
            self.read(*row)
        for row in b.run.rows("SELECT tick, persona_id, action, target_id, claim_id FROM turns"):
            self.did(*row)
        for post, (_, tick, author, kind, *_, stimulus) in b.posts.items():
            if stimulus is None and kind != "repost":
                self.says(post, author, tick, self.act)

    def says(self, post: int, who: str, tick: int, factor: float, *, flip: bool = False) -> None:
        for kind, obj, aspect, shares, strength in self.book.evidence[post]:
            p, n, z = shares
            polarity = (n, p, z) if flip else (p, n, z)
            key = (tick, who, (kind, obj, aspect))
            self.found[key].append(Piece(polarity, strength * factor, post))

    def read(self, tick: int, who: str, post: int) -> None:
        b = self.book
        _, _, author, _, _, claim, stance, credibility, text, stimulus = b.posts[post]
        if author == who and stimulus is None:
            return
        near = min(1.0, max(0.0, b.cosine(self.blocks[who], text)) / FULL_RELEVANCE)
        floor = b.value("rule.attention_floor")
        heed = b.value("units.read") * credibility * (floor + (1.0 - floor) * near)
        self.says(post, who, tick, heed)
        if stimulus is None and claim is not None and self.follows(who, author, tick):
            accord = (2 * self.beliefs[tick - 1, who, claim] - 1) * stance
            if accord:
                lean = math.copysign(0.5 + 0.5 * abs(accord), accord)
                key = (tick, who, ("peer", author, b.side[claim]))
                self.found[key].append(Piece(polarity_of(lean), heed * abs(accord), post))

    def did(self, tick: int, who: str, action: str, target: str, claim: str | None) -> None:
        b = self.book
        vote = 1.0 if action in APPROVING else -1.0 if action == "downvote" else 0.0
        post = int(target) if vote else None
        if post is not None:
            self.says(post, who, tick, self.act, flip=vote < 0)
        peer = target if action == "follow" else None
        if post is not None and b.posts[post][9] is None:
            peer = b.posts[post][2]
        if peer is not None and peer != who and self.follows(who, peer, tick):
            key = (tick, who, ("peer", peer, b.side[claim]))
            self.found[key].append(Piece(polarity_of(vote or 1.0), self.act, post))
        for aspect in b.dimensions if action in ("buy", "reject") else ():
            lean = 1.0 if action == "buy" else -1.0
            key = (tick, who, ("brand", b.value("brief.brand"), aspect))
            self.found[key].append(Piece(polarity_of(lean), self.act, None))

    def follows(self, who: str, peer: str, tick: int) -> bool:
        since = self.book.follows.get((who, peer))
        return since is not None and since <= tick


def by_unit(b: Book) -> dict[tuple[int, Any], list[Piece]]:
    """Return what each unit is told in each tick; where there is none, by what it would be."""
    moves, founded, told = defaultdict(list), defaultdict(list), defaultdict(list)
    for tick, kind, unit, other in b.run.rows(
        "SELECT tick, kind, unit_id, other_unit_id FROM unit_updates WHERE kind <> 'evidence' "
        "ORDER BY tick, persona_id, step"
    ):
        moves[tick].append((kind, unit, other))
    for unit, tick in b.run.rows("SELECT unit_id, created_tick FROM unit_rows"):
        founded[tick].append(unit)
    for (tick, persona, side), pieces in Lessons(b).found.items():
        told[tick].append(((persona, *side), pieces))
    owner: dict[Any, int] = {}
    learnt: dict[tuple[int, Any], list[Piece]] = defaultdict(list)
    for tick in range(1, b.run.last_tick + 1):
        owner.update({b.units[unit]: unit for unit in founded[tick]})
        for key, pieces in told[tick]:
            learnt[tick, owner.get(key, key)] += pieces
        for kind, unit, other in moves[tick]:
            gone = other if kind == "merge" else unit
            theirs = [key for key, who in owner.items() if who == gone]
            for key in theirs:
                del owner[key]
            owner.update(dict.fromkeys(theirs, unit) if kind == "merge" else {})
    return learnt


def what_turns_learn(run: Run) -> list[str]:
    """What was read and done comes together to one piece a unit; faint evidence is not noticed."""
    logged = {
        (tick, unit): rest
        for tick, unit, *rest in run.rows(
            "SELECT tick, unit_id, strength, p_positive, p_negative, p_neutral, cause_post_id "
            "FROM unit_updates WHERE kind = 'evidence'"
        )
    }
    wrong = []
    for key, pieces in by_unit(book(run)).items():
        strength = 1.0 - math.prod(1.0 - piece.strength for piece in pieces)
        if key in logged:
            wrong += [f"{key}: {fault}" for fault in _odd(logged.pop(key), strength, pieces)]
        elif strength > FAINT + THOUSANDTH:
            wrong.append(f"{key}: evidence of {strength} is not logged")
    return wrong + [f"{key}: evidence out of nothing" for key in logged]


def _odd(logged: list[Any], strength: float, pieces: list[Piece]) -> list[str]:
    said, *mean, cause = logged
    total = sum(piece.strength for piece in pieces)
    shares = [sum(p.strength * p.polarity[k] for p in pieces) / total for k in range(3)]
    gaps = [abs(x - y) / 2 for x, y in zip(mean, shares, strict=True)]
    sizes = [p.strength * abs(p.polarity[0] - p.polarity[1]) for p in pieces]
    best = [p.post for p, size in zip(pieces, sizes, strict=True) if size > max(sizes) - 1e-9]
    wrong = [] if cause in best else [f"because of {cause}, not {best}"]
    if max(*gaps, abs(said - strength)) > THOUSANDTH:
        wrong.append(f"logged {said, mean}, not {strength, shares}")
    return wrong


def how_units_stand(run: Run) -> list[str]:
    """C <- (C W + S P) / (W + S), W <- min(W + S, cap); a merge weighs by W; H by the formula."""
    b = book(run)
    cap = b.value("units.weight_cap")
    state: dict[int, State] = {}
    seen: dict[int, int] = defaultdict(int)
    wrong, total, sums = [], 0.0, dict(run.rows("SELECT tick, unit_entropy FROM ticks"))
    rows = run.rows(
        "SELECT tick, unit_id, kind, other_unit_id, strength, p_positive, p_negative, p_neutral, "
        "positive, negative, neutral, weight, entropy, observations "
        "FROM unit_updates ORDER BY tick, persona_id, step"
    )
    place = 0
    for tick in range(1, run.last_tick + 1):
        while place < len(rows) and rows[place][0] == tick:
            _, unit, kind, other, s, *p, pos, neg, neu, weight, h, times = rows[place]
            place += 1
            c, w = state.get(unit, ([0.0, 0.0, 0.0], 0.0))
            if kind == "delete":
                del state[unit]
                continue
            if kind == "merge":
                p, s = state.pop(other)
                seen[unit] += seen[other] - 1
            c = [(x * w + s * y) / (w + s) for x, y in zip(c, p, strict=True)]
            w = min(w + s, cap)
            state[unit], seen[unit] = (c, w), seen[unit] + 1
            gaps = [abs(x - y) for x, y in zip(c, (pos, neg, neu), strict=True)]
            if max(*gaps, abs(w - weight), abs(entropy(c) - h)) > 1e-9 or times != seen[unit]:
                wrong.append(f"{tick} unit {unit}: {pos, neg, neu, weight, h, times} after {kind}")
        total = sum(entropy(c) for c, _ in state.values())
        if abs(total - sums[tick]) > 1e-6:
            wrong.append(f"tick {tick}: total entropy {sums[tick]}, not {total}")
    living = {
        row[0]: row[1:]
        for row in run.rows(
            "SELECT unit_id, positive, negative, neutral, weight FROM units WHERE ended IS NULL"
        )
    }
    if living.keys() != state.keys():
        wrong.append(f"{len(living)} units live in the view, {len(state)} in truth")
    return wrong


class Living:
    """Units as the log says they stood, tick by tick."""

    def __init__(self, b: Book) -> None:
        self.book = b
        self.state: dict[int, tuple[str, State]] = {}
        self.news: dict[int, int] = {}
        self.wrong: list[str] = []

    def tick(self, tick: int, changes: list[tuple[Any, ...]]) -> None:
        touched = set()
        for persona, kind, unit, _, summary, *c, w in changes:
            if kind == "evidence":
                self.state[unit], self.news[unit] = (summary, (c, w)), tick
                touched.add((persona, *self.book.units[unit][1:3]))
        told = {
            (unit, other): (summary, (c, w))
            for _, kind, unit, other, summary, *c, w in changes
            if kind == "merge"
        }
        for group in sorted(touched):
            self.merge(tick, group, told)
        self.wrong += [f"tick {tick}: {pair} merged for no reason" for pair in told]
        ended = {unit for _, kind, unit, *_ in changes if kind == "delete"}
        noise = {
            unit
            for unit, (_, state) in self.state.items()
            if _noise(self.book, state, tick - self.news[unit])
        }
        if ended != noise:
            self.wrong.append(f"tick {tick}: {sorted(ended)} ended, not {sorted(noise)}")
        for unit in ended:
            self.state.pop(unit, None)

    def merge(self, tick: int, group: tuple[str, ...], told: dict[Any, Any]) -> None:
        while (pair := _best_pair(self.book, self.state, group)) is not None:
            unit, other = pair
            if pair not in told:
                self.wrong.append(f"tick {tick}: {other} did not merge into {unit}")
                break
            self.state[unit] = told.pop(pair)
            self.news[unit] = max(self.news[unit], self.news[other])
            del self.state[other]


def what_views_say(run: Run) -> list[str]:
    """`updated_tick` counts what was merged in; a path names its post before a merge, too."""
    latest: dict[int, int] = {}
    paths: dict[tuple[int, int], Any] = {}
    for tick, unit, kind, other, cause in run.rows(
        "SELECT tick, unit_id, kind, other_unit_id, cause_post_id FROM unit_updates "
        "ORDER BY tick, persona_id, step"
    ):
        if kind == "evidence":
            latest[unit], paths[tick, unit] = tick, cause
        elif kind == "merge":
            latest[unit] = max(latest[unit], latest[other])
        paths.setdefault((tick, unit), None)
    views = {
        "units": (dict(run.rows("SELECT unit_id, updated_tick FROM units")), latest),
        "attitude_paths": (
            {
                (tick, unit): cause
                for tick, unit, cause in run.rows(
                    "SELECT tick, unit_id, cause_post_id FROM attitude_paths"
                )
            },
            paths,
        ),
    }
    return [f"view {name} says other things" for name, (is_, want) in views.items() if is_ != want]


def what_merges_and_ends(run: Run) -> list[str]:
    """The best pair of an object first, until none is left; then idle, light, torn ones end."""
    changes: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for tick, *rest in run.rows(
        "SELECT tick, persona_id, kind, unit_id, other_unit_id, summary, positive, negative, "
        "neutral, weight FROM unit_updates ORDER BY tick, persona_id, step"
    ):
        changes[tick].append(tuple(rest))
    living = Living(book(run))
    for tick in range(1, run.last_tick + 1):
        living.tick(tick, changes[tick])
    return living.wrong


def _noise(b: Book, state: State, idle: int) -> bool:
    return bool(
        entropy(state[0]) >= b.value("units.delete_entropy")
        and state[1] <= b.value("units.delete_weight")
        and idle >= b.value("units.delete_after")
    )


def _best_pair(
    b: Book, state: dict[int, tuple[str, State]], group: tuple[str, ...]
) -> tuple[int, int] | None:
    mine = [unit for unit in b.groups[group] if unit in state]
    found = []
    for i, first in enumerate(mine):
        for second in mine[i + 1 :]:
            gain = _gain(b, state[first], state[second])
            if gain is not None:
                found.append((-gain, first, second))
    if not found:
        return None
    _, first, second = min(found)
    heavier = state[second][1][1] > state[first][1][1]
    return (second, first) if heavier else (first, second)


def _gain(b: Book, one: tuple[str, State], two: tuple[str, State]) -> float | None:
    if b.cosine(one[0], two[0]) < b.value("units.merge_similarity"):
        return None
    (c, w), (d, v) = one[1], two[1]
    if c.index(max(c)) != d.index(max(d)):
        return None
    both = entropy([(x * w + y * v) / (w + v) for x, y in zip(c, d, strict=True)])
    if both > max(entropy(c), entropy(d)) + 1e-12:
        return None
    return entropy(c) + entropy(d) - both


Check = Callable[[Run], list[str]]
CHECKS: tuple[Check, ...] = (
    what_posts_say,
    what_turns_learn,
    how_units_stand,
    what_views_say,
    what_merges_and_ends,
)
