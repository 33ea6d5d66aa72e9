"""A run as numbers by tick: population means of its beliefs, and what shares of people did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from simulation.errors import RunFileError
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from simulation.runlog import RunInfo

    FloatArray = NDArray[np.float64]

Kind = Literal["belief", "action"]

VERDICTS = {"bought": "buy", "rejected": "reject"}
"""Measure: the action. The share of personas that have taken it so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMeasures:
    """A run as one value per measure and tick, each (last_tick + 1,), from tick 0.

    beliefs: target: mean belief over all personas.  actions: `bought` and `rejected`: share of
    personas that have done so by the tick; any other action: its share of all turns so far.
    Actions that nobody took are missing: their share is 0.  digest: of the last tick's state.
    """

    path: Path
    info: RunInfo
    beliefs: dict[str, FloatArray]
    actions: dict[str, FloatArray]
    personas: int
    turns: int
    digest: str | None

    def value(self, kind: Kind, name: str) -> FloatArray:
        """Return a measure by tick; zeros for an action that nobody took."""
        known = self.beliefs if kind == "belief" else self.actions
        nothing = np.zeros(self.info.last_tick + 1)
        return known[name] if kind == "belief" else known.get(name, nothing)


def measure(path: Path) -> RunMeasures:
    """Read a run's measures.

    Raises:
        RunFileError: the file cannot be read, or holds no tick yet.
    """
    with RunFile.open(path) as run:
        last = run.run.last_tick
        if last < 0:
            raise RunFileError(f"{path} holds no tick yet, not even the start")
        personas = int(run.query("SELECT count(*) FROM personas").rows[0][0])
        turns, digest = run.query(_TURNS).rows[0]
        return RunMeasures(
            path=path,
            info=run.run,
            beliefs=_beliefs(run, last),
            actions=_actions(run, last) | _verdicts(run, last, personas),
            personas=personas,
            turns=int(turns),
            digest=digest,
        )


_TURNS = "SELECT coalesce(sum(turns), 0), arg_max(state_digest, tick) FROM ticks"
_BELIEFS = "SELECT target, tick, avg(belief) FROM beliefs GROUP BY ALL ORDER BY ALL"
_ACTIONS = "SELECT action, tick, count(*) FROM turns GROUP BY ALL ORDER BY ALL"
_FIRSTS = """
SELECT first, count(*) FROM (
    SELECT min(tick) AS first FROM turns WHERE action = ? GROUP BY persona_id
) GROUP BY first
"""


def _beliefs(run: RunFile, last: int) -> dict[str, FloatArray]:
    found: dict[str, FloatArray] = {}
    for target, tick, mean in run.query(_BELIEFS).rows:
        found.setdefault(target, np.full(last + 1, np.nan))[tick] = mean
    if any(np.isnan(means).any() for means in found.values()):
        raise RunFileError(f"{run.path} is damaged: beliefs are missing for some ticks")
    return found


def _actions(run: RunFile, last: int) -> dict[str, FloatArray]:
    counts: dict[str, FloatArray] = {}
    for action, tick, count in run.query(_ACTIONS).rows:
        counts.setdefault(action, np.zeros(last + 1))[tick] = count
    so_far = np.cumsum(sum(counts.values(), np.zeros(last + 1)))
    shares = {name: np.cumsum(each) / np.maximum(so_far, 1) for name, each in counts.items()}
    return {name: share for name, share in shares.items() if name not in VERDICTS.values()}


def _verdicts(run: RunFile, last: int, personas: int) -> dict[str, FloatArray]:
    found = {}
    for name, action in VERDICTS.items():
        firsts = np.zeros(last + 1)
        for tick, count in run.query(_FIRSTS, parameters=[action]).rows:
            firsts[tick] = count
        if firsts.any():
            found[name] = np.cumsum(firsts) / personas
    return found
