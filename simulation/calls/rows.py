"""Records of calls as rows of the run database, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.records import ModelCalls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulation.calls.record import CallRecord
    from simulation.records import FloatArray, IntArray


def rows_of(records: Sequence[CallRecord], *, requests: bool = True) -> ModelCalls:
    """Return records as rows.

    requests: with the requests themselves, else with their digests only.
    """
    return ModelCalls(
        tick=_whole(each.tick for each in records),
        persona_id=[each.persona_id for each in records],
        purpose=[each.purpose for each in records],
        attempt=_whole(each.attempt for each in records),
        provider=[each.provider for each in records],
        model=[each.model for each in records],
        request_sha256=[each.request_sha256 for each in records],
        request=[each.request if requests else None for each in records],
        response=[each.response for each in records],
        input_tokens=_whole(each.input_tokens for each in records),
        cached_tokens=_whole(each.cached_tokens for each in records),
        written_tokens=_whole(each.written_tokens for each in records),
        output_tokens=_whole(each.output_tokens for each in records),
        cost_usd=_real(each.cost_usd for each in records),
        latency_s=_real(each.latency_s for each in records),
        attempts=_whole(each.attempts for each in records),
        billed=_whole(each.billed for each in records),
        unconfirmed_usd=_real(each.unconfirmed_usd for each in records),
        unconfirmed_tokens=_whole(each.unconfirmed_tokens for each in records),
        outcome=[each.outcome for each in records],
        error=[each.error for each in records],
    )


def _whole(values: Iterable[int | None]) -> IntArray:
    """Return whole numbers, -1 for None, which the table stores as NULL."""
    return np.array([-1 if value is None else value for value in values], dtype=np.int64)


def _real(values: Iterable[float | None]) -> FloatArray:
    """Return numbers, NaN for None, which the table stores as NULL."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
