"""The redirection gate: how likely a memory that came unasked takes over the search.

Source: PersMem, section 3 ("Active Goal-Driven Memory Retrieval"), C.5 and C.7; method.md 7.5.
The seed states both formulas and the three modes; the constants are the project's, chosen by
trial.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulation.mind import elementary

FloatArray = NDArray[np.float64]

MODES: tuple[str, ...] = ("personality", "neutral", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateParameters:
    """The redirection gate (method.md 7.5)."""

    theta_0: float = 1.6  # threshold of a persona with trait 0, in units of the passive score
    eta: float = 0.4  # how far the trait lowers the threshold, in the same units
    lambda_i: float = 4.0  # steepness: log-odds per unit of score above the threshold
    nu: float = 0.5  # log-odds that full arousal adds


def threshold(trait: FloatArray, *, mode: str, parameters: GateParameters) -> FloatArray:
    """Return theta = theta_0 - eta * trait, any shape; in mode "neutral" theta_0 for all.

    trait: anxiety or neuroticism, in [0, 1].  mode: one of `MODES`. "off" changes the probability
    only, so a threshold logged under it is still the persona's own.

    Raises:
        ValueError: the mode is unknown.
    """
    _check(mode)
    eta = 0.0 if mode == "neutral" else parameters.eta
    return parameters.theta_0 - eta * trait


def probability(
    score: FloatArray,
    threshold: FloatArray,
    arousal: FloatArray,
    *,
    mode: str,
    parameters: GateParameters,
) -> FloatArray:
    """Return I = sigma(lambda_i * (score - threshold) + nu * arousal), in [0, 1]; 0 when off.

    The gate fires where a draw from U(0, 1) is below it.

    score: passive score of the proposed memory.  threshold: of `threshold`.  arousal: of the
    state, in [0, 1]. All of one shape.  mode: one of `MODES`.

    Raises:
        ValueError: the mode is unknown.
    """
    _check(mode)
    if mode == "off":
        return np.zeros(np.shape(score))
    return elementary.logistic(parameters.lambda_i * (score - threshold) + parameters.nu * arousal)


def _check(mode: str) -> None:
    if mode not in MODES:
        raise ValueError(f'gate mode "{mode}" is not one of {", ".join(MODES)}')
