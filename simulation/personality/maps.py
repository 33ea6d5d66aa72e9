"""The shipped maps from traits to gains, by name.

    paper      fitted to the anchors that the seed prescribes (method.md 7.8)
    human      fitted to correlations found in people; Big Five only
    reference  no map: everybody has the fixed gains of an uncalibrated run

They are design choices, not a validated model of people. `maps.json` is written by
`simulation study persmem-calibration`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation.errors import UsageError
from simulation.mind import traits

if TYPE_CHECKING:
    from simulation.rng import FloatArray

FILE: Final = Path(__file__).parent / "maps.json"
FORMAT: Final = 1
NAMES: Final = ("paper", "human", "reference")


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Where the gains of a kind of personality can be, and what they are without a map.

    gains: their names.  low, high, reference: one value a gain.
    """

    gains: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    reference: tuple[float, ...]


RANGES: Final = {
    "attachment": Range(
        gains=traits.ATTACHMENT_GAINS,
        low=traits.ATTACHMENT_LOW,
        high=traits.ATTACHMENT_HIGH,
        reference=traits.ATTACHMENT_REFERENCE,
    ),
    "big_five": Range(
        gains=traits.BIG_FIVE_GAINS,
        low=traits.BIG_FIVE_LOW,
        high=traits.BIG_FIVE_HIGH,
        reference=traits.BIG_FIVE_REFERENCE,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GainMap:
    """The coefficients of a fitted map: weights (G, T) and bias (G,)."""

    weights: FloatArray
    bias: FloatArray


def gains(name: str, kind: str, vectors: FloatArray) -> FloatArray:
    """Return the gains of every persona, (A, G), each within its range; G as `RANGES[kind]`.

    name: one of `NAMES`.  kind: `attachment` or `big_five`.  vectors: (A, T) traits in [0, 1].

    Raises:
        UsageError: there is no such map for this kind of personality.
    """
    span = RANGES.get(kind)
    if span is None or name not in available(kind):
        raise UsageError(_missing(name, kind))
    if name == "reference":
        return traits.fixed_gains(span.reference, personas=len(vectors))
    found = gain_map(name, kind)
    low, high = np.array(span.low), np.array(span.high)
    return traits.gains(vectors, found.weights, found.bias, low=low, high=high)


def available(kind: str) -> tuple[str, ...]:
    """Return the names of the maps for a kind of personality; none for `none`."""
    if kind not in RANGES:
        return ()
    maps = _shipped()["maps"]
    return tuple(name for name in NAMES if name == "reference" or kind in maps[name])


def gain_map(name: str, kind: str) -> GainMap:
    """Return the coefficients of a fitted map.

    Raises:
        UsageError: there is no such map for this kind of personality.
    """
    found = _shipped()["maps"].get(name, {}).get(kind)
    if found is None:
        raise UsageError(_missing(name, kind))
    return GainMap(weights=np.array(found["weights"]), bias=np.array(found["bias"]))


def sha256() -> str:
    """Return the SHA-256 of the file of the shipped maps."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()


@cache
def _shipped() -> dict[str, Any]:
    shipped: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return shipped


def _missing(name: str, kind: str) -> str:
    known = ", ".join(available(kind)) or "none"
    return f'there is no map of gains "{name}" for the personality "{kind}"; there are: {known}'
