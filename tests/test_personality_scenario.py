"""What a scenario may say about personality: each mistake gives one message, with its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from simulation.errors import ScenarioError
from simulation.scenario import Loaded, flatten, load_text
from simulation.scenario.model import Personality, Population
from simulation.scenario.reading import load_scenario

BASE = """\
name: bar
horizon: 3
brief: {brand: Bar, proposition: A bar.}
ontology: consumer_products
population:
  size: 6
"""
PAGE = Path(__file__).resolve().parents[1] / "docs" / "personality.md"
LINE = 7  # where the personality stands
TWO = "does not say which values: give profile, anxiety and avoidance, sample: true, columns"
FIVE = "does not say which values: give O, C, E, A and N, sample: true, or columns"


def loaded(text: str, *, sets: tuple[str, ...] = (), folder: Path | None = None) -> Loaded:
    return load_text(f"{BASE}{text}", settings=sets, folder=folder)


def problems(text: str, **options: Any) -> list[tuple[int | None, str, str]]:
    with pytest.raises(ScenarioError) as caught:
        loaded(text, **options)
    return [(p.line, p.where, p.message) for p in caught.value.problems]


@pytest.mark.parametrize(
    "value",
    [
        "none",
        "{kind: attachment, profile: secure}",
        "{kind: attachment, anxiety: 0.3, avoidance: 1}",
        "{kind: attachment, sample: true}",
        "{kind: attachment, sample: false, profile: fearful}",
        "{kind: attachment, shares: {secure: 0.4, anxious: 0}}",
        "{kind: attachment, by: work, profiles: {nurse: secure}}",
        "{kind: attachment, by: work, profiles: {nurse: secure}, otherwise: anxious}",
        "{kind: big_five, sample: true}",
        "{kind: big_five, O: 0.1, C: 0.2, E: 0.3, A: 0.4, N: 0.5}",
    ],
)
def test_every_way_to_give_a_personality_is_read(value: str) -> None:
    assert loaded(f"  personality: {value}\n").scenario.population.personality


@pytest.mark.parametrize(
    ("value", "where", "message"),
    [
        ("anxious", "", 'must be "none", or a mapping with the key kind, not "anxious"'),
        ("0.5", "", 'must be "none", or a mapping with the key kind, not 0.5'),
        ("[]", "", 'must be "none", or a mapping with the key kind, not an empty list'),
        ("", "", 'must be "none", or a mapping with the key kind, not'),
        ("{}", ".kind", "is required: one of attachment, big_five"),
        ("{anxiety: 0.3, avoidance: 0.4}", ".kind", "is required"),
        ("{kind: attachmnt, sample: true}", ".kind", 'did you mean "attachment"?'),
        ("{kind: attachment}", "", TWO),
        ("{kind: attachment, sample: false}", "", TWO),
        ("{kind: big_five}", "", FIVE),
        ("{kind: attachment, anxiety: 0.3}", "", "needs anxiety and avoidance; avoidance is"),
        ("{kind: big_five, O: 0.3, A: 0}", "", "C, E and N are missing"),
        ("{kind: attachment, anxiety: .nan, avoidance: 0}", ".anxiety", "not a finite number"),
        ("{kind: attachment, anxiety: 1.1, avoidance: 0}", ".anxiety", "between 0 and 1, not 1.1"),
        ("{kind: attachment, anxiety: 0, avoidance: -0.1}", ".avoidance", "not -0.1"),
        ('{kind: attachment, anxiety: 0, avoidance: "0.5"}', ".avoidance", "remove the quotes"),
        ("{kind: big_five, O: 0, C: 0, E: 0, A: 0, N: true}", ".N", "between 0 and 1, not true"),
        (
            "{kind: attachment, anxiety: 0.3, avoidance: 0.2, O: 0.1}",
            ".O",
            "belongs to the kind big_five, not attachment",
        ),
        (
            "{kind: big_five, profile: secure}",
            ".profile",
            "belongs to the kind attachment, not big_five",
        ),
        ("{kind: attachment, profile: anxous}", ".profile", 'did you mean "anxious"?'),
        (
            "{kind: attachment, profile: secure, anxiety: 0.3, avoidance: 0.3}",
            ".anxiety",
            "cannot stand beside profile: the values come from one place; give profile, anxiety",
        ),
        (
            "{kind: attachment, shares: {secure: 1}, sample: true}",
            ".shares",
            "cannot stand beside sample",
        ),
        ('{kind: big_five, sample: "yes"}', ".sample", 'must be true or false, not "yes"'),
        ("{kind: attachment, sample: true, anxeity: 1}", ".anxeity", 'did you mean "anxiety"?'),
        ("{kind: attachment, shares: {secur: 1}}", ".shares.secur", 'did you mean "secure"?'),
        ("{kind: attachment, shares: {secure: 0}}", ".shares", "must not all be 0"),
        ("{kind: attachment, shares: {}}", ".shares", "must not all be 0"),
        (
            "{kind: attachment, shares: {secure: -1}}",
            ".shares.secure",
            "between 0 and 1,000,000, not -1",
        ),
        ("{kind: attachment, shares: 3}", ".shares", "must be a mapping"),
        ("{kind: attachment, by: work}", ".profiles", "is required beside by"),
        ("{kind: attachment, profiles: {a: secure}}", ".by", "is required beside profiles"),
        ("{kind: attachment, otherwise: secure}", ".by", "is required beside profiles"),
        ("{kind: attachment, by: a, profiles: {}}", ".profiles", "not an empty mapping"),
        ("{kind: attachment, by: a, profiles: {b: c}}", ".profiles.b", "one of secure, anxious"),
        (
            "{kind: attachment, columns: {anxiety: a, avoidance: b}}",
            ".columns",
            "needs a file in population.source; the population is sampled",
        ),
        ("{kind: attachment, columns: 3}", ".columns", "must be a mapping"),
    ],
)
def test_each_mistake_gives_one_message_with_its_line_and_key_path(
    value: str, where: str, message: str
) -> None:
    ((line, place, said),) = problems(f"  personality: {value}\n")
    assert (line, place) == (LINE, f"population.personality{where}")
    assert message in said


@pytest.mark.parametrize(
    ("columns", "where", "message"),
    [
        ("{anxiety: a}", "", "a column for each of anxiety and avoidance; avoidance is missing"),
        ("{}", "", "anxiety and avoidance are missing"),
        (
            "{anxiety: a, avoidence: b}",
            ".avoidence",
            '"avoidence" is no trait of the kind attachment; did you mean "avoidance"?',
        ),
        ("{anxiety: a, O: b}", ".O", "traits are anxiety, avoidance"),
        ("{anxiety: a, avoidance: 3}", ".avoidance", "put it in quotes"),
    ],
)
def test_columns_name_every_trait_of_the_kind(
    tmp_path: Path, columns: str, where: str, message: str
) -> None:
    (tmp_path / "people.csv").write_text("age\n30\n", encoding="utf-8")
    source = f"  source: people.csv\n  personality: {{kind: attachment, columns: {columns}}}\n"
    ((line, place, said),) = problems(source, folder=tmp_path)
    assert (line, place) == (LINE + 1, f"population.personality.columns{where}")
    assert message in said


def test_all_problems_of_a_personality_are_told_at_once() -> None:
    found = problems("  personality: {kind: big_five, O: 2, C: x, E: .inf}\n")
    assert [where.rpartition(".")[2] for _, where, _ in found] == ["personality", "C", "E", "O"]


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        (("population.personality=none",), "none"),
        (("population.personality={kind: big_five, sample: true}",), "big_five"),
        (("population.personality.kind=big_five", "population.personality.sample=true"), ""),
        (("population.personality.profile=anxious",), "attachment"),
    ],
)
def test_the_command_line_can_set_it(settings: tuple[str, ...], kind: str) -> None:
    text = "" if not kind else "  personality: {kind: attachment, profile: secure}\n"
    found = loaded(text, sets=settings).scenario.population.personality
    assert (found if isinstance(found, str) else found.kind) == (kind or "big_five")


def test_a_setting_that_is_wrong_is_named_without_a_line() -> None:
    ((line, where, _),) = problems("", sets=("population.personality={kind: attachment}",))
    assert (line, where) == (None, "population.personality")


def test_a_scenario_made_in_python_is_checked_as_well() -> None:
    scenario = loaded("").scenario
    wrong = Personality(kind="attachment", anxiety=0.5)
    population = Population(size=6, personality=wrong)
    with pytest.raises(ScenarioError, match="avoidance is missing"):
        load_scenario(scenario.model_copy(update={"population": population}))
    right = Population(size=6, personality=Personality(kind="attachment", profile="secure"))
    again = load_scenario(scenario.model_copy(update={"population": right}))
    assert again.scenario.population == right


def test_the_parameters_of_a_run_say_which_personality_is_in_force() -> None:
    assert flatten(loaded("").scenario)["population.personality"] == "none"
    flat = flatten(loaded("  personality: {kind: attachment, profile: fearful}\n").scenario)
    assert flat["population.personality.kind"] == "attachment"
    assert flat["population.personality.profile"] == "fearful"


def test_every_documented_way_to_give_a_personality_is_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n30\n", encoding="utf-8")
    lines = re.findall(r"^  personality: .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) == 10
    for line in lines:
        scenario = loaded(f"  source: people.csv\n{line}\n", folder=tmp_path).scenario
        assert scenario.population.personality == "none" or "kind:" in line
