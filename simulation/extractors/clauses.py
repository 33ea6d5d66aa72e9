"""A text as words and the clauses that they stand in.

The rules are this project's: small, fixed, linear in the text. A clause ends at a punctuation mark
and before a word that turns ("but") or goes on ("and", "when"). How far two clauses are apart is
counted in half steps, so that "and" parts less than a comma.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from simulation.encoders.base import clean
from simulation.models.answers import printable

MAX_CHARACTERS: Final = 2000
"""Only so many code points of a text are read, as by the appraisers."""

CLAUSE_WORDS: Final = 40
"""A clause that never ends is cut here, so that no rule ever looks over more."""

TURNS: Final = frozenset(
    ("although", "but", "despite", "except", "however", "though", "while", "yet")
)
GOES_ON: Final = frozenset(("after", "and", "because", "if", "until", "when", "which", "who"))

_GLUE: Final = re.compile(r"(?<=[^\W\d_])[-/](?=[^\W\d_])")
_DASH: Final = re.compile(r"--+|[\u2012-\u2015\u2026]|\.\.+")
_STUCK: Final = re.compile(r"(?<=[^\W\d_]{2})([,;:!?.)])(?=[^\W\d_])")
_EDGES: Final = string.punctuation + "\u2018\u2019\u201c\u201d\u00ab\u00bb\u00bf\u00a1"
_ENDS: Final = frozenset(",;:!?.()")
_TOKEN: Final = re.compile(r"\S+")
_TAIL: Final = 8  # marks beyond these say no more
_EMOTICON: Final = 2  # what is left of one without its marks; so in the sentiment rules
_CLOSING: Final = "\"'*_\u2019\u201d"
_CACHE: Final = 1 << 16

_KEPT: Final = frozenset(
    (
        *("anything", "being", "ceiling", "during", "evening", "everything", "hundred", "morning"),
        *("need", "nothing", "something", "wedding"),
        *("bonus", "campus", "chorus", "focus", "genius", "minus", "status", "versus", "virus"),
    )
)
"""Words that only look inflected."""
_SHORT: Final = 4
_VOWEL: Final = re.compile("[aeiouy]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text in N words.

    raw: as they stand, without the marks around them; emoticons stay.  words: in lower case.
    stems: without simple inflection.  clause: in half steps, rising.  marks: the "!" and "?" at
    the end of a clause, by clause.  lower: the whole, in lower case.  starts: where in `lower`
    each word starts.
    """

    raw: tuple[str, ...]
    words: tuple[str, ...]
    stems: tuple[str, ...]
    clause: tuple[int, ...]
    marks: dict[int, str]
    lower: str
    starts: tuple[int, ...]

    def word_at(self, place: int) -> int:
        """Return which word holds a place in `lower`."""
        return max(0, bisect_right(self.starts, place) - 1)

    def span(self, low: int, high: int) -> slice:
        """Return which words stand in the clauses from `low` to `high`, both included."""
        return slice(bisect_left(self.clause, low), bisect_right(self.clause, high))


@dataclass(slots=True)
class _Clauses:
    """Counts clauses while a text is read, word by word."""

    at: int = 0
    since: int = 0
    marks: dict[int, str] = field(default_factory=dict)

    def open(self, token: str, word: str) -> int:
        """Return the clause that a word stands in."""
        if token[0] == "(" or word in TURNS:
            self._step(2)
        elif word in GOES_ON or self.since >= CLAUSE_WORDS:
            self._step(1)
        self.since += 1
        return self.at

    def close(self, token: str) -> None:
        """End the clause if its last word ends with a mark."""
        last = token.rstrip(_CLOSING)[-1:]
        if last in _ENDS and last:
            if last in "!?":
                loud = "".join(mark for mark in token[-_TAIL:] if mark in "!?")
                self.marks[self.at] = self.marks.get(self.at, "") + loud
            self._step(2)

    def _step(self, halves: int) -> None:
        self.at += halves
        self.since = 0


def head(text: str) -> str:
    """Return the part of a text that is read, as valid Unicode without control characters."""
    kept = clean(text[:MAX_CHARACTERS])
    return kept if kept.isprintable() else printable(kept)


def spaced(text: str) -> str:
    """Return a text with a space between words that marks hold together; dashes are commas."""
    return _STUCK.sub(r"\1 ", _DASH.sub(" , ", _GLUE.sub(" ", text)))


def lowered(text: str) -> str:
    """Return a text in lower case, of the same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def read(text: str, emoji: dict[int, str] | None = None) -> Reading:
    """Return a text in words and clauses.

    text: a `head`.  emoji: what each code point stands for in words.
    """
    if emoji and not text.isascii():
        text = text.translate(emoji)
    text = spaced(text)
    raw: list[str] = []
    words: list[str] = []
    clause: list[int] = []
    starts: list[int] = []
    clauses = _Clauses()
    for match in _TOKEN.finditer(text):
        token = match[0]
        word = token.strip(_EDGES).lower().replace("\u2019", "'")
        bare = token.strip(string.punctuation)
        raw.append(bare if len(bare) > _EMOTICON else token)
        words.append(word)
        clause.append(clauses.open(token, word))
        starts.append(match.start())
        clauses.close(token)
    return Reading(
        raw=tuple(raw),
        words=tuple(words),
        stems=tuple(map(stem, words)),
        clause=tuple(clause),
        marks=clauses.marks,
        lower=lowered(text),
        starts=tuple(starts),
    )


@lru_cache(maxsize=_CACHE)
def stem(word: str) -> str:
    """Return an English word without simple inflection: plural, -ing, -ed and a final e.

    It need not be a word; two forms of one word mostly meet.

    >>> [stem(word) for word in ("waiters", "tastes", "tasting", "deliveries", "slipped", "bus")]
    ['waiter', 'tast', 'tast', 'delivery', 'slip', 'bus']
    """
    if len(word) < _SHORT or word in _KEPT:
        return word
    word = _singular(word)
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _SHORT - 1 and _VOWEL.search(rest):
            word = rest
            if len(word) >= _SHORT and word[-1] == word[-2] and word[-1] not in "sl":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) >= _SHORT else word


def _singular(word: str) -> str:
    """Return a noun or verb without its s."""
    if word.endswith("ies") and len(word) > _SHORT:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "ous", "is", "'s")):
        return word[:-1]
    return word.removesuffix("'s")
