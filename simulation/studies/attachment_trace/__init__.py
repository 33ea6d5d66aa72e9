"""`simulation study attachment-trace`: can the trace of a recall tell the four profiles apart?

`protocol` was fixed before anything was measured; `traces` makes the instances, `centroid`
classifies, `measuring` counts, `study` reports.
"""

from __future__ import annotations

from simulation.studies.attachment_trace.study import run

__all__ = ["run"]
