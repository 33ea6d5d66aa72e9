"""The statistics of group comparisons, against scipy, statsmodels and known effects."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower, TTestPower
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from simulation.analysis import inference
from simulation.analysis.inference import Samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

NULLS = 200


def drawn(
    *sizes: int, measures: int = 3, effect: float = 0.0, shared: float = 0.0, seed: int = 1
) -> Samples:
    """Return two arms of normal values; with `shared` spread that both runs of a pair have."""
    rng = np.random.default_rng(seed)
    first, second = (rng.normal(0, 1, (size, measures)) for size in sizes)
    if not shared:
        return Samples(first=first, second=second + effect, paired=False)
    common = rng.normal(0, shared, first.shape)
    return Samples(first=first + common, second=second + common + effect, paired=True)


def test_a_paired_interval_is_that_of_statsmodels() -> None:
    samples = drawn(9, 9, shared=3.0)
    found = inference.interval(samples)
    known = DescrStatsW(samples.second - samples.first)
    low, high = known.tconfint_mean()
    assert np.allclose(found.low, low, rtol=1e-9)
    assert np.allclose(found.high, high, rtol=1e-9)
    assert np.allclose(found.p, known.ttest_mean()[1])
    assert np.allclose(found.p, stats.ttest_rel(samples.second, samples.first).pvalue)
    assert np.allclose(found.error, known.std_mean)


def test_a_welch_interval_is_that_of_statsmodels_with_unequal_numbers_of_runs() -> None:
    samples = drawn(5, 12)
    found = inference.interval(samples)
    means = CompareMeans(DescrStatsW(samples.second), DescrStatsW(samples.first))
    low, high = means.tconfint_diff(usevar="unequal")
    assert np.allclose(found.low, low)
    assert np.allclose(found.high, high)
    assert np.allclose(found.p, means.ttest_ind(usevar="unequal")[1])
    assert np.allclose(samples.difference, samples.second.mean(0) - samples.first.mean(0))


def test_effect_sizes_are_those_of_their_formulas() -> None:
    paired = drawn(6, 6, shared=2.0)
    each = paired.second - paired.first
    assert np.allclose(inference.effect_size(paired), each.mean(0) / each.std(0, ddof=1))
    apart = drawn(4, 7)
    pooled = np.sqrt((3 * apart.first.var(0, ddof=1) + 6 * apart.second.var(0, ddof=1)) / 9)
    cohen = apart.difference / pooled
    assert np.allclose(inference.pooled_sd(apart), pooled)
    # Hedges' usual approximation of the correction is good to a quarter per cent at 9 df.
    assert np.allclose(inference.effect_size(apart), cohen * (1 - 3 / (4 * 9 - 1)), rtol=2.5e-3)


def test_a_sign_flip_test_of_few_pairs_goes_through_all_signs() -> None:
    samples = drawn(5, 5, shared=2.0)
    found = inference.permutation(samples, label="end")
    each = samples.second - samples.first
    flipped = np.array(
        [np.mean(np.array(s)[:, None] * each, 0) for s in product((1, -1), repeat=5)]
    )
    expected = np.mean(np.abs(flipped) >= np.abs(each.mean(0)) - 1e-12, axis=0)
    assert np.allclose(found.p, expected)
    assert (found.arrangements, found.exact, found.smallest) == (32, True, 1 / 16)


def test_five_pairs_that_all_agree_reach_one_in_sixteen_and_no_less() -> None:
    samples = Samples(first=np.zeros((5, 1)), second=np.arange(1.0, 6.0)[:, None], paired=True)
    assert inference.permutation(samples, label="end").p == pytest.approx([1 / 16])


def test_a_permutation_test_of_few_runs_deals_them_in_all_ways() -> None:
    samples = Samples(
        first=np.array([[1.0], [2.0], [3.0]]), second=np.array([[4.0], [5.0], [6.0]]), paired=False
    )
    found = inference.permutation(samples, label="end")
    assert found.p == pytest.approx([2 / 20])
    assert (found.arrangements, found.smallest) == (20, 0.1)


def test_many_seeds_are_sampled_the_same_way_every_time_and_agree_with_t() -> None:
    samples = drawn(30, 30, shared=2.0, effect=0.45)
    first, again = (inference.permutation(samples, label="end") for _ in range(2))
    assert not first.exact
    assert first.smallest == pytest.approx(2 / 10_000)
    assert first.p.tolist() == again.p.tolist()
    assert np.allclose(first.p, inference.interval(samples).p, atol=0.02)
    other = inference.permutation(samples, label="course").p
    assert other.tolist() != first.p.tolist()
    assert np.allclose(other, first.p, atol=0.02)


@settings(max_examples=40)
@given(
    arrays.arrays(np.float64, st.integers(1, 12), elements=st.floats(1e-9, 1.0)),
    st.integers(0, 3),
)
def test_holm_is_that_of_statsmodels_whatever_is_missing(
    p: NDArray[np.float64], missing: int
) -> None:
    corrected = inference.holm(np.concatenate([np.full(missing, np.nan), p]))
    assert np.isnan(corrected[:missing]).all()
    assert np.allclose(corrected[missing:], multipletests(p, method="holm")[1])


@pytest.mark.parametrize("size", [3, 5, 20])
def test_the_detectable_difference_of_pairs_is_that_of_statsmodels(size: int) -> None:
    samples = drawn(size, size, shared=2.0)
    found = inference.detectable(inference.interval(samples))
    wanted = TTestPower().solve_power(nobs=size, alpha=0.05, power=0.8)
    assert np.allclose(found, wanted * samples.differences.std(0, ddof=1), rtol=1e-4)


def test_the_detectable_difference_of_equal_arms_is_that_of_statsmodels() -> None:
    first = np.arange(8.0)[:, None]
    samples = Samples(first=first, second=first[::-1] + 1, paired=False)
    found = inference.detectable(inference.interval(samples))
    wanted = TTestIndPower().solve_power(nobs1=8, alpha=0.05, power=0.8)
    assert np.allclose(found, wanted * first.std(ddof=1), rtol=1e-4)


@pytest.mark.parametrize(("tests", "pairs"), [(1, 6), (6, 8), (5, 8)])
def test_so_many_pairs_are_needed_for_a_sign_flip_test_to_say_anything(
    tests: int, pairs: int
) -> None:
    assert inference.pairs_needed(tests) == pairs
    assert 2 / 2**pairs * tests <= 0.05 < 2 / 2 ** (pairs - 1) * tests


@pytest.mark.parametrize("shared", [0.0, 3.0])
def test_of_two_hundred_comparisons_without_a_difference_five_in_a_hundred_are_called_one(
    shared: float,
) -> None:
    false = covered = families = 0
    for seed in range(NULLS):
        size = 8 if shared else 6
        samples = drawn(size, size, measures=6, shared=shared, seed=seed)
        p = inference.permutation(samples, label="end").p
        found = inference.interval(samples)
        false += int(p[0] <= 0.05)
        covered += int(found.low[0] <= 0 <= found.high[0])
        families += int(inference.holm(p).min() <= 0.05)
    # 200 draws at 5 %: 10 expected, and 3 to 20 in 99.8 of 100 such counts.
    assert 3 <= false <= 20
    assert 180 <= covered <= 197
    assert families <= 20


def test_a_known_effect_is_found_and_lies_in_its_interval() -> None:
    covered = found = 0
    for seed in range(NULLS):
        samples = drawn(10, 10, measures=1, shared=2.0, effect=2.2, seed=seed)
        interval = inference.interval(samples)
        covered += int(interval.low[0] <= 2.2 <= interval.high[0])
        found += int(inference.permutation(samples, label="end").p[0] <= 0.05)
    assert 180 <= covered <= 197
    assert found >= 195  # power: d_z = 2.2 / sqrt(2), 10 pairs


def test_the_detectable_difference_is_found_in_about_eighty_of_a_hundred_cases() -> None:
    spread = np.sqrt(2.0)  # of differences of two independent unit normals
    effect = float(TTestPower().solve_power(nobs=10, alpha=0.05, power=0.8)) * spread
    found = sum(
        inference.interval(drawn(10, 10, measures=1, shared=1.0, effect=effect, seed=seed)).p[0]
        <= 0.05
        for seed in range(NULLS)
    )
    assert 140 <= found <= 178


def test_with_one_run_in_an_arm_there_is_no_interval_no_size_and_no_test() -> None:
    for samples in (
        Samples(first=np.zeros((1, 2)), second=np.ones((1, 2)), paired=True),
        Samples(first=np.zeros((1, 2)), second=np.arange(6.0).reshape(3, 2), paired=False),
    ):
        found = inference.interval(samples)
        assert np.isnan([found.low, found.high, found.p, found.error]).all()
        assert np.isnan(inference.effect_size(samples)).all()
        assert np.isnan(inference.permutation(samples, label="end").p).all()
        assert np.isnan(inference.detectable(found)).all()
    assert np.isnan(inference.pooled_sd(Samples(first=np.ones((1, 1)), second=np.ones((1, 1)),
                                                paired=False))).all()  # fmt: skip


def test_without_spread_the_interval_is_the_difference_and_nothing_is_divided_by_zero() -> None:
    values = np.array([[0.5, 0.1], [0.5, 0.2], [0.5, 0.3]])
    for paired in (True, False):
        samples = Samples(first=values, second=values + np.array([0.25, 0.0]), paired=paired)
        found = inference.interval(samples)
        assert (found.low[0], found.high[0], found.error[0]) == (0.25, 0.25, 0.0)
        assert np.isnan(found.p[0])
        assert np.isnan(inference.effect_size(samples)[0])
        assert np.isnan(inference.detectable(found)[0])
    assert np.isnan(inference.permutation(samples, label="end").p).tolist() == [False, False]
    same = Samples(first=values[:, :1], second=values[:, :1], paired=False)
    assert np.isnan(inference.permutation(same, label="end").p).all()  # it could find nothing


def test_an_arm_without_spread_against_one_with_some_is_counted_as_it_is() -> None:
    spread = np.array([[0.1], [0.2], [0.4]])
    found = inference.interval(Samples(first=np.full((3, 1), 0.5), second=spread, paired=False))
    one = stats.ttest_1samp(spread - 0.5, 0.0)  # what Welch's test comes to
    assert np.allclose([found.p, found.df], [one.pvalue, one.df])


def test_differences_that_are_rounding_are_no_differences() -> None:
    first = np.array([[0.1], [0.2], [0.3]])
    samples = Samples(first=first, second=first + 1e-16, paired=True)
    assert np.isnan(inference.permutation(samples, label="end").p).all()
    assert samples.flat().all()


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(0, 6), st.integers(0, 10_000))
def test_the_other_way_round_everything_is_mirrored(one: int, two: int, seed: int) -> None:
    paired = two < 2
    samples = drawn(one, one if paired else two, shared=2.0 * paired, seed=seed)
    back = Samples(first=samples.second, second=samples.first, paired=paired)
    here, there = inference.interval(samples), inference.interval(back)
    assert np.allclose(here.low, -there.high)
    assert np.allclose(inference.effect_size(samples), -inference.effect_size(back))
    p, mirrored = (inference.permutation(s, label="end").p for s in (samples, back))
    assert np.allclose(p, mirrored)
