"""Words of texts as numbers, for recall by words, and the stems that they have.

The stemmer is that of Porter 1980, "An algorithm for suffix stripping", with the two departures of
its author's own programs (`bli` to `ble`, `logi` to `log`).
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.buffers import grown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]

_NO_TOPIC: Final = (
    "a about all also am an and any are as at be been being both but by can could did do does "
    "doing for from had has have having he her here hers him his how i if in into is it its just "
    "me might more most my no nor not now of off on once or our ours out over own s she should so "
    "some such t than that the their theirs them then there these they this those through to too "
    "under up us very was we were what when where which while who whom whose why will with would "
    "you your yours d ll m re ve"
)
STOP: Final = frozenset(_NO_TOPIC.split())
"""Words that say nothing of a topic."""

_WORD: Final = re.compile(r"[^\W_]+")
_SHORTEST: Final = 3  # shorter words are their own stems

_STEP_2: Final = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP_3: Final = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP_4: Final = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


class Vocabulary:
    """Numbers for words, from 0 in the order of first appearance."""

    def __init__(self, *, stem: bool, stop: bool) -> None:
        """Start empty. stem: words become stems.  stop: words of `STOP` are left out."""
        self._stem = stem
        self._ids: dict[str, int] = {}
        # By the word as it is written: most come again, and are neither looked up nor stemmed.
        self._known = dict.fromkeys(STOP if stop else (), -1)

    def ids(self, texts: Sequence[str], *, once: bool = False) -> IntArray:
        """Return the words of texts as numbers, (n, L), -1 behind a shorter one's last.

        once: a word that a text repeats counts once.
        """
        rows = [self.row(text) for text in texts]
        if once:
            rows = [list(dict.fromkeys(row)) for row in rows]
        result = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
        for place, row in enumerate(rows):
            result[place, : len(row)] = row
        return result

    def row(self, text: str) -> list[int]:
        """Return the words of one text, in order."""
        known, words = self._known, content(text, stop=False)
        for word in words:
            if word not in known:
                name = stem(word) if self._stem else word
                known[word] = self._ids.setdefault(name, len(self._ids))
        return [number for word in words if (number := known[word]) >= 0]


class Wording:
    """Stems of the content words of texts, in the order of the texts' ids; each is read once.

    Words stand end to end, so that one long text takes no more than its own room.
    """

    def __init__(self) -> None:
        """Start without texts."""
        self._vocabulary = Vocabulary(stem=True, stop=True)
        self._words = np.zeros(0, np.int32)  # of all texts, and room for more
        self._ends = np.zeros(1, np.int64)  # where each text's words end, after the first 0
        self._texts = 0

    def __len__(self) -> int:
        """Return the number of texts."""
        return self._texts

    def extend(self, texts: Sequence[str]) -> None:
        """Add the texts that come next."""
        if not texts:
            return
        rows = [self._vocabulary.row(text) for text in texts]
        begin, first, last = int(self._ends[len(self)]), len(self) + 1, len(self) + len(rows)
        ends = begin + np.cumsum([len(row) for row in rows])
        self._words = grown(self._words, int(ends[-1]))
        self._words[begin : ends[-1]] = list(chain.from_iterable(rows))
        self._ends = grown(self._ends, last + 1)
        self._ends[first : last + 1] = ends
        self._texts = last

    def count(self, ids: IntArray) -> IntArray:
        """Return the number of words of texts, of the shape of ids; -1 has none."""
        length = self._ends.take(ids + 1) - self._ends.take(np.maximum(ids, 0))
        return np.where(ids >= 0, length, 0)

    def of(self, ids: IntArray) -> NDArray[np.int32]:
        """Return the words of texts, (*ids.shape, L), -1 behind a shorter one's last.

        ids: any shape, below the number of texts; -1 has no words.
        """
        length = self.count(ids)
        places = np.arange(length.max(initial=0))
        if not places.size:
            return np.full((*ids.shape, 0), -1, np.int32)
        begin = self._ends.take(np.maximum(ids, 0))
        words = self._words.take(begin[..., None] + places, mode="clip")
        return np.where(places < length[..., None], words, np.int32(-1))


def content(text: str, *, stop: bool = True) -> list[str]:
    """Return the words of a text, in lower case. stop: without those of `STOP`."""
    words = _WORD.findall(text.lower().replace("\u2019", "'"))
    return [word for word in words if word not in STOP] if stop else words


@cache
def stem(word: str) -> str:
    """Return the stem of a word in lower case.

    Example:
        >>> [stem(word) for word in ("ponies", "hoping", "relational", "adoption")]
        ['poni', 'hope', 'relat', 'adopt']
    """
    if len(word) < _SHORTEST or not word.isascii():
        return word
    for step in (_plural, _past, _y, _second, _third, _fourth, _last):
        word = step(word)
    return word


def _shape(word: str) -> str:
    """Return the consonants and vowels of a word, as in "cvcc"."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Return how often a consonant follows a vowel."""
    return _shape(word).count("vc")


def _double(word: str) -> bool:
    return word[-1:] == word[-2:-1] and _shape(word).endswith("c")


def _short(word: str) -> bool:
    """Tell whether a word ends with consonant, vowel, consonant, the last not w, x or y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return _mended(rest) if "v" in _shape(rest) else word
    return word


def _mended(rest: str) -> str:
    """Return what is left of a verb with an ending that it can have."""
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    if _double(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    return f"{rest}e" if _measure(rest) == 1 and _short(rest) else rest


def _y(word: str) -> str:
    return f"{word[:-1]}i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _second(word: str) -> str:
    return _replaced(word, _STEP_2)


def _third(word: str) -> str:
    return _replaced(word, _STEP_3)


def _replaced(word: str, pairs: Mapping[str, str]) -> str:
    """Return a word with the first suffix that it has replaced, if enough stands before it."""
    for suffix, other in pairs.items():
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + other if _measure(rest) else word
    return word


def _fourth(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            kept = suffix == "ion" and not rest.endswith(("s", "t"))
            return rest if _measure(rest) > 1 and not kept else word
    return word


def _last(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
