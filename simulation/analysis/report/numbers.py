"""Numbers and names as people read them."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 280
"""Code points of a text on the page; the rest is cut, with an ellipsis."""

SMALL = 0.005
"""A change below this rounds to nothing in two digits."""

NOTHING = "\N{EN DASH}"
"""What stands in a table where there is no value."""

_TENTH = 0.1
_MINUS = "\N{MINUS SIGN}"
_SPACE = "\N{NO-BREAK SPACE}"


def cell(value: Any) -> str:
    """Return a value of a row as text: three decimals, thousands apart, nothing as a dash."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3f}" if math.isfinite(value) else NOTHING
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    return cut(str(value))


def cut(text: str, length: int = LONGEST) -> str:
    """Return at most `length` code points of a text, "…" for the rest."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def many(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def percent(share: float | None) -> str:
    """Return a share in [0, 1] as a percentage; only nothing shows as 0 %, only all as 100 %."""
    if share is None:
        return "no share"
    value = 100 * share
    if 0 < value < _TENTH:
        return f"less than 0.1{_SPACE}%"
    if 100 - _TENTH < value < 100:  # noqa: PLR2004 - percent
        return f"more than 99.9{_SPACE}%"
    digits = 0 if abs(value - round(value)) < SMALL else 1
    return f"{value:.{digits}f}{_SPACE}%"


def signed(value: float) -> str:
    """Return a change with its sign, two digits; nothing as 0.00."""
    return f"{value:+z.2f}".replace("-", _MINUS) if abs(value) >= SMALL else "0.00"


def plain(value: float) -> str:
    """Return a number of two digits, with a real minus sign."""
    return f"{value:z.2f}".replace("-", _MINUS)


def known_number(value: float | None) -> float | None:
    """Return a number, None for NaN: what cannot be computed, such as a spread of nothing."""
    return value if value is not None and math.isfinite(value) else None


def listed(words: Sequence[str]) -> str:
    """Return words as `a, b and c`."""
    if len(words) < 2:  # noqa: PLR2004 - a list of one is the word
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def quoted(text: str, length: int = 90) -> str:
    """Return a text in quotation marks, cut."""
    words = cut(" ".join(text.split()), length).removesuffix(".")  # the sentence has its own
    return f"“{words}”"
