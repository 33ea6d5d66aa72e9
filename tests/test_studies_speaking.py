"""How studies ask language models: who is meant, what comes back, what is kept."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pytest
from model_server import Asked, Model, good, model, told
from provider_server import failing

from simulation.cli.app import execute
from simulation.errors import RunStoppedError, UsageError
from simulation.studies.dialogue.forced_choice import Size
from simulation.studies.speaking import (
    Form,
    ModelRef,
    Models,
    Request,
    one_of,
    recite,
    script,
    voices,
)
from simulation.studies.speaking_forms import ROOM, closed, each_of
from simulation.studies.speaking_records import read_calls

if TYPE_CHECKING:
    from provider_server import Step

    from simulation.studies.speaking import Voices


def _asking(*texts: str) -> list[Request]:
    return [Request(id=f"q{i}", messages=(("user", text),)) for i, text in enumerate(texts)]


def _say_in_turn(asked: Voices, *texts: str) -> None:
    for text in texts:
        asked.speaker.say(_asking(text))


def _yes(_: Request) -> str:
    return "A"


def _served(server: Model, **more: object) -> Models:
    return Models.parse(model="openai:m", base_url=server.base_url("openai"), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("rule", ModelRef()),
        ("openai:gpt-x", ModelRef(provider="openai", model="gpt-x")),
        ("anthropic:c:1", ModelRef(provider="anthropic", model="c:1")),
    ],
)
def test_a_model_is_named_by_provider_and_name(text: str, meant: ModelRef) -> None:
    assert ModelRef.parse(text) == meant


@pytest.mark.parametrize("text", ["", "openai", "openai:", "mistral:x", "rule:x"])
def test_what_names_no_model_is_refused_with_what_does(text: str) -> None:
    with pytest.raises(UsageError, match=r"rule, .*openai:NAME"):
        ModelRef.parse(text)


@pytest.mark.parametrize(
    "url", ["localhost:80", "ftp://x/", "http://u:p@localhost/v1", "http://["]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="the address of openai"):
        ModelRef.parse("openai:m", url)


def test_a_typed_host_is_trusted_but_gets_no_key_that_was_not_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    there = ModelRef.parse("openai:m", "https://models.example/v1")
    assert there.spec(()).api_key is None
    assert there.spec(("models.example",)).api_key == "sk-secret"
    assert ModelRef.parse("openai:m").spec(()).api_key == "sk-secret"


def test_without_a_judge_the_speaker_judges() -> None:
    assert Models.parse(model="openai:m").judge == ModelRef(provider="openai", model="m")
    assert Models.parse(model="openai:m", judge="rule").judge.is_rule
    assert Models.parse().by_rule


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": "http://localhost/v1"},
        {"model": "rule", "base_url": "http://localhost/v1"},
        {"model": "openai:m", "judge_base_url": "http://localhost/v1"},
        {"budget": 0.0},
        {"max_tokens": -1},
        {"budget": float("nan")},
        {"budget": 1.0},
        {"max_tokens": 9},
        {"key_for": ("models.example",)},
        {"form": "free"},
        {"model": "rule", "judge": "openai:m", "max_tokens": 9},
    ],
)
def test_an_option_that_would_do_nothing_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="--"):
        Models.parse(**options)  # type: ignore[arg-type]


def test_the_rule_speaker_says_the_first_sentence_of_each_memory() -> None:
    memories = ("I fell. It hurt.", 'He said "Run!" and we ran', " no end")
    request = Request(id="a", messages=(("user", "So?"),), material=memories)
    assert recite(request) == 'I fell. He said "Run!" no end'
    assert recite(Request(id="a", messages=(("user", "So?"),))) == "Nothing comes to mind."


def test_a_rule_answers_in_order_and_is_recorded_like_a_model() -> None:
    with voices(Models(), speak=lambda r: r.messages[-1][1].upper(), judge=_yes) as asked:
        assert asked.speaker.say(_asking("a", "b")) == ["A", "B"]
        assert asked.judge.say(_asking("c")) == ["A"]
    rows = [json.loads(line) for line in asked.lines().splitlines()]
    assert [row["id"] for row in rows] == ["speaker|q0", "speaker|q1", "judge|q0"]
    assert [row["response"]["text"] for row in rows] == ["A", "B", "A"]
    assert {row["model"] for row in rows} == {"rule"}
    assert all(len(row["sha256"]) == 64 for row in rows)
    assert (
        asked.headline == "No language model spoke: all replies and judgements here are by rule."
    )
    assert asked.told()["speaker"]["outcomes"]["ok"] == 2


def test_two_requests_with_one_id_are_a_mistake_of_the_study() -> None:
    twice = [Request(id="x", messages=(("user", "a"),))] * 2
    with (
        voices(Models(), speak=recite, judge=_yes) as asked,
        pytest.raises(ValueError, match="have one id: x"),
    ):
        asked.speaker.say(twice)


def test_a_model_gets_system_and_script_with_temperature_and_length() -> None:
    request = Request(
        id="p",
        system="You are you.",
        messages=(("user", "Well?"), ("assistant", "Yes."), ("user", "Why?")),
        temperature=0.0,
        max_tokens=10,
        material=("never sent",),
    )
    with model(lambda a, _: told(a, " Because. ")) as server:
        with voices(_served(server), speak=recite, judge=_yes) as asked:
            assert asked.speaker.say([request]) == ["Because."]
        body = server.asked[0].body
    assert body["temperature"] == 0.0
    assert body["max_tokens"] == 10
    assert body["messages"][0] == {"role": "system", "content": "You are you."}
    assert body["messages"][1]["content"] == script(request.messages)
    assert "never sent" not in json.dumps(body)


def test_a_longest_answer_for_slow_models_binds_the_speaker_alone() -> None:
    with model(lambda a, _: told(a, "B")) as server:
        with voices(_served(server, max_tokens=7), speak=recite, judge=_yes) as asked:
            asked.speaker.say(_asking("a"))
            asked.judge.say(_asking("a"))
        assert [a.body["max_tokens"] for a in server.asked] == [7, 220]
    assert asked.told()["max_tokens"] == 7


def test_cut_empty_refused_and_failed_answers_are_told_apart_and_counted() -> None:
    def play(asked: Asked, _: Model) -> list[Step]:
        return {
            "whole": lambda: told(asked, "Well."),
            "cut": lambda: told(asked, "Well, th", finish="length"),
            "empty": lambda: told(asked, "  "),
            "refused": lambda: told(asked, "", finish="content_filter"),
            "broken": lambda: failing(400, "too long"),
        }[asked.text]()

    with (
        model(play) as server,
        voices(_served(server), speak=recite, judge=_yes) as asked,
    ):
        said = asked.speaker.say(_asking("whole", "cut", "empty", "refused", "broken"))
    assert said == ["Well.", "Well, th", "", "", ""]
    found = asked.told()["speaker"]["outcomes"]
    assert found == {"ok": 1, "cut": 1, "empty": 1, "refused": 1, "error": 1}
    assert "5 asked, 3 without an answer, 1 cut off" in asked.headline
    assert asked.told()["speaker"]["input_tokens"] > 0


def test_a_study_is_repeated_from_its_record_without_the_model(tmp_path: Path) -> None:
    with model(lambda a, _: told(a, f"said {a.text}")) as server:
        models = _served(server, judge="rule")
        with voices(models, speak=recite, judge=_yes, folder=tmp_path / "s") as asked:
            first = asked.speaker.say(_asking("a", "b"))
            asked.judge.say(_asking("c"))
    assert list(tmp_path.iterdir()) == []  # the journal goes when all is well
    record = tmp_path / "calls.jsonl"
    record.write_text(asked.lines(), encoding="utf-8")
    models = Models.parse(replay=record)
    assert (str(models.speaker), str(models.judge)) == ("openai:m", "rule")
    with voices(models, speak=recite, judge=_yes) as again:
        assert again.speaker.say(_asking("a", "b")) == first
        again.judge.say(_asking("c"))
        with pytest.raises(RunStoppedError, match="not what the recorded run asked"):
            again.speaker.say(_asking("other"))
    rows = [json.loads(line) for line in again.lines().splitlines()]
    for was, now in zip(map(json.loads, asked.lines().splitlines()), rows, strict=True):
        assert now | {"attempts": was["attempts"]} == was


def test_a_recorded_speaker_can_be_judged_anew_by_a_rule(tmp_path: Path) -> None:
    record = tmp_path / "calls.jsonl"
    with model(lambda a, _: told(a, "said")) as server:
        with voices(_served(server), speak=recite, judge=_yes) as asked:
            asked.speaker.say(_asking("a"))
            asked.judge.say(_asking("b"))
        record.write_text(asked.lines(), encoding="utf-8")
        live = _served(server, replay=record)
        assert (str(live.judge), live.ask) == ("openai:m", True)
    models = Models.parse(judge="rule", replay=record)
    assert (str(models.speaker), models.judge.is_rule, models.ask) == ("openai:m", True, False)
    with voices(models, speak=recite, judge=_yes) as again:
        assert again.speaker.say(_asking("a")) == ["said"]
        assert again.judge.say(_asking("b")) == ["A"]


def test_a_study_that_was_stopped_keeps_its_answers_and_goes_on_from_them(tmp_path: Path) -> None:
    def play(asked: Asked, _: Model) -> list[Step]:
        return failing(401, "wrong key") if asked.text == "bad" else told(asked, "fine")

    folder = tmp_path / "studies" / "s"
    with model(play) as server:
        with (
            pytest.raises(RunStoppedError, match=r"--replay .*s\.calls\.jsonl goes on"),
            voices(_served(server), speak=recite, judge=_yes, folder=folder) as asked,
        ):
            _say_in_turn(asked, "good", "bad")
        kept = tmp_path / "studies" / "s.calls.jsonl"
        assert len(read_calls(kept)) == 2
        with voices(
            _served(server, replay=kept), speak=recite, judge=_yes, folder=folder
        ) as again:
            assert again.speaker.say(_asking("good", "new")) == ["fine", "fine"]
        assert [a.text for a in server.asked] == ["good", "bad", "new"]
    assert kept.exists()  # it was given, so it is not this study's to delete


def test_a_budget_stops_a_study_before_it_is_passed() -> None:
    with model() as server:
        free = _served(server, budget=0.001)
        with voices(free, speak=recite, judge=_yes) as asked:  # this machine costs nothing
            assert asked.speaker.say(_asking("a")) != [""]
    far = Models.parse(model="openai:m", base_url="https://models.example/v1", budget=1.0)
    with (
        pytest.raises(UsageError, match="--budget cannot be kept"),
        voices(far, speak=recite, judge=_yes),
    ):
        pass


def test_a_missing_key_is_told_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with (
        pytest.raises(UsageError, match="OPENAI_API_KEY"),
        voices(Models.parse(model="openai:gpt-5-mini"), speak=recite, judge=_yes),
    ):
        pass


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no answer"),
        ("{}\n", "line 1: no line of a calls.jsonl"),
        ("[1]\n", "line 1"),
        ("no json\n", "line 1"),
    ],
)
def test_a_file_that_is_no_record_is_refused_with_its_line(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        read_calls(path)


def test_a_record_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_calls(tmp_path / "none.jsonl")
    (tmp_path / "b.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(UsageError, match="no UTF-8"):
        read_calls(tmp_path / "b.jsonl")


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    with voices(Models(), speak=recite, judge=_yes) as asked:
        asked.speaker.say(_asking("a", "b"))
    path = tmp_path / "calls.jsonl"
    path.write_text(asked.lines()[:-5], encoding="utf-8")
    assert [r.persona_id for r in read_calls(path)] == ["speaker|q0"]


def test_a_row_of_nobody_is_refused(tmp_path: Path) -> None:
    with voices(Models(), speak=recite, judge=_yes) as asked:
        asked.speaker.say(_asking("a"))
    path = tmp_path / "calls.jsonl"
    path.write_text(asked.lines().replace("speaker|", "prompter|"), encoding="utf-8")
    with pytest.raises(UsageError, match="line 1"):
        read_calls(path)


def test_nothing_is_refused_where_nothing_was_asked() -> None:
    with model() as server, voices(_served(server), speak=recite, judge=_yes) as asked:
        pass
    assert asked.headline == "Nothing was asked."


def test_who_was_not_asked_is_not_named() -> None:
    with model(lambda a, _: told(a, "B")) as server:
        with voices(_served(server), speak=recite, judge=_yes) as asked:
            asked.speaker.say(_asking("a"))
        assert asked.headline == (
            "The speaker was the language model openai:m; "
            "answers of the speaker: 1 asked, 0 without an answer."
        )
        with voices(_served(server, judge="rule"), speak=recite, judge=_yes) as asked:
            asked.judge.say(_asking("a"))
        assert asked.headline.startswith("The judge was a rule; answers of the judge: 1 asked")


def test_a_record_of_rules_alone_is_nothing_to_replay(tmp_path: Path) -> None:
    with voices(Models(), speak=recite, judge=_yes) as asked:
        asked.speaker.say(_asking("a"))
    path = tmp_path / "calls.jsonl"
    path.write_text(asked.lines(), encoding="utf-8")
    with pytest.raises(UsageError, match="no answer of a language model"):
        Models.parse(replay=path)


def _record_of(tmp_path: Path, *texts: str) -> Path:
    """Return the record of a study in which a model said these, one to each of q0, q1 ..."""
    path = tmp_path / "calls.jsonl"
    said = {f"say {i}": text for i, text in enumerate(texts)}
    with model(lambda a, _: told(a, said[a.text])) as server:
        with voices(_served(server, judge="rule"), speak=recite, judge=_yes) as asked:
            assert asked.speaker.say(_asking(*said)) == list(texts)
        path.write_text(asked.lines(), encoding="utf-8", newline="\n")
    return path


ENDS = ("one\u2028two", "one\u2029two", "one\x85two", "one\x0b\x0c\x1ctwo", "one\r\ntwo\nthree")


def test_an_answer_may_hold_any_end_of_a_line(tmp_path: Path) -> None:
    path = _record_of(tmp_path, *ENDS)
    with voices(Models.parse(replay=path), speak=recite, judge=_yes) as again:
        assert again.speaker.say(_asking(*(f"say {i}" for i in range(len(ENDS))))) == list(ENDS)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("seconds", "x"),
        ("seconds", float("nan")),
        ("seconds", True),
        ("response", [1]),
        ("response", {"text": 1, "finish": "stop"}),
        ("response", {"text": "x"}),
        ("response", {"text": "\ud800", "finish": "stop"}),
        ("request", {}),
        ("request", "x"),
        ("outcome", "well"),
        ("outcome", ["ok"]),
        ("attempt", 0),
        ("attempts", 1.0),
        ("provider", None),
        ("model", 3),
        ("sha256", "ab"),
        ("id", 4),
        ("error", 4),
        ("input_tokens", -1),
        ("cost_usd", "1"),
    ],
)
def test_a_line_with_a_part_of_another_type_is_refused_with_its_place(
    tmp_path: Path, part: str, value: object
) -> None:
    path = _record_of(tmp_path, "a", "b")
    first, second = path.read_text(encoding="utf-8").split("\n")[:2]
    wrong = json.dumps(json.loads(second) | {part: value})
    path.write_text(f"{first}\n{wrong}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=rf'calls\.jsonl, line 2: "{part}" is not'):
        read_calls(path)
    assert execute(["study", "dialogue", "--quick", "--replay", str(path)]) == 2


@pytest.mark.parametrize("line", ["[" * 100_000, '{"id": ' + "1" * 5000 + "}"])
def test_a_line_that_cannot_be_parsed_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1: no line of"):
        read_calls(path)


def test_a_doubled_line_is_refused_with_its_place(tmp_path: Path) -> None:
    path = _record_of(tmp_path, "a", "b")
    text = path.read_text(encoding="utf-8")
    path.write_text(text + text.split("\n")[0] + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"line 3: this request stands in an earlier line"):
        read_calls(path)


def test_a_replay_that_misses_names_the_request_and_leaves_nothing(tmp_path: Path) -> None:
    path = _record_of(tmp_path, "a")
    models = Models.parse(replay=path)
    folder = tmp_path / "new" / "s"
    with (
        pytest.raises(RunStoppedError) as caught,
        voices(models, speak=recite, judge=_yes, folder=folder) as asked,
    ):
        asked.speaker.say(_asking("say 0", "say more"))
    said = str(caught.value)
    assert said.startswith(f"{path} has no answer to speaker|q1")
    assert "--model openai:m" in said
    assert "goes on" not in said
    assert [each.name for each in tmp_path.iterdir()] == ["calls.jsonl"]


def test_an_option_that_binds_nobody_in_a_replay_is_refused(tmp_path: Path) -> None:
    path = _record_of(tmp_path, "a")
    with pytest.raises(UsageError, match="--budget needs"):
        Models.parse(replay=path, budget=1.0)
    assert Models.parse(replay=path, max_tokens=9).max_tokens == 9  # it decides what is asked


def test_half_a_pair_of_surrogates_in_an_answer_stops_nothing() -> None:
    with model(lambda a, _: told(a, "well \ud800!")) as server:
        with voices(_served(server), speak=recite, judge=_yes) as asked:
            assert asked.speaker.say(_asking("a")) == ["well \ufffd!"]
        asked.lines().encode()


FULL = (28, "No space left on device")


class _Full:
    """A file on a disk that has room for so many bytes."""

    def __init__(self, file: BinaryIO, room: int) -> None:
        self._file, self.room = file, room

    def write(self, data: bytes) -> int:
        if not self.room:
            raise OSError(*FULL)
        size = self._file.write(data[: self.room])
        self.room -= size
        return size

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


def test_a_full_disk_leaves_whole_lines_and_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pathlib.Path.open",
        lambda path, *args, _open=Path.open, **more: (
            _Full(_open(path, *args, **more), 1500)
            if path.name.endswith(".calls.jsonl") and args[:1] == ("xb",)
            else _open(path, *args, **more)
        ),
    )
    with (
        model(lambda a, _: told(a, "B" * 600)) as server,
        pytest.raises(UsageError, match=r"cannot be written: No space") as caught,
        voices(_served(server), speak=recite, judge=_yes, folder=tmp_path / "s") as asked,
    ):
        _say_in_turn(asked, "a", "b")
    kept = tmp_path / "s.calls.jsonl"
    assert [json.loads(r.response or "")["text"] for r in read_calls(kept)] == ["B" * 600]
    assert kept.read_text(encoding="utf-8").endswith("\n")
    assert any(str(kept) in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        *product(["dam_judge.study"], [OSError(*FULL), RuntimeError("odd"), UnicodeError("odd")]),
        *product(
            ["dialogue.forced_choice", "dialogue.adversarial", "dialogue.response"],
            [OSError(*FULL)],
        ),
    ],
)
def test_an_error_after_all_was_paid_names_the_kept_answers(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    error: Exception,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise type(error)(*error.args)

    studies = {"forced_choice": "dialogue", "response": "attachment-response"}
    studies["study"] = "dam-judge"
    last = name.rpartition(".")[2]
    monkeypatch.setattr(f"simulation.studies.{name}.publish", fail)
    monkeypatch.setattr(
        "simulation.studies.dialogue.forced_choice.QUICK", Size(people=2, pairs=1, seeds=(0,))
    )
    out = tmp_path / "s"
    with model() as server:
        options = ["--model", "openai:m", "--base-url", server.base_url("openai")]
        study = studies.get(last, last)
        assert execute(["study", study, "--quick", *options, "--out", str(out)]) in {1, 2}
    assert f"What was answered is in {out}.calls.jsonl" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["s.calls.jsonl"]


def test_a_stop_without_a_journal_says_only_why() -> None:
    with (
        model(lambda _, __: failing(401, "wrong key")) as server,
        pytest.raises(RunStoppedError, match=r"wrong key\W*$"),
        voices(_served(server), speak=recite, judge=_yes) as asked,
    ):
        asked.speaker.say(_asking("a"))


def test_a_journal_that_cannot_be_written_stops_the_study(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        model(lambda a, _: told(a, "B")) as server,
        pytest.raises(UsageError, match="cannot be written"),
        voices(_served(server), speak=recite, judge=_yes, folder=tmp_path / "file" / "s") as asked,
    ):
        asked.speaker.say(_asking("a"))


def _choosing(*names: str) -> list[Request]:
    return [
        Request(
            id=name, messages=(("user", f"{name}: A or B?"),), max_tokens=10, form=one_of("A", "B")
        )
        for name in names
    ]


def _refusing(asked: Asked, _: Model) -> list[Step]:
    """Answer in words, and refuse a schema as a server does that knows none."""
    return told(asked, "B.") if asked.schema is None else failing(400, "response_format: unknown")


def _judge_in_turn(asked: Voices, *names: str) -> None:
    for name in names:
        asked.judge.say(_choosing(name))


def _schemas(asked: Voices) -> list[bool]:
    """Return of each line of the record whether a schema was sent."""
    rows = [json.loads(line) for line in asked.lines().splitlines()]
    return [row["request"]["schema"] is not None for row in rows]


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_form_is_sent_as_a_schema_and_the_study_reads_the_bare_answer(name: str) -> None:
    (request,) = _choosing("x")
    with model(lambda a, _: told(a, '{\n "answer": "B"\n}')) as server:
        models = Models.parse(model=f"{name}:m", base_url=server.base_url(name))
        with voices(models, speak=recite, judge=_yes) as asked:
            assert asked.judge.say([request]) == ["B"]
        sent = server.asked[0]
    assert sent.schema is not None
    assert sent.schema["properties"]["answer"]["enum"] == ["A", "B"]
    assert sent.text == "x: A or B?"  # word for word what it is without a form
    assert sent.body["max_tokens"] == 10 + ROOM
    assert asked.told()["judge"]["forms"] == {"fixed": 1, "free": 0}
    assert asked.headline.endswith("1 asked, 0 without an answer, 1 of 1 held to a fixed form.")
    assert _schemas(asked) == [True]


def test_a_server_that_takes_no_form_is_asked_the_plain_prompt_from_then_on() -> None:
    with model(_refusing) as server:
        with voices(_served(server), speak=recite, judge=_yes) as asked:
            assert asked.judge.say(_choosing("x", "y")) == ["B.", "B."]
            assert asked.judge.say(_choosing("z")) == ["B."]
        sent = server.asked
    assert [a.schema is None for a in sent] == [False, False, True, True, True]
    assert {a.text for a in sent[2:]} == {f"{name}: A or B?" for name in "xyz"}
    assert {a.body["max_tokens"] for a in sent[2:]} == {10}
    assert asked.told()["judge"]["forms"] == {"fixed": 0, "free": 3}
    assert asked.told()["judge"]["outcomes"]["error"] == 0
    assert _schemas(asked) == [False, False, False]


def test_a_server_that_overlooks_the_form_is_read_as_it_answers() -> None:
    with model(lambda a, _: told(a, "B")) as server:
        with voices(_served(server), speak=recite, judge=_yes) as asked:
            assert asked.judge.say(_choosing("x")) == ["B"]
        assert server.asked[0].text == "x: A or B?"
    assert asked.told()["judge"]["forms"] == {"fixed": 0, "free": 1}


def test_what_fails_for_another_reason_is_not_asked_in_another_form() -> None:
    with model(lambda _, __: failing(400, "odd")) as server:
        with voices(_served(server), speak=recite, judge=_yes) as asked:
            assert asked.judge.say(_choosing("x")) == [""]
        assert len(server.asked) == 1
    assert "forms" not in asked.told()["judge"]


def test_a_free_form_can_be_wished_for() -> None:
    with model(lambda a, _: told(a, '{"answer": "B"}')) as server:
        with voices(_served(server, form="free"), speak=recite, judge=_yes) as asked:
            assert asked.judge.say(_choosing("x")) == ['{"answer": "B"}']
        assert server.asked[0].schema is None
    with pytest.raises(UsageError, match='--form cannot be "round"; it can be fixed or free'):
        Models.parse(form="round")


@pytest.mark.parametrize("form", ["free", "fixed"])
def test_a_recorded_study_is_repeated_in_its_own_form(tmp_path: Path, form: str) -> None:
    record = tmp_path / "calls.jsonl"
    with model(good_or_plain) as server:
        with voices(_served(server, form=form), speak=recite, judge=_yes) as asked:
            said = asked.judge.say(_choosing("x", "y"))
        record.write_text(asked.lines(), encoding="utf-8")
        for models in (Models.parse(replay=record), _served(server, replay=record)):
            with voices(models, speak=recite, judge=_yes) as again:
                assert again.judge.say(_choosing("x", "y")) == said
        assert len(server.asked) == 2
        anew = _served(server, replay=record, form="fixed")
        with voices(anew, speak=recite, judge=_yes) as again:
            again.judge.say(_choosing("x", "y"))
        assert len(server.asked) == (4 if form == "free" else 2)
    assert again.told()["judge"]["forms"] == {"fixed": 2, "free": 0}


def good_or_plain(asked: Asked, _: Model) -> list[Step]:
    """Answer by the schema, and in words where there is none."""
    return told(asked, "B") if asked.schema is None else good(asked)


def test_a_study_stopped_at_a_server_without_forms_goes_on(tmp_path: Path) -> None:
    def play(asked: Asked, server: Model) -> list[Step]:
        return failing(401, "wrong key") if "bad" in asked.text else _refusing(asked, server)

    folder, kept = tmp_path / "s", tmp_path / "s.calls.jsonl"
    with model(play) as server:
        with (
            pytest.raises(RunStoppedError, match="goes on"),
            voices(_served(server), speak=recite, judge=_yes, folder=folder) as asked,
        ):
            _judge_in_turn(asked, "x", "bad")
        before = len(server.asked)
        again = _served(server, replay=kept)
        with voices(again, speak=recite, judge=_yes, folder=folder) as asked:
            assert asked.judge.say(_choosing("x")) == ["B."]
        assert len(server.asked) == before


def test_a_rule_answers_as_ever_where_there_is_a_form() -> None:
    with voices(Models(), speak=recite, judge=_yes) as asked:
        assert asked.judge.say(_choosing("x")) == ["A"]
    bare = Request(id="x", messages=(("user", "x: A or B?"),), max_tokens=10)
    with voices(Models(), speak=recite, judge=_yes) as plain:
        plain.judge.say([bare])
    assert asked.lines() == plain.lines()
    assert asked.told() == plain.told()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"category": "a", "figure": "2"}', "a 2"),
        ('{"figure": "2", "category": "a"}', "a 2"),
        ('{"category": "a"}', None),
        ('{"category": "a", "figure": 2}', None),
        ('{"category": "c", "figure": "2"}', None),
        ('{"category": ["a"], "figure": "2"}', None),
        ('["a"]', None),
        ('{"category": "a", "fig', None),
        ("[" * 100_000, None),
    ],
)
def test_an_answer_of_several_choices_is_read_as_their_words(text: str, read: str | None) -> None:
    assert each_of(category=("a", "b"), figure=("1", "2")).read(text) == read


def test_a_form_that_is_no_choice_is_read_as_it_was_written() -> None:
    form = Form(schema=closed({"flaws": {"type": "array", "items": {"type": "string"}}}))
    assert form.read('{ "flaws": []}') == '{ "flaws": []}'
    assert form.read('{"others": []}') is None


def test_an_interrupted_study_says_where_its_answers_are(tmp_path: Path) -> None:
    def play(asked: Asked, _: Model) -> list[Step]:
        return told(asked, "fine")

    def interrupted() -> None:
        with voices(_served(server), speak=recite, judge=_yes, folder=tmp_path / "s") as asked:
            asked.speaker.say(_asking("a"))
            raise KeyboardInterrupt

    with model(play) as server, pytest.raises(KeyboardInterrupt) as caught:
        interrupted()
    kept = tmp_path / "s.calls.jsonl"
    assert len(read_calls(kept)) == 1
    assert caught.value.__notes__ == [
        f"What was answered is in {kept}; --replay {kept} goes on from there."
    ]


def test_ctrl_c_at_the_command_line_names_the_kept_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("simulation.studies.dialogue.judging.compare", interrupt)
    monkeypatch.setattr(
        "simulation.studies.dialogue.forced_choice.QUICK", Size(people=2, pairs=1, seeds=(0,))
    )
    out = tmp_path / "s"
    with model(lambda a, _: told(a, "fine")) as server:
        options = ["--model", "openai:m", "--base-url", server.base_url("openai")]
        code = execute(["study", "dialogue", "--quick", *options, "--out", str(out)])
    assert code == 130
    said = capsys.readouterr().err
    assert f"What was answered is in {out}.calls.jsonl" in said
    assert said.endswith("interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["s.calls.jsonl"]
