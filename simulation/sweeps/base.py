"""Where runs of a sweep are made: one small protocol, for processes here or a cluster."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run to make, in values that JSON can hold.

    number: of the run, from 1.  text, name, folder: the scenario, what it is called, and where
    its relative paths start.  out: the run database.  The rest is as for `simulation run`.
    """

    number: int
    text: str
    name: str
    folder: str
    settings: tuple[str, ...]
    seed: int
    out: str
    allow_paths: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    key_for: tuple[str, ...] = ()
    no_price: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the job as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Job:
        """Return the job that `to_dict` gave."""
        told: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in values.items()
        }
        return cls(**told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended.

    status: as in table `run`; `failed` also where there is no file.  means: target: mean belief at
    the end.  bought, rejected: shares of the personas.  seconds: of this making.  error: why it is
    not complete.  None for what is not known.
    """

    status: str
    last_tick: int | None = None
    personas: int | None = None
    turns: int | None = None
    digest: str | None = None
    run_id: str | None = None
    bought: float | None = None
    rejected: float | None = None
    means: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What an executor tells of a job.

    kind: `begun`, `tick` (so many of its horizon are in the file) or `ended` (with its outcome).
    """

    kind: Literal["begun", "tick", "ended"]
    number: int
    tick: int = 0
    outcome: Outcome | None = None


class Executor(Protocol):
    """Makes runs, `slots` at a time.

    A sweep hands it a job whenever one of its slots is free, and asks it for news; so at no time
    more than `slots` runs are in memory anywhere.
    """

    slots: int

    def submit(self, job: Job) -> None:
        """Begin a job; called only while fewer than `slots` are under way."""
        ...

    def poll(self, timeout: float) -> list[Event]:
        """Return what happened since the last time, waiting up to `timeout` seconds for it.

        A job whose worker was lost ends with an outcome `failed` that says so.
        """
        ...

    def stop(self) -> None:
        """Ask all jobs under way to end after their tick in hand; `poll` tells when they have."""
        ...

    def close(self) -> None:
        """End everything at once; nothing of this executor is left running."""
        ...
