"""Taste and packaging of coffee: two sides of one object, each with a unit of its own.

Each of N people makes thirty observations of either, in turn. Taste is liked; packaging is
disliked in one case and liked in the other. Units go by the rules of a run, after every
observation; they merge by them too, or not at all.

Source: DAM-LLM, "Stability Analysis"; method.md 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation import units
from simulation.mind import attitude
from simulation.studies.dam import unit
from simulation.studies.dam.dialogues import LENGTH, sequences
from simulation.texts import Texts

if TYPE_CHECKING:
    from simulation.encoders import Encoder
    from simulation.rng import FloatArray
    from simulation.studies.dam.dialogues import IntArray

SIDES: Final = ("taste", "packaging")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Separation:
    """What became of both sides.

    apart: share of people who end with two units.  mixed: the largest difference between the
    confidences of such a person's units and those of each side watched alone.  taste, packaging:
    (L, 3) mean confidence of each side watched alone.
    """

    packaging_is: str
    merging: bool
    people: int
    apart: float
    mixed: float
    taste: FloatArray
    packaging: FloatArray


def separate(
    seed: int, encoder: Encoder, *, liked: bool, merging: bool = True, people: int = unit.STREAMS
) -> Separation:
    """Return what becomes of two sides. liked: whether packaging is liked as taste is."""
    rules = units.Rules(merging=merging)
    given = (
        unit.coffee(seed, streams=people),
        sequences(seed, purpose="packaging", count=people, leading=0 if liked else 1),
    )
    alone = [unit.path(one.polarity, one.strength) for one in given]
    store = units.UnitStore()
    texts = Texts(encoder.encode, width=encoder.width)
    everybody, coffee = np.arange(people), np.zeros(people, np.int64)
    for step in range(LENGTH * len(SIDES)):
        side, at = step % len(SIDES), step // len(SIDES)
        seen = store.observe(
            everybody,
            coffee,
            coffee + side,
            given[side].polarity[:, at],
            given[side].strength[:, at],
            tick=step + 1,  # everybody's own count of observations
        )
        touched = np.unique(seen.unit_id)
        store.summary[store.place(touched)] = _summaries(store, texts, touched)
        units.compress(
            store,
            texts,
            rules=rules,
            tick=step + 1,
            summarise=lambda ids: _summaries(store, texts, ids),
            touched=touched,
        )
    found = [store.find(everybody, coffee, coffee + side) for side in range(len(SIDES))]
    apart = (found[0] != found[1]) & (found[0] >= 0) & (found[1] >= 0)
    off = [
        np.abs(store.confidence[store.place(ids[apart])] - way.confidence[apart, -1])
        for ids, way in zip(found, alone, strict=True)
    ]
    return Separation(
        packaging_is="liked" if liked else "disliked",
        merging=merging,
        people=people,
        apart=float(apart.mean()),
        mixed=float(np.max(off, initial=0.0)),
        taste=alone[0].confidence.mean(axis=0),
        packaging=alone[1].confidence.mean(axis=0),
    )


def _summaries(store: units.UnitStore, texts: Texts, ids: IntArray) -> IntArray:
    at = store.place(ids)
    lean = attitude.lean(store.confidence[at]).tolist()
    entropy = attitude.entropy(store.confidence[at]).tolist()
    return texts.intern(
        [
            units.summary("coffee", [SIDES[side] for side in store.aspects(one)], how, sure)
            for one, how, sure in zip(ids.tolist(), lean, entropy, strict=True)
        ]
    )
