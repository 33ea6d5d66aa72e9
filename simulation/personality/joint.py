"""Draw personalities with the joint structure of real people: a Gaussian copula.

Each persona gets independent standard normals, one per trait; a Cholesky factor correlates them;
the normal distribution function makes them uniform; the quantile function of each trait turns them
into values. A vector is a function of the seed and the persona's id alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import elementary
from simulation.personality.figures import LEVELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.personality.figures import Figures
    from simulation.rng import FloatArray, Streams, UIntArray

_NEAR = 2.5  # standard deviations up to which the series is the better one
_TERMS = 90  # of the series and of the fraction: more change no bit
_ROOT_OF_TURN = 2.5066282746310002  # sqrt(2 pi)
_BEND = 3  # of the outermost twentieths, see `quantile`


def draw(
    figures: Figures, names: Sequence[str], *, streams: Streams, keys: UIntArray
) -> FloatArray:
    """Return (P, T) vectors in [0, 1] with the quantiles and rank correlations of the figures.

    names: of the T traits; the stream of each is "personality:<trait>".  keys: (P,) stream keys
    of the personas.
    """
    normals = [streams.normal(f"personality:{name}", tick=0, keys=keys) for name in names]
    factor = _cholesky(normal_correlation(np.array(figures.spearman)))
    columns = [
        quantile(normal_cdf(_weighted(row[: i + 1], normals)), figures.quantiles[i])
        for i, row in enumerate(factor)
    ]
    return np.stack(columns, axis=1)


def normal_correlation(spearman: FloatArray) -> FloatArray:
    """Return 2 sin(pi rho / 6): the correlation of normals whose rank correlation is rho.

    spearman: (T, T) in [-1, 1].  Source: Pearson (1907), "On further methods of determining
    correlation". A rising transformation keeps ranks, so the traits keep rho; the pieces where a
    trait's quantiles stand still hold a twentieth of the people and move it by less than 0.001.
    """
    return np.asarray(2.0 * elementary.cos_of_turns(0.25 - spearman / 12.0))


def normal_cdf(z: FloatArray) -> FloatArray:
    """Return the standard normal distribution function, elementwise, in [0, 1].

    Near the middle by Marsaglia (2004), "Evaluating the normal distribution": 1/2 + phi(z) times
    the sum of z^(2n+1) / (1 * 3 * ... * (2n+1)); farther out by Laplace's continued fraction of
    the tail, phi(z) / (z + 1 / (z + 2 / (z + ...))). The absolute error is below 1e-15.
    """
    density = elementary.exp(-0.5 * z * z) / _ROOT_OF_TURN
    near, far = np.clip(z, -_NEAR, _NEAR), np.maximum(np.abs(z), _NEAR)
    term = total = near
    for odd in range(3, 2 * _TERMS, 2):
        term = term * near * near / odd
        total = total + term
    fraction = far
    for n in range(_TERMS, 0, -1):
        fraction = far + n / fraction
    tail = density / fraction
    outer = np.where(z > 0.0, 1.0 - tail, tail)
    return np.asarray(np.where(np.abs(z) > _NEAR, outer, 0.5 + density * total))


def quantile(u: FloatArray, values: Sequence[float]) -> FloatArray:
    """Return the quantile function of a trait at u in [0, 1], elementwise, in [0, 1].

    values: at `LEVELS`, rising; met exactly at each of them. Between two levels it is linear, but
    for the outermost twentieths, which reach from the 5 % quantile down to 0 and from the 95 %
    quantile up to 1: few people come near the ends, and a straight line would put as many there
    as next to the 5 % quantile. So with t = u / 0.05 the lower piece rises as
    r t + (1 - r) (1 - (1 - t)^3), where r makes its slope at t = 1 that of the next piece; the
    upper piece mirrors it.
    """
    levels, at = np.array(LEVELS), np.array(values)
    inner = np.interp(u, levels, at)
    low = at[0] + _tail(u / levels[1], *np.diff(at[:3]))
    high = at[-1] - _tail((1.0 - u) / levels[1], *np.diff(at[-3:])[::-1])
    return np.asarray(np.where(u < levels[1], low, np.where(u > levels[-2], high, inner)))


def _tail(t: FloatArray, whole: float, beside: float) -> FloatArray:
    """Return the rise over an outermost twentieth, from 0 at t = 0 to `whole` at t = 1.

    whole: its width in the trait, > 0.  beside: the width of the twentieth next to it.
    """
    t = np.clip(t, 0.0, 1.0)
    straight = min(1.0, beside / whole)
    return np.asarray(whole * (straight * t + (1.0 - straight) * (1.0 - (1.0 - t) ** _BEND)))


def _weighted(weights: FloatArray, columns: Sequence[FloatArray]) -> FloatArray:
    """Return the weighted sum of (P,) columns.

    Summed one by one: a matrix product may round differently for another number of rows, and
    nobody's vector may depend on who else takes part.
    """
    total = np.zeros_like(columns[0])
    for weight, column in zip(weights, columns, strict=False):  # a factor's row ends early
        total = total + weight * column
    return total


def _cholesky(matrix: FloatArray) -> FloatArray:
    """Return the lower triangular factor of a positive definite matrix, (T, T).

    Of elementary operations only: a library's factor may differ in the last bit by processor.
    """
    factor = np.zeros_like(matrix)
    for i in range(len(matrix)):
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(j):
                rest = rest - factor[i, k] * factor[j, k]
            factor[i, j] = np.sqrt(rest) if i == j else rest / factor[j, j]
    return factor
