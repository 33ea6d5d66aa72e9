"""Answers from settled attitudes beside answers from all that was said, rated by a judge."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from local_model import local_server
from model_server import Asked, Model, good, model, told

from simulation.encoders import EncoderSpec, load
from simulation.errors import UsageError
from simulation.studies import dam_judge
from simulation.studies.dam.dialogues import dialogues
from simulation.studies.dam.growth import TOP
from simulation.studies.dam_judge import judging, study, worlds
from simulation.studies.dam_judge.worlds import Case, Size, World
from simulation.studies.speaking import Models, Request, recite, voices

if TYPE_CHECKING:
    from pathlib import Path

    from provider_server import Step

SMALL = World(name="small", per_dialogue=1, count=20, every=3)
CASE = Case(
    id="c1",
    world="about 40 %",
    seed=0,
    dialogue=7,
    question="Do I like the aroma of Red Kite tea?",
    thing="Red Kite tea",
    side="smell",
    truth="positive",
    said=("Red Kite tea smells heavenly.",),
    recalled={
        "full": ("Red Kite tea smells heavenly.", "Old Mill bread tastes awful."),
        "dam": ("Red Kite tea, smell: very good, certain.",),
    },
)


def by_rule(dimension: str, answer: str, **given: str) -> int | None:
    about = {"thing": CASE.thing, "side": CASE.side, "truth": CASE.truth, "dimension": dimension}
    request = Request(
        id="x",
        messages=(("user", "?"),),
        material=(json.dumps(about | given), answer, *CASE.said),
    )
    return judging.rating(judging.by_rule(request))


# Memories and questions


def test_both_memories_get_the_same_questions_and_sizes_are_counted() -> None:
    found, size = worlds.cases(SMALL, 0, load(EncoderSpec(name="static")))
    user = dialogues(0, per_dialogue=1, count=20)
    assert len(found) == 7
    assert [case.question for case in found] == list(user.questions[::3])
    assert size.full_units == 20
    assert size.full_characters == sum(map(len, user.texts))
    assert 0 < size.dam_units < 20
    assert size.share == size.dam_units / 20
    for case in found:
        assert set(case.recalled) == set(worlds.MEMORIES)
        assert set(case.recalled["full"]) <= set(user.texts)
        assert all(len(texts) <= TOP for texts in case.recalled.values())


def test_the_truth_is_the_users_attitude_and_not_what_a_memory_says() -> None:
    found, _ = worlds.cases(SMALL, 0, load(EncoderSpec(name="static")))
    user = dialogues(0, per_dialogue=1, count=20)
    for case, number in zip(found, range(0, 20, 3), strict=True):
        row = user.asked[number]
        attitude = user.attitude[user.object[row], user.aspect[row]]
        assert case.truth == worlds.POLARITIES[attitude]
        assert user.texts[row] in case.said


def test_the_chosen_world_is_about_two_fifths_in_size() -> None:
    _, size = worlds.cases(study.CHOSEN, 0, load(EncoderSpec(name="static")))
    assert study.SHARE[0] <= size.share <= study.SHARE[1]


# Ratings


@pytest.mark.parametrize(
    ("text", "figure"),
    [("4", 4), (" 4 ", 4), ("4.", 4), ("**4**", 4), ("4\nIt fits.", 4), ("4/5", 4), ("4 / 5", 4),
     ("4 out of 5", 4), ("Rating: 4", 4), ("Rating: 5/5", 5), ("**Rating:** 4", 4), ("3.", 3),
     ("I rate it 4", 4), ("I rate it a 4.", 4), ("I would give it 4. It is kind.", 4),
     ("Memory reference: 2", 2), ("My rating is 3.", 3), ("I give 2 of 5", 2),
     ("On a scale from 1 to 5, I rate it 4", 4), ("(1-5): 4", 4), ("Rating (1-5): 4", 4),
     ("Accuracy, from 1 to 5: 4", 4), ("It is kind. I rate it 4.", 4), ("I'd give it 5", 5),
     ("", None), ("-", None), ("10", None), ("0", None), ("6", None), ("none", None),
     ("3.7", None), ("4.5", None), ("2,5", None), ("-3", None), ("\u22123", None), ("+3", None),
     ("5th", None), ("3rd", None), ("<b>4</b>", None), ("<h1>", None), ("<h3>no</h3>", None),
     ("I'd need 3 more facts", None), ("3 more facts are needed", None), ("I need 3", None),
     ("1. The answer is kind.", None), ("2 or 3", None), ("2-3", None), ("4, 4", None),
     ("1 to 5", None), ("from 1 to 5", None), ("I would not give it 5", None), ("4%", None),
     ("If it named the tea, I would give it 5", None), ("I rate it 4 if it is hot", None),
     ("Rating: 4.5", None), ("Rating: 14", None), ("4/10", None), ("4/50", None),
     ("4/5/2024", None),
     ("Rating: -4", None), ("4\u00bd", None), ("\u0664", None), ("Rating: 3 to 4", None),
     ("The rating is not 4", None), ("1 to 5.5", None), ("Rate it 5 stars", None),
     ("4\nBut 2 for tone", None), ("12 of 5", None), ("2 of 5 facts", None)],
)  # fmt: skip
def test_a_rating_is_a_figure_from_1_to_5_that_stands_alone(text: str, figure: int | None) -> None:
    assert judging.rating(text) == figure


def test_the_rule_judge_tells_good_from_bad_answers() -> None:
    assert by_rule("accuracy", "You love it, it is wonderful.") == 5
    assert by_rule("accuracy", "You hate it, it is awful.") == 1
    assert by_rule("accuracy", "You have one.") == 3
    assert by_rule("logical coherence", "It is wonderful. It is great.") == 5
    assert by_rule("logical coherence", "It is wonderful. It is awful.") == 1
    assert by_rule("memory reference", "Red Kite tea smells heavenly.") == 5
    assert by_rule("memory reference", "The smell of Red Kite tea is fine. Bread is dear.") == 3
    assert by_rule("emotional resonance", "It is awful.") == 1
    assert by_rule("emotional resonance", "It is a cup.", truth="neutral") == 5
    resonance = by_rule("emotional resonance", "It is wonderful, I love it, great!")
    assert resonance is not None
    assert resonance > 3
    assert by_rule("personalization", "smells heavenly") == 5
    assert by_rule("personalization", "nothing there") == 1
    assert by_rule("language fluency", "It is good and I like it a lot.") == 5
    fluency = by_rule("language fluency", "so so so so so so so so so so")
    assert fluency is not None
    assert fluency < 3


def test_a_judge_is_asked_blindly_and_about_one_thing() -> None:
    requests: list[Request] = []

    def judge(request: Request) -> str:
        requests.append(request)
        return "4" if "full" in request.id else "nothing"

    with voices(Models(), speak=recite, judge=judge) as who:
        found = judging.answer_and_rate([CASE], who)
    assert [(each.memory, each.text) for each in found] == [
        ("full", "Red Kite tea smells heavenly. Old Mill bread tastes awful."),
        ("dam", "Red Kite tea, smell: very good, certain."),
    ]
    assert set(found[0].ratings.values()) == {4}
    assert set(found[1].ratings.values()) == {None}
    assert len(requests) == 2 * len(judging.DIMENSIONS)
    for request in requests:
        read = request.system + request.messages[0][1]
        for word in ("full memory", "settled", "unit", "DAM"):
            assert word not in read
        assert sum(what in read for what in judging.DIMENSIONS.values()) == 1


def test_an_answer_that_never_came_is_not_rated() -> None:
    with voices(Models(), speak=lambda _: "", judge=lambda _: "5") as who:
        found = judging.answer_and_rate([CASE], who)
    assert {each.text for each in found} == {""}
    assert all(each.ratings == {} for each in found)
    verdicts = study.rating_verdicts(study.rating_table(found), by_rule=False)
    assert {v.found for v in verdicts} == {
        "no pair was rated; 2 were not asked, as there was no answer"
    }


def test_what_is_told_of_ratings_agrees_with_the_record() -> None:
    with voices(
        Models(),
        speak=lambda r: "" if r.id == "c2|dam" else "It is good.",
        judge=lambda r: {"c1|full": "4", "c1|dam": "3.7"}.get(r.id.rpartition("|")[0], ""),
    ) as who:
        found = judging.answer_and_rate([CASE, replace(CASE, id="c2")], who)
    table = study.rating_table(found)
    assert {row[2:6] for row in table.rows} == {(0, 3, 2, 1)}
    asked = [line for line in who.lines().split("\n") if '"id":"judge|' in line]
    assert len(asked) == 3 * len(judging.DIMENSIONS)
    told = (
        "no pair was rated; 2 of 3 ratings could not be read or never came; "
        "1 were not asked, as there was no answer"
    )
    assert {v.found for v in study.rating_verdicts(table, by_rule=False)} == {told}


# What is made of them


def rated(case: Case, memory: str, figure: int | None) -> judging.Answered:
    return judging.Answered(
        case=case, memory=memory, text="x", ratings=dict.fromkeys(judging.DIMENSIONS, figure)
    )


def test_differences_are_of_pairs_that_both_were_rated() -> None:
    second, third = replace(CASE, id="c2", dialogue=8), replace(CASE, id="c3", dialogue=8)
    found = [
        rated(CASE, "full", 2), rated(CASE, "dam", 5),
        rated(second, "full", 3), rated(second, "dam", None),
        rated(third, "full", 4), rated(third, "dam", 3),
    ]  # fmt: skip
    pairs = study.paired(found, "accuracy")
    assert pairs.tolist() == [[5, 2, 7], [3, 4, 8]]
    gap = study.difference(pairs, "x")
    assert gap.value == 1.0
    assert gap.low == -1.0
    assert gap.high == 3.0
    assert study.paired([], "accuracy").shape == (0, 3)


def test_nothing_is_claimed_of_ratings_and_the_size_is_judged_by_every_seed() -> None:
    sizes = [
        Size(world=study.CHOSEN.name, seed=seed, full_units=100, dam_units=units,
             full_characters=9, dam_characters=3)
        for seed, units in enumerate((40, 44))
    ]  # fmt: skip
    assert study.size_verdict(sizes).reached
    assert not study.size_verdict([*sizes, replace(sizes[0], dam_units=46)]).reached
    both = study.rating_table([rated(CASE, "full", 2), rated(CASE, "dam", 4)])
    verdicts = study.rating_verdicts(both, by_rule=True)
    assert {v.reached for v in verdicts} == {None}
    assert {v.found for v in verdicts} == {"+2.00 (one dialogue: no interval), 1 pairs"}
    two = [*(rated(replace(CASE, id="c2", dialogue=8), m, 3) for m in ("full", "dam"))]
    both = study.rating_table([rated(CASE, "full", 2), rated(CASE, "dam", 4), *two])
    found = {v.found for v in study.rating_verdicts(both, by_rule=True)}
    assert found == {"+1.00 [+0.00, +2.00], 2 pairs"}
    none = study.rating_table([rated(CASE, "full", 2), rated(CASE, "dam", None)])
    unread = study.rating_verdicts(none, by_rule=False)
    assert {v.found for v in unread} == {
        "no pair was rated; 1 of 2 ratings could not be read or never came"
    }
    assert {row[2:6] for row in none.rows} == {(0, 2, 1, 0)}


def test_a_language_model_is_asked_few_questions_and_of_the_first_seed_only() -> None:
    sizes, found = study._questions(quick=True, by_rule=False)
    assert len(found) == study.BY_MODEL[True]
    assert {(case.world, case.seed) for case in found} == {(study.CHOSEN.name, 0)}
    assert [size.seed for size in sizes] == [0]


def test_questions_are_taken_at_even_distances() -> None:
    many = [replace(CASE, id=str(i)) for i in range(10)]
    assert [case.id for case in study.evenly(many, 4)] == ["0", "2", "5", "7"]
    assert study.evenly(many, None) == many
    assert study.evenly(many, 99) == many


def test_the_whole_study_runs_by_rule_and_comes_out_the_same_twice(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    text = dam_judge.run(one, quick=True, data=None)
    dam_judge.run(other, quick=True, data=None, models=Models())
    for path in one.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes(), path.name
    assert "by the rule judge" in text
    with (one / "answers.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 40
    with (one / "ratings.csv").open(encoding="utf-8") as file:
        means = {row["dimension"]: row for row in csv.DictReader(file)}
    full = np.mean([int(row["accuracy"]) for row in rows if row["memory"] == "full"])
    assert float(means["accuracy"]["full"]) == pytest.approx(full)
    assert list(means) == list(judging.DIMENSIONS)
    assert "No language model spoke" in (one / "report.md").read_text(encoding="utf-8")


def test_the_study_takes_no_data(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="takes no --data"):
        dam_judge.run(tmp_path / "out", quick=True, data=tmp_path)


def _held(asked: Asked, _: Model) -> list[Step]:
    return told(asked, "You like it.") if asked.schema is None else good(asked)


def test_every_rating_is_read_where_a_server_holds_the_judge_to_its_form(tmp_path: Path) -> None:
    with model(_held) as server:
        models = Models.parse(model="openai:m", base_url=server.base_url("openai"))
        dam_judge.run(tmp_path / "out", quick=True, data=None, models=models)
    with (tmp_path / "out" / "answers.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == study.BY_MODEL[True] * 2
    found = {row[name.replace(" ", "_")] for row in rows for name in judging.DIMENSIONS}
    assert found == set("12345")


@pytest.mark.local_model
def test_a_real_model_answers_and_judges(tmp_path: Path) -> None:
    with local_server() as url:
        models = Models.parse(model="openai:smollm2", base_url=f"{url}/v1", max_tokens=12)
        dam_judge.run(tmp_path / "out", quick=True, data=None, models=models)
    lines = (tmp_path / "out" / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == study.BY_MODEL[True] * 2 * (1 + len(judging.DIMENSIONS))
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["models"]["judge"]["forms"]["free"] == 0
