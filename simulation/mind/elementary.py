"""exp, log and cos with the same bits on every machine.

The C library and numpy choose other code for these functions on other processors, and results
differ in the last bit; after some ticks a run would differ with it. Addition, subtraction,
multiplication, division and square roots round in one way everywhere (IEEE 754), and so does what
is made of nothing else, one numpy operation at a time. Errors stay within a few units in the last
place.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

_LN2_HIGH = float.fromhex("0x1.62e42feep-1")  # ln 2 in 32 bits: times a whole number it is exact
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # the rest of it
_SQRT_HALF = 0.7071067811865476
_LOWEST, _HIGHEST = -745.2, 709.79  # arguments beyond which exp is 0 or infinite
_INVERSE = tuple(1.0 / math.factorial(n) for n in range(18))
_EXP = _INVERSE[:15]
_ATANH = tuple(1.0 / (2 * n + 1) for n in range(12))
_COS = tuple((-1.0) ** n * _INVERSE[2 * n] for n in range(9))
_SIN = tuple((-1.0) ** n * _INVERSE[2 * n + 1] for n in range(9))
_HALF_PI = 1.5707963267948966


def _polynomial(coefficients: tuple[float, ...], x: FloatArray) -> FloatArray:
    """Return sum of c_n x^n by Horner's rule."""
    total = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total *= x
        total += coefficient
    return total


def exp(x: ArrayLike) -> FloatArray:
    """Return e to the power of x, float64; 0 and infinity beyond the range of floats.

    By x = n ln 2 + r with |r| <= ln 2 / 2, and the Taylor series of exp r.
    """
    x = np.asarray(x, dtype=np.float64)
    held = np.clip(np.where(np.isnan(x), 0.0, x), _LOWEST - 1.0, _HIGHEST + 1.0)
    n = np.rint(held * (1.0 / (_LN2_HIGH + _LN2_LOW)))
    r = (held - n * _LN2_HIGH) - n * _LN2_LOW
    value = _polynomial(_EXP, r)
    half = np.floor(n * 0.5)  # in two steps: 2**n alone may be no float
    with np.errstate(over="ignore", under="ignore"):
        result = np.ldexp(np.ldexp(value, half.astype(np.int64)), (n - half).astype(np.int64))
    return np.where(np.isnan(x), np.nan, result)


def log(x: ArrayLike) -> FloatArray:
    """Return the natural logarithm, float64; -infinity at 0, NaN below.

    By x = 2^n m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh((m - 1) / (m + 1)).
    """
    x = np.asarray(x, dtype=np.float64)
    mantissa, exponent = np.frexp(x)
    low = mantissa < _SQRT_HALF
    mantissa = np.where(low, 2.0 * mantissa, mantissa)
    n = exponent - low.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        s = (mantissa - 1.0) / (mantissa + 1.0)
        series = 2.0 * s * _polynomial(_ATANH, s * s)
        result = n * _LN2_HIGH + (series + n * _LN2_LOW)
    special = np.where(x > 0.0, np.inf, np.where(x == 0.0, -np.inf, np.nan))
    return np.where((x > 0.0) & np.isfinite(x), result, special)


def log1p(x: float) -> float:
    """Return the natural logarithm of 1 + x for x >= -1, exact for tiny x too; -infinity at -1.

    By Kahan's correction: the rounding of 1 + x is divided out again.
    """
    rounded = 1.0 + x
    if rounded == 1.0:
        return x
    value = float(log(rounded))
    return value if rounded == 0.0 else value * (x / (rounded - 1.0))


def cos_of_turns(u: ArrayLike) -> FloatArray:
    """Return cos(2 pi u) for u in [0, 1], float64.

    By quarter turns, each with the Taylor series of cos or sin over at most an eighth of a turn.
    """
    quarters = 4.0 * np.asarray(u, dtype=np.float64)
    n = np.rint(quarters)
    angle = (quarters - n) * _HALF_PI  # at most a quarter of pi either way
    square = angle * angle
    cosine = _polynomial(_COS, square)
    sine = angle * _polynomial(_SIN, square)
    place = n.astype(np.int64) % 4
    return np.choose(place, [cosine, -sine, -cosine, sine])


def power(base: float, exponent: ArrayLike) -> FloatArray:
    """Return base ** exponent for 0 <= base and exponent >= 0, float64; 0 ** 0 is 1.

    exponent: counts, any shape.
    """
    exponent = np.asarray(exponent, dtype=np.float64)
    if base == 0.0:
        return np.where(exponent == 0.0, 1.0, 0.0)
    return exp(exponent * log(base))


def logistic(x: ArrayLike) -> FloatArray:
    """Return 1 / (1 + exp(-x)), in [0, 1]."""
    return 1.0 / (1.0 + exp(-np.asarray(x, dtype=np.float64)))
