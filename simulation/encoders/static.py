"""The encoder that ships: one fixed vector a token, summed. It needs numpy and tokenizers only.

A text's vector is the sum of its tokens' vectors, scaled to length 1. The table already holds
each token's weight (rare words count more; see `distil`), as

    vector of token i  =  multipliers[i] * table[i]        int32 * int8, in a common unit

so that every sum is made of integers. Integer sums have no rounding and no order, and the rest is
one square root and one division, which IEEE 754 rounds correctly. Hence a text has bitwise the
same vector alone or in any batch, on any number of threads and on any machine.
"""

from __future__ import annotations

import hashlib
import io
import json
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from tokenizers import Tokenizer

from simulation.encoders.base import clean, fingerprint, refuse_settings
from simulation.errors import EncoderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simulation.encoders.base import EncoderSpec

FOLDER: Final = Path(__file__).parent / "static_table"
FILES: Final = ("multipliers.npy", "table.npy", "tokenizer.json")
FORMAT: Final = 1
MAX_TOKENS: Final = 512
MAX_MULTIPLIER: Final = 32767
"""127 * MAX_MULTIPLIER * MAX_TOKENS < 2**31: the sum of a text fits an int32."""

_SYMBOLS: Final = frozenset(("So", "Sk", "Me", "Cn", "Co", "Cs"))
_HALF: Final = 16


def build(spec: EncoderSpec) -> StaticEncoder:
    """Return the shipped encoder, or the one in the folder `spec.model`.

    Raises:
        EncoderError: The folder is not a table or is damaged.
        UsageError: A setting makes no sense.
    """
    refuse_settings(spec, "base_url", "api_key")
    return StaticEncoder(FOLDER if spec.model is None else Path(spec.model))


class StaticEncoder:
    """A table of token vectors with the tokenizer that belongs to it."""

    def __init__(self, folder: Path = FOLDER) -> None:
        """Read and check a folder made by `distil`.

        Raises:
            EncoderError: A file is missing, or is not the one that the manifest describes.
        """
        files = _read(folder)
        self._sha256 = fingerprint(_check(folder, files))
        self._tokenizer = Tokenizer.from_str(files["tokenizer.json"].decode())
        self._table: NDArray[np.int8] = _array(files["table.npy"])
        self._multipliers = _array(files["multipliers.npy"]).astype(np.int32)
        self._spaced = _Spaced(self._tokenizer)
        self._name = "static" if folder == FOLDER else f"static:{folder.name}"

    @property
    def name(self) -> str:
        """The shipped table is "static"; another is "static:FOLDER"."""
        return self._name

    @property
    def width(self) -> int:
        """Components of a vector."""
        return int(self._table.shape[1])

    @property
    def sha256(self) -> str:
        """Fingerprint of table, multipliers and tokenizer (see `base.fingerprint`)."""
        return self._sha256

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows, (n, width); see `Encoder.encode`.

        Of each text the first MAX_CHARACTERS characters and of these the first MAX_TOKENS known
        tokens are read.
        """
        sums = np.zeros((len(texts), self.width), dtype=np.int32)
        for row, text in zip(sums, texts, strict=True):
            tokens = self._tokens(text)
            np.matmul(self._multipliers[tokens], self._table[tokens], out=row)
        return _unit(sums)

    def _tokens(self, text: str) -> NDArray[np.int64]:
        """Return the row numbers of the known tokens of a text, at most MAX_TOKENS of them.

        Texts are tokenised one by one: a batch call would be hardly faster on one core, and starts
        a thread pool that a fork of the user's process loses and some versions warn about.
        """
        readable = clean(text)
        if not readable.isascii():
            readable = readable.translate(self._spaced)
        ids = self._tokenizer.encode(readable, add_special_tokens=False).ids
        known = len(self._table)  # the unknown token is the only id beyond the table
        return np.array([i for i in ids if i < known][:MAX_TOKENS], dtype=np.int64)


class _Spaced(dict[int, str]):
    """A `str.translate` table that sets symbols apart which no token can hold.

    The tokenizer makes one unknown token of a whole word with an unknown character in it, so
    "tasty" with an emoji behind it would be lost. Emoji, marks around a letter and characters
    that this Python does not know become spaces; symbols in the vocabulary stay.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Keep the tokenizer to ask it for symbols."""
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, point: int) -> str:
        """Decide once for each code point."""
        character = chr(point)
        unknown = self._tokenizer.token_to_id(character) is None
        apart = unicodedata.category(character) in _SYMBOLS and unknown
        self[point] = " " if apart else character
        return self[point]


def _unit(sums: NDArray[np.int32]) -> NDArray[np.float32]:
    """Scale rows of integers to length 1.

    The sum of squares may pass 2**63, so each number is split into `high * 2**16 + low` and the
    three partial sums, exact in int64, are joined in floating point in a fixed order.
    """
    high = (sums >> _HALF).astype(np.int64)
    low = (sums & ((1 << _HALF) - 1)).astype(np.int64)
    squares = (
        (high * high).sum(axis=1).astype(np.float64) * 2.0 ** (2 * _HALF)
        + (high * low).sum(axis=1).astype(np.float64) * 2.0 ** (_HALF + 1)
        + (low * low).sum(axis=1).astype(np.float64)
    )
    length = np.sqrt(squares)[:, None]
    rows: NDArray[np.float64] = sums / np.where(length > 0.0, length, 1.0)
    return rows.astype(np.float32)


def _read(folder: Path) -> dict[str, bytes]:
    """Read the files of a table."""
    try:
        return {name: (folder / name).read_bytes() for name in (*FILES, "manifest.json")}
    except OSError as error:
        raise EncoderError(f"{folder} holds no table of the static encoder: {error}") from error


def _check(folder: Path, files: Mapping[str, bytes]) -> dict[str, str]:
    """Compare the files with the manifest; return the SHA-256 of each."""
    actual = {name: hashlib.sha256(files[name]).hexdigest() for name in FILES}
    try:
        manifest = json.loads(files["manifest.json"])
        version, expected = manifest["format"], dict(manifest["sha256"])
    except (ValueError, TypeError, KeyError) as error:
        raise EncoderError(f"{folder / 'manifest.json'} cannot be read: {error!r}") from error
    if version != FORMAT:
        raise EncoderError(f"{folder} has table format {version}; this version reads {FORMAT}")
    damaged = [name for name in FILES if expected.get(name) != actual[name]]
    if damaged:
        raise EncoderError(f"{folder} is damaged: {', '.join(damaged)} changed; install again")
    return actual


def _array(content: bytes) -> NDArray[np.int8]:
    """Read one .npy file, never a pickle."""
    array: NDArray[np.int8] = np.load(io.BytesIO(content), allow_pickle=False)
    return array
