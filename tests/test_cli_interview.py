"""The verb `interview`: one question, a conversation, and every way to ask wrongly."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from model_runs import ran
from model_server import model, told
from small import small

from simulation import simulate
from simulation.cli.app import execute
from simulation.errors import RunStoppedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Said = tuple[int, str, str]


@pytest.fixture(name="path", scope="module")
def a_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(simulate(small(), out=tmp_path_factory.mktemp("runs") / "a.duckdb"))


@pytest.fixture(name="cli")
def command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Said]:
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str, typed: str = "") -> Said:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        code = execute(["interview", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_an_answer_comes_with_what_it_came_from(cli: Callable[..., Said], path: str) -> None:
    code, out, err = cli(path, "p0003", "Would you buy it?", "--at", "5")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "p0003 at tick 5 (small, seed 3)"
    assert lines[2].startswith("  All in all, ")
    assert "Came to mind  tick " in out
    assert lines[-1] == "Answered by   rule"
    assert max(map(len, lines)) <= 80


def test_json_is_one_object_with_all_of_it(cli: Callable[..., Said], path: str) -> None:
    code, out, _ = cli(path, "p0003", "Would you buy it?", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["persona_id"], found["tick"], found["source"]) == ("p0003", 8, "rule")
    assert {"memory_id", "tick", "text", "path"} == found["recalled"][0].keys()


def test_a_conversation_goes_on_until_an_empty_line(
    cli: Callable[..., Said], path: str, tmp_path: Path
) -> None:
    out = tmp_path / "talk.jsonl"
    code, said, err = cli(
        path, "p0003", "--out", str(out), typed="How old are you?\nDo you trust it?\n\nUnheard?\n"
    )
    assert code == 0
    assert "As for trust" in said
    assert err == f"transcript: {out}\n"
    found = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [each["question"] for each in found] == ["How old are you?", "Do you trust it?"]
    assert said.splitlines()[0] == f"  {found[0]['answer']}"


def test_a_conversation_goes_on_until_the_end_of_the_input(
    cli: Callable[..., Said], path: str
) -> None:
    code, out, err = cli(path, "p0003", "--json", typed="How old are you?\nDo you trust it?")
    assert (code, err) == (0, "")
    assert [json.loads(line)["question_no"] for line in out.splitlines()] == [1, 2]


def test_who_answered_is_told_also_where_somebody_stepped_in(
    cli: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    out = str(tmp_path / "t.duckdb")
    with model() as served:
        path = str(ran(served, "openai", tmp_path / "a.duckdb"))
        _, said, _ = cli(path, "p0003", "Would you buy it?", "--out", out)
        assert "Answered by   openai:m, 0.00" in said
        served.play = lambda asked, _: told(asked, "{}")
        _, said, _ = cli(path, "p0003", "And you?")
        assert "Answered by   the rule model, since openai:m failed" in said
        assert "Trouble       attempt 2: " in said
        _, said, err = cli(path, "p0003", typed="And you?\n")
        assert "(attempt 2: " in err
    code, said, err = cli(path, "p0003", "Would you buy it?")
    assert code == 2
    assert "openai:m at 127.0.0.1" in err
    _, said, _ = cli(path, "p0003", "Would you buy it?", "--rule")
    assert said.endswith("Answered by   rule\n")
    _, said, _ = cli(path, "p0003", "Would you buy it?", "--replay", out)
    assert said.endswith("Answered by   openai:m, from the transcript\n")
    code, _, err = cli(path, "p0003", "What else?", "--replay", out)
    assert code == 1
    assert "interview of p0003" in err


def test_a_spent_budget_ends_with_one_and_says_how_to_ask_more(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    with model() as served:
        path = str(ran(served, "openai", tmp_path / "a.duckdb"))
        code, out, err = cli(path, "p0003", "And?", "--set", "budget.calls=1")
    assert (code, out) == (1, "")
    assert "the budget is spent" in err
    assert "To ask more: --set budget.calls=" in err


def test_a_run_that_stopped_says_how_far_it_got(cli: Callable[..., Said], tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"

    def stop(records: Any) -> None:
        if records.tick == 3:
            raise KeyboardInterrupt

    with pytest.raises(RunStoppedError):
        simulate(small(), out=path, on_tick=stop)
    code, out, err = cli(str(path), "p0003", "And?")
    assert code == 0
    assert out.startswith("p0003 at tick 3 ")
    assert err == f"{path} is interrupted after tick 3 of 8; asking as of then\n"
    assert cli(str(path), "p0003", "And?", "--at", "2")[2] == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gone.duckdb", "p0003", "And?"), "does not exist"),
        (("RUN", "p03", "And?"), 'has no persona "p03"'),
        (("RUN", "p0003", "And?", "--at", "9"), "has no tick 9; it holds the ticks 0 to 8"),
        (("RUN", "p0003", "And?", "--at", "-1"), "-1 is not in the range"),
        (("RUN", "p0003", " "), "the question is empty; leave it out to talk"),
        (("RUN", "p0003", "a", "--rule", "--replay", "x"), "choose one of --rule and --replay"),
        (("RUN", "p0003", "a", "--set", "population.sise=3"), 'did you mean "size"'),
        (("RUN", "p0003", "a", "--out", "RUN"), "is no transcript of interviews"),
        (("RUN",), "Missing argument 'PERSONA'"),
    ],
)
def test_asking_wrongly_is_one_message(
    cli: Callable[..., Said], path: str, words: tuple[str, ...], said: str
) -> None:
    code, out, err = cli(*(path if word == "RUN" else word for word in words))
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_what_a_persona_says_cannot_steer_a_terminal(
    cli: Callable[..., Said], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "simulation.models.interviews._answer", lambda *_: "red \x1b[31m and <script>"
    )
    _, out, _ = cli(path, "p0003", "And?")
    assert "\x1b" not in out
    assert "red \\x1b[31m and <script>" in out


# On a terminal


def on_terminal(path: str, tmp_path: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start a conversation on a terminal of its own; return the process and our end of it."""
    ours, theirs = pty.openpty()
    started = subprocess.Popen(
        [sys.executable, "-m", "simulation", "interview", path, "p0003"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "80"},
    )
    os.close(theirs)
    return started, ours


def read_until(terminal: int, end: bytes) -> bytes:
    seen, until = b"", time.monotonic() + 60
    while not seen.endswith(end) and time.monotonic() < until:
        seen += os.read(terminal, 1)
    return seen


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.parametrize("ending", ["empty", "end", "interrupt"])
def test_on_a_terminal_questions_are_asked_for(path: str, tmp_path: Path, ending: str) -> None:
    started, terminal = on_terminal(path, tmp_path)
    with started:
        said = read_until(terminal, b"> ")
        assert b"An empty line ends the interview." in said
        os.write(terminal, b"Do you trust it?\n")
        read_until(terminal, b"> ")
        if ending == "interrupt":
            started.send_signal(signal.SIGINT)
        else:
            os.write(terminal, b"\n" if ending == "empty" else b"\x04")
        out = started.stdout.read() if started.stdout else b""
        assert started.wait(60) == (130 if ending == "interrupt" else 0)
        assert b"As for trust" in out
        rest = os.read(terminal, 1000)
        assert b"Traceback" not in rest
        assert (b"interrupted" in rest) == (ending == "interrupt")
    os.close(terminal)
