"""Everything published in a run: posts, comments, replies, stimuli, in order of publication."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.buffers import grown

if TYPE_CHECKING:
    from collections.abc import Mapping

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

KINDS: tuple[str, ...] = (
    "post",
    "comment",
    "reply",
    "quote",
    "repost",
    "question",
    "answer",
    "complaint",
)
KIND_CODE = {name: code for code, name in enumerate(KINDS)}
SPREADING = ("post", "comment", "quote", "repost", "complaint")  # reach the author's followers

# What an action publishes; the other actions publish nothing.
KIND_OF_ACTION = {
    "post": "post",
    "comment": "comment",
    "reply": "reply",
    "quote": "quote",
    "repost": "repost",
    "answer": "answer",
    "ask_peer": "question",
    "complain": "complaint",
}

# How much a reaction adds to the engagement of the post it is about.
ENGAGEMENT_OF_ACTION = {
    "like": 1.0,
    "upvote": 1.0,
    "downvote": -1.0,
    "repost": 2.0,
    "comment": 1.0,
    "reply": 1.0,
    "quote": 2.0,
    "answer": 1.0,
}

_INTEGERS = (
    "tick",
    "author",
    "kind",
    "parent",
    "root",
    "claim",
    "text",
    "addressee",
    "stimulus",
)
_FLOATS = ("stance", "engagement", "credibility")


class PostLog:
    """Posts as columns; the id of a post is its place, from 0. A negative value means "none".

    tick: when it was published.  author: persona row, -1 for a source outside the population.
    kind: index into `KINDS`.  parent: post id answered, quoted or reposted.  root: of a repost,
    the post that was reposted first; of any other post, itself.  claim: claim index.  stance:
    [-1, 1], what it says about its claim.  text: text id.  addressee: persona row that receives it
    whether or not it follows the author.  stimulus: index of the stimulus.  credibility: [0, 1].
    engagement: reactions received so far, kept at the root.
    """

    def __init__(self) -> None:
        """Start with nothing published."""
        self._size = 0
        self._integers = {name: np.empty(64, dtype=np.int64) for name in _INTEGERS}
        self._floats = {name: np.empty(64, dtype=np.float64) for name in _FLOATS}

    def __len__(self) -> int:
        """Return the number of posts."""
        return self._size

    def integers(self, name: str) -> IntArray:
        """Return a view on an integer column, (N,)."""
        return self._integers[name][: self._size]

    def floats(self, name: str) -> FloatArray:
        """Return a view on a float column, (N,)."""
        return self._floats[name][: self._size]

    def publish(
        self, integers: Mapping[str, IntArray], floats: Mapping[str, FloatArray]
    ) -> IntArray:
        """Append posts and return their ids.

        integers, floats: every column but root and engagement, of equal length.
        """
        count = len(integers["tick"])
        ids = np.arange(self._size, self._size + count, dtype=np.int64)
        self._reserve(self._size + count)
        self._size += count
        for name, whole in integers.items():
            self._integers[name][ids] = whole
        for name, real in floats.items():
            self._floats[name][ids] = real
        is_repost = integers["kind"] == KIND_CODE["repost"]
        parent_root = self.integers("root")[np.maximum(integers["parent"], 0)]
        self._integers["root"][ids] = np.where(is_repost, parent_root, ids)
        self._floats["engagement"][ids] = 0.0
        return ids

    def engage(self, posts: IntArray, amount: FloatArray) -> None:
        """Add engagement to the roots of `posts`, (N,)."""
        np.add.at(self.floats("engagement"), self.integers("root")[posts], amount)

    def _reserve(self, size: int) -> None:
        self._integers = {name: grown(whole, size) for name, whole in self._integers.items()}
        self._floats = {name: grown(real, size) for name, real in self._floats.items()}
