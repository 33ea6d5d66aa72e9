"""Replies to the parts of a batch, joined to replies to the batch."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.base import ProbeReplies, Reactions, ReflectionReplies
    from simulation.models.surveys import SurveyReplies

R = TypeVar("R", "Reactions", "ReflectionReplies", "ProbeReplies", "SurveyReplies")


def join(parts: Sequence[R], starts: Sequence[int]) -> R:
    """Return one batch of replies from its parts, in order.

    starts: place in the batch of the first row of each part.  Columns are put together; what is
    told by index (errors, rejections) is moved to the index in the batch.
    """
    columns = {
        each.name: _column([getattr(part, each.name) for part in parts])
        for each in fields(parts[0])
        if each.name not in ("error", "rejections")
    }
    error = {
        start + index: said
        for start, part in zip(starts, parts, strict=True)
        for index, said in part.error.items()
    }
    rejections = tuple(
        replace(item, index=start + item.index)
        for start, part in zip(starts, parts, strict=True)
        for item in part.rejections
    )
    return replace(parts[0], **columns, error=error, rejections=rejections)


def _column(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return [value for part in parts for value in part]
