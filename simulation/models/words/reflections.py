"""What a reflection by rule says: what moved most, which way, and what weighed most in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.models.words import memory_phrases as forms
from simulation.models.words.text import NAME_LENGTH, bare, capital, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.base import Cast, FloatArray, IntArray, ReflectionRequests
    from simulation.models.words.phrases import Pair
    from simulation.rng import UIntArray

_MEMORY_LENGTH = 160  # code points of the memory that is quoted
_LITTLE, _MUCH = 0.1, 0.3  # moves that are called little and a lot
_STARTS = [capital(start) for start in forms.LOOKING_BACK]


def reflection_texts(
    requests: ReflectionRequests,
    *,
    target: IntArray,
    move: FloatArray,
    bits: UIntArray,
    kept: Sequence[int],
) -> list[str]:
    """Return one text per reflection (method.md 4).

    A draw is used up digit by digit, in mixed radix, for the whole batch at once.

    target: (A,) what moved most, -1 for nothing.  move: (A,) by how much, signed.  bits: (A,).
    kept: which memory is quoted, by its place.
    """
    moves = _moves(requests.cast)
    which = 2 * (target + 1) + (move > 0.0)  # which list of `moves`
    rest, start = np.divmod(bits, np.uint64(len(_STARTS)))
    rest, form = np.divmod(rest, np.array([len(some) for some in moves], dtype=np.uint64)[which])
    amount = (np.abs(move) >= _LITTLE).astype(np.int64) + (np.abs(move) >= _MUCH)
    amount = np.where(target < 0, forms.AMOUNTS.index(""), amount)
    keepsake = rest % np.uint64(len(forms.KEEPSAKES))
    columns = (start, which, form, amount, keepsake)
    return [
        f"{_STARTS[a]}{moves[b][c]}{forms.AMOUNTS[d]}.{_keepsake(requests, i, kept[i], e)}"
        for i, (a, b, c, d, e) in enumerate(zip(*(c.tolist() for c in columns), strict=True))
    ]


def _moves(cast: Cast) -> list[list[str]]:
    """Return the sentences on what moved, down and up, after those on nothing (twice)."""
    brand = bare(cast.brand, NAME_LENGTH) or "this"
    nothing = [unmoved + brand for unmoved in forms.UNMOVED]
    moves = [nothing, nothing]
    for dimension in cast.dimensions:
        name = dimension.replace("_", " ").strip()
        moves += _around(forms.DIMENSION_MOVES, name, brand)
    for claim, text in zip(cast.claims, cast.claim_texts, strict=True):
        moves += _around(forms.CLAIM_MOVES, quoted(text) or claim, "")
    return moves


def _around(up_and_down: tuple[tuple[Pair, ...], ...], name: str, end: str) -> list[list[str]]:
    """Return the sentences on a move down and those on one up."""
    return [
        [before + name + after + end for before, after in pairs] for pairs in up_and_down[::-1]
    ]


def _keepsake(requests: ReflectionRequests, i: int, kept: int, form: int) -> str:
    """Return a sentence that quotes one memory, after a space, "" without any."""
    if not requests.memories[i]:
        return ""
    memory = quoted(requests.text(requests.memories[i][kept][0]), _MEMORY_LENGTH)
    if not memory:
        return ""
    before, after = forms.KEEPSAKES[form]
    return f" {before}{memory}{after}"
