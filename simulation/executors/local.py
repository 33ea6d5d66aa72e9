"""The executor of this process: parts are worked on one after the other, where they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

R = TypeVar("R")


class Local:
    """Works on every part itself."""

    name = "local"
    workers = 1

    def share(self, value: Any) -> Any:
        """Return the value as its own handle."""
        return value

    def map(self, function: Callable[[Any, Any], R], shared: Any, parts: Iterable[Any]) -> list[R]:
        """Return function(value, part) of each part, in order."""
        return [function(shared, part) for part in parts]

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""
