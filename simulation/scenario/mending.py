"""What is left of a scenario that the types refuse, so that its parts are checked all the same."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from simulation.scenario.model import Scenario
from simulation.scenario.words import locate
from simulation.yaml_reading import step_into

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulation.yaml_reading import KeyPath

# For required keys that are missing or refused; whoever checks the rest keeps silent about them.
_STAND_IN: dict[str, Any] = {
    "name": "unknown",
    "horizon": 100_000,
    "ontology": "unknown",
    "population": {},
    "brief": {},
    "brand": "-",
    "proposition": "-",
    "tick": 1,
    "text": "-",
}
_ROUNDS = 10  # taking something out can leave something missing, a few levels up at most


def mended(data: Any, broken: Iterable[KeyPath]) -> Scenario | None:
    """Return a scenario without what was refused, or None when too little is left.

    broken: places that are not to be used. A refused value gives way to its default, and a
    required one to a stand-in; a refused item of a list takes the list with it, since the places
    of the others would shift.
    """
    kept = copy.deepcopy(data)
    for place in sorted(broken, key=str):
        _take_out(kept, place)
    for _ in range(_ROUNDS):
        try:
            return Scenario.model_validate(kept)
        except ValidationError as failure:
            for error in failure.errors(include_url=False, include_context=False):
                _mend(kept, locate(error["loc"])[2], missing=error["type"] == "missing")
    return None


def _mend(kept: Any, place: KeyPath, *, missing: bool) -> None:
    if not missing:
        _take_out(kept, place)
        return
    holder, key = _holder(kept, place)
    if isinstance(holder, dict) and place[-1] in _STAND_IN:
        holder[key] = copy.deepcopy(_STAND_IN[str(key)])
    else:
        _take_out(kept, place[:-1])


def _take_out(kept: Any, place: KeyPath) -> None:
    """Drop the value of a place, or of the nearest key of a mapping above it."""
    for depth in range(len(place), 0, -1):
        holder, key = _holder(kept, place[:depth])
        if isinstance(holder, dict):
            holder.pop(key, None)
            return


def _holder(kept: Any, place: KeyPath) -> tuple[Any, Any]:
    """Return what holds the last key of a place, and the key; None when it is not there."""
    for key in place[:-1]:
        exact, there = step_into(kept, key)
        kept = kept[exact] if there else None
    return kept, place[-1]
