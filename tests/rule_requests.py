"""Turn, reflection and probe requests from a few arrays, for tests of the rule model."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.models.base import (
    ACTION_CODE,
    ACTIONS,
    Cast,
    FeedView,
    ProbeRequests,
    Reactions,
    RecalledView,
    ReflectionRequests,
    TurnRequests,
)
from simulation.providers.base import Prompt
from simulation.rng import stream_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.base import BoolArray, FloatArray, IntArray

FIRST_PERSON = re.compile(r"\b(I|I'm|I'd|I've|I'll|me|my)\b", re.IGNORECASE)
BRAND = "Bolt Bar"
CLAIMS = ("20 g protein with zero sugar", "It keeps you full until lunch.", "Made in the region")
VOICES = (
    ("as a nurse", "with two children at home"),
    ("as somebody who lifts weights",),
    (),
    ("in a small town", "on a tight budget", "as a vegetarian"),
)
Setting = dict[str, Any]


def make_cast(people: int, **given: Any) -> Cast:
    """Return a cast of `people` personas with three claims and three dimensions."""
    ids = given.pop("ids", tuple(f"p{i:05d}" for i in range(people)))
    setting: Setting = {
        "ids": ids,
        "keys": stream_keys(ids),
        "blocks": tuple(f"I am {i}." for i in ids),
        "voices": tuple(VOICES[i % len(VOICES)] for i in range(people)),
        "receptivity": np.zeros(people),
        "voice": np.zeros(people),
        "scepticism": np.zeros(people),
        "brand": BRAND,
        "proposition": "Bolt Bar is the protein bar for every day.",
        "dimensions": ("value", "fit", "trust"),
        "claims": tuple(f"C{i + 1}" for i in range(len(CLAIMS))),
        "claim_texts": CLAIMS,
        "weights": np.array([[0.6, 0.3, 0.2], [0.2, 0.7, 0.1], [0.1, 0.0, 0.5]]),
    }
    return Cast(**(setting | given))


def make_feed(turns: int, slots: int = 1, **given: Any) -> FeedView:
    """Return feeds whose slots hold one affirming news item on claim 0 each."""
    shape = (turns, slots)
    names = given.pop("names", {})
    setting: Setting = {
        "post": np.arange(turns * slots, dtype=np.int64).reshape(shape),
        "author": np.full(shape, -1, dtype=np.int64),
        "text": np.zeros(shape, dtype=np.int64),
        "claim": np.zeros(shape, dtype=np.int64),
        "stance": np.ones(shape),
        "credibility": np.full(shape, 0.7),
        "relevance": np.full(shape, 0.5),
        "sponsored": np.zeros(shape, dtype=bool),
        "question": np.zeros(shape, dtype=bool),
        "followable": np.zeros(shape, dtype=bool),
        "outside": np.zeros(shape, dtype=bool),
        "origin": np.full(shape, -1, dtype=np.int64),
        "source_names": lambda post: names.get(post, f"Source {post % 7}"),
    }
    return FeedView(**(setting | given))


def no_memories(turns: int, slots: int = 3) -> RecalledView:
    """Return recalls of nothing."""
    shape = (turns, slots)
    none = np.full(shape, -1, dtype=np.int64)
    zero = np.zeros(shape)
    return RecalledView(text=none, score=zero, claim=none, stance=zero, tick=none)


def allow(turns: int, *names: str) -> BoolArray:
    """Return that the named actions are allowed; without names, all."""
    mask = np.zeros((turns, len(ACTIONS)), dtype=bool)
    mask[:, [ACTION_CODE[name] for name in names or ACTIONS]] = True
    return mask


def make_requests(turns: int, **given: Any) -> TurnRequests:
    """Return a batch of turns: everyone at 0.5 reads one news item that affirms claim 0."""
    cast = given.pop("cast", None) or make_cast(turns)
    texts = given.pop("texts", ("Bolt Bar has 20 g of protein, a test finds.",))
    beliefs = given.get("beliefs", np.full((turns, len(cast.targets)), 0.5))
    setting: Setting = {
        "cast": cast,
        "tick": 1,
        "horizon": 30,
        "row": np.arange(turns, dtype=np.int64),
        "tier": np.zeros(turns, dtype=np.int64),
        "turn_no": np.ones(turns, dtype=np.int64),
        "beliefs": beliefs,
        "initial": beliefs,
        "heard": np.zeros((turns, len(cast.claims), 2)),
        "decided": np.zeros(turns, dtype=np.int64),
        "feed": given.get("feed") or make_feed(turns),
        "recalled": no_memories(turns),
        "allowed": allow(turns),
        "friend": np.full(turns, -1, dtype=np.int64),
        "stimulus": np.zeros(turns, dtype=np.int64),
        "text": lambda i: texts[i],
        "prompt": lambda i: f"prompt {i}",
    }
    return TurnRequests(**(setting | given))


def subset(requests: TurnRequests, rows: Sequence[int]) -> TurnRequests:
    """Return some turns of a batch, in the order of `rows`."""
    which = np.asarray(rows, dtype=np.int64)

    def cut(part: Any) -> Any:
        return replace(
            part,
            **{
                name: getattr(part, name)[which]
                for name in part.__slots__
                if isinstance(getattr(part, name), np.ndarray)
            },
        )

    smaller: TurnRequests = cut(requests)
    return replace(smaller, feed=cut(requests.feed), recalled=cut(requests.recalled))


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """A population with random beliefs, feeds and memories that looks like a run's."""

    requests: TurnRequests

    @classmethod
    def build(cls, people: int, *, seed: int = 0, tick: int = 1, slots: int = 5) -> Town:
        """Return one tick of a synthetic run in mid-flight."""
        rng = np.random.default_rng(seed)
        cast = make_cast(
            people,
            receptivity=rng.normal(0.0, 0.3, people),
            voice=rng.normal(0.0, 0.3, people),
            scepticism=rng.uniform(-0.5, 1.0, people),
        )
        beliefs = np.clip(rng.normal(0.52, 0.13, (people, 6)), 0.0, 1.0)
        return cls(
            requests=make_requests(
                people,
                cast=cast,
                tick=tick,
                beliefs=beliefs,
                initial=np.full((people, 6), 0.5),
                heard=np.floor(rng.exponential(1.5, (people, 3, 2))),
                feed=_feed(rng, people, slots),
                recalled=_recalled(rng, people),
                friend=rng.integers(-1, people, people),
                decided=rng.integers(-1, 2, people) * (rng.random(people) < 0.1),
                texts=tuple(f"What I think about item {i}: it is fine." for i in range(60)),
            )
        )


def _feed(rng: np.random.Generator, people: int, slots: int) -> FeedView:
    shape = (people, slots)
    used = np.arange(slots) < rng.integers(0, slots + 1, people)[:, None]
    media = rng.random(shape) < 0.3
    post = np.where(media, rng.integers(0, 6, shape), 6 + rng.integers(0, 10 * people, shape))
    author = np.where(media | ~used, -1, rng.integers(0, people, shape))
    claim = np.where(used, rng.integers(-1, 3, shape), -1)
    return make_feed(
        people,
        slots,
        post=np.where(used, post, -1),
        author=author,
        text=np.where(used, post % 60, -1),
        claim=claim,
        stance=np.where(used, np.clip(rng.normal(0.2, 0.5, shape), -1.0, 1.0), 0.0),
        credibility=np.where(used, rng.uniform(0.3, 0.7, shape), 0.0),
        relevance=np.where(used, rng.beta(2.0, 5.0, shape), 0.0),
        sponsored=used & media & (post < 3),
        question=used & (rng.random(shape) < 0.03),
        followable=(author >= 0) & (rng.random(shape) < 0.1),
        outside=(author < 0) | (rng.random(shape) < 0.2),
        origin=np.where((author >= 0) & (rng.random(shape) < 0.1), (author + 1) % people, -1),
    )


def _recalled(rng: np.random.Generator, people: int) -> RecalledView:
    shape = (people, 3)
    used = rng.random(shape) < 0.8
    return RecalledView(
        text=np.where(used, rng.integers(0, 60, shape), -1),
        score=np.where(used, rng.random(shape), 0.0),
        claim=np.where(used, rng.integers(-1, 3, shape), -1),
        stance=np.where(used, rng.uniform(-1.0, 1.0, shape), 0.0),
        tick=np.where(used, 0, -1),
    )


def make_reflections(
    beliefs: FloatArray,
    before: FloatArray,
    *,
    cast: Cast | None = None,
    texts: Sequence[str] = ("I liked Bolt Bar's ad.",),
    memories: Sequence[Sequence[tuple[int, float, int]]] | None = None,
    memory_views: Sequence[Sequence[tuple[int, float]]] = (),
    tick: int = 5,
) -> ReflectionRequests:
    """Return a batch of reflections, each with one memory."""
    count = len(beliefs)
    return ReflectionRequests(
        cast=cast or make_cast(count),
        tick=tick,
        row=np.arange(count, dtype=np.int64),
        beliefs=beliefs,
        before=before,
        memories=[[(0, 0.5, 1)]] * count if memories is None else memories,
        memory_views=memory_views,
        sharp=np.zeros(count, dtype=bool),
        text=lambda i: texts[i],
        prompt=lambda i: Prompt(system="", persona="", question=str(i)),
    )


def make_probes(
    count: int, *, attribute: str = "occupation", other: str = "pilot"
) -> ProbeRequests:
    """Return one question to each of `count` personas, whose true answer is "nurse"."""
    return ProbeRequests(
        cast=make_cast(count),
        tick=10,
        row=np.arange(count, dtype=np.int64),
        attribute=[attribute] * count,
        question=["What is your job?"] * count,
        expected=["nurse"] * count,
        other=[other] * count,
        prompt=lambda i: Prompt(system="", persona="", question=str(i)),
    )


def make_reactions(
    requests: TurnRequests, action: Any, words: list[str] | None = None, **given_: Any
) -> Reactions:
    """Return the reactions of a batch, each to the first item of its feed."""
    count = len(requests)
    values: dict[str, Any] = {
        "action": action,
        "post": requests.feed.post[:, 0] if requests.feed.post.shape[1] else np.full(count, -1),
        "persona": np.full(count, -1, dtype=np.int64),
        "words": words or [""] * count,
        "change": np.zeros((count, 6)),
        "claim": np.zeros(count, dtype=np.int64),
        "stance": np.zeros(count),
        "cause": np.full((count, 6), -1),
        "importance": np.full(count, np.nan),
        "source": np.zeros(count, dtype=np.int64),
    }
    return Reactions(**(values | given_))


def complete(text: str) -> bool:
    """Return whether a text is whole: no gaps, no leftovers of a template, a start and an end."""
    whole = text[0].isupper() and text[-1] in '.?!…"'
    gaps = "  " in text or " ," in text or " ." in text or ".." in text or text != text.strip()
    leftovers = any(sign in text for sign in "{}%<>_") or "None" in text or '""' in text
    return whole and not gaps and not leftovers


def speaks_of_itself(text: str) -> bool:
    """Return whether a text is in the first person."""
    return bool(FIRST_PERSON.search(text))


def codes(*names: str) -> IntArray:
    """Return the codes of actions."""
    return np.array([ACTION_CODE[name] for name in names], dtype=np.int64)
