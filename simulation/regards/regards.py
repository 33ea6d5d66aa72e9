"""What is settled about the objects of a run, and how they are called.

Objects are numbers: 0 is the brand, then come the claims, then the personas as peers. Aspects are
the dimensions of the brief.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation import units
from simulation.mind import attitude
from simulation.regards.said import Said

if TYPE_CHECKING:
    from simulation.models.base import Cast
    from simulation.texts import Texts
    from simulation.units import Rules, UnitStore

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

BRAND = 0
TYPES = ("brand", "claim", "peer")
_MOODS = 4 * len(units.TONES)
_LONG = 160  # code points of a name that are shown


@dataclass(slots=True, kw_only=True)
class Regards:
    """The memory units of a run, and what they come from.

    cast: of the run.  store: the units.  said: what posts say.  rules: of compression.
    read, act: share of its strength that evidence keeps when it is read, or done oneself, [0, 1].
    shown: units put before a persona in a turn.
    """

    cast: Cast
    store: UnitStore
    rules: Rules
    read: float
    act: float
    shown: int
    said: Said = field(default_factory=Said)
    aspect: IntArray = field(init=False)
    """(C + 1,) the dimension that each claim is about: the first of those it moves most; last, for
    what is about no claim, dimension 0."""

    def __post_init__(self) -> None:
        """Find the dimension of every claim."""
        weights = np.abs(self.cast.weights)
        self.aspect = np.append(weights.argmax(axis=1), 0).astype(np.int64)

    def claim(self, index: IntArray) -> IntArray:
        """Return the object numbers of claims, by index."""
        return index + 1

    def peer(self, row: IntArray) -> IntArray:
        """Return the object numbers of personas, by row."""
        return row + 1 + len(self.cast.claims)

    def kind(self, obj: IntArray) -> IntArray:
        """Return the places in `TYPES` of objects."""
        return (obj > BRAND).astype(np.int64) + (obj > len(self.cast.claims))

    def name(self, obj: int) -> str:
        """Return how an object is called in the run database: brand, claim id, persona id."""
        claims = len(self.cast.claims)
        if obj == BRAND:
            return self.cast.brand
        return self.cast.claims[obj - 1] if obj <= claims else self.cast.ids[obj - 1 - claims]

    def label(self, obj: int) -> str:
        """Return how an object is called in a summary: a claim by what it says, a peer by none.

        Who a peer is, is told beside it; so alike views of peers are one text.
        """
        claims = len(self.cast.claims)
        name = self.cast.claim_texts[obj - 1] if BRAND < obj <= claims else self.cast.brand
        if obj > claims:
            name = "somebody I follow"
        return name if len(name) <= _LONG else f"{name[:_LONG]} …"

    def toward(self, row: IntArray, obj: IntArray) -> FloatArray:
        """Return how personas feel about objects, (N,), [-1, 1]; 0 for none or -1.

        The mean leaning of what a persona has settled about the sides of the object, by weight.
        row, obj: (N,).
        """
        store = self.store
        which, place = store.sides(row, np.maximum(obj, 0))
        used = obj[which] >= 0
        which, place = which[used], place[used]
        weight = store.weight[place]
        lean = weight * attitude.lean(store.confidence[place])
        total = np.bincount(which, weights=weight, minlength=len(row))
        some = np.where(total > 0.0, total, 1.0)
        return np.asarray(np.bincount(which, weights=lean, minlength=len(row)) / some)

    def summarise(self, texts: Texts, at: IntArray) -> IntArray:
        """Return the text ids of summaries of the units at some places of the store, (N,)."""
        store = self.store
        lean, entropy = attitude.lean(store.confidence[at]), store.disorder[at]
        mood = units.tone_code(lean) * 4 + units.certainty_code(entropy)
        look, looks = self._look(at, mood)
        first = np.full(looks, -1, np.int64)
        first[look] = np.arange(len(at))
        used = np.flatnonzero(first >= 0)
        first = first[used]
        shown, sides = at[first], self.cast.dimensions
        words = [
            units.summary(self.label(obj), [sides[side] for side in answers], how, sure)
            for obj, answers, how, sure in zip(
                store.object[shown].tolist(),
                store.all_aspects(shown),
                lean[first].tolist(),
                entropy[first].tolist(),
                strict=True,
            )
        ]
        text = np.empty(looks, np.int64)
        text[used] = texts.intern(words)
        return text[look]

    def _look(self, at: IntArray, mood: IntArray) -> tuple[IntArray, int]:
        """Return a small number for all that a summary says, (N,), and how many there are.

        Those of units with several sides come first, later ones before earlier ones: each is its
        own.  mood: (N,) below `_MOODS`.
        """
        store, label = self.store, np.minimum(self.store.object[at], len(self.cast.claims) + 1)
        wide = np.flatnonzero(store.width[at] > 1)
        wide = wide[np.argsort(-store.unit_id[at[wide]], kind="stable")]
        depth = len(self.cast.dimensions)
        look = len(wide) + (label * depth + store.aspect[at]) * _MOODS + mood
        look[wide] = np.arange(len(wide))
        return look, len(wide) + (len(self.cast.claims) + 2) * depth * _MOODS

    def nearest(self, texts: Texts, row: int, query: int) -> list[tuple[str, str]]:
        """Return what a persona has settled, about anything: name and view, nearest first.

        query: text id of what it is asked.
        """
        store = self.store
        found = units.retrieve(store, texts, persona=row, query=query, k=self.shown)
        at = store.place(found)
        return [
            (self.name(obj), texts[text])
            for obj, text in zip(
                store.object[at].tolist(), store.summary[at].tolist(), strict=True
            )
        ]
