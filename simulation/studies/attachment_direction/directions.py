"""All that is measured over one set of memories with one map of gains, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulation.mind.traits import ATTACHMENT_TRAITS
from simulation.studies.attachment_direction import protocol, recall, redirections, specificity
from simulation.studies.attachment_direction.claims import Flips
from simulation.studies.attachment_direction.recall import PROBES, VECTORS, Measures
from simulation.studies.attachment_direction.sampling import Setting
from simulation.studies.attachment_direction.specificity import Crossed

if TYPE_CHECKING:
    from simulation.rng import FloatArray
    from simulation.studies.attachment_direction.claims import Claim, Difference
    from simulation.studies.attachment_direction.redirections import Redirected
    from simulation.studies.recalling import Bank


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is done.

    seeds, draws, runs, flips: as in `protocol`.  others: how many of the other sets and maps are
    looked at besides.
    """

    seeds: tuple[int, ...] = protocol.SEEDS
    draws: int = protocol.DRAWS
    runs: int = protocol.RUNS
    flips: int = protocol.FLIPS
    others: int = 3


QUICK = Size(
    seeds=protocol.QUICK_SEEDS,
    draws=protocol.QUICK_DRAWS,
    runs=protocol.QUICK_RUNS,
    flips=protocol.QUICK_FLIPS,
    others=1,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Directions:
    """What was found.

    cues, moods: C.  profiles: by state.  sweeps: by the trait that moves, then by state.  probes,
    bias: by probes, each over the profiles; the bias to the bad is (P, 8).  crossed, differences:
    of two readers' labels.  redirected: memories that took over, by state.
    """

    cues: tuple[str, ...]
    moods: tuple[str, ...]
    profiles: dict[str, Measures]
    sweeps: dict[int, dict[str, Measures]]
    probes: dict[str, Measures]
    bias: dict[str, FloatArray]
    crossed: Crossed
    differences: dict[str, Difference]
    redirected: dict[str, Redirected]
    claims: tuple[Claim, ...]


def measure(bank: Bank, gains: protocol.Gains, size: Size) -> Directions:
    """Measure everything."""

    def setting(vectors: FloatArray) -> Setting:
        return Setting(bank=bank, vectors=vectors, gains=gains, seeds=size.seeds, draws=size.draws)

    cues, moods = protocol.cues(bank.corpus)
    everyone = setting(VECTORS)
    flips = Flips(len(cues), draws=size.flips)
    of_probes = Flips(len(protocol.NEUTRAL_PROBES), draws=size.flips)
    crossed = Crossed.of(everyone, cues)
    profiles = {s: Measures.of(bank.corpus, drawn) for s, drawn in crossed.on.items()}
    sweeps = {
        trait: recall.by_state(setting(recall.sweep_vectors(trait)), cues)
        for trait in range(len(ATTACHMENT_TRAITS))
    }
    probes = {
        name: Measures.of(bank.corpus, everyone.sampled(texts, protocol.STATES["neutral"]))
        for name, texts in PROBES.items()
    }
    differences = specificity.differences(crossed, flips)
    active = [protocol.PROFILES.index(name) for name in protocol.ACTIVE_PROFILES]
    searching = setting(VECTORS[active])
    redirected = {
        name: redirections.redirect(searching, size.runs, state)
        for name, state in protocol.STATES.items()
    }
    return Directions(
        cues=cues,
        moods=moods,
        profiles=profiles,
        sweeps=sweeps,
        probes=probes,
        bias={n: everyone.bias(t, protocol.STATES["neutral"]) for n, t in PROBES.items()},
        crossed=crossed,
        differences=differences,
        redirected=redirected,
        claims=(
            *recall.probe_claims(probes, of_probes),
            *recall.sweep_claims(sweeps, flips),
            *recall.profile_claims(profiles, moods, flips),
            *specificity.claims(differences),
            *redirections.claims(redirected),
        ),
    )
