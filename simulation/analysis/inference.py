"""What can be said of two arms from so many seeds: intervals, effect sizes, tests, power.

A run is one observation: its personas talk to each other and are no independent ones. So every
number here is over runs (seeds), from their population means; the statistics are scipy's.

Methods: paired t and Welch's t intervals (Welch 1947); sign-flip and permutation tests (Fisher
1935; Phipson & Smyth 2010 for the Monte Carlo p-value); Holm's correction (Holm 1979), without
tests that could find nothing (Tarone 1990); d_z and
Hedges' g (Lakens 2013); power from the noncentral t distribution.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special, stats

from simulation.rng import Streams, stream_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

CONFIDENCE = 0.95
ALPHA = 0.05
POWER = 0.8
RESAMPLES = 9_999
"""Drawn at random where a test has more arrangements than that; else it goes through all."""

_DECIMALS = 12  # differences below are rounding, not spread
_BATCH = 1_000  # resamples at a time: bounds memory
_LARGEST = 1e6  # noncentrality, far above any that 80 % power needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Run-level values of M measures in two arms.

    first: (N, M).  second: (K, M).  paired: row i of both has the same seed, N = K.
    """

    first: FloatArray
    second: FloatArray
    paired: bool

    @property
    def differences(self) -> FloatArray:
        """Second minus first of each pair, (N, M), free of rounding."""
        return _rounded(self.second - self.first)

    @property
    def difference(self) -> FloatArray:
        """Difference of the means, second minus first, (M,)."""
        return _rounded(self.second.mean(axis=0) - self.first.mean(axis=0))

    @property
    def sizes(self) -> tuple[int, int]:
        """Runs in each arm."""
        return len(self.first), len(self.second)

    @property
    def testable(self) -> bool:
        """Whether there is a spread to be known: two runs in each arm."""
        return min(self.sizes) > 1

    def flat(self) -> NDArray[np.bool_]:
        """Return where no two runs (paired: no two differences) of an arm differ, (M,)."""
        arms = (self.differences,) if self.paired else (self.first, self.second)
        flat = np.ones(self.first.shape[1], dtype=bool)
        for arm in arms:
            flat &= np.ptp(_rounded(arm), axis=0) == 0
        return flat


def _rounded(values: FloatArray) -> FloatArray:
    """Return values without what is rounding, not spread."""
    return np.asarray(np.round(values, _DECIMALS), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A t interval of a difference and its test, each (M,).

    NaN with fewer than two runs in an arm.  Without any spread, low = high = the difference and
    p is NaN: there is nothing to compare the difference with.  error: standard error.  df:
    degrees of freedom.
    """

    low: FloatArray
    high: FloatArray
    p: FloatArray
    error: FloatArray
    df: FloatArray


def interval(samples: Samples) -> Interval:
    """Return 95 % intervals of the differences: paired t, or Welch's t."""
    none = np.full(samples.first.shape[1], np.nan)
    found = {"low": none, "high": none, "p": none, "error": none, "df": none}
    if not samples.testable:
        return Interval(**found)
    flat = samples.flat()
    found = {name: value.copy() for name, value in found.items()}
    found["low"][flat] = found["high"][flat] = samples.difference[flat]
    found["error"][flat] = 0.0
    if not flat.all():
        for name, value in _t(samples, ~flat).items():
            found[name][~flat] = value
    return Interval(**found)


def _t(samples: Samples, some: NDArray[np.bool_]) -> dict[str, Any]:
    if samples.paired:
        each = samples.differences[:, some]
        result = stats.ttest_1samp(each, 0.0)
        error = stats.sem(each)
    else:
        first, second = samples.first[:, some], samples.second[:, some]
        with warnings.catch_warnings():
            # One arm may be without spread: scipy doubts that, and counts it as it should.
            warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
            result = stats.ttest_ind(second, first, equal_var=False)
        error = np.hypot(stats.sem(first), stats.sem(second))
    bounds = result.confidence_interval(CONFIDENCE)
    return {
        "low": bounds.low,
        "high": bounds.high,
        "p": result.pvalue,
        "error": error,
        "df": result.df,
    }


def effect_size(samples: Samples) -> FloatArray:
    """Return standardised differences, (M,): d_z of pairs, Hedges' g otherwise; NaN if flat.

    d_z: mean of the differences over their standard deviation.  g: difference of the means over
    the pooled standard deviation, times J = Γ(df/2) / (√(df/2) Γ((df-1)/2)), df = N + K - 2.
    """
    if not samples.testable:
        return np.full(samples.first.shape[1], np.nan)
    spread = samples.differences.std(axis=0, ddof=1) if samples.paired else pooled_sd(samples)
    spread = np.where(samples.flat(), np.nan, spread)
    size: FloatArray = samples.difference / spread
    if samples.paired:
        return size
    half = (sum(samples.sizes) - 2) / 2
    gammas = float(special.gammaln(half) - special.gammaln(half - 0.5))
    corrected: FloatArray = size * np.exp(gammas) / np.sqrt(half)
    return corrected


def pooled_sd(samples: Samples) -> FloatArray:
    """Return the standard deviation between runs of one arm, pooled over both, (M,).

    The noise floor: how far a population mean lies from that of another seed. NaN when no arm
    has two runs.
    """
    weights = np.array([max(0, size - 1) for size in samples.sizes], dtype=np.float64)
    if not weights.sum():
        return np.full(samples.first.shape[1], np.nan)
    variances = [
        arm.var(axis=0, ddof=1) if len(arm) > 1 else np.zeros(arm.shape[1])
        for arm in (samples.first, samples.second)
    ]
    pooled: FloatArray = np.sqrt((weights[:, np.newaxis] * variances).sum(axis=0) / weights.sum())
    return pooled


@dataclass(frozen=True, slots=True, kw_only=True)
class Permutation:
    """A permutation test of several measures.

    p: two-sided, (M,).  NaN with one run in an arm; and where nothing differs at any seed: such a
    test could never have found anything, so it is none (Tarone 1990), and not corrected for.

    arrangements: how many there are.  exact: all were gone through; else `RESAMPLES` were drawn.
    smallest: the smallest p that the test can give.
    """

    p: FloatArray
    arrangements: int
    exact: bool
    smallest: float


def permutation(samples: Samples, *, label: str) -> Permutation:
    """Test differences of means without a distribution.

    Pairs: signs of the differences are flipped, since under the null hypothesis either run of a
    pair could have come from either arm.  Otherwise runs are dealt anew to the arms.
    label: names the stream of chance, where not all arrangements can be gone through.
    """
    count = arrangements(samples.sizes, paired=samples.paired)
    exact = count <= RESAMPLES
    smallest = min(1.0, 2 / (count if exact else RESAMPLES + 1))
    if not samples.testable:
        nothing = np.full(samples.first.shape[1], np.nan)
        return Permutation(p=nothing, arrangements=count, exact=exact, smallest=1.0)
    arms = (samples.differences,) if samples.paired else (samples.first, samples.second)
    result = stats.permutation_test(
        tuple(_rounded(arm).T for arm in arms),
        _mean if samples.paired else _mean_difference,
        permutation_type="samples" if samples.paired else "independent",
        vectorized=True,
        axis=-1,
        n_resamples=RESAMPLES,
        batch=_BATCH,
        rng=_generator(label),
    )
    nothing = samples.flat() & (samples.difference == 0)
    return Permutation(
        p=np.where(nothing, np.nan, result.pvalue),
        arrangements=count,
        exact=exact,
        smallest=smallest,
    )


def arrangements(sizes: tuple[int, int], *, paired: bool) -> int:
    """Return in how many ways the signs can be flipped, or the runs be dealt to the arms."""
    if paired:
        return int(2 ** sizes[0])
    return int(special.comb(sum(sizes), sizes[0], exact=True))


def _mean(values: FloatArray, axis: int) -> Any:
    return values.mean(axis=axis)


def _mean_difference(first: FloatArray, second: FloatArray, axis: int) -> Any:
    return second.mean(axis=axis) - first.mean(axis=axis)


def _generator(label: str) -> np.random.Generator:
    """Return a generator of the named stream of seed 0: a test comes out the same every time."""
    key = Streams(0).bits("permutation-test", tick=0, keys=stream_keys([label]))[0]
    return np.random.Generator(np.random.Philox(key=int(key)))


def holm(p: FloatArray) -> FloatArray:
    """Return p-values corrected for having been looked at together; NaN is no test.

    Holm (1979): the i-th smallest of m times m - i + 1, never below the one before, at most 1.
    The chance of even one false positive stays below the level, however the tests hang together.
    """
    corrected = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return corrected


def detectable(found: Interval) -> FloatArray:
    """Return the true difference that a two-sided t test finds with 80 % power at 5 %, (M,).

    From the observed standard error; NaN where there is none.
    """
    sizes = [_noncentrality(float(df)) if np.isfinite(df) else np.nan for df in found.df]
    return np.array(sizes) * np.where(np.isfinite(found.df), found.error, np.nan)


def _noncentrality(df: float) -> float:
    """Return the noncentrality of t at which a two-sided test has the power `POWER`."""
    critical = stats.t.isf(ALPHA / 2, df)

    def missing(noncentrality: float) -> float:
        upper = stats.nct.sf(critical, df, noncentrality)
        other = np.nan_to_num(
            stats.nct.cdf(-critical, df, noncentrality)
        )  # NaN: too small to tell
        return float(upper + other - POWER)

    high = 2.0 * float(critical) + 2.0
    while missing(high) < 0 and high < _LARGEST:
        high *= 2.0
    return float(optimize.brentq(missing, 0.0, high))


def pairs_needed(tests: int) -> int:
    """Return how many pairs a sign-flip test needs to reach 5 % after Holm over some tests."""
    return int(np.ceil(np.log2(2 * tests / ALPHA)))
