"""The Ray executor: parts are worked on by processes of this machine or of a cluster.

Ray is told to be silent: what a run prints is the program's own. A worker or a node that dies is
Ray's to replace, and its part is begun again, a few times.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import signal
import socket
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from simulation.errors import MissingPackageError, RunStoppedError, UsageError
from simulation.executors.base import RETRIES, answered, attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Self

    from simulation.executors.base import ExecutorSpec, Failed

R = TypeVar("R")

PACKAGES: Final = ("simulation", "numpy", "tokenizers")
"""Packages that decide results, so nodes must have them in one version."""

_SILENCE: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else it prints a tip
}
_PATIENCE = 60.0  # seconds that a node has to answer
_GREETING = 5.0  # seconds that a cluster has to take a connection
_STORE = 256_000_000  # bytes of shared memory of a Ray of our own: a few parts are under way
_KEPT_MOST = 4  # shared values that a worker keeps: a run has two


def connect(spec: ExecutorSpec) -> RayExecutor:
    """Return an executor on the cluster at `spec.address`, or on a Ray of our own.

    A Ray that this process has started or joined already is used, and left running in the end.
    Without an address the environment variable RAY_ADDRESS counts, as it does for Ray.

    Raises:
        MissingPackageError: Ray is not installed.
        UsageError: no cluster can be reached there, or a node differs from this one.
    """
    if find_spec("ray") is None:
        raise MissingPackageError("ray", "ray")
    for name, value in _SILENCE.items():
        os.environ.setdefault(name, value)
    import ray  # noqa: PLC0415 - an extra, and a second to import

    own = not ray.is_initialized()
    if own:
        _start(ray, spec.address or os.environ.get("RAY_ADDRESS"), spec.workers)
    try:
        _check_nodes(ray)
        processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
        return RayExecutor(ray, spec.workers or processors, processors=processors, own=own)
    except BaseException:
        if own:
            ray.shutdown()
        raise


def _start(ray: Any, address: str | None, workers: int | None) -> None:
    """Start Ray here, or join a cluster; say in one message why that cannot be."""
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    muffled: Any = contextlib.nullcontext()
    if address in (None, "local"):
        settings |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
        settings["object_store_memory"] = _STORE
    else:
        _greet(address)
        settings["address"] = address
        muffled = _muffled()
    try:
        with _SameHandler(), muffled:
            ray.init(**settings)
    except (ray.exceptions.RayError, OSError, RuntimeError, ValueError) as error:
        ray.shutdown()
        raise UsageError(_refused(address, error)) from error
    except BaseException:
        ray.shutdown()
        raise


def _greet(address: str) -> None:
    """Refuse an address where nobody listens at once: Ray would try for a long time.

    Raises:
        UsageError: it is no HOST:PORT, or takes no connection.
    """
    if address == "auto":
        return
    host, colon, port = address.rpartition(":")
    if not colon or "/" in address or not port.isdecimal():
        raise UsageError(
            f'"{address}" is no address of a Ray cluster; it is HOST:PORT of its head, or auto'
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_GREETING).close()
    except (OSError, OverflowError) as error:
        raise UsageError(f"no Ray cluster answers at {address}: {_line(error)}") from error


@contextlib.contextmanager
def _muffled() -> Iterator[None]:
    """Keep what Ray's core says on stderr while it joins a cluster from reaching a terminal.

    It writes to the file behind the stream and has no setting for it. It says the same warning
    once a second when a cluster wants to know who asks.
    """
    with contextlib.ExitStack() as undo:
        with contextlib.suppress(OSError, ValueError):  # closed: then nobody hears it anyway
            sys.stderr.flush()
            kept = os.dup(2)
            undo.callback(os.close, kept)
            nowhere = undo.enter_context(Path(os.devnull).open("wb"))
            os.dup2(nowhere.fileno(), 2)
            undo.callback(os.dup2, kept, 2)
        yield


def _line(error: BaseException) -> str:
    """Return the one line of what an error says that says most."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if type(error).__name__.startswith(
        "RayTaskError"
    ):  # or RayTaskError(its cause): a trace, which ends with its reason
        return str(error).strip().splitlines()[-1]
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _refused(address: str | None, error: BaseException) -> str:
    """Return what to tell of a Ray that cannot be used, which is seldom told why."""
    if address in (None, "local"):
        return f"Ray cannot be started: {_line(error)}"
    return (
        f"the Ray cluster at {address} cannot be joined: {_line(error)}; is that its head, of "
        "this version of Ray and Python, and are RAY_AUTH_MODE and its token set here as there?"
    )


class _SameHandler:
    """Keeps this process's handler of SIGTERM, which Ray replaces by one that just exits."""

    def __enter__(self) -> Self:
        self._handler = signal.getsignal(signal.SIGTERM)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._handler)


def versions() -> dict[str, str]:
    """Return the versions here of what decides results: Python and `PACKAGES`."""
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"python": ".".join(platform.python_version_tuple()[:2])} | found


def _check_nodes(ray: Any) -> None:
    """Ask every node for its versions.

    Raises:
        UsageError: one gives no answer, or others than here; says which.
    """
    asked = {
        f"{node['NodeManagerAddress']} ({node['NodeID'][:8]})": _ask(ray, node["NodeID"])
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) > 0
    }
    if not asked:
        raise UsageError("the Ray cluster has no node with a processor to work on")
    here = versions()
    try:
        answers = dict(zip(asked, ray.get(list(asked.values()), timeout=_PATIENCE), strict=True))
    except ray.exceptions.GetTimeoutError:
        raise UsageError(
            f"not every node of the Ray cluster answered in {_PATIENCE:.0f} seconds"
        ) from None
    except ray.exceptions.RayError as error:
        raise UsageError(f"a node of the Ray cluster cannot work: {_line(error)}") from error
    problems = [said for node, there in answers.items() for said in differences(node, here, there)]
    if problems:
        raise UsageError(
            "the nodes of the Ray cluster must have what this machine has:\n  "
            + "\n  ".join(problems)
        )


def differences(node: str, here: Mapping[str, str], there: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each package that a node has in another version, or not at all."""
    for name, version in here.items():
        if there[name] != version:
            found = f"{name} {there[name]}" if there[name] else f"no {name}"
            yield f"node {node} has {found}, here it is {version}"


def _ask(ray: Any, node: str) -> Any:
    """Ask a node for its versions; the question travels whole, so the node may lack us."""
    packages, room = PACKAGES, __package__

    def found() -> dict[str, str]:
        import importlib  # noqa: PLC0415 - this function is sent by value
        import platform as machine  # noqa: PLC0415 - as above
        from importlib import metadata  # noqa: PLC0415 - this function is sent by value

        told = {"python": ".".join(machine.python_version_tuple()[:2])}
        for name in packages:
            try:
                told[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                told[name] = ""
        try:
            importlib.import_module(room)
        except ImportError:  # not installed, or hidden by another folder of that name
            told["simulation"] = ""
        return told

    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
    return ray.remote(num_cpus=0, scheduling_strategy=here)(found).remote()


class RayExecutor:
    """Works on parts as tasks of Ray."""

    name = "ray"

    def __init__(self, ray: Any, workers: int, *, processors: int, own: bool) -> None:
        """Use a Ray that is running.

        workers: parts at a time, >= 1.  processors: of the cluster.  own: Ray ends with this.
        """
        self.workers = workers
        self.ray, self._own = ray, own
        # Where processors are the limit, a part waits for each, so that none waits for us.
        self._window = 2 * workers if workers >= processors else workers
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)

    def share(self, value: Any) -> Any:
        """Return a handle for what many parts need; it goes to each worker process once."""
        return self.ray.put((versions(), value))

    def map(self, function: Callable[[Any, Any], R], shared: Any, parts: Iterable[Any]) -> list[R]:
        """Return function(value, part) of each part, in order; see `Executor.map`."""
        done: dict[int, R] = {}
        under_way: dict[Any, int] = {}
        try:
            for number, part in enumerate(parts):
                while len(under_way) >= self._window:
                    self._take(under_way, done)
                # In a list a handle stays a handle: workers fetch it only when they need it.
                under_way[self._task.remote([shared], function, part)] = number
            while under_way:
                self._take(under_way, done)
        except self.ray.exceptions.RayError as error:
            raise RunStoppedError(f"Ray could not finish its work: {_line(error)}") from error
        finally:
            for task in under_way:
                self.ray.cancel(task)
        return [done[number] for number in range(len(done))]

    def _take(self, under_way: dict[Any, int], done: dict[int, R]) -> None:
        """Wait for parts that are done, and take their answers."""
        ready, _ = self.ray.wait(list(under_way), num_returns=1)
        for task in ready:
            number = under_way.pop(task)
            answer: R | Failed = self.ray.get(task)
            done[number] = answered(answer)

    def close(self) -> None:
        """Leave the cluster; a Ray of our own ends."""
        if self._own:
            self._own = False
            self.ray.shutdown()


_kept: dict[str, Any] = {}  # of a worker process: shared values by handle


def _work(handles: list[Any], function: Callable[[Any, Any], R], part: Any) -> R | Failed:
    """Work on a part, in a worker process."""
    return attempt(_on_value, (handles[0], function), part)


def _on_value(told: tuple[Any, Callable[[Any, Any], R]], part: Any) -> R:
    handle, function = told
    key = handle.hex()
    if key not in _kept:
        import ray  # noqa: PLC0415 - a worker of Ray has it

        home, value = ray.get(handle)
        for problem in differences(platform.node(), home, versions()):
            raise UsageError(problem)  # of a node that came later than the first check
        while len(_kept) >= _KEPT_MOST:
            del _kept[next(iter(_kept))]
        _kept[key] = value
    return function(_kept[key], part)
