from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation import ontology
from simulation.errors import ScenarioError
from simulation.ontology import Dispositions, Ontology
from simulation.ontology.answers import first_person, in_words, normalise
from simulation.rng import Streams, stream_keys

ROOT = Path(__file__).resolve().parents[1]

SMALL = """
name: small
description: three attributes
attributes:
  - id: work
    kind: category
    say: "You work as {value}."
    question: What do you do?
    answers: ["I work as {value}"]
    values:
      - id: nurse
        label: a nurse
        voice: as a nurse
        weight: 1
        synonyms: [nursing staff]
        effects: {voice: 0.2, scepticism: -0.1}
      - id: night_guard
        label: a night guard
        say: You guard your office at night.
        weight: 1
  - id: age
    kind: number
    say: "You are {value} years old."
    question: How old are you?
    minimum: 0
    bands:
      - {id: young, low: 18, high: 29, weight: 1, voice: "at {value}", effects: {receptivity: 0.5}}
      - {id: old, low: 30, high: 80, weight: 1, voice: at my age}
  - id: town
    kind: text
    voice: "from {value}"
    question: Where do you live?
"""


@pytest.fixture(scope="module")
def small() -> Ontology:
    return ontology.from_bytes(SMALL.encode(), source="small.yaml")


def test_the_block_says_each_attribute_once_in_relevance_order(small: Ontology) -> None:
    persona = {"town": "Ulm", "age": "34", "work": "nurse"}
    assert small.block(persona) == ("You work as a nurse. You are 34 years old. Your town is Ulm.")


def test_missing_empty_and_foreign_attributes_are_left_out_of_the_block(small: Ontology) -> None:
    assert small.block({"age": "34", "town": "  ", "shoe_size": "42"}) == "You are 34 years old."
    assert small.block({"shoe_size": "42"}) == ""
    assert small.block({}) == ""


def test_a_value_can_have_a_sentence_of_its_own(small: Ontology) -> None:
    assert small.block({"work": "night_guard"}) == "You guard your office at night."


def test_a_category_value_that_the_ontology_lacks_is_said_as_it_stands(small: Ontology) -> None:
    assert small.block({"work": "an acrobat"}) == "You work as an acrobat."
    assert small.voices({"work": "an acrobat"}) == ()
    assert small.dispositions({"work": "an acrobat"}) == Dispositions()


@given(town=st.text(min_size=1, max_size=40))
def test_a_text_value_is_put_in_literally_on_one_line(town: str) -> None:
    field = ontology.from_bytes(SMALL.encode(), source="small.yaml")
    words = " ".join(town.split())
    block = field.block({"town": town})
    assert block == (f"Your town is {words}." if words else "")


@pytest.mark.parametrize(
    "town", ["{value}", "{0.__class__}", "%s %(x)s", "$town", "{", "a{value}b"]
)
def test_braces_and_format_characters_of_a_value_mean_nothing(small: Ontology, town: str) -> None:
    assert small.block({"town": town}) == f"Your town is {town}."
    assert small.voices({"town": town}) == (f"from {town}",)
    (question,) = small.probe_questions({"town": town})
    assert question.expected == town


def test_a_block_is_empty_exactly_when_no_attribute_has_a_value() -> None:
    for name in ontology.shipped():
        field = ontology.load(name)
        for attribute in field.attributes:
            values = [level.id for level in attribute.levels] or ["somewhere"]
            if attribute.kind == "number":
                values = ["34"]
            for value in values:
                assert field.block({attribute.id: value}).strip()
                assert "{" not in field.block({attribute.id: value})


def test_voices_are_one_per_value_that_has_one_in_relevance_order(small: Ontology) -> None:
    assert small.voices({"age": "34", "work": "nurse"}) == ("as a nurse", "at my age")
    assert small.voices({"age": "20", "work": "night_guard"}) == ("at 20",)


def test_dispositions_add_up_over_the_values(small: Ontology) -> None:
    assert small.dispositions({"age": "20", "work": "nurse"}) == Dispositions(
        receptivity=0.5, voice=0.2, scepticism=-0.1
    )
    assert small.dispositions({"age": "90"}) == Dispositions()


def test_a_number_outside_every_band_has_a_sentence_but_no_voice(small: Ontology) -> None:
    assert small.block({"age": "99"}) == "You are 99 years old."
    assert small.voices({"age": "99"}) == ()


def test_only_held_attributes_with_a_question_are_asked_about(small: Ontology) -> None:
    asked = small.probe_questions({"age": "34", "work": "nurse"})
    assert [q.attribute for q in asked] == ["work", "age"]
    assert asked[0].question == "What do you do?"
    assert asked[0].expected == "a nurse"


def test_one_question_at_a_time_is_the_same_as_all_of_them(small: Ontology) -> None:
    persona = {"age": " 34 ", "work": "nurse", "town": "  "}
    assert small.answerable(persona) == ("work", "age")
    one_by_one = [small.probe_question(name, persona) for name in ("work", "age", "work")]
    work, age = small.probe_questions(persona)
    assert one_by_one == [work, age, work]
    assert one_by_one == [small.probe_question(name, persona) for name in ("work", "age", "work")]


def test_nobody_is_asked_about_an_attribute_without_a_question(small: Ontology) -> None:
    silent = Ontology(
        name="silent",
        sha256="",
        attributes=tuple(replace(a, question="") for a in small.attributes),
    )
    assert silent.answerable({"work": "nurse"}) == ()
    assert silent.probe_questions({"work": "nurse"}) == ()
    with pytest.raises(KeyError):
        silent.probe_question("work", {"work": "nurse"})


@pytest.mark.parametrize(
    "answer", ["nurse", "A nurse.", "I work as a nurse", "NURSING  staff!", "“nurse”"]
)
def test_the_value_its_label_and_its_synonyms_agree(small: Ontology, answer: str) -> None:
    (question,) = small.probe_questions({"work": "nurse"})
    assert small.normalise(answer) in question.accepted


@pytest.mark.parametrize("answer", ["night guard", "not a nurse", "", "nurse or teacher"])
def test_another_value_or_a_denial_does_not_agree(small: Ontology, answer: str) -> None:
    (question,) = small.probe_questions({"work": "nurse"})
    assert small.normalise(answer) not in question.accepted


@pytest.mark.parametrize("answer", ["34", "34.0", "I'm 34", "thirty-four", "I am thirty four."])
def test_a_number_agrees_with_the_same_number_however_written(
    small: Ontology, answer: str
) -> None:
    (question,) = small.probe_questions({"age": "34"})
    assert small.normalise(answer) in question.accepted


@pytest.mark.parametrize("answer", ["35", "3 4", "-34", "340", "34.5", "thirty"])
def test_a_number_agrees_with_no_other_number(small: Ontology, answer: str) -> None:
    (question,) = small.probe_questions({"age": "34"})
    assert small.normalise(answer) not in question.accepted


def test_no_two_values_of_a_shipped_attribute_accept_the_same_answer() -> None:
    for name in ontology.shipped():
        field = ontology.load(name)
        for attribute in field.attributes:
            owner: dict[str, str] = {}
            for level in attribute.levels if attribute.kind == "category" else ():
                (question,) = field.probe_questions({attribute.id: level.id})
                for answer in question.accepted:
                    assert owner.setdefault(answer, level.id) == level.id, (attribute.id, answer)


def test_every_expected_answer_agrees_with_itself_and_every_contradiction_does_not() -> None:
    for name in ontology.shipped():
        field = ontology.load(name)
        values = field.sample(streams=Streams(1), keys=stream_keys(f"p{i}" for i in range(60)))
        for i in range(60):
            persona = {attribute: column[i] for attribute, column in values.items()}
            questions = field.probe_questions(persona)
            assert len(questions) > 10
            for question in questions:
                assert field.normalise(question.expected) in question.accepted
                wrong = field.contradiction(question)
                assert wrong
                assert field.normalise(wrong) not in question.accepted


def test_a_contradiction_of_a_text_or_an_only_value_is_still_an_answer(small: Ontology) -> None:
    (town,) = small.probe_questions({"town": "Something else"})
    assert small.contradiction(town) == "nothing of the kind"
    (age,) = small.probe_questions({"age": "34"})
    assert small.contradiction(age) == "35"


def test_an_expected_answer_is_in_the_first_person() -> None:
    assert first_person("live with your partner") == "live with my partner"
    assert first_person("stay with the brands you know") == "stay with the brands I know"
    assert first_person("keep it to yourself") == "keep it to myself"
    assert first_person("youth") == "youth"


def test_voices_of_the_shipped_fields_can_follow_a_clause() -> None:
    for name in ontology.shipped():
        for attribute in ontology.load(name).attributes:
            for level in attribute.levels:
                assert level.voice == level.voice.strip()
                assert not level.voice.endswith((".", ",", "!", "?"))
                assert not {"you", "your"} & set(level.voice.split())
                assert level.voice[:1].islower() or not level.voice


def test_dispositions_of_the_shipped_fields_stay_within_one_and_centre_near_zero() -> None:
    for name in ontology.shipped():
        field = ontology.load(name)
        keys = stream_keys(f"p{i:04d}" for i in range(2000))
        columns = field.sample(streams=Streams(0), keys=keys)
        for part in ("receptivity", "voice", "scepticism"):
            values = [
                getattr(field.dispositions({a: c[i] for a, c in columns.items()}), part)
                for i in range(2000)
            ]
            assert max(map(abs, values)) <= 1.0
            assert abs(sum(values) / len(values)) < 0.1


def test_the_fields_that_ship_are_found_by_name() -> None:
    assert ontology.shipped() == ("civic_life", "consumer_products", "survey_respondents")
    assert ontology.load("civic_life").name == "civic_life"


def test_an_unknown_name_is_answered_with_the_names_that_exist() -> None:
    with pytest.raises(ScenarioError) as caught:
        ontology.load("civic_live")
    assert 'did you mean "civic_life"?' in str(caught.value)
    assert "consumer_products" in str(caught.value)


def test_a_name_never_leads_out_of_the_folder_of_shipped_fields() -> None:
    with pytest.raises(ScenarioError, match="does not ship"):
        ontology.load("../ontology/civic_life")


def test_a_path_is_read_and_its_digest_is_that_of_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(SMALL, encoding="utf-8")
    field = ontology.load("mine", path=file)
    assert field.name == "small"
    assert field.description == "three attributes"
    assert field.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_file_that_is_not_there_is_a_problem_and_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="No such file"):
        ontology.load("x", path=tmp_path / "x.yaml")


def test_attributes_are_reached_by_id(small: Ontology) -> None:
    assert "age" in small
    assert "shoe_size" not in small
    assert small["age"].kind == "number"
    with pytest.raises(KeyError):
        small["shoe_size"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The Nurse!", "nurse"),
        ("1,000", "1000"),
        ("I\u2019m  a\tnurse", "im nurse"),
        ("full-time", "Full time"),
        ("\uff26\uff35\uff2c\uff2c", "full"),
        ("A", "a"),
        ("34.00", "34"),
        ("night_guard", "night guard"),
    ],
)
def test_equal_answers_have_one_normal_form(left: str, right: str) -> None:
    assert normalise(left) == normalise(right) != ""


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (13, "thirteen"),
        (20, "twenty"),
        (34, "thirty four"),
        (100, "one hundred"),
        (105, "one hundred and five"),
        (999, "nine hundred and ninety nine"),
    ],
)
def test_numbers_are_written_in_words(number: int, words: str) -> None:
    assert in_words(number) == words


@pytest.mark.parametrize("number", [-1, 1000])
def test_only_small_whole_numbers_have_words(number: int) -> None:
    with pytest.raises(ValueError, match="between 0 and 999"):
        in_words(number)


def test_the_example_of_the_documentation_is_a_sound_ontology() -> None:
    page = (ROOT / "docs" / "ontology.md").read_text(encoding="utf-8")
    example = page.split("```yaml\n")[1].split("```")[0]
    field = ontology.from_bytes(example.encode(), source="docs/ontology.md")
    assert field.order == ("age", "habit")
    assert field.block({"age": "40", "habit": "daily", "town": "Leer"}) == (
        "You are 40 years old. You drink tea every day. You live in Leer."
    )


def test_the_documentation_counts_the_attributes_of_every_shipped_field() -> None:
    page = (ROOT / "docs" / "ontology.md").read_text(encoding="utf-8")
    for name in ontology.shipped():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}`")]
        assert f"| {len(ontology.load(name).attributes)}: " in row
