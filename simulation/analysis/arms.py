"""The runs of a group: those that can be compared, what they share, and their partners."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from simulation.analysis.measures import RunMeasures, measure
from simulation.errors import RunFileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The runs of an arm that are compared, and those that cannot be."""

    letter: str
    name: str
    runs: tuple[RunMeasures, ...]
    left_out: dict[str, str]


def make_group(letter: str, name: str, paths: Sequence[Path]) -> Group:
    """Return a group of runs with their measures; runs that did not finish are left out.

    Raises:
        UsageError: no run is left.
        RunFileError: a file is missing.
    """
    runs, left_out = [], {}
    for path in paths:
        try:
            found = measure(path)
        except RunFileError as error:
            if not path.is_file():
                raise
            left_out[str(path)] = str(error)
            continue
        info = found.info
        if info.status == "complete":
            runs.append(found)
        else:
            left_out[str(path)] = (
                f"{info.status} after tick {info.last_tick} of {info.header.horizon}"
            )
    if not runs:
        why = "; ".join(f"{path}: {said}" for path, said in left_out.items()) or "it is empty"
        raise UsageError(f"group {letter} ({name}) holds no finished run: {why}")
    runs.sort(key=lambda run: (run.info.header.seed, str(run.path)))
    return Group(letter=letter, name=name, runs=tuple(runs), left_out=left_out)


def refuse_doubles(groups: Sequence[Group]) -> None:
    """Refuse a run that is counted twice: it would make chance look smaller than it is."""
    seen: dict[str, tuple[Group, RunMeasures]] = {}
    for group in groups:
        for run in group.runs:
            other, first = seen.setdefault(run.info.header.run_id, (group, run))
            if first is not run or other is not group:
                where = f"groups {other.letter} and {group.letter} count"
                where = f"group {group.letter} counts" if other is group else where
                raise UsageError(f"{where} one run twice: {first.path} and {run.path}")
        for one, two in combinations(group.runs, 2):
            if _repeats(one, two):
                raise UsageError(
                    f"group {group.letter} counts one run twice: {one.path} and {two.path} "
                    f"have the seed {one.info.header.seed} and end in the same state"
                )


def _repeats(one: RunMeasures, two: RunMeasures) -> bool:
    same_seed = one.info.header.seed == two.info.header.seed
    return same_seed and one.digest == two.digest and bool(one.digest)


def differing(runs: Sequence[RunMeasures]) -> tuple[str, ...]:
    """Return the parameters, but for the seed, that runs do not share."""
    values: dict[str, set[str]] = {}
    keys = sorted({key for run in runs for key in run.info.header.parameters})
    for run in runs:
        for key in keys:
            values.setdefault(key, set()).add(_setting(run, key))
    return tuple(key for key in keys if len(values[key]) > 1 and key != "seed")


def _setting(run: RunMeasures, key: str) -> str:
    return json.dumps(run.info.header.parameters.get(key), sort_keys=True)


def pairs(
    first: Group, second: Group, mixed: Sequence[str]
) -> tuple[list[RunMeasures], list[RunMeasures]]:
    """Return the runs of both arms with equal seeds, in the same order; none if few have one.

    mixed: parameters that differ within an arm; runs are paired by these, too.
    """
    apart = between(first.runs, second.runs)
    keys = [key for key in mixed if key not in apart]

    def keyed(group: Group) -> dict[tuple[Any, ...], RunMeasures]:
        return {
            (run.info.header.seed, *(_setting(run, key) for key in keys)): run
            for run in group.runs
        }

    one, two = keyed(first), keyed(second)
    if len(one) < len(first.runs) or len(two) < len(second.runs):
        return [], []  # a seed stands twice in an arm
    both = [key for key in one if key in two]
    fewer = min(len(one), len(two))
    alone = len(one) == len(two) == 1
    if 2 * len(both) < fewer or not (alone or len(both) > 1):
        return [], []
    return [one[key] for key in both], [two[key] for key in both]


def between(first: Sequence[RunMeasures], second: Sequence[RunMeasures]) -> dict[str, Any]:
    """Return the parameters that have one value in each arm, and not the same."""
    mixed = {*differing(first), *differing(second)}
    found = {}
    for key in differing((first[0], second[0])):
        if key not in mixed:
            values = (run.info.header.parameters.get(key) for run in (first[0], second[0]))
            found[key] = tuple(values)
    return found
