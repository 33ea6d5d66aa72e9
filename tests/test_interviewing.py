"""A persona of a run is asked something, as it was at a tick, and the run stays as it was."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pytest
from model_runs import WHOLE, one, ran
from model_server import NAMES, good, model, told
from small import small

from simulation import Interview, Run, interview, simulate
from simulation.calls.budget import BudgetExhaustedError
from simulation.calls.recorded import ReplayMissError
from simulation.errors import RunFileError, RunStoppedError, ScenarioError, UsageError
from simulation.interviewing import Statement
from simulation.rebuilding import engine_at, rebuild
from simulation.runlog import open_database
from simulation.runs import fork

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from model_server import Asked, Model
    from provider_server import Step


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(name="path", scope="module")
def by_rule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(small(), out=tmp_path_factory.mktemp("runs") / "rule.duckdb")


@pytest.fixture(name="served", scope="module")
def a_language_model() -> Iterator[Model]:
    with model() as served:
        yield served


@pytest.fixture(name="asking", scope="module")
def by_language_model(served: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ran(served, "openai", tmp_path_factory.mktemp("runs") / "model.duckdb")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Noting:
    """A model that notes what it is asked."""

    name = "noting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def complete(self, texts: Sequence[str], *, schemas: Sequence[Any]) -> list[str]:
        assert len(texts) == len(schemas)
        self.asked += texts
        return [json.dumps({"answer": f"Answer {len(self.asked)}."}) for _ in texts]


def said_to(path: Path, persona: str, question: str, **given: Any) -> str:
    """Return the prompt that a persona's model gets."""
    noting = Noting()
    interview(path, persona, question, tiers=(noting, noting), **given)
    return noting.asked[0]


def test_what_the_persona_has_settled_is_put_before_its_model(path: Path) -> None:
    assert "<attitude>" not in said_to(path, "p0003", "Do you trust it?", tick=0)
    late = said_to(path, "p0003", "How do you feel about Bolt?")
    views = re.findall("<attitude>([^<]*)</attitude>", late)
    assert 1 <= len(views) <= 5
    assert any(view.startswith("Bolt, ") for view in views)
    by_rule = interview(path, "p0003", "How do you feel about Bolt?", by_rule=True)
    own = next(view for view in views if view.startswith("Bolt"))
    assert f"What I have come to feel: {own}" in by_rule.answer


# As of a tick


def test_the_rule_answers_from_what_the_persona_believed_then(path: Path) -> None:
    for tick in (0, 3, 8):
        said = interview(path, "p0003", "Has Bolt any sugar?", tick=tick)
        with Run(path) as run:
            (belief,) = run.beliefs(tick=tick, persona_id="p0003", target="C1")["belief"]
        assert said.tick == tick
        assert said.source == said.model == "rule"
        assert ("doubt" in said.answer or "do not" in said.answer) == (belief < 0.42)


def test_the_last_tick_is_the_default(path: Path) -> None:
    assert interview(path, "p0003", "And?").tick == 8


def test_what_comes_to_mind_is_what_the_runs_own_recall_brings(path: Path) -> None:
    said = interview(path, "p0003", "Do you like chocolate?", tick=6)
    with Run(path) as run:
        engine = engine_at(run, 6)
        held = run.memories(persona_id="p0003")
    world = engine.world
    question = world.texts.intern(["Do you like chocolate?"])
    now = held[(held["tick"] <= 6) & ~(held["evicted_tick"] <= 6)]
    scores = {}
    for memory in now.itertuples():
        text = world.texts.intern([memory.text])
        near = float(np.clip(world.texts.cosine(text, question)[0], 0, 1))
        age = np.exp(-(6 - memory.tick) / max(1, 8 / 4))
        scores[memory.memory_id] = age * memory.importance * near
    best = sorted(scores, key=lambda i: -scores[i])[: len(said.recalled)]
    assert len(said.recalled) == min(3, len(now))
    assert [each.memory_id for each in said.recalled] == best
    assert {each.path for each in said.recalled} == {"product"}
    texts = dict(zip(held["memory_id"], held["text"], strict=True))
    assert all(texts[each.memory_id] == each.text for each in said.recalled)


def test_nothing_that_happened_later_is_known(path: Path) -> None:
    prompt = said_to(path, "p0003", "What do you remember?", tick=2)
    with Run(path) as run:
        later = run.memories(persona_id="p0003")
    assert all(text not in prompt for text in later[later["tick"] > 2]["text"])
    assert "# Now: tick 2" in prompt


def test_the_prompt_holds_block_beliefs_and_the_conversation(path: Path) -> None:
    noting = Noting()
    with Interview(path, "p0003", tiers=(noting, noting)) as talk, Run(path) as run:
        first = talk.ask("Would you try it?")
        second = talk.ask("Why?")
        (block,) = run.personas(persona_id="p0003")["persona_block"]
        (trust,) = run.beliefs(tick=8, persona_id="p0003", target="trust")["belief"]
    assert (first.source, first.model, first.answer) == ("model", "noting", "Answer 1.")
    assert all(block in text and f"trust: {trust:.2f}" in text for text in noting.asked)
    assert all(each.text in noting.asked[0] for each in first.recalled)
    assert "Would you try it?" in noting.asked[1]
    assert "Answer 1." in noting.asked[1]
    assert talk.said == (first, second)
    assert [said.question_no for said in talk.said] == [1, 2]


def test_of_a_long_conversation_the_last_twenty_answers_are_in_mind(path: Path) -> None:
    noting = Noting()
    with Interview(path, "p0003", tiers=(noting, noting)) as talk:
        for number in range(1, 23):
            talk.ask(f"Question {number}?")
    found = re.findall(r"<question>(Question \d+\?)", noting.asked[-1])
    assert found == [f"Question {number}?" for number in range(2, 23)]


def test_a_question_about_itself_is_answered_from_its_attributes(path: Path) -> None:
    with Run(path) as run:
        (attributes,) = run.personas(persona_id="p0003")["attributes"]
    said = interview(path, "p0003", "how old are you")
    assert said.answer == json.loads(attributes)["age"]


def test_the_same_question_gets_the_same_answer(path: Path) -> None:
    one_, other = (interview(path, "p0007", "Would you buy Bolt?", tick=5) for _ in range(2))
    assert (one_.answer, one_.recalled) == (other.answer, other.recalled)
    assert one_.interview_id != other.interview_id


@pytest.mark.parametrize("mode", ["gated", "persmem"])
def test_a_persona_with_a_personality_recalls_by_it(tmp_path: Path, mode: str) -> None:
    people = {"size": 6, "personality": {"kind": "attachment", "shares": {"anxious": 1}}}
    path = simulate(
        small(horizon=5, population=people, recall={"mode": mode}), out=tmp_path / "a.duckdb"
    )
    said = interview(path, "p0002", "Would you buy it?", tick=4)
    assert said.recalled
    assert {each.path for each in said.recalled} <= {"product", "redirect", "passive", "active"}
    assert interview(path, "p0002", "Would you buy it?", tick=4).recalled == said.recalled


def test_a_run_that_recalls_nothing_answers_without_memories(tmp_path: Path) -> None:
    path = simulate(small(recall={"mode": "none"}), out=tmp_path / "a.duckdb")
    assert interview(path, "p0002", "Would you buy it?").recalled == ()


# The run is only read


def test_an_interview_leaves_the_file_and_the_state_as_they_were(path: Path) -> None:
    before = digest(path)
    with Interview(path, "p0003", tick=4) as talk:
        state = talk._engine.world.digest()
        talk.ask("Would you buy it?")
        talk.ask("And now?")
        assert talk._engine.world.digest() == state
    with Run(path) as run:
        assert rebuild(run, 4).digest() == state
    assert digest(path) == before


def test_several_can_ask_at_the_same_time(path: Path) -> None:
    with Interview(path, "p0003") as one_, Interview(path, "p0004") as other:
        assert one_.ask("And?").persona_id == "p0003"
        assert other.ask("And?").persona_id == "p0004"


# Who answers


def test_a_language_model_answers_and_its_cost_is_told(served: Model, asking: Path) -> None:
    before, asked = digest(asking), len(served.asked)
    said = interview(asking, "p0003", "Would you buy it?", tick=2)
    assert said.source == "model"
    assert said.model == "openai:m"
    assert said.error is None
    assert said.cost_usd > 0
    assert len(served.asked) == asked + 1
    assert "Would you buy it?" in served.asked[-1].text
    assert digest(asking) == before


def test_a_model_that_fails_is_told_and_the_rule_answers(
    served: Model, asking: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "play", lambda asked, _: told(asked, '{"answer": ""}'))
    said = interview(asking, "p0003", "Would you buy it?")
    assert said.source == "fallback"
    assert "attempt 2: " in (said.error or "")
    assert said.answer.startswith("All in all")


def test_a_repaired_answer_says_what_was_wrong_with_the_first(
    served: Model, asking: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_last(asked: Asked, _: Model) -> list[Step]:
        return good(asked) if "could not be used" in asked.text else told(asked, "{}")

    monkeypatch.setattr(served, "play", at_last)
    said = interview(asking, "p0003", "Would you really buy it?")
    assert said.source == "model"
    assert "attempt 1: " in (said.error or "")


def test_the_rule_answers_for_a_run_whose_models_are_gone(tmp_path: Path) -> None:
    with model() as gone:
        path = ran(gone, "openai", tmp_path / "a.duckdb", **WHOLE)
    said = interview(path, "p0003", "Would you buy it?", by_rule=True)
    assert said.source == said.model == "rule"
    assert "appraisal: " in (said.error or "")  # the model was to feel for it, and nobody is there
    with pytest.raises(UsageError, match=r"openai:m at 127\.0\.0\.1"):
        interview(path, "p0003", "Would you buy it?")


def test_everything_that_a_question_sets_off_is_asked_and_paid(tmp_path: Path) -> None:
    with model() as served:
        path = ran(served, "openai", tmp_path / "a.duckdb", **WHOLE)
        said = interview(path, "p0003", "Would you buy it?", out=tmp_path / "t.duckdb")
    purposes = {row[0] for row in asked_for(tmp_path / "t.duckdb", "purpose")}
    assert {"appraisal", "interview"} <= purposes
    assert said.cost_usd == pytest.approx(
        sum(row[0] for row in asked_for(tmp_path / "t.duckdb", "cost_usd"))
    )


def asked_for(path: Path, column: str) -> list[tuple[Any, ...]]:
    with open_database(path) as opened:
        return opened.query(f"SELECT {column} FROM model_calls").rows


def test_a_key_that_is_missing_is_told_before_anything_is_asked(asking: Path) -> None:
    settings = ["models.cheap.base_url=https://api.openai.com/v1"]
    with pytest.raises(ScenarioError, match="OPENAI_API_KEY"):
        interview(asking, "p0003", "And?", settings=settings)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_by_rule_can_be_asked_through_a_language_model(
    served: Model, path: Path, name: str
) -> None:
    settings = [
        f"models.cheap.{key}={value}"
        for key, value in (
            ("provider", name),
            ("model", "m"),
            ("base_url", served.base_url(name)),
            ("price", "{input: 1, output: 4}"),
        )
    ]
    said = interview(path, "p0003", "Would you buy it?", settings=settings)
    assert (said.source, said.model) == ("model", f"{name}:m")
    assert said.cost_usd > 0


def test_a_model_of_ones_own_has_to_answer_interviews(path: Path) -> None:
    class Silent:
        name = "silent"

        def react(self, _: Any) -> None: ...

        def reflect(self, _: Any) -> None: ...

        def answer_probes(self, _: Any) -> None: ...

    silent: Any = Silent()
    with pytest.raises(UsageError, match="silent cannot be interviewed: it has no method"):
        interview(path, "p0003", "And?", tiers=(silent, silent))


def test_the_rule_alone_goes_with_no_other(path: Path) -> None:
    with pytest.raises(UsageError, match="give neither tiers nor replay"):
        interview(path, "p0003", "And?", by_rule=True, replay="t.duckdb")


# The budget


def test_what_the_run_spent_counts_and_more_can_be_allowed(asking: Path, tmp_path: Path) -> None:
    spent = one(asking, "SELECT sum(billed) FROM model_calls")
    out = tmp_path / "t.duckdb"
    with pytest.raises(BudgetExhaustedError) as caught:
        interview(asking, "p0003", "And?", settings=[f"budget.calls={spent}"], out=out)
    assert "Nothing of the run was changed" in str(caught.value)
    assert f"--set budget.calls={caught.value.more}" in str(caught.value)
    more = [f"budget.calls={caught.value.more}"]
    assert interview(asking, "p0003", "And?", settings=more).source == "model"
    assert not out.exists()  # nothing was asked, so there is nothing to keep


def test_a_fork_pays_for_its_own_part_only(asking: Path, tmp_path: Path) -> None:
    other = fork(asking, at=3, settings=["feed.size=1"], out=tmp_path / "b.duckdb")
    own = one(other, "SELECT sum(billed) FROM model_calls WHERE tick > 3")
    settings = [f"budget.calls={own + 1}"]
    assert interview(other, "p0003", "And?", settings=settings).source == "model"


# Transcripts


def test_lines_hold_each_answer_and_are_added_to(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "talk.jsonl"
    with Interview(path, "p0003", tick=3, out=out) as talk:
        said = [talk.ask("Would you buy it?"), talk.ask("Half \\ue0 a “word”?")]
    said.append(interview(path, "p0004", "And you?", out=out))
    found = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert found == [json.loads(json.dumps(each.to_dict())) for each in said]
    assert [each["question_no"] for each in found] == [1, 2, 1]
    assert found[0]["run_id"] == Run(path).run.header.run_id


def test_a_database_holds_answers_and_calls_with_comments(asking: Path, tmp_path: Path) -> None:
    out = tmp_path / "talk.duckdb"
    for persona in ("p0003", "p0004"):
        interview(asking, persona, "Would you buy it?", out=out)
    with open_database(out) as opened:
        found = opened.interviews(arrow=True).to_pylist()
        calls = opened.model_calls()
        tables = opened.tables()
        with pytest.raises(UsageError, match="a transcript is only read"):
            opened.query("DELETE FROM interviews")
    assert [each["persona_id"] for each in found] == ["p0003", "p0004"]
    assert found[0]["recalled"][0].keys() == {"memory_id", "tick", "text", "path"}
    assert list(calls["call_id"]) == [1, 2]
    assert set(calls["purpose"]) == {"interview"}
    assert calls["request"].notna().all()
    assert [table.name for table in tables] == ["interviews", "model_calls"]
    assert all(table.comment and all(c.comment for c in table.columns) for table in tables)


def test_a_run_that_keeps_no_requests_has_none_in_its_transcript(tmp_path: Path) -> None:
    with model() as served:
        path = ran(served, "openai", tmp_path / "a.duckdb", log={"requests": "digest"})
        interview(path, "p0003", "And?", out=tmp_path / "t.duckdb")
    assert asked_for(tmp_path / "t.duckdb", "request") == [(None,)]


def test_a_transcript_answers_again_without_anybody(
    served: Model, asking: Path, tmp_path: Path
) -> None:
    out = tmp_path / "t.duckdb"
    with Interview(asking, "p0003", tick=3, out=out) as talk:
        first = [talk.ask(question) for question in ("Would you buy it?", "Why?")]
    asked = len(served.asked)
    with Interview(asking, "p0003", tick=3, replay=out) as talk:
        again = [talk.ask(question) for question in ("Would you buy it?", "Why?")]
        with pytest.raises(ReplayMissError, match="interview of p0003"):
            talk.ask("Something new?")
    assert len(served.asked) == asked
    assert [each.answer for each in again] == [each.answer for each in first]
    assert {each.source for each in again} == {"replay"}
    assert {each.cost_usd for each in again} == {0.0}


def test_only_a_transcript_can_be_replayed(path: Path, asking: Path, tmp_path: Path) -> None:
    lines = tmp_path / "t.jsonl"
    lines.write_text("{}\n")
    for wrong, said in (
        (asking, "a run has no answers"),
        (lines, r"ends in \.duckdb"),
        (tmp_path / "gone.duckdb", "does not exist"),
    ):
        with pytest.raises(RunFileError, match=said):
            interview(asking, "p0003", "And?", replay=wrong)
    with pytest.raises(UsageError, match="asks no language model, so there is nothing to replay"):
        interview(path, "p0003", "And?", replay=tmp_path / "t.duckdb")


def test_what_is_no_transcript_is_not_added_to(path: Path, tmp_path: Path) -> None:
    notes, cut, other = tmp_path / "notes.txt", tmp_path / "cut.jsonl", tmp_path / "other.duckdb"
    interview(path, "p0003", "And?", out=cut)
    notes.write_text("My notes.\n")
    cut.write_text(cut.read_text()[:-1])
    with duckdb.connect(str(other)) as connection:
        connection.execute("CREATE TABLE interviews (question VARCHAR)")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe")
    for wrong, said in (
        (path, "is no transcript of interviews that can be used here: choose another name"),
        (notes, "choose another name"),
        (cut, "its last line has no end"),
        (other, "laid out in another way"),
        (tmp_path / "binary.jsonl", "the transcript could not be written"),
        (tmp_path, "is a folder"),
        (tmp_path / "notes.txt" / "t.jsonl", "could not be written"),
    ):
        before = wrong.read_bytes() if wrong.is_file() else b""
        with pytest.raises(RunFileError, match=said):
            interview(path, "p0003", "And?", out=wrong)
        assert not wrong.is_file() or wrong.read_bytes() == before


def test_an_empty_file_becomes_a_transcript(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    out.touch()
    interview(path, "p0003", "And?", out=out)
    assert len(out.read_text().splitlines()) == 1


def test_what_was_paid_is_kept_where_no_answer_came(
    served: Model, asking: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "t.duckdb"
    spent = one(asking, "SELECT sum(billed) FROM model_calls")
    settings = [f"budget.calls={spent + 1}"]
    monkeypatch.setattr(served, "play", lambda asked, _: told(asked, "{}"))
    with pytest.raises(BudgetExhaustedError):  # the repair would be one too many
        interview(asking, "p0003", "And?", settings=settings, out=out)
    assert asked_for(out, "outcome") == [("invalid",)]
    with open_database(out) as opened:
        assert opened.query("SELECT count(*) FROM interviews").rows == [(0,)]


def test_a_disk_that_is_full_is_told(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with Interview(path, "p0003", out=tmp_path / "t.jsonl") as talk:
        assert talk._transcript is not None
        monkeypatch.setattr(talk._transcript._kept, "add", full)
        with pytest.raises(RunFileError, match=r"no space is left on the disk"):
            talk.ask("And?")


def test_an_error_in_the_database_leaves_no_half_of_an_answer(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.duckdb"
    with Interview(path, "p0003", out=out) as talk:
        assert talk._transcript is not None
        row = talk.ask("And?").to_dict()
        with pytest.raises(RunFileError, match="the answer could not be written"):
            talk._transcript.add(row | {"seed": "none"}, [])
        talk._transcript.add(None, [])
        talk._transcript.add(row, [])
    with open_database(out) as opened:
        assert opened.query("SELECT count(*) FROM interviews").rows == [(2,)]


def test_half_a_character_does_not_break_a_transcript(path: Path, tmp_path: Path) -> None:
    for name in ("t.jsonl", "t.duckdb"):
        with Interview(path, "p0003", out=tmp_path / name) as talk:
            assert talk._transcript is not None
            row = talk.ask("And?").to_dict()
            talk._transcript.add(row | {"answer": "half \ud800"}, [])
    with open_database(tmp_path / "t.duckdb") as opened:
        assert opened.query("SELECT answer FROM interviews").rows[1] == ("half \\ud800",)


# Bad input


def test_an_unknown_persona_is_answered_with_the_nearest(path: Path) -> None:
    with pytest.raises(UsageError, match='no persona "p00033"; did you mean "p0003"') as caught:
        interview(path, "p00033", "And?")
    assert "It has 12: p0000 to p0011" in str(caught.value)


def test_a_tick_beyond_the_end_is_refused(path: Path) -> None:
    with pytest.raises(UsageError, match="has no tick 9; it holds the ticks 0 to 8"):
        interview(path, "p0003", "And?", tick=9)


def test_a_file_that_is_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.duckdb").write_text("hello")
    with pytest.raises(RunFileError, match="is no run database"):
        interview(tmp_path / "a.duckdb", "p0003", "And?")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("\ud800?", "not valid UTF-8"),
        ("y" * 2_001, "has 2,001 characters; a persona is put at most 2,000"),
    ],
)
def test_a_question_that_asks_nothing_is_refused(path: Path, question: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        interview(path, "p0003", question)


def test_a_run_that_stopped_can_be_asked_about_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"

    def stop(records: Any) -> None:
        if records.tick == 3:
            raise KeyboardInterrupt

    with pytest.raises(RunStoppedError):
        simulate(small(), out=path, on_tick=stop)
    with Interview(path, "p0003") as talk:
        assert (talk.run.status, talk.tick) == ("interrupted", 3)
        assert isinstance(talk.ask("And?"), Statement)


def test_rows_that_were_changed_are_told(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "a.duckdb"
    copy.write_bytes(path.read_bytes())
    with duckdb.connect(str(copy)) as connection:
        connection.execute("UPDATE memories SET importance = 1")
    with pytest.raises(RunFileError, match="does not have the digest"):
        interview(copy, "p0003", "And?")


def test_a_question_in_flight_can_be_interrupted(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.duckdb"
    with Interview(path, "p0003", out=out) as talk:
        stopped: Any = Stopped()
        talk._engine.tiers = (stopped, stopped)
        with pytest.raises(KeyboardInterrupt):
            talk.ask("And?")
    assert not out.exists()


class Stopped:
    name = "stopped"

    def answer_interviews(self, _: Any) -> None:
        raise KeyboardInterrupt
