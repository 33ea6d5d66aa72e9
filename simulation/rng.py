"""Named random streams: every draw is a pure function of (seed, purpose, tick, id, index).

No generator has a state, so no draw can depend on the order of execution, on how many other
personas are active, on a place in a file, or on what is logged. Draws for many
personas are made at once by a vectorised keyed hash.

The hash: SHA-256 of "seed|purpose|tick" gives two 64-bit keys; a persona's key is the first
8 bytes of SHA-256 of its id; they and the index are mixed by two rounds of the SplitMix64
finaliser (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators").
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulation.mind import elementary

if TYPE_CHECKING:
    from collections.abc import Iterable

UIntArray = NDArray[np.uint64]
FloatArray = NDArray[np.float64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_INDEX = np.uint64(0xD1B54A32D192ED03)


def sha256_hex(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def stream_keys(stream_ids: Iterable[str]) -> UIntArray:
    """Return one 64-bit key per stream id (a persona id in a run), shape (N,)."""
    digests = b"".join(
        hashlib.sha256(i.encode("utf-8", "surrogatepass")).digest()[:8] for i in stream_ids
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _mix(x: UIntArray) -> UIntArray:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@dataclass(frozen=True, slots=True)
class Streams:
    """All random streams of one seed."""

    seed: int

    def bits(self, purpose: str, *, tick: int, keys: UIntArray, index: ArrayLike = 0) -> UIntArray:
        """Return uniform 64-bit integers, of the broadcast shape of `keys` and `index`."""
        digest = hashlib.sha256(f"{self.seed}|{purpose}|{tick}".encode()).digest()
        first, second = np.frombuffer(digest[:16], dtype="<u8").astype(np.uint64)
        with np.errstate(over="ignore"):  # arithmetic modulo 2**64 is the point
            place = np.asarray(index, dtype=np.uint64) * _INDEX
            mixed = _mix((np.asarray(keys, dtype=np.uint64) ^ first) + _GOLDEN)
            return _mix((mixed ^ second) + place)

    def uniform(
        self, purpose: str, *, tick: int, keys: UIntArray, index: ArrayLike = 0
    ) -> FloatArray:
        """Return draws from U(0, 1), open at both ends, float64.

        keys: `stream_keys` of the ids, any shape.  index: which draw of the stream, >= 0,
        broadcast against `keys`.
        """
        bits = self.bits(purpose, tick=tick, keys=keys, index=index)
        return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52

    def gumbel(
        self, purpose: str, *, tick: int, keys: UIntArray, index: ArrayLike = 0
    ) -> FloatArray:
        """Return standard Gumbel draws: the argmax of utility + gumbel is a logit choice."""
        draws = self.uniform(purpose, tick=tick, keys=keys, index=index)
        return -elementary.log(-elementary.log(draws))

    def normal(
        self, purpose: str, *, tick: int, keys: UIntArray, index: ArrayLike = 0
    ) -> FloatArray:
        """Return standard normal draws (Box & Muller 1958, from two uniforms each)."""
        place = np.asarray(index, dtype=np.uint64) * np.uint64(2)
        radius = self.uniform(purpose, tick=tick, keys=keys, index=place)
        angle = self.uniform(purpose, tick=tick, keys=keys, index=place + np.uint64(1))
        return np.sqrt(-2.0 * elementary.log(radius)) * elementary.cos_of_turns(angle)

    def permutation(self, purpose: str, *, keys: UIntArray, tick: int = 0) -> NDArray[np.int64]:
        """Return a permutation of range(len(keys)): the order of one draw per key."""
        return np.argsort(self.bits(purpose, tick=tick, keys=keys), kind="stable")
