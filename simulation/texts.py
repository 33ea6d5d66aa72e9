"""Every text that is ever embedded, once: its id, its digest and its vector as int8.

A vector is kept as `quantised * scale` with integers in [-127, 127]. Besides taking a quarter of
the space this makes every dot product of two texts a sum of integers, which is exact in any order
of addition. So a cosine does not depend on the BLAS, the batch or the machine, and neither does a
ranking made from it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulation.buffers import grown
from simulation.errors import EncoderError
from simulation.words import Wording

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Encode = Callable[[Sequence[str]], NDArray[np.float32]]

_Scalar = TypeVar("_Scalar", bound=np.generic)

_LARGEST = 127  # of an int8 component
_BLOCK = 4096  # vectors quantised at a time
_PAIRS = 1024  # dot products at a time: their vectors stay in the processor's cache
_EXACT_FLOAT32 = 2**24  # float32 holds every integer up to here


class Texts:
    """A table of distinct texts; ids count from 0 in the order of first appearance.

    Example:
        >>> texts = Texts(lambda new: np.ones((len(new), 2), np.float32), width=2)
        >>> texts.intern(["hello", "there", "hello"])
        array([0, 1, 0])
        >>> texts[1]
        'there'
    """

    def __init__(self, encode: Encode, *, width: int) -> None:
        """Start empty.

        encode: n texts to n finite vectors, (n, width).  width: components of a vector, > 0.
        """
        self.width = width
        self._encode = encode
        self._texts: list[str] = []
        self._ids: dict[str, int] = {}
        self._quantised = np.zeros((0, width), np.int8)
        self._scale = np.zeros(0, np.float32)
        self._norm = np.zeros(0, np.float64)
        self._digest = np.zeros((0, 32), np.uint8)
        self._heads: dict[int, IntArray] = {}  # by length: the id of each text's beginning
        self._wording = Wording()  # of the texts up to the last call of `words`
        exact = width * _LARGEST**2 < _EXACT_FLOAT32
        self._exact: type[np.floating[Any]] = np.float32 if exact else np.float64

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._texts)

    def __getitem__(self, text_id: int) -> str:
        """Return a text; "" for -1, which means "none".

        Raises:
            IndexError: there is no such id.
        """
        if text_id < -1:
            raise IndexError(f"text ids count from 0 (-1 is none), not {text_id}")
        return self._texts[text_id] if text_id >= 0 else ""

    def intern(self, texts: Sequence[str]) -> IntArray:
        """Return the id of each text, (n,); new ones are encoded in one call and added.

        Raises:
            EncoderError: the encoder's answer is not one finite vector per text. Nothing is added.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._ids]
        if new:
            self._append(new, *self._quantise(new, self._encode(new)))
        return np.fromiter(map(self._ids.__getitem__, texts), np.int64, count=len(texts))

    def beginnings(self, ids: IntArray, length: int) -> IntArray:
        """Return the ids of the first `length` code points of texts, (n,); -1 for an empty one.

        Beginnings that are new are encoded in one call and added, in the order of `ids`.

        ids: (n,), >= 0.  length: > 0.
        """
        heads = self._heads.get(length, np.zeros(0, np.int64))
        if len(heads) < len(self):
            heads = grown(heads, len(self))  # 0 for one not looked up yet
            self._heads[length] = heads
        new = ids[heads[ids] == 0].tolist()
        if new:
            cut = [self._texts[text][:length] for text in new]
            found = self.intern([head for head in cut if head])
            there = np.array([bool(head) for head in cut])
            heads[new] = np.where(there, 0, -1)
            heads[np.array(new)[there]] = found + 1
        known = heads[ids]
        return np.where(known > 0, known - 1, -1)

    def words(self, ids: IntArray) -> NDArray[np.int32]:
        """Return the content words of texts as numbers, (*ids.shape, L); -1 behind the last.

        Equal numbers are equal stems. A text is read once, when words are first asked for after
        it was added.

        ids: any shape; -1 has no words.

        Raises:
            IndexError: there is no such id.
        """
        return self._worded().of(self._checked(ids))

    def word_counts(self, ids: IntArray) -> IntArray:
        """Return how many words `words` has of each text, of the shape of ids; 0 for -1."""
        return self._worded().count(self._checked(ids))

    def _worded(self) -> Wording:
        self._wording.extend(self._texts[len(self._wording) :])
        return self._wording

    def restore(
        self, texts: Sequence[str], quantised: NDArray[np.int8], scale: NDArray[np.float32]
    ) -> None:
        """Add texts as a run database holds them, in the order of their ids.

        quantised: (n, width).  scale: (n,).  May be called several times, for pieces of the log.

        Raises:
            ValueError: a text occurs twice, or the shapes do not fit.
        """
        if quantised.shape != (len(texts), self.width) or scale.shape != (len(texts),):
            raise ValueError(
                f"{len(texts)} texts need vectors ({len(texts)}, {self.width}), "
                f"not {quantised.shape} with scales {scale.shape}"
            )
        twice = [t for t, n in Counter(texts).items() if n > 1 or t in self._ids]
        if twice:
            raise ValueError(f"a text occurs twice: {twice[0]!r}")
        self._append(list(texts), quantised, scale)

    @property
    def quantised(self) -> NDArray[np.int8]:
        """Integer components in [-127, 127], (M, width); a read-only view."""
        return _view(self._quantised, len(self))

    @property
    def scale(self) -> NDArray[np.float32]:
        """Size of one integer step, (M,), >= 0; a read-only view."""
        return _view(self._scale, len(self))

    def since(self, mark: int) -> slice:
        """Return the ids that were added since the table held `mark` texts."""
        return slice(mark, len(self))

    def sha256(self, ids: IntArray) -> list[str]:
        """Return the SHA-256 of the UTF-8 bytes of each text, (n,), as 64 hexadecimal digits.

        -1 counts as the empty text.
        """
        ids = self._checked(ids)
        digests = np.where((ids >= 0)[:, None], self._digest.take(ids, axis=0), _NO_TEXT)
        digits = digests.tobytes().hex()
        return [digits[at : at + 64] for at in range(0, len(digits), 64)]

    def key(self, ids: IntArray) -> NDArray[np.uint64]:
        """Return one 64-bit key per text: the first 8 bytes, little endian, of its SHA-256.

        It depends on the text alone, so it can key a random stream. ids: any shape; -1 counts as
        the empty text.
        """
        ids = self._checked(ids)
        if not len(self):
            return np.full(ids.shape, _NO_TEXT_KEY, np.uint64)
        keys = self._digest.view("<u8")[:, 0].take(ids, mode="clip")
        return np.where(ids >= 0, keys, _NO_TEXT_KEY).astype(np.uint64)

    def cosine(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return cosines in [-1, 1] (up to rounding), of the broadcast shape of both.

        Exact up to two square roots, a product and a division in float64:
        dot / (sqrt(dot(left, left)) * sqrt(dot(right, right))) over the integer components. 0
        where either id is -1 or its vector is zero.

        Raises:
            IndexError: there is no such id.
        """
        left, right = np.broadcast_arrays(self._checked(left), self._checked(right))
        cosine = np.zeros(left.shape)
        if not cosine.size or not len(self):
            return cosine
        norm = self._norm.take(left, mode="clip") * self._norm.take(right, mode="clip")
        some = (left >= 0) & (right >= 0) & (norm > 0)
        np.divide(self._dot(left, right), norm, out=cosine, where=some)
        return cosine

    def _dot(self, left: IntArray, right: IntArray) -> NDArray[np.floating[Any]]:
        """Return exact dot products of two arrays of ids of one shape; -1 gives any number."""
        if _repeats(left) and not _repeats(right):
            left, right = right, left
        row = left.shape[-1] if _repeats(right) else 1
        lefts, rights = left.reshape(-1, row), right.reshape(-1, row)[:, :1]
        dots = np.empty((*lefts.shape, 1), self._exact)
        columns = min(row, _PAIRS)
        rows = max(1, _PAIRS // columns)
        for r in range(0, len(lefts), rows):
            query = self._exactly(rights[r : r + rows]).transpose(0, 2, 1)
            for c in range(0, row, columns):
                tile = (slice(r, r + rows), slice(c, c + columns))
                np.matmul(self._exactly(lefts[tile]), query, out=dots[tile])
        return dots.reshape(left.shape)

    def _exactly(self, ids: IntArray) -> NDArray[np.floating[Any]]:
        """Return integer vectors, (*ids.shape, width), in a type that adds them exactly."""
        return self._quantised.take(ids, axis=0, mode="clip").astype(self._exact)

    def _checked(self, ids: IntArray) -> IntArray:
        """Return ids as an array, if they exist."""
        ids = np.asarray(ids)
        if ids.size and (ids.max() >= len(self) or ids.min() < -1):
            raise IndexError(f"a text id lies outside -1..{len(self) - 1}")
        return ids

    def _quantise(
        self, texts: Sequence[str], vectors: NDArray[np.float32]
    ) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Return integers (n, width) and scales (n,) of an encoder's answer."""
        vectors = np.asarray(vectors, np.float32)
        if vectors.shape != (len(texts), self.width):
            raise EncoderError(
                f"the encoder gave {vectors.shape} for {len(texts)} texts; "
                f"({len(texts)}, {self.width}) is expected"
            )
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            raise EncoderError(
                f"the encoder gave a NaN or infinite vector for {texts[int(finite.argmin())]!r}"
            )
        quantised = np.empty(vectors.shape, np.int8)
        scale = np.empty(len(vectors), np.float32)
        for block in _blocks(len(vectors)):
            quantised[block], scale[block] = _integers(vectors[block])
        return quantised, scale

    def _append(
        self, new: list[str], quantised: NDArray[np.int8], scale: NDArray[np.float32]
    ) -> None:
        start, end = len(self), len(self) + len(new)
        digests = b"".join(_digest(text) for text in new)
        self._quantised = grown(self._quantised, end)
        self._scale = grown(self._scale, end)
        self._norm = grown(self._norm, end)
        self._digest = grown(self._digest, end)
        self._quantised[start:end] = quantised
        self._scale[start:end] = scale
        for block in _blocks(len(new)):
            whole = quantised[block].astype(np.int64)
            self._norm[start:end][block] = np.sqrt((whole * whole).sum(axis=1))
        self._digest[start:end] = np.frombuffer(digests, np.uint8).reshape(-1, 32)
        self._texts.extend(new)
        self._ids.update(zip(new, range(start, end), strict=True))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


_NO_TEXT = np.frombuffer(_digest(""), np.uint8)
_NO_TEXT_KEY = _NO_TEXT[:8].view("<u8").astype(np.uint64)[0]


def _blocks(length: int) -> Iterator[slice]:
    """Return slices that cover range(length), so that temporary arrays stay small."""
    return (slice(start, start + _BLOCK) for start in range(0, length, _BLOCK))


def _integers(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return rint(vector / scale) with scale = max|vector| / 127; a zero vector has scale 0."""
    scale = np.asarray(np.abs(vectors).max(axis=1) / np.float32(_LARGEST), np.float32)
    scale[scale < np.finfo(np.float32).tiny] = 0  # too small to divide by
    step = np.where(scale > 0, scale, np.float32(np.inf))[:, None]
    whole = np.rint(vectors / step)
    return np.clip(whole, -_LARGEST, _LARGEST).astype(np.int8), scale


def _view(array: NDArray[_Scalar], length: int) -> NDArray[_Scalar]:
    view = array[:length]
    view.flags.writeable = False
    return view


def _repeats(ids: IntArray) -> bool:
    """Return whether one id stands all along the last axis (it was broadcast)."""
    return ids.ndim > 0 and ids.strides[-1] == 0
