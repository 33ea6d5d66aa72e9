"""Pictures of the study `locomo`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.studies.locomo import comparing as of
from simulation.studies.locomo.comparing import Key
from simulation.studies.locomo.measuring import KS
from simulation.studies.plots import Line, bars, lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.locomo.comparing import Compared

_STORES = {of.ALL: "all memories", of.CAPPED: "capped at 50"}


def pictures(compared: Compared, test: Sequence[int], encoder: str) -> dict[str, str]:
    """Return the pictures, of the test conversations, by name."""
    keys = {
        label: [Key(encoder=encoder, method=m, store=store) for m in of.MAIN]
        for store, label in _STORES.items()
    }
    found = {n: [compared.interval(key, test) for key in each] for n, each in keys.items()}
    curves = [
        Line(name=key.method, x=KS, y=compared.recall(key, test).mean(axis=0).tolist())
        for key in keys[_STORES[of.ALL]]
    ]
    return {
        "recall_at_5": bars(
            "Evidence recall@5",
            labels=of.MAIN,
            series={name: [one.value for one in each] for name, each in found.items()},
            intervals={name: [(o.low, o.high) for o in each] for name, each in found.items()},
            y="recall@5",
        ),
        "recall_at_k": lines(
            "Evidence recall, all memories", x="memories", y="recall", lines=curves, domain=(0, 1)
        ),
    }
