"""Which runs are meant: files, folders and patterns, or a folder's runs by a setting."""

from __future__ import annotations

import json
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulation.errors import RunFileError, UsageError
from simulation.runlog import RunFile
from simulation.spelling import did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SUMMARY = "sweep.duckdb"
"""The summary beside the runs of a sweep, which is no run."""


def gathered(words: Iterable[Path | str]) -> tuple[Path, ...]:
    """Return the run databases that some words name, each once, in order.

    words: files; folders, for every `.duckdb` in them; or patterns such as `a/*.duckdb`.

    Raises:
        UsageError: a folder or pattern holds no run.
    """
    found: dict[Path, Path] = {}
    for word in words:
        for path in _named(word):
            found.setdefault(path.resolve(), path)
    return tuple(found.values())


def _named(word: Path | str) -> Iterator[Path]:
    path = Path(word)
    if path.is_dir():
        names: Sequence[Path] = sorted(path.glob("*.duckdb"))
    elif not path.exists() and has_magic(str(word)):
        names = sorted(Path(name) for name in glob(str(word)))  # noqa: PTH207 - the pattern may be absolute
    else:
        yield path
        return
    runs = [name for name in names if name.name != SUMMARY and name.is_file()]
    if not runs:
        raise UsageError(f"{word} holds no run: there is no .duckdb file in it")
    yield from runs


def by_setting(words: Iterable[Path | str], setting: str) -> dict[str, tuple[Path, ...]]:
    """Return runs grouped by the value that a setting has in them, values in ascending order.

    setting: a key of a run's parameters, such as `population.size`, or a path that --set changed.

    Raises:
        UsageError: a run does not have the setting, or all have the same value.
        RunFileError: a file cannot be read.
    """
    groups: dict[str, list[Path]] = {}
    values: dict[str, Any] = {}
    for path in gathered(words):
        value = _value(path, setting)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        values[text] = value
        groups.setdefault(text, []).append(path)
    if len(groups) < 2:  # noqa: PLR2004 - a comparison has two sides
        only = next(iter(groups), "no value")
        raise UsageError(f"{setting} is {only} in every run: there is nothing to compare")
    order = sorted(groups, key=lambda text: _rank(values[text], text))
    return {f"{setting}={text}": tuple(groups[text]) for text in order}


def _rank(value: Any, text: str) -> tuple[bool, float, str]:
    number = isinstance(value, int | float)
    return not number, float(value) if number else 0.0, text


def _value(path: Path, setting: str) -> Any:
    try:
        with RunFile.open(path) as run:
            header = run.run.header
    except RunFileError as error:
        raise RunFileError(f"{error}\nGroups are made of run databases alone") from error
    if setting in header.parameters:
        return header.parameters[setting]
    for change in reversed(header.settings):
        name, _, text = change.partition("=")
        if name.strip() == setting:
            return text
    known = [*header.parameters, *(each.partition("=")[0] for each in header.settings)]
    hint = did_you_mean(setting, known, most=len(known)) or (
        f"; it has {listed(known)}" if not header.settings else ""
    )
    raise UsageError(f'{path} has no setting "{setting}"{hint}')
