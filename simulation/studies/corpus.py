"""The corpora of the studies: labelled memories, and cues that call them up (docs/corpora.md)."""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.rng import FloatArray

FOLDER: Final = Path(__file__).parent / "corpora"
NAMES: Final = ("calibration", "development", "test", "events")
OVERGENERAL: Final = "overgeneral"
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
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(FOLDER.glob("*.csv"))
    }


def _labels(rows: list[dict[str, str]]) -> tuple[FloatArray, NDArray[np.bool_]]:
    affect = np.array([[float(row[name]) for name in _AFFECT] for row in rows])
    return affect, np.array([row["specificity"] == OVERGENERAL for row in rows])


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
