"""Fitting the map of the paper's size: the start, the objective and the search (method.md 7.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.mind import calibration, traits
from simulation.rng import Streams, stream_keys
from simulation.studies.calibration import measuring
from simulation.studies.calibration.measuring import ATTACHMENT, BIG_FIVE, SEED

if TYPE_CHECKING:
    from simulation.mind.calibration import FloatArray, Found, Objective, SearchSettings
    from simulation.studies.calibration.measuring import Draws, Kind, Targets
    from simulation.studies.calibration.store import Store

# How the target shares of `calibration.attachment_shares` and `big_five_shares` change with each
# trait, gain by gain: mu follows the share of the bias, mu_pos its opposite, kappa_fa that of
# overgeneral recall, tau_BF that of departure. No target speaks of mu_d.
FIRST_SLOPES: Final[dict[str, tuple[tuple[float, ...], ...]]] = {
    ATTACHMENT.name: ((1.0, 0.0), (0.0, 0.0), (0.0, 1.0)),
    BIG_FIVE.name: (
        (0.0, 0.0, -0.5, -0.5, 1.0),
        (0.0, 0.0, 0.5, 0.5, -1.0),
        (0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, -0.5, 0.0, 0.0, 0.5),
        (1.0, 0.0, 0.0, 0.0, 0.0),
    ),
}

# A memory is drawn by score / temperature, so overgeneral recall follows kappa_fa / tau_BF and
# openness, which raises the temperature, must raise kappa_fa in the same proportion. In the middle
# of both ranges that is (middle / range of kappa_fa) * (range / middle of tau_BF) = 0.923.
_ALIKE: Final = (0.6 / 1.2) * (0.48 / 0.26)
SLOPES: Final = FIRST_SLOPES | {
    BIG_FIVE.name: (
        *FIRST_SLOPES[BIG_FIVE.name][:3],
        (_ALIKE, -0.5, 0.0, 0.0, 0.5),
        FIRST_SLOPES[BIG_FIVE.name][4],
    ),
}
_STEEPEST: Final = 0.25  # slope of the logistic in its middle


def start(kind: Kind, *, first: bool = False) -> FloatArray:
    """Return the map that the search starts from, (P,), written as `traits.pack` has it.

    With every trait at 0.5 each gain stands in the middle of its range, and to first order each
    moves through its range as the target of its measure does. No number in it is tuned.

    first: as first written, before openness was taken to raise kappa_fa; kept for the report.
    """
    slopes = FIRST_SLOPES if first else SLOPES
    weights = np.array(slopes[kind.name]) / _STEEPEST
    return traits.pack(weights, -0.5 * weights.sum(axis=1))


def gains(kind: Kind, vector: FloatArray, personality: FloatArray) -> FloatArray:
    """Return the gains that a map gives, (S, G).

    vector: (P,).  personality: (S, T).
    """
    weights, bias = traits.unpack(vector, gains=len(kind.gains), traits=len(kind.traits))
    low, high = np.array(kind.low), np.array(kind.high)
    return traits.gains(personality, weights, bias, low=low, high=high)


def objective(kind: Kind, store: Store, draws: Draws, aims: Targets) -> Objective:
    """Return the function that a search lowers: a map's mean error over the fitted settings."""
    personality = kind.vectors[: kind.fitted]
    fitted = measuring.Targets(
        share=aims.share[: kind.fitted],
        low=aims.low[: kind.fitted],
        high=aims.high[: kind.fitted],
        aim=aims.aim[: kind.fitted],
    )

    def error(vector: FloatArray) -> float:
        found = gains(kind, vector, personality)
        measured = measuring.measure(kind, store, draws, personality=personality, gains=found)
        return float(measuring.errors(measured, fitted).mean())

    return error


def normals(search: SearchSettings, size: int, *, purpose: str, seed: int = SEED) -> FloatArray:
    """Return the normal numbers of a search, (generations, population, size)."""
    key = stream_keys([purpose])[0]
    count = search.generations * search.population * size
    drawn = Streams(seed).normal("calibration:search", tick=0, keys=key, index=np.arange(count))
    return drawn.reshape(search.generations, search.population, size)


def fit(
    kind: Kind,
    store: Store,
    draws: Draws,
    *,
    search: SearchSettings,
    seed: int = SEED,
    first_start: bool = False,
) -> Found:
    """Return the best map that a search meets."""
    aims = measuring.targets(kind, store, draws)
    first = start(kind, first=first_start)
    return calibration.search(
        objective(kind, store, draws, aims),
        first,
        normals(search, len(first), purpose=kind.name, seed=seed),
        settings=search,
    )
