"""What a population is told about itself, how it speaks and how it leans, in one pass.

Values repeat from persona to persona, so each is put in words once, attribute by attribute.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from simulation.ontology.attributes import Dispositions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulation.ontology.attributes import Attribute
    from simulation.rng import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Portraits:
    """P personas as their attributes make them.

    blocks: persona blocks, second person, "" without attributes.  voices: first-person fragments.
    Both in relevance order.  receptivity, voice, scepticism: (P,), see `Dispositions`.
    """

    blocks: tuple[str, ...]
    voices: tuple[tuple[str, ...], ...]
    receptivity: FloatArray
    voice: FloatArray
    scepticism: FloatArray


def portray(attributes: Iterable[Attribute], people: Sequence[Mapping[str, str]]) -> Portraits:
    """Return the portraits of people by their attributes' values.

    attributes: most relevant first.  people: for each persona, attribute id: value.

    Source: Beliefs, memory and reflection, "What the persona is told about itself".
    """
    sentences: list[list[str]] = [[""] * len(people)]
    fragments: list[list[str]] = [[""] * len(people)]
    leanings = np.zeros((len(people), 3))
    for attribute in attributes:
        column = [values.get(attribute.id, "") for values in people]
        place = {value: i for i, value in enumerate(dict.fromkeys(chain([""], column)))}
        said = [_said(attribute, value.strip()) for value in place]
        sentence, fragment, effects = zip(*said, strict=True)
        which = list(map(place.__getitem__, column))
        sentences.append(list(map(sentence.__getitem__, which)))
        fragments.append(list(map(fragment.__getitem__, which)))
        # Added in the order of the attributes, so that sums are the same to the last bit.
        leanings += np.array(effects)[np.array(which, dtype=np.int64)]
    return Portraits(
        blocks=tuple(" ".join(filter(None, row)) for row in zip(*sentences, strict=True)),
        voices=tuple(tuple(filter(None, row)) for row in zip(*fragments, strict=True)),
        receptivity=leanings[:, 0].copy(),
        voice=leanings[:, 1].copy(),
        scepticism=leanings[:, 2].copy(),
    )


def _said(attribute: Attribute, value: str) -> tuple[str, str, tuple[float, float, float]]:
    """Return a value's sentence, fragment and effects; nothing for an empty value."""
    if not value:
        return "", "", (0.0, 0.0, 0.0)
    level = attribute.level(value)
    effects = Dispositions() if level is None else level.effects
    parts = (effects.receptivity, effects.voice, effects.scepticism)
    return attribute.sentence(value), attribute.fragment(value), parts
