"""The classifiers: nearest centroid, and multinomial logistic regression with a ridge.

Constant features are dropped and the others standardised with the training instances alone. Once
fitted, a classifier is frozen: it is a mean, a scale and a matrix, that any instances are put to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.rng import FloatArray

    IntArray = NDArray[np.int64]

CENTROID: Final = 0.0
"""The ridge that stands for the nearest centroid, which has none."""
CONSTANT: Final = 1e-9
"""A feature whose standard deviation is not above this is constant."""
_ROUNDS: Final = 100
_HELD: Final = 1e-6
_SHORTEST: Final = 1e-6
_ENOUGH: Final = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classifier:
    """A fitted classifier: scores are linear in the standardised features.

    kept: (F,) which features are used.  mean, scale: (F',) of those.  weights: (F', L).
    bias: (L,).
    """

    kept: NDArray[np.bool_]
    mean: FloatArray
    scale: FloatArray
    weights: FloatArray
    bias: FloatArray

    def scores(self, features: FloatArray) -> FloatArray:
        """Return a score for each label, (N, L); the highest wins. features: (N, F)."""
        return self._standardised(features) @ self.weights + self.bias

    def predict(self, features: FloatArray) -> IntArray:
        """Return labels, (N,); of equal scores the first label's wins."""
        found: IntArray = self.scores(features).argmax(axis=1)
        return found

    def _standardised(self, features: FloatArray) -> FloatArray:
        return (features[:, self.kept] - self.mean) / self.scale


def fit(features: FloatArray, labels: IntArray, *, ridge: float) -> Classifier:
    """Return a classifier fitted to instances.

    features: (N, F).  labels: (N,) from 0, each at least once.  ridge: weight of the squared
    coefficients beside the summed log-likelihood; `CENTROID` for the nearest centroid.
    """
    deviation = features.std(axis=0)
    kept = deviation > CONSTANT
    mean, scale = features[:, kept].mean(axis=0), deviation[kept]
    standard = (features[:, kept] - mean) / scale
    one_hot = np.eye(int(labels.max()) + 1)[labels]
    solve = _centroids if ridge == CENTROID else _logistic
    weights, bias = solve(standard, one_hot, ridge)
    return Classifier(kept=kept, mean=mean, scale=scale, weights=weights, bias=bias)


def _centroids(
    standard: FloatArray,
    one_hot: FloatArray,
    ridge: float,  # noqa: ARG001 - as of the other
) -> tuple[FloatArray, FloatArray]:
    """The nearest centroid is the one with the highest `x . c - |c|^2 / 2`."""
    centroids = one_hot.T @ standard / one_hot.sum(axis=0)[:, None]
    return centroids.T, -(centroids**2).sum(axis=1) / 2


def _logistic(
    standard: FloatArray, one_hot: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Minimise the penalised negative log-likelihood by Newton's method, halving long steps."""
    inputs = np.concatenate([np.ones((len(standard), 1)), standard], axis=1)
    # the biases are only held in place: they may all move by the same
    pull = np.full((inputs.shape[1], 1), ridge)
    pull[0] = _HELD
    matrix = np.zeros((inputs.shape[1], one_hot.shape[1]))
    loss, shares = _loss(matrix, inputs, one_hot, pull)
    for _ in range(_ROUNDS):
        gradient = inputs.T @ (shares - one_hot) + pull * matrix
        step = np.linalg.solve(_curvature(inputs, shares, pull), gradient.T.ravel())
        step = step.reshape(matrix.T.shape).T
        reach = 1.0
        while (tried := _loss(matrix - reach * step, inputs, one_hot, pull))[0] > loss:
            reach /= 2
            if reach < _SHORTEST:
                return matrix[1:], matrix[0]
        matrix, gained = matrix - reach * step, loss - tried[0]
        loss, shares = tried
        if gained <= _ENOUGH * loss:
            break
    return matrix[1:], matrix[0]


def _loss(
    matrix: FloatArray, inputs: FloatArray, one_hot: FloatArray, pull: FloatArray
) -> tuple[float, FloatArray]:
    """Return the objective, and the probability of each label, (N, L)."""
    logits = inputs @ matrix
    logits -= logits.max(axis=1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    penalty = (pull * matrix**2).sum() / 2
    return float(penalty - (logs * one_hot).sum()), np.exp(logs)


def _curvature(inputs: FloatArray, shares: FloatArray, pull: FloatArray) -> FloatArray:
    """Return the Hessian, (L * F, L * F), label by label."""
    labels, width = shares.shape[1], inputs.shape[1]
    found = np.empty((labels, width, labels, width))
    for a in range(labels):
        for b in range(a + 1):
            weight = shares[:, a] * (float(a == b) - shares[:, b])
            found[a, :, b] = found[b, :, a] = inputs.T @ (inputs * weight[:, None])
        found[a, :, a] += np.diag(pull[:, 0])
    return found.reshape(labels * width, labels * width)
