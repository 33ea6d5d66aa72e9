"""What the engine's turn is held against: rules without chance, their constants set on one half.

All see the mean of everybody else of the group, since who saw whom is not recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import minimize_scalar

from simulation.mind import opinion
from simulation.studies.networks.measuring import rmse
from simulation.studies.networks.panel import ROUNDS, others_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.studies.networks.panel import BoolArray, FloatArray, IntArray, Panel

PER_CLAIM: Final = "linear pull and a constant a claim"
CONFIDENCES: Final = tuple(round(0.1 * i, 1) for i in range(1, 11))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Baseline:
    """A rule with its constants. predict: a panel -> last answers, (N,)."""

    name: str
    constants: str
    predict: Callable[[Panel], FloatArray]


def baselines(fitting: Panel, *, ridge: float) -> tuple[Baseline, ...]:
    """Return the baselines, set on a panel.

    ridge: answers that a claim's own constant is worth before any is seen, as for the law.
    """
    weight = _pull(fitting)
    alpha = _best_within(fitting, 1.0)
    bounds = {c: _best_within(fitting, c) for c in CONFIDENCES}
    bound = min(CONFIDENCES, key=lambda c: rmse(_rounds(fitting, bounds[c], c), fitting))
    slope, shifts = _pull_by_claim(fitting, ridge)
    return (
        Baseline(name="no change", constants="", predict=lambda p: p.first),
        Baseline(
            name="linear pull",
            constants=f"weight {weight:.3f}",
            predict=lambda p: p.first + weight * _gap(p),
        ),
        Baseline(
            name=PER_CLAIM,
            constants=f"weight {slope:.3f}",
            predict=lambda p: p.first + slope * _gap(p) + shifts[p.claim],
        ),
        Baseline(
            name="DeGroot",
            constants=f"weight {alpha:.3f} a round",
            predict=lambda p: _rounds(p, alpha, confidence=1.0),
        ),
        Baseline(
            name="bounded confidence",
            constants=f"weight {bounds[bound]:.3f} a round, bound {bound:.1f}",
            predict=lambda p: _rounds(p, bounds[bound], bound),
        ),
    )


def _gap(panel: Panel) -> FloatArray:
    """Return how far the others' mean is, (N,); 0 for those without peers."""
    return np.where(panel.tied, others_mean(panel.first, panel.group) - panel.first, 0.0)


def _pull(panel: Panel) -> float:
    """Return the least-squares weight of the others' mean."""
    kept = panel.scored
    gap, moved = _gap(panel)[kept], (panel.last - panel.first)[kept]
    return float((gap * moved).sum() / max(1e-12, float((gap * gap).sum())))


def _pull_by_claim(panel: Panel, ridge: float) -> tuple[float, FloatArray]:
    """Return the weight and a constant per claim, (C,), drawn to 0 by ridge regression."""
    kept = panel.scored
    dummies = np.eye(len(panel.claims))[panel.claim[kept]]
    design = np.column_stack([_gap(panel)[kept], dummies])
    moved = (panel.last - panel.first)[kept]
    penalty = np.diag([1e-9, *([ridge] * len(panel.claims))])
    found = np.linalg.solve(design.T @ design + penalty, design.T @ moved)
    return float(found[0]), np.asarray(found[1:], dtype=np.float64)


def _rounds(panel: Panel, weight: float, confidence: float) -> FloatArray:
    """Return the last answers when everyone closes a share of the gap to others in each round.

    confidence: others farther than this count for nothing (Hegselmann & Krause 2002); 1 is
    DeGroot (1974).
    """
    now = panel.first
    for _ in range(ROUNDS - 1):
        now = now + weight * np.where(panel.tied, _near_gap(now, panel, confidence), 0.0)
    return now


def _near_gap(now: FloatArray, panel: Panel, confidence: float) -> FloatArray:
    """Return how far the mean of the others within reach is, (N,); 0 without any."""
    if confidence >= 1.0:
        return others_mean(now, panel.group) - now
    members = _members(panel)
    values = np.append(now, np.nan)[members]  # (G, M)
    gap = values[:, None, :] - values[:, :, None]
    heard: BoolArray = opinion.near(values[:, :, None], values[:, None, :], confidence=confidence)
    heard = heard & ~np.eye(members.shape[1], dtype=bool)
    mean = np.where(heard, gap, 0.0).sum(axis=2) / np.maximum(1, heard.sum(axis=2))
    found = np.zeros(len(panel) + 1)
    found[members] = mean
    return found[:-1]


def _members(panel: Panel) -> IntArray:
    """Return the rows of each group, (G, M), filled up with -1."""
    order = np.argsort(panel.group, kind="stable")
    _, start, size = np.unique(panel.group[order], return_index=True, return_counts=True)
    found = np.full((len(start), int(size.max())), -1, dtype=np.int64)
    place = np.arange(len(panel)) - np.repeat(start, size)
    found[np.repeat(np.arange(len(start)), size), place] = order
    return found


def _best_within(panel: Panel, confidence: float) -> float:
    """Return the weight a round of least error under a bound."""
    return _best(lambda weight: rmse(_rounds(panel, weight, confidence), panel))


def _best(loss: Callable[[float], float]) -> float:
    """Return the weight in [0, 1] of least loss."""
    return float(minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded").x)
