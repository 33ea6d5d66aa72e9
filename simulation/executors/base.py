"""What every executor promises, and what it is built from."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from simulation.errors import EncoderError, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NAMES: Final = ("local", "ray")
"""The executors that may be named."""

RETRIES: Final = 3
"""How often a part is begun again when its worker died; a part that kills workers must end."""

R = TypeVar("R")


class Executor(Protocol):
    """Answers parts of a tick's work, here or elsewhere.

    Nobody may tell from an answer where, in which order or how often a part was worked on: the
    functions given to an executor depend on their arguments alone.
    """

    @property
    def name(self) -> str:
        """Return "local" or "ray"."""
        ...

    @property
    def workers(self) -> int:
        """Return how many parts are worked on at a time, >= 1."""
        ...

    def share(self, value: Any) -> Any:
        """Return a handle for what many parts need; the value goes to each worker once."""
        ...

    def map(self, function: Callable[[Any, Any], R], shared: Any, parts: Iterable[Any]) -> list[R]:
        """Return function(value, part) of each part, in order.

        function: one that can be imported.  shared: a handle of `share`.  parts: taken one by one
        as workers get free, so they may be made on the way.  A part whose worker is lost is worked
        on again.

        Raises:
            RunStoppedError: a part cannot be finished, however often it is begun.
            Exception: what the function raised for the first part that failed.
        """
        ...

    def close(self) -> None:
        """Let go of the workers; nothing of this executor is left running. May be repeated."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSpec:
    """Which executor, and its settings."""

    name: str = "local"
    workers: int | None = None
    """Parts worked on at a time, >= 1; None is one for `local`, every processor for `ray`."""
    address: str | None = None
    """HOST:PORT of a Ray cluster, or "auto"; None starts Ray on this machine for this run."""

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            UsageError: there is no such executor, no worker, or an address for no cluster.
        """
        if self.name not in NAMES:
            raise UsageError(
                f'there is no executor "{self.name}"; executors are {", ".join(NAMES)}'
            )
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"an executor needs at least 1 worker, not {self.workers}")
        if self.address is not None and self.name != "ray":
            raise UsageError("the address of a Ray cluster needs the executor ray")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """What a part came to that raised an error. trace: where, as text."""

    error: BaseException
    trace: str


def attempt(function: Callable[[Any, Any], R], value: Any, part: Any) -> R | Failed:
    """Return what a function makes of a part on a worker; an error is an answer, too.

    So it travels home as it is, and is not taken for the loss of the worker.
    """
    try:
        return function(value, part)
    except Exception as error:  # noqa: BLE001 - whoever asked decides about it
        return Failed(error=_portable(error), trace=traceback.format_exc())


def answered(answer: R | Failed) -> R:
    """Return an answer.

    Raises:
        Exception: it is an error, with a note of where on the worker it was raised.
    """
    if not isinstance(answer, Failed):
        return answer
    answer.error.add_note(f"On a worker:\n{answer.trace}")
    raise answer.error


def _portable(error: Exception) -> Exception:
    """Return an error that can be pickled: one of ours by its kind, all others as a text."""
    if isinstance(error, EncoderError | InputError):
        return (EncoderError if isinstance(error, EncoderError) else UsageError)(str(error))
    return RuntimeError(f"{type(error).__name__}: {error}")
