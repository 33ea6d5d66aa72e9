from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation import ontology, personality, population
from simulation.errors import ScenarioError
from simulation.personality import Personalities, joint
from simulation.personality.figures import FIGURES, LEVELS
from simulation.rng import Streams, stream_keys
from simulation.scenario.model import TRAITS, Population

if TYPE_CHECKING:
    from simulation.population import People

SHARED = Path(__file__).resolve().parents[2] / "shared"
KINDS = ("attachment", "big_five")
CORNERS = {
    "secure": (0.15, 0.15),
    "anxious": (0.85, 0.15),
    "avoidant": (0.15, 0.85),
    "fearful": (0.85, 0.85),
}

FIELD = ontology.from_bytes(
    b"""
name: field
attributes:
  - id: age
    kind: number
    minimum: 0
    maximum: 120
    bands: [{id: young, low: 0, high: 39}, {id: old, low: 40, high: 120}]
    distribution: uniform
  - id: work
    kind: category
    values:
      - {id: nurse, label: a nurse, synonyms: [RN], weight: 1}
      - {id: cook, label: a cook, weight: 1}
""",
    source="field.yaml",
)


def spec(size: int, personality: Any) -> Population:
    values = {"size": size, "personality": personality}
    return Population.model_validate(values, strict=False)


def people(described: Population, *, file: Path | None = None, seed: int = 0) -> People:
    return population.build(
        described,
        targets=("C1",),
        tier="cheap",
        ontology=FIELD,
        streams=Streams(seed),
        file=file,
        source="x.yaml",
    )


def build(size: int, traits: Any, *, seed: int = 0) -> Personalities:
    described = spec(size, traits)
    return personality.build(
        described.personality,
        people=people(described),
        ontology=FIELD,
        streams=Streams(seed),
        source="x.yaml",
    )


def drawn(kind: str, *, seed: int, size: int = 10_000) -> np.ndarray[Any, np.dtype[np.float64]]:
    keys = stream_keys(f"p{i:04d}" for i in range(size))
    return joint.draw(FIGURES[kind], TRAITS[kind], streams=Streams(seed), keys=keys)


def spearman(vectors: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return rank correlations; equal values share their mean rank."""
    ranks = []
    for column in vectors.T:
        _, place, count = np.unique(column, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(count) - (count - 1) / 2)[place])
    return np.asarray(np.corrcoef(ranks))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2, 7])
def test_ten_thousand_sampled_vectors_match_every_quantile(kind: str, seed: int) -> None:
    found = np.quantile(drawn(kind, seed=seed), LEVELS, axis=0)
    assert np.abs(found - np.transpose(FIGURES[kind].quantiles)).max() <= 0.02


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2, 7])
def test_ten_thousand_sampled_vectors_match_every_rank_correlation(kind: str, seed: int) -> None:
    found = spearman(drawn(kind, seed=seed))
    assert np.abs(found - np.array(FIGURES[kind].spearman)).max() <= 0.03


@pytest.mark.parametrize("kind", KINDS)
def test_many_sampled_vectors_come_closer_so_that_no_bias_hides_in_the_tolerance(
    kind: str,
) -> None:
    vectors = drawn(kind, seed=0, size=200_000)
    figures = FIGURES[kind]
    assert np.abs(spearman(vectors) - np.array(figures.spearman)).max() <= 0.009  # 4 errors
    quantiles = np.quantile(vectors, LEVELS[1:-1], axis=0)
    assert np.abs(quantiles - np.transpose(figures.quantiles)[1:-1]).max() <= 0.005
    assert np.abs(vectors.mean(axis=0) - figures.mean).max() <= 0.006
    assert np.abs(vectors.std(axis=0) - figures.sd).max() <= 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_the_figures_are_those_that_were_computed_from_the_surveys(kind: str) -> None:
    source = SHARED / "data" / "personality" / "traits.json"
    if not source.exists():
        pytest.skip("the shared survey figures are not beside the repository")
    expected = json.loads(source.read_text(encoding="utf-8"))[kind]
    figures = FIGURES[kind]
    assert TRAITS[kind] == tuple(expected["columns"])
    assert tuple(float(level) for level in expected["quantiles"]) == pytest.approx(LEVELS)
    assert [list(q) for q in np.transpose(figures.quantiles)] == [*expected["quantiles"].values()]
    assert [list(row) for row in figures.spearman] == expected["spearman"]
    assert figures.people == expected["n"]
    assert list(figures.mean) == expected["mean"]
    assert list(figures.sd) == expected["sd"]


@given(z=st.floats(-40, 40))
def test_the_normal_distribution_function_is_exact(z: float) -> None:
    found = joint.normal_cdf(np.array([z]))
    assert found == pytest.approx(NormalDist().cdf(z), abs=1e-15)


@given(rho=st.floats(-1, 1))
def test_the_normal_correlation_has_the_rank_correlation_that_is_wanted(rho: float) -> None:
    r = joint.normal_correlation(np.array(rho))
    assert 6 / np.pi * np.arcsin(r / 2) == pytest.approx(rho, abs=1e-12)


@given(
    u=st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted),
    trait=st.sampled_from([values for kind in KINDS for values in FIGURES[kind].quantiles]),
)
def test_quantiles_rise_and_stay_in_the_unit_interval(
    u: list[float], trait: tuple[float, ...]
) -> None:
    low, high = joint.quantile(np.array(u), trait)
    assert 0.0 <= low <= high + 1e-12
    assert high <= 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_quantiles_are_met_exactly_and_without_a_jump(kind: str) -> None:
    for trait in FIGURES[kind].quantiles:
        for shift in (-1e-12, 0.0, 1e-12):
            at = np.clip(np.array(LEVELS) + shift, 0.0, 1.0)
            assert joint.quantile(at, trait) == pytest.approx(trait, abs=1e-9)


def test_the_outermost_twentieth_leaves_with_the_slope_of_the_next_piece() -> None:
    trait = FIGURES["big_five"].quantiles[0]
    for edge, inside, outside in ((0.05, 1e-6, -1e-6), (0.95, -1e-6, 1e-6)):
        at, there, beyond = joint.quantile(
            np.array([edge, edge + inside, edge + outside]), trait
        ).tolist()
        assert (at - beyond) / (there - at) == pytest.approx(1.0, rel=1e-3)


def test_a_twentieth_that_is_wider_than_the_one_before_the_end_stays_a_line() -> None:
    trait = (0.0, 0.02, 0.5, *np.linspace(0.51, 0.97, 17).tolist(), 1.0)
    assert joint.quantile(np.array([0.025]), trait) == pytest.approx(0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_another_persona_changes_nobody_else_bit_for_bit(kind: str) -> None:
    sample = {"kind": kind, "sample": True}
    few, many = build(7, sample), build(501, sample)
    assert np.array_equal(few.vectors, many.vectors[:7])
    alone = stream_keys(["p0003"])
    again = joint.draw(FIGURES[kind], TRAITS[kind], streams=Streams(0), keys=alone)
    assert np.array_equal(again[0], few.vectors[3])


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_samples_other_people(kind: str) -> None:
    sample = {"kind": kind, "sample": True}
    first, second = build(50, sample, seed=1).vectors, build(50, sample, seed=2).vectors
    assert (first != second).any(axis=1).all()
    assert np.array_equal(first, build(50, sample, seed=1).vectors)


@pytest.mark.parametrize(
    ("traits", "shape", "names"),
    [
        ("none", (0, 0), ()),
        ({"kind": "attachment", "sample": True}, (0, 2), ("anxiety", "avoidance")),
        ({"kind": "attachment", "profile": "anxious"}, (0, 2), ("anxiety", "avoidance")),
        ({"kind": "attachment", "shares": {"secure": 1}}, (0, 2), ("anxiety", "avoidance")),
        (
            {"kind": "attachment", "by": "work", "profiles": {"cook": "secure"}},
            (0, 2),
            ("anxiety", "avoidance"),
        ),
        ({"kind": "big_five", "sample": True}, (0, 5), ("O", "C", "E", "A", "N")),
    ],
)
def test_nobody_has_no_vectors(
    traits: Any, shape: tuple[int, int], names: tuple[str, ...]
) -> None:
    found = build(0, traits)
    assert found.vectors.shape == shape
    assert found.names == names
    assert len(found) == 0


def test_none_is_the_default_and_has_no_traits() -> None:
    assert Population().personality == "none"
    found = build(3, "none")
    assert (found.kind, found.names, found.vectors.shape, len(found)) == ("none", (), (3, 0), 3)


@pytest.mark.parametrize("profile", list(CORNERS))
def test_a_named_profile_is_the_same_for_everyone(profile: str) -> None:
    found = build(3, {"kind": "attachment", "profile": profile})
    assert found.kind == "attachment"
    assert found.vectors.tolist() == [list(CORNERS[profile])] * 3


def test_fixed_numbers_are_the_same_for_everyone() -> None:
    found = build(2, {"kind": "attachment", "anxiety": 0.3, "avoidance": 0})
    assert found.vectors.tolist() == [[0.3, 0.0]] * 2
    five = build(2, {"kind": "big_five", "N": 1, "A": 0.4, "E": 0.3, "C": 0.2, "O": 0.1})
    assert five.vectors.tolist() == [[0.1, 0.2, 0.3, 0.4, 1.0]] * 2


def test_vectors_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        build(2, {"kind": "attachment", "sample": True}).vectors[0, 0] = 0.0


def test_shares_are_drawn_in_proportion_whatever_their_sum_or_order() -> None:
    shares = {"anxious": 3, "secure": 6, "fearful": 1, "avoidant": 0}
    found = build(4000, {"kind": "attachment", "shares": shares})
    counts = {name: (found.vectors == corner).all(1).sum() for name, corner in CORNERS.items()}
    assert counts["avoidant"] == 0
    assert sum(counts.values()) == 4000
    for name, share in shares.items():
        assert counts[name] / 4000 == pytest.approx(share / 10, abs=0.03)
    turned = dict(reversed([(name, 1e5 / 3 * share) for name, share in shares.items()]))
    again = build(4000, {"kind": "attachment", "shares": turned})
    assert np.array_equal(again.vectors, found.vectors)


def test_a_profile_can_go_by_an_attribute() -> None:
    traits = {"kind": "attachment", "by": "work", "profiles": {"rn": "anxious", "cook": "secure"}}
    held = people(spec(40, "none")).attributes
    expected = [CORNERS["anxious" if h["work"] == "nurse" else "secure"] for h in held]
    assert build(40, traits).vectors.tolist() == [list(corner) for corner in expected]
    assert len({h["work"] for h in held}) == 2


def test_a_number_goes_by_its_band_unless_it_is_named_itself() -> None:
    held = [int(h["age"]) for h in people(spec(60, "none")).attributes]
    one = min(held)
    profiles = {"young": "anxious", str(one): "fearful"}
    traits = {"kind": "attachment", "by": "age", "profiles": profiles, "otherwise": "avoidant"}
    expected = [
        CORNERS["fearful" if age == one else "anxious" if age < 40 else "avoidant"] for age in held
    ]
    assert build(60, traits).vectors.tolist() == [list(corner) for corner in expected]
    assert len(set(expected)) == 3


@pytest.mark.parametrize(
    ("traits", "where", "message"),
    [
        (
            {"by": "wrk", "profiles": {"cook": "secure"}},
            "by",
            '"wrk" is not an attribute of field; there are age, work; did you mean "work"?',
        ),
        (
            {"by": "work", "profiles": {"cok": "secure"}},
            "profiles.cok",
            '"cok" is not a value of work; there are nurse, cook; did you mean "cook"?',
        ),
        (
            {"by": "work", "profiles": {"nurse": "secure", "RN": "anxious"}},
            "profiles.RN",
            '"nurse" names the same value',
        ),
        (
            {"by": "work", "profiles": {"cook": "secure"}},
            "profiles",
            "no profile for personas with work: nurse; name one, or give `otherwise`",
        ),
    ],
)
def test_an_attribute_that_decides_nothing_is_refused(
    traits: dict[str, Any], where: str, message: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        build(30, {"kind": "attachment", **traits})
    (problem,) = caught.value.problems
    assert problem.where == f"population.personality.{where}"
    assert problem.message == message


def test_the_column_of_a_sampled_population_is_refused_in_python_too() -> None:
    columns = {"anxiety": "a", "avoidance": "b"}
    with pytest.raises(ScenarioError, match=r"personality\.columns  there are no columns"):
        build(3, {"kind": "attachment", "columns": columns})
