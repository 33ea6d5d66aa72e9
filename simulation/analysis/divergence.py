"""The first thing that differs between two runs, with what each persona did and why it was moved.

Beliefs are compared exactly: two runs of one scenario, seed and engine are equal to the last bit,
and a tolerance would hide the first difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.analysis.comparison import Divergence, InputDifference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.runlog import RunFile

VISIBLE = 1e-9
"""Difference of two beliefs from which on it is called visible: above any rounding of a sum."""


def first_divergence(
    runs: tuple[RunFile, RunFile],
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
    personas: tuple[str, ...],
    targets: tuple[str, ...],
    digest: int | None,
) -> Divergence | None:
    """Return where two runs part, or None.

    values: beliefs in common, (ticks from 0, personas, targets).  digest: the first tick whose
    state digests differ, None if all agree.
    """
    last = len(values[0]) - 1
    differs = values[0] != values[1]
    ticks = np.flatnonzero(differs.any(axis=(1, 2)))
    belief_tick = int(ticks[0]) if len(ticks) else last + 1
    # A turn at tick t acts before the beliefs of tick t are final, but the belief says more.
    turn = _turn_divergence(runs, set(personas), min(belief_tick - 1, last))
    if turn:
        return turn
    if belief_tick <= last:
        return _first_belief(runs, values, personas, targets, differs)
    return None if digest is None else Divergence(kind="state", tick=digest)


def first_visible(
    runs: tuple[RunFile, RunFile],
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
    personas: tuple[str, ...],
    targets: tuple[str, ...],
) -> Divergence | None:
    """Return the first belief that differs by more than `VISIBLE`, or None."""
    return _first_belief(runs, values, personas, targets, np.abs(values[0] - values[1]) > VISIBLE)


def _first_belief(
    runs: tuple[RunFile, RunFile],
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
    personas: tuple[str, ...],
    targets: tuple[str, ...],
    differs: NDArray[np.bool_],
) -> Divergence | None:
    """Return the first place of `differs`, (ticks, personas, targets), or None."""
    if not differs.any():
        return None
    tick, row, column = (int(place) for place in np.argwhere(differs)[0])
    return _belief_divergence(
        runs,
        tick=tick,
        persona_id=personas[row],
        target=targets[column],
        values=tuple(float(value[tick, row, column]) for value in values),
        personas=int(differs[tick].any(axis=1).sum()),
    )


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
        inputs=_inputs(runs, tick, persona_id),
        **more,
    )


# A recorded answer is the answer that the model gave.
_TURN = """
SELECT persona_id, action, target_id, text,
    CASE WHEN source = 'replay' THEN 'model' ELSE source END AS source, error
FROM turns WHERE tick = ?
"""


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
                inputs=_inputs(runs, tick, different[0]),
            )
    return None


_FEED = """
SELECT position, coalesce(author, source, '') || ': ' || coalesce(posts.text, stimuli.text, '')
    AS text, score
FROM exposures LEFT JOIN posts USING (post_id)
LEFT JOIN stimuli ON stimuli.stimulus_id = exposures.stimulus_id
WHERE exposures.tick = ? AND persona_id = ? ORDER BY position
"""

_RECALLED = """
SELECT slot, memories.text AS text, score
FROM recalls JOIN memories USING (memory_id)
WHERE recalls.tick = ? AND recalls.persona_id = ? ORDER BY slot
"""


def _inputs(
    runs: tuple[RunFile, RunFile], tick: int, persona_id: str
) -> tuple[InputDifference, ...]:
    """Return how the feed and the recalled memories of a persona's turn differ."""
    found = []
    for kind, sql in (("feed", _FEED), ("memory", _RECALLED)):
        rows = [run.query(sql, parameters=[tick, persona_id]).rows for run in runs]
        if rows[0] == rows[1]:
            continue
        first, second = ([text for _, text, _ in each] for each in rows)
        only = (_without(first, second), _without(second, first))
        found.append(InputDifference(kind=kind, only=only, reordered=not any(only)))
    return tuple(found)


def _without(texts: list[str], others: list[str]) -> tuple[str, ...]:
    """Return texts that the others lack, each as often as it is missing there."""
    left = list(others)
    missing = []
    for text in texts:
        if text in left:
            left.remove(text)
        else:
            missing.append(text)
    return tuple(missing)
