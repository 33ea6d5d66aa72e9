"""What the persona block does to answers: normalised, counted, asked in eight ways."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_model import local_server

from simulation import ontology
from simulation.errors import UsageError
from simulation.models.base import ACTIONS
from simulation.models.rule import RuleModel
from simulation.rng import Streams
from simulation.studies import conditioning
from simulation.studies.conditioning import arms, model, study, tables
from simulation.studies.conditioning.answers import (
    Answer,
    attribute_words,
    expected_distinct,
    normalise,
    variety,
    words_of,
)
from simulation.studies.speaking import Models, recite, voices

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.studies.conditioning.arms import Asked
    from simulation.studies.speaking import Request, Voices

SAID = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=9)


@pytest.fixture(scope="module")
def asked() -> Asked:
    """Return a small population that was put the question."""
    return arms.ask(3, size=12)


@pytest.fixture(scope="module")
def words() -> frozenset[str]:
    return attribute_words(ontology.load("consumer_products"))


# When answers are the same


def test_attribute_words_alone_do_not_make_an_answer_distinct(words: frozenset[str]) -> None:
    said = (
        "As a nurse, I'm undecided.",
        "As a COOK: I'm undecided!",
        "at 34, i\u2019m undecided",
        "I'm undecided, with small children at home.",
    )
    found = {normalise(Answer(choice="answer", reason=text), words) for text in said}
    assert found == {("answer", "im undecided")}


def test_another_choice_or_another_reason_is_another_answer(words: frozenset[str]) -> None:
    one = Answer(choice="answer", reason="I doubt it.")
    for other in (replace(one, choice="ignore"), replace(one, reason="I trust it.")):
        assert normalise(one, words) != normalise(other, words)


def test_every_value_of_the_ontology_is_among_the_words_left_out(words: frozenset[str]) -> None:
    field = ontology.load("consumer_products")
    for attribute in field.attributes:
        for level in attribute.levels:
            assert set(words_of(level.label)) <= words
            assert set(words_of(level.voice)) <= words
    assert {"nurse", "vegan", "retired", "countryside"} <= words
    assert "undecided" not in words


# How varied answers are


def test_variety_is_counted_as_by_hand() -> None:
    found = variety([("a", "x"), ("a", "x"), ("b", "x"), ("a", "y")])
    assert (found.count, found.distinct, found.choices, found.reasons) == (4, 3, 2, 2)
    assert found.entropy == pytest.approx(1.5)
    assert found.commonest == 0.5
    assert found.example == ("a", "x")
    assert variety([("a", "x")] * 5).entropy == 0.0


@given(SAID, st.data())
def test_rarefaction_is_the_mean_over_all_parts(
    said: list[tuple[str, str]], data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, len(said)))
    parts = [len(set(part)) for part in combinations(said, size)]
    assert expected_distinct(said, size) == pytest.approx(sum(parts) / len(parts))


@given(SAID)
def test_rarefaction_of_all_is_the_number_of_different_answers(
    said: list[tuple[str, str]],
) -> None:
    assert expected_distinct(said, len(said)) == pytest.approx(len(set(said)))
    assert expected_distinct(said, 1) == pytest.approx(1.0)


# The ways to ask


def test_everybody_is_put_the_question_and_nothing_else(asked: Asked) -> None:
    requests = asked.requests
    assert len(requests) == 12
    assert requests.feed.post.shape[1] == 1 or (requests.feed.post[:, 1:] < 0).all()
    assert {requests.text(int(i)) for i in requests.feed.text[:, 0]} == {arms.QUESTION}
    assert requests.feed.question[:, 0].all()


def test_without_a_block_everybody_answers_alike(asked: Asked) -> None:
    found = arms.answers(asked, arms.DIRECT)
    assert len(set(found)) == 1
    assert found[0].reason


def test_as_in_a_run_answers_are_those_of_the_run(asked: Asked) -> None:
    again = arms.ask(asked.seed, size=12)
    assert arms.answers(again, arms.AS_IN_A_RUN) == arms.answers(asked, arms.AS_IN_A_RUN)
    rule = RuleModel(parameters=asked.parameters, streams=Streams(asked.seed))
    reactions = rule.react(asked.requests)
    assert [a.reason for a in arms.answers(asked, arms.AS_IN_A_RUN)] == list(reactions.words)
    assert [a.choice for a in arms.answers(asked, arms.AS_IN_A_RUN)] == [
        ACTIONS[action] for action in reactions.action.tolist()
    ]


def test_a_way_takes_away_what_it_names_and_no_more(asked: Asked) -> None:
    bare = arms._as(asked.requests, replace(arms.AS_IN_A_RUN, block=False))
    assert set(bare.cast.blocks) == {""}
    assert set(bare.cast.voices) == {()}
    assert not bare.feed.relevance.any()
    assert (bare.friend == -1).all()
    assert (bare.cast.keys == asked.requests.cast.keys).all()
    assert (bare.beliefs == asked.requests.beliefs).all()
    one = arms._as(asked.requests, replace(arms.AS_IN_A_RUN, streams=False))
    assert len(np.unique(one.cast.keys)) == 1
    assert one.cast.blocks == asked.requests.cast.blocks
    even = arms._as(asked.requests, replace(arms.AS_IN_A_RUN, opinions=False))
    assert (even.beliefs == 0.5).all()
    assert (even.initial == 0.5).all()
    assert not (asked.requests.beliefs == 0.5).all()


def test_the_eight_ways_are_all_ways() -> None:
    assert len({str(way) for way in arms.WAYS}) == 8


# A language model's answers


@pytest.mark.parametrize(
    ("text", "choice", "reason"),
    [
        ("No, it is too dear.", "no", "it is too dear."),
        ("**Yes** \u2013 I like it", "yes", "** \u2013 I like it"),
        ("I would say no.", "no", "I would say no."),
        ("Nobody knows.", "unclear", "Nobody knows."),
        ("", "unclear", ""),
    ],
)
def test_a_choice_is_read_where_one_is_named(text: str, choice: str, reason: str) -> None:
    assert model.read(text) == Answer(choice=choice, reason=reason)


class _Listening:
    name = "listening"

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def say(self, requests: Sequence[Request]) -> list[str]:
        self.requests += requests
        return ["Yes." for _ in requests]


def test_the_arms_differ_by_the_block_alone() -> None:
    speaker = _Listening()
    model.say(speaker, ["", ""], arm="without")
    model.say(speaker, ["You are a nurse.", "You are a cook."], arm="with")
    bare, other, nurse, cook = speaker.requests
    assert bare.system == other.system == ""
    assert "You are a nurse." in nurse.system
    assert "You are a cook." in cook.system
    assert len({request.messages for request in speaker.requests}) == 1
    assert {request.temperature for request in speaker.requests} == {0.0}
    assert len({request.id for request in speaker.requests}) == 4


# The whole


def test_claims_are_judged_by_the_worst_seed() -> None:
    def arm(seed: int, way: arms.Way, distinct: int) -> tables.Arm:
        normal = [("answer", str(i % distinct)) for i in range(150)]
        answers = [Answer(choice="answer", reason=reason) for _, reason in normal]
        return tables.Arm(seed=seed, way=way, answers=answers, normal=normal)

    counts = dict.fromkeys(arms.WAYS, (60, 60)) | {arms.DIRECT: (1, 1)}
    good = [arm(seed, way, n[seed]) for way, n in counts.items() for seed in (0, 1)]
    assert [v.reached for v in study.rule_verdicts(good)[:3]] == [True, True, True]
    counts |= {arms.DIRECT: (1, 2), arms.AS_IN_A_RUN: (150, 56), arms.BLOCK_ALONE: (57, 3)}
    bad = [arm(seed, way, n[seed]) for way, n in counts.items() for seed in (0, 1)]
    assert [v.reached for v in study.rule_verdicts(bad)[:3]] == [False, False, False]


def test_answers_that_change_are_counted_pair_by_pair() -> None:
    def arm(way: arms.Way, *normal: tuple[str, str]) -> tables.Arm:
        return tables.Arm(seed=1, way=way, answers=[], normal=normal)

    made = [
        arm(arms.AS_IN_A_RUN, ("a", "x"), ("a", "y"), ("b", "z")),
        arm(arms.NO_BLOCK_IN_A_RUN, ("a", "x"), ("a", "z"), ("c", "z")),
    ]
    assert tables.changed(made, arms.AS_IN_A_RUN, arms.NO_BLOCK_IN_A_RUN) == (2, 1, 3)


def test_the_study_reaches_the_seeds_number_and_says_what_chance_does(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    text = conditioning.run(one, quick=True, data=None)
    conditioning.run(other, quick=True, data=None, models=Models())
    for path in one.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes(), path.name
    assert "chance alone" in text
    with (one / "verdicts.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows[:3]] == ["reached", "reached", "not reached"]
    with (one / "answers.csv").open(encoding="utf-8") as file:
        said = Counter(row["asked"] for row in csv.DictReader(file))
    assert set(said.values()) == {150}
    assert len(said) == 8
    assert "No language model spoke" in (one / "report.md").read_text(encoding="utf-8")


def test_the_study_takes_no_data(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="takes no --data"):
        conditioning.run(tmp_path / "out", quick=True, data=tmp_path)


def test_what_a_model_answers_stands_in_tables_and_empty_answers_are_left_out(
    asked: Asked, words: frozenset[str]
) -> None:
    said = tables.Spoken(
        head="A model spoke.",
        arms={"without": [("yes", "")] * 2, "with": []},
        rows=(("without", "p0", "yes", "", "Yes."), ("with", "p0", "unclear", "", "")),
        told={},
        record="",
    )
    made = [study.arm_of(asked, way, words) for way in arms.WAYS]
    found = study.findings(made, said, dropped=len(words))
    assert [v.found for v in found.verdicts[-2:]] == ["1, with 1 choices", "no usable answer"]
    (summary,) = [table for table in found.tables if table.name == "language_model"]
    assert len(summary.rows) == 1
    assert found.headline == "A model spoke."


def test_answers_of_a_speaker_are_read_arm_by_arm(asked: Asked, words: frozenset[str]) -> None:
    with voices(Models(), speak=recite, judge=recite) as who:
        spoken = study.speak(asked, who, words, size=3)
    assert {arm: len(found) for arm, found in spoken.arms.items()} == {"without": 3, "with": 3}
    assert [row[:2] for row in spoken.rows[3:]] == [("with", f"p{i:04d}") for i in range(3)]
    assert spoken.record.count("\n") == 6


def test_a_named_model_is_asked_besides_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = study.speak
    sizes: list[int] = []

    def by_rule(one: Asked, who: Voices, dropped: frozenset[str], *, size: int) -> object:
        sizes.append(size)
        return real(one, who, dropped, size=size)

    monkeypatch.setattr(study, "speak", by_rule)
    monkeypatch.setattr(study, "voices", lambda _, **given: voices(Models(), **given))
    models = Models.parse(model="openai:some", base_url="http://127.0.0.1:1/v1")
    conditioning.run(tmp_path / "out", quick=True, data=None, models=models)
    assert sizes == [study.SPOKEN[True]]
    assert (tmp_path / "out" / "language_model_answers.csv").is_file()


@pytest.mark.local_model
def test_a_real_model_is_asked_with_and_without_blocks(tmp_path: Path) -> None:
    with local_server() as url:
        models = Models.parse(model="openai:smollm2", base_url=f"{url}/v1", max_tokens=12)
        conditioning.run(tmp_path / "out", quick=True, data=None, models=models)
    lines = (tmp_path / "out" / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 * study.SPOKEN[True]
    with (tmp_path / "out" / "language_model_answers.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["blocks"] for row in rows] == ["without"] * 8 + ["with"] * 8
    assert any(row["text"] for row in rows)
