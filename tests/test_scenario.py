"""Reading a scenario: problems, lines, wording, and what a valid one gives."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.errors import Problem, ScenarioError, UsageError
from simulation.scenario import (
    ACTIONS,
    Scenario,
    flatten,
    json_schema,
    load_scenario,
    load_text,
    read_scenario,
    starter,
)
from simulation.scenario.model import Action, FromColumn
from simulation.scenario.reference import reference, write_reference
from simulation.scenario.words import phrase

ROOT = Path(__file__).resolve().parents[1]
BASE = """\
name: bar
horizon: 12
brief:
  brand: Bar
  proposition: A bar.
  claims:
    - {id: C1, text: It is good.}
    - {id: C2, text: It is cheap.}
ontology: consumer_products
population: {size: 60}
"""


def problems(text: str, *, sets: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the messages of each key path with a problem."""
    with pytest.raises(ScenarioError) as caught:
        load_text(text, settings=sets)
    found: dict[str, str] = {}
    for p in caught.value.problems:
        found[p.where] = f"{found[p.where]} / {p.message}" if p.where in found else p.message
    return found


def only(text: str, *, sets: tuple[str, ...] = ()) -> Problem:
    """Return the one problem of a text."""
    with pytest.raises(ScenarioError) as caught:
        load_text(text, settings=sets)
    assert len(caught.value.problems) == 1, str(caught.value)
    return caught.value.problems[0]


def test_a_minimal_scenario_takes_every_default() -> None:
    loaded = load_text(BASE)
    assert loaded.scenario.targets == ("value", "fit", "trust", "C1", "C2")
    assert loaded.scenario.tau == 3.0
    assert loaded.scenario.recall.k.frontier == 8
    assert loaded.scenario.actions == ACTIONS
    assert loaded.path is None
    assert loaded.text == BASE
    assert dict(loaded.files) == {}


def test_the_starter_validates_and_carries_its_name() -> None:
    loaded = load_text(starter("my-first.one"))
    assert loaded.scenario.name == "my-first.one"
    assert loaded.scenario.population.size == 60
    assert loaded.scenario.horizon == 12
    assert loaded.scenario.ontology == "consumer_products"


def test_a_starter_name_that_yaml_would_misread_stays_text() -> None:
    assert load_text(starter("12")).scenario.name == "12"


@pytest.mark.parametrize("name", ["", "a b", "../x", "x\n", "-x", "a" * 65])
def test_a_starter_refuses_a_name_that_no_scenario_may_have(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        starter(name)


def test_every_problem_of_a_file_is_named_at_once_with_its_line() -> None:
    text = BASE.replace("size: 60", "sise: 60") + "stimuli:\n  - {tick: 1, text: x, claim: C9}\n"
    with pytest.raises(ScenarioError) as caught:
        load_text(text, name="bar.yaml")
    assert str(caught.value).splitlines() == [
        "bar.yaml cannot be used (3 problems):",
        '  line 10  population.sise  unknown key; did you mean "size"?',
        "  line 10  population.size  is required when the population is sampled",
        '  line 12  stimuli[0].claim  "C9" is not a claim of the brief; claims are C1, C2',
    ]


def test_an_unknown_key_far_from_all_lists_what_is_allowed() -> None:
    assert only(BASE + "probes: {xyzzy: 1}\n").message == (
        "unknown key; allowed are share, every, questions"
    )


@pytest.mark.parametrize(
    ("line", "where", "message"),
    [
        ("seed: '5'", "seed", "remove the quotes"),
        ("seed: true", "seed", "must be a whole number"),
        ("seed: 3.0", "seed", "write 3"),
        ("seed: 3.5", "seed", "not 3.5"),
        ("seed:", "seed", "not empty"),
        (f"seed: {'9' * 5000}", "seed", "a number of 5000 digits is too long"),
        ("seed: 99999999999999999999", "seed", "must be a whole number between"),
        ("tier: cheep", "tier", 'did you mean "cheap"?'),
        ("tier: no", "tier", "must be one of cheap, frontier, not no"),
        ("description: no", "description", 'YAML reads no as false; put it in quotes: "no"'),
        ("description: 12", "description", 'put it in quotes: "12"'),
        ("description: 12:30", "description", 'put it in quotes: "12:30"'),
        ("description: 010", "description", "base 8"),
        ("description: 2026-11-03", "description", "reads 2026-11-03 as a date"),
        ("final_actions: 1", "final_actions", "must be true or false, not 1"),
        ("feed: {size: 0}", "feed.size", "must be a whole number between 1 and 100, not 0"),
        ("feed: {size: 2.0}", "feed.size", "write 2"),
        ("feed: {recent: -1}", "feed.recent", "must be a number between 0 and 1,000,000, not -1"),
        ("feed: {recent: .nan}", "feed.recent", ".nan is not a finite number"),
        ("feed: {recent: 1e999}", "feed.recent", "too large"),
        ("feed: 5", "feed", "must be a mapping with the keys size, recent"),
        ("feed:", "feed", "not empty"),
        (
            "recall: {tau: 0}",
            "recall.tau",
            "must be a number between 0.000001 and 1,000,000, not 0",
        ),
        ("rule: {persuasion: 1.5}", "rule.persuasion", "between 0 and 1, not 1.5"),
        ("rule: {persuasion: yes}", "rule.persuasion", "not yes"),
        ("actions: like", "actions", 'put it in brackets: ["like"]'),
        ("actions: []", "actions", "a list of at least one: one of"),
        ("actions: [ignore, lik]", "actions[1]", 'did you mean "like"?'),
        ("description: !!python/name:os.system x", "description", "is not allowed"),
        ("description: !secret x", "description", "is not allowed"),
        ('description: "a\\0b"', "description", "U+0000"),
        ('description: "\\e[31m"', "description", "U+001B"),
        ("description: !!binary aGk=", "description", "is not allowed"),
        ("seed: !!int x", "seed", "does not fit its tag !!int"),
        ("seed: !!int true", "seed", "does not fit its tag !!int"),
        ("seed: !!float .inf", "seed", "not a finite number"),
        ("<<: {seed: 3}", "", "merge keys (<<) are not supported"),
        ("no: 3", "no", 'put it in quotes: "no"'),
        ("2: 3", '["2"]', "YAML reads 2 as a number"),
        ("~: 3", '["~"]', "YAML reads ~ as nothing"),
        ("? [a]\n: 3", "", "a key must be text, not a list"),
        ("? 2026-11-03\n: 3", '["2026-11-03"]', "as a date"),
        ("'': 3", "", "must not be empty"),
        ('"a\\x01": 3', '["a\\u0001"]', "plain text"),
    ],
)
def test_a_wrong_value_is_explained_in_plain_words(line: str, where: str, message: str) -> None:
    found = problems(f"{BASE}{line}\n")
    assert message in found[where]


@pytest.mark.parametrize(
    ("key", "where", "message"),
    [
        ("beliefs: x", "beliefs", "must be a number between 0 and 1, or a mapping of names"),
        ("beliefs: 2", "beliefs", "must be a number between 0 and 1, not 2"),
        ("beliefs: true", "beliefs", "or a mapping of names"),
        ("beliefs: {C1: [1]}", "beliefs.C1", "one of the keys distribution, column, by"),
        ("beliefs: {C1: {mean: 1}}", "beliefs.C1", "one of the keys distribution"),
        ("beliefs: {C1: {distributon: beta}}", "beliefs.C1", 'the key "distribution"?'),
        ("beliefs: {C1: {distribution: bta}}", "beliefs.C1.distribution", 'mean "beta"?'),
        ("beliefs: {C1: {distribution: 3}}", "beliefs.C1.distribution", "allowed are uniform"),
        ("beliefs: {C1: {distribution: beta, a: 1}}", "beliefs.C1.b", "is required"),
        (
            "beliefs: {C1: {distribution: beta, a: 0, b: 1}}",
            "beliefs.C1.a",
            "between 0.000001 and 1,000,000",
        ),
        ("activity: x", "activity", "or a mapping with the key column"),
        ("activity: {colum: x}", "activity.colum", 'did you mean "column"?'),
        ("tier: chep", "tier", 'did you mean "cheap"?'),
        ("size: -1", "size", "between 0 and 10,000,000, not -1"),
    ],
)
def test_a_value_that_may_take_several_forms_gets_one_message(
    key: str, where: str, message: str
) -> None:
    text = BASE.replace("size: 60", f"size: 60, {key}").replace("size: 60, size", "size")
    found = problems(text)
    assert message in found[f"population.{where}"]
    area = "population." + where.partition(".")[0]
    assert len([w for w in found if w.startswith(area)]) <= 2


def test_no_message_is_left_in_the_words_of_the_validator() -> None:
    text = BASE + "rule: []\nstimuli: {a: 1}\ngraph: {by: [1], file: [], degree: x}\n"
    for message in problems(text).values():
        assert "Input" not in message
        assert "valid " not in message


def test_a_list_whose_items_are_wrong_is_not_called_too_short_as_well() -> None:
    found = problems(BASE + "stimuli: [{tick: [0], text: x}]\n")
    assert list(found) == ["stimuli[0].tick[0]"]


def test_a_number_without_bounds_is_a_number() -> None:
    assert phrase({"type": "number"}) == "a number"


def test_a_blank_text_is_refused() -> None:
    assert problems(BASE.replace("A bar.", '"  "'))["brief.proposition"] == (
        "must be text, not blank"
    )


def test_a_text_over_the_limit_says_how_long_it_is() -> None:
    found = problems(BASE.replace("A bar.", "x" * 20_001))
    assert found["brief.proposition"] == "must be text of at most 20000 characters, not 20001"


def test_a_missing_required_key_says_what_it_is_for() -> None:
    assert problems(BASE.replace("horizon: 12\n", ""))["horizon"] == (
        "is required: a whole number between 1 and 100,000. Number of ticks."
    )


def test_a_key_that_appears_twice_names_both_lines() -> None:
    problem = only(BASE + "horizon: 3\n")
    assert (problem.line, problem.where) == (11, "horizon")
    assert problem.message == "appears twice; first in line 2"


def test_aliases_and_explicit_text_tags_work() -> None:
    text = BASE.replace("A bar.", "&p A bar.") + "description: *p\nname2: 1\n"
    assert list(problems(text)) == ["name2"]
    text = BASE.replace("name: bar", "name: !!str 12").replace("horizon: 12", "horizon: !!int 12")
    assert load_text(text).scenario.name == "12"
    assert load_text(BASE + "rule: {influence: !!float 1}\n").scenario.rule.influence == 1.0


def test_numbers_are_read_in_their_usual_spellings() -> None:
    text = BASE + "seed: 1_000\nrule: {influence: 1e-1, persuasion: .5, memory: 1}\n"
    rule = load_text(text).scenario.rule
    assert (rule.influence, rule.persuasion, rule.memory) == (0.1, 0.5, 1.0)
    assert load_text(text).scenario.seed == 1000


def test_lines_are_found_for_every_spelling_of_a_path() -> None:
    loaded = load_text(BASE)
    assert loaded.line_of("brief.claims[1].text") == 8
    assert loaded.line_of("brief.claims.1.text") == 8
    assert loaded.line_of("population.columns.age group") == 10
    assert loaded.line_of("population.size]") == 10
    assert loaded.line_of("rule.persuasion") is None
    assert loaded.line_of("") is None
    problem = loaded.problem("population.size", "is odd")
    assert str(problem) == "line 10  population.size  is odd"


def test_a_later_problem_at_a_setting_names_the_command_line() -> None:
    loaded = load_text(BASE, settings=["population.size=3"])
    assert loaded.line_of("population.size") is None
    assert str(loaded.problem("population.size", "is odd")) == "--set  population.size  is odd"


def test_the_digest_ignores_line_ends_and_a_byte_order_mark_and_nothing_else() -> None:
    plain = load_text(BASE).sha256
    assert load_text("\ufeff" + BASE.replace("\n", "\r\n")).sha256 == plain
    assert load_text(BASE + "# more\n").sha256 != plain
    assert load_text(BASE, settings=["seed=1"]).sha256 != plain
    assert (
        load_text(BASE, settings=["stimuli=[]"]).sha256
        == load_text(BASE, settings=["stimuli=[ ]"]).sha256
    )


def test_parameters_are_flat_and_hold_the_resolved_time_constant() -> None:
    flat = flatten(load_text(BASE).scenario)
    assert flat["recall.k.cheap"] == 3
    assert flat["rule.credibility.peer"] == 0.6
    assert flat["recall.tau"] == 3.0
    assert flat["actions"] == list(ACTIONS)
    assert not any(isinstance(value, dict | tuple) for value in flat.values())


def test_a_scenario_made_in_python_is_checked_like_a_file() -> None:
    scenario = load_text(starter("x")).scenario
    again = load_scenario(scenario)
    assert again.scenario == scenario
    assert load_scenario(again.scenario).sha256 == again.sha256
    wrong = scenario.model_copy(update={"horizon": 2})
    with pytest.raises(ScenarioError, match="the horizon"):
        load_scenario(wrong)


def test_odd_text_survives_the_way_through_a_scenario_made_in_python() -> None:
    odd = "no: 'x' # \u2028 \u0085 é 😀 \\ \" 12:30\n- a\ttab"
    scenario = load_text(BASE).scenario.model_copy(update={"description": odd})
    assert load_scenario(scenario).scenario.description == odd


def test_python_may_write_lists_and_parts() -> None:
    scenario = Scenario(
        name="x",
        horizon=2,
        brief={"brand": "b", "proposition": "p", "claims": [{"id": "C1", "text": "t"}]},  # type: ignore[arg-type]
        ontology="civic_life",
        population={"size": 1, "beliefs": {"C1": FromColumn(column="a")}},  # type: ignore[arg-type]
        stimuli=[{"tick": [1, 2], "text": "x", "audience": {"age": ["a"]}}],  # type: ignore[arg-type]
    )
    assert scenario.stimuli[0].audience == {"age": ("a",)}
    assert scenario.stimuli[0].tick == (1, 2)


def test_every_key_has_a_meaning_and_unknown_keys_are_forbidden_in_the_schema() -> None:
    schema = json_schema()
    parts = [schema, *schema["$defs"].values()]
    for part in parts:
        assert part["additionalProperties"] is False
        for name, field in part["properties"].items():
            assert field.get("description") or "$ref" in field, f"{part['title']}.{name}"
    assert schema["$schema"].endswith("2020-12/schema")


def test_the_reference_page_is_up_to_date(tmp_path: Path) -> None:
    write_reference(tmp_path / "scenario.md")
    assert (tmp_path / "scenario.md").read_text(encoding="utf-8") == reference()
    page = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8")
    assert page == reference(), (
        "write it again: simulation.scenario.reference.write_reference(Path('docs/scenario.md'))"
    )


def test_the_list_of_actions_is_the_type_of_actions() -> None:
    assert Action.__args__ == ACTIONS  # type: ignore[attr-defined]


def test_a_scenario_is_read_in_a_moment(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(starter("a"), encoding="utf-8")
    read_scenario(file)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        read_scenario(file)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05


@given(st.text(alphabet=st.characters(), max_size=60))
@settings(max_examples=150, deadline=None)
def test_no_text_raises_anything_but_a_scenario_error(text: str) -> None:
    with pytest.raises(ScenarioError):
        load_text(text)


_PIECES = st.sampled_from(
    ["a", "&a ", "*a", "- ", ": ", "\n", "  ", "{", "}", "[", "]", ", ", "!!str ", "!!map ", "no",
     "<<", "'", '"', "|\n", "#", "010", "12:30", "1e9", ".inf", "~", "---\n", "%", "@", "\t", "? "]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=25).map("".join))
@settings(max_examples=200, deadline=None)
def test_no_piece_of_yaml_raises_anything_but_a_scenario_error(text: str) -> None:
    with pytest.raises(ScenarioError):
        load_text(text)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["id", "tick", "claim", "distribution", "column", "by", "values", "low",
                         "weights", "claims", "dimensions", "size", "source", "kind", "x"]),
        inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(st.sampled_from(sorted(Scenario.model_fields)), _VALUES)
@settings(max_examples=250, deadline=None)
def test_any_value_in_any_place_is_accepted_or_explained(key: str, value: object) -> None:
    loaded = load_text(BASE).scenario.model_dump(mode="json", exclude_unset=True)
    text = repr({**loaded, key: value}).replace("None", "null")
    with suppress(ScenarioError):
        assert load_text(text).scenario.name
