"""What comparing two runs gives: values, as JSON or as words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from simulation.analysis.wording import summary

if TYPE_CHECKING:
    from simulation.analysis.causes import Cause
    from simulation.analysis.counterfactual import Counterfactual


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two runs."""

    path: str
    run_id: str
    scenario_name: str
    scenario_sha256: str
    seed: int
    engine_version: str
    encoder: str
    encoder_sha256: str | None
    status: str
    horizon: int
    last_tick: int
    only_personas: tuple[str, ...]  # that the other run does not have
    only_targets: tuple[str, ...]
    parent_run_id: str | None  # that it was forked from
    forked_at_tick: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputDifference:
    """What one run put before a persona in a tick and the other did not.

    kind: `feed` (author and text of an item) or `memory` (text of a recalled memory).  only: what
    stands in one run alone, in its order.  reordered: the same things in another order or with
    other scores, though neither has one of its own.
    """

    kind: str
    only: tuple[tuple[str, ...], tuple[str, ...]]
    reordered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first thing that differs between two runs.

    kind: `belief` (values are the beliefs), `turn` (beliefs agree so far, an action or a text
    does not), or `state` (both agree and the state digest does not).
    turns: what the persona did in that tick, in each run; None where it took no turn.
    changes: the belief's changes in that tick, in each run, with their causes.
    inputs: how what the persona saw and recalled in that tick differs; empty if it does not.
    """

    kind: str
    tick: int
    persona_id: str | None = None
    target: str | None = None
    values: tuple[float, float] | None = None
    personas: int = 0  # that differ in that tick
    turns: tuple[dict[str, Any] | None, dict[str, Any] | None] = (None, None)
    changes: tuple[list[dict[str, Any]], list[dict[str, Any]]] = field(
        default_factory=lambda: ([], [])
    )
    inputs: tuple[InputDifference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDifference:
    """Mean belief over the personas of both runs; difference is second minus first."""

    tick: int
    target: str
    means: tuple[float, float]
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefDifference:
    """One persona's belief at the last common tick; difference is second minus first."""

    persona_id: str
    target: str
    values: tuple[float, float]
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs side by side, over their common ticks, personas and targets.

    same_state: equal state digests at every common tick and as many ticks; None without digests.
    different_personas: common personas who are told different things about themselves.
    same_graph: equal follows at the start.
    settings: dotted key: value in each run, None where it has none.
    causes: all that can be why they part; empty when they do not.
    visible: the first belief that differs by more than 1e-9; None if none does.
    largest: of personas who are the same person in both runs.
    actions: action: turns in each run up to the last common tick.
    counterfactual: of a run and its fork, or two forks of one run, that part: how the difference
    went on through the graph.
    """

    sides: tuple[Side, Side]
    same_scenario: bool
    same_seed: bool
    same_versions: bool
    same_state: bool | None
    first_different_digest: int | None
    different_personas: int
    same_graph: bool
    settings: dict[str, tuple[Any, Any]]
    common_ticks: int
    common_personas: int
    common_targets: tuple[str, ...]
    divergence: Divergence | None
    causes: tuple[Cause, ...]
    visible: Divergence | None
    means: tuple[MeanDifference, ...]
    largest: tuple[BeliefDifference, ...]
    actions: dict[str, tuple[int, int]]
    counterfactual: Counterfactual | None

    @property
    def identical(self) -> bool:
        """Whether nothing that a run computes differs, in runs of equal length."""
        lengths = {side.last_tick for side in self.sides}
        names = any(side.only_personas or side.only_targets for side in self.sides)
        return self.divergence is None and len(lengths) == 1 and not names

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {"identical": self.identical, **asdict(self)}

    def summary(self) -> list[str]:
        """Return the comparison as lines for people."""
        return summary(self)
