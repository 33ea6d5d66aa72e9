"""Ten thousand personas against the weights, read from the YAML again, by other code."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from simulation import ontology
from simulation.rng import Streams, stream_keys

FOLDER = Path(__file__).resolve().parents[1] / "ontology"
PEOPLE = 10_000
# A share may miss its weight by 4.5 standard errors and one person: over about two thousand
# shares a correct sampler fails less than once in seventy seeds; the seed is fixed.
ERRORS = 4.5

Columns = dict[str, list[str]]


@cache
def drawn(name: str, seed: int = 1) -> Columns:
    keys = stream_keys(f"p{i:04d}" for i in range(PEOPLE))
    return ontology.load(name).sample(streams=Streams(seed), keys=keys)


@cache
def described(name: str) -> dict[str, dict[str, Any]]:
    data = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return {attribute["id"]: attribute for attribute in data["attributes"]}


def level_of(attribute: dict[str, Any], value: str) -> str:
    """Return the value, or the band of a number."""
    if attribute["kind"] == "category":
        return value
    bands = [b["id"] for b in attribute["bands"] if b["low"] <= int(value) <= b["high"]]
    assert len(bands) == 1, value
    return str(bands[0])


@cache
def levels(name: str, attribute: str) -> tuple[str, ...]:
    entry = described(name)[attribute]
    return tuple(level_of(entry, value) for value in drawn(name)[attribute])


def shares(attribute: dict[str, Any], parents: dict[str, str]) -> dict[str, float]:
    """Return the weights of the first row that holds, as shares."""
    for row in attribute.get("table", []):
        when = {k: v if isinstance(v, list) else [v] for k, v in row.get("when", {}).items()}
        if all(parents[parent] in allowed for parent, allowed in when.items()):
            weights = row["weights"]
            break
    else:
        entries = attribute.get("values") or attribute["bands"]
        weights = {entry["id"]: entry.get("weight", 0) for entry in entries}
    total = sum(weights.values())
    return {level: weight / total for level, weight in weights.items()}


def assert_close(found: Counter[str], expected: dict[str, float], where: object) -> None:
    count = sum(found.values())
    assert set(found) <= {level for level, share in expected.items() if share}, where
    for level, share in expected.items():
        margin = ERRORS * np.sqrt(share * (1 - share) / count) + 1 / count
        assert abs(found[level] / count - share) <= margin, (where, level, found[level], share)


CASES = [
    (name, attribute)
    for name in ("consumer_products", "civic_life", "survey_respondents")
    for attribute in ontology.load(name).order
]


@pytest.mark.parametrize(("name", "attribute"), CASES)
def test_every_conditional_share_matches_its_weight(name: str, attribute: str) -> None:
    entry = described(name)[attribute]
    given_names = entry.get("given", [])
    groups: dict[tuple[str, ...], Counter[str]] = {}
    parents = [levels(name, parent) for parent in given_names]
    for i, level in enumerate(levels(name, attribute)):
        groups.setdefault(tuple(p[i] for p in parents), Counter())[level] += 1
    assert sum(sum(found.values()) for found in groups.values()) == PEOPLE
    for combination, found in groups.items():
        expected = shares(entry, dict(zip(given_names, combination, strict=True)))
        assert_close(found, expected, (attribute, combination))


def ancestors(name: str, attribute: str) -> list[str]:
    found: list[str] = []
    for parent in described(name)[attribute].get("given", []):
        found += [a for a in (*ancestors(name, parent), parent) if a not in found]
    return found


@pytest.mark.parametrize(("name", "attribute"), CASES)
def test_every_marginal_share_matches_the_sum_over_all_ancestors(
    name: str, attribute: str
) -> None:
    joint: dict[tuple[str, ...], float] = {(): 1.0}
    chain = [*ancestors(name, attribute), attribute]
    for place, link in enumerate(chain):
        entry, grown = described(name)[link], {}
        for combination, chance in joint.items():
            known = dict(zip(chain[:place], combination, strict=True))
            for level, share in shares(entry, known).items():
                if share:
                    grown[*combination, level] = chance * share
        joint = grown
    expected: dict[str, float] = {}
    for combination, chance in joint.items():
        expected[combination[-1]] = expected.get(combination[-1], 0.0) + chance
    assert sum(expected.values()) == pytest.approx(1.0)
    assert_close(Counter(levels(name, attribute)), expected, attribute)


@pytest.mark.parametrize("name", ["consumer_products", "civic_life"])
def test_every_level_of_every_attribute_can_be_drawn(name: str) -> None:
    for attribute, entry in described(name).items():
        known = [level["id"] for level in entry.get("values") or entry["bands"]]
        assert sorted(set(levels(name, attribute))) == sorted(known), attribute


def test_whole_numbers_are_even_within_their_band() -> None:
    ages = Counter(int(age) for age in drawn("consumer_products")["age"])
    for low, high, weight in ((18, 24, 0.13), (45, 54, 0.17), (65, 84, 0.17)):
        share = weight / (high - low + 1)
        for age in range(low, high + 1):
            assert abs(ages[age] / PEOPLE - share) < ERRORS * np.sqrt(share / PEOPLE)


def test_nobody_has_lived_in_town_for_longer_than_in_the_world() -> None:
    columns = drawn("civic_life")
    pairs = zip(columns["age"], columns["years_in_town"], strict=True)
    assert all(int(years) <= int(age) for age, years in pairs)


def test_another_seed_gives_other_people() -> None:
    same = [
        a == b
        for a, b in zip(
            drawn("civic_life")["occupation"], drawn("civic_life", 2)["occupation"], strict=True
        )
    ]
    assert 0.02 < np.mean(same) < 0.5


@given(st.permutations(range(40)), st.integers(1, 40))
def test_a_persona_is_the_same_in_any_order_and_any_company(order: list[int], size: int) -> None:
    field, streams = ontology.load("civic_life"), Streams(5)
    everyone = field.sample(streams=streams, keys=stream_keys(f"p{i}" for i in range(40)))
    some = field.sample(streams=streams, keys=stream_keys(f"p{i}" for i in order[:size]))
    for attribute, values in some.items():
        assert values == [everyone[attribute][i] for i in order[:size]]


TWO = """
name: two
attributes:
  - {id: a, kind: category, values: [{id: x, weight: 1}, {id: y, weight: 1}]}
  - {id: b, kind: category, values: [{id: x, weight: 1}, {id: y, weight: 1}]}
"""
THIRD = "  - {id: c, kind: category, values: [{id: x, weight: 1}, {id: y, weight: 1}]}\n"


def test_one_more_attribute_changes_no_other() -> None:
    keys = stream_keys(f"p{i}" for i in range(200))
    before = ontology.from_bytes(TWO.encode(), source="two").sample(streams=Streams(1), keys=keys)
    after = ontology.from_bytes((TWO + THIRD).encode(), source="three").sample(
        streams=Streams(1), keys=keys
    )
    assert after["a"] == before["a"]
    assert after["b"] == before["b"]
    assert after["c"] not in (before["a"], before["b"])


def test_parents_are_drawn_first_wherever_they_stand_in_the_file() -> None:
    late = """
name: late
attributes:
  - id: shape
    kind: category
    values: [{id: round}, {id: square}]
    given: [colour]
    table:
      - {when: {colour: red}, weights: {round: 1}}
      - {weights: {square: 1}}
  - {id: colour, kind: category, values: [{id: red, weight: 1}, {id: blue, weight: 2}]}
"""
    field = ontology.from_bytes(late.encode(), source="late.yaml")
    assert field.order == ("colour", "shape")
    columns = field.sample(streams=Streams(0), keys=stream_keys(f"p{i}" for i in range(300)))
    pairs = set(zip(columns["colour"], columns["shape"], strict=True))
    assert pairs == {("red", "round"), ("blue", "square")}


def test_what_has_no_weights_comes_from_files_only() -> None:
    field = ontology.load("survey_respondents")
    assert field["state"].distribution is None
    assert "state" not in field.sample(streams=Streams(0), keys=stream_keys(["p0"]))
    assert "city" not in field.order


CONTINUOUS = """
name: continuous
attributes:
  - {id: score, kind: number, integer: false, distribution: uniform, minimum: -1, maximum: 3}
  - {id: die, kind: number, distribution: uniform, minimum: 1, maximum: 6}
  - id: height
    kind: number
    distribution: normal
    mean: 170
    sd: 10
    minimum: 150
    maximum: 200
    bands: [{id: short, low: 150, high: 169}, {id: tall, low: 170, high: 200}]
  - id: reach
    kind: category
    values: [{id: low}, {id: high}]
    given: [height]
    table: [{when: {height: tall}, weights: {high: 1}}, {weights: {low: 1}}]
  - id: iq
    kind: number
    integer: false
    distribution: normal
    mean: 100
    sd: 15
    minimum: 0
    maximum: 300
"""


def test_uniform_and_normal_numbers_have_their_shape_and_ends() -> None:
    field = ontology.from_bytes(CONTINUOUS.encode(), source="c.yaml")
    keys = stream_keys(f"p{i}" for i in range(PEOPLE))
    columns = field.sample(streams=Streams(3), keys=keys)
    score = np.array(columns["score"], dtype=float)
    assert -1.0 <= score.min() < -0.99
    assert 2.99 < score.max() <= 3.0
    assert abs(score.mean() - 1.0) < 0.06
    dice = Counter(columns["die"])
    assert sorted(dice) == list("123456")
    assert all(abs(count / PEOPLE - 1 / 6) < 0.02 for count in dice.values())
    height = np.array(columns["height"], dtype=int)
    assert height.min() >= 150
    assert height.max() <= 200
    iq = np.array(columns["iq"], dtype=float)
    assert abs(iq.mean() - 100) < 0.7
    assert abs(iq.std() - 15) < 0.5
    for tall, reach in zip(height >= 170, columns["reach"], strict=True):
        assert reach == ("high" if tall else "low")


def test_numbers_with_fractions_fill_their_band_evenly() -> None:
    parts = """
name: parts
attributes:
  - id: x
    kind: number
    integer: false
    bands: [{id: low, low: 0, high: 1, weight: 1}, {id: high, low: 1, high: 3, weight: 3}]
"""
    field = ontology.from_bytes(parts.encode(), source="parts.yaml")
    keys = stream_keys(f"p{i}" for i in range(PEOPLE))
    x = np.array(field.sample(streams=Streams(0), keys=keys)["x"], dtype=float)
    assert abs((x < 1).mean() - 0.25) < 0.02
    assert abs((x > 2).mean() - 0.375) < 0.02
    assert x.max() <= 3


def test_a_normal_far_outside_its_ends_stays_inside_them() -> None:
    far = """
name: far
attributes:
  - {id: x, kind: number, distribution: normal, mean: 1000, sd: 1, minimum: 0, maximum: 9}
"""
    field = ontology.from_bytes(far.encode(), source="far.yaml")
    drawn_values = field.sample(streams=Streams(0), keys=stream_keys(["a", "b"]))["x"]
    assert all(0 <= int(value) <= 9 for value in drawn_values)


def test_nobody_is_drawn_for_no_keys() -> None:
    columns = ontology.load("civic_life").sample(streams=Streams(0), keys=stream_keys([]))
    assert set(itertools.chain.from_iterable(columns.values())) == set()
