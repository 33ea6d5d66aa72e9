"""Memory units: what personas have settled about sides of things, and how sure they are.

`store` holds and updates them, `index` finds them by their sides, `retrieval` by meaning,
`compression` merges and deletes, `wording` puts them in words. Formulas are in `mind.attitude`;
nothing here knows what objects are.
"""

from __future__ import annotations

from simulation.units.compression import Compression, Deletion, Merge, Rules, compress
from simulation.units.index import key
from simulation.units.retrieval import retrieve
from simulation.units.store import FAULTS, Observed, UnitStore, faults, occurrence
from simulation.units.wording import TONES, certainty, certainty_code, summary, tone, tone_code

__all__ = [
    "FAULTS",
    "TONES",
    "Compression",
    "Deletion",
    "Merge",
    "Observed",
    "Rules",
    "UnitStore",
    "certainty",
    "certainty_code",
    "compress",
    "faults",
    "key",
    "occurrence",
    "retrieve",
    "summary",
    "tone",
    "tone_code",
]
