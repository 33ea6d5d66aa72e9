"""The grid of a sweep: every combination of settings, with every seed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_RUNS = 100_000
"""Runs of one sweep; more is taken for a slip of the finger."""

_SEEDS = re.compile(r"\s*(?P<first>-?\d+)\s*(?:-\s*(?P<last>-?\d+)\s*)?")
_LARGEST_SEED = 2**63 - 1
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""", re.DOTALL)
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=-]+")  # in the name of a file, on any machine
_LONGEST_LABEL = 100
_OPENING, _CLOSING = "[{(", "]})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One setting and the values that it takes, each as it would stand behind `--set path=`."""

    path: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One combination of settings. number: from 1.  label: the same in the name of a file."""

    number: int
    settings: tuple[str, ...]
    values: tuple[str, ...]
    label: str


def parse_axis(text: str) -> Axis:
    """Return the setting of `path=a,b,c`.

    Commas in quotes, brackets and braces part no values: `actions=[ignore,like],[ignore]` has two
    values, `stimuli[0].text="a, b"` one.

    Raises:
        UsageError: it is no setting, a value is missing or stands twice.
    """
    path, equals, words = text.partition("=")
    if not equals or not path.strip():
        raise UsageError(
            f'"{text}" is not path=value or path=a,b,c, such as population.size=40,80'
        )
    path = path.strip()
    if path == "seed":
        raise UsageError("seeds are no setting of a sweep: give them with --seeds")
    values = tuple(value.strip() for value in _split(words))
    if len(values) > 1 and not all(values):
        raise UsageError(f'"{text}" has an empty value between its commas; write null for nothing')
    if len(set(values)) < len(values):
        raise UsageError(f'"{text}" has the same value twice')
    return Axis(path=path, values=values)


def _split(words: str) -> Iterator[str]:
    """Yield the parts between commas that stand in no quotes and no brackets.

    Raises:
        UsageError: a quote or bracket is never closed.
    """
    depth, begun, at, before = 0, 0, 0, ","
    while at < len(words):
        mark = words[at]
        if mark in "\"'" and before in ",[{:":  # an apostrophe within a word is none
            at = _behind_quotes(words, at)
            before = mark
            continue
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if mark == "," and depth <= 0:
            yield words[begun:at]
            begun = at + 1
        before = before if mark.isspace() else mark
        at += 1
    if depth > 0:
        raise UsageError(f"{words} has a bracket that is never closed")
    yield words[begun:]


def _behind_quotes(words: str, at: int) -> int:
    """Return the place behind a text in quotes, as YAML has them."""
    found = _QUOTED.match(words, at)
    if found is None:
        raise UsageError(f"{words} has a quote that is never closed")
    return found.end()


def parse_axes(texts: Sequence[str]) -> tuple[Axis, ...]:
    """Return the axes of several settings.

    Raises:
        UsageError: one is no setting, or two are of the same path.
    """
    axes = tuple(parse_axis(text) for text in texts)
    paths = [axis.path for axis in axes]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is set twice; give all its values at once: {twice}=a,b,c")
    return axes


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of `1-20`, `1,4,9` or `3`, in order.

    Raises:
        UsageError: it says no seeds, too many, or one twice.
    """
    seeds: list[int] = []
    for part in text.split(","):
        found = _SEEDS.fullmatch(part)
        if found is None:
            raise UsageError(f'"{text}" says no seeds; say 1-20, 1,4,9 or 3')
        first = int(found["first"])
        last = int(found["last"]) if found["last"] is not None else first
        if last < first or last - first >= MOST_RUNS:
            raise UsageError(f'"{part.strip()}" is no range of at most {MOST_RUNS:,} seeds')
        seeds += range(first, last + 1)
    if any(abs(seed) > _LARGEST_SEED for seed in seeds):
        raise UsageError("a seed lies between -2^63 + 1 and 2^63 - 1")
    if len(set(seeds)) < len(seeds):
        raise UsageError(f'"{text}" says a seed twice')
    return tuple(seeds)


def cells(axes: Sequence[Axis], *, name: str) -> tuple[Cell, ...]:
    """Return all combinations, the last axis fastest.

    name: of the scenario, which labels a grid of one cell.

    Raises:
        UsageError: there are too many.
    """
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_RUNS:
        raise UsageError(f"{count:,} combinations of settings are more than {MOST_RUNS:,}")
    made: list[Cell] = []
    taken: set[str] = set()
    for number, values in enumerate(product(*(axis.values for axis in axes)), start=1):
        label = _label(axes, values, name)
        if label.casefold() in taken:  # as some file systems see it
            label = f"{label}~{number}"
        taken.add(label.casefold())
        settings = tuple(f"{axis.path}={v}" for axis, v in zip(axes, values, strict=True))
        made.append(Cell(number=number, settings=settings, values=values, label=label))
    return tuple(made)


def _label(axes: Sequence[Axis], values: Sequence[str], name: str) -> str:
    """Return what tells a cell from the others, for the name of a file."""
    telling = [
        _UNSAFE.sub("-", f"{axis.path}={value}").strip("-")
        for axis, value in zip(axes, values, strict=True)
        if len(axis.values) > 1
    ]
    return ",".join(telling)[:_LONGEST_LABEL] or name
