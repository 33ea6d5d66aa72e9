"""What the study claims: each number beside its target, and whether it was reached.

Where a number differs by seed, the worst seed is judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies.dam.unit import CAP, HELD
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.studies.dam.unit import Flip
    from simulation.studies.dam.validation import Grown, Validation

RATIO: Final = 1.0 / 3.0
AWAY: Final = 0.10
COMPRESSION: Final = 0.706
LATE: Final = 0.05
LOSS: Final = 0.02
_ROUNDING: Final = 1e-12


def verdicts(found: Validation) -> tuple[Verdict, ...]:
    """Return all claims, in the order of the issue."""
    return (*_unit(found), *_settling(found), *_growth(found), _heard(found), *_flips(found))


def _unit(found: Validation) -> Iterator[Verdict]:
    rise = np.diff(found.accumulated.confidence[0, :, 0])
    last = found.accumulated.confidence[0, -1, 0]
    yield Verdict(
        claim="equal evidence accumulates: the confidence never falls back",
        found=f"0.15 to {last:.2f} over 30 observations",
        target="no step down",
        reached=bool(rise.min() >= -_ROUNDING),
    )
    turn = found.turn
    step, excess = np.abs(turn.steps).max(), (np.abs(turn.steps) - turn.bound).max()
    yield Verdict(
        claim="a contradiction moves smoothly: largest step of the confidence",
        found=f"{step:.3f}, where overwriting would jump {turn.overwritten:.2f}",
        target="within S / (W + S) of the distance to what was said",
        reached=bool(excess <= _ROUNDING),
    )
    after = found.intensity[:, 4]
    yield Verdict(
        claim="strength shows: confidence after five praises of strength .2, .4, .6, .8, 1",
        found=", ".join(f"{value:.2f}" for value in after),
        target="rises with strength",
        reached=bool((np.diff(found.intensity, axis=0) > 0).all()),
    )


def _settling(found: Validation) -> Iterator[Verdict]:
    streams = len(found.coffee[0].away)
    ratio = max(one.ratio for one in found.coffee)
    away = max(one.median_away for one in found.coffee)
    yield Verdict(
        claim=f"coffee (taste), {streams} streams: change after the 15th as a share of before",
        found=f"{ratio:.3f}",
        target=f"at most {RATIO:.3f}",
        reached=ratio <= RATIO,
    )
    yield Verdict(
        claim="coffee (taste): distance of the median stream from its end, from the 15th on",
        found=f"{away:.3f}",
        target=f"at most {AWAY:.2f}",
        reached=away <= AWAY,
    )
    alone, opposed, alike = zip(*found.separations, strict=True)
    mixed = max(one.mixed for one in alone)
    yield Verdict(
        claim="taste and packaging stay separate as evidence comes in: people with two units",
        found=f"{min(one.apart for one in alone):.0%}, {mixed:.1g} off each side watched alone",
        target="100%, and not off at all",
        reached=mixed <= _ROUNDING and all(one.apart == 1.0 for one in alone),
    )
    yield Verdict(
        claim="and with merging after every observation: people with two units",
        found=f"{min(one.apart for one in opposed):.0%} where the sides differ, "
        f"{min(one.apart for one in alike):.0%} where they agree",
        target="alike units of one object may merge",
        reached=None,
    )


def _growth(found: Validation) -> Iterator[Verdict]:
    every = (*found.main, *found.others, *found.real)
    for world in dict.fromkeys(one.world for one in every):
        yield from _grown([one for one in every if one.world == world])


def _grown(rows: Sequence[Grown]) -> Iterator[Verdict]:
    world = rows[0].world
    least = min(one.growth.compression for one in rows)
    late = max(one.growth.late for one in rows)
    loss = max(one.loss for one in rows)
    sizes = [int(one.growth.units[-1]) for one in rows]
    span = str(sizes[0]) if len(sizes) == 1 else f"{min(sizes)}-{max(sizes)}"
    yield Verdict(
        claim=f"{world}: compression",
        found=f"{least:.1%} ({span} units of {rows[0].observations:,})",
        target=f"at least {COMPRESSION:.1%}; the seed: 63.7-70.6%",
        reached=least >= COMPRESSION,
    )
    yield Verdict(
        claim=f"{world}: growth over the last 200 of 500 dialogues (two fifths)",
        found=f"{late:+.1%}",
        target=f"at most {LATE:.0%}; the seed: steady at 130-140 units",
        reached=late <= LATE,
    )
    ours = min(recall.ours for one in rows for recall in one.recalls[:1])
    yield Verdict(
        claim=f"{world}: recall@5, by name",
        found=f"{ours:.3f}, {-loss:+.3f} beside the better store without updates",
        target=f"at least -{LOSS:.2f} beside it",
        reached=loss <= LOSS,
    )


def _heard(found: Validation) -> Verdict:
    one = found.heard
    return Verdict(
        claim=f"{one.sentences:,} sentences heard by rule, without labels: questions answered",
        found=f"{one.answered:.3f}, with {one.units} units; side found in {one.found:.0%}",
        target="the steps fit together",
        reached=None,
    )


def _flips(found: Validation) -> Iterator[Verdict]:
    for held in HELD:
        capped = [
            one for seed in found.flips for one in seed if (one.held, one.cap) == (held, CAP)
        ]
        plain = [one for seed in found.flips for one in seed if one.held == held and one.cap > CAP]
        yield Verdict(
            claim=f"a change of mind after {held} consistent observations: until the sign follows",
            found=f"with the cap {capped[0].even} (median of streams {_median(capped):g}); "
            f"without it {plain[0].even} ({_median(plain):g})",
            target="the cap never delays it, and hastens it once W would exceed 12",
            reached=_helps(capped, plain, held=held),
        )


def _helps(capped: Sequence[Flip], plain: Sequence[Flip], *, held: int) -> bool:
    if held < max(HELD):
        return all(one.even <= other.even for one, other in zip(capped, plain, strict=True))
    return all(one.even < other.even for one, other in zip(capped, plain, strict=True))


def _median(flips: Sequence[Flip]) -> float:
    return float(np.median(np.concatenate([one.drawn for one in flips])))
