"""The error tree.

SimulationError
├── InputError              the user's input cannot be used (exit code 2)
│   ├── ScenarioError       a scenario or one of its files; carries every problem found
│   ├── UsageError          a command line or a call that makes no sense
│   ├── RunFileError        a run database that cannot be opened, read or written
│   ├── MissingPackageError an optional package is asked for and not installed
│   └── EmptyPersonaBlockError a persona has nothing to be conditioned on
├── EncoderError            an encoder cannot answer
├── ModelError              a language model cannot answer
│   ├── InvalidAnswerError  its answer makes no sense
│   └── ProviderError       there is none, by kind (providers/base.py)
└── RunStoppedError         a run ended before its horizon (exit code 1)

Only `cli` catches the base class; backends translate their SDK's errors into these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class SimulationError(Exception):
    """Base of everything that this package raises on purpose."""


class InputError(SimulationError):
    """What the user gave cannot be used; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with an input.

    where: the key path (`stimuli[2].claim`), or "" for the file as a whole.
    line: 1-based line in the file, None when it did not come from a line (`--set`).
    message: what is wrong, what is allowed and, where it helps, the nearest right spelling.
    """

    where: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        """Return the problem as one line of a report."""
        place = f"line {self.line}" if self.line is not None else ""
        parts = [part for part in (place, self.where, self.message) if part]
        return "  ".join(parts)


class ScenarioError(InputError):
    """A file that cannot be used, with all of its problems at once."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        """Keep the problems in the order of their lines; those without a line come last."""
        self.source = source
        self.problems = tuple(
            sorted(problems, key=lambda p: (p.line is None, p.line or 0, p.where, p.message))
        )
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        lines = [f"{source} cannot be used ({count} {noun}):", *(f"  {p}" for p in self.problems)]
        super().__init__("\n".join(lines))


class UsageError(InputError):
    """A request that makes no sense as it stands."""


class RunFileError(InputError):
    """A run database that cannot be opened, read or written."""


class MissingPackageError(InputError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str) -> None:
        """Say what to install."""
        self.package = package
        self.extra = extra
        super().__init__(
            f'the package "{package}" is not installed; install it with: '
            f'pip install "simulation[{extra}]"'
        )


class EncoderError(SimulationError):
    """A sentence encoder could not answer."""


class ModelError(SimulationError):
    """A language model could not answer."""


class InvalidAnswerError(ModelError):
    """An answer that breaks the rules; its text is the reason, in one line, fit for a prompt."""


class EmptyPersonaBlockError(InputError):
    """A persona without a block may not take a turn, reflect, be probed or be interviewed.

    Source: Beliefs, memory and reflection, "What the persona is told about itself".
    """

    def __init__(self, persona_id: str) -> None:
        """Name the persona."""
        self.persona_id = persona_id
        super().__init__(f'the persona block of "{persona_id}" is empty; the turn is refused')


class RunStoppedError(SimulationError):
    """A run ended before its horizon; its file holds every finished tick."""
