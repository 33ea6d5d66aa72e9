"""What an unquoted YAML word means, and which words mean different things to different readers.

YAML 1.1 reads `no` as false, `12:30` as 750 and `010` as 8; YAML 1.2 does not. Where readers
differ we do not guess: booleans keep their spelling so that a message can say "quote it", and the
other surprises are refused on sight.
"""

from __future__ import annotations

import math
import re
import unicodedata

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})
_FALSE = frozenset({"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)")
_DECIMAL = re.compile(
    r"[-+]?(?:(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)"
)
_OTHER_BASE = re.compile(r"[-+]?(?:0[0-7_]+|0[0-9_]+|0o[0-7]+|0b[01_]+|0x[0-9a-fA-F_]+)")
_SIXTIES = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ud800-\udfff]")

MAX_DIGITS = 400  # more than any finite double needs; Python refuses text of 4,300 digits

Scalar = str | int | float | bool | None


class SurpriseError(ValueError):
    """An unquoted word that cannot be taken for what it looks like."""


def read_plain(text: str) -> Scalar:
    """Return the value of an unquoted word.

    Raises:
        SurpriseError: a date, an octal, a time, infinity: the message says what to write.
    """
    if text in _NULLS:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    _refuse_surprises(text)
    if _WHOLE.fullmatch(text):
        return int(_short(text).replace("_", ""))
    if _DECIMAL.fullmatch(text):
        return _finite(text)
    return text


def _refuse_surprises(text: str) -> None:
    if _DATE.fullmatch(text):
        raise SurpriseError(f"YAML reads {text} as a date; put it in quotes: {quoted(text)}")
    if _SIXTIES.fullmatch(text):
        raise SurpriseError(
            f"some YAML readers take {text} for a number in base 60; "
            f"put it in quotes: {quoted(text)}"
        )
    if _OTHER_BASE.fullmatch(text):
        raise SurpriseError(
            f"{text} may be read as a number in base 8, 10 or another; write a plain decimal "
            f"number, or put text in quotes: {quoted(text)}"
        )
    if _NOT_FINITE.fullmatch(text):
        raise SurpriseError(f"{text} is not a finite number")


def _finite(text: str) -> float:
    number = float(_short(text).replace("_", ""))
    if not math.isfinite(number):
        raise SurpriseError(f"{quoted(text)} is too large for a number")
    return number


def _short(text: str) -> str:
    if len(text) > MAX_DIGITS:
        raise SurpriseError(f"a number of {len(text)} digits is too long")
    return text


def unsafe_character(text: str) -> str | None:
    """Return the name of the first character that no text may hold, such as U+0000, or None.

    Control characters and lone surrogates cannot be stored or would steer a terminal.
    """
    found = _UNSAFE.search(text)
    return None if found is None else f"U+{ord(found[0]):04X}"


def quoted(text: str, limit: int = 60) -> str:
    r"""Return a text in double quotes for a message: shortened, one line, nothing unprintable.

    >>> print(quoted("two\nlines"))
    "two\nlines"
    """
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return '"' + "".join(_visible(c) for c in text) + '"'


def _visible(character: str) -> str:
    if character == "\n":
        return "\\n"
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return f"\\u{ord(character):04x}"
    return character
