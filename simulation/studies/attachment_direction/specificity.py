"""E.6: overgeneral recall where one reader's labels retrieve and another's count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.rng import Streams, stream_keys
from simulation.scenario.persmem import Switches
from simulation.studies import corpus
from simulation.studies.attachment_direction import protocol
from simulation.studies.attachment_direction.recall import VECTORS
from simulation.studies.attachment_direction.sampling import rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.attachment_direction.claims import Claim, Difference, Flips
    from simulation.studies.attachment_direction.sampling import Setting

    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]

PART: Final = "E.6"
TERM: Final = {
    ("fearful", "neutral"): "+.0422",
    ("fearful", "distress"): "+.0770",
    ("avoidant", "distress"): "+.0394",
    ("anxious", "distress"): "+.0370",
}
"""The source's differences between the specificity term on and off, p = 1e-5."""
ABOVE_SECURE: Final = {"anxious": "+.0272", "avoidant": "+.0393", "fearful": "+.0672"}
"""The source's differences to secure under distress, p <= 4e-5."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crossed:
    """What the profiles sampled with the specificity term on and off, by state: (S, P, C, L).

    second: (K,) the other reader's labels.
    """

    on: dict[str, IntArray]
    off: dict[str, IntArray]
    second: BoolArray

    @classmethod
    def of(cls, setting: Setting, cues: tuple[str, ...]) -> Crossed:
        """Sample by the first reader's labels."""
        without = replace(setting, vectors=VECTORS, switches=Switches(S=False))
        return cls(
            on={s: setting.sampled(cues, state) for s, state in protocol.STATES.items()},
            off={s: without.sampled(cues, state) for s, state in protocol.STATES.items()},
            second=corpus.second(setting.bank.corpus).overgeneral,
        )

    def term(self, profile: str, state: str, labels: BoolArray | None = None) -> FloatArray:
        """Return how much the term adds to overgeneral recall, (S, C).

        labels: (K,) that count; default, the second reader's.
        """
        counted = self.second if labels is None else labels
        who = protocol.PROFILES.index(profile)
        on, off = (rate(counted, found[state][:, who]) for found in (self.on, self.off))
        return on - off

    def above_secure(self, profile: str) -> FloatArray:
        """Return how much more than secure a profile recalls overgenerally in distress, (S, C)."""
        found = rate(self.second, self.on["distress"])
        secure, who = (protocol.PROFILES.index(name) for name in ("secure", profile))
        return np.asarray(found[:, who] - found[:, secure])


def differences(crossed: Crossed, flips: Flips) -> dict[str, Difference]:
    """Return all differences of Table 15 and those that it leaves out, by what they are."""
    found = {}
    for profile in protocol.PROFILES:
        for state in protocol.STATES:
            name = f"term on less off, {profile}, {state}"
            found[name] = flips.difference(crossed.term(profile, state), purpose=name)
    for profile in ABOVE_SECURE:
        name = f"{profile} less secure, distress"
        found[name] = flips.difference(crossed.above_secure(profile), purpose=name)
    return found


def claims(found: dict[str, Difference]) -> Iterator[Claim]:
    """Yield the source's claims."""
    for (profile, state), theirs in TERM.items():
        name = f"term on less off, {profile}, {state}"
        yield found[name].claim(PART, f"overgeneral recall, {name}", theirs=theirs)
    for profile, theirs in ABOVE_SECURE.items():
        name = f"{profile} less secure, distress"
        yield found[name].claim(PART, f"overgeneral recall, {name}", theirs=theirs)


def mistaken(labels: BoolArray, ids: tuple[str, ...], share: float) -> BoolArray:
    """Return labels of which a share is turned round, the nearest whole number of them.

    labels: (K,).  ids: K names of memories, by which chance chooses.
    """
    uniform = Streams(0).uniform(
        "attachment-direction:mistakes", tick=0, keys=stream_keys(ids), index=0
    )
    turned = np.zeros(len(labels), np.bool_)
    turned[np.argsort(uniform, kind="stable")[: round(share * len(labels))]] = True
    return np.asarray(labels ^ turned)
