"""What the regression sees of a text: its sentiment, its surface and its words.

All numbers are rational or square roots of integers, so that they are the same on every machine.
"""

from __future__ import annotations

import math
import re
import zlib
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.appraisers.base import MAX_CHARACTERS
from simulation.appraisers.sentiment import scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NAMES: Final = (
    "negative",
    "neutral",
    "positive",
    "compound",
    "exclamations",
    "questions",
    "capitals",
    "digits",
    "length",
)
COMPOUND: Final = NAMES.index("compound")

_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_MARKS: Final = 4  # as many marks as the sentiment rules count too
_SYMBOL: Final = re.compile("[\u2190-\U0010ffff]")  # emoji among them
_SYMBOLS: Final = 50  # more say no more, and the sentiment rules take their square in time
_LONG: Final = 400  # characters; a text longer than a post is not longer still


def plain(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the features NAMES of each text, (n, 9), each in [-1, 1].

    exclamations, questions: marks, up to four, as a share of four.  capitals: share of the
    letters.  digits: share of the characters.  length: root of the share of 400 characters.
    """
    rows = [(*scores(_few_symbols(head)), *_surface(head)) for head in map(head_of, texts)]
    return np.array(rows, dtype=np.float64).reshape(len(texts), len(NAMES))


def head_of(text: str) -> str:
    """Return the part of a text that is read."""
    return text[:MAX_CHARACTERS]


def _few_symbols(text: str) -> str:
    """Return a text without the symbols after the fiftieth."""
    marks = _SYMBOL.finditer(text)
    past = next((mark.start() for i, mark in enumerate(marks) if i == _SYMBOLS), len(text))
    return text[:past] + _SYMBOL.sub(" ", text[past:])


def words(text: str) -> list[int]:
    """Return the CRC-32 of each word of a text, in lower case, in their order."""
    found = _WORD.findall(head_of(text).lower().replace("\u2019", "'"))
    return [zlib.crc32(word.encode()) for word in found]


def hashed(hashes: NDArray[np.int64], buckets: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return bucket and sign (1 or -1) of hashes; the sign lets collisions cancel on average.

    Source: Weinberger et al., "Feature hashing for large scale multitask learning" (2009).
    """
    return hashes % buckets, 1 - 2 * (hashes >> 31)


def _surface(text: str) -> tuple[float, ...]:
    """Return exclamations, questions, capitals, digits, length."""
    letters = sum(map(str.isalpha, text))
    capitals = min(sum(map(str.isupper, text)), letters)  # a circled A is upper, but no letter
    return (
        min(text.count("!"), _MARKS) / _MARKS,
        min(text.count("?"), _MARKS) / _MARKS,
        capitals / max(1, letters),
        sum(map(str.isdecimal, text)) / max(1, len(text)),
        math.sqrt(min(len(text), _LONG) / _LONG),
    )
