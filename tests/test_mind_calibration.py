"""The measures count what they say, the targets follow the traits, the search finds the best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simulation.mind import calibration
from simulation.rng import Streams, stream_keys

UNIT = st.floats(0, 1)
O, C, E, A, N = range(5)  # noqa: E741 - the field's letters


def normal(settings: calibration.SearchSettings, length: int, *, seed: int = 0) -> np.ndarray:
    shape = settings.generations, settings.population, length
    index = np.arange(np.prod(shape)).reshape(shape)
    return Streams(seed).normal("search", tick=0, keys=stream_keys(["map"]), index=index)


def bowl(vector: np.ndarray) -> float:
    return float(((vector - np.array([0.7, -0.4, 1.1])) ** 2).sum())


def test_the_search_comes_near_the_bottom_of_a_bowl() -> None:
    settings = calibration.SearchSettings(generations=25, population=40, elites=10)
    found = calibration.search(bowl, np.zeros(3), normal(settings, 3), settings=settings)
    assert found.error == bowl(found.vector)
    assert found.error < 0.01
    assert len(found.history) == settings.generations + 1
    assert found.history[0] == bowl(np.zeros(3))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "settings", [calibration.ATTACHMENT_SEARCH, calibration.BIG_FIVE_SEARCH], ids=["two", "five"]
)
def test_the_small_searches_of_the_seed_take_off_most_of_the_error(
    settings: calibration.SearchSettings, seed: int
) -> None:
    found = calibration.search(
        bowl, np.zeros(3), normal(settings, 3, seed=seed), settings=settings
    )
    assert found.error < 0.5 * found.history[0]


@given(st.integers(0, 50))
def test_the_search_returns_the_best_vector_it_tried_and_its_history_never_rises(
    seed: int,
) -> None:
    settings = calibration.SearchSettings(generations=4, population=5, elites=2)
    tried: list[tuple[float, np.ndarray]] = []

    def rugged(vector: np.ndarray) -> float:
        value = float(np.sin(9 * vector).sum() + bowl(vector))
        tried.append((value, vector.copy()))
        return value

    found = calibration.search(
        rugged, np.zeros(3), normal(settings, 3, seed=seed), settings=settings
    )
    assert len(tried) == 1 + settings.generations * settings.population
    lowest, where = min(tried, key=lambda pair: pair[0])
    assert found.error == lowest
    assert (found.vector == where).all()
    assert found.history[-1] == lowest
    assert (np.diff(found.history) <= 0).all()


def test_a_search_that_finds_nothing_better_returns_its_start() -> None:
    settings = calibration.BIG_FIVE_SEARCH
    start = np.array([0.7, -0.4, 1.1])
    found = calibration.search(bowl, start, normal(settings, 3), settings=settings)
    assert found.error == 0
    assert (found.vector == start).all()


def test_the_next_generation_stands_around_the_elites_as_wide_as_they_lie_apart() -> None:
    settings = calibration.SearchSettings(generations=2, population=3, elites=2)
    draws = np.array([[[1.0, 0.0], [2.0, 0.0], [-4.0, 0.0]], [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]])
    tried: list[list[float]] = []

    def first(vector: np.ndarray) -> float:
        tried.append(vector.tolist())
        return abs(float(vector[0]))

    calibration.search(first, np.zeros(2), draws, settings=settings)
    assert tried[:4] == [[0, 0], [0.5, 0], [1, 0], [-2, 0]]
    # elites 0.5 and 1: mean 0.75, standard deviation 0.25; in the other coordinate the least
    np.testing.assert_allclose(tried[4:], [[1.0, 0.01], [0.75, 0], [0.75, 0]], atol=1e-12)


def test_of_equal_objectives_the_first_tried_wins() -> None:
    settings = calibration.SearchSettings(generations=3, population=4, elites=2)

    def steps(vector: np.ndarray) -> float:
        return 0.0 if vector[0] > 0 else 1.0

    draws = normal(settings, 1)
    found = calibration.search(steps, np.zeros(1), draws, settings=settings)
    first = next(x for x in draws[0, :, 0] if x > 0)
    assert found.vector.tolist() == [0.5 * first]


def test_a_search_of_no_generations_returns_its_start_and_does_not_share_it() -> None:
    settings = calibration.SearchSettings(generations=0, population=4, elites=2)
    start = np.zeros(3)
    found = calibration.search(bowl, start, np.zeros((0, 4, 3)), settings=settings)
    found.vector[0] = 9
    assert start.tolist() == [0, 0, 0]
    assert found.history.tolist() == [bowl(start)]


def test_the_search_settings_are_those_of_the_seed() -> None:
    attachment, big_five = calibration.ATTACHMENT_SEARCH, calibration.BIG_FIVE_SEARCH
    assert (attachment.generations, attachment.population, attachment.elites) == (25, 12, 5)
    assert (big_five.generations, big_five.population, big_five.elites) == (15, 10, 4)
    assert attachment.scale == big_five.scale == 0.5
    assert attachment.least == big_five.least == 0.01


def test_all_candidates_may_be_elites() -> None:
    assert calibration.SearchSettings(generations=1, population=3, elites=3).elites == 3


@pytest.mark.parametrize("elites", [0, 4])
def test_elites_must_be_among_the_candidates(elites: int) -> None:
    with pytest.raises(ValueError, match=f"{elites} elites of 3 candidates"):
        calibration.SearchSettings(generations=1, population=3, elites=elites)


def test_normal_numbers_of_the_wrong_shape_are_refused() -> None:
    settings = calibration.SearchSettings(generations=2, population=3, elites=1)
    with pytest.raises(ValueError, match=r"shape \(2, 3, 4\), not \(3, 2, 4\)"):
        calibration.search(bowl, np.zeros(4), np.zeros((3, 2, 4)), settings=settings)


def test_an_objective_that_is_no_number_stops_the_search() -> None:
    settings = calibration.SearchSettings(generations=1, population=3, elites=1)
    with pytest.raises(ValueError, match="not a number"):
        calibration.search(lambda _: np.nan, np.zeros(1), np.zeros((1, 3, 1)), settings=settings)


def test_the_bias_is_the_badness_of_the_three_best_averaged_over_cues() -> None:
    valence = np.array([-0.9, 0.8, -0.6, 0.1, -0.3])
    score = np.array([[[5.0, 4, 3, 2, 1], [1, 2, 3, 4, 5]], [[0, 0, 0, 0, 0], [1, 0, 0, 0, 1]]])
    found = calibration.personality_bias(score, valence)
    # best: 0 1 2 and 4 3 2; then 0 1 2 (ties by index) and 0 4 1
    expected = [((0.9 + 0.6) / 3 + (0.3 + 0.6) / 3) / 2, (1.5 / 3 + 1.2 / 3) / 2]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(
    hnp.arrays(np.float64, (2, 3, 6), elements=st.floats(-3, 3)),
    hnp.arrays(np.float64, 6, elements=st.floats(-1, 1)),
)
def test_the_bias_lies_in_the_unit_interval_and_rises_when_bad_memories_gain(
    score: np.ndarray, valence: np.ndarray
) -> None:
    found = calibration.personality_bias(score, valence)
    assert ((found >= 0) & (found <= 1)).all()
    most = calibration.personality_bias(score - 100 * valence, valence)
    assert (most >= found - 1e-12).all()


def test_of_fewer_memories_than_three_all_count() -> None:
    found = calibration.personality_bias(np.zeros((1, 1, 2)), np.array([-1.0, -0.5]))
    assert found.tolist() == [0.75]


def test_the_overgeneral_rate_is_the_share_of_the_draws() -> None:
    overgeneral = np.array([True, False, True, False])
    drawn = np.array([[[0, 0, 1, 3], [2, 1, 1, 1]], [[1, 1, 3, 3], [3, 3, 3, 1]]])
    assert calibration.overgeneral_rate(drawn, overgeneral).tolist() == [3 / 8, 0]


def test_the_departure_is_the_share_drawn_from_beyond_the_three_nearest() -> None:
    semantic = np.array([[0.9, 0.1, 0.8, 0.7, 0.2], [0.5, 0.5, 0.5, 0.5, 0.5]])
    drawn = np.array([[[0, 2, 3, 1], [0, 1, 2, 4]], [[1, 1, 4, 4], [3, 4, 3, 4]]])
    # near: 0 2 3 for the first cue; 0 1 2 for the second (ties by index)
    assert calibration.semantic_departure(drawn, semantic).tolist() == [2 / 8, 1]


def test_with_no_near_memories_every_draw_departs_and_with_all_none_does() -> None:
    semantic, drawn = np.array([[0.9, 0.1]]), np.array([[[0, 1, 1]]])
    assert calibration.semantic_departure(drawn, semantic, nearest=0).tolist() == [1]
    assert calibration.semantic_departure(drawn, semantic, nearest=9).tolist() == [0]


@given(hnp.arrays(np.float64, (3, 2), elements=UNIT))
def test_attachment_aims_bias_by_anxiety_and_overgenerality_by_avoidance(
    personality: np.ndarray,
) -> None:
    assert (calibration.attachment_shares(personality) == personality).all()
    assert not np.shares_memory(calibration.attachment_shares(personality), personality)


@given(st.tuples(UNIT, UNIT, UNIT, UNIT, UNIT))
def test_big_five_aims_are_the_formulas_within_the_unit_interval(five: tuple[float, ...]) -> None:
    bias = 0.5 + (five[N] - 0.5) - ((five[E] + five[A]) / 2 - 0.5)
    overgeneral = 0.5 + (five[N] - five[C]) / 2
    expected = [min(1.0, max(0.0, bias)), overgeneral, five[O]]
    found = calibration.big_five_shares(np.array([five]))
    np.testing.assert_allclose(found, [expected], atol=1e-12)
    assert ((found >= 0) & (found <= 1)).all()


def test_the_anchors_move_one_trait_each_and_the_eighth_is_not_among_them() -> None:
    anchors = np.array(list(calibration.BIG_FIVE_ANCHORS.values()))
    unfitted = np.array(list(calibration.BIG_FIVE_UNFITTED.values()))
    moved = [
        (int(trait), float(row[trait])) for row in anchors for trait in np.flatnonzero(row != 0.5)
    ]
    assert moved == [(N, 0.85), (E, 0.85), (C, 0.85), (C, 0.15), (A, 0.85), (O, 0.85)]
    assert anchors[0].tolist() == [0.5] * 5
    assert unfitted.tolist() == [[0.15, 0.5, 0.5, 0.5, 0.5]]


def test_the_range_runs_from_the_lower_measurement_to_the_upper_whichever_it_is() -> None:
    low, high = calibration.measured_range(np.array([[0.2, 0.9]]), np.array([[0.6, 0.1]]))
    assert low.tolist() == [[0.2, 0.1]]
    assert high.tolist() == [[0.6, 0.9]]


RANGES = hnp.arrays(np.float64, (2, 3), elements=UNIT)


@given(RANGES, RANGES, RANGES, RANGES)
def test_targets_lie_a_margin_inside_the_range_and_follow_the_share(
    one: np.ndarray, other: np.ndarray, share: np.ndarray, more: np.ndarray
) -> None:
    low, high = calibration.measured_range(one, other)
    assert (low <= high).all()
    aim = calibration.target(share, low=low, high=high)
    wide = high - low > 0.02
    assert (aim[wide] >= low[wide] + 0.01 - 1e-12).all()
    assert (aim[wide] <= high[wide] - 0.01 + 1e-12).all()
    np.testing.assert_allclose(aim[~wide], (low + high)[~wide] / 2, atol=1e-12)
    further = calibration.target(np.maximum(share, more), low=low, high=high)
    assert (further >= aim - 1e-15).all()


def test_a_target_is_the_point_of_its_share_where_no_margin_is_met() -> None:
    aim = calibration.target(
        np.array([[0.25, 0.0, 1.0]]), low=np.full((1, 3), 0.2), high=np.full((1, 3), 0.6)
    )
    np.testing.assert_allclose(aim, [[0.3, 0.21, 0.59]], rtol=1e-12)


def test_the_error_of_a_setting_is_the_mean_miss_in_ranges() -> None:
    low, high = np.array([[0.0, 0.2]] * 2), np.array([[1.0, 0.4]] * 2)
    measured, aim = np.array([[0.3, 0.25], [0.5, 0.3]]), np.array([[0.5, 0.3], [0.5, 0.3]])
    found = calibration.setting_error(measured, aim, low=low, high=high)
    np.testing.assert_allclose(found, [(0.2 + 0.25) / 2, 0], atol=1e-12)


def test_a_narrow_range_still_has_an_error() -> None:
    low, high = np.array([[0.5]]), np.array([[0.504]])
    found = calibration.setting_error(low, high, low=low, high=high)
    np.testing.assert_allclose(found, [1.0], rtol=1e-12)


def test_a_measure_that_no_gain_moves_is_refused_by_its_place() -> None:
    low, high = np.zeros((2, 2)), np.array([[1.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="measure 1 of setting 1 does not move"):
        calibration.setting_error(low, low, low=low, high=high)
