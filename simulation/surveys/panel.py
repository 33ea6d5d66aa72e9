"""When a question is put, and to whom.

The draw is an order of SHA-256 digests, so anyone can recompute it from a run database, and it
touches no random stream. It does not depend on the tick: a question that is put again is put to
the same personas, so that what changed is their minds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simulation.rng import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.records import IntArray
    from simulation.scenario.survey import Survey

_ROUNDING = 1e-9  # a share of 0.02 of 150 is a hair above 3 in floating point


def due(surveys: Sequence[Survey], tick: int) -> list[Survey]:
    """Return the questions that are put after the turns of this tick, in their order."""
    return [survey for survey in surveys if tick in survey.ticks]


def panel(seed: int, survey_id: str, ids: Sequence[str], *, share: float) -> IntArray:
    """Return the places in `ids` of those who are asked, ascending.

    They are the ceil(share * n - 1e-9) with the smallest
    SHA-256("survey|<seed>|<question id>|<persona id>"), compared as hexadecimal strings.

    ids: of all personas, active or not.  share: in [0, 1].
    """
    count = max(0, math.ceil(share * len(ids) - _ROUNDING))
    if count == len(ids):
        return np.arange(count, dtype=np.int64)
    prefix = f"survey|{seed}|{survey_id}|"
    order = sorted(range(len(ids)), key=lambda at: sha256_hex(prefix + ids[at]))
    return np.array(sorted(order[:count]), dtype=np.int64)
