"""Fitting the map from traits to gains: what is measured, what is aimed at, how it is searched.

Nothing here draws at random: the caller hands in the normal numbers of the search and the
memories that were sampled. Shapes: S settings (personalities), C cues, K memories of the
calibration store, L draws a cue, M measures.

Source: PersMem, C.8, D.3 and F.5; method.md 7.8. The seed states the search, the measures' roles
and the anchors; the forms of the targets are the project's reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Objective = Callable[[FloatArray], float]

ATTACHMENT_MEASURES = ("pcb", "ogm")
BIG_FIVE_MEASURES = ("pcb", "ogm", "sdr")

# Settings in the order O, C, E, A, N: seven are fitted (D.3), the eighth only reported.
BIG_FIVE_ANCHORS: dict[str, tuple[float, ...]] = {
    "neutral": (0.5, 0.5, 0.5, 0.5, 0.5),
    "high_neuroticism": (0.5, 0.5, 0.5, 0.5, 0.85),
    "high_extraversion": (0.5, 0.5, 0.85, 0.5, 0.5),
    "high_conscientiousness": (0.5, 0.85, 0.5, 0.5, 0.5),
    "low_conscientiousness": (0.5, 0.15, 0.5, 0.5, 0.5),
    "high_agreeableness": (0.5, 0.5, 0.5, 0.85, 0.5),
    "high_openness": (0.85, 0.5, 0.5, 0.5, 0.5),
}
BIG_FIVE_UNFITTED: dict[str, tuple[float, ...]] = {"low_openness": (0.15, 0.5, 0.5, 0.5, 0.5)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """A Gaussian evolution strategy (method.md 7.8)."""

    generations: int  # >= 0
    population: int  # candidates of a generation, >= 1
    elites: int  # the best of them, which the next generation is drawn around, >= 1
    scale: float = 0.5  # standard deviation of the first generation, > 0
    least: float = 0.01  # no coordinate's standard deviation falls below it, >= 0

    def __post_init__(self) -> None:
        """Refuse a search that has no elites, or more than candidates."""
        if not 1 <= self.elites <= self.population:
            raise ValueError(f"{self.elites} elites of {self.population} candidates: impossible")


ATTACHMENT_SEARCH = SearchSettings(generations=25, population=12, elites=5)
BIG_FIVE_SEARCH = SearchSettings(generations=15, population=10, elites=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found.

    vector: (P,) the best vector that was tried.  error: its objective.
    history: (G + 1,) the lowest objective so far: of the start, then after each generation.
    """

    vector: FloatArray
    error: float
    history: FloatArray


def search(
    objective: Objective, start: FloatArray, normal: FloatArray, *, settings: SearchSettings
) -> Found:
    """Return the best vector that a Gaussian evolution strategy meets.

    Each generation stands at centre + spread * normal; its elites' mean and standard deviation
    (at least `settings.least`, coordinate by coordinate) are the next centre and spread. The best
    vector ever tried is restored, not the last centre. Of equal objectives the earlier wins.
    The start is tried too (a reading: the seed reports the objective before the fit), so that a
    search never returns anything worse.

    objective: a vector (P,) to a number, lower is better; it must be a pure function, so that all
    candidates meet the same random numbers.  start: (P,) the first centre.
    normal: (generations, population, P) standard normal numbers.

    Raises:
        ValueError: `normal` has another shape, or the objective returned NaN.
    """
    shape = (settings.generations, settings.population, len(start))
    if normal.shape != shape:
        raise ValueError(f"the search needs normal numbers of shape {shape}, not {normal.shape}")
    centre, spread = start, np.full(start.shape, settings.scale)
    best, lowest = start, _tried(objective, start)
    history = [lowest]
    for generation in normal:
        candidates = centre + spread * generation
        error = np.array([_tried(objective, candidate) for candidate in candidates])
        order = np.argsort(error, kind="stable")
        if error[order[0]] < lowest:
            best, lowest = candidates[order[0]], float(error[order[0]])
        elite = candidates[order[: settings.elites]]
        centre, spread = elite.mean(axis=0), np.maximum(elite.std(axis=0), settings.least)
        history.append(lowest)
    return Found(vector=best.copy(), error=lowest, history=np.array(history))


def _tried(objective: Objective, vector: FloatArray) -> float:
    error = float(objective(vector))
    if np.isnan(error):
        raise ValueError("the objective is not a number for a candidate of the search")
    return error


def personality_bias(score: FloatArray, valence: FloatArray, *, best: int = 3) -> FloatArray:
    """Return PCB, (S,), in [0, 1]: how bad the memories are that rank first.

    The mean of [-valence]+ over the `best` passive scores, averaged over cues. Of equal scores the
    lower index ranks first.

    score: (S, C, K).  valence: (K,) in [-1, 1].  best: >= 1; of fewer memories all count.
    Source: C.8, Eq. 12.
    """
    rank = np.argsort(-score, axis=-1, kind="stable")[..., :best]
    return np.asarray(np.maximum(-valence, 0.0)[rank].mean(axis=(1, 2)))


def overgeneral_rate(drawn: IntArray, overgeneral: BoolArray) -> FloatArray:
    """Return OGM, (S,), in [0, 1]: the share of overgeneral memories among those sampled.

    drawn: (S, C, L) indices of the memories sampled for each cue.  overgeneral: (K,).
    Source: C.8, Eq. 12.
    """
    return np.asarray(overgeneral[drawn].mean(axis=(1, 2), dtype=np.float64))


def semantic_departure(drawn: IntArray, semantic: FloatArray, *, nearest: int = 3) -> FloatArray:
    """Return SDR, (S,), in [0, 1]: the share sampled from outside the nearest to the cue.

    Of equal similarities the lower index is nearer.

    drawn: (S, C, L) indices of the memories sampled for each cue.  semantic: (C, K) similarity of
    cue and memory.  nearest: how many memories count as near, >= 0.  Source: D.3.
    """
    rank = np.argsort(-semantic, axis=-1, kind="stable")[:, :nearest]
    far = np.ones(semantic.shape, np.bool_)
    np.put_along_axis(far, rank, values=False, axis=-1)
    cue = np.arange(len(semantic))[None, :, None]
    return np.asarray(far[cue, drawn].mean(axis=(1, 2), dtype=np.float64))


def attachment_shares(personality: FloatArray) -> FloatArray:
    """Return where in its range each measure should be, (S, 2) as `ATTACHMENT_MEASURES`, [0, 1].

    PCB by anxiety, OGM by avoidance.  personality: (S, 2) anxiety and avoidance.
    """
    return personality.copy()


def big_five_shares(personality: FloatArray) -> FloatArray:
    """Return where in its range each measure should be, (S, 3) as `BIG_FIVE_MEASURES`, [0, 1].

    PCB by .5 + (N - .5) - ((E + A) / 2 - .5), OGM by .5 + (N - C) / 2, both clipped; SDR by O.
    personality: (S, 5) in the order O, C, E, A, N.
    """
    openness, conscientiousness, extraversion, agreeableness, neuroticism = personality.T
    bias = 0.5 + (neuroticism - 0.5) - (0.5 * (extraversion + agreeableness) - 0.5)
    overgeneral = 0.5 + 0.5 * (neuroticism - conscientiousness)
    return np.asarray(np.clip(np.stack([bias, overgeneral, openness], axis=-1), 0.0, 1.0))


def measured_range(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper of two measurements, each (S, M).

    one, other: (S, M) the measures under the two direct gain settings. Which of them is the lower
    depends on the anchor: an extravert's bias falls where all gains are high.
    """
    return np.minimum(one, other), np.maximum(one, other)


def target(
    share: FloatArray, *, low: FloatArray, high: FloatArray, margin: float = 0.01
) -> FloatArray:
    """Return U(share) = low + (high - low) * share, kept `margin` inside the range, (S, M).

    A range narrower than two margins has its middle as the only target.

    share: (S, M) in [0, 1].  low, high: (S, M) of `measured_range`.
    """
    aim = low + (high - low) * share
    inset = np.minimum(margin, 0.5 * (high - low))
    return np.clip(aim, low + inset, high - inset)


def setting_error(
    measured: FloatArray, target: FloatArray, *, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the error of each setting, (S,), >= 0: the mean of |measured - target| / range.

    The reported error of a map is the mean of this over settings.

    measured, target, low, high: (S, M).

    Raises:
        ValueError: a measure has the same value at both ends of its range, so that no gain can
            move it and no error can be told.
    """
    span = high - low
    if not (span > 0.0).all():
        setting, measure = (int(place) for place in np.argwhere(~(span > 0.0))[0])
        raise ValueError(f"measure {measure} of setting {setting} does not move with the gains")
    return np.asarray((np.abs(measured - target) / span).mean(axis=-1))
