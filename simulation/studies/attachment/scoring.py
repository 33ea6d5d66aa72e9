"""How sure the accuracies are: intervals over cues, differences, and permuted profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.rng import Streams, stream_keys
from simulation.studies.attachment import protocol
from simulation.studies.attachment.traces import PROFILES
from simulation.studies.intervals import Interval, bootstrap, permutation_p

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.attachment.bench import Answers

    IntArray = NDArray[np.int64]

DRAWS = 2000
_AT_ONCE = 250  # permutations: arrays stay small


def interval(answers: Answers) -> Interval:
    """Return the accuracy over all seeds, with its interval over resampled clusters."""
    return _resampled(answers.blocks, answers.cluster)


def of_seed(answers: Answers, place: int = 0) -> Interval:
    """Return the accuracy of one seed, with its interval: the source's number of instances."""
    return _resampled(answers.right[place].mean(axis=0), answers.cluster[place])


def difference(first: Answers, second: Answers) -> Interval:
    """Return how much more accurate one is than another, pair by pair, with its interval."""
    return _resampled(first.blocks - second.blocks, first.cluster)


def p_value(answers: Answers, *, permutations: int) -> float:
    """Return how often permuted profiles are met as well.

    The labels of the four profiles that met the same cue and the same numbers are permuted among
    each other, so that the pairing stays (E.2).
    """
    predicted = np.moveaxis(answers.predicted, 1, 2).reshape(-1, len(PROFILES))  # (E * N, P)
    null = []
    for start in range(0, permutations, _AT_ONCE):
        draws = np.arange(start, min(start + _AT_ONCE, permutations))
        keys = stream_keys(f"{i}" for i in draws.tolist())
        numbers = Streams(0).uniform(
            "permuted profiles",
            tick=0,
            keys=keys[:, None],
            index=np.arange(predicted.size),
        )
        labels = numbers.reshape(len(draws), *predicted.shape).argsort(axis=2)
        null.append((labels == predicted).mean(axis=(1, 2)))
    return permutation_p(answers.accuracy, np.concatenate(null))


def main_effects(cells: Mapping[tuple[bool, ...], Answers]) -> list[Interval]:
    """Return the average main effect of each switch, with its interval over resampled clusters.

    cells: by what is switched on.  An effect is the mean difference in accuracy between cells
    that differ in one switch (E.3).
    """
    settings = list(cells)
    blocks = np.stack([cells[setting].blocks for setting in settings], axis=1)
    anyone = next(iter(cells.values()))
    signs = np.where(np.array(settings), 1.0, -1.0) * 2 / len(settings)
    return [
        _resampled(blocks @ signs[:, switch], anyone.cluster) for switch in range(signs.shape[1])
    ]


def lower(gap: Interval) -> bool:
    """Return whether an interval of a difference is above 0."""
    return gap.low > 0.0


def above_chance(p: float) -> bool:
    """Return whether a p value is at most 0.05."""
    return p <= protocol.ALPHA


def _resampled(values: FloatArray, cluster: IntArray) -> Interval:
    """Return the mean of values and its interval; clusters are all of one size.

    So the mean of clusters' means is that of the values.
    """
    order = np.argsort(cluster.ravel(), kind="stable")
    means = values[order].reshape(len(np.unique(cluster)), -1).mean(axis=1)
    return bootstrap(means, _mean, draws=DRAWS, purpose="attachment")


def _mean(values: FloatArray) -> float:
    return float(values.mean())
