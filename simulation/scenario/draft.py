"""A scenario that may still be broken: what can be read of it can be checked.

So a typing error in one key never hides a dangling reference in another.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from simulation.scenario.model import Scenario
from simulation.yaml_reading import lies_in, step_into

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from simulation.yaml_reading import Key, KeyPath


class Draft:
    """Values of a file, with the places that are not to be trusted."""

    def __init__(self, data: Any, broken: AbstractSet[KeyPath] = frozenset()) -> None:
        """Keep the data (dict, list or tuple, scalars) and the broken places."""
        self._data = data
        self.broken = broken

    def value(self, *path: Key) -> Any:
        """Return the value of a place: as written, else its default, else None.

        None also when the place or one above it is broken; a container may hold broken places.
        """
        if lies_in(path, self.broken):
            return None
        found, there = _walk(self._data, path)
        return found if there and found is not None else _walk(_defaults(), path)[0]

    def wrote(self, *path: Key) -> bool:
        """Return whether the file gives a value that is not empty."""
        return _walk(self._data, path)[0] is not None

    def items(self, *path: Key) -> list[tuple[int, Any]]:
        """Return the indices and values of a list; empty when it is none."""
        value = self.value(*path)
        return list(enumerate(value)) if isinstance(value, list | tuple) else []

    def entries(self, *path: Key) -> dict[str, Any]:
        """Return the keys and values of a mapping; empty when it is none."""
        value = self.value(*path)
        return dict(value) if isinstance(value, dict) else {}

    def names(self, *path: Key, key: str | None = None) -> list[str]:
        """Return the texts of a list, or those under one key of its mappings; "" where none."""
        values = [item for _, item in self.items(*path)]
        if key is not None:
            values = [item.get(key) if isinstance(item, dict) else None for item in values]
        return [item if isinstance(item, str) else "" for item in values]


def _walk(data: Any, path: KeyPath) -> tuple[Any, bool]:
    for key in path:
        fitting, there = step_into(data, key)
        if not there:
            return None, False
        data = data[fitting]
    return data, True


@lru_cache(maxsize=1)
def _defaults() -> dict[str, Any]:
    """Return the defaults of the model as nested dicts; keys without default are left out."""
    return _defaults_of(Scenario)


def _defaults_of(model: type[BaseModel]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if not field.is_required():
            default = field.get_default(call_default_factory=True, validated_data={})
            values[name] = default.model_dump() if isinstance(default, BaseModel) else default
        elif isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            values[name] = _defaults_of(field.annotation)
    return values
