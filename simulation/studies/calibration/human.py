"""A map of the size that is found in people: constant gains, fitted to correlations.

In people the links of traits and recall are far smaller than those that the anchors ask for, and
overgeneral recall is not linked to traits at all. So this map has no weights: the traits act
through the relation terms alone; the overgeneral term is off, because people show no such link,
and so is the dominance term, of which no figure speaks; the temperature is that of an uncalibrated
run. What is left, the biases of mu and mu_pos, is fitted by least squares to three correlations of
people's traits with the mean valence of two memories that they chose freely.

The figures are those of 384 people (Tomita, Barense & Honey 2021, public data; traits by the
mini-IPIP). The simulated people are drawn with the joint structure of real personalities and
recall two memories each, to equally likely cues, from the store all of them share; the
correlation is that of the population, computed from the probabilities and not from draws.

Shapes: P people, C cues, K memories of the store, H candidates of a draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.mind import calibration, elementary, traits
from simulation.personality import joint
from simulation.personality.figures import FIGURES
from simulation.rng import Streams, stream_keys
from simulation.studies.calibration import fitting, measuring
from simulation.studies.calibration.measuring import BIG_FIVE, PARAMETERS, SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.mind.calibration import FloatArray, Found, SearchSettings
    from simulation.studies.calibration.store import Store

SOURCE: Final = (
    "Tomita, Barense & Honey 2021, public data: 384 people, free choice, mean valence of two "
    "autobiographical memories, mini-IPIP traits"
)
RECALLS: Final = 2  # memories whose mean valence the figures are about
OFF: Final = -40.0  # a bias at which a gain is at the low end of its range
PEOPLE: Final = 384  # as many as the figures are about


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A correlation in people: of a trait and what is recalled. low, high: a 95 % interval."""

    trait: str
    recalled: str
    value: float
    low: float
    high: float
    fitted: bool


# The last two are a bound: no proxy of overgeneral recall went beyond it for any trait.
FIGURES_OF_PEOPLE: Final = (
    Figure(
        trait="neuroticism", recalled="valence", value=-0.249, low=-0.340, high=-0.152, fitted=True
    ),
    Figure(
        trait="extraversion", recalled="valence", value=0.076, low=-0.024, high=0.175, fitted=True
    ),
    Figure(
        trait="agreeableness", recalled="valence", value=0.036, low=-0.064, high=0.136, fitted=True
    ),
    Figure(
        trait="conscientiousness",
        recalled="overgeneral",
        value=0.0,
        low=-0.061,
        high=0.061,
        fitted=False,
    ),
    Figure(
        trait="neuroticism",
        recalled="overgeneral",
        value=0.0,
        low=-0.061,
        high=0.061,
        fitted=False,
    ),
)


def people(count: int = PEOPLE) -> FloatArray:
    """Return Big Five vectors with the joint structure of real people, (P, 5)."""
    keys = stream_keys(f"calibration-{i}" for i in range(count))
    return joint.draw(FIGURES["big_five"], BIG_FIVE.traits, streams=Streams(SEED), keys=keys)


def correlations(store: Store, personality: FloatArray, gains: FloatArray) -> FloatArray:
    """Return the correlations of `FIGURES_OF_PEOPLE`, (F,), in [-1, 1].

    personality: (P, 5).  gains: (P, 5), each one's own.
    """
    chance, place = probabilities(store, personality, gains)
    of = {"valence": store.affect[:, 0], "overgeneral": store.overgeneral.astype(np.float64)}
    moments = {name: _moments(chance, value[place]) for name, value in of.items()}
    return np.array(
        [
            _correlation(personality[:, BIG_FIVE.traits.index(f.trait)], *moments[f.recalled])
            for f in FIGURES_OF_PEOPLE
        ]
    )


def probabilities(
    store: Store, personality: FloatArray, gains: FloatArray
) -> tuple[FloatArray, calibration.IntArray]:
    """Return how likely each candidate is for each cue, and which memory it is, (P, C, H) both.

    As in a run, the candidates are the best scores.
    """
    score = measuring.scores(BIG_FIVE, store, personality=personality, gains=gains)
    place = np.argsort(-score, axis=-1, kind="stable")[..., : PARAMETERS.candidates]
    best = np.take_along_axis(score, place, axis=-1)
    heat = measuring.temperatures(BIG_FIVE, gains)[:, None, None]
    weight = elementary.exp((best - best[..., :1]) / heat)
    return weight / weight.sum(axis=-1, keepdims=True), place


def _moments(chance: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of one recall of each person, (P,) both.

    chance, value: (P, C, H).
    """
    mean = (chance * value).sum(axis=-1).mean(axis=-1)
    square = (chance * value * value).sum(axis=-1).mean(axis=-1)
    return mean, square - mean * mean


def _correlation(trait: FloatArray, mean: FloatArray, variance: FloatArray) -> float:
    """Return the correlation of a trait and the mean of `RECALLS` independent recalls."""
    together = float(((trait - trait.mean()) * (mean - mean.mean())).mean())
    spread = float(mean.var() + variance.mean() / RECALLS)
    return together / float(np.sqrt(trait.var() * spread))


def whole(biases: FloatArray) -> FloatArray:
    """Return the map with these biases of mu and mu_pos as one vector, (30,)."""
    weights = np.zeros((len(BIG_FIVE.gains), len(BIG_FIVE.traits)))
    low, high, reference = BIG_FIVE.low[-1], BIG_FIVE.high[-1], BIG_FIVE.reference[-1]
    share = (reference - low) / (high - low)
    heat = float(elementary.log(share / (1.0 - share)))
    return traits.pack(weights, np.array([*biases, OFF, OFF, heat]))


def objective(store: Store, personality: FloatArray) -> Callable[[FloatArray], float]:
    """Return the mean squared distance of the fitted correlations from people's, of two biases."""
    fitted = np.array([figure.fitted for figure in FIGURES_OF_PEOPLE])
    aim = np.array([figure.value for figure in FIGURES_OF_PEOPLE])

    def error(biases: FloatArray) -> float:
        gains = fitting.gains(BIG_FIVE, whole(biases), personality)
        found = correlations(store, personality, gains)
        return float(np.square(found - aim)[fitted].mean())

    return error


def fit(
    store: Store, *, search: SearchSettings = calibration.ATTACHMENT_SEARCH, count: int = PEOPLE
) -> Found:
    """Return the best biases (2,) that a search from the middle of both ranges meets."""
    start = np.zeros(2)
    return calibration.search(
        objective(store, people(count)),
        start,
        fitting.normals(search, len(start), purpose="human"),
        settings=search,
    )
