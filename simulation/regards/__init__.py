"""What the personas of a run have settled about the brand, its claims and the peers they follow.

`regards` holds it, `said` what posts say about the brand and the claims: the evidence.
"""

from __future__ import annotations

from simulation.regards.evidence import Pieces, combined, thousandths
from simulation.regards.regards import BRAND, TYPES, Regards
from simulation.regards.said import Said

__all__ = ["BRAND", "TYPES", "Pieces", "Regards", "Said", "combined", "thousandths"]
