"""What is counted: the error of the mean of the seeds, and what single seeds look like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies.intervals import bootstrap
from simulation.studies.networks.panel import others_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.studies.intervals import Interval
    from simulation.studies.networks.panel import FloatArray, Panel

SEEDS_AVERAGED: Final = 20
CALIBRATION_BINS: Final = 5
SHAPE_DRAWS: Final = 1000
ROUNDING: Final = 1e-9  # smaller gaps are none


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How answers change; of several seeds, the mean.

    unchanged: share whose last answer is the first.  variance: of last over first answers.
    toward: share of those changed that moved toward the mean of the others' first answers.
    still: shares unchanged from round 1 to 2 and from 2 to 3.
    """

    unchanged: float
    variance: float
    toward: float
    still: tuple[float, ...]

    def distance(self, other: Shape, unit: float) -> float:
        """Return the sum of squared differences of the three, in units."""
        mine = np.array([self.unchanged, self.variance, self.toward])
        theirs = np.array([other.unchanged, other.variance, other.toward])
        return float((((mine - theirs) / unit) ** 2).sum())

    def step_distance(self, other: Shape, unit: float) -> float:
        """Return the sum of squared differences of `still`, in units."""
        return float((((np.array(self.still) - np.array(other.still)) / unit) ** 2).sum())


def shape_of(panel: Panel, rounds: FloatArray) -> Shape:
    """Return the shape of answers, rows without a last answer of people left out.

    rounds: (3, S, N).  Missing answers in between count in no step.
    """
    kept = panel.scored
    peers = others_mean(panel.first, panel.group)[kept]
    first, last = rounds[0][:, kept], rounds[-1][:, kept]
    moved = last != first
    gap = np.where(np.abs(peers - first) < ROUNDING, 0.0, peers - first)
    toward = moved & (np.sign(last - first) == np.sign(gap))
    share = toward.sum(axis=1) / np.maximum(1, moved.sum(axis=1))
    return Shape(
        unchanged=float(1.0 - moved.mean()),
        variance=float((last.var(axis=1) / np.maximum(first.var(axis=1), 1e-12)).mean()),
        toward=float(share.mean()),
        still=tuple(_still(panel, rounds[i], rounds[i + 1], i) for i in range(len(rounds) - 1)),
    )


def _still(panel: Panel, before: FloatArray, after: FloatArray, step: int) -> float:
    there = ~np.isnan(panel.answers[:, step] + panel.answers[:, step + 1])
    return float((before[:, there] == after[:, there]).mean()) if there.any() else 0.0


def shape_intervals(panel: Panel) -> dict[str, Interval]:
    """Return people's shape with its intervals, networks resampled, by the names of `Shape`."""
    kept = panel.scored
    first, last = panel.first[kept], panel.last[kept]
    peers = others_mean(panel.first, panel.group)[kept]
    gap = np.where(np.abs(peers - first) < ROUNDING, 0.0, peers - first)
    toward = (last != first) & (np.sign(last - first) == np.sign(gap))
    values = np.column_stack([first, last, last != first, toward])
    counted: dict[str, Callable[[FloatArray], float]] = {
        "unchanged": lambda v: float(1.0 - v[:, 2].mean()),
        "variance": lambda v: float(v[:, 1].var() / max(1e-12, float(v[:, 0].var()))),
        "toward": lambda v: float(v[:, 3].sum() / max(1.0, float(v[:, 2].sum()))),
    }
    return {
        name: bootstrap(
            values,
            count,
            clusters=panel.network[kept],
            draws=SHAPE_DRAWS,
            purpose=f"shape {name}",
        )
        for name, count in counted.items()
    }


def rmse(predicted: FloatArray, panel: Panel) -> float:
    """Return the root mean square error of last answers, in units of credence; NaN for none.

    predicted: (N,).
    """
    kept = panel.scored
    if not kept.any():
        return float("nan")
    return float(np.sqrt(((predicted - panel.last)[kept] ** 2).mean()))


def ratio(predicted: FloatArray, against: FloatArray, panel: Panel, *, purpose: str) -> Interval:
    """Return the RMSE of one prediction over that of another, networks resampled."""
    kept = panel.scored
    squares = np.stack([predicted - panel.last, against - panel.last], axis=1)[kept] ** 2
    of = np.searchsorted(panel.networks, panel.network[kept])
    # networks are drawn whole, so their sums are all that a draw needs
    sums = np.stack([np.bincount(of, column) for column in squares.T], axis=1)

    def statistic(values: FloatArray) -> float:
        return float(np.sqrt(values[:, 0].sum() / max(1e-12, float(values[:, 1].sum()))))

    return bootstrap(sums.astype(np.float64), statistic, purpose=purpose)


def calibration(predicted: FloatArray, panel: Panel) -> list[tuple[float, float, float, int]]:
    """Return, by equal bins of the prediction, its mean, people's mean, their sd, and how many."""
    kept = panel.scored
    said, found = predicted[kept], panel.last[kept]
    place = np.minimum((said * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
    return [
        (
            float(said[place == b].mean()),
            float(found[place == b].mean()),
            float(found[place == b].std()),
            int((place == b).sum()),
        )
        for b in range(CALIBRATION_BINS)
        if (place == b).any()
    ]
