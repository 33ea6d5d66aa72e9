"""Replies to the parts of a batch, joined to replies to the batch."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.models.base import ProbeReplies, Reactions, ReflectionReplies
    from simulation.models.surveys import SurveyReplies

R = TypeVar("R", "Reactions", "ReflectionReplies", "ProbeReplies", "SurveyReplies")


def join(parts: Sequence[tuple[Sequence[int] | NDArray[np.signedinteger], R]]) -> R:
    """Return one batch of replies from its parts, in the order of their rows.

    parts: the rows of the batch that a part answers, and its replies.  Columns are put together;
    what is told by index (errors, rejections) is moved to the index in the batch.
    """
    replies = [part for _, part in parts]
    places = [np.asarray(rows, dtype=np.int64) for rows, _ in parts]
    order = np.argsort(np.concatenate(places), kind="stable")
    columns = {
        each.name: _column([getattr(part, each.name) for part in replies], order)
        for each in fields(replies[0])
        if each.name not in ("error", "rejections")
    }
    error = {int(rows[i]): said for rows, part in parts for i, said in part.error.items()}
    rejections = [
        replace(item, index=int(rows[item.index]))
        for rows, part in parts
        for item in part.rejections
    ]
    rejections.sort(key=lambda item: item.index)
    return replace(replies[0], **columns, error=error, rejections=tuple(rejections))


def _column(parts: list[Any], order: np.ndarray) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)[order]
    values = [value for part in parts for value in part]
    return [values[i] for i in order.tolist()]
