"""`simulation study attachment-direction`: does each trait move recall the way the source says?

`protocol` was fixed before anything was measured; `sampling` draws memories, `recall` measures
probes, sweeps and profiles (E.5), `specificity` crosses two readers' labels (E.6), `redirections`
searches with a goal (E.7); `directions` does all of it, `claims` judges, `study` reports.
"""

from __future__ import annotations

from simulation.studies.attachment_direction.study import run

__all__ = ["run"]
