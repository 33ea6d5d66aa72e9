"""A fitted table of word weights: what a text of one field speaks of, and how it judges it.

Two linear models over the words of a text. `find` tells which aspects a text speaks of, `lean` how
it leans about one of them: of its words each counts by itself ("far") and by how near it stands to
where the aspect is named ("near"). The table holds figures in thousandths, no text; how one is
fitted is in `simulation.studies.extraction_fit`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation.errors import UsageError
from simulation.extractors.polarity import NEGATIONS, judged, rounded
from simulation.mind import elementary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulation.extractors.clauses import Reading

FORMAT: Final = 1
UNIT: Final = 1000.0
RESTAURANT: Final = Path(__file__).parent / "restaurant.json"
"""Weights that ship: fitted on restaurant sentences (docs/extraction.md)."""

SPOKEN: Final = 0.7
"""A word names an aspect if it has at least this weight for it and this share of the best one."""
NEAR_ENOUGH: Final = 0.3
"""Judgements that sum to this much count as one that is there."""
FAR: Final = 0.3
"""What a word counts wherever it stands."""
OWN: Final = 0.5
"""What a near word counts, beside its weight for every aspect, with one for this aspect alone."""

Features = dict[str, float]
Row = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """A table for one field.

    aspects: A of them.  find: by feature, (A,).  lean: by feature, (3,), positive, negative and
    neutral; both in thousandths.  labels: how often each was labelled so where it was fitted, by
    aspect, (3,).  sha256: of the file.
    """

    aspects: tuple[str, ...]
    find: Mapping[str, Row]
    lean: Mapping[str, Row]
    labels: Mapping[str, Row]
    sha256: str = ""

    def spoken(self, text: Reading, listed: Iterable[str]) -> dict[str, float]:
        """Return the aspects that a text speaks of, with their log odds above 0.

        listed: those of which a listed word stands in it.
        """
        totals = _dot(text_features(text, listed), self.find, len(self.aspects))
        found = zip(self.aspects, totals, strict=True)
        return {aspect: total for aspect, total in found if total > 0}

    def anchors(self, text: Reading, aspect: str, listed: Sequence[int]) -> list[int]:
        """Return where an aspect is named: at its listed words, else at those that weigh most."""
        return list(listed) or heaviest(text, self.find, self.aspects.index(aspect))

    def logits(
        self, text: Reading, aspect: str, values: Sequence[float], near: Sequence[float]
    ) -> tuple[float, ...]:
        """Return the unscaled log shares of positive, negative and neutral."""
        return tuple(_dot(lean_features(text, aspect, values, near), self.lean, 3))


def softmax(logits: Sequence[Sequence[float]]) -> list[tuple[float, float, float]]:
    """Return shares in thousandths of N rows of three logits; each row sums to 1."""
    if not logits:
        return []
    rows = np.array(logits, dtype=np.float64)
    powers = elementary.exp(rows - rows.max(axis=1, keepdims=True))
    each = powers / (powers[:, 0] + powers[:, 1] + powers[:, 2])[:, None]
    return [rounded(positive, negative) for positive, negative, _ in each.tolist()]


def heaviest(text: Reading, find: Mapping[str, Row], column: int) -> list[int]:
    """Return the places of the words that weigh most for an aspect, none if none does much."""
    weights = [find.get(f"word:{stem}", ())[column : column + 1] for stem in text.stems]
    values = [weight[0] / UNIT if weight else 0.0 for weight in weights]
    least = max(SPOKEN, SPOKEN * max(values, default=0.0))
    return [i for i, value in enumerate(values) if value >= least]


def text_features(text: Reading, listed: Iterable[str]) -> Features:
    """Return what tells of which aspects a text speaks."""
    found = {f"word:{stem}": 1.0 for stem in text.stems if stem}
    found |= {f"list:{aspect}": 1.0 for aspect in listed}
    found["bias"] = 1.0
    return found


def lean_features(
    text: Reading, aspect: str, values: Sequence[float], near: Sequence[float]
) -> Features:
    """Return what tells how a text leans about an aspect.

    values: `polarity.valences`.  near: `polarity.nearness` of the places that name it.
    """
    good, bad = judged(text, values, near)
    everywhere = judged(text, values, [1.0] * len(values))
    found = {
        "bias": 1.0,
        f"aspect:{aspect}": 1.0,
        "good": good / 2,
        "bad": bad / 2,
        "good there": float(good > NEAR_ENOUGH),
        "bad there": float(bad > NEAR_ENOUGH),
        f"good:{aspect}": good / 4,
        f"bad:{aspect}": bad / 4,
        "all good": everywhere[0] / 4,
        "all bad": everywhere[1] / 4,
        "length": len(values) / 30,
        "unnamed": float(not any(near)),
        "not": 0.0,
    }
    for word, stem, share in zip(text.words, text.stems, near, strict=True):
        if word in NEGATIONS or word.endswith("n't"):
            found["not"] = max(found["not"], share)
        found[f"far:{stem}"] = FAR
        if share > found.get(f"near:{stem}", 0.0):
            found[f"near:{stem}"] = share
            found[f"near {aspect}:{stem}"] = share * OWN
    return found


def _dot(features: Features, table: Mapping[str, Row], width: int) -> list[float]:
    """Return the sums of weights times features, in a fixed order."""
    totals = [0.0] * width
    for name, value in features.items():
        row = table.get(name)
        if row is not None:
            for column, weight in enumerate(row):
                totals[column] += value * weight
    return [total / UNIT for total in totals]


def read_weights(path: Path = RESTAURANT) -> Weights:
    """Return the table of a file.

    Raises:
        UsageError: It is no such table.
    """
    try:
        content = path.read_bytes()
        return from_table(json.loads(content), sha256=hashlib.sha256(content).hexdigest())
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{path} holds no word weights: {error}") from error


def from_table(given: Mapping[str, Any], *, sha256: str = "") -> Weights:
    """Return the table that a file holds.

    Raises:
        KeyError, TypeError, ValueError: It is no such table.
    """
    if given["format"] != FORMAT:
        raise ValueError(f"its format is {given['format']}, not {FORMAT}")
    aspects = tuple(given["aspects"])
    return Weights(
        aspects=aspects,
        find=_rows(given["find"], len(aspects)),
        lean=_rows(given["lean"], 3),
        labels=_rows(given["labels"], 3),
        sha256=sha256,
    )


def _rows(given: Mapping[str, Sequence[Any]], width: int) -> dict[str, Row]:
    """Return rows of whole numbers, all of one width."""
    for name, row in given.items():
        if len(row) != width or not all(isinstance(weight, int) for weight in row):
            raise ValueError(f'"{name}" must have {width} whole numbers')
    return {name: tuple(row) for name, row in given.items()}
