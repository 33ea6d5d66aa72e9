"""What a reflection by rule says: what moved most, which way, and what weighed most in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.models.words import memory_phrases as forms
from simulation.models.words.speech import capital
from simulation.models.words.text import NAME_LENGTH, bare, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.base import Cast, FloatArray, IntArray, ReflectionRequests
    from simulation.rng import UIntArray

_MEMORY_LENGTH = 160  # code points of the memory that is quoted
_LITTLE, _MUCH = 0.1, 0.3  # moves that are called little and a lot


def reflection_texts(
    requests: ReflectionRequests,
    *,
    target: IntArray,
    move: FloatArray,
    bits: UIntArray,
    kept: Sequence[int],
) -> list[str]:
    """Return one text per reflection (method.md 4).

    target: (A,) what moved most, -1 for nothing.  move: (A,) by how much, signed.  bits: (A,).
    kept: which memory is quoted, by its place.
    """
    texts = []
    columns = (target, move, bits)
    for i, (where, by, draw) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        rest, which = divmod(draw, len(forms.LOOKING_BACK))
        rest, core = _moved(requests.cast, where, by, rest)
        text = capital(forms.LOOKING_BACK[which] + core + ". ")
        texts.append((text + _keepsake(requests, i, kept[i], rest)).rstrip())
    return texts


def _moved(cast: Cast, target: int, by: float, draw: int) -> tuple[int, str]:
    """Return the rest of the draw and the sentence on what moved."""
    brand = bare(cast.brand, NAME_LENGTH) or "this"
    if target < 0:
        draw, which = divmod(draw, len(forms.UNMOVED))
        return draw, forms.UNMOVED[which] + brand
    direction = 0 if by > 0.0 else 1
    claim = target - len(cast.dimensions)
    if claim >= 0:
        pairs, end = forms.CLAIM_MOVES[direction], ""
        name = quoted(cast.claim_texts[claim]) or cast.claims[claim]
    else:
        pairs, end = forms.DIMENSION_MOVES[direction], brand
        name = cast.dimensions[target].replace("_", " ").strip()
    draw, which = divmod(draw, len(pairs))
    before, after = pairs[which]
    amount = forms.AMOUNTS[(abs(by) >= _LITTLE) + (abs(by) >= _MUCH)]
    return draw, before + name + after + end + amount


def _keepsake(requests: ReflectionRequests, i: int, kept: int, draw: int) -> str:
    """Return a sentence that quotes one memory, "" without any."""
    if not requests.memories[i]:
        return ""
    memory = quoted(requests.text(requests.memories[i][kept][0]), _MEMORY_LENGTH)
    if not memory:
        return ""
    before, after = forms.KEEPSAKES[draw % len(forms.KEEPSAKES)]
    return before + memory + after
