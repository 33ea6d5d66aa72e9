"""Nearest centroids, each fold preprocessed by its training instances alone.

Features that are constant among the training instances are left out, the others standardised by
their mean and deviation; then the held-out instance goes to the nearest class centroid. All of
that commutes with sums, so that every fold follows from class totals less what is held out.

Shapes: N instances, D features, F folds, C classes.

Source: PersMem, E.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.rng import Streams, stream_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.rng import FloatArray

    IntArray = NDArray[np.int64]

CONSTANT: Final = 1e-9
"""A feature is constant if its training values lie closer together than this."""
TIE: Final = 1e-9
"""Squared distances that differ by less than this part are equal: sums round differently."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Folds:
    """Instances, which are held out together, and the scale of each fold.

    features: (N, D).  fold: (N,) in which each is held out.  scale: (F, D) one by the deviation of
    the training instances, 0 for a constant feature.
    """

    features: FloatArray
    fold: IntArray
    scale: FloatArray

    @classmethod
    def of(cls, features: FloatArray, fold: IntArray) -> Folds:
        """Return folds with their scales.

        features: (N, D).  fold: (N,) from 0 to F - 1; two folds at least.
        """
        scale = np.stack(
            [_scale(features[fold != held]) for held in range(int(fold.max(initial=0)) + 1)]
        )
        return cls(features=features, fold=fold, scale=scale)

    def predict(self, labels: IntArray, classes: int) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return the class of each held-out instance, (N,), and whether it was a tie.

        Of equally near centroids the first class is taken. A class without a training instance
        is never near.
        labels: (N,) from 0 to classes - 1.
        """
        member = np.eye(classes)[labels]
        held = np.eye(len(self.scale))[self.fold]
        out = np.einsum("nf,nc,nd->fcd", held, member, self.features, optimize=True)
        count = member.sum(axis=0) - held.T @ member
        total = member.T @ self.features
        with np.errstate(invalid="ignore", divide="ignore"):
            centroid = (total - out) / count[:, :, None]
        apart = (self.features[:, None] - centroid[self.fold]) * self.scale[self.fold][:, None]
        square = np.where(count[self.fold] > 0, (apart**2).sum(axis=2), np.inf)
        near = square <= square.min(axis=1, keepdims=True) * (1.0 + TIE) + TIE
        return near.argmax(axis=1), near.sum(axis=1) > 1


def shuffled(labels: IntArray, blocks: IntArray, *, draws: int, seed: int) -> IntArray:
    """Return labels permuted within blocks, (draws, N): a null that keeps the pairs.

    labels, blocks: (N,).
    """
    place = np.arange(len(labels))
    uniform = Streams(seed).uniform(
        "attachment-trace:permutation",
        tick=0,
        keys=stream_keys(str(i) for i in range(draws))[:, None],
        index=place,
    )
    home = np.argsort(blocks, kind="stable")
    order = np.lexsort((uniform, np.broadcast_to(blocks, uniform.shape)), axis=1)
    result = np.empty(uniform.shape, np.int64)
    result[:, home] = labels[order]
    return result


def _scale(training: FloatArray) -> FloatArray:
    varies = np.ptp(training, axis=0) > CONSTANT
    deviation = np.where(varies, training.std(axis=0), 1.0)
    return np.asarray(np.where(varies, 1.0 / deviation, 0.0))
