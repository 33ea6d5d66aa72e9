"""What one memory unit does: it accumulates, turns, weighs intensity, settles and lets go.

Shapes: N streams of L observations each. Only `mind.attitude` is used: the formulas of a run.

Source: DAM-LLM, "Memory Unit Validation"; method.md 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from simulation.mind import attitude
from simulation.studies.dam.dialogues import STRENGTHS, sequences

if TYPE_CHECKING:
    from simulation.rng import FloatArray
    from simulation.studies.dam.dialogues import Evidence

IntArray = NDArray[np.int64]

CAP: Final = 12.0  # W_max of method.md 10
UNCAPPED: Final = float("inf")
STREAMS: Final = 200
SETTLED: Final = 15  # observations after which the seed saw convergence
HELD: Final = (5, 15, 50)  # consistent observations before a change of mind
PATIENCE: Final = 200  # opposing observations after which a unit counts as never turning
GOOD: Final = (0.8, 0.1, 0.1)
BAD: Final = (0.1, 0.8, 0.1)
VAGUE: Final = (0.15, 0.15, 0.7)
MIDDLE: Final = sum(STRENGTHS) / 2
_ROUNDING: Final = 1e-9  # a leaning of this size is none
INTENSITIES: Final = (0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Path:
    """Units after each observation: confidence (N, L, 3), weight (N, L)."""

    confidence: FloatArray
    weight: FloatArray

    @property
    def entropy(self) -> FloatArray:
        """Belief entropy, bits, (N, L)."""
        return attitude.entropy(self.confidence)

    @property
    def lean(self) -> FloatArray:
        """Leaning, (N, L), [-1, 1]."""
        return attitude.lean(self.confidence)


def path(polarity: FloatArray, strength: FloatArray, *, cap: float = CAP) -> Path:
    """Return a new unit's way through observations.

    polarity: (N, L, 3).  strength: (N, L).
    """
    confidence, weight = np.zeros_like(polarity), np.zeros_like(strength)
    now, heavy = np.zeros(polarity[:, 0].shape), np.zeros(len(polarity))
    for i in range(strength.shape[1]):
        now, heavy = attitude.update(now, heavy, polarity[:, i], strength[:, i], cap=cap)
        confidence[:, i], weight[:, i] = now, heavy
    return Path(confidence=confidence, weight=weight)


def told(*blocks: tuple[int, tuple[float, float, float], float]) -> Path:
    """Return the way of one unit through blocks of equal observations: count, polarity, strength.

    Each observation of a block is the same, so that nothing but the rule of update is seen.
    """
    polarity = np.concatenate([np.tile(np.array(p), (n, 1)) for n, p, _ in blocks])
    strength = np.concatenate([np.full(n, s) for n, _, s in blocks])
    return path(polarity[None], strength[None])


def accumulation() -> Path:
    """Return the way of a unit that starts undecided and is praised ever again (figure a)."""
    return told((3, VAGUE, MIDDLE), (27, GOOD, MIDDLE))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Turn:
    """Ten praises, ten blames, ten praises: how far single observations move a unit.

    positive: (30,) confidence.  steps: (29,) its changes.  bound: (29,) what the rule allows,
    S / (W + S) times the distance to the evidence.  overwritten: the change where the last word
    replaces what was held.
    """

    path: Path
    positive: FloatArray
    steps: FloatArray
    bound: FloatArray
    overwritten: float


def contradiction() -> Turn:
    """Return the way of a unit whose evidence turns twice (the seed's figure b)."""
    found = told((10, GOOD, MIDDLE), (10, BAD, MIDDLE), (10, GOOD, MIDDLE))
    positive = found.confidence[0, :, 0]
    told_positive = np.array([GOOD[0]] * 10 + [BAD[0]] * 10 + [GOOD[0]] * 10)
    pull = MIDDLE / (found.weight[0, :-1] + MIDDLE)
    return Turn(
        path=found,
        positive=positive,
        steps=np.diff(positive),
        bound=pull * np.abs(told_positive[1:] - positive[:-1]),
        overwritten=GOOD[0] - BAD[0],
    )


def intensity() -> FloatArray:
    """Return how fast praise of each of `INTENSITIES` turns a blamed unit, (5, 20).

    Five blames of middle strength, then 20 praises; positive confidence after each praise.
    """
    ways = [told((5, BAD, MIDDLE), (20, GOOD, s)) for s in INTENSITIES]
    return np.stack([way.confidence[0, 5:, 0] for way in ways])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stability:
    """How streams settle.

    confidence: (N, L) of the leading side.  before, after: mean absolute change per observation
    up to the 15th (from the second on, as the first has nothing to change) and after it.
    away: (N,) the largest distance from the final value from the 15th on.
    """

    confidence: FloatArray
    before: float
    after: float
    away: FloatArray

    @property
    def ratio(self) -> float:
        """Change after the 15th as a share of that before."""
        return self.after / self.before

    @property
    def median_away(self) -> float:
        """Distance of the median stream."""
        return float(np.median(self.away))


def coffee(seed: int, *, streams: int = STREAMS) -> Evidence:
    """Return the streams of thirty observations of coffee (taste): 80 % praise, 20 % blame."""
    return sequences(seed, purpose="coffee", count=streams, leading=0)


def stability(evidence: Evidence) -> Stability:
    """Return how streams settle. What is watched is the confidence that leads at the end."""
    found = path(evidence.polarity, evidence.strength)
    side = attitude.leading(found.confidence[:, -1])
    watched = np.take_along_axis(found.confidence, side[:, None, None], axis=2)[:, :, 0]
    change = np.abs(np.diff(watched, axis=1))
    return Stability(
        confidence=watched,
        before=float(change[:, : SETTLED - 1].mean()),
        after=float(change[:, SETTLED - 1 :].mean()),
        away=np.abs(watched[:, SETTLED - 1 :] - watched[:, -1:]).max(axis=1),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flip:
    """Opposing observations until the sign follows.

    held: consistent observations before.  cap: largest weight.  even: with observations that are
    all alike.  drawn: (N,) with seeded ones; `PATIENCE` + 1 where the sign did not follow.
    """

    held: int
    cap: float
    even: int
    drawn: IntArray


def flips(seed: int, *, streams: int = STREAMS) -> tuple[Flip, ...]:
    """Return how long a true change of mind takes, after each of `HELD`, with and without cap."""
    return tuple(_flip(seed, held, cap, streams) for held in HELD for cap in (CAP, UNCAPPED))


def _flip(seed: int, held: int, cap: float, streams: int) -> Flip:
    length = held + PATIENCE
    given = sequences(seed, purpose="flips", count=streams, length=max(HELD) + PATIENCE, leading=0)
    first = max(HELD) - held  # the latest observations before the change are common to all
    polarity = np.sort(given.polarity[:, first:], axis=2)[:, :, ::-1].copy()  # praise, all of it
    polarity[:, held:] = polarity[:, held:, [1, 0, 2]]
    even = np.repeat(np.array([GOOD, BAD]), (held, PATIENCE), axis=0)[None]
    same = path(even, np.full((1, length), MIDDLE), cap=cap)
    drawn = path(polarity, given.strength[:, first:], cap=cap)
    return Flip(
        held=held,
        cap=cap,
        even=int(_latency(same.lean[:, held:])[0]),
        drawn=_latency(drawn.lean[:, held:]),
    )


def _latency(lean: FloatArray) -> IntArray:
    """Return after how many observations the leaning is below 0 for the first time, (N,)."""
    turned = lean < -_ROUNDING
    return np.asarray(np.where(turned.any(axis=1), turned.argmax(axis=1), lean.shape[1]) + 1)
