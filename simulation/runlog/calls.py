"""Requests to language models as a run database holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.calls.record import CallRecord
from simulation.errors import RunFileError

if TYPE_CHECKING:
    from simulation.runlog.reader import RunFile

_SINCE = 3  # the layout from which on `model_calls` holds all that is needed
_COLUMNS = tuple(CallRecord.__dataclass_fields__)


def call_records(run: RunFile, *, after: int = -1) -> list[CallRecord]:
    """Return what was asked after a tick, in the order in which it was written.

    after: a tick; those of later ones are returned, also of one that was never finished.

    Raises:
        RunFileError: the run has a layout that does not hold them.
    """
    if run.run.schema_version < _SINCE:
        raise RunFileError(
            f"{run.path} has layout {run.run.schema_version}, which does not hold all that is "
            f"needed of answers; they can be replayed since layout {_SINCE}"
        )
    names = ", ".join(_COLUMNS)
    sql = f"SELECT {names} FROM model_calls WHERE tick > {int(after)} ORDER BY call_id"  # noqa: S608 - our own columns, and a number
    return [CallRecord(**dict(zip(_COLUMNS, row, strict=True))) for row in run.query(sql).rows]
