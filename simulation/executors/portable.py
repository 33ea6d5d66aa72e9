"""Batches of requests in a form that can be sent: columns, and tables of just what is read.

A batch in the driver reads the world through functions (`text`, `prompt`, `source_names`,
`memories`). What a model without prompts reads through them becomes a table of the batch; whoever
asks a sent batch for anything else is told so at once. The cast of the run stays behind: it is
shared with each worker once, and put back there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simulation.models.base import Cast, TurnRequests
from simulation.models.batches import take_probes, take_reflections, take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.models.base import ProbeRequests, ReflectionRequests
    from simulation.models.surveys import SurveyRequests

Q = TypeVar("Q", "TurnRequests", "ReflectionRequests", "ProbeRequests", "SurveyRequests")

_NO_FLOATS = np.zeros(0)
NOBODY = Cast(
    ids=(),
    keys=np.zeros(0, dtype=np.uint64),
    blocks=(),
    voices=(),
    receptivity=_NO_FLOATS,
    voice=_NO_FLOATS,
    scepticism=_NO_FLOATS,
    brand="",
    proposition="",
    dimensions=(),
    claims=(),
    claim_texts=(),
    weights=np.zeros((0, 0)),
)
"""Stands in a sent batch where the cast of the run stood."""


@dataclass(frozen=True, slots=True)
class Table:
    """A function on whole numbers, as a table of the values that a batch reads."""

    values: dict[int, Any]

    def __call__(self, key: int) -> Any:
        """Return a value.

        Raises:
            LookupError: it was not sent.
        """
        if key not in self.values:
            raise LookupError(f"number {key} was not sent with its batch")
        return self.values[key]


NOTHING = Table({})
"""A function of which a batch reads no value: prompts, and texts that only prompts show."""


@dataclass(frozen=True, slots=True)
class _Names:
    """How authors of posts are called: a persona by its id, anyone else as the table says.

    author: post id -> persona row, of the batch.
    """

    ids: tuple[str, ...]
    author: dict[int, int]
    others: Callable[[int], str]

    def __call__(self, post: int) -> str:
        row = self.author.get(post, -1)
        return self.ids[row] if row >= 0 else self.others(post)


def cut_turns(requests: TurnRequests, rows: Sequence[int]) -> TurnRequests:
    """Return the turns at `rows` to be sent, with the names of their sources.

    Their texts, and attitudes in words, are for prompts alone.
    """
    some = take_turns(requests, rows)
    feed = some.feed
    outside = np.unique(feed.post[(feed.post >= 0) & (feed.author < 0)]).tolist()
    names = Table({post: feed.source_names(post) for post in outside})
    sent = replace(feed, source_names=names)
    felt = some.attitudes and replace(some.attitudes, words=NOTHING)
    return replace(some, cast=NOBODY, feed=sent, text=NOTHING, prompt=NOTHING, attitudes=felt)


def cut_reflections(requests: ReflectionRequests, rows: Sequence[int]) -> ReflectionRequests:
    """Return the reflections at `rows` to be sent, with the texts of what is remembered."""
    some = take_reflections(requests, rows)
    ids = dict.fromkeys(text for own in some.memories for text, _, _ in own)
    texts = Table({text: some.text(text) for text in ids})
    return replace(some, cast=NOBODY, text=texts, prompt=NOTHING)


def cut_probes(requests: ProbeRequests, rows: Sequence[int]) -> ProbeRequests:
    """Return the probe questions at `rows` to be sent."""
    return replace(take_probes(requests, rows), cast=NOBODY, prompt=NOTHING)


def cut_surveys(requests: SurveyRequests, rows: Sequence[int]) -> SurveyRequests:
    """Return the survey questions at `rows` to be sent.

    What comes to mind is for prompts alone.
    """
    index = np.asarray(rows, dtype=np.int64)
    return replace(
        requests,
        cast=NOBODY,
        row=requests.row[index],
        beliefs=requests.beliefs[index],
        memories=NOTHING,
        prompt=NOTHING,
    )


def restore(requests: Q, cast: Cast) -> Q:
    """Return a batch that was sent as a batch of the run of `cast`."""
    whole = replace(requests, cast=cast)
    return _named(whole, cast) if isinstance(whole, TurnRequests) else whole


def _named(requests: TurnRequests, cast: Cast) -> TurnRequests:
    feed = requests.feed
    author = dict(zip(feed.post.ravel().tolist(), feed.author.ravel().tolist(), strict=True))
    names = _Names(ids=cast.ids, author=author, others=feed.source_names)
    return replace(requests, feed=replace(feed, source_names=names))
