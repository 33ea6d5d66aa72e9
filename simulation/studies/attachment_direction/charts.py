"""The pictures of the study `attachment-direction`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.mind.traits import ATTACHMENT_TRAITS
from simulation.studies import plots
from simulation.studies.attachment_direction import protocol, redirections, specificity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulation.studies.attachment_direction.directions import Directions
    from simulation.studies.attachment_direction.recall import Measures


def pictures(found: Directions) -> dict[str, str]:
    """Return the pictures of the report."""
    return {
        **{
            f"sweep_{ATTACHMENT_TRAITS[trait]}": _sweep_picture(trait, states)
            for trait, states in found.sweeps.items()
        },
        "redirected": _redirected_picture(found),
        "specificity": _specificity_picture(found),
    }


def _sweep_picture(trait: int, states: Mapping[str, Measures]) -> str:
    drawn = []
    for state, measured in states.items():
        for name in ("negative", "overgeneral", "dominance"):
            by_seed = getattr(measured, name).mean(axis=2)
            drawn.append(
                plots.Line(
                    name=f"{name}, {state}",
                    x=protocol.LEVELS,
                    y=by_seed.mean(axis=0).tolist(),
                    low=by_seed.min(axis=0).tolist(),
                    high=by_seed.max(axis=0).tolist(),
                    dashed=state != "neutral",
                )
            )
    return plots.lines(
        f"What is recalled as {ATTACHMENT_TRAITS[trait]} grows",
        x=ATTACHMENT_TRAITS[trait],
        y="share, or mean dominance; range of the seeds",
        lines=drawn,
        domain=(0.0, 1.0),
    )


def _redirected_picture(found: Directions) -> str:
    redirected, names = found.redirected["neutral"], protocol.ACTIVE_PROFILES
    pooled = redirected.pooled
    low, mean, high = pooled.min(axis=0), pooled.mean(axis=0), pooled.max(axis=0)
    return plots.bars(
        "Negative among the memories that took over",
        labels=names,
        series={
            "here, pooled": mean.tolist(),
            "here, mean of runs": [float(np.nanmean(redirected.share(name))) for name in names],
            "theirs, pooled": [redirections.SHARES[name] for name in names],
        },
        intervals={"here, pooled": list(zip(low.tolist(), high.tolist(), strict=True))},
        y="share; range of the seeds",
    )


def _specificity_picture(found: Directions) -> str:
    shown = {
        f"{profile}, {state}": (found.differences[f"term on less off, {profile}, {state}"], theirs)
        for (profile, state), theirs in specificity.TERM.items()
    }
    return plots.bars(
        "What the specificity term adds to overgeneral recall",
        labels=list(shown),
        series={
            "here": [one.mean.value for one, _ in shown.values()],
            "theirs": [float(theirs) for _, theirs in shown.values()],
        },
        intervals={"here": [(one.mean.low, one.mean.high) for one, _ in shown.values()]},
        y="difference; 95 % over cues",
    )
