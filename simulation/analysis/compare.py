"""Two runs side by side: are they the same, where do they part, and by how much at the end.

Beliefs are compared exactly: two runs of one scenario, seed and engine are equal to the last bit,
and a tolerance would hide the first difference.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.analysis.wording import summary
from simulation.errors import RunFileError, UsageError
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simulation.runlog import RunInfo

_LARGEST = 10  # differences by persona and target that are listed
_SETTINGS = ("parameters", "models", "packages")
_VERSIONS = ("engine_version", "encoder", "encoder_sha256")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two runs."""

    path: str
    run_id: str
    scenario_name: str
    scenario_sha256: str
    seed: int
    engine_version: str
    encoder: str
    encoder_sha256: str | None
    status: str
    horizon: int
    last_tick: int
    only_personas: tuple[str, ...]  # that the other run does not have
    only_targets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first thing that differs between two runs.

    kind: `belief` (values are the beliefs), `turn` (beliefs agree so far, an action or a text
    does not), or `state` (both agree and the state digest does not).
    turns: what the persona did in that tick, in each run; None where it took no turn.
    changes: the belief's changes in that tick, in each run, with their causes.
    """

    kind: str
    tick: int
    persona_id: str | None = None
    target: str | None = None
    values: tuple[float, float] | None = None
    personas: int = 0  # that differ in that tick
    turns: tuple[dict[str, Any] | None, dict[str, Any] | None] = (None, None)
    changes: tuple[list[dict[str, Any]], list[dict[str, Any]]] = field(
        default_factory=lambda: ([], [])
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDifference:
    """Mean belief over the personas of both runs; difference is second minus first."""

    tick: int
    target: str
    means: tuple[float, float]
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefDifference:
    """One persona's belief at the last common tick; difference is second minus first."""

    persona_id: str
    target: str
    values: tuple[float, float]
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs side by side, over their common ticks, personas and targets.

    same_state: equal state digests at every common tick and as many ticks; None when neither run
    has finished a tick.  settings: dotted key: value in each run, None where it has none.
    actions: action: turns in each run up to the last common tick.
    """

    sides: tuple[Side, Side]
    same_scenario: bool
    same_seed: bool
    same_versions: bool
    same_state: bool | None
    first_different_digest: int | None
    settings: dict[str, tuple[Any, Any]]
    common_ticks: int
    common_personas: int
    common_targets: tuple[str, ...]
    divergence: Divergence | None
    means: tuple[MeanDifference, ...]
    largest: tuple[BeliefDifference, ...]
    actions: dict[str, tuple[int, int]]

    @property
    def identical(self) -> bool:
        """Whether nothing that a run computes differs, in runs of equal length."""
        lengths = {side.last_tick for side in self.sides}
        names = any(side.only_personas or side.only_targets for side in self.sides)
        return self.divergence is None and len(lengths) == 1 and not names

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {"identical": self.identical, **asdict(self)}

    def summary(self) -> list[str]:
        """Return the comparison as lines for people."""
        return summary(self)


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
        raise UsageError(f"compare takes two runs; {len(paths)} given")
    with RunFile.open(paths[0]) as first, RunFile.open(paths[1]) as second:
        return _compare((first, second))


def _compare(runs: tuple[RunFile, RunFile]) -> Comparison:
    beliefs = (_beliefs(runs[0]), _beliefs(runs[1]))
    personas = _common(beliefs[0].personas, beliefs[1].personas)
    targets = _common(beliefs[0].targets, beliefs[1].targets)
    last = min(run.run.last_tick for run in runs)
    values = _pick(beliefs[0], personas, targets, last), _pick(beliefs[1], personas, targets, last)
    infos = (runs[0].run, runs[1].run)
    digest = _first_different_digest(runs, last)
    return Comparison(
        sides=(_side(runs[0], *beliefs), _side(runs[1], *beliefs[::-1])),
        same_scenario=_same(infos, ("scenario_sha256",)) and not _settings(infos, ("parameters",)),
        same_seed=_same(infos, ("seed",)),
        same_versions=_same(infos, _VERSIONS),
        same_state=_same_state(infos, digest, last),
        first_different_digest=digest,
        settings=_settings(infos, _SETTINGS),
        common_ticks=last,
        common_personas=len(personas),
        common_targets=targets,
        divergence=_divergence(runs, values, personas, targets, digest),
        means=_means(values, targets),
        largest=_largest(values, personas, targets),
        actions=_actions(runs, last),
    )


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


def _first_different_digest(runs: tuple[RunFile, RunFile], last: int) -> int | None:
    sql = "SELECT tick, state_digest FROM ticks WHERE tick <= ?"
    first, second = (dict(run.query(sql, parameters=[last]).rows) for run in runs)
    different = (tick for tick in sorted({*first, *second}) if first.get(tick) != second.get(tick))
    return next(different, None)


def _same_state(infos: tuple[RunInfo, RunInfo], digest: int | None, last: int) -> bool | None:
    if last == 0:
        return None
    return digest is None and infos[0].last_tick == infos[1].last_tick


def _divergence(
    runs: tuple[RunFile, RunFile],
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
    personas: tuple[str, ...],
    targets: tuple[str, ...],
    digest: int | None,
) -> Divergence | None:
    last = len(values[0]) - 1
    differs = values[0] != values[1]
    ticks = np.flatnonzero(differs.any(axis=(1, 2)))
    belief_tick = int(ticks[0]) if len(ticks) else last + 1
    # A turn at tick t acts before the beliefs of tick t are final, but the belief says more.
    turn = _turn_divergence(runs, set(personas), min(belief_tick - 1, last))
    if turn:
        return turn
    if belief_tick <= last:
        where = differs[belief_tick]
        row, column = (int(place) for place in np.argwhere(where)[0])
        return _belief_divergence(
            runs,
            tick=belief_tick,
            persona_id=personas[row],
            target=targets[column],
            values=tuple(float(value[belief_tick, row, column]) for value in values),
            personas=int(where.any(axis=1).sum()),
        )
    return None if digest is None else Divergence(kind="state", tick=digest)


def _belief_divergence(
    runs: tuple[RunFile, RunFile], *, tick: int, persona_id: str, target: str, **more: Any
) -> Divergence:
    turns = (_turn(runs[0], tick, persona_id), _turn(runs[1], tick, persona_id))
    changes = (
        _changes(runs[0], tick, persona_id, target),
        _changes(runs[1], tick, persona_id, target),
    )
    return Divergence(
        kind="belief",
        tick=tick,
        persona_id=persona_id,
        target=target,
        turns=turns,
        changes=changes,
        **more,
    )


_TURN = "SELECT persona_id, action, target_id, text, source, error FROM turns WHERE tick = ?"


def _turn(run: RunFile, tick: int, persona_id: str) -> dict[str, Any] | None:
    found = run.query(f"{_TURN} AND persona_id = ?", parameters=[tick, persona_id]).dicts()
    return found[0] if found else None


def _changes(run: RunFile, tick: int, persona_id: str, target: str) -> list[dict[str, Any]]:
    return run.query(
        "SELECT phase, requested, before, after, coalesce(author, source) AS cause_author, "
        "coalesce(posts.text, stimuli.text) AS cause_text "
        "FROM belief_changes AS changes LEFT JOIN posts ON posts.post_id = cause_post_id "
        "LEFT JOIN stimuli ON stimuli.stimulus_id = cause_stimulus_id "
        "WHERE changes.tick = ? AND persona_id = ? AND target = ? ORDER BY phase DESC",
        parameters=[tick, persona_id, target],
    ).dicts()


def _turn_divergence(
    runs: tuple[RunFile, RunFile], personas: set[str], last: int
) -> Divergence | None:
    """Return the first turn up to the last tick given that differs, among the common personas."""
    for tick in range(1, last + 1):
        first, second = (
            {row["persona_id"]: row for row in run.query(_TURN, parameters=[tick]).dicts()}
            for run in runs
        )
        different = [
            persona
            for persona in sorted(personas & (first.keys() | second.keys()))
            if first.get(persona) != second.get(persona)
        ]
        if different:
            return Divergence(
                kind="turn",
                tick=tick,
                persona_id=different[0],
                personas=len(different),
                turns=(first.get(different[0]), second.get(different[0])),
            )
    return None


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
) -> tuple[BeliefDifference, ...]:
    """Return the largest differences at the last common tick; of equals the first names."""
    first, second = (value[-1] for value in values)
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
