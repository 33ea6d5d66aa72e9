"""Collect what is wrong with a population: all of it, but at most twenty lines of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulation.errors import Problem, ScenarioError

MOST = 20


@dataclass(slots=True)
class Problems:
    """The problems of one source; past the first twenty only their number is kept."""

    source: str
    found: list[Problem] = field(default_factory=list)
    more: int = 0

    def add(self, where: str, message: str, *, line: int | None = None) -> None:
        """Note a problem."""
        if len(self.found) < MOST:
            self.found.append(Problem(where=where, message=message, line=line))
        else:
            self.more += 1

    def take(self, other: Problems, *, where: str) -> None:
        """Note the problems of a file that is named at `where`."""
        self.found += pointed(other.error(), where=where) if other.found else ()

    def stop_if_any(self) -> None:
        """Raise what was found.

        Raises:
            ScenarioError: there was something.
        """
        if self.found:
            raise self.error()

    def error(self) -> ScenarioError:
        """Return what was found, to be raised."""
        more = [Problem(where="", message=f"and {self.more:,} more problems")] if self.more else []
        return ScenarioError(self.source, [*self.found, *more])


def pointed(error: ScenarioError, *, where: str) -> tuple[Problem, ...]:
    """Return the problems of a file as problems of the key that names the file.

    So that they can be told in one report with those of the scenario, whose lines it gives.
    """
    return tuple(
        Problem(where=where, message=f"{error.source}: {problem}") for problem in error.problems
    )


def quoted(value: str, *, most: int = 80) -> str:
    """Return a value in quotes, cut to a readable length, with control characters escaped."""
    cut = value if len(value) <= most else value[:most] + "…"
    return (
        '"'
        + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
        + '"'
    )
