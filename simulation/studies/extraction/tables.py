"""How well evidence is found in labelled sentences, as counts and tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from simulation.appraisers.sentiment import scores
from simulation.extractors.base import POLARITIES, Topic
from simulation.studies.tables import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simulation.extractors.lexicon import LexiconExtractor
    from simulation.studies.extraction.data import Sentence

OBJECT: Final = "the restaurant"
ALL: Final = "all"
NEUTRAL_BAND: Final = 0.05
"""Compound scores within this of 0 are neutral: the convention of the sentiment rules."""

Told = dict[str, str]
"""Polarity by aspect."""


class Method(Protocol):
    """Reads sentences."""

    def found(self, text: str) -> Told:
        """Return the aspects that it finds, and how the text leans about each."""
        ...

    def given(self, text: str, aspects: Sequence[str]) -> Told:
        """Return how a text leans about aspects that it is told."""
        ...


class Extraction:
    """The extractor, on one object with all aspects."""

    def __init__(self, extractor: LexiconExtractor, aspects: Sequence[str]) -> None:
        """Keep the extractor."""
        self._extractor = extractor
        self._topics = (Topic(object_type="place", object=OBJECT, aspects=tuple(aspects)),)
        self._aspects = frozenset(aspects)

    def found(self, text: str) -> Told:
        """Return what is evidence; see `Method.found`.

        A text that names the object and no aspect is evidence about the first one; here that
        would count against the method, so it does.
        """
        pieces = self._extractor.evidence(text, self._topics)
        return {piece.aspect: _leading(piece.polarity) for piece in pieces}

    def given(self, text: str, aspects: Sequence[str]) -> Told:
        """Return how a text leans; see `Method.given`."""
        return {aspect: _leading(self._extractor.lean(text, aspect)) for aspect in aspects}


class Baseline:
    """Finds aspects as an extraction does, and guesses how a text leans."""

    def __init__(self, finder: Extraction, guess: Callable[[str, str], str]) -> None:
        """Keep who finds. guess: from text and aspect to a polarity."""
        self._finder = finder
        self._guess = guess

    def found(self, text: str) -> Told:
        """Return what the finder finds, with the guess; see `Method.found`."""
        return self.given(text, list(self._finder.found(text)))

    def given(self, text: str, aspects: Sequence[str]) -> Told:
        """Return the guess; see `Method.given`."""
        return {aspect: self._guess(text, aspect) for aspect in aspects}


def sentence_polarity(text: str, _: str) -> str:
    """Return the polarity of a whole sentence by the sentiment rules, whatever the aspect."""
    compound = scores(text)[-1]
    if abs(compound) < NEUTRAL_BAND:
        return "neutral"
    return "positive" if compound > 0 else "negative"


@dataclass(slots=True)
class Score:
    """Counts by aspect.

    labelled, told: aspects labelled and found.  hits: both.  right: hits with the right polarity.
    given: labelled aspects with the right polarity when the aspects are told.
    """

    labelled: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)

    def add(self, other: Score) -> None:
        """Add the counts of other sentences."""
        for name in ("labelled", "told", "hits", "right", "given"):
            getattr(self, name).update(getattr(other, name))

    def finding(self, aspect: str) -> tuple[float, float, float]:
        """Return precision, recall and F1 of aspects found; 0 where there is nothing to divide."""
        hits, told, labelled = (_of(c, aspect) for c in (self.hits, self.told, self.labelled))
        return _ratio(hits, told), _ratio(hits, labelled), _ratio(2 * hits, told + labelled)

    def leaning(self, aspect: str) -> tuple[float, float, float]:
        """Return the shares of right polarities.

        Of the labelled aspects that were found, of all labelled ones (one that was not found is
        wrong), and of all labelled ones if the aspects are told.
        """
        hits, labelled = _of(self.hits, aspect), _of(self.labelled, aspect)
        right, given = _of(self.right, aspect), _of(self.given, aspect)
        return _ratio(right, hits), _ratio(right, labelled), _ratio(given, labelled)


def score(sentences: Sequence[Sentence], method: Method) -> Score:
    """Return the counts of a method on labelled sentences."""
    counts = Score()
    for sentence in sentences:
        labels = sentence.labels
        found = method.found(sentence.text)
        given = method.given(sentence.text, list(labels))
        counts.labelled.update(labels.keys())
        counts.told.update(found.keys())
        counts.hits.update(aspect for aspect in labels if aspect in found)
        counts.right.update(a for a, label in labels.items() if found.get(a) == label)
        counts.given.update(a for a, label in labels.items() if given[a] == label)
    return counts


def aspect_table(scores: Mapping[str, Score], aspects: Sequence[str]) -> Table:
    """Return how well each method that finds aspects finds each of them."""
    rows: list[tuple[Cell, ...]] = [
        (method, aspect, _of(counts.labelled, aspect), *counts.finding(aspect))
        for method, counts in scores.items()
        for aspect in (*aspects, ALL)
    ]
    columns = ("method", "aspect", "labels", "precision", "recall", "F1")
    return Table(name="aspects", title="Aspects found", columns=columns, rows=tuple(rows))


def polarity_table(scores: Mapping[str, Score], aspects: Sequence[str]) -> Table:
    """Return how often each method tells the polarity right, by aspect."""
    rows: list[tuple[Cell, ...]] = [
        (method, aspect, _of(counts.labelled, aspect), *counts.leaning(aspect))
        for method, counts in scores.items()
        for aspect in (*aspects, ALL)
    ]
    columns = ("method", "aspect", "labels", *_LEANING)
    return Table(name="polarity", title="Polarity right", columns=columns, rows=tuple(rows))


def summary_table(scores: Mapping[str, Score], *, title: str, name: str) -> Table:
    """Return one row a method, over all aspects."""
    rows: list[tuple[Cell, ...]] = [
        (method, _of(counts.labelled, ALL), *counts.finding(ALL), *counts.leaning(ALL))
        for method, counts in scores.items()
    ]
    columns = ("method", "labels", "precision", "recall", "F1", *_LEANING)
    return Table(name=name, title=title, columns=columns, rows=tuple(rows))


_LEANING: Final = (
    "right of labelled found",
    "found and right of labelled",
    "right of labelled, aspects told",
)


def _leading(shares: Sequence[float]) -> str:
    """Return the polarity with the largest share; neutral in doubt."""
    best = max(shares)
    leading = [name for name, share in zip(POLARITIES, shares, strict=True) if share == best]
    return leading[0] if len(leading) == 1 else "neutral"


def _of(counts: Counter[str], aspect: str) -> int:
    return counts.total() if aspect == ALL else counts[aspect]


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
