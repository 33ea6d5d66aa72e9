"""Columns by places: values looked up, and texts as codes into short lists of names."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from simulation.records import Coded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulation.records import IntArray

_Scalar = TypeVar("_Scalar", bound=np.number)


def coded(ids: IntArray, name: Callable[[int], str]) -> Coded:
    """Return a column of the names of `ids`, naming each distinct id once; negative is NULL."""
    distinct, codes = np.unique(ids, return_inverse=True)
    nulls = int(np.searchsorted(distinct, 0))
    names = [name(int(i)) for i in distinct[nulls:]]
    return Coded(codes=codes.reshape(ids.shape) - nulls, names=names)


def taken(column: NDArray[_Scalar], places: IntArray, missing: float = -1) -> NDArray[_Scalar]:
    """Return column[places], of the shape of places; `missing` where a place is negative.

    What it costs depends on the places, not on how long the column has become.
    """
    found = np.full(places.shape, missing, column.dtype)
    there = places >= 0
    found[there] = column[places[there]]
    return found


def repeated(count: int, value: int) -> IntArray:
    """Return `count` times `value`."""
    return np.full(count, value, dtype=np.int64)


def constant(count: int, name: str) -> Coded:
    """Return a text column with one name."""
    return Coded(codes=repeated(count, 0), names=(name,))
