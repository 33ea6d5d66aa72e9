"""What a run on language models will take: calls, tokens, money and time, each from low to high.

The run is played with nobody asked, in worlds that differ in what the models say. In one they say
as little as they can, and nobody does anything; in another everybody publishes at every turn as
much as an answer holds, and beliefs swing so far that every turn ends in a reflection. All have
the turns, probes and surveys of the real run, since those do not depend on any answer, and the
engine renders their prompts. The real run lies between these two. In a third the rule model acts,
which shows where to look within the range.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from simulation.calls.budget import PICO
from simulation.calls.exchange import TEMPLATE_TOKENS
from simulation.models.targets import targets
from simulation.planning import measures
from simulation.planning.measures import Sums
from simulation.planning.stage import OneVector, stage
from simulation.planning.tokens import Range
from simulation.planning.worlds import World, ordinary, quiet, worded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simulation.engine import Engine
    from simulation.models.targets import Target
    from simulation.planning.tally import Tally
    from simulation.scenario import Loaded

LATENCY: Final = Range(low=1.0, high=5.0)
"""Seconds that one answer is taken to need."""

_ONE_A_TURN: Final = "reflection"
_PERHAPS_NEVER: Final = "controller"  # the gate may answer every step of a search

Verdict = Literal["enough", "perhaps enough", "not enough"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one purpose, or all, takes of one model, or of all.

    expected: US dollars if the models act as the rule model does; `cost_usd` are the bounds of
    whatever they do. Both are None where no price is known.
    """

    purpose: str
    model: str
    host: str
    calls: Range
    input_tokens: Range
    output_tokens: Range
    cost_usd: Range | None
    expected: Range | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit of the budget and whether it covers a run.

    needed: what has to be free for the whole run to go through; the high end counts the most that
    the last call may take, since that is set aside before it is sent.
    """

    name: str
    limit: float
    needed: Range
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimate. turns, personas, ticks: of the run.  seconds: None where nothing is asked.

    lines: per model and purpose; total: None where nothing is asked.  rendered: prompts measured.
    """

    scenario: str
    seed: int
    personas: int
    ticks: int
    turns: int
    rendered: int
    lines: tuple[Line, ...]
    total: Line | None
    seconds: Range | None
    concurrency: int
    budget: tuple[Limit, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        return asdict(self)


def estimate(
    loaded: Loaded,
    *,
    seed: int | None = None,
    on_tick: Callable[[int, int], None] | None = None,
) -> Estimate:
    """Return what a run of the scenario takes; nothing is sent, no key is needed.

    on_tick: called with how many ticks of all worlds are played, and of how many.

    Raises:
        ScenarioError: something in the scenario or its files cannot be used.
        UsageError: the seed cannot be used.
    """
    scenario, found = loaded.scenario, targets(loaded)
    if not found:
        return _nothing(loaded, stage(loaded, seed, {}, encoder=OneVector(0.0)))
    step = _counter(3 * scenario.horizon, on_tick)
    low = quiet(loaded, seed, found, step, measures.least)
    usual = ordinary(loaded, seed, found, step, measures.ordinary_least, measures.ordinary_most)
    high = worded(loaded, seed, found, step, measures.most)
    lines = tuple(_lines(found, low, usual, high))
    total = _total(lines)
    return Estimate(
        scenario=scenario.name,
        seed=low.engine.seed,
        personas=low.engine.world.personas,
        ticks=scenario.horizon,
        turns=low.turns,
        rendered=sum(tally.rendered for world in (low, usual, high) for tally in world.tallies),
        lines=lines,
        total=total,
        seconds=_seconds(loaded, total, low, high),
        concurrency=scenario.calls.concurrency,
        budget=tuple(_limits(loaded, total, high)),
        notes=tuple(_notes(loaded, found)),
    )


def _counter(ticks: int, tell: Callable[[int, int], None] | None) -> Callable[[], None]:
    """Return what is called after each tick, and tells how many that were."""
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if tell is not None:
            tell(done, ticks)

    return step


def _lines(found: Sequence[Target], low: World, usual: World, high: World) -> Iterator[Line]:
    """Yield a line per model and purpose, in the order in which the purposes came up."""
    for target, few, some, many in zip(
        found, low.tallies, usual.tallies, high.tallies, strict=True
    ):
        reflects = (_ONE_A_TURN,) if "frontier" in target.tiers else ()
        for purpose in dict.fromkeys((*few.sums, *some.sums, *many.sums, *reflects)):
            (least,), expected, (most,) = few.of(purpose), some.of(purpose), many.of(purpose)
            if purpose == _PERHAPS_NEVER:
                least = Sums()
            if purpose == _ONE_A_TURN:
                most = _one_a_turn(most, many.calls(purpose), high.turns)
            yield _line(purpose, target, least, most, expected)


def _one_a_turn(sums: Sums, seen: int, turns: int) -> Sums:
    """Return the sums of as many reflections as there are turns, from those that were seen."""
    scaled = Sums()
    scaled.add(sums, turns / seen if seen else 0.0)
    return scaled


def _line(purpose: str, target: Target, few: Sums, many: Sums, expected: tuple[Sums, ...]) -> Line:
    priced = target.price is not None
    cost = Range(low=few.picousd / PICO, high=many.picousd / PICO)
    usual = Range(low=expected[0].picousd / PICO, high=expected[1].picousd / PICO)
    return Line(
        purpose=purpose,
        model=target.name,
        host=target.host,
        calls=Range(low=round(few.calls), high=round(many.calls)),
        input_tokens=Range(low=int(few.input_tokens), high=math.ceil(many.input_tokens)),
        output_tokens=Range(low=int(few.output_tokens), high=math.ceil(many.output_tokens)),
        cost_usd=cost if priced else None,
        expected=usual if priced else None,
    )


def _total(lines: Sequence[Line]) -> Line:
    zero = Range(low=0, high=0)
    return Line(
        purpose="all",
        model="all",
        host="all",
        calls=sum((line.calls for line in lines), zero),
        input_tokens=sum((line.input_tokens for line in lines), zero),
        output_tokens=sum((line.output_tokens for line in lines), zero),
        cost_usd=_sum_of([line.cost_usd for line in lines]),
        expected=_sum_of([line.expected for line in lines]),
    )


def _sum_of(costs: Iterable[Range | None]) -> Range | None:
    """Return the sum of costs, None where one is not known."""
    total = Range(low=0.0, high=0.0)
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def _seconds(loaded: Loaded, total: Line, low: World, high: World) -> Range:
    """Return how long the models take: batch after batch, so many calls of each at a time."""
    calls, at_once = loaded.scenario.calls, loaded.scenario.calls.concurrency

    def rounds(world: World, again: int) -> int:
        batches = [batch for tally in world.tallies for batch in tally.batches]
        return sum(math.ceil(b.calls * (1 + again * b.again) / at_once) for b in batches)

    def waiting(count: float) -> float:
        pace = calls.requests_per_minute
        return 0.0 if pace is None else 60.0 * count / pace

    return Range(
        low=max(rounds(low, 0) * LATENCY.low, waiting(total.calls.low)),
        high=max(rounds(high, 1) * LATENCY.high, waiting(total.calls.high)),
    )


def _limits(loaded: Loaded, total: Line, high: World) -> Iterator[Limit]:
    """Yield each limit of the budget with what a run needs."""
    budget = loaded.scenario.budget
    last = [_set_aside(tally) for tally in high.tallies]
    wanted = (
        ("usd", budget.usd, total.cost_usd, max(usd for usd, _ in last)),
        ("calls", budget.calls, total.calls, 0),
        (
            "tokens",
            budget.tokens,
            total.input_tokens + total.output_tokens,
            max(n for _, n in last),
        ),
    )
    for name, limit, used, spare in wanted:
        if limit is not None and used is not None:
            needed = Range(low=used.low, high=used.high + spare)
            yield Limit(name=name, limit=limit, needed=needed, verdict=_verdict(limit, needed))


def _set_aside(tally: Tally) -> tuple[float, int]:
    """Return the US dollars and tokens that are set aside for the largest call (`Exchange`)."""
    read, written = tally.largest + TEMPLATE_TOKENS, tally.target.spec.max_tokens
    tariff = tally.target.tariff
    picousd = 0 if tariff is None else tariff.maximum(read, written)
    return picousd / PICO, read + written


def _verdict(limit: float, needed: Range) -> Verdict:
    if limit >= needed.high:
        return "enough"
    return "perhaps enough" if limit >= needed.low else "not enough"


def _notes(loaded: Loaded, found: Sequence[Target]) -> Iterator[str]:
    for target in found:
        if target.price is None and not loaded.access.no_price:
            yield (
                f"no price is known for {target.name} at {target.host}, so there is no cost; give "
                f"{target.place}.price, or add --no-price to run without one"
            )


def _nothing(loaded: Loaded, engine: Engine) -> Estimate:
    """Return the estimate of a scenario that is all by rule."""
    return Estimate(
        scenario=loaded.scenario.name,
        seed=engine.seed,
        personas=engine.world.personas,
        ticks=loaded.scenario.horizon,
        turns=0,
        rendered=0,
        lines=(),
        total=None,
        seconds=None,
        concurrency=loaded.scenario.calls.concurrency,
        budget=(),
        notes=(),
    )
