"""A small world for tests of written models: four personas, two claims, one feed.

Every private text says whose it is ("PRIVATE-<id>"), so that a test can look for leaks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simulation.models.base import (
    ACTION_CODE,
    ACTIONS,
    Cast,
    FeedView,
    ProbeRequests,
    RecalledView,
    ReflectionRequests,
    TurnRequests,
)
from simulation.providers.base import Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence


def plain(text: str) -> Prompt:
    """Return a prompt that is this text."""
    return Prompt(system="", persona="", question=text)


IDS = ("anna", "bo", "cem", "dana")
TEXTS = (
    "Bolt Bar has 20 g protein and zero sugar.",  # 0: the proposition
    "Try it today!",  # 1: an ad, post 10
    "Tastes like chalk to me.",  # 2: by bo, post 11
    "Would you take it to work?",  # 3: by cem, post 12, a question
    "PRIVATE-anna: I tried a bar once.",  # 4 to 7: memories
    "PRIVATE-bo: I never liked bars.",
    "PRIVATE-cem: I am short of money.",
    "PRIVATE-dana: I run on Sundays.",
)
BLOCKS = tuple(f"PRIVATE-{name}: a person." for name in IDS)
SOURCES = {10: "Bolt", 11: "bo", 12: "cem"}


def cast(
    *,
    blocks: Sequence[str] = BLOCKS,
    ids: tuple[str, ...] = IDS,
    proposition: str = TEXTS[0],
    claim_text: str = "It has 20 g protein.",
) -> Cast:
    size = len(ids)
    return Cast(
        ids=ids,
        keys=np.arange(size, dtype=np.uint64),
        blocks=tuple(blocks),
        voices=((),) * size,
        receptivity=np.zeros(size),
        voice=np.zeros(size),
        scepticism=np.zeros(size),
        brand="Bolt",
        proposition=proposition,
        dimensions=("value", "trust"),
        claims=("C1", "C2"),
        claim_texts=(claim_text, "It has no sugar."),
        weights=np.zeros((2, 2)),
    )


def _feed(turns: int) -> FeedView:
    """Post 10 is an ad about C1, 11 is by bo about C2, 12 a question by cem about nothing."""

    def rows(values: Sequence[float]) -> np.ndarray:
        return np.tile(np.asarray(values), (turns, 1))

    return FeedView(
        post=rows([10, 11, 12, -1]),
        author=rows([-1, 1, 2, -1]),
        text=rows([1, 2, 3, -1]),
        claim=rows([0, 1, -1, -1]),
        stance=rows([1.0, -0.8642, 0.0, 0.0]),
        credibility=rows([0.5, 0.6, 0.6, 0.0]),
        relevance=rows([0.2, 0.3, 0.1, 0.0]),
        sponsored=rows([True, False, False, False]),
        question=rows([False, False, True, False]),
        followable=rows([False, True, False, False]),
        outside=rows([True, False, False, False]),
        origin=rows([-1, -1, -1, -1]),
        source_names=SOURCES.__getitem__,
    )


def _recalled(rows: Sequence[int]) -> RecalledView:
    """Each remembers one thing, its own."""
    turns = len(rows)
    return RecalledView(
        text=np.array([[4 + row, -1] for row in rows], dtype=np.int64).reshape(turns, 2),
        score=np.tile([0.4, 0.0], (turns, 1)),
        claim=np.full((turns, 2), -1),
        stance=np.zeros((turns, 2)),
        tick=np.tile([2, 0], (turns, 1)),
    )


def beliefs(rows: Sequence[int]) -> np.ndarray:
    """(A, 4), another value for each persona and target."""
    return np.array([[0.5 + 0.01 * row + 0.1 * at for at in range(4)] for row in rows]).reshape(
        len(rows), 4
    )


def turns(
    rows: Sequence[int] = (0, 3, 0),
    *,
    tier: Sequence[int] | None = None,
    actions: Sequence[str] = ACTIONS,
    empty_feed: bool = False,
    texts: Sequence[str] = TEXTS,
    who: Cast | None = None,
) -> TurnRequests:
    """Turns of the personas at `rows`, who all see the same feed."""
    size = len(rows)
    feed = _feed(size)
    if empty_feed:
        feed = replace(
            feed, post=np.full_like(feed.post, -1), author=np.full_like(feed.author, -1)
        )
    allowed = np.zeros((size, len(ACTIONS)), dtype=np.bool_)
    allowed[:, [ACTION_CODE[name] for name in actions]] = True
    return TurnRequests(
        cast=who or cast(),
        tick=3,
        horizon=30,
        row=np.array(rows, dtype=np.int64),
        tier=np.array(tier or [0] * size, dtype=np.int64),
        turn_no=np.full(size, 2, dtype=np.int64),
        beliefs=beliefs(rows),
        initial=np.full((size, 4), 0.5),
        heard=np.zeros((size, 2, 2)),
        decided=np.zeros(size, dtype=np.int64),
        feed=feed,
        recalled=_recalled(rows),
        allowed=allowed,
        friend=np.array([2 if row != 2 else -1 for row in rows], dtype=np.int64),
        stimulus=np.full(size, 0 if empty_feed else 1, dtype=np.int64),
        text=texts.__getitem__,
        prompt=lambda i: plain(f"prompt {i}"),
    )


def reflections(
    rows: Sequence[int] = (0, 1, 3),
    *,
    who: Cast | None = None,
    texts: Sequence[str] = TEXTS,
    sharp: bool = False,
) -> ReflectionRequests:
    """Reflections of the personas at `rows`, each with one memory, its own."""
    return ReflectionRequests(
        cast=who or cast(),
        tick=9,
        row=np.array(rows, dtype=np.int64),
        beliefs=beliefs(rows),
        before=np.full((len(rows), 4), 0.5),
        memories=[((4 + row, 0.6, 2),) for row in rows],
        sharp=np.full(len(rows), sharp),
        text=texts.__getitem__,
        prompt=lambda i: plain(f"prompt {i}"),
    )


def probes(
    rows: Sequence[int] = (0, 3), *, who: Cast | None = None, question: str = "How old are you?"
) -> ProbeRequests:
    """One question to each of the personas at `rows`."""
    size = len(rows)
    return ProbeRequests(
        cast=who or cast(),
        tick=10,
        row=np.array(rows, dtype=np.int64),
        attribute=["age"] * size,
        question=[question] * size,
        expected=["EXPECTED"] * size,
        other=["OTHER"] * size,
        prompt=lambda i: plain(f"prompt {i}"),
    )
