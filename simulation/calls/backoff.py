"""How long to wait before the next try of a request: exponential back-off with full jitter.

Source: Brooker 2015, "Exponential Backoff and Jitter" (AWS Architecture Blog): a uniform draw
between 0 and the bound spreads tries better than any fixed share of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulation.rng import stream_keys

if TYPE_CHECKING:
    from simulation.rng import Streams

BASE: Final = 1.0
"""Seconds: bound of the first wait; it doubles with each try."""

CAP: Final = 60.0
"""Seconds: no bound is larger."""

LONGEST_WAIT: Final = 300.0
"""Seconds: a provider that asks to wait longer will not answer in time."""


def waiting_time(
    streams: Streams, *, tick: int, stream_id: str, failed: int, retry_after: float | None
) -> float:
    """Return seconds to wait after the `failed`-th failed try, >= 1.

    stream_id: what is asked, so that no two requests wait alike.  retry_after: seconds that the
    provider asked to wait; the jitter comes on top, or all that wait would come back at once.
    """
    keys = stream_keys([stream_id])
    draw = float(streams.uniform("backoff", tick=tick, keys=keys, index=failed)[0])
    bound = min(CAP, BASE * 2.0 ** (failed - 1))
    return max(retry_after or 0.0, 0.0) + draw * bound
