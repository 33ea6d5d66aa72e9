"""Executors: a run is the same wherever its batches are worked on, whatever happens to workers."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from executing import (
    cut_small,
    die,
    die_once,
    fail,
    interrupted,
    plain,
    process_of,
    scenario,
    shared_plus,
    survived,
    told,
)
from rule_requests import Town, make_reflections
from small import small

from simulation import executors
from simulation.cli.app import execute
from simulation.encoders import EncoderSpec
from simulation.encoders import load as encoder
from simulation.engine import Engine
from simulation.errors import (
    EmptyPersonaBlockError,
    EncoderError,
    RunStoppedError,
    UsageError,
)
from simulation.executors import ExecutorSpec, load, portable
from simulation.executors.encoder import DistributedEncoder
from simulation.executors.local import Local
from simulation.executors.model import Distributed
from simulation.executors.processes import Processes
from simulation.models.base import ProbeReplies, Rejection
from simulation.models.interviews import InterviewRequests
from simulation.models.replies import join
from simulation.models.rule import RuleModel, RuleParameters
from simulation.rng import Streams
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from simulation.models.base import Reactions, TurnRequests


@pytest.fixture(scope="module")
def crew() -> Iterator[Processes]:
    with contextlib.closing(Processes(2)) as processes:
        yield processes


@pytest.mark.parametrize("name", ["small", "protein_bar", "anxious_neighbours"])
def test_a_run_tells_the_same_in_processes_as_here(
    name: str, crew: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = scenario(name)
    here = told(loaded, None)
    cut_small(monkeypatch, 5 if name == "small" else 50)
    assert told(loaded, crew) == here


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_run_tells_the_same_in_parts_of_any_size(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = scenario("small")
    here = told(loaded, None)
    cut_small(monkeypatch, size)
    assert told(loaded, Local()) == here


def test_parts_go_to_the_workers_and_only_when_there_are_several() -> None:
    town = Town.build(7).requests
    rule = RuleModel(parameters=RuleParameters(), streams=Streams(1))

    class Counting(Local):
        parts = 0

        def map(self, function, shared, parts):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
            found = super().map(function, shared, parts)
            self.parts += len(found)
            return found

    executor = Counting()
    for batch, parts in ((7, 0), (3, 3), (6, 5)):
        assert Distributed(rule, executor, batch=batch).react(town).words == rule.react(town).words
        assert executor.parts == parts


def test_a_run_goes_on_when_a_worker_dies_in_mid_tick(
    crew: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_small(monkeypatch, 3)
    found, wanted = survived(crew, tmp_path / "died")
    assert (tmp_path / "died").exists()
    assert found == wanted


def test_a_worker_killed_from_outside_is_replaced_and_its_part_begun_again(
    crew: Processes,
) -> None:
    before = set(crew.map(process_of, crew.share(None), [0.2, 0.2]))
    victim = before.pop()
    timer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
    timer.start()
    after = crew.map(process_of, crew.share(None), [0.8, 0.8, 0.01, 0.01])
    timer.join()
    assert len(after) == 4
    assert victim not in after


def test_answers_come_in_the_order_of_their_parts(crew: Processes) -> None:
    assert crew.map(shared_plus, crew.share(100), range(6)) == [100, 101, 102, 103, 104, 105]
    assert crew.map(shared_plus, crew.share(1), iter(())) == []


def test_a_part_that_ended_its_worker_is_worked_on_again(crew: Processes, tmp_path: Path) -> None:
    assert crew.map(die_once, crew.share(str(tmp_path)), range(3)) == [0, 1, 2]


def test_a_part_that_ends_every_worker_ends_the_run(crew: Processes) -> None:
    with pytest.raises(RunStoppedError, match="died on the same part of the work 4 times"):
        crew.map(die, crew.share(None), [0])
    assert crew.map(shared_plus, crew.share(1), [1]) == [2]


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (EncoderError("no vector"), EncoderError, "^no vector"),
        (EmptyPersonaBlockError("p1"), UsageError, "p1"),
        (ZeroDivisionError("by nought"), RuntimeError, "^ZeroDivisionError: by nought"),
    ],
)
def test_an_error_of_a_part_is_raised_here_with_its_place(
    raised: Exception, kind: type[Exception], message: str, crew: Processes
) -> None:
    with pytest.raises(kind, match=message) as caught:
        crew.map(fail, crew.share(raised), range(3))
    assert "in fail" in caught.value.__notes__[0]


def test_what_cannot_be_sent_is_an_error_and_harms_no_worker(crew: Processes) -> None:
    with pytest.raises(Exception, match="pickle"):
        crew.map(shared_plus, crew.share(1), [lambda: 1])
    assert crew.map(shared_plus, crew.share(1), [1]) == [2]


def test_ctrl_c_leaves_a_call_and_the_next_one_gets_its_own_answers(crew: Processes) -> None:
    def interrupted() -> Iterator[float]:
        yield 0.1
        yield 0.1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crew.map(process_of, crew.share(None), interrupted())
    assert crew.map(shared_plus, crew.share(5), range(3)) == [5, 6, 7]


def test_a_closed_executor_leaves_no_process() -> None:
    executor = Processes(2)
    pids = set(executor.map(process_of, executor.share(None), [0.1, 0.1]))
    executor.close()
    executor.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_closing_does_not_wait_for_parts_under_way() -> None:
    executor = Processes(1)

    def gone() -> Iterator[float]:
        yield 60.0
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        executor.map(process_of, executor.share(None), gone())
    started = time.monotonic()
    executor.close()
    assert time.monotonic() - started < 20.0


def test_workers_end_with_a_parent_that_was_killed() -> None:
    program = (
        "import os, signal\n"
        "from simulation.executors.processes import Processes\n"
        "from executing import process_of\n"
        "crew = Processes(1)\n"
        "print(crew.map(process_of, crew.share(None), [0])[0], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": here},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    until = time.monotonic() + 30
    while is_alive(int(done.stdout)):
        assert time.monotonic() < until
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("name", ["static", "ngram"])
def test_an_exact_encoder_gives_bitwise_the_same_in_parts(name: str) -> None:
    whole = encoder(EncoderSpec(name=name))
    spread = executors.spread_encoder(whole, Local())
    assert isinstance(spread, DistributedEncoder)
    texts = [f"Bolt tastes of {word} {i} 🙂" for i, word in enumerate("abcdefg" * 3)]
    parts = DistributedEncoder(whole, Local(), batch=4)
    assert parts.encode(texts).tobytes() == whole.encode(texts).tobytes()
    assert parts.encode([]).shape == (0, whole.width)
    assert (spread.name, spread.sha256, spread.width) == (whole.name, whole.sha256, whole.width)


def test_an_encoder_that_is_not_known_to_be_exact_stays_here() -> None:
    class Own:
        name = "static"
        width = 1
        sha256 = ""

        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.ones((len(texts), 1), np.float32)

    own = Own()
    assert executors.spread_encoder(own, Local()) is own
    assert executors.spread_encoder(own, None) is own


def test_without_an_executor_a_model_is_itself() -> None:
    rule = RuleModel(parameters=RuleParameters(), streams=Streams(1))
    assert executors.spread_model(rule, None) is rule
    assert executors.spread_model(rule, Local()).name == "rule"


def test_a_sent_batch_holds_no_cast_and_refuses_what_was_not_sent() -> None:
    requests = replace(Town.build(4).requests, prompt=lambda _: pytest.fail("a prompt was made"))
    sent = portable.cut_turns(requests, range(1, 3))
    assert len(sent) == 2
    assert sent.cast is portable.NOBODY
    for asked in (sent.prompt, sent.text):
        with pytest.raises(LookupError, match="number 1 was not sent with its batch"):
            asked(1)


def test_names_of_sources_arrive_with_a_batch() -> None:
    kept: list[TurnRequests] = []

    class Keeping(RuleModel):
        def react(self, requests: TurnRequests) -> Reactions:
            kept.append(requests)
            return RuleModel.react(self, requests)

    keeping = Keeping(parameters=RuleParameters(), streams=Streams(3))
    engine = Engine(small(), tiers=(keeping, keeping))
    kinds = set()
    while engine.world.tick < 5:
        engine.advance()
        requests = kept[-1]
        sent = portable.cut_turns(requests, range(len(requests)))
        back = portable.restore(sent, requests.cast)
        for post in np.unique(requests.feed.post[requests.feed.post >= 0]).tolist():
            name = back.feed.source_names(post)
            assert name == requests.feed.source_names(post)
            kinds.add(name in requests.cast.ids)
    assert kinds == {True, False}


def test_errors_and_rejections_move_to_their_place_in_the_whole() -> None:
    said = Rejection(index=1, kind="k", detail="d")
    first = ProbeReplies(answer=["a", None], error={1: "why"}, rejections=(said,))
    second = ProbeReplies(answer=["b", None], error={0: "x", 1: "y"}, rejections=(said,))
    whole = join([([0, 1], first), ([2, 3], second)])
    assert whole.answer == ["a", None, "b", None]
    assert whole.error == {1: "why", 2: "x", 3: "y"}
    assert [item.index for item in whole.rejections] == [1, 3]


def test_interviews_and_stand_ins_are_answered_as_by_the_model_itself() -> None:
    rule = RuleModel(parameters=RuleParameters(), streams=Streams(1))
    town = Town.build(3).requests
    asked = InterviewRequests(
        cast=town.cast,
        tick=1,
        row=town.row,
        beliefs=town.beliefs,
        question=["Is it cheap?"] * 3,
        known=[""] * 3,
        memories=lambda _: (),
        prompt=lambda _: pytest.fail("a prompt was made"),
    )
    spread = Distributed(rule, Local(), batch=1)
    assert spread.answer_interviews(asked).answer == rule.answer_interviews(asked).answer
    failed = make_reflections(np.full((3, 6), 0.7), np.full((3, 6), 0.5))
    for found, wanted in (
        (spread.consolidate(failed), rule.consolidate(failed)),
        (spread.reflect(failed), rule.reflect(failed)),
    ):
        assert plain(found) == plain(wanted)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "dask"}, 'no executor "dask"; executors are local, ray'),
        ({"workers": 0}, "at least 1 worker, not 0"),
        ({"address": "10.0.0.1:6379"}, "needs the executor ray"),
    ],
)
def test_an_executor_that_cannot_be_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ExecutorSpec(**given)  # type: ignore[arg-type]


def test_the_number_of_workers_decides_between_this_process_and_others() -> None:
    assert isinstance(load(ExecutorSpec()), Local)
    assert isinstance(load(ExecutorSpec(workers=1)), Local)
    with contextlib.closing(load(ExecutorSpec(workers=3))) as executor:
        assert (executor.name, executor.workers) == ("local", 3)


def test_a_run_that_asks_for_ray_without_it_says_what_to_install_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "simulation.executors.ray.find_spec", lambda name: None if name == "ray" else find(name)
    )
    file = tmp_path / "small.yaml"
    file.write_text(small().text, encoding="utf-8")
    out = tmp_path / "out.duckdb"
    assert execute(["run", str(file), "--executor", "ray", "--out", str(out)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        'the package "ray" is not installed; install it with: pip install "simulation[ray]"'
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.yaml"]


def test_the_page_on_executors_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).resolve().parents[1]
    page = (root / "docs" / "executors.md").read_text("utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").symlink_to(root / "scenarios")
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 - the page's own code, as a reader runs it
    assert names["path"].is_file()


def test_the_command_line_runs_on_processes_to_the_same_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_small(monkeypatch, 4)
    file = tmp_path / "small.yaml"
    file.write_text(small().text, encoding="utf-8")
    digests = []
    for number, options in enumerate(([], ["--workers", "2"])):
        out = str(tmp_path / f"{number}.duckdb")
        assert execute(["run", str(file), "--out", out, *options]) == 0
        text = capsys.readouterr().out
        digests.append(next(line for line in text.splitlines() if line.startswith("Digest")))
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_ctrl_c_ends_a_run_on_processes_after_a_whole_tick(tmp_path: Path) -> None:
    code, said = interrupted(
        tmp_path, "--workers", "2", "--set", "population.size=2000", "--set", "horizon=500"
    )
    assert code == 1, said
    assert "interrupted after tick" in said
    assert "Traceback" not in said
    with RunFile.open(tmp_path / "out.duckdb") as found:
        assert found.run.status == "interrupted"
        assert 0 <= found.run.last_tick < 500
