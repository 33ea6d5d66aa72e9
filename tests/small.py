"""A small scenario for tests of the engine: 12 personas, 8 ticks, two claims, four stimuli."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from simulation.scenario import load_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.scenario import Loaded

SMALL: dict[str, Any] = {
    "name": "small",
    "seed": 3,
    "horizon": 8,
    "brief": {
        "brand": "Bolt",
        "proposition": "Bolt is a protein bar without sugar.",
        "claims": [
            {"id": "C1", "text": "Bolt has no sugar", "weights": {"value": 0.5, "trust": 0.2}},
            {"id": "C2", "text": "Bolt tastes good", "weights": {"fit": 0.8}},
        ],
    },
    "ontology": "consumer_products",
    "population": {"size": 12, "activity": 0.9},
    "graph": {"kind": "watts_strogatz", "degree": 4},
    "stimuli": [
        {"tick": 1, "kind": "ad", "source": "Bolt", "text": "No sugar in Bolt.", "claim": "C1"},
        {"tick": [2, 5], "kind": "news", "source": "Weekly", "text": "Bolt tastes of chocolate.",
         "claim": "C2", "stance": 0.8},
        {"id": "ask", "tick": 3, "kind": "question", "text": "Would you try Bolt?", "reach": 0.7},
    ],
    "probes": {"every": 4, "share": 0.3},
}  # fmt: skip


def small(folder: Path | None = None, settings: Sequence[str] = (), **changes: Any) -> Loaded:
    """Return the small scenario with some of its top-level keys replaced."""
    text = yaml.safe_dump(SMALL | changes, allow_unicode=True, sort_keys=False)
    return load_text(text, name="small.yaml", folder=folder, settings=settings)
