"""`simulation study extraction`: evidence found offline in sentences with labelled aspects.

`data` reads the sentences, `fit` fits the weights that ship, `tables` counts what was found.
"""

from __future__ import annotations

from simulation.studies.extraction.study import run

__all__ = ["run"]
