"""Executors on Ray: one machine, a cluster of two nodes, and everything that goes wrong there."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from executing import (
    cut_small,
    die,
    die_once,
    fail,
    interrupted,
    process_of,
    scenario,
    shared_plus,
    survived,
    told,
)
from small import small

from simulation.errors import EncoderError, RunStoppedError, UsageError
from simulation.executors import ExecutorSpec, load
from simulation.executors import ray as executor_ray
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.executors import Executor

pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

PROGRAM = [sys.executable, "-m", "simulation"]
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 4}
STARTING = 60.0  # seconds


@pytest.fixture(scope="module")
def machine() -> Iterator[Executor]:
    """Return an executor with four workers, on a Ray of its own."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))  # of workers, for parts of tests
        executor = load(ExecutorSpec(name="ray", workers=4))
    with contextlib.closing(executor):
        assert signal.getsignal(signal.SIGTERM) == before
        yield executor


@pytest.mark.parametrize("name", ["small", "protein_bar", "anxious_neighbours"])
def test_a_run_tells_the_same_on_one_two_and_four_workers_as_here(
    name: str, machine: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = scenario(name)
    here = told(loaded, None)
    cut_small(monkeypatch, 4 if name == "small" else 40)
    for workers in (1, 2):
        executor = load(ExecutorSpec(name="ray", workers=workers))  # on the Ray that there is
        assert executor.workers == workers
        assert told(loaded, executor) == here
        executor.close()
    assert machine.workers == 4
    assert told(loaded, machine) == here


def test_a_run_goes_on_when_a_worker_dies_in_mid_tick(
    machine: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_small(monkeypatch, 3)
    found, wanted = survived(machine, tmp_path / "died")
    assert (tmp_path / "died").exists()
    assert found == wanted


def test_a_worker_killed_from_outside_is_replaced_and_its_part_begun_again(
    machine: Executor,
) -> None:
    victim = machine.map(process_of, machine.share(None), [0.1])[0]
    timer = threading.Timer(0.5, os.kill, (victim, signal.SIGKILL))
    timer.start()
    after = machine.map(process_of, machine.share(None), [1.5] * 4)
    timer.join()
    assert len(after) == 4
    assert victim not in after


def test_answers_come_in_the_order_of_their_parts(machine: Executor) -> None:
    assert machine.map(shared_plus, machine.share(10), range(6)) == [10, 11, 12, 13, 14, 15]
    assert machine.map(shared_plus, machine.share(10), []) == []


def test_a_part_that_ended_its_worker_is_worked_on_again(
    machine: Executor, tmp_path: Path
) -> None:
    assert machine.map(die_once, machine.share(str(tmp_path)), range(3)) == [0, 1, 2]


def test_a_part_that_ends_every_worker_ends_the_run(machine: Executor) -> None:
    with pytest.raises(RunStoppedError, match="Ray could not finish its work: "):
        machine.map(die, machine.share(None), [0])


def test_an_error_of_a_part_is_raised_here_with_its_place(machine: Executor) -> None:
    with pytest.raises(EncoderError, match=r"^no vector") as caught:
        machine.map(fail, machine.share(EncoderError("no vector")), range(3))
    assert "in fail" in caught.value.__notes__[0]


def test_no_more_parts_are_under_way_than_there_are_workers(machine: Executor) -> None:
    assert machine.workers == 4
    one = load(ExecutorSpec(name="ray", workers=1))
    started = time.monotonic()
    one.map(process_of, one.share(None), [0.3] * 4)
    assert time.monotonic() - started > 1.2


def test_a_node_of_another_version_is_refused_and_named(
    machine: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_ray, "PACKAGES", ("simulation", "numpy", "tokenizers", "nowhere"))
    monkeypatch.setattr(executor_ray, "versions", lambda: {"numpy": "9.9", "nowhere": "1.0"})
    with pytest.raises(UsageError) as caught:
        load(ExecutorSpec(name="ray"))
    said = str(caught.value)
    assert "the nodes of the Ray cluster must have what this machine has:" in said
    assert "here it is 9.9" in said
    assert "has no nowhere, here it is 1.0" in said
    late = machine.share(1)  # as if a node had come after the first look
    with pytest.raises(UsageError, match=r"has numpy .*, here it is 9\.9"):
        machine.map(shared_plus, late, [1])


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:9", "no Ray cluster answers at 127.0.0.1:9: "),
        ("nowhere.invalid:6379", "no Ray cluster answers at nowhere.invalid:6379: "),
        ("ray://127.0.0.1:10001", "is no address of a Ray cluster; it is HOST:PORT"),
        ("127.0.0.1", "is no address of a Ray cluster; it is HOST:PORT"),
    ],
)
def test_a_cluster_that_cannot_be_reached_is_one_message(
    address: str, message: str, tmp_path: Path
) -> None:
    done = run(tmp_path, "--ray-address", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out.duckdb").exists()


def run(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the small scenario from the command line, on Ray."""
    (folder / "small.yaml").write_text(small().text, encoding="utf-8")
    line = ["run", "small.yaml", "--out", "out.duckdb", "--executor", "ray", "--quiet"]
    return subprocess.run(
        [*PROGRAM, *line, *options],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_ray_adds_no_word_to_what_a_run_prints(tmp_path: Path) -> None:
    done = run(tmp_path, "--workers", "1", "--set", "population.size=600", "--set", "horizon=2")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "out.duckdb\n")


def test_the_death_of_a_worker_of_a_command_line_changes_no_result(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(small().text, encoding="utf-8")
    line = ["run", "small.yaml", "--quiet", "--set", "population.size=2000", "--set", "horizon=12"]
    program = subprocess.Popen(
        [*PROGRAM, *line, "--out", "ray.duckdb", "--executor", "ray", "--workers", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + STARTING
    while not (busy := working(program.pid)):
        assert time.monotonic() < until
        time.sleep(0.02)
    os.kill(busy[0], signal.SIGKILL)
    out, said = program.communicate(timeout=120)
    assert (program.returncode, out) == (0, "ray.duckdb\n"), said
    subprocess.run([*PROGRAM, *line, "--out", "here.duckdb"], cwd=tmp_path, check=True)
    digests = []
    for name in ("ray", "here"):
        with RunFile.open(tmp_path / f"{name}.duckdb") as found:
            digests.append(found.query("SELECT state_digest FROM ticks ORDER BY tick").rows)
    assert len(digests[0]) == 13
    assert digests[0] == digests[1]


def working(driver: int) -> list[int]:
    """Return the processes under a driver that work on parts right now."""
    table = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="],  # noqa: S607 - of the machine that tests
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    parents = {int(row.split()[0]): int(row.split()[1]) for row in table}
    busy = [int(row.split()[0]) for row in table if "ray::_work" in row]
    return [pid for pid in busy if parents.get(parents[pid]) == driver]


def test_ctrl_c_ends_a_run_on_ray_after_a_whole_tick(tmp_path: Path) -> None:
    code, said = interrupted(
        tmp_path,
        "--executor",
        "ray",
        "--workers",
        "1",
        "--set",
        "population.size=2000",
        "--set",
        "horizon=500",
    )
    assert code == 1, said
    assert "interrupted after tick" in said
    assert "Traceback" not in said
    with RunFile.open(tmp_path / "out.duckdb") as found:
        assert found.run.status == "interrupted"
        assert 0 <= found.run.last_tick < 500


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """Start two nodes of one processor each on this machine; return the address of their head."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    ray = str(Path(sys.executable).with_name("ray"))
    size = ["--num-cpus", "1", "--object-store-memory", "100000000", "--block"]
    head = [ray, "start", "--head", "--port", str(port), "--include-dashboard", "false", *size]
    with contextlib.ExitStack() as nodes:
        nodes.enter_context(node(head, tmp_path / "head.log"))
        wait_until_open(port)
        nodes.enter_context(node([ray, "start", "--address", address, *size], tmp_path / "2.log"))
        yield address


@contextlib.contextmanager
def node(line: list[str], log: Path) -> Iterator[None]:
    """Run a node until the end of the block; it is ended by its own id."""
    with log.open("w") as words:
        process = subprocess.Popen(
            line,
            env={**os.environ, **TOKEN, "RAY_USAGE_STATS_ENABLED": "0"},
            stdout=words,
            stderr=words,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(STARTING)


def wait_until_open(port: int) -> None:
    until = time.monotonic() + STARTING
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.2)
    pytest.fail("the head of the cluster does not start")


DRIVER = """
import sys, time
import executing
from executing import cut_small, scenario, told
import pytest, ray
from simulation.executors import ExecutorSpec, load

def place(_, seconds):
    time.sleep(seconds)
    return ray.get_runtime_context().get_node_id()

until = time.monotonic() + 60
while True:
    executor = load(ExecutorSpec(name="ray", address=sys.argv[1]))
    if executor.workers == 2 or time.monotonic() > until:
        break
    executor.close()
    time.sleep(1)
print(executor.workers, len(set(executor.map(place, executor.share(None), [0.2] * 20))))
patch = pytest.MonkeyPatch()
for name in ("small", "protein_bar", "anxious_neighbours"):
    loaded = scenario(name)
    here = told(loaded, None)
    cut_small(patch, 4 if name == "small" else 40)
    print(name, told(loaded, executor) == here)
    patch.undo()
executor.close()
"""


def test_a_run_on_a_cluster_of_two_nodes_tells_the_same_and_needs_its_token(
    cluster: str, tmp_path: Path
) -> None:
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, cluster],
        env={**os.environ, **TOKEN, "PYTHONPATH": here},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "2 2",
        "small True",
        "protein_bar True",
        "anxious_neighbours True",
    ], done.stderr
    stranger = run(
        tmp_path, "--ray-address", cluster, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="x" * 64
    )
    assert (stranger.returncode, stranger.stdout) == (2, "")
    assert f"the Ray cluster at {cluster} cannot be joined: " in stranger.stderr
    assert "RAY_AUTH_MODE" in stranger.stderr
    assert len(stranger.stderr.splitlines()) == 1
    assert not (tmp_path / "out.duckdb").exists()
