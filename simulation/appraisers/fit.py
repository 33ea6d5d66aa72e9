"""Fit the coefficients of the embedding appraiser: offline, by a maintainer or a user.

    python -m simulation.appraisers.fit DATA.csv OUT.npz [--encoder NAME] [--model MODEL]

DATA.csv has the columns `split,V,A,D,text`: ratings from 1 to 5, splits `train` and `dev` (EmoBank
by Buechel and Hahn 2017 is of this form). The regression is fitted on the train split for each
combination of PENALTIES; for valence, arousal and dominance apart, the one with the highest
Pearson correlation on the dev split stays. Nothing is drawn at random. Another processor may
round single coefficients the other way.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation import encoders
from simulation.appraisers.embedding import (
    UNIT,
    WORD_UNIT,
    Coefficients,
    dense_features,
    write,
)
from simulation.appraisers.features import NAMES, hashed, words
from simulation.errors import SimulationError, UsageError
from simulation.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.encoders.base import Encoder

    FloatArray = NDArray[np.float64]

BUCKETS: Final = 4096
PLAIN_PENALTY: Final = 0.5
"""Of the nine plain features: nearly none, since there are thousands of texts to each."""
PENALTIES: Final = ((5.0, 10.0, 20.0), (3.0, 10.0, 30.0), (10.0, 20.0))
"""Tried for the vector, for compound · vector and for the words."""
COLUMNS: Final = ("split", "V", "A", "D", "text")

_NO_CORRELATION: Final = -2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """Texts with ratings in our ranges."""

    texts: list[str]
    train: NDArray[np.bool_]
    """(n,), the others are dev."""
    affect: FloatArray
    """(n, 3): valence in [-1, 1], arousal and dominance in [0, 1]."""
    sha256: str
    """Of the file."""


def main(arguments: Sequence[str]) -> int:
    """Fit, write, and say how good the fit is on the dev split."""
    parser = argparse.ArgumentParser(prog="python -m simulation.appraisers.fit")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--encoder", default="static", choices=encoders.NAMES)
    parser.add_argument("--model", default=None)
    parser.add_argument("--base-url", default=None)
    given = parser.parse_args(arguments)
    spec = encoders.EncoderSpec(
        name=given.encoder, model=given.model, base_url=given.base_url, api_key=None
    )
    try:
        quality = fit(read_ratings(given.data), encoders.load(spec), given.out)
    except (SimulationError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    shown = ", ".join(f"{name} {r:.3f}" for name, r in zip("VAD", quality, strict=True))
    sys.stdout.write(f"{given.out}: Pearson r on the dev split {shown}\n")
    return 0


def read_ratings(path: Path) -> Rated:
    """Return a file's ratings, scaled from 1..5 to our ranges.

    Raises:
        UsageError: A column is missing, a rating is none, or a split is empty.
        OSError: The file cannot be read.
    """
    content = path.read_bytes()
    reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise UsageError(f"{path} has no column {', '.join(missing)}")
    rows = [row for row in reader if row["split"] in {"train", "dev"}]
    try:
        ratings = np.array([[float(row[name]) for name in "VAD"] for row in rows])
    except (TypeError, ValueError) as error:
        raise UsageError(f"{path}: a rating is no number: {error}") from error
    train = np.array([row["split"] == "train" for row in rows], dtype=np.bool_)
    if not train.any() or train.all() or not ((ratings >= 1) & (ratings <= 5)).all():  # noqa: PLR2004 the scale of the ratings, as documented
        raise UsageError(f"{path} needs rows of both splits, train and dev, rated from 1 to 5")
    return Rated(
        texts=[row["text"] for row in rows],
        train=train,
        affect=(ratings - (3.0, 1.0, 1.0)) / (2.0, 4.0, 4.0),
        sha256=hashlib.sha256(content).hexdigest(),
    )


def fit(data: Rated, encoder: Encoder, out: Path, *, buckets: int = BUCKETS) -> FloatArray:
    """Fit to the train split, choose on the dev split, write; return r on dev, (3,)."""
    features = design(data.texts, encoder, buckets)
    weights, quality, chosen = choose(features, data, encoder.width)
    mean = data.affect[data.train].mean(axis=0)
    intercept = mean - features[data.train].mean(axis=0) @ weights
    cut = len(features[0]) - buckets
    coefficients = Coefficients(
        encoder=encoder.name,
        encoder_sha256=encoder.sha256,
        any_sha256=encoder.name.startswith("sentence_transformers:"),
        intercept=np.rint(intercept * UNIT).astype(np.int32),
        dense=np.rint(weights[:cut] * UNIT).astype(np.int32),
        words=np.clip(np.rint(weights[cut:] * WORD_UNIT), -32767, 32767).astype(np.int16),
    )
    record: dict[str, Any] = {
        "data_sha256": data.sha256,
        "penalties": {name: pair for name, pair in zip("VAD", chosen, strict=True)},  # noqa: C416 dict() of a zip of unlike kinds has no type
        "dev_r": {name: round(float(r), 4) for name, r in zip("VAD", quality, strict=True)},
    }
    write(out, coefficients, record)
    return quality


def design(texts: Sequence[str], encoder: Encoder, buckets: int) -> FloatArray:
    """Return the features of texts as the appraiser sees them, (n, 2 * width + 9 + buckets).

    Vectors go through the table of texts, which rounds them as a run does.
    """
    table = Texts(encoder.encode, width=encoder.width)
    ids = table.intern(texts)
    vectors = table.quantised[ids] * table.scale[ids, None]
    bags = np.zeros((len(texts), buckets))
    for bag, text in zip(bags, texts, strict=True):
        hashes = np.array(words(text), dtype=np.int64)
        bucket, sign = hashed(hashes, buckets)
        np.add.at(bag, bucket, sign / np.sqrt(max(1, len(hashes))))
    return np.hstack((dense_features(texts, vectors) / UNIT, bags))


def choose(
    features: FloatArray, data: Rated, width: int
) -> tuple[FloatArray, FloatArray, list[tuple[float, ...]]]:
    """Return the weights (k, 3), their r on dev (3,) and the penalties chosen for each."""
    train, dev = data.train, ~data.train
    centred = features - features[train].mean(axis=0)
    weights = np.zeros((features.shape[1], 3))
    quality = np.full(3, _NO_CORRELATION)
    chosen: list[tuple[float, ...]] = [()] * 3
    for penalties in itertools.product(*PENALTIES):
        penalty = _each(penalties, width, features.shape[1])
        found = ridge(centred[train], data.affect[train], penalty)
        r = correlation(centred[dev] @ found, data.affect[dev])
        for target in np.flatnonzero(r > quality):
            weights[:, target], quality[target] = found[:, target], r[target]
            chosen[target] = penalties
    return weights, quality, chosen


def ridge(features: FloatArray, targets: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return argmin |targets - mean - features @ w|² + sum(penalty · w²), (k, t).

    features: (n, k), centred.  targets: (n, t).  penalty: (k,), > 0.
    """
    centred = targets - targets.mean(axis=0)
    if len(features) < features.shape[1]:  # the dual form: a smaller system, the same answer
        light = features / penalty
        kernel = light @ features.T
        kernel[np.diag_indices_from(kernel)] += 1.0
        return np.asarray(light.T @ np.linalg.solve(kernel, centred))
    gram = features.T @ features
    gram[np.diag_indices_from(gram)] += penalty
    return np.asarray(np.linalg.solve(gram, features.T @ centred))


def correlation(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return Pearson's r of the columns of two arrays (n, t); 0 where one does not vary."""
    left, right = left - left.mean(axis=0), right - right.mean(axis=0)
    scale = np.sqrt((left**2).sum(axis=0) * (right**2).sum(axis=0))
    return np.asarray((left * right).sum(axis=0) / np.where(scale > 0.0, scale, np.inf))


def _each(penalties: tuple[float, ...], width: int, size: int) -> FloatArray:
    """Return the penalty of each feature, (size,)."""
    vector, product, word = penalties
    counts = (width, width, len(NAMES), size - 2 * width - len(NAMES))
    return np.repeat((vector, product, PLAIN_PENALTY, word), counts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
