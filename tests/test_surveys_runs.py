"""Surveys in a run: what is asked, what is logged, and that nothing is changed by it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from small import small

from simulation import simulate
from simulation.engine import Engine
from simulation.errors import UsageError
from simulation.mind import likert
from simulation.models.surveys import SurveyReplies
from simulation.records import Coded, Rejections, Surveys
from simulation.runlog import RunFile
from simulation.scenario.anchors import ANCHOR_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.models.surveys import SurveyRequests
    from simulation.records import Texts

INTENT = {"id": "intent", "tick": [2, 4], "question": "Will you buy it?", "target": "value"}
WAYS = {
    "id": "ways",
    "tick": 3,
    "question": "How often?",
    "kind": "choice",
    "choices": ["never", "at times", "daily"],
}


@dataclass
class Writer:
    """A backend that answers surveys in turn, and everything else with nonsense."""

    answers: list[str]
    name: str = "writer"
    surveys: list[str] = field(default_factory=list)

    def complete(
        self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]
    ) -> Sequence[str]:
        return [self._answer(prompt) for prompt in prompts] if schemas else []

    def _answer(self, prompt: str) -> str:
        if "A survey question" not in prompt:
            return "nonsense"
        self.surveys.append(prompt)
        return self.answers[(len(self.surveys) - 1) % len(self.answers)]


def tables(engine: Engine, ticks: int) -> dict[int, list[Surveys]]:
    found: dict[int, list[Surveys]] = {}
    for _ in range(ticks):
        records = engine.advance()
        found[records.tick] = [rows for rows in records.rows if isinstance(rows, Surveys)]
    return found


def names(column: Texts) -> list[str]:
    """Return a text column as texts; NULL is no part of it."""
    if isinstance(column, Coded):
        return [column.names[code] for code in column.codes.tolist() if code >= 0]
    return list(column)


def refusals(engine: Engine) -> list[tuple[str, str]]:
    """Return kind and detail of what the last tick says of surveys."""
    found: list[tuple[str, str]] = []
    for rows in engine.records.rows:
        if isinstance(rows, Rejections) and "survey" in names(rows.purpose):
            found += zip(names(rows.kind), rows.detail, strict=True)
    return found


def test_surveys_change_no_digest_and_no_other_row() -> None:
    asked, silent = Engine(small(surveys=[INTENT, WAYS])), Engine(small())
    for _ in range(8):
        ours, theirs = asked.advance(), silent.advance()
        assert ours.state_digest == theirs.state_digest
        assert [r.table for r in ours.rows if r.table != "surveys"] == [
            r.table for r in theirs.rows
        ]
        assert len(asked.world.texts) == len(silent.world.texts)


def test_everybody_is_asked_active_or_not_and_only_at_the_ticks_of_the_question() -> None:
    found = tables(Engine(small(surveys=[INTENT], population={"size": 12, "activity": 0.2})), 5)
    assert {tick: [len(t) for t in rows] for tick, rows in found.items()} == {
        1: [],
        2: [12],
        3: [],
        4: [12],
        5: [],
    }


def test_a_share_asks_the_same_personas_at_every_tick() -> None:
    found = tables(Engine(small(surveys=[INTENT | {"share": 0.4}])), 4)
    first, second = found[2][0].persona_id, found[4][0].persona_id
    assert len(first) == 5
    assert names(first) == names(second)


def test_a_share_of_zero_asks_nobody() -> None:
    assert tables(Engine(small(surveys=[INTENT | {"share": 0.0}])), 2)[2] == []


def test_distributions_of_two_runs_are_the_same_to_the_bit() -> None:
    one, two = (tables(Engine(small(surveys=[INTENT])), 2)[2][0] for _ in range(2))
    assert one.answer == two.answer
    assert one.scale_pmf == two.scale_pmf


def test_a_choice_falls_where_the_belief_does() -> None:
    engine = Engine(small(surveys=[WAYS | {"tick": 1, "target": "C1"}]))
    engine.world.beliefs[:] = 0.5
    table = tables(engine, 1)[1][0]
    credence = engine.world.beliefs[:, 3]
    expected = np.minimum(np.floor(credence * 3), 2).astype(int)
    assert [WAYS["choices"].index(said) for said in table.answer] == expected.tolist()  # type: ignore[attr-defined]
    np.testing.assert_array_equal(np.array(table.scale_pmf), np.eye(3)[expected])


@pytest.mark.parametrize("name", [*ANCHOR_NAMES, "own"])
def test_the_mean_point_rises_with_the_belief(name: str) -> None:
    own = [["It is bad.", "It is so so.", "It is great."]]
    survey = INTENT | {"tick": 1, "anchors": own if name == "own" else name}
    engine = Engine(
        small(
            surveys=[survey],
            population={"size": 400, "activity": 0.0, "beliefs": {"value": {
                "distribution": "uniform"}}},
        )
    )  # fmt: skip
    table = tables(engine, 1)[1][0]
    belief, mean = engine.world.beliefs[:, 0], likert.mean(np.array(table.scale_pmf))
    ranks = np.array([np.argsort(np.argsort(values)) for values in (belief, mean)])
    assert np.corrcoef(ranks)[0, 1] > 0.7
    order = np.argsort(belief)
    thirds = [mean[part].mean() for part in np.array_split(order, 3)]
    assert thirds == sorted(thirds)
    assert thirds[2] - thirds[0] > 0.3
    assert len(set(table.answer)) > 10 or name == "own"


def test_without_a_target_the_answer_is_about_the_mean_of_the_dimensions() -> None:
    survey = {"id": "all", "tick": 1, "question": "Good?", "kind": "choice"}
    survey |= {"choices": ["no", "yes"]}
    engine = Engine(
        small(surveys=[survey], graph={"kind": "none"}, population={"size": 3, "activity": 0.0})
    )
    engine.world.beliefs[:, :3] = [[0.9, 0.1, 0.4], [0.9, 0.4, 0.4], [0.0, 0.0, 1.0]]
    assert tables(engine, 1)[1][0].answer == ["no", "yes", "no"]


def test_an_unchanged_belief_keeps_its_point_and_varies_its_words() -> None:
    survey = INTENT | {"tick": [1, 2, 3], "anchors": [["AAA", "BBB"]]}
    engine = Engine(
        small(surveys=[survey], graph={"kind": "none"}, population={"size": 30, "activity": 0.0})
    )
    said = [table[0].answer for table in tables(engine, 3).values()]
    points = [["AAA" in str(answer) for answer in answers] for answers in said]
    assert points[0] == points[1] == points[2]
    assert 5 < sum(points[0]) < 25
    assert said[0] != said[1]


def test_own_weak_anchors_get_a_note_at_tick_0() -> None:
    weak = INTENT | {"id": "weak", "anchors": [["It is bad.", "Bad it is.", "It is good."]]}
    noted = refusals(Engine(small(surveys=[weak, WAYS])))
    assert {kind for kind, _ in noted} == {"note"}
    assert all(detail.startswith("surveys: weak: set 1: ") for _, detail in noted)
    assert "points 1 and 2 lie at cosine 1.00" in noted[0][1]


def test_shipped_anchors_get_one_note_with_what_they_are_worth_with_this_encoder() -> None:
    again = INTENT | {"id": "again"}
    ((kind, said),) = refusals(Engine(small(surveys=[INTENT, again])))
    assert kind == "note"
    assert said.startswith("surveys: anchors agreement: with this encoder 46% of 35 held-out")
    assert "26% of refusals above an acceptance" in said


def test_a_shorter_horizon_leaves_later_questions_out_with_a_note() -> None:
    engine = Engine(small(settings=["horizon=3"], surveys=[INTENT]))
    assert "surveys: 1 comes after the horizon of 3 and is left out: intent-4" in (
        engine.world.notes
    )


def test_a_written_model_answers_in_words_and_failures_are_named() -> None:
    said = json.dumps({"answer": "I would certainly buy it.\u0007 " + "x" * 2000})
    writer = Writer([said, "{}", "{}"])
    survey = INTENT | {"tick": 1, "anchors": "purchase_intent"}
    small_ = small(
        surveys=[survey], graph={"kind": "none"}, population={"size": 2, "activity": 0.0}
    )
    engine = Engine(small_, backend=writer)
    table = tables(engine, 1)[1][0]
    good, bad = table.answer
    assert good is not None
    assert len(good) == 1000
    assert bad is None
    assert table.scale_pmf[1] is None
    assert sum(table.scale_pmf[0] or ()) == pytest.approx(1.0)
    kinds = [kind for kind, _ in refusals(engine)]
    assert kinds == ["control_characters", "too_long", "invalid_answer", "invalid_answer"]


def test_the_prompt_holds_question_beliefs_and_memories_but_no_anchor() -> None:
    writer = Writer(['{"answer": "Perhaps."}'])
    engine = Engine(small(surveys=[INTENT | {"tick": 2}]), backend=writer)
    tables(engine, 2)
    prompt = writer.surveys[0]
    assert "Will you buy it?" in prompt
    assert "- value: 0." in prompt
    assert '<memory tick="1">' in prompt
    assert "disagree" not in prompt


def test_a_written_choice_is_normalised_and_another_word_is_no_answer() -> None:
    writer = Writer(['{"answer": "At Times."}', '{"answer": "hourly"}', '{"answer": "daily"}'])
    survey = WAYS | {"tick": 1}
    engine = Engine(
        small(surveys=[survey], graph={"kind": "none"}, population={"size": 1, "activity": 0.0}),
        backend=writer,
    )
    table = tables(engine, 1)[1][0]
    assert list(table.answer) == ["at times"]
    assert table.scale_pmf == [[0.0, 1.0, 0.0]]
    assert "at times" in writer.surveys[0]
    again = Engine(small(surveys=[survey], population={"size": 1}), backend=Writer(["hourly"]))
    assert tables(again, 1)[1][0].answer == [None]
    assert refusals(again)[-1][0] == "invalid_answer"


def test_a_persona_in_quarantine_is_not_asked() -> None:
    engine = Engine(small(surveys=[INTENT | {"tick": 1}]))
    engine.world.quarantined[3] = 1
    table = tables(engine, 1)[1][0]
    assert [i for i, said in enumerate(table.answer) if said is None] == [3]
    assert refusals(engine) == [("in_quarantine", "in quarantine since tick 1: nobody was asked")]
    engine.world.quarantined[:] = 1
    everybody = Engine(small(surveys=[INTENT | {"tick": 1}]))
    everybody.world.quarantined[:] = 1
    assert set(tables(everybody, 1)[1][0].answer) == {None}


class Foreign:
    """A model of somebody's own: the rule model, but for its answers to surveys."""

    name = "foreign"

    def __init__(self, rule: Any, answers: list[str | None]) -> None:
        self._rule, self._answers = rule, answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rule, name)

    def answer_surveys(self, requests: SurveyRequests) -> SurveyReplies:
        assert len(requests) == len(self._answers)
        return SurveyReplies(answer=self._answers)


def test_answers_of_a_foreign_model_are_checked() -> None:
    engine = Engine(
        small(
            surveys=[WAYS | {"tick": 1}],
            graph={"kind": "none"},
            population={"size": 4, "activity": 0.0},
        )
    )
    foreign = Foreign(engine.rule, ["daily", " ", "hourly", None])
    engine.tiers = (foreign, foreign)
    assert tables(engine, 1)[1][0].answer == ["daily", None, None, None]
    assert [detail for _, detail in refusals(engine)] == [
        "the answer is empty",
        "the answer is none of the choices",
        "no answer",
    ]


def test_a_foreign_answer_that_is_too_long_is_none() -> None:
    engine = Engine(
        small(
            surveys=[INTENT | {"tick": 1}],
            graph={"kind": "none"},
            population={"size": 1, "activity": 0.0},
        )
    )
    foreign = Foreign(engine.rule, ["x" * 1001])
    engine.tiers = (foreign, foreign)
    assert tables(engine, 1)[1][0].answer == [None]
    assert refusals(engine) == [
        ("invalid_answer", "the answer has 1001 characters; allowed are 1000")
    ]


class Old:
    """A model that knows nothing of surveys."""

    name = "old"

    def react(self, requests: Any) -> Any: ...

    def reflect(self, requests: Any) -> Any: ...

    def answer_probes(self, requests: Any) -> Any: ...


def test_a_model_that_cannot_answer_surveys_is_refused_where_there_are_some() -> None:
    old: Any = Old()
    Engine(small(), tiers=(old, old))
    with pytest.raises(UsageError, match="answer_surveys"):
        Engine(small(surveys=[INTENT]), tiers=(old, old))


def test_a_run_database_holds_the_answers(tmp_path: Path) -> None:
    path = simulate(small(surveys=[INTENT, WAYS]), out=tmp_path / "run.duckdb")
    with RunFile.open(path) as run:
        rows = run.query(
            "SELECT question_id, tick, count(*), count(answer), "
            "min(list_sum(scale_pmf)), max(list_sum(scale_pmf)), min(len(scale_pmf)) "
            "FROM surveys GROUP BY ALL ORDER BY ALL"
        ).rows
        failed = run.query("SELECT asked, failed FROM failures WHERE purpose = 'survey'").rows
    assert [row[:4] + row[6:] for row in rows] == [
        ("intent", 2, 12, 12, 5),
        ("intent", 4, 12, 12, 5),
        ("ways", 3, 12, 12, 3),
    ]
    assert all(row[4] == pytest.approx(1) == row[5] for row in rows)
    assert failed == [(12, 0)] * 3
