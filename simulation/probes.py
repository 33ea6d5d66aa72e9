"""Drift probes: who is asked about itself in a tick, and what.

Both draws are orders of SHA-256 digests, so anyone can recompute them from a run database, and a
probe touches no random stream: a run with probes off is the same run.

Source: Beliefs, memory and reflection, "Character probes and drift".
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

from simulation.rng import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDING = 1e-9  # 0.02 * 150 is a hair above 3 in floating point, and still means 3


def due(tick: int, *, every: int) -> bool:
    """Return whether probes are put in this tick (ticks count from 1)."""
    return tick % every == 0


def drawn(seed: int, tick: int, active_ids: Sequence[str], *, share: float) -> tuple[str, ...]:
    """Return the ids of the probed personas, in ascending order of their digests.

    Of the n personas active in this tick these are the ceil(share * n - 1e-9) with the smallest
    SHA-256("drift-probe|<seed>|<tick>|<persona id>"), compared as hexadecimal strings.

    active_ids: ids of the personas that take a turn in this tick; their order does not matter.
    share: in [0, 1].
    """
    count = max(0, math.ceil(share * len(active_ids) - _ROUNDING))
    prefix = f"drift-probe|{seed}|{tick}|"
    return tuple(heapq.nsmallest(count, active_ids, key=lambda i: sha256_hex(prefix + i)))


def questions(
    seed: int, tick: int, persona_id: str, attributes: Sequence[str], *, count: int = 2
) -> tuple[str, ...]:
    """Return the attributes that a persona is asked about: `count`, or all when it has fewer.

    They are the first in the order of
    SHA-256("probe-question|<seed>|<tick>|<persona id>|<attribute>").

    attributes: names of the attributes that this persona can be asked about, in any order.
    """
    prefix = f"probe-question|{seed}|{tick}|{persona_id}|"
    return tuple(sorted(attributes, key=lambda name: sha256_hex(prefix + name))[:count])
