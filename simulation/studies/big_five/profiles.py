"""Who takes part: Big Five profiles, drawn like real people or from a user's file of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.errors import UsageError
from simulation.mind.traits import BIG_FIVE_TRAITS
from simulation.personality import joint, questionnaires
from simulation.personality.figures import FIGURES
from simulation.rng import Streams, stream_keys

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.personality.questionnaires import Scored
    from simulation.rng import FloatArray

KIND: Final = "big_five"
TRAITS: Final = ("O", "C", "E", "A", "N")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profiles:
    """P people. ids: their names.  traits: (P, 5) in [0, 1], in the order of `TRAITS`."""

    ids: tuple[str, ...]
    traits: FloatArray


def answers(data: Path, *, least: int) -> Scored:
    """Return the people of a file of raw IPIP-FFM answers.

    Raises:
        InputError: the file cannot be used.
        UsageError: it holds answers to another questionnaire, too few people, or people who do not
            differ in a trait.
    """
    scored = questionnaires.read(data)
    if scored.kind != KIND:
        raise UsageError(
            f"{data} holds answers to the ECR (columns Q1 to Q36), which are scored as "
            "attachment; the study big-five needs answers to the IPIP-FFM (EXT1 to OPN10, or "
            "E1 to O10)"
        )
    if len(scored.ids) < least:
        told = ", ".join(f"{count} {reason}" for reason, count in scored.dropped.items())
        raise UsageError(
            f"{data} holds {len(scored.ids)} people who answered all items ({told}); the study "
            f"needs at least {least}"
        )
    alike = [
        t for t, spread in zip(TRAITS, np.ptp(scored.traits, axis=0), strict=True) if not spread
    ]
    if alike:
        raise UsageError(
            f"{data}: all {len(scored.ids):,} people who answered all items have the same "
            f"{', '.join(alike)}; a trait in which nobody differs can be linked to nothing"
        )
    return scored


def sampled(count: int, *, seed: int, scored: Scored | None) -> Profiles:
    """Return people drawn by a seed, all traits of one of them together.

    scored: whom to draw from, without replacement, all of them where they are fewer; default, the
    joint structure of real people (`simulation.personality.joint`).
    """
    if scored is not None:
        keys = stream_keys(["respondents"])
        lots = Streams(seed).bits("profiles", tick=0, keys=keys, index=np.arange(len(scored.ids)))
        chosen = np.argsort(lots, kind="stable")[:count].tolist()
        ids = tuple(scored.ids[i] for i in chosen)
        return Profiles(ids=ids, traits=scored.traits[chosen])
    ids = tuple(f"s{i:04d}" for i in range(count))
    traits = joint.draw(
        FIGURES[KIND], BIG_FIVE_TRAITS, streams=Streams(seed), keys=stream_keys(ids)
    )
    return Profiles(ids=ids, traits=traits)
