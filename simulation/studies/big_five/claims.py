"""What the study aims at, and whether it gets there.

The rules were written before anything was measured: a correlation is reached where the mean over
the samples is at least of the source's size and every sample has its sign; a figure of people is
reached where the mean over the samples lies in the range aimed at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies.big_five import linking
from simulation.studies.big_five.profiles import TRAITS
from simulation.studies.big_five.protocol import EVEN, FULL, HUMAN, MEASURES, NO_TRAIT
from simulation.studies.big_five.replicates import EIGHTEEN, TOLD
from simulation.studies.big_five.reporting import NOTED, THEIR_OGM, THEIRS, told
from simulation.studies.calibration import human
from simulation.studies.intervals import spread
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulation.rng import FloatArray
    from simulation.studies.big_five.replicates import Links, Replicate, Telling

NAMES: Final = {
    "O": "openness",
    "C": "conscientiousness",
    "E": "extraversion",
    "A": "agreeableness",
    "N": "neuroticism",
}
SAID: Final = {
    "valence": "recalled valence",
    "arousal": "recalled arousal",
    "overgeneral": "overgeneral memories recalled",
    "ogm": "overgeneral memories under distress",
}
NEUROTIC: Final = (-0.35, -0.15)  # -0.25 +- 0.10
WARM: Final = 0.18  # of extraversion and agreeableness, at most
VAGUE: Final = 0.061  # no proxy of overgenerality went beyond it in people, for any trait
SPEARMAN_BROWN: Final = {"N": -0.4, "E": 0.1, "A": 0.1}  # people's figures for 18 memories


def verdicts(
    done: Sequence[Replicate], links: Mapping[str, Links], tellings: Sequence[Telling]
) -> tuple[Verdict, ...]:
    """Return all claims."""
    return (
        *_sizes(links[FULL.name]),
        *_joint(done),
        *_controls(done, links),
        *_people(tellings),
    )


def people_figures() -> dict[tuple[str, str], str]:
    """Return the figures of real people in words, by measure and trait."""
    known = {}
    for one in human.FIGURES_OF_PEOPLE:
        words = f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"
        known[one.recalled, one.trait[0].upper()] = words if one.fitted else f"at most {VAGUE}"
    return known


def _sizes(full: Links) -> Iterator[Verdict]:
    for measure, trait in NOTED:
        theirs = THEIRS[FULL.name, measure, trait]
        found = full.of(measure, TRAITS.index(trait))
        held = full.of(measure, TRAITS.index(trait), held=True)
        size = found * np.sign(theirs)
        enough = int((size >= abs(theirs)).sum())
        yield Verdict(
            claim=f"{NAMES[trait]} and {SAID[measure]}",
            found=f"r = {told(found, f'{measure} {trait}')}; {enough} of {len(found)} samples "
            f"reach it; {held.mean():.3f} with the other traits held",
            target=f"{'at most' if theirs < 0 else 'at least'} {theirs:.3f} on average, "
            "the sign in every sample",
            reached=_judged(found, size.mean() >= abs(theirs) and (size > 0).all()),
            theirs=f"{theirs:.3f}",
        )


def _joint(done: Sequence[Replicate]) -> Iterator[Verdict]:
    """Yield whether their three correlations with valence can hold together."""
    which = [trait for measure, trait in NOTED if measure == "valence"]
    theirs = np.array([THEIRS[FULL.name, "valence", trait] for trait in which])
    found, wanted = [], []
    for one in done:
        traits = one.people.traits[:, [TRAITS.index(trait) for trait in which]]
        valence = one.measured[FULL.name].affect[:, 0]
        found.append(linking.needed(traits, linking.correlations(traits, valence)))
        wanted.append(linking.needed(traits, theirs))
    above = sum(share > 1.0 for share in wanted)
    yield Verdict(
        claim="share of recalled valence that N, E and A explain together",
        found=f"{spread(found)} over samples; the source's three figures at once would need "
        f"{spread(wanted)}, more than all of it in {above} of {len(wanted)}",
        target="",
        reached=None,
    )


def _controls(done: Sequence[Replicate], links: Mapping[str, Links]) -> Iterator[Verdict]:
    widths = [float(np.ptp(one.measured[NO_TRAIT.name].affect[:, 0])) for one in done]
    yield Verdict(
        claim="without traits all people recall the same valence",
        found=f"largest difference {max(widths):g}",
        target="0",
        reached=max(widths) == 0.0,
        theirs="0",
    )
    for condition in (FULL, NO_TRAIT, EVEN):
        means = [float(one.measured[condition.name].ogm.mean()) for one in done]
        yield Verdict(
            claim=f"overgeneral share under distress, {condition.name}",
            found=f"{spread(means)} over samples",
            target="",
            reached=None,
            theirs=f"{THEIR_OGM[condition.name]:.3f}",
        )
    for condition, measure, trait in ((NO_TRAIT, "ogm", "C"), (FULL, "arousal", "N")):
        found = links[condition.name].of(measure, TRAITS.index(trait))
        yield Verdict(
            claim=f"{NAMES[trait]} and {SAID[measure]}, {condition.name}",
            found=f"r = {told(found, f'{condition.name} {measure} {trait}')}",
            target="",
            reached=None,
            theirs=f"{THEIRS[condition.name, measure, trait]:.3f}",
        )


def _people(tellings: Sequence[Telling]) -> Iterator[Verdict]:
    two = _telling(tellings, HUMAN.name, TOLD)
    many = _telling(tellings, HUMAN.name, EIGHTEEN)
    known = people_figures()
    ranges = {"N": NEUROTIC, "E": (-WARM, WARM), "A": (-WARM, WARM)}
    for trait, (low, high) in ranges.items():
        found = two.links.of("valence", TRAITS.index(trait))
        yield Verdict(
            claim=f"human gains, two memories: {NAMES[trait]} and recalled valence",
            found=f"r = {told(found, f'two {trait}')}",
            target=f"from {low:g} to {high:g}",
            reached=_judged(found, low <= found.mean() <= high),
            theirs=f"people {known['valence', trait]}",
        )
    for one, measure in ((two, "overgeneral"), (many, "ogm")):
        for trait in ("C", "N"):
            yield _unlinked(one, measure, trait)
    for trait, theirs in SPEARMAN_BROWN.items():
        found = many.links.of("valence", TRAITS.index(trait))
        yield Verdict(
            claim=f"human gains, eighteen memories: {NAMES[trait]} and recalled valence",
            found=f"r = {told(found, f'eighteen {trait}')}",
            target="",
            reached=None,
            theirs=f"people about {theirs:g}, by Spearman and Brown's formula",
        )
    paper = _telling(tellings, FULL.name, TOLD)
    for trait in ranges:
        found = paper.links.of("valence", TRAITS.index(trait))
        yield Verdict(
            claim=f"paper gains, two memories: {NAMES[trait]} and recalled valence",
            found=f"r = {told(found, f'paper {trait}')}",
            target="",
            reached=None,
            theirs=f"people {known['valence', trait]}",
        )


def _unlinked(one: Telling, measure: str, trait: str) -> Verdict:
    found: FloatArray = one.links.of(measure, TRAITS.index(trait))
    deviation = float(one.spreads[:, MEASURES.index(measure)].mean())
    return Verdict(
        claim=f"human gains, {one.by}: {NAMES[trait]} and {SAID[measure]}",
        found=f"r = {told(found, f'{one.by} {measure} {trait}')}; their deviation over people "
        f"{deviation:.3f}",
        target=f"at most {VAGUE} either way, on average",
        reached=_judged(found, abs(found.mean()) <= VAGUE),
        theirs=f"people at most {VAGUE}",
    )


def _telling(tellings: Sequence[Telling], condition: str, by: str) -> Telling:
    return next(one for one in tellings if (one.condition, one.by) == (condition, by))


def _judged(found: FloatArray, reached: bool | np.bool_) -> bool | None:  # noqa: FBT001 - a verdict
    """Return whether a claim is reached; None where a sample has no correlation."""
    return None if np.isnan(found).any() else bool(reached)
