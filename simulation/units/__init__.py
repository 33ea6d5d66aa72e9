"""Memory units: what personas have settled about sides of things, and how sure they are.

`store` holds and updates them, `compression` merges and deletes, `retrieval` finds them again,
`wording` puts them in words. Formulas are in `mind.attitude`; nothing here knows what objects are.
"""

from __future__ import annotations

from simulation.units.compression import Compression, Rules, compress
from simulation.units.retrieval import retrieve
from simulation.units.store import FAULTS, Observed, UnitStore, faults
from simulation.units.wording import certainty, summary, tone

__all__ = [
    "FAULTS",
    "Compression",
    "Observed",
    "Rules",
    "UnitStore",
    "certainty",
    "compress",
    "faults",
    "retrieve",
    "summary",
    "tone",
]
