"""Options of verbs that run: where the work of a tick is done."""

# ruff: noqa: PLC0415 - executors are imported when something runs, so that --help answers at once

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING, Any

import click

from simulation.cli.options import together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulation.executors import Executor, ExecutorSpec

_NAMES = ("local", "ray")  # executors.NAMES


@contextlib.contextmanager
def executor_of(spec: ExecutorSpec) -> Iterator[Executor]:
    """Yield the executor of a run, and close it; meanwhile Ray's words on stdout go to stderr.

    Ray tells of dead workers there, and stdout is for results.
    """
    from simulation.executors import load

    with contextlib.ExitStack() as stack:
        if spec.name == "ray" and sys.stderr is not None:
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield stack.enter_context(contextlib.closing(load(spec)))


_options = together(
    click.option(
        "--executor",
        "executor_name",
        type=click.Choice(_NAMES),
        default="local",
        show_default=True,
        help="Where the work of a tick is done: on this machine, or on Ray.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help="Processes that work at a time. Default: local 1, ray one per processor.",
    ),
    click.option(
        "--ray-address",
        metavar="HOST:PORT",
        help="Head of a Ray cluster. Default: a Ray of its own on this machine.",
    ),
)


def executor_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of an executor; the verb gets them as one `executor`, an ExecutorSpec."""

    @functools.wraps(function)
    def with_executor(
        *args: Any,
        executor_name: str,
        workers: int | None,
        ray_address: str | None,
        **given: Any,
    ) -> Any:
        from simulation.executors import ExecutorSpec

        spec = ExecutorSpec(name=executor_name, workers=workers, address=ray_address)
        return function(*args, executor=spec, **given)

    return _options(with_executor)
