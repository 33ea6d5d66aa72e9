"""Two runs side by side: are they the same, where do they part, and by how much at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.analysis.causes import causes
from simulation.analysis.comparison import BeliefDifference, Comparison, MeanDifference, Side
from simulation.analysis.counterfactual import between, paired
from simulation.analysis.divergence import first_divergence, first_visible
from simulation.errors import RunFileError, UsageError
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simulation.analysis.counterfactual import Counterfactual
    from simulation.runlog import RunInfo

_LARGEST = 10  # differences by persona and target that are listed
_SETTINGS = ("parameters", "models", "packages")
_VERSIONS = ("engine_version", "encoder", "encoder_sha256")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beliefs:
    """Beliefs of a run, (ticks, personas, targets), both names sorted."""

    personas: tuple[str, ...]
    targets: tuple[str, ...]
    values: NDArray[np.float64]


def compare(paths: Sequence[Path | str]) -> Comparison:
    """Compare two runs.

    Raises:
        UsageError: not two paths were given.
        RunFileError: a file cannot be read, or a run has not even started.
    """
    if len(paths) != 2:  # noqa: PLR2004 - two is what the sentence below says
        raise UsageError(
            f"compare takes two runs; {len(paths)} given. Groups of runs: --group, or --by SETTING"
        )
    with RunFile.open(paths[0]) as first, RunFile.open(paths[1]) as second:
        return _compare((first, second))


def _compare(runs: tuple[RunFile, RunFile]) -> Comparison:
    beliefs = (_beliefs(runs[0]), _beliefs(runs[1]))
    personas = _common(beliefs[0].personas, beliefs[1].personas)
    targets = _common(beliefs[0].targets, beliefs[1].targets)
    last = min(run.run.last_tick for run in runs)
    values = _pick(beliefs[0], personas, targets, last), _pick(beliefs[1], personas, targets, last)
    infos = (runs[0].run, runs[1].run)
    digests = (_digests(runs[0], last), _digests(runs[1], last))
    digest = _first_different(*digests)
    others = _different_personas(runs, personas)
    same_graph = _follows(runs[0]) == _follows(runs[1])
    divergence = first_divergence(runs, values, personas, targets, digest)
    return Comparison(
        sides=(_side(runs[0], *beliefs), _side(runs[1], *beliefs[::-1])),
        same_scenario=_same(infos, ("scenario_sha256",)) and not _settings(infos, ("parameters",)),
        same_seed=_same(infos, ("seed",)),
        same_versions=_same(infos, _VERSIONS),
        same_state=_same_state(infos, digest) if any(digests) else None,
        first_different_digest=digest,
        different_personas=len(others),
        same_graph=same_graph,
        settings=_settings(infos, _SETTINGS),
        common_ticks=last,
        common_personas=len(personas),
        common_targets=targets,
        divergence=divergence,
        causes=()
        if divergence is None
        else causes(runs, until=divergence.tick, same_personas=not others, same_graph=same_graph),
        visible=first_visible(runs, values, personas, targets),
        means=_means(values, targets),
        largest=_largest(values, personas, targets, without=others),
        actions=_actions(runs, last),
        counterfactual=None if divergence is None else _counterfactual(runs),
    )


def _counterfactual(runs: tuple[RunFile, RunFile]) -> Counterfactual | None:
    """Return how the difference of a fork went on, None for runs that are no forks."""
    first, second = (run.run.header for run in runs)
    forks = first.parent_run_id == second.run_id or second.parent_run_id == first.run_id
    siblings = first.parent_run_id is not None and first.parent_run_id == second.parent_run_id
    return between(*runs) if (forks or siblings) and paired(*runs) else None


def _beliefs(run: RunFile) -> _Beliefs:
    if run.run.last_tick < 0:
        raise RunFileError(f"{run.path} holds no tick yet, not even the start")
    personas = _names(run, "SELECT DISTINCT persona_id FROM initial_beliefs ORDER BY 1")
    targets = _names(run, "SELECT DISTINCT target FROM initial_beliefs ORDER BY 1")
    table = run.arrow("SELECT belief FROM beliefs ORDER BY tick, persona_id, target")
    shape = (run.run.last_tick + 1, len(personas), len(targets))
    if table.num_rows != np.prod(shape):
        raise RunFileError(f"{run.path} is damaged: beliefs are missing for some personas")
    values = table.column("belief").to_numpy().reshape(shape)
    return _Beliefs(personas=personas, targets=targets, values=values)


def _names(run: RunFile, sql: str) -> tuple[str, ...]:
    return tuple(row[0] for row in run.query(sql).rows)


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    there = set(second)
    return tuple(name for name in first if name in there)


def _without(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    there = set(second)
    return tuple(name for name in first if name not in there)


def _pick(
    beliefs: _Beliefs, personas: tuple[str, ...], targets: tuple[str, ...], last: int
) -> NDArray[np.float64]:
    """Return the beliefs in common, (last + 1, personas, targets)."""
    rows = {name: place for place, name in enumerate(beliefs.personas)}
    columns = {name: place for place, name in enumerate(beliefs.targets)}
    picked = beliefs.values[: last + 1]
    picked = picked[:, [rows[name] for name in personas], :]
    return picked[:, :, [columns[name] for name in targets]]


def _side(run: RunFile, own: _Beliefs, other: _Beliefs) -> Side:
    header = run.run.header
    return Side(
        path=str(run.path),
        run_id=header.run_id,
        scenario_name=header.scenario_name,
        scenario_sha256=header.scenario_sha256,
        seed=header.seed,
        engine_version=header.engine_version,
        encoder=header.encoder,
        encoder_sha256=header.encoder_sha256,
        status=run.run.status,
        horizon=header.horizon,
        last_tick=run.run.last_tick,
        only_personas=_without(own.personas, other.personas),
        only_targets=_without(own.targets, other.targets),
        parent_run_id=header.parent_run_id,
        forked_at_tick=header.forked_at_tick,
    )


def _same(infos: tuple[RunInfo, RunInfo], names: Sequence[str]) -> bool:
    return all(getattr(infos[0].header, n) == getattr(infos[1].header, n) for n in names)


def _settings(infos: tuple[RunInfo, RunInfo], names: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    """Return the settings that differ; those of the parameters by their own dotted keys."""
    found = {}
    for name in names:
        first, second = (getattr(info.header, name) for info in infos)
        prefix = "" if name == "parameters" else f"{name}."
        for key in sorted({*first, *second}):
            if key not in first or key not in second or first[key] != second[key]:
                found[prefix + key] = (first.get(key), second.get(key))
    return found


def _digests(run: RunFile, last: int) -> dict[int, str]:
    sql = "SELECT tick, state_digest FROM ticks WHERE tick <= ?"
    return dict(run.query(sql, parameters=[last]).rows)


def _first_different(first: dict[int, str], second: dict[int, str]) -> int | None:
    different = (tick for tick in sorted({*first, *second}) if first.get(tick) != second.get(tick))
    return next(different, None)


def _same_state(infos: tuple[RunInfo, RunInfo], digest: int | None) -> bool:
    return digest is None and infos[0].last_tick == infos[1].last_tick


def _different_personas(
    runs: tuple[RunFile, RunFile], personas: tuple[str, ...]
) -> frozenset[str]:
    first, second = (_told(run) for run in runs)
    return frozenset(name for name in personas if first.get(name) != second.get(name))


def _told(run: RunFile) -> dict[str, tuple[Any, ...]]:
    sql = "SELECT persona_id, block_sha256, personality, activity, tier FROM personas"
    return {row[0]: row[1:] for row in run.query(sql).rows}


def _follows(run: RunFile) -> list[tuple[Any, ...]]:
    sql = "SELECT source, target, weight FROM edges WHERE created_tick = 0 ORDER BY ALL"
    return run.query(sql).rows


def _means(
    values: tuple[NDArray[np.float64], NDArray[np.float64]], targets: tuple[str, ...]
) -> tuple[MeanDifference, ...]:
    if not values[0].shape[1]:
        return ()
    first, second = (value.mean(axis=1) for value in values)  # (ticks, targets)
    return tuple(
        MeanDifference(
            tick=tick,
            target=target,
            means=(float(first[tick, place]), float(second[tick, place])),
            difference=float(second[tick, place] - first[tick, place]),
        )
        for place, target in enumerate(targets)
        for tick in range(len(first))
    )


def _largest(
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
    personas: tuple[str, ...],
    targets: tuple[str, ...],
    *,
    without: frozenset[str],
) -> tuple[BeliefDifference, ...]:
    """Return the largest differences at the last common tick; of equals the first names.

    without: ids of people who are not the same in both runs, so that a difference says nothing.
    """
    same = [row for row, name in enumerate(personas) if name not in without]
    personas = tuple(personas[row] for row in same)
    first, second = (value[-1][same] for value in values)
    difference = second - first
    order = np.argsort(-np.abs(difference), axis=None, kind="stable")[:_LARGEST]
    places = (np.unravel_index(each, difference.shape) for each in order)
    return tuple(
        BeliefDifference(
            persona_id=personas[row],
            target=targets[column],
            values=(float(first[row, column]), float(second[row, column])),
            difference=float(difference[row, column]),
        )
        for row, column in places
        if difference[row, column] != 0
    )


def _actions(runs: tuple[RunFile, RunFile], last: int) -> dict[str, tuple[int, int]]:
    sql = "SELECT action, count(*) FROM turns WHERE tick <= ? GROUP BY action"
    first, second = (dict(run.query(sql, parameters=[last]).rows) for run in runs)
    return {name: (first.get(name, 0), second.get(name, 0)) for name in sorted({*first, *second})}
