"""The Ray executor without Ray: a stand-in for its calls, so that every way to fail is met."""

from __future__ import annotations

import io
import os
import pickle
import socket
import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from executing import fail, shared_plus

from simulation.errors import EncoderError, RunStoppedError, UsageError
from simulation.executors import ExecutorSpec, load, worker
from simulation.executors import ray as executor_ray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class RayError(Exception):
    """Ray's own."""


class GetTimeoutError(RayError):
    """Ray's own."""


class RayTaskError(RayError):
    """Ray's own, from which it derives one for each cause."""


RayTaskErrorOfImport = type("RayTaskError(ImportError)", (RayTaskError,), {})


@dataclass(eq=False)
class Reference:
    """What a task or a stored value is known by; tasks run when they are asked for."""

    make: Callable[[], Any]

    def hex(self) -> str:
        return f"{id(self):x}"


@dataclass
class Ray:
    """The calls of Ray that we use, in this process.

    node_versions: what nodes say.  errors: raised by `get` of tasks, in turn.
    """

    running: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    refusal: Exception | None = None
    errors: list[Exception | None] = field(default_factory=list)
    node_list: list[dict[str, Any]] = field(default_factory=list)
    cancelled: int = 0
    most: int = 0

    exceptions = SimpleNamespace(RayError=RayError, GetTimeoutError=GetTimeoutError)
    util = SimpleNamespace(
        scheduling_strategies=SimpleNamespace(NodeAffinitySchedulingStrategy=lambda _, soft: soft)
    )

    def is_initialized(self) -> bool:
        return self.running

    def init(self, **settings: Any) -> None:
        self.settings = settings
        os.write(2, b"chatter\n")
        if self.refusal is not None:
            raise self.refusal
        self.running = True

    def shutdown(self) -> None:
        self.running = False

    def nodes(self) -> list[dict[str, Any]]:
        return self.node_list

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 3.0}

    def put(self, value: Any) -> Reference:
        return Reference(lambda: value)

    def get(self, what: Any, timeout: float | None = None) -> Any:
        if isinstance(what, list):
            assert timeout is not None
            return [self.get(each) for each in what]
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return what.make()

    def wait(self, tasks: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        assert num_returns == 1
        self.most = max(self.most, len(tasks))
        return tasks[-1:], tasks[:-1]  # the last one first: order must not matter

    def cancel(self, _: Any) -> None:
        self.cancelled += 1

    def remote(self, **_: Any) -> Callable[[Callable[..., Any]], Any]:
        return lambda function: SimpleNamespace(
            remote=lambda *given: Reference(lambda: function(*given))
        )


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    found = Ray(node_list=[node("n1"), node("n2", processors=0), node("n3", alive=False)])
    monkeypatch.setitem(sys.modules, "ray", found)
    monkeypatch.setattr(executor_ray, "find_spec", lambda _: ModuleType("ray"))
    monkeypatch.setattr(executor_ray, "_kept", {})
    for name in executor_ray._SILENCE:
        monkeypatch.setenv(name, "0")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return found


def node(name: str, *, processors: float = 2, alive: bool = True) -> dict[str, Any]:
    return {
        "NodeID": f"{name}-0123456789",
        "NodeManagerAddress": "10.0.0.1",
        "Alive": alive,
        "Resources": {"CPU": processors},
    }


@pytest.fixture
def address() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_ray_of_our_own_has_the_workers_asked_for_and_ends_with_its_executor(ray: Ray) -> None:
    executor = load(ExecutorSpec(name="ray", workers=2))
    assert (executor.name, executor.workers) == ("ray", 2)
    assert ray.settings["num_cpus"] == 2
    assert ray.settings["address"] == "local"
    executor.close()
    assert not ray.running
    executor.close()


def test_a_ray_that_runs_already_is_used_and_left_running(ray: Ray) -> None:
    ray.running = True
    executor = load(ExecutorSpec(name="ray"))
    assert executor.workers == 3
    executor.close()
    assert (ray.running, ray.settings) == (True, {})


@pytest.mark.parametrize(("workers", "window"), [(1, 1), (2, 2), (3, 6), (5, 10)])
def test_parts_wait_for_workers_only_where_processors_are_the_limit(
    workers: int, window: int, ray: Ray
) -> None:
    executor = load(ExecutorSpec(name="ray", workers=workers))
    answers = executor.map(shared_plus, executor.share(1), range(12))
    assert answers == list(range(1, 13))
    assert ray.most == window


def test_a_cluster_is_joined_silently_by_address_or_environment(
    ray: Ray, address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    load(ExecutorSpec(name="ray", address=address)).close()
    assert (ray.settings["address"], "num_cpus" in ray.settings) == (address, False)
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    load(ExecutorSpec(name="ray")).close()
    assert ray.settings["address"] == "auto"
    assert capfd.readouterr().err == ""
    os.write(2, b"heard again\n")
    assert capfd.readouterr().err == "heard again\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("no luck\nat all"), "no luck"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (RayError(""), "RayError"),
    ],
)
def test_a_ray_that_refuses_is_one_message(
    error: Exception, said: str, ray: Ray, address: str
) -> None:
    ray.refusal = error
    with pytest.raises(UsageError) as caught:
        load(ExecutorSpec(name="ray", address=address))
    assert str(caught.value).startswith(f"the Ray cluster at {address} cannot be joined: {said}; ")
    with pytest.raises(UsageError) as caught:
        load(ExecutorSpec(name="ray"))
    assert str(caught.value) == f"Ray cannot be started: {said}"


@pytest.mark.parametrize("address", ["127.0.0.1:9", "[::1]:9", "nowhere.invalid:70000"])
def test_an_address_where_nobody_listens_is_refused_at_once(address: str, ray: Ray) -> None:
    with pytest.raises(UsageError, match="no Ray cluster answers at "):
        load(ExecutorSpec(name="ray", address=address))
    assert ray.settings == {}


@pytest.mark.parametrize("address", ["", "ray://10.0.0.1:10001", "10.0.0.1", "head:port"])
def test_what_is_no_address_is_refused(address: str, ray: Ray) -> None:
    with pytest.raises(UsageError, match="is no address of a Ray cluster; it is HOST:PORT"):
        executor_ray._greet(address)
    assert ray.settings == {}


def test_ctrl_c_while_ray_starts_leaves_no_ray(ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    def struck(**_: Any) -> None:
        ray.running = True
        raise KeyboardInterrupt

    monkeypatch.setattr(ray, "init", struck)
    with pytest.raises(KeyboardInterrupt):
        load(ExecutorSpec(name="ray"))
    assert not ray.running


@pytest.mark.parametrize(
    ("nodes", "errors", "message"),
    [
        ([], [], "no node with a processor"),
        (["n"], [GetTimeoutError("late")], "answered in 60 seconds"),
        (
            ["n"],
            [RayTaskErrorOfImport("trace\nImportError: no us")],
            "cannot work: ImportError: no us",
        ),
    ],
)
def test_nodes_that_give_no_answer_are_refused(
    nodes: list[str], errors: list[Exception | None], message: str, ray: Ray
) -> None:
    ray.node_list, ray.errors = [node(name) for name in nodes], errors
    with pytest.raises(UsageError, match=message):
        load(ExecutorSpec(name="ray"))
    assert not ray.running


def test_nodes_of_other_versions_are_all_named(ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_ray, "PACKAGES", ("numpy", "nowhere"))
    monkeypatch.setattr(executor_ray, "versions", lambda: {"numpy": "9.9", "nowhere": "1.0"})
    with pytest.raises(UsageError) as caught:
        load(ExecutorSpec(name="ray"))
    lines = str(caught.value).splitlines()
    assert lines[0] == "the nodes of the Ray cluster must have what this machine has:"
    assert lines[1].startswith("  node 10.0.0.1 (n1-01234) has numpy ")
    assert lines[2] == "  node 10.0.0.1 (n1-01234) has no nowhere, here it is 1.0"
    assert not ray.running


def test_a_node_where_our_package_cannot_be_imported_is_named(
    ray: Ray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_ray, "__package__", "simulation.nowhere")
    with pytest.raises(UsageError, match=r"node 10\.0\.0\.1 .* has no simulation, here it is "):
        load(ExecutorSpec(name="ray"))
    assert not ray.running


def test_a_node_that_came_late_with_other_versions_is_refused(
    ray: Ray, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = load(ExecutorSpec(name="ray"))
    assert ray.running
    shared = executor.share(1)
    there = executor_ray.versions() | {"numpy": "1.0"}
    monkeypatch.setattr(executor_ray, "versions", lambda: there)
    with pytest.raises(UsageError, match=r"has numpy 1\.0, here it is "):
        executor.map(shared_plus, shared, [1])


def test_a_loss_that_ray_cannot_mend_stops_the_run_and_drops_what_is_under_way(ray: Ray) -> None:
    executor = load(ExecutorSpec(name="ray", workers=2))
    ray.errors = [RayError("the worker died\nsee the logs")]
    with pytest.raises(RunStoppedError, match=r"^Ray could not finish its work: the worker died$"):
        executor.map(shared_plus, executor.share(1), range(2))
    assert ray.cancelled == 1


def test_an_error_of_a_part_is_raised_as_it_is(ray: Ray) -> None:
    executor = load(ExecutorSpec(name="ray", workers=1))
    with pytest.raises(EncoderError, match="no vector"):
        executor.map(fail, executor.share(EncoderError("no vector")), range(3))
    assert ray.cancelled == 0


def test_a_worker_keeps_the_latest_shared_values_only(ray: Ray) -> None:
    executor = load(ExecutorSpec(name="ray", workers=1))
    assert ray.running
    handles = [executor.share(value) for value in range(7)]
    for value, handle in enumerate(handles):
        assert executor.map(shared_plus, handle, [1]) == [value + 1]
    assert len(executor_ray._kept) == executor_ray._KEPT_MOST


def test_a_worker_process_answers_until_its_input_ends() -> None:
    parts, answers = io.BytesIO(), io.BytesIO()
    messages = [(0, (5,), shared_plus, 1), (0, (), shared_plus, 2), (1, (), shared_plus, 3)]
    for message in [*messages, None]:
        pickle.dump(pickle.dumps(message), parts)
    parts.seek(0)
    with pytest.raises(EOFError):
        worker.serve(parts, answers)
    answers.seek(0)
    found = [pickle.load(answers) for _ in range(4)]  # noqa: S301 - written above
    assert found[:2] == [6, 7]
    assert [type(each).__name__ for each in found[2:]] == ["Failed", "Failed"]
