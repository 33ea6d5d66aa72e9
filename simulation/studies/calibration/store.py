"""The calibration memories and cues: what the maps from traits to gains are fitted on.

The sentences were written for this project. Valence, arousal, dominance and the label
specific/overgeneral were given by hand. The set lies beside this module as two CSV files; a map
is fitted on it and on nothing else. Similarities come from an encoder through `simulation.texts`,
so that they are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.encoders import EncoderSpec, load
from simulation.studies.corpus import rows_of
from simulation.studies.output import digests_of
from simulation.texts import Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.encoders import Encoder
    from simulation.rng import FloatArray, UIntArray

FOLDER: Final = Path(__file__).parent / "set"
LABELS: Final = ("specific", "overgeneral")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Store:
    """K memories and C cues.

    affect: (K, 3) valence in [-1, 1], arousal and dominance in [0, 1].  overgeneral: (K,).
    semantic: (C, K) cosine of cue and memory, clipped into [0, 1].  keys: (K,) a stream key per
    memory, from its text.  cues: (C,) names; the first is the reference cue.
    encoder, encoder_sha256: where the similarities come from.
    """

    memories: tuple[str, ...]
    affect: FloatArray
    overgeneral: NDArray[np.bool_]
    cues: tuple[str, ...]
    semantic: FloatArray
    keys: UIntArray
    encoder: str
    encoder_sha256: str


def read_store(encoder: Encoder | None = None, *, folder: Path = FOLDER) -> Store:
    """Return the set, with the similarities of an encoder; default, the shipped static one.

    Raises:
        ValueError: a label is unknown, or an affect is out of its range.
    """
    encoder = load(EncoderSpec(name="static")) if encoder is None else encoder
    memories, cues = rows_of(folder / "memories.csv"), rows_of(folder / "cues.csv")
    affect = np.array([[float(row[name]) for name in _AFFECT] for row in memories])
    _check(affect, [row["specificity"] for row in memories])
    texts = Texts(encoder.encode, width=encoder.width)
    items = texts.intern([row["text"] for row in memories])
    asked = texts.intern([row["text"] for row in cues])
    return Store(
        memories=tuple(row["id"] for row in memories),
        affect=affect,
        overgeneral=np.array([row["specificity"] == LABELS[1] for row in memories]),
        cues=tuple(row["id"] for row in cues),
        semantic=np.clip(texts.cosine(asked[:, None], items[None, :]), 0.0, 1.0),
        keys=texts.key(items),
        encoder=encoder.name,
        encoder_sha256=encoder.sha256,
    )


def digests(folder: Path = FOLDER) -> dict[str, str]:
    """Return the SHA-256 of each file of the set, by name."""
    return digests_of(folder)


_AFFECT = ("valence", "arousal", "dominance")


def _check(affect: FloatArray, labels: list[str]) -> None:
    unknown = sorted(set(labels) - set(LABELS))
    if unknown:
        raise ValueError(f'specificity "{unknown[0]}" is not one of {", ".join(LABELS)}')
    inside = (affect >= (-1.0, 0.0, 0.0)) & (affect <= 1.0)
    if not inside.all():
        raise ValueError(
            f"the affect of memory {int(np.argwhere(~inside)[0, 0]) + 1} is no affect"
        )
