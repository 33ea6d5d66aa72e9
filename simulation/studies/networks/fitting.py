"""Setting the parameters of a revision on the fitting half, and on nothing else.

The loss is what the targets speak of: the error of the mean of twenty seeds, and how far single
seeds are from people in the share that stays, the variance and the share that moves toward peers.
Parameters are searched by Nelder & Mead (1965) under fixed draws, in turn with the plausibility of
each claim, for which the residuals give a ridge step.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import minimize

from simulation.mind.revision import RevisionParameters
from simulation.studies.networks.law import rehearse, stage
from simulation.studies.networks.measuring import (
    SEEDS_AVERAGED,
    Shape,
    shape_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.networks.law import Stage
    from simulation.studies.networks.panel import BoolArray, FloatArray, Panel

BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "pull": (0.0, 1.0),
    "assent": (0.0, 1.0),
    "fade": (0.0, 1.0),
    "settled": (0.0, 0.5),
    "firm": (0.0, 1.0),
    "steepness": (0.5, 40.0),
    "idle": (0.0, 0.4),
    "caution": (0.0, 12.0),
}
START: Final = RevisionParameters()  # found by trial on the fitting half of the news
SEEDS: Final = tuple(range(10_000, 10_060))  # of the search; none is used for measuring
RIDGE: Final = 20.0  # answers that a claim's plausibility is worth before any is seen
TOLERANCE: Final = 0.05  # of the targets
SHAPE_WEIGHT: Final = 0.06  # a shape off by its tolerance costs 6 % of the error of no change
STEP_WEIGHT: Final = 0.015  # a round's unchanged share off by as much
_STEP: Final = 0.5  # first steps of the search, in log odds within the bounds
_GAIN: Final = (
    0.35  # how far a plausibility moves the last answer, roughly; only speed hangs on it
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """What was set on a panel. plausibility: (C,) by claim.  loss: at the end."""

    parameters: RevisionParameters
    plausibility: FloatArray
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to search: turns between parameters and plausibilities, trials in each; seeds."""

    turns: int = 4
    trials: int = 150
    seeds: Sequence[int] = SEEDS


QUICK: Final = Effort(turns=2, trials=25, seeds=SEEDS[:8])


def fit(panel: Panel, *, claims: str = "learned", effort: Effort | None = None) -> Fitted:
    """Return the parameters that make the law most like a panel's people.

    claims: "none", all claims are as plausible as peers say; "learned", each claim has a
    plausibility, drawn to 0 by `RIDGE`; "truth", drawn to a common value for true and its negative
    for false claims.
    """
    effort = effort or Effort()
    on = stage(panel, effort.seeds)
    people = tuple(shape_of(part, part.answers.T[:, None, :]) for part in parts(panel))
    vector = pack(START)
    plausibility = np.zeros(len(panel.claims))
    loss = np.inf
    for _ in range(effort.turns):
        if claims != "none":
            for _ in range(3):
                plausibility = judged(on, unpack(vector), plausibility, truth=claims == "truth")
        found = minimize(
            lambda x, z=plausibility: loss_of(on, unpack(x), z, people),
            vector,
            method="Nelder-Mead",
            options={
                "maxfev": effort.trials,
                "initial_simplex": np.vstack([vector, vector + _STEP * np.eye(len(vector))]),
                "xatol": 0.01,
                "fatol": 1e-5,
            },
        )
        vector, loss = found.x, float(found.fun)
    return Fitted(parameters=unpack(vector), plausibility=plausibility, loss=loss)


def parts(panel: Panel) -> tuple[Panel, ...]:
    """Return those with peers and those without, as far as there are such."""
    return tuple(panel.where(kept) for kept in (panel.tied, ~panel.tied) if kept.any())


def loss_of(
    on: Stage,
    parameters: RevisionParameters,
    plausibility: FloatArray,
    people: Sequence[Shape],
) -> float:
    """Return the loss; people: the shapes of `parts` of the panel."""
    panel = on.panel
    rounds = np.stack(rehearse(on, parameters, plausibility))
    scored, last = panel.scored, rounds[-1]
    error = (panel.last - last.mean(axis=0))[scored] ** 2
    noise = last.var(axis=0, ddof=1)[scored]
    # the mean over the search's seeds has less noise than that over the twenty of the target
    squared = error.mean() + noise.mean() * (1.0 / SEEDS_AVERAGED - 1.0 / on.seeds)
    total = squared / ((panel.last - panel.first)[scored] ** 2).mean()
    for part, kept, theirs in zip(parts(panel), _masks(panel), people, strict=True):
        ours = shape_of(part, rounds[:, :, kept])
        total += SHAPE_WEIGHT * ours.distance(theirs, TOLERANCE)
        total += STEP_WEIGHT * ours.step_distance(theirs, TOLERANCE)
    return float(total)


def _masks(panel: Panel) -> tuple[BoolArray, ...]:
    return tuple(kept for kept in (panel.tied, ~panel.tied) if kept.any())


def judged(
    on: Stage, parameters: RevisionParameters, plausibility: FloatArray, *, truth: bool
) -> FloatArray:
    """Return plausibilities one ridge step nearer to what the last answers ask for, (C,).

    truth: draw them to a common value, with the sign of each claim's truth, not to 0. A claim that
    nobody here was asked about takes what it is drawn to.
    """
    panel = on.panel
    scored = panel.scored
    error = np.where(scored, panel.last - rehearse(on, parameters, plausibility)[-1].mean(0), 0.0)
    size = np.bincount(panel.claim[scored], minlength=len(plausibility)).astype(np.float64)
    left = np.bincount(panel.claim, weights=error, minlength=len(plausibility))
    prior = np.zeros_like(plausibility)
    if truth:
        sign = np.where(panel.truth > 0.5, 1.0, -1.0)  # noqa: PLR2004 - true or false
        prior = (plausibility * sign)[size > 0].mean() * sign
    step = (left / _GAIN - RIDGE * (plausibility - prior)) / (size + RIDGE)
    return np.where(size > 0, np.clip(plausibility + step, -1.0, 1.0), prior)


def pack(parameters: RevisionParameters) -> FloatArray:
    """Return parameters as log odds within their bounds, (8,)."""
    values = np.array([getattr(parameters, f.name) for f in fields(parameters)])
    low, high = np.array([BOUNDS[f.name] for f in fields(parameters)]).T
    part = np.clip((values - low) / (high - low), 1e-6, 1.0 - 1e-6)
    return np.asarray(np.log(part / (1.0 - part)))


def unpack(vector: FloatArray) -> RevisionParameters:
    """Return parameters from log odds within their bounds."""
    part = 1.0 / (1.0 + np.exp(-np.clip(vector, -30.0, 30.0)))
    names = [f.name for f in fields(RevisionParameters)]
    return RevisionParameters(
        **{
            name: float(BOUNDS[name][0] + (BOUNDS[name][1] - BOUNDS[name][0]) * p)
            for name, p in zip(names, part.tolist(), strict=True)
        }
    )
