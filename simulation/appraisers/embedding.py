"""The default appraiser: a ridge regression from a text's vector, sentiment, surface and words.

    affect = intercept + dense · (vector, compound · vector, plain) + mean word weight

`plain` are the features of `features.NAMES`; the product lets sentiment weigh by topic; a word
weighs by the bucket that it hashes to, the sum of a text's words being divided by the root of
their number. The coefficients are fitted by `simulation.appraisers.fit` for one encoder each.

Features and coefficients are integers in units of 2**-20 and 2**-15. Their products and sums are
integers below 2**53, which float64 holds exactly in any order of addition, and what follows is
elementwise. Hence a row is bitwise the same alone or in any batch, with any BLAS, on any machine.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation.appraisers import sentiment
from simulation.appraisers.base import NEUTRAL, clipped, refuse_settings
from simulation.appraisers.features import COMPOUND, NAMES, hashed, plain, words
from simulation.encoders.base import fingerprint
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.appraisers.base import AppraiserSpec, Failures
    from simulation.encoders.base import Encoder

FOLDER: Final = Path(__file__).parent / "coefficients"
FORMAT: Final = 1
UNIT: Final = 2.0**20
"""Steps in 1 of features and of dense coefficients."""
WORD_UNIT: Final = 2.0**15
"""Steps in 1 of word coefficients: they fit int16."""

ANOTHER_COPY: Final = (
    "the coefficients of the embedding appraiser were fitted with another copy of the encoder: "
    "the names are equal, the fingerprints are not"
)

_EXACT: Final = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """A fitted regression, as its file holds it."""

    encoder: str
    """Name of the encoder that it was fitted for."""
    encoder_sha256: str
    any_sha256: bool
    """Whether the encoder's name is enough: the fingerprint of a transformer covers its licence
    and read-me, so that copies of one model differ in it."""
    intercept: NDArray[np.int32]
    """(3,), in UNIT."""
    dense: NDArray[np.int32]
    """(2 * width + len(NAMES), 3), in UNIT."""
    words: NDArray[np.int16]
    """(buckets, 3), in WORD_UNIT."""
    sha256: str = ""
    """Of the file."""

    @property
    def width(self) -> int:
        """Components of the encoder's vectors."""
        return (len(self.dense) - len(NAMES)) // 2

    def fits(self, encoder: Encoder) -> bool:
        """Tell whether these were fitted for an encoder."""
        same_name = self.any_sha256 and encoder.name == self.encoder
        return encoder.sha256 == self.encoder_sha256 or same_name


def build(spec: AppraiserSpec) -> EmbeddingAppraiser:
    """Return the appraiser for `spec.encoder`, with `spec.coefficients` or shipped ones.

    Raises:
        UsageError: There is no encoder, or there are no coefficients for it.
    """
    refuse_settings(spec, "norms", "asker")
    if spec.encoder is None:
        raise UsageError('the appraiser "embedding" needs to know the run\'s encoder')
    files = sorted(FOLDER.glob("*.npz")) if spec.coefficients is None else [spec.coefficients]
    for coefficients in map(read, files):
        if coefficients.fits(spec.encoder):
            same = coefficients.encoder_sha256 == spec.encoder.sha256
            return EmbeddingAppraiser(coefficients, notes=() if same else (ANOTHER_COPY,))
    given = "shipped" if spec.coefficients is None else f"{spec.coefficients} holds"
    raise UsageError(
        f'the appraiser "embedding" has no coefficients for the encoder "{spec.encoder.name}" '
        f"({given}: {', '.join(c.encoder for c in map(read, files))}); fit them with "
        '"python -m simulation.appraisers.fit DATA.csv OUT.npz --encoder NAME [--model MODEL]" '
        "and name the file, or take the appraiser lexicon"
    )


class EmbeddingAppraiser:
    """Valence, arousal and dominance by a fitted linear map."""

    failures: Failures = ()

    def __init__(self, coefficients: Coefficients, *, notes: tuple[str, ...] = ()) -> None:
        """Keep the coefficients, and what a run should say about them."""
        self.notes = notes
        self._coefficients = coefficients
        self._dense = coefficients.dense.astype(np.float64)
        self._words = coefficients.words.astype(np.int64)
        self._sha256 = fingerprint(
            {**sentiment.digests(), "coefficients.npz": coefficients.sha256}
        )

    @property
    def name(self) -> str:
        """The appraiser and the encoder that it was fitted for."""
        return f"embedding:{self._coefficients.encoder}"

    @property
    def sha256(self) -> str:
        """Fingerprint of the coefficients and of the sentiment package's files."""
        return self._sha256

    def appraise(
        self, texts: Sequence[str], vectors: NDArray[np.float32] | None
    ) -> NDArray[np.float64]:
        """Return (n, 3) valence, arousal, dominance; see `Appraiser.appraise`.

        A blank text is NEUTRAL.

        Raises:
            UsageError: Vectors are missing, not finite, or not (n, width).
        """
        rows = dense_features(texts, self._checked(texts, vectors))
        sums = (rows @ self._dense) / UNIT + self._coefficients.intercept
        affect = sums / UNIT + self._from_words(texts)
        affect[[not text.strip() for text in texts]] = NEUTRAL
        return clipped(affect)

    def _checked(
        self, texts: Sequence[str], vectors: NDArray[np.float32] | None
    ) -> NDArray[np.float32]:
        """Return the vectors, if they are what the coefficients were fitted for."""
        expected = (len(texts), self._coefficients.width)
        if vectors is None:
            raise UsageError('the appraiser "embedding" needs the vectors of the texts')
        if vectors.shape != expected or not np.isfinite(vectors).all():
            raise UsageError(f"finite vectors {expected} are expected, not {vectors.shape}")
        return vectors

    def _from_words(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the part of each text's words, (n, 3)."""
        lists = [words(text) for text in texts]
        counts = np.array([len(hashes) for hashes in lists], dtype=np.int64)
        bucket, sign = hashed(
            np.array([h for hashes in lists for h in hashes], dtype=np.int64), len(self._words)
        )
        total = np.zeros((int(counts.sum()) + 1, 3), dtype=np.int64)
        np.cumsum(self._words[bucket] * sign[:, None], axis=0, out=total[1:])
        ends = np.cumsum(counts)
        sums = total[ends] - total[ends - counts]
        part: NDArray[np.float64] = sums / (WORD_UNIT * np.sqrt(np.maximum(counts, 1)))[:, None]
        return part


def dense_features(texts: Sequence[str], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return (vector, compound · vector, plain) of each text as integers in UNIT.

    vectors: (n, width), finite; components are clipped to [-1, 1].  Returns (n, 2 * width + 9).
    """
    unit = np.clip(vectors.astype(np.float64), -1.0, 1.0)
    told = plain(texts)
    rows = np.hstack((unit, unit * told[:, COMPOUND, None], told))
    return np.rint(rows * UNIT)


def read(path: Path) -> Coefficients:
    """Return the coefficients of a file.

    Raises:
        UsageError: It is not such a file.
    """
    try:
        content = path.read_bytes()
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            found = _coefficients(arrays, hashlib.sha256(content).hexdigest())
    except Exception as error:  # numpy's and zip's readers fail in many ways on a foreign file
        raise UsageError(f"{path} holds no coefficients: {error}") from error
    reach = np.abs(found.dense.astype(np.int64)).sum(axis=0).max()
    if reach * int(UNIT) >= _EXACT:
        raise UsageError(f"{path}: coefficients are too large to be summed exactly")
    return found


def write(path: Path, coefficients: Coefficients, record: dict[str, Any]) -> None:
    """Write a file of coefficients; the same ones give the same bytes.

    record: how they were made, in a form that JSON can hold.
    """
    about = {
        "format": FORMAT,
        "encoder": coefficients.encoder,
        "encoder_sha256": coefficients.encoder_sha256,
        "any_sha256": coefficients.any_sha256,
        **record,
    }
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            about=np.array(json.dumps(about)),
            intercept=coefficients.intercept,
            dense=coefficients.dense,
            words=coefficients.words,
        )


def _coefficients(arrays: Any, sha256: str) -> Coefficients:
    """Return the content of a file, if it makes sense."""
    about = json.loads(str(arrays["about"]))
    if about["format"] != FORMAT:
        raise ValueError(f"format {about['format']}; this version reads {FORMAT}")
    found = Coefficients(
        encoder=str(about["encoder"]),
        encoder_sha256=str(about["encoder_sha256"]),
        any_sha256=about["any_sha256"] is True,
        intercept=arrays["intercept"],
        dense=arrays["dense"],
        words=arrays["words"],
        sha256=sha256,
    )
    kinds = tuple(str(a.dtype) for a in (found.intercept, found.dense, found.words))
    shapes = (found.intercept.shape, found.dense.shape[1:], found.words.shape[1:])
    if kinds != ("int32", "int32", "int16") or shapes != ((3,), (3,), (3,)):
        raise ValueError(f"arrays of {kinds} with {shapes}")
    if not len(found.words) or len(found.dense) != 2 * found.width + len(NAMES):
        raise ValueError("the coefficients are not as many as the features")
    return found
