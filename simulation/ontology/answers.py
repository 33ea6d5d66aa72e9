"""When two answers say the same: a normal form, and the answers that a value accepts."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ARTICLES = frozenset({"a", "an", "the"})
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_WHOLE = re.compile(r"(\d+)\.0+(?!\d)")
# A word is letters and digits; a number keeps its point and its sign.
_WORD = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?|\w+")
# fmt: off
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)
_TENS = (
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)
# fmt: on
_LARGEST_IN_WORDS = 999
_FIRST_PERSON = {
    "you": "I",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "you are": "I am",
}
_SECOND_PERSON = re.compile(r"\b(?:you are|yourself|yours|your|you)\b")


def normalise(answer: str) -> str:
    """Return the form in which answers are compared.

    Compatibility characters are unified (NFKC), case is folded, apostrophes vanish, other
    punctuation parts words, the articles a, an and the go (unless nothing else is left), and one
    space stands between words.
    `1,000` and `1000`, `34` and `34.0` are the same number; `-5` and `5` are not.
    """
    text = unicodedata.normalize("NFKC", answer).casefold()
    text = text.replace("'", "").replace("’", "").replace("_", " ")  # noqa: RUF001  (typographic apostrophes are what people type)
    text = _WHOLE.sub(r"\1", _THOUSANDS.sub("", text))
    words = _WORD.findall(text)
    return " ".join([word for word in words if word not in _ARTICLES] or words)


def in_words(number: int) -> str:
    """Return a whole number from 0 to 999 in English words.

    Raises:
        ValueError: the number is outside that range.
    """
    if not 0 <= number <= _LARGEST_IN_WORDS:
        raise ValueError(f"{number} is not between 0 and {_LARGEST_IN_WORDS}")
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    words = [_ONES[hundreds], "hundred"] if hundreds else []
    if hundreds and rest:
        words.append("and")
    if rest >= len(_ONES):
        words.append(_TENS[tens])
        rest = ones
    if rest or not words:
        words.append(_ONES[rest])
    return " ".join(words)


def first_person(label: str) -> str:
    """Return a label as its bearer says it: `live with your partner` with `my`.

    Labels stand in the second person, as in the persona block, with `you` as a subject only.
    """
    return _SECOND_PERSON.sub(lambda word: _FIRST_PERSON[word[0]], label)


def spellings(value: str) -> tuple[str, ...]:
    """Return the ways to write a number: its digits and, for 0 to 999, its words."""
    if value.isascii() and value.isdigit() and int(value) <= _LARGEST_IN_WORDS:
        return (value, in_words(int(value)))
    return (value,)


def accepted(words: Iterable[str], *, templates: Iterable[str]) -> tuple[str, ...]:
    """Return the normalised answers made of each word in each template, without repeats."""
    templates = ("{value}", *templates)
    answers = (normalise(t.replace("{value}", w)) for w in words for t in templates)
    return tuple(dict.fromkeys(answer for answer in answers if answer))
