"""`simulation study blind-annotation`: the corpora before a reader who sees no label.

Source: PersMem, F.6.
"""

from __future__ import annotations

from simulation.studies.blind.study import run

__all__ = ["run"]
