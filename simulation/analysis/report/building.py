"""From run databases to a page: which runs belong together, which sections there are."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from simulation.analysis.arms import make_group, refuse_doubles
from simulation.analysis.compare import compare
from simulation.analysis.gathering import gathered
from simulation.analysis.groups import compare_groups
from simulation.analysis.report.actions import actions
from simulation.analysis.report.comparison import comparison
from simulation.analysis.report.contrast import in_short
from simulation.analysis.report.flips import flips
from simulation.analysis.report.headline import headline
from simulation.analysis.report.memory import memory
from simulation.analysis.report.method import method
from simulation.analysis.report.network import network
from simulation.analysis.report.numbers import many
from simulation.analysis.report.page import render
from simulation.analysis.report.parts import Document
from simulation.analysis.report.paths import paths
from simulation.analysis.report.source import Source
from simulation.analysis.report.surveys import surveys
from simulation.analysis.report.trust import trust
from simulation.errors import RunFileError, UsageError
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from simulation.analysis.comparison import Comparison
    from simulation.analysis.group_comparison import GroupComparison
    from simulation.analysis.measures import RunMeasures
    from simulation.analysis.report.contrast import Kin
    from simulation.analysis.report.parts import Section
    from simulation.runlog import RunInfo

_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # of odd rows
_PAIR = 2
_NAMING = 3  # settings that make a name
_LONGEST_NAME = 80  # code points


@dataclass(frozen=True, slots=True, kw_only=True)
class _Other:
    """What the page says of more than one run.

    seeds: finished runs that differ from the first in their seed alone, the first among them.
    kin: path of each run: its id and, of a fork, that of the run it was forked from.
    """

    seeds: Sequence[RunMeasures] = ()
    groups: GroupComparison | None = None
    pair: Comparison | None = None
    kin: Kin = field(default_factory=dict)
    warnings: Sequence[str] = field(default_factory=list)


def report(words: Iterable[Path | str]) -> str:
    """Return a report of runs as one HTML page that needs nothing else.

    words: run databases, folders of them, or patterns. The first run is shown whole; runs that
    differ from it in their seed alone give its spread, others are compared with it.

    Raises:
        UsageError: no run is named, or one is named twice.
        RunFileError: a file is no readable run database, or holds no tick yet.
    """
    files = gathered(words)
    if not files:
        raise UsageError("a report takes at least one run")
    infos = [_info(path) for path in files]
    other = _other(files, infos) if len(files) > 1 else _Other()
    with RunFile.open(files[0]) as run:
        try:
            return render(_document(Source(run), other, files, infos))
        except _DAMAGE as error:
            raise RunFileError(
                f"{files[0]} is damaged: its rows do not make a page ({error!r:.200})"
            ) from error


def _info(path: Path) -> RunInfo:
    with RunFile.open(path) as run:
        if run.run.last_tick < 0:
            raise RunFileError(f"{path} holds no tick yet, not even the start: nothing to report")
        return run.run


def _document(
    source: Source, other: _Other, files: Sequence[Path], infos: Sequence[RunInfo]
) -> Document:
    header = source.header
    names = [path.name for path in files]
    more = f" and {many(len(files) - 1, 'more run')}" if len(files) > 1 else ""
    found: list[Section | None] = [
        headline(source, other.seeds, in_short(other.groups, other.kin) if other.groups else ""),
        comparison(source, other.groups, other.pair, other.kin),
        paths(source, other.seeds),
        flips(source),
        actions(source),
        network(source),
        memory(source),
        surveys(source),
        trust(source),
        method(source, names),
    ]
    return Document(
        title=f"{header.scenario_name}, seed {header.seed}{more}",
        subtitle=str(header.parameters.get("description") or "What happened in a simulated run"),
        warnings=[*_unfinished(files, infos), *other.warnings, *_first(source, files)],
        sections=[section for section in found if section is not None],
    )


def _first(source: Source, files: Sequence[Path]) -> list[str]:
    """Return what to know where one of several runs is shown whole."""
    found = []
    if len(files) > 1:
        found.append(
            f"Of {len(files)} runs the first, {files[0].name}, is shown whole; the others appear "
            "in the spread of seeds and in the comparison."
        )
    if source.step > 1:
        found.append(f"This is a long run, so pictures are aggregated.{source.thinned}")
    return found


def _unfinished(files: Sequence[Path], infos: Sequence[RunInfo]) -> list[str]:
    return [
        f"{path.name} is not finished: its status is {info.status.replace('_', ' ')}, and it "
        f"holds {info.last_tick:,} of {many(info.header.horizon, 'tick')}. All of them are here."
        for path, info in zip(files, infos, strict=True)
        if info.status != "complete"
    ]  # fmt: skip


def _other(files: Sequence[Path], infos: Sequence[RunInfo]) -> _Other:
    """Return what there is to say of several runs, grouped by everything but their seed."""
    groups: dict[str, list[Path]] = {}
    for path, info in zip(files, infos, strict=True):
        groups.setdefault(_kind(info), []).append(path)
    complete = {path for path, info in zip(files, infos, strict=True) if info.status == "complete"}
    lacking = [each for each in groups.values() if not complete.intersection(each)]
    seeds: Sequence[RunMeasures] = ()
    if groups[_kind(infos[0])] not in lacking:
        group = make_group("A", files[0].name, groups[_kind(infos[0])])
        refuse_doubles([group])
        seeds = group.runs
    compared, warnings = None, []
    if len(groups) > 1:
        warnings = list(_obstacles(lacking, files))
        if not warnings:
            compared = compare_groups(_called(groups, dict(zip(files, infos, strict=True))))
    pair = compare(files) if len(files) == _PAIR else None
    kin = {str(path): _kin(path, info) for path, info in zip(files, infos, strict=True)}
    return _Other(seeds=seeds, groups=compared, pair=pair, kin=kin, warnings=warnings)


def _kin(path: Path, info: RunInfo) -> frozenset[str]:
    """Return its ids; none where a language model was asked, which may answer otherwise anew."""
    with RunFile.open(path) as run:
        if run.query("SELECT count(*) FROM model_calls").rows[0][0]:
            return frozenset()
    ids = (info.header.run_id, info.header.parent_run_id)
    return frozenset(each for each in ids if each is not None)


def _obstacles(lacking: Sequence[Sequence[Path]], files: Sequence[Path]) -> Iterator[str]:
    """Yield why groups cannot be compared. lacking: groups without a finished run."""
    if lacking:
        yield "Groups are not compared: one of them has no finished run."
    elif not frozenset.intersection(*map(_targets, files)):
        yield "Groups are not compared: their runs have no belief in common."


def _targets(path: Path) -> frozenset[str]:
    with RunFile.open(path) as run:
        rows = run.query("SELECT DISTINCT target FROM initial_beliefs").rows
    return frozenset(row[0] for row in rows)


def _kind(info: RunInfo) -> str:
    """Return a text that is equal for runs that differ in their seed alone."""
    header = info.header
    parameters = {key: value for key, value in header.parameters.items() if key != "seed"}
    forked = header.forked_at_tick
    return json.dumps([header.scenario_name, parameters, header.models, forked], sort_keys=True)


def _called(
    groups: Mapping[str, Sequence[Path]], infos: Mapping[Path, RunInfo]
) -> dict[str, Sequence[Path]]:
    """Return groups by what they are called: their settings if these tell them apart in short."""
    every = list(groups.values())
    parameters = [infos[files[0]].header.parameters for files in every]
    keys = sorted({*chain.from_iterable(parameters)} - {"seed"})
    apart = [key for key in keys if any(p.get(key) != parameters[0].get(key) for p in parameters)]
    if 0 < len(apart) <= _NAMING:
        names = [", ".join(f"{key}={each.get(key)}" for key in apart) for each in parameters]
        if len(set(names)) == len(names) and max(map(len, names)) <= _LONGEST_NAME:
            return dict(zip(names, every, strict=True))
    return {_by_files(files): files for files in every}


def _by_files(files: Sequence[Path]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{files[0].name}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A report that was written. size: bytes.  runs: that it was made of."""

    path: Path
    size: int
    runs: int


def write_report(words: Sequence[Path | str], out: Path) -> Written:
    """Write a report of runs to a new file, whole or not at all; its folders are made.

    Raises:
        UsageError: the file exists or cannot be written, no run is named, or one twice.
        RunFileError: a file is no readable run database, or holds no tick yet.
    """
    files = gathered(words)
    text = report(files).encode()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _not_written(out, error) from error
    try:
        file = out.open("xb")
    except FileExistsError as error:
        raise UsageError(f"{out} exists and is not written over; choose another name") from error
    except (OSError, ValueError) as error:
        raise _not_written(out, error) from error
    try:
        with file:
            file.write(text)
    except BaseException as error:
        out.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _not_written(out, error) from error
        raise
    return Written(path=out, size=len(text), runs=len(files))


def _not_written(path: Path, error: OSError | ValueError) -> UsageError:
    return UsageError(f"{path} could not be written: {getattr(error, 'strerror', None) or error}")
