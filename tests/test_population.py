from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation import ontology, population
from simulation.errors import ScenarioError
from simulation.population import CHEAP, FRONTIER, People, building
from simulation.population.beliefs import beta
from simulation.rng import Streams, stream_keys
from simulation.scenario.model import Population

if TYPE_CHECKING:
    from pathlib import Path

CIVIC = ontology.load("civic_life")
TARGETS = ("value", "trust", "C1")


def spec(**keys: Any) -> Population:
    return Population.model_validate(keys, strict=False)


def build(described: Population, file: Path | None = None, *, seed: int = 0) -> People:
    return population.build(
        described,
        targets=TARGETS,
        tier="cheap",
        ontology=CIVIC,
        streams=Streams(seed),
        file=file,
        source="x.yaml",
    )


def problems(described: Population, file: Path | None = None) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        build(described, file)
    return [str(problem) for problem in caught.value.problems]


def test_sampled_personas_have_ids_attributes_and_the_defaults() -> None:
    people = build(spec(size=3))
    assert people.ids == ("p0000", "p0001", "p0002")
    assert len(people) == 3
    assert set(people.attributes[0]) == set(CIVIC.order)
    assert people.activity.tolist() == [1.0, 1.0, 1.0]
    assert people.tiers.tolist() == [CHEAP] * 3
    assert people.beliefs.tolist() == [[0.5] * 3] * 3


def test_ids_are_sorted_by_code_points_and_stay_when_more_personas_follow() -> None:
    people = build(spec(size=10_002))
    assert list(people.ids) == sorted(people.ids)
    assert {"p0000", "p9999", "p10000", "p10001"} <= set(people.ids)


@given(small=st.integers(1, 30), more=st.integers(1, 30))
def test_one_more_persona_changes_nobody_else(small: int, more: int) -> None:
    drawn = spec(size=small, beliefs={"C1": {"distribution": "beta", "a": 2.0, "b": 3.0}})
    some, all_of_them = build(drawn), build(drawn.model_copy(update={"size": small + more}))
    assert all_of_them.attributes[:small] == some.attributes
    assert (all_of_them.beliefs[:small] == some.beliefs).all()


def test_nobody_and_one_persona_are_populations() -> None:
    nobody, one = build(spec(size=0)), build(spec(size=1))
    assert (len(nobody), nobody.beliefs.shape) == (0, (0, 3))
    assert (len(one), one.beliefs.shape) == (1, (1, 3))


def test_the_arrays_cannot_be_changed() -> None:
    people = build(spec(size=2))
    with pytest.raises(ValueError, match="read-only"):
        people.beliefs[0, 0] = 1.0


def test_a_tier_of_the_population_wins_over_that_of_the_scenario() -> None:
    assert build(spec(size=1, tier="frontier")).tiers.tolist() == [FRONTIER]


def test_one_number_is_everybodys_belief_in_everything() -> None:
    assert build(spec(size=2, beliefs=0.3)).beliefs.tolist() == [[0.3] * 3] * 2


def test_targets_without_a_source_start_at_one_half() -> None:
    assert build(spec(size=1, beliefs={"trust": 0.3})).beliefs.tolist() == [[0.5, 0.3, 0.5]]


@pytest.mark.parametrize(
    ("source", "mean", "sd"),
    [
        ({"distribution": "uniform", "low": 0.2, "high": 0.6}, 0.4, 0.4 / np.sqrt(12)),
        ({"distribution": "normal", "mean": 0.5, "sd": 0.1}, 0.5, 0.1),
        ({"distribution": "beta", "a": 2.0, "b": 6.0}, 0.25, np.sqrt(12 / (64 * 9))),
        ({"distribution": "beta", "a": 0.4, "b": 0.6}, 0.4, np.sqrt(0.12)),
        ({"distribution": "beta", "a": 1.0, "b": 1.0}, 0.5, 1 / np.sqrt(12)),
        ({"distribution": "choice", "values": [0.1, 0.9]}, 0.5, 0.4),
        ({"distribution": "choice", "values": [0.1, 0.9, 0.4], "weights": [1, 3, 0]}, 0.7, 0.3464),
    ],
)
def test_beliefs_have_the_mean_and_spread_of_their_distribution(
    source: dict[str, Any], mean: float, sd: float
) -> None:
    # 20,000 draws: the mean is within 4.5 standard errors, the spread within 3 per cent.
    values = build(spec(size=20_000, beliefs={"C1": source})).beliefs[:, 2]
    assert 0.0 <= values.min() <= values.max() <= 1.0
    assert abs(values.mean() - mean) < 4.5 * sd / np.sqrt(20_000)
    assert values.std() == pytest.approx(sd, rel=0.03)


def test_beta_draws_follow_the_distribution_function() -> None:
    # Beta(2, 1) has F(x) = x**2, Beta(1, 3) has F(x) = 1 - (1 - x)**3; Kolmogorov-Smirnov at 1e-4.
    keys = stream_keys(f"p{i}" for i in range(20_000))
    rising = np.arange(1, 20_001) / 20_000
    first = np.sort(beta(2.0, 1.0, purpose="t", streams=Streams(1), keys=keys))
    other = np.sort(beta(1.0, 3.0, purpose="t", streams=Streams(1), keys=keys))
    assert np.abs(first**2 - rising).max() < 2.23 / np.sqrt(20_000)
    assert np.abs(1 - (1 - other) ** 3 - rising).max() < 2.23 / np.sqrt(20_000)


@given(a=st.floats(1e-310, 1e6), b=st.floats(1e-310, 1e6), seed=st.integers(0, 5))
def test_beta_draws_stay_in_the_unit_interval_for_any_shape(a: float, b: float, seed: int) -> None:
    values = beta(a, b, purpose="t", streams=Streams(seed), keys=stream_keys("abcdef"))
    assert ((values >= 0) & (values <= 1)).all()


def test_a_normal_is_clipped_into_the_unit_interval() -> None:
    beliefs = build(
        spec(size=500, beliefs={"C1": {"distribution": "normal", "mean": 0.9, "sd": 0.5}})
    ).beliefs[:, 2]
    assert beliefs.max() == 1.0
    assert beliefs.min() >= 0.0


def test_targets_of_equal_distribution_are_drawn_apart() -> None:
    flat = {"distribution": "uniform"}
    beliefs = build(spec(size=400, beliefs={"value": flat, "trust": flat})).beliefs
    assert abs(np.corrcoef(beliefs[:, 0], beliefs[:, 1])[0, 1]) < 0.2


def test_a_belief_by_attribute_takes_the_mean_of_the_value_or_the_other_one() -> None:
    source = {"by": "party_leaning", "means": {"left": 0.9, "on the right": 0.1}, "otherwise": 0.4}
    people = build(spec(size=200, beliefs={"C1": source}))
    for values, belief in zip(people.attributes, people.beliefs[:, 2].tolist(), strict=True):
        assert belief == {"left": 0.9, "right": 0.1}.get(values["party_leaning"], 0.4)


def test_a_belief_by_attribute_spreads_around_its_mean() -> None:
    source = {"by": "gender", "means": {"woman": 0.5}, "otherwise": 0.5, "sd": 0.1}
    beliefs = build(spec(size=5000, beliefs={"C1": source})).beliefs[:, 2]
    assert beliefs.std() == pytest.approx(0.1, rel=0.05)


def test_a_belief_by_a_number_knows_its_bands_and_single_values() -> None:
    source = {"by": "age", "means": {"18-24": 0.9, "80-95": 0.2, "19": 0.1}, "otherwise": 0.4}
    people = build(spec(size=500, beliefs={"C1": source}))
    for values, belief in zip(people.attributes, people.beliefs[:, 2].tolist(), strict=True):
        age = int(values["age"])
        expected = 0.1 if age == 19 else 0.9 if age < 25 else 0.2 if age >= 80 else 0.4
        assert belief == expected


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "population.size  a number is needed to sample"),
        ({"size": 1, "id_column": "id"}, "population.id_column  there are no columns"),
        ({"size": 1, "columns": {"age": "AGE"}}, "population.columns  there are no columns"),
        ({"size": 1, "activity": {"column": "a"}}, "population.activity  there are no columns"),
        ({"size": 1, "tier": {"column": "a"}}, "population.tier  there are no columns"),
        ({"size": 1, "beliefs": {"C1": {"column": "a"}}}, "beliefs.C1.column  there are no col"),
        ({"size": 1, "beliefs": {"C2": 0.1}}, '"C2" is not a dimension or claim'),
        ({"size": 1, "beliefs": {"trsut": 0.1}}, 'did you mean "trust"?'),
        (
            {"size": 1, "beliefs": {"C1": {"distribution": "uniform", "low": 0.9, "high": 0.1}}},
            "low 0.9 is above high 0.1",
        ),
        (
            {
                "size": 1,
                "beliefs": {"C1": {"distribution": "choice", "values": [0.1], "weights": [0]}},
            },
            "the weights sum to 0",
        ),
        (
            {
                "size": 1,
                "beliefs": {
                    "C1": {"distribution": "choice", "values": [0.1, 0.2], "weights": [1]}
                },
            },
            "1 weights for 2 values",
        ),
        (
            {"size": 1, "beliefs": {"C1": {"by": "aeg", "means": {"1": 0.1}}}},
            'did you mean "age"?',
        ),
        (
            {"size": 1, "beliefs": {"C1": {"by": "party_leaning", "means": {"lfet": 0.1}}}},
            'did you mean "left"?',
        ),
        (
            {
                "size": 1,
                "beliefs": {
                    "C1": {"by": "party_leaning", "means": {"left": 0.1, "left wing": 0.2}}
                },
            },
            '"left" names the same value',
        ),
        ({"source": "people.csv"}, "population.source  the file was not found"),
        ({"source": "people.csv", "columns": {"aeg": "x"}}, 'did you mean "age"?'),
    ],
)
def test_a_description_that_makes_no_sense_is_refused(keys: dict[str, Any], message: str) -> None:
    assert any(message in problem for problem in problems(spec(**keys)))


def test_an_ontology_that_draws_nothing_gives_no_persona_to_talk_to() -> None:
    texts = ontology.from_bytes(b"name: t\nattributes: [{id: town, kind: text}]", source="t.yaml")
    with pytest.raises(ScenarioError, match="2 personas have an empty persona block"):
        population.build(
            spec(size=2),
            targets=(),
            tier="cheap",
            ontology=texts,
            streams=Streams(0),
            file=None,
            source="x.yaml",
        )


@pytest.mark.parametrize("cell", ["0_1", "٠.٥", "1e999", "nan", "", "-0.1"])  # noqa: RUF001  (Arabic digits)
def test_a_share_is_written_in_plain_digits(cell: str) -> None:
    assert building._unit(cell) is None


def test_a_negative_zero_is_zero() -> None:
    assert str(building._unit("-0")) == "0.0"
