"""The lexicon appraiser: valence by sentiment rules, arousal and dominance by word norms.

Valence is the compound score of vaderSentiment. Arousal and dominance are the means over the words
of a text that the norms know; without norms, or without a known word, they are neutral.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.appraisers import sentiment
from simulation.appraisers.base import NEUTRAL, clipped, refuse_settings
from simulation.appraisers.features import head_of
from simulation.encoders.base import fingerprint
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from simulation.appraisers.base import AppraiserSpec, Failures

COLUMNS: Final = {
    "Glasgow": ("word", "arousal_mean", "dominance_mean"),
    "Warriner": ("Word", "A.Mean.Sum", "D.Mean.Sum"),
}
"""Word, arousal and dominance in the norms of Scott et al. (2019) and Warriner et al. (2013)."""

LOWEST: Final = 1.0
HIGHEST: Final = 9.0
"""Ends of the scale of both norms; mapped to 0 and 1."""

WITHOUT_NORMS: Final = (
    "arousal and dominance of the lexicon appraiser are neutral (0.4 and 0.5) for every text: "
    "no word norms are named"
)

_WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_SHOWN: Final = 5

Norms = dict[str, tuple[float, float]]


def build(spec: AppraiserSpec) -> LexiconAppraiser:
    """Return the appraiser, with the norms of `spec.norms` if named.

    Raises:
        UsageError: The norms cannot be read, or a setting makes no sense.
    """
    refuse_settings(spec, "coefficients", "asker")
    if spec.norms is None:
        return LexiconAppraiser({}, sha256="")
    try:
        content = spec.norms.read_bytes()
    except OSError as error:
        raise UsageError(f"the word norms cannot be read: {error}") from error
    return LexiconAppraiser(
        read_norms(content, str(spec.norms)), sha256=hashlib.sha256(content).hexdigest()
    )


class LexiconAppraiser:
    """Sentiment rules with word norms."""

    failures: Failures = ()

    def __init__(self, norms: Norms, *, sha256: str) -> None:
        """Keep the norms.

        Args:
            norms: Arousal and dominance in [0, 1] by word in lower case; may be empty.
            sha256: Of their file; "" without one.
        """
        self._norms = norms
        self._sha256 = fingerprint({**sentiment.digests(), "norms.csv": sha256})
        self.notes: tuple[str, ...] = () if norms else (WITHOUT_NORMS,)

    @property
    def name(self) -> str:
        """The appraiser; "lexicon+norms" when arousal and dominance are known too."""
        return "lexicon+norms" if self._norms else "lexicon"

    @property
    def sha256(self) -> str:
        """Fingerprint of the sentiment package's files and of the norms."""
        return self._sha256

    def appraise(
        self,
        texts: Sequence[str],
        vectors: NDArray[np.float32] | None,  # noqa: ARG002 the protocol's; not needed here
    ) -> NDArray[np.float64]:
        """Return (n, 3) valence, arousal, dominance; see `Appraiser.appraise`."""
        rows = [self._row(head_of(text)) for text in texts]
        return clipped(np.array(rows, dtype=np.float64).reshape(len(texts), 3))

    def _row(self, text: str) -> tuple[float, float, float]:
        """Return the affect of one text."""
        compound = sentiment.scores(text)[-1]
        known = [self._norms[word] for word in _words(text) if word in self._norms]
        if not known:
            return compound, *NEUTRAL[1:]
        arousal, dominance = (
            math.fsum(column) / len(known) for column in zip(*known, strict=True)
        )
        return compound, arousal, dominance


def read_norms(content: bytes, source: str) -> Norms:
    """Return arousal and dominance, scaled from 1..9 to [0, 1], by word in lower case.

    Column names are recognised in any case. A word that stands twice has the first of its rows.

    Raises:
        UsageError: No known columns, a number that is none or outside of the scale, no row; names
            the first lines with a problem.
    """
    try:
        text = content.decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""))
        places = _places(next(reader, []), source)
        norms, problems = _read_rows(reader, places)
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{source} is no CSV in UTF-8: {error}") from error
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise UsageError(
            f"{source} cannot be used ({len(problems)} problems): "
            f"{'; '.join(problems[:_SHOWN])}{more}"
        )
    if not norms:
        raise UsageError(f"{source} holds no word")
    return norms


def _read_rows(rows: Iterable[list[str]], places: tuple[int, int, int]) -> tuple[Norms, list[str]]:
    """Return the norms of the rows below a header, and what is wrong with the others."""
    norms: Norms = {}
    problems = []
    for line, row in enumerate(rows, start=2):
        if not any(row):
            continue
        try:
            word, arousal, dominance = (row[place] for place in places)
            norms.setdefault(word.strip().lower(), (_rating(arousal), _rating(dominance)))
        except IndexError:
            problems.append(f"row {line} has {len(row)} cells")
        except ValueError as error:
            problems.append(f"row {line}: {error}")
    return norms, problems


def _places(header: Sequence[str], source: str) -> tuple[int, int, int]:
    """Return where word, arousal and dominance stand."""
    found = [name.strip().lower() for name in header]
    for names in COLUMNS.values():
        word, arousal, dominance = (name.lower() for name in names)
        if {word, arousal, dominance} <= set(found):
            return found.index(word), found.index(arousal), found.index(dominance)
    known = "; ".join(f"{title}: {', '.join(names)}" for title, names in COLUMNS.items())
    raise UsageError(f"{source} has none of the known columns ({known})")


def _rating(cell: str) -> float:
    """Return a rating of 1 to 9 as a number in [0, 1].

    Raises:
        ValueError: It is no number, or outside of the scale.
    """
    value = float(cell)
    if not LOWEST <= value <= HIGHEST:
        raise ValueError(f"{cell} is outside of 1 to 9")
    return (value - LOWEST) / (HIGHEST - LOWEST)


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case; apostrophes and hyphens within stay."""
    return _WORD.findall(text.lower().replace("\u2019", "'"))
