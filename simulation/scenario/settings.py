"""`--set path=value`: one change to a scenario from the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulation.errors import Problem
from simulation.scenario.words import shown
from simulation.yaml_reading import (
    Plain,
    YamlError,
    format_path,
    parse_path,
    quoted,
    read_plain_yaml,
    step_into,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.yaml_reading import Key, KeyPath


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingProblem(Problem):
    """A problem that came from the command line, not from a line of the file."""

    def __str__(self) -> str:
        """Return the problem as one line of a report, with --set as its place."""
        return "  ".join(part for part in ("--set", self.where, self.message) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting that was read.

    path: where it stands in the data, indices as numbers.  value: plain YAML values.
    """

    path: KeyPath
    value: Any

    def canonical(self, value: Any) -> str:
        """Return the setting as text that spelling does not change, with another value."""
        return f"{format_path(self.path)}={json.dumps(value, ensure_ascii=False, sort_keys=True)}"


class _RefusedError(ValueError):
    """A setting that cannot be applied; the message says why."""


def apply_settings(plain: Plain, settings: Sequence[str]) -> list[Setting]:
    """Change the data by each setting in turn and return those that could be applied.

    Lines and spellings of what was replaced are forgotten; problems are added to `plain`.
    """
    return [done for text in settings if (done := _apply(plain, text)) is not None]


def _apply(plain: Plain, text: str) -> Setting | None:
    name, equals, words = text.partition("=")
    path = _path(name) if equals else None
    if path is None:
        message = f"{quoted(text)} is not path=value, such as population.size=60"
        plain.problems.append(SettingProblem(where="", message=message))
        return None
    try:
        read = read_plain_yaml(words)
        if _complain(plain, path, read):
            return None
        place = _put(plain.data, path, read.data)
    except (_RefusedError, YamlError) as refused:
        message = f"{quoted(text)}: {refused}"
        where = format_path(_fitting(plain.data, path))
        plain.problems.append(SettingProblem(where=where, message=message))
        return None
    _forget(plain, place)
    plain.words |= {(*place, *below): word for below, word in read.words.items()}
    return Setting(path=place, value=read.data)


def _path(name: str) -> KeyPath | None:
    return parse_path(name.strip())


def _complain(plain: Plain, path: KeyPath, read: Plain) -> bool:
    """Add the problems of a setting's value to those of the scenario; return whether any."""
    for problem in read.problems:
        below = parse_path(problem.where) or ()
        where = format_path((*path, *below))
        plain.problems.append(SettingProblem(where=where, message=problem.message))
    return bool(read.problems)


def _put(data: Any, path: KeyPath, value: Any) -> KeyPath:
    """Put a value in its place; missing mappings on the way are made. Return the exact place."""
    place: list[Key] = []
    for key in path[:-1]:
        exact = _step(data, key, place)
        if data[exact] is None:
            data[exact] = {}
        data = data[exact]
        place.append(exact)
    last = _step(data, path[-1], place)
    data[last] = value
    return (*place, last)


def _step(container: Any, key: Key, place: list[Key]) -> Key:
    """Return the exact key; a missing one of a mapping is made, empty."""
    here = format_path(tuple(place)) or "the scenario"
    exact, there = step_into(container, key)
    if isinstance(container, list):
        if not there:
            raise _RefusedError(f"{here} has {_counted(len(container))}")
    elif not isinstance(container, dict):
        raise _RefusedError(f"{here} is {shown(container)} and has no keys; set it as a whole")
    elif not there:
        container[exact] = None
    return exact


def _counted(items: int) -> str:
    """Return how many items there are and how they are counted."""
    if items == 0:
        return "no items; set it as a whole"
    return "1 item: 0" if items == 1 else f"{items} items: 0 to {items - 1}"


def _fitting(data: Any, path: KeyPath) -> KeyPath:
    """Return a path with indices as numbers, as far as the data shows where they are."""
    place: list[Key] = []
    for key in path:
        exact, there = step_into(data, key)
        place.append(exact)
        data = data[exact] if there else None
    return tuple(place)


def _forget(plain: Plain, place: KeyPath) -> None:
    """Drop what was known of a place in the file: it is the setting's now."""
    depth = len(place)
    for known in (plain.lines, plain.words):
        for path in [p for p in known if p[:depth] == place]:
            del known[path]
    plain.broken = {p for p in plain.broken if p[:depth] != place}
