"""Putting texts by users into sentences of ours: one line, short, quoted, never interpreted.

Sentences are joined by `+` and `join`: a text from a scenario, a persona file or a post is never
a format string, so braces and percent signs in it mean nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulation.models.base import FloatArray, IntArray

CLAIM_LENGTH = 80  # code points of a claim or an item in a sentence
NAME_LENGTH = 40  # code points of the name of a brand or a source
VOICE_LENGTH = 60  # code points of a fragment like "as a nurse"

STRONG_FOR, FOR, MIXED, AGAINST, STRONG_AGAINST = range(5)
_EDGES = (0.5, 0.15, -0.15, -0.5)  # stances that separate the five bands


def bands(stance: FloatArray) -> IntArray:
    """Return the band of each stance, (A,): 0 strong for … 4 strong against.

    stance: (A,), [-1, 1].  A stance on an edge is in the firmer band.
    """
    upper = np.where(stance >= _EDGES[1], FOR, MIXED)
    upper = np.where(stance >= _EDGES[0], STRONG_FOR, upper)
    lower = np.where(stance <= _EDGES[2], AGAINST, upper)
    return np.where(stance <= _EDGES[3], STRONG_AGAINST, lower)


def plain(text: str) -> str:
    """Return a text on one line, with single spaces and none at its ends."""
    if text.isprintable() and "  " not in text and text == text.strip(" "):
        return text  # of all white space only " " is printable: the quick way for most texts
    return " ".join(text.split())


def capital(text: str) -> str:
    """Return a text with its first letter a capital."""
    return text[:1].upper() + text[1:]


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` code points of a text, cut at a word boundary, with an ellipsis.

    A text without a boundary in its second half is cut inside the word.

    >>> shorten("the quick brown fox", 12)
    'the quick…'
    """
    if len(text) <= limit:
        return text
    head = text[:limit]  # one code point more than can stay: it may be the space
    cut = head.rfind(" ", limit // 2)
    return (head[:cut] if cut > 0 else head[:-1]).rstrip(" ,;:") + "…"


def bare(text: str, limit: int) -> str:
    """Return a text as part of a sentence: one line, short, without a full stop at its end."""
    return shorten(plain(text), limit).rstrip(". ")


def quoted(text: str, limit: int = CLAIM_LENGTH) -> str:
    r"""Return a text in double quotes, with inner ones single; "" when there is nothing in it.

    >>> quoted('He said "yes".')
    '"He said \'yes\'"'
    """
    inside = bare(text, limit).replace('"', "'")
    return f'"{inside}"' if inside else ""
