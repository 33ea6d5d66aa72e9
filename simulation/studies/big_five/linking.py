"""How traits and what is recalled go together: correlations, alone and with the others held.

Shapes: P people, T traits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from simulation.rng import FloatArray

_LEAST: Final = 1e-12  # a variance below it is rounding


def pearson(x: FloatArray, y: FloatArray) -> float:
    """Return Pearson's r of two variables, (P,); NaN where one does not vary."""
    x, y = x - x.mean(), y - y.mean()
    square = float((x * x).sum() * (y * y).sum())
    return float((x * y).sum()) / square**0.5 if square > _LEAST * len(x) else float("nan")


def correlations(traits: FloatArray, y: FloatArray) -> FloatArray:
    """Return r of each trait and a variable, (T,). traits: (P, T).  y: (P,)."""
    return np.array([pearson(column, y) for column in traits.T])


def partials(traits: FloatArray, y: FloatArray) -> FloatArray:
    """Return r of each trait and a variable with the other traits held, (T,).

    Both are taken as what is left of them after least squares on the other traits. NaN where the
    variable does not vary. traits: (P, T), P > T + 1.  y: (P,).
    """
    found = []
    for i in range(traits.shape[1]):
        others = np.column_stack([np.ones(len(y)), np.delete(traits, i, axis=1)])
        left = [_rest(column, others) for column in (traits[:, i], y)]
        found.append(pearson(*left))
    return np.array(found)


def _rest(y: FloatArray, others: FloatArray) -> FloatArray:
    return np.asarray(y - others @ np.linalg.lstsq(others, y, rcond=None)[0])


def needed(traits: FloatArray, r: FloatArray) -> float:
    """Return the share of a variable that traits explain if these are their correlations with it.

    r' M^-1 r, where M are the correlations among the traits: the R^2 of the regression. Above 1 no
    variable can have these correlations with all of the traits at once.

    traits: (P, T); NaN where one does not vary.  r: (T,).
    """
    if not np.ptp(traits, axis=0).all():
        return float("nan")
    among = np.corrcoef(traits, rowvar=False)
    return float(r @ np.linalg.lstsq(among, r, rcond=None)[0])
