"""The clinicians: how much nearer to the truth peers bring them, beside those without peers.

Centola et al. (2021): clinicians estimate a patient's risk three times, in a network that shows
them their peers' mean, or alone. The law is set on half of the trials, both conditions together,
with no plausibility; what is held back is the difference between the conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies.intervals import Interval, bootstrap
from simulation.studies.networks.measuring import shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.networks.measuring import Shape
    from simulation.studies.networks.panel import FloatArray, Panel

PERCENT: Final = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Changes of the mean absolute error from first to last answer, in percentage points.

    network, control: of those with and without peers.  shapes: of both, network first.
    """

    network: float
    control: float
    shapes: tuple[Shape, Shape]

    @property
    def difference(self) -> float:
        """Network minus control; below 0, peers help."""
        return self.network - self.control


def changes(panel: Panel, last: FloatArray) -> FloatArray:
    """Return the change of each absolute error, (N,), in percentage points. last: (N,)."""
    right = panel.truth[panel.claim]
    return PERCENT * (np.abs(last - right) - np.abs(panel.first - right))


def difference(panel: Panel, rounds: FloatArray) -> Difference:
    """Return what answers show. rounds: (3, N)."""
    kept = panel.scored
    moved = changes(panel, rounds[-1])
    shapes = tuple(
        shape_of(panel.where(side), rounds[:, None, side]) for side in (panel.tied, ~panel.tied)
    )
    return Difference(
        network=float(moved[kept & panel.tied].mean()),
        control=float(moved[kept & ~panel.tied].mean()),
        shapes=(shapes[0], shapes[1]),
    )


def pooled(parts: Sequence[tuple[Panel, FloatArray]]) -> tuple[float, float]:
    """Return network and control over several panels, each with last answers, (N,)."""
    moved = np.concatenate([changes(panel, last)[panel.scored] for panel, last in parts])
    tied = np.concatenate([panel.tied[panel.scored] for panel, _ in parts])
    return float(moved[tied].mean()), float(moved[~tied].mean())


def interval(panel: Panel) -> Interval:
    """Return people's difference with its interval, groups resampled."""
    kept = panel.scored
    values = np.column_stack([changes(panel, panel.last), panel.tied])[kept]

    def statistic(drawn: FloatArray) -> float:
        tied = drawn[:, 1] > 0.0
        if tied.all() or not tied.any():
            return float("nan")
        return float(drawn[tied, 0].mean() - drawn[~tied, 0].mean())

    return bootstrap(values, statistic, clusters=panel.group[kept], purpose="clinicians")


def both_conditions(panel: Panel, halves: Sequence[Panel]) -> bool:
    """Return whether each half of a panel has clinicians with and without peers."""
    return len(panel) > 0 and all(
        (half.tied & half.scored).any() and (~half.tied & half.scored).any() for half in halves
    )
