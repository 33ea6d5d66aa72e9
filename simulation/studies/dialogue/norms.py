"""How a reply sounds: valence, arousal and dominance by the words in it.

With word norms: every word that the norms know is an entry, in exactly its form. The valence of an
entry turns its sign where one of the three words before it, in the same sentence, negates. Valence
of a reply: the mean over the entries whose adjusted valence is not 0, or 0 if there are none such.
Arousal and dominance: the means over all entries. Without an entry: (0, 0, .5).

Without norms: valence is the compound score of vaderSentiment, which has negation rules of its
own; arousal and dominance are neutral, (.4, .5). Without a word that it knows: (0, 0, .5).

Source: PersMem, H.2, which lost its formulas; (0, 0, .5) and V = 0 are the source's.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Final

from simulation.appraisers.sentiment import scores
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

Affect = tuple[float, float, float]
"""Valence in [-1, 1], arousal and dominance in [0, 1]."""

UNKNOWN: Final[Affect] = (0.0, 0.0, 0.5)
NEUTRAL: Final = (0.4, 0.5)
COLUMNS: Final = {
    "Glasgow": ("word", "valence_mean", "arousal_mean", "dominance_mean"),
    "Warriner": ("word", "v.mean.sum", "a.mean.sum", "d.mean.sum"),
    "NRC": ("word", "valence", "arousal", "dominance"),
    "NRC 2": ("term", "valence", "arousal", "dominance"),
}
"""Columns, in any case: Scott et al. (2019), Warriner et al. (2013), Mohammad (2018, 2025)."""
SCALES: Final = {
    "Glasgow": (1.0, 9.0),
    "Warriner": (1.0, 9.0),
    "NRC": (0.0, 1.0),
    "NRC 2": (-1.0, 1.0),
}
_NEGATIONS: Final = (
    "aint cannot hardly neither never no nobody none nor not nothing nowhere rarely scarcely "
    "seldom without"
)
NEGATORS: Final = frozenset(_NEGATIONS.split())
REACH: Final = 3
"""Words after a negation that it turns."""

_SENTENCE: Final = re.compile(r"[.!?;:\n]+")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Norms:
    """Word norms; by word in lower case. name: which, "" for none."""

    name: str = ""
    words: Mapping[str, Affect] = field(default_factory=dict)

    def affect(self, text: str) -> Affect:
        """Return how a text sounds."""
        if not self.words:
            return _by_sentiment(text)
        entries = list(_entries(text, self.words))
        if not entries:
            return UNKNOWN
        moved = [entry[0] for entry in entries if entry[0]]
        return (
            fmean(moved) if moved else 0.0,
            fmean(entry[1] for entry in entries),
            fmean(entry[2] for entry in entries),
        )


def _by_sentiment(text: str) -> Affect:
    negative, _, positive, compound = scores(text)
    return (compound, *NEUTRAL) if negative or positive else UNKNOWN


def _entries(text: str, words: Mapping[str, Affect]) -> Iterator[Affect]:
    """Yield the entries of a text, their valence adjusted."""
    for sentence in _SENTENCE.split(text.lower().replace("\u2019", "'")):
        found = _WORD.findall(sentence)
        for i, word in enumerate(found):
            if word in words and not _negates(word):
                valence, arousal, dominance = words[word]
                turned = any(map(_negates, found[max(0, i - REACH) : i]))
                yield (-valence if turned else valence), arousal, dominance


def _negates(word: str) -> bool:
    return word in NEGATORS or word.endswith("n't")


def read(path: Path) -> Norms:
    """Return word norms from a file, separated by commas or tabs.

    The columns say which norms they are. A word that stands twice has the first of its rows.

    Raises:
        UsageError: it cannot be read, has no known columns, no row, or a value that is no number
            or lies outside of the scale; names the first lines with a problem.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise UsageError(f"{path} cannot be read: {why}") from error
    header = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in header else ",")
    try:
        name, places = _columns(next(reader, []), path)
        words, problems = _rows(reader, places, SCALES[name])
    except csv.Error as error:
        raise UsageError(f"{path} is no table: {error}") from error
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise UsageError(f"{path} cannot be used: {'; '.join(problems[:_SHOWN])}{more}")
    if not words:
        raise UsageError(f"{path} holds no word")
    return Norms(name=name, words=words)


def _columns(header: Sequence[str], path: Path) -> tuple[str, tuple[int, ...]]:
    found = [name.strip().lower() for name in header]
    for name, columns in COLUMNS.items():
        if set(columns) <= set(found):
            return name, tuple(found.index(column) for column in columns)
    known = "; ".join(f"{name}: {', '.join(columns)}" for name, columns in COLUMNS.items())
    raise UsageError(f"{path}, line 1: none of the known columns of word norms ({known})")


def _rows(
    rows: Iterable[list[str]], places: tuple[int, ...], scale: tuple[float, float]
) -> tuple[dict[str, Affect], list[str]]:
    """Return the norms of the rows below a header, and what is wrong with the others."""
    words: dict[str, Affect] = {}
    problems = []
    for line, row in enumerate(rows, start=2):
        if not any(row):
            continue
        if len(row) <= max(places):
            problems.append(f"line {line} has {len(row)} columns")
            continue
        word, *values = (row[place] for place in places)
        try:
            valence, arousal, dominance = (_share(value, scale) for value in values)
        except ValueError as error:
            problems.append(f"line {line}: {error}")
        else:
            words.setdefault(word.strip().lower(), (2.0 * valence - 1.0, arousal, dominance))
    return words, problems


def _share(cell: str, scale: tuple[float, float]) -> float:
    """Return a rating as a share of its scale.

    Raises:
        ValueError: it is no number, or outside of the scale.
    """
    low, high = scale
    try:
        value = float(cell)
    except ValueError:
        raise ValueError(f'"{cell:.40}" is no number') from None
    if not low <= value <= high:
        raise ValueError(f"{cell:.40} is outside of {low:g} to {high:g}")
    return (value - low) / (high - low)
