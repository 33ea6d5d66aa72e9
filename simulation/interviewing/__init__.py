"""Interviews: a persona of a run is asked something, as it was at the end of a tick.

The persona answers from its block, its beliefs, what was said in the interview before, and the
memories that the question brings back, by the run's own recall and encoder. The run is only read:
its world is rebuilt from its rows, and what is asked and answered goes to a transcript of its own,
if anywhere. The recall draws from the streams of the tick, so the same question to the same
persona at the same tick always brings back the same memories.
"""

from __future__ import annotations

from simulation.interviewing.conversation import Interview, interview
from simulation.interviewing.statements import Recollection, Statement

__all__ = ["Interview", "Recollection", "Statement", "interview"]
