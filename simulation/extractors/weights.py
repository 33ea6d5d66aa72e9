"""A fitted table of word weights: what a text of one field speaks of, and how it judges it.

Two linear models over the words of a text. `find` tells which aspects a text speaks of, `lean` how
it leans about one of them: of its words each counts by itself ("far") and by how near it stands to
where the aspect is named ("near"). The table holds figures in thousandths, no text; how one is
fitted is in `simulation.studies.extraction.fit`.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulation.errors import UsageError
from simulation.extractors.polarity import NEGATIONS, judged, rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulation.extractors.clauses import Reading
    from simulation.extractors.polarity import Judgement

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
    aspect, (3,).  far, near: the rows of `lean` that are about words, by word, and by aspect and
    word.  sha256: of the file.
    """

    aspects: tuple[str, ...]
    find: Mapping[str, Row]
    lean: Mapping[str, Row]
    labels: Mapping[str, Row]
    far: Mapping[str, Row]
    near: Mapping[str, Mapping[str, tuple[float, ...]]]
    sha256: str = ""

    def spoken(self, text: Reading, listed: Iterable[str]) -> list[str]:
        """Return the aspects that a text speaks of: those whose log odds are above 0.

        listed: those of which a listed word stands in it.
        """
        features = text_features(text, listed)  # each is 1
        rows = [self.find[name] for name in features if name in self.find]
        totals = map(sum, zip(*rows, strict=True))
        return [aspect for aspect, total in zip(self.aspects, totals, strict=False) if total > 0]

    def anchors(self, text: Reading, aspect: str, listed: Sequence[int]) -> list[int]:
        """Return where an aspect is named: at its listed words, else at those that weigh most."""
        return list(listed) or heaviest(text, self.find, self.aspects.index(aspect))

    def logits(
        self, text: Reading, aspect: str, said: Sequence[Judgement], near: Sequence[float]
    ) -> list[float]:
        """Return the unscaled log shares of positive, negative and neutral.

        said: `polarity.judgements`.  near: `polarity.nearness` of where the aspect is named.
        """
        totals = [0.0, 0.0, 0.0]
        for name, value in _plain_features(text, aspect, said, near).items():
            _add(totals, value, self.lean.get(name))
        for stem in dict.fromkeys(text.stems):
            _add(totals, FAR, self.far.get(stem))
        words = self.near[aspect]
        for stem, share in _nearest(text, near).items():
            _add(totals, share, words.get(stem))
        return [total / UNIT for total in totals]


def _add(totals: list[float], value: float, row: Sequence[float] | None) -> None:
    """Add a weighted row to totals."""
    if row is not None:
        totals[0] += value * row[0]
        totals[1] += value * row[1]
        totals[2] += value * row[2]


def softmax(logits: Sequence[float]) -> tuple[float, float, float]:
    """Return the shares of three logits in thousandths, which hide the last bits of exp."""
    largest = max(logits)
    positive, negative, neutral = (math.exp(logit - largest) for logit in logits)
    total = positive + negative + neutral
    return rounded(positive / total, negative / total)


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
    text: Reading, aspect: str, said: Sequence[Judgement], near: Sequence[float]
) -> Features:
    """Return what tells how a text leans about an aspect.

    said: `polarity.judgements`.  near: `polarity.nearness` of the places that name it.
    """
    found = _plain_features(text, aspect, said, near)
    found |= {f"far:{stem}": FAR for stem in text.stems}
    for stem, share in _nearest(text, near).items():
        found[f"near:{stem}"] = share
        found[f"near {aspect}:{stem}"] = share * OWN
    return found


def _plain_features(
    text: Reading, aspect: str, said: Sequence[Judgement], near: Sequence[float]
) -> Features:
    """Return what is told by other than single words."""
    good, bad = judged(said, near)
    all_good, all_bad = judged(said, None)
    return {
        "bias": 1.0,
        f"aspect:{aspect}": 1.0,
        "good": good / 2,
        "bad": bad / 2,
        "good there": float(good > NEAR_ENOUGH),
        "bad there": float(bad > NEAR_ENOUGH),
        f"good:{aspect}": good / 4,
        f"bad:{aspect}": bad / 4,
        "all good": all_good / 4,
        "all bad": all_bad / 4,
        "length": len(near) / 30,
        "unnamed": float(not any(near)),
        "not": max((near[i] for i, word in enumerate(text.words) if _negates(word)), default=0.0),
    }


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def _nearest(text: Reading, near: Sequence[float]) -> Features:
    """Return the nearness of each word, of its nearest occurrence, where there is any."""
    found: Features = {}
    for stem, share in zip(text.stems, near, strict=True):
        if share > found.get(stem, 0.0):
            found[stem] = share
    return found


def read_weights(path: Path = RESTAURANT) -> Weights:
    """Return the table of a file.

    Raises:
        UsageError: It is no such table.
    """
    try:
        content = path.read_bytes()
        return from_table(json.loads(content), sha256=hashlib.sha256(content).hexdigest())
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{path} holds no word weights: {error}") from error


def from_table(given: Mapping[str, Any], *, sha256: str = "") -> Weights:
    """Return the table that a file holds.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: It is no such table.
    """
    if given["format"] != FORMAT:
        raise ValueError(f"its format is {given['format']}, not {FORMAT}")
    aspects = tuple(given["aspects"])
    lean = _rows(given["lean"], 3)
    return Weights(
        aspects=aspects,
        find=_rows(given["find"], len(aspects)),
        lean=lean,
        labels=_rows(given["labels"], 3),
        far=_named(lean, "far:"),
        near={aspect: _joined(lean, aspect) for aspect in aspects},
        sha256=sha256,
    )


def _rows(given: Mapping[str, Sequence[Any]], width: int) -> dict[str, Row]:
    """Return rows of whole numbers, all of one width."""
    for name, row in given.items():
        if len(row) != width or not all(isinstance(weight, int) for weight in row):
            raise ValueError(f'"{name}" must have {width} whole numbers')
    return {name: tuple(row) for name, row in given.items()}


def _named(rows: Mapping[str, Row], prefix: str) -> dict[str, Row]:
    """Return the rows whose names start so, by the rest of their names."""
    return {
        name.removeprefix(prefix): row for name, row in rows.items() if name.startswith(prefix)
    }


def _joined(lean: Mapping[str, Row], aspect: str) -> dict[str, tuple[float, ...]]:
    """Return what a near word weighs for an aspect: its row for all, and its own."""
    shared, own = _named(lean, "near:"), _named(lean, f"near {aspect}:")
    nothing = (0, 0, 0)
    return {
        stem: tuple(
            every + OWN * alone
            for every, alone in zip(shared.get(stem, nothing), own.get(stem, nothing), strict=True)
        )
        for stem in {**shared, **own}
    }
