"""How a turn feels: to a persona with a personality, what it sees and what it answers.

Source: PersMem, section 3 and C.9; method.md 7.1 and 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulation.mind import affect

if TYPE_CHECKING:
    from simulation.records import FloatArray, IntArray
    from simulation.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Feelings:
    """Appraisals of A turns, (A, 3) each, as (valence, arousal, dominance).

    raw: of the texts.  felt: as the personas feel them.  state: their affective state afterwards.
    text: (A,) ids of the texts.
    """

    text: IntArray
    raw: FloatArray
    felt: FloatArray
    state: FloatArray


def feel(world: World, rows: IntArray, text: IntArray, before: FloatArray) -> Feelings | None:
    """Return how texts feel to personas, or None when they have no personality.

    rows: (A,) who.  text: (A,) ids.  before: (A, 3) their state. Nothing of it is changed.
    """
    disposition = world.disposition
    if disposition is None:
        return None
    raw, felt = disposition.appraise(text, rows)
    state = affect.update_state(before, felt, rate=disposition.rate)
    return Feelings(text=text, raw=raw, felt=felt, state=state)
