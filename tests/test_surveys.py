"""Surveys: who is asked, how answers are rated, and how well anchors tell them apart."""

from __future__ import annotations

import hashlib
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from small import small

from simulation import surveys
from simulation.encoders import EncoderSpec, load
from simulation.mind import likert
from simulation.models.words.survey_phrases import ANSWERS, STARTS
from simulation.scenario.anchors import ANCHOR_NAMES, ANCHORS, LABELS, AnchorName
from simulation.scenario.survey import Survey
from simulation.surveys import Rater, check_anchors, confusions, held_out, panel, weaknesses

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "surveys.md").read_text("utf-8")
STATIC = load(EncoderSpec(name="static"))
AXES = {"no": (1.0, 0.0), "so": (0.6, 0.8), "yes": (0.0, 1.0), "nil": (0.0, 0.0)}


def encode(texts: Sequence[str]) -> np.ndarray:
    return np.array([AXES[text] for text in texts], np.float32)


class Axes:
    width = 2

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.encoded += texts
        return encode(texts)


# Who is asked


def test_a_question_is_put_at_its_ticks_in_the_order_of_the_scenario() -> None:
    asked = [
        Survey(id="a", tick=2, question="?"),
        Survey(id="b", tick=(1, 2), question="?"),
    ]
    assert [[s.id for s in surveys.due(asked, tick)] for tick in (1, 2, 3)] == [
        ["b"],
        ["a", "b"],
        [],
    ]


@settings(deadline=None)
@given(
    st.integers(),
    st.lists(st.text(st.characters(codec="utf-8")), unique=True, max_size=40),
    st.floats(0, 1),
)
def test_a_panel_is_those_of_the_smallest_digests_in_the_order_of_the_rows(
    seed: int, ids: list[str], share: float
) -> None:
    digests = [hashlib.sha256(f"survey|{seed}|q|{i}".encode()).hexdigest() for i in ids]
    count = max(0, math.ceil(share * len(ids) - 1e-9))
    expected = sorted(sorted(range(len(ids)), key=digests.__getitem__)[:count])
    assert panel(seed, "q", ids, share=share).tolist() == expected


def test_questions_have_different_panels() -> None:
    ids = [f"p{i}" for i in range(100)]
    first, second = (panel(1, name, ids, share=0.3).tolist() for name in ("a", "b"))
    assert len(first) == len(second) == 30
    assert first != second


# How answers are rated


def test_equal_answers_are_rated_alike_and_embedded_once() -> None:
    encoder = Axes()
    pmf = Rater(encoder.encode, width=2).rate(["yes", "no", "yes"], [["no", "so", "yes"]])
    assert encoder.encoded == ["no", "so", "yes"]  # the anchors; the answers are among them
    assert pmf[0].tobytes() == pmf[2].tobytes()
    assert likert.point(pmf).tolist() == [3, 1, 3]


def test_anchors_are_embedded_once_and_answers_are_forgotten() -> None:
    encoder = Axes()
    rater = Rater(encoder.encode, width=2)
    for _ in range(2):
        rater.rate(["so"], [["no", "yes"]])
    assert encoder.encoded == ["no", "yes", "so", "so"]


def test_an_answer_without_a_vector_may_mean_any_point() -> None:
    pmf = Rater(encode, width=2).rate(["nil"], [["no", "so", "yes"]])
    np.testing.assert_array_equal(pmf, np.full((1, 3), 1 / 3))


def test_no_answers_are_rated_to_nothing() -> None:
    assert Rater(encode, width=2).rate([], [["no", "yes"]]).shape == (0, 2)


def test_several_sets_temperature_and_epsilon_reach_the_rating() -> None:
    rater = Rater(encode, width=2)
    sets = [["no", "so", "yes"], ["no", "no", "yes"]]
    cosine = np.array([[[0.6, 1.0, 0.8], [0.6, 0.6, 0.8]]])
    np.testing.assert_allclose(
        rater.rate(["so"], sets, epsilon=0.2, temperature=0.5),
        likert.rate(cosine, epsilon=0.2, temperature=0.5),
        atol=0.01,  # of the components as int8
    )


# How well anchors tell answers apart


def test_anchors_that_fit_separate_their_answers() -> None:
    found = check_anchors(Axes(), [["no", "so", "yes"]], [["no"], ["so"], ["yes", "yes"]])
    assert found.answers == 4
    assert (found.accuracy, found.mean_absolute_error) == (1.0, 0.0)
    assert found.rank_correlation == pytest.approx(1.0)
    assert (found.wrong_side, found.confusion) == (0.0, 0.0)
    assert list(found.means) == sorted(found.means)


def test_anchors_the_wrong_way_round_take_acceptance_for_refusal() -> None:
    found = check_anchors(Axes(), [["yes", "no"]], [["no"], ["yes"]])
    assert (found.accuracy, found.mean_absolute_error) == (0.0, 1.0)
    assert found.rank_correlation == pytest.approx(-1.0)
    assert (found.wrong_side, found.confusion) == (1.0, 1.0)


def test_anchors_that_say_the_same_are_as_good_as_guessing() -> None:
    found = check_anchors(Axes(), [["so", "so", "so"]], [["no"], [], ["yes"]])
    assert math.isnan(found.rank_correlation)
    assert (found.wrong_side, found.confusion) == (1.0, 0.5)
    assert math.isnan(found.means[1])


def test_answers_of_the_middle_alone_confuse_nothing() -> None:
    found = check_anchors(Axes(), [["no", "so", "yes"]], [[], ["so"], []])
    assert math.isnan(found.wrong_side)
    assert math.isnan(found.confusion)


@pytest.mark.parametrize("answers", [[["no"], ["yes"]], [[], [], []]])
def test_a_check_needs_answers_for_the_same_points(answers: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="same points"):
        check_anchors(Axes(), [["no", "so", "yes"]], answers)


def test_weak_anchors_are_named() -> None:
    rater = Rater(encode, width=2)
    same = list(weaknesses(rater.nearness([["no", "yes", "yes"]])))
    assert same == ["set 1: points 2 and 3 lie at cosine 1.00; to this encoder they say the same"]
    bent = list(weaknesses(rater.nearness([["no", "so", "yes"], ["so", "no", "so"]])))
    assert len(bent) == 1
    assert bent[0].startswith(
        "set 2: its ends lie at cosine 1.00, no farther apart than neighbours"
    )


def test_confusion_is_told_from_a_tenth_on_but_not_where_nothing_was_embedded() -> None:
    fit, bent = [["no", "so", "yes"]], [["yes", "so", "no"]]
    answers = [["no"], ["so"], ["yes"]]
    told = [list(confusions(check_anchors(Axes(), sets, answers))) for sets in (fit, bent)]
    assert told[0] == []
    assert "100% of refusals above an acceptance" in told[1][0]
    assert not list(confusions(check_anchors(Axes(), [["nil"] * 3], answers)))


def test_two_points_and_anchors_without_vectors_give_no_note_on_ends() -> None:
    rater = Rater(encode, width=2)
    assert not list(weaknesses(rater.nearness([["no", "so"], ["nil", "nil"]])))


# What ships


def test_every_shipped_scale_has_labels_anchors_answers_and_held_out_answers() -> None:
    for name in ANCHOR_NAMES:
        sets = ANCHORS[name]
        assert len(sets) >= 3
        assert {len(one) for one in sets} == {len(LABELS[name])} == {len(ANSWERS[name])}
        assert all(len(point) >= 6 for point in held_out()[name])
    assert set(held_out()) == set(ANCHORS) == set(ANSWERS) == set(LABELS)


def test_no_held_out_answer_and_no_word_of_the_rule_model_is_an_anchor() -> None:
    for name in ANCHOR_NAMES:
        anchors = {statement for one in ANCHORS[name] for statement in one}
        held = {answer for point in held_out()[name] for answer in point}
        said = {phrase for point in ANSWERS[name] for phrase in point}
        assert not anchors & held
        assert not anchors & said
        assert not held & said


@pytest.mark.parametrize("name", ANCHOR_NAMES)
def test_several_sets_separate_better_than_the_mean_of_each_alone(name: AnchorName) -> None:
    together = check_anchors(STATIC, ANCHORS[name], held_out()[name]).accuracy
    alone = [check_anchors(STATIC, [one], held_out()[name]).accuracy for one in ANCHORS[name]]
    assert together > np.mean(alone)


@pytest.mark.parametrize("name", ANCHOR_NAMES)
def test_shipped_anchors_are_not_weak_by_their_own_measure(name: AnchorName) -> None:
    found = list(weaknesses(Rater(STATIC.encode, width=STATIC.width).nearness(ANCHORS[name])))
    assert not [line for line in found if "say the same" in line]


@pytest.mark.parametrize("name", ANCHOR_NAMES)
def test_the_rule_models_words_are_rated_higher_from_point_to_point(name: AnchorName) -> None:
    rater = Rater(STATIC.encode, width=STATIC.width)
    means = [
        likert.mean(rater.rate([s + p for s in STARTS for p in point], ANCHORS[name])).mean()
        for point in ANSWERS[name]
    ]
    assert all(low < high for low, high in pairwise(means))


def test_the_page_has_the_measured_numbers_of_the_encoders_that_ship() -> None:
    told = re.findall(r"^\| (\w+) \| (static|ngram) \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(told) == 2 * len(ANCHOR_NAMES)
    for name, encoder, numbers in told:
        found = check_anchors(
            load(EncoderSpec(name=encoder)), dict(ANCHORS.items())[name], held_out()[name]
        )
        assert numbers == (
            f"{found.answers} | {found.accuracy:.0%} | {found.mean_absolute_error:.2f} | "
            f"{found.rank_correlation:.2f} | {found.wrong_side:.0%} | {found.confusion:.0%}"
        ).replace("%", " %")


def test_the_scenario_of_the_page_can_be_used() -> None:
    found = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    read = small(surveys=yaml.safe_load(found[1])["surveys"], horizon=20)
    assert [survey.id for survey in read.scenario.surveys] == ["intent", "worth", "channel"]


def test_the_check_of_the_page_runs() -> None:
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(found[1], names)  # noqa: S102 - the page's own example
    assert names["found"].answers == 6
