"""Surveys in a scenario: defaults, and what cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from simulation.errors import ScenarioError
from simulation.scenario import Scenario, flatten, load_text, without_effect
from simulation.scenario.anchors import ANCHORS, LABELS

BASE = """\
name: bar
horizon: 12
brief:
  brand: Bar
  proposition: A bar.
  claims:
    - {id: C1, text: It is good.}
ontology: consumer_products
population: {size: 60}
"""


def scenario(line: str, *, settings: tuple[str, ...] = ()) -> Scenario:
    return load_text(BASE + f"surveys: [{{id: q, tick: 1, question: Why, {line}}}]\n",
                     settings=settings).scenario  # fmt: skip


def problems(surveys: str) -> dict[str, str]:
    with pytest.raises(ScenarioError) as caught:
        load_text(BASE + f"surveys: {surveys}\n")
    return {problem.where: problem.message for problem in caught.value.problems}


@pytest.mark.parametrize(
    ("line", "points", "name"),
    [
        ("share: 1.0", LABELS["agreement"], "agreement"),
        ("anchors: purchase_intent", LABELS["purchase_intent"], "purchase_intent"),
        ("anchors: likelihood, scale: [a, b, c, d, e]", tuple("abcde"), "likelihood"),
        ("anchors: [[nay, aye], [never, always]]", ("1", "2"), None),
        ("anchors: [[nay, so, aye]], scale: [low, mid, high]", ("low", "mid", "high"), None),
        ("scale: [bad, good]", ("bad", "good"), None),
        ("kind: choice, choices: [bus, tram, car]", ("bus", "tram", "car"), None),
    ],
)
def test_a_scale_comes_from_what_is_written(
    line: str, points: tuple[str, ...], name: str | None
) -> None:
    (survey,) = scenario(line).surveys
    assert survey.labels == points
    assert survey.anchor_name == name
    assert {len(one) for one in survey.anchor_sets} <= {len(points)}


def test_the_anchors_are_the_shipped_ones_the_own_ones_or_the_names_of_the_points() -> None:
    assert scenario("share: 1.0").surveys[0].anchor_sets == ANCHORS["agreement"]
    own = scenario("anchors: [[nay, aye], [never, always]]").surveys[0]
    assert own.anchor_sets == (("nay", "aye"), ("never", "always"))
    assert scenario("scale: [bad, good]").surveys[0].anchor_sets == (("bad", "good"),)
    assert scenario("kind: choice, choices: [a, b]").surveys[0].anchor_sets == ()


def test_ticks_are_one_or_several() -> None:
    assert scenario("share: 1.0").surveys[0].ticks == (1,)
    assert scenario("share: 1.0", settings=("surveys[0].tick=[3, 8]",)).surveys[0].ticks == (3, 8)


def test_a_scenario_without_surveys_asks_nothing() -> None:
    assert load_text(BASE).scenario.surveys == ()


def test_a_dimension_and_a_claim_are_targets() -> None:
    assert scenario("target: fit").surveys[0].target == "fit"
    assert scenario("target: C1").surveys[0].target == "C1"


def test_surveys_are_among_the_parameters_of_a_run() -> None:
    found: Any = flatten(scenario("anchors: [[nay, aye]]"))["surveys"]
    assert found[0]["anchors"] == [["nay", "aye"]]


def test_a_survey_alone_gives_no_note() -> None:
    assert without_effect(scenario("target: fit")) == ()


@pytest.mark.parametrize(
    ("line", "where", "message"),
    [
        ("tick: 13", "tick", "and the horizon (12), not 13"),
        ("tick: [1, 13]", "tick[1]", "not 13"),
        ("tick: [1, 1]", "tick[1]", "the tick 1 appears twice"),
        ("target: fitt", "target", "not a dimension or claim of the brief; beliefs are"),
        ("target: fitt", "target", 'did you mean "fit"?'),
        ("kind: open", "kind", "must be one of likert, choice"),
        ("anchors: purchase", "anchors", "one of agreement, likelihood, purchase_intent"),
        ("anchors: likelihod", "anchors", 'did you mean "likelihood"?'),
        ("anchors: []", "anchors", "a list of at least one"),
        ("anchors: 5", "anchors", "must be one of agreement"),
        ("anchors: [[nay, aye], [a, b, c]]", "anchors[1]", "those of the first set points, not 3"),
        ("anchors: [[nay, aye]], scale: [a, b, c]", "anchors[0]", "must be 3, as the scale's"),
        ("anchors: agreement, scale: [a, b, c]", "anchors", "are for 5 points; the scale has 3"),
        ("anchors: [[nay, nay]]", "anchors[0][1]", "appears twice"),
        ("anchors: [[nay, The Nay.]]", "anchors[0][1]", "appears twice"),
        ("anchors: [[nay, 5]]", "anchors[0][1]", "put it in quotes"),
        ("anchors: [[nay]]", "anchors[0]", "must be 2 to 11 points, not 1"),
        ("anchors: [nay]", "anchors[0]", "must be a list"),
        ("scale: [a]", "scale", "must be 2 to 11 points, not 1"),
        ("scale: []", "scale", "must be 2 to 11 points, not 0"),
        ("scale: [a, b, c, d, e, f, g, h, i, j, k, l]", "scale", "must be 2 to 11 points, not 12"),
        ("scale: [a1, b, a1]", "scale[2]", 'the point "a1" appears twice'),
        ("choices: [a, b]", "choices", "belongs to the kind choice, not likert"),
        ("kind: choice", "choices", "is required by kind choice"),
        ("kind: choice, choices: [a]", "choices", "must be 2 to 50, not 1"),
        ("kind: choice, choices: [bus, Bus!]", "choices[1]", 'the choice "Bus!" appears twice'),
        ("kind: choice, choices: [a, b], scale: [a, b]", "scale", "belongs to the kind likert"),
        ("kind: choice, choices: [a, b], epsilon: 0.1", "epsilon", "belongs to the kind likert"),
        ("epsilon: -1", "epsilon", "a number between 0 and 10"),
        ("temperature: 0", "temperature", "a number between 0.01 and 100"),
        ("share: 2", "share", "a number between 0 and 1"),
        ("ancors: agreement", "ancors", 'did you mean "anchors"?'),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(line: str, where: str, message: str) -> None:
    tick = "" if line.startswith("tick") else "tick: 1, "
    found = problems(f"[{{id: q, {tick}question: Why, {line}}}]")
    assert list(found) == [f"surveys[0].{where}"]
    assert message in found[f"surveys[0].{where}"]


def test_too_many_sets_are_refused() -> None:
    sets = ", ".join("[nay, aye]" for _ in range(21))
    found = problems(f"[{{id: q, tick: 1, question: Why, anchors: [{sets}]}}]")
    assert found == {"surveys[0].anchors": "must be at most 20 sets, not 21"}


def test_ids_must_differ() -> None:
    one = "{id: q, tick: 1, question: Why}"
    found = problems(f"[{one}, {one}]")
    assert found == {"surveys[1].id": 'the id "q" is taken by surveys[0]; ids must differ'}


def test_what_is_missing_is_named() -> None:
    assert set(problems("[{}]")) == {
        "surveys[0].id",
        "surveys[0].tick",
        "surveys[0].question",
    }


def test_a_survey_that_is_no_mapping_is_refused() -> None:
    assert "surveys[0]" in problems("[why]")
