"""Misspelt names: the nearest right one, and lists of names that are short enough to read."""

from __future__ import annotations

from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_CUTOFF = 0.6  # of difflib's similarity: "rnu" finds "run", "cmp" finds "compare"
_LONGEST = 200  # characters of a misspelt name that are compared


def nearest(word: str, names: Iterable[str], *, most: int = 200) -> str | None:
    """Return the name that was probably meant, whatever the case, or None.

    most: names that are compared, from the first on: an input of nothing but wrong names must not
    take minutes.

    >>> nearest("Sise", ["size", "source"])
    'size'
    """
    folded = {name.casefold(): name for name in reversed(list(islice(names, most)))}
    found = get_close_matches(word.casefold()[:_LONGEST], folded, n=1, cutoff=_CUTOFF)
    return folded[found[0]] if found else None


def did_you_mean(word: str, names: Iterable[str], *, most: int = 200) -> str:
    """Return `; did you mean "x"?` for the nearest name, or "" when none is near.

    >>> did_you_mean("sise", ["size", "source"])
    '; did you mean "size"?'
    """
    near = nearest(word, names, most=most)
    return f'; did you mean "{near}"?' if near is not None else ""


def listed(names: Iterable[str], *, most: int = 12) -> str:
    """Return names as `a, b, c`, cut after `most` with the number left out.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    every = list(names)
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")
