"""An encoder of character n-grams by TF-IDF, which needs no model: numpy alone.

For checks of a run that should depend on no trained vectors (PersMem, seed F.6). Words in lower
case, with a space at either end, are cut into all pieces of 3 and 4 characters; a piece is hashed
to a component and a sign by CRC-32 (Weinberger et al. 2009); its weight is

    root of its count in the text  ·  inverse document frequency of its component

The inverse document frequencies ship as a small table of integers, made by `document_weights` from
the word order of the static encoder's vocabulary, since a text's vector must not depend on what
other texts there are. Weights are integers, so that a text has bitwise the same vector alone or
in any batch, on any machine.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.encoders.base import clean, fingerprint, refuse_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from simulation.encoders.base import EncoderSpec

TABLE: Final = Path(__file__).parent / "ngram_weights.npy"
WIDTH: Final = 1024
SIZES: Final = (3, 4)
"""Characters of a piece; a word of one letter with its two spaces is one piece of three."""
STEPS: Final = 1024
"""Steps in 1 of a weight."""
WORDS_A_TEXT: Final = 40
"""Words of the typical text for which document frequencies are reckoned."""

_WORD: Final = re.compile(r"[^\W_]+")
_LONGEST: Final = 40  # characters of a word: a link or a scream is cut

Pieces = tuple[tuple[int, int], ...]


def build(spec: EncoderSpec) -> NgramEncoder:
    """Return the encoder; it has no settings.

    Raises:
        UsageError: A setting is given.
    """
    refuse_settings(spec, "model", "base_url", "api_key", "batch_size")
    return NgramEncoder()


class NgramEncoder:
    """Hashed character n-grams, weighted by TF-IDF."""

    def __init__(self) -> None:
        """Read the table of document weights."""
        content = TABLE.read_bytes()
        self._weights: NDArray[np.int64] = np.load(TABLE, allow_pickle=False).astype(np.int64)
        how = f"crc32 {SIZES} {_LONGEST} {_WORD.pattern} sqrt {STEPS}"
        self._sha256 = fingerprint(
            {
                TABLE.name: hashlib.sha256(content).hexdigest(),
                "method": hashlib.sha256(how.encode()).hexdigest(),
            }
        )

    @property
    def name(self) -> str:
        """The encoder as a run records it, "ngram"."""
        return "ngram"

    @property
    def width(self) -> int:
        """Components of a vector."""
        return len(self._weights)

    @property
    def sha256(self) -> str:
        """Fingerprint of the table of weights and of the constants."""
        return self._sha256

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows, (n, width); see `Encoder.encode`.

        Of each text the first MAX_CHARACTERS characters are read.
        """
        sums = np.zeros((len(texts), self.width), dtype=np.int64)
        for row, text in zip(sums, texts, strict=True):
            counts = Counter(piece for word in _words(clean(text)) for piece in pieces(word))
            if counts:
                found = np.array(list(counts), dtype=np.int64)
                often = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
                heavy = np.rint(np.sqrt(often) * self._weights[found[:, 0]]).astype(np.int64)
                np.add.at(row, found[:, 0], found[:, 1] * heavy)
        length = np.sqrt((sums * sums).sum(axis=1))[:, None]
        unit: NDArray[np.float64] = sums / np.where(length > 0.0, length, 1.0)
        return unit.astype(np.float32)


@lru_cache(maxsize=2**16)
def pieces(word: str) -> Pieces:
    """Return component and sign of each piece of a word in lower case."""
    spaced = f" {word[:_LONGEST]} "
    hashes = (
        zlib.crc32(spaced[start : start + size].encode())
        for size in SIZES
        for start in range(len(spaced) - size + 1)
    )
    return tuple((h % WIDTH, 1 - 2 * (h >> 31)) for h in hashes)


def document_weights(words: Sequence[str]) -> NDArray[np.int16]:
    """Return the inverse document frequency of each component in STEPS, (WIDTH,).

    A word's probability follows Zipf, p proportional to 1 / (2 + place); a component's is the sum
    over the words that have a piece in it. The share of texts of WORDS_A_TEXT words with it is
    f = 1 - (1 - p)^WORDS_A_TEXT, its weight -ln f, and at least one step.

    Args:
        words: Distinct words in lower case by falling frequency.
    """
    probability = 1.0 / (2.0 + np.arange(len(words)))
    probability /= probability.sum()
    mass = np.zeros(WIDTH)
    for word, p in zip(words, probability, strict=True):
        mass[_components(pieces(word))] += p
    share: NDArray[np.float64] = -np.expm1(
        WORDS_A_TEXT * np.log1p(-np.clip(mass, probability.min(), 0.999))
    )
    steps: NDArray[np.int16] = np.maximum(np.rint(-np.log(share) * STEPS), 1).astype(np.int16)
    return steps


def _components(found: Pieces) -> list[int]:
    """Return the distinct components of pieces, in order."""
    return sorted({component for component, _ in found})


def _words(text: str) -> Iterable[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())
