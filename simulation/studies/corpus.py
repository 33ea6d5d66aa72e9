"""The corpora of the studies: labelled memories, and cues that call them up (docs/corpora.md)."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies.output import digests_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.rng import FloatArray

FOLDER: Final = Path(__file__).parent / "corpora"
NAMES: Final = ("calibration", "development", "test", "events")
OVERGENERAL: Final = "overgeneral"
NEGATIVE: Final = -0.2
POSITIVE: Final = 0.2
"""Beyond these a valence counts as negative or positive (PersMem, E.5; docs/corpora.md)."""
QUESTIONS: Final = (
    "How do you usually feel when something unexpected goes wrong in your plans?",
    "Can you share a memory that still brings up strong feelings for you?",
    "How do you typically approach meeting new people or trying unfamiliar things?",
    "When you think about your daily life, what emotions come up most often?",
    "How do you handle situations where you disagree with someone close to you?",
    "What does a fulfilling day look like for you, and how often do you have one?",
)
"""Six questions of dialogues, which also call up memories (PersMem, F.2)."""
_AFFECT: Final = ("valence", "arousal", "dominance")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """K memories.

    affect: (K, 3) labelled valence in [-1, 1], arousal and dominance in [0, 1].
    overgeneral: (K,).
    """

    name: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    topics: tuple[str, ...]
    affect: FloatArray
    overgeneral: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of memories."""
        return len(self.ids)


def read(name: str) -> Corpus:
    """Return one of the corpora, `NAMES`, with the labels of the first reader."""
    rows = _rows(name)
    affect, overgeneral = _labels(rows)
    return Corpus(
        name=name,
        ids=tuple(row["memory_id"] for row in rows),
        texts=tuple(row["text"] for row in rows),
        topics=tuple(row["topic"] for row in rows),
        affect=affect,
        overgeneral=overgeneral,
    )


def second(corpus: Corpus) -> Corpus:
    """Return the same memories with the labels of the second, blind reader."""
    by_id = {row["memory_id"]: row for row in _rows("second")}
    affect, overgeneral = _labels([by_id[i] for i in corpus.ids])
    return replace(corpus, affect=affect, overgeneral=overgeneral)


def cues(split: str) -> tuple[str, ...]:
    """Return the cues of a split: `development` or `test`."""
    return tuple(row["text"] for row in _rows("cues") if row["set"] == split)


def digests() -> dict[str, str]:
    """Return the SHA-256 of each file, by name."""
    return digests_of(FOLDER)


def _labels(rows: list[dict[str, str]]) -> tuple[FloatArray, NDArray[np.bool_]]:
    affect = np.array([[float(row[name]) for name in _AFFECT] for row in rows])
    return affect, np.array([row["specificity"] == OVERGENERAL for row in rows])


def _rows(name: str) -> list[dict[str, str]]:
    return rows_of(FOLDER / f"{name}.csv")


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file of ours."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
