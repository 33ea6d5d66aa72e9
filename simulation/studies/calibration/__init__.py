"""`simulation study persmem-calibration`: the maps from traits to gains (method.md 7.8).

`store` reads what they are fitted on, `measuring` says what a map is measured by and aimed at,
`fitting` searches for it, and `human` for one of the size that is found in people.
"""

from __future__ import annotations

from simulation.studies.calibration.study import run

__all__ = ["run"]
