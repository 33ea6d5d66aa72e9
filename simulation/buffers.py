"""Arrays that grow: with spare room, so that adding costs what is added."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Scalar = TypeVar("_Scalar", bound=np.generic)


def grown(room: NDArray[_Scalar], length: int) -> NDArray[_Scalar]:
    """Return the array, or a copy with room for twice as many rows, once it is too short."""
    if length <= len(room):
        return room
    larger = np.zeros((max(length, 2 * len(room)), *room.shape[1:]), room.dtype)
    larger[: len(room)] = room
    return larger
