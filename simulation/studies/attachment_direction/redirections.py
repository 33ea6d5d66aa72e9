"""E.7: memories that take over an active search for a neutral goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.recall import PATHS
from simulation.studies import intervals, recalling
from simulation.studies.attachment_direction import protocol
from simulation.studies.attachment_direction.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike

    from simulation.rng import FloatArray
    from simulation.studies.attachment_direction.sampling import Setting
    from simulation.studies.intervals import Interval

PART: Final = "E.7"
SHARES: Final = {"anxious": 0.63, "secure": 0.59, "avoidant": 0.51}
COUNTS: Final = {"anxious": 349, "secure": 102, "avoidant": 233}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Redirected:
    """Redirections of runs: (S, P, N) seeds, profiles of `ACTIVE_PROFILES`, runs.

    count: of memories that took over.  bad: of those, negative ones.
    """

    count: FloatArray
    bad: FloatArray

    @property
    def pooled(self) -> FloatArray:
        """Share of negative ones among all of a seed and profile, (S, P); NaN where none is."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.bad.sum(axis=2) / self.count.sum(axis=2))

    @property
    def totals(self) -> FloatArray:
        """Number of redirections of a seed and profile, (S, P)."""
        return np.asarray(self.count.sum(axis=2))

    def share(self, profile: str) -> FloatArray:
        """Return the share of negative ones of each run, (S, N); NaN where none took over."""
        who = protocol.ACTIVE_PROFILES.index(profile)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.bad[:, who] / self.count[:, who])

    def difference(self, one: str, other: str) -> Interval | None:
        """Return a mean difference of shares over runs in which both were redirected.

        None where there is no such run. Runs of one goal and number are drawn together.
        """
        values = self.share(one) - self.share(other)
        there = ~np.isnan(values)
        if not there.any():
            return None
        runs = np.broadcast_to(np.arange(values.shape[1]), values.shape)
        return intervals.bootstrap(
            values[there], _mean, clusters=runs[there], purpose=f"redirected:{one}:{other}"
        )


def redirect(setting: Setting, runs: int, state: ArrayLike) -> Redirected:
    """Let each profile search for each goal. runs: a goal, profile and seed.

    setting: its personalities are those of `ACTIVE_PROFILES`.  state: (3,) of all.
    """
    profiles = len(protocol.ACTIVE_PROFILES)
    goals = [goal for goal in protocol.GOALS for _ in range(runs)]
    streams = [f"{goal}:{run}" for goal in protocol.GOALS for run in range(runs)]
    bad = setting.bank.corpus.affect[:, 0] < protocol.NEGATIVE
    counts, negative = [], []
    for seed in setting.seeds:
        asked = recalling.ask(
            setting.bank,
            personas=np.repeat(np.arange(profiles), len(goals)),
            cues=goals * profiles,
            streams=streams * profiles,
            state=state,
        )
        found, _ = setting.minds(seed).retrieve(asked)
        took_over = found.path == PATHS.index("redirect")
        shape = (profiles, len(goals))
        counts.append(took_over.sum(axis=1).reshape(shape))
        negative.append((took_over & bad[found.position]).sum(axis=1).reshape(shape))
    return Redirected(count=np.array(counts, np.float64), bad=np.array(negative, np.float64))


def claims(states: Mapping[str, Redirected]) -> Iterator[Claim]:
    """Yield the source's orders in the neutral state: pooled, as it has them, then by run.

    Last, what distress does. The source names no state, and this was added when the neutral one
    had been seen to miss an order: it is told and not judged.
    """
    found, distressed = states["neutral"], states["distress"]
    names = protocol.ACTIVE_PROFILES
    share = dict(zip(names, _pooled(found), strict=True))
    total = dict(zip(names, found.totals.mean(axis=0), strict=True))
    yield Claim(
        part=PART,
        text="negative share of redirected memories, pooled",
        found=_shown(share, found.pooled),
        target="anxious > secure > avoidant",
        holds=bool(share["anxious"] > share["secure"] > share["avoidant"]),
        theirs=", ".join(f"{name} {SHARES[name]}" for name in names),
    )
    yield Claim(
        part=PART,
        text="number of redirections, a seed",
        found=_shown(total, found.totals, digits=0),
        target="anxious > avoidant > secure",
        holds=bool(total["anxious"] > total["avoidant"] > total["secure"]),
        theirs=", ".join(f"{name} {COUNTS[name]}" for name in names),
    )
    yield from _by_run(found)
    yield Claim(
        part=PART,
        text="negative share of redirected memories, pooled, in distress",
        found=_shown(dict(zip(names, _pooled(distressed), strict=True)), distressed.pooled),
        target="",
        holds=None,
    )


def _pooled(found: Redirected) -> FloatArray:
    """Return the share of negative ones over all seeds, (P,)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(found.bad.sum(axis=(0, 2)) / found.totals.sum(axis=0))


def _by_run(found: Redirected) -> Iterator[Claim]:
    for one, other in (("anxious", "secure"), ("secure", "avoidant"), ("anxious", "avoidant")):
        apart = found.difference(one, other)
        yield Claim(
            part=PART,
            text=f"negative share of redirected memories, by run, {one} less {other}",
            found="no run" if apart is None else apart.words(),
            target="above 0",
            holds=apart is not None and apart.low > 0.0,
        )


def _shown(values: dict[str, float], seeds: FloatArray, digits: int = 3) -> str:
    return ", ".join(
        f"{name} {value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
        for (name, value), low, high in zip(
            values.items(), seeds.min(axis=0), seeds.max(axis=0), strict=True
        )
    )


def _mean(values: FloatArray) -> float:
    return float(values.mean())
