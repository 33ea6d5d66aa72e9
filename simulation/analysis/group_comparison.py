"""What comparing groups of runs gives: values, as JSON or as words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from simulation.analysis.group_wording import summary

if TYPE_CHECKING:
    from simulation.analysis.measures import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A group of runs. letter: A, B, ….  name: how it was asked for.

    runs, seeds: of those compared, in order of the seeds.  left_out: path: why.  differing: keys
    of parameters that are not the same in all its runs.
    """

    letter: str
    name: str
    runs: tuple[str, ...]
    seeds: tuple[int, ...]
    left_out: dict[str, str]
    differing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TickDifference:
    """Means of the runs of two arms after a tick; difference is second minus first.

    low, high: 95 % t interval for this tick alone; None with fewer than two runs in an arm.
    """

    kind: Kind
    measure: str
    tick: int
    means: tuple[float, float]
    difference: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One measure of two arms at the last common tick (`end`) or over ticks 1 to it (`course`).

    course: the difference is the mean over the ticks.  sd: between the runs of each arm, None
    for one run.  noise: that, pooled over both arms.  effect_size: d_z or Hedges' g, as the
    contrast says.  p: of the permutation test; p_holm: corrected over all measures of its kind
    and all contrasts.  detectable: true difference that a t test on so many seeds finds in 80 of
    100 cases.  None for what cannot be known.
    """

    kind: Kind
    measure: str
    when: str
    means: tuple[float, float]
    difference: float
    low: float | None
    high: float | None
    sd: tuple[float | None, float | None]
    noise: float | None
    effect_size: float | None
    p: float | None
    p_holm: float | None
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two arms against each other.

    seeds: of the pairs; empty if runs are not paired.  unpaired: runs that have no partner and
    are left out of this contrast.  runs: compared, in each arm.  size_name: `d_z` or `Hedges' g`.
    test: how p-values are found.  smallest_p: the smallest that this test can give.
    settings: dotted key: its value in each arm, where both arms have one value that differs.
    """

    arms: tuple[str, str]
    paired: bool
    seeds: tuple[int, ...]
    unpaired: tuple[str, ...]
    runs: tuple[int, int]
    size_name: str
    test: str
    smallest_p: float
    settings: dict[str, tuple[Any, Any]]
    ticks: tuple[TickDifference, ...]
    end: tuple[Effect, ...]
    course: tuple[Effect, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupComparison:
    """Groups of runs, each against the first.

    common_ticks: last tick that all runs have.  targets: that all runs have.  only_some: targets
    that some runs lack.  tests: how many p-values of beliefs and of actions are corrected
    together.  notes: what to know before reading on.
    """

    arms: tuple[Arm, ...]
    common_ticks: int
    targets: tuple[str, ...]
    only_some: tuple[str, ...]
    tests: dict[str, int]
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self)

    def summary(self) -> list[str]:
        """Return the comparison as lines for people."""
        return summary(self)
