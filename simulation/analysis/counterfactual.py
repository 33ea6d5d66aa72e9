"""A fork beside its parent: who did something else first, and how the difference went on.

The same people with the same random streams live twice; whatever differs comes from what was set
anew. A persona is reached in the first tick in which it acts, believes or remembers otherwise;
what it saw otherwise in that tick says by whom it was reached, and so by how many hops.

Post ids count what was published before, so they differ although the post is the same: here a post
is known by its author and tick, an event of the scenario by its id.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.analysis import counterfactual_wording as wording
from simulation.analysis.twins import Feed, Twin
from simulation.errors import UsageError
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simulation.analysis.twins import Item

    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]

_FIRST = 10  # changed turns that are told
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTurn:
    """A turn of the first tick that differs. turns: in each run; None where it took none.

    beliefs: target: the belief after it in each run, where they differ.
    """

    persona_id: str
    turns: tuple[dict[str, Any] | None, dict[str, Any] | None]
    beliefs: dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A persona that lived otherwise, and how it came to that.

    tick: the first in which it did.  way: `setting` (nothing that it saw differs: what was set
    acts on it directly), `event` (of the scenario), `post` (of another persona that was reached
    before), or `ranking` (the same posts, chosen or ordered otherwise).  by: the event or the
    persona.
    hops: 0 for setting and event, one more than the persona's for a post, None for ranking.
    distance: follows between it and the nearest of hop 0; None where no path leads to it.
    """

    persona_id: str
    tick: int
    way: str
    by: str | None
    hops: int | None
    distance: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far the difference is at the end of a tick, in personas.

    new: reached in this tick.  reached: so far.  saw: have another feed in this tick; acted: did
    something else; remembered: wrote other memories; believed: hold another belief.
    hops: hop: how many of those reached so far.  difference: target: mean over all personas of
    fork minus parent.  size: the same of its absolute value.
    """

    tick: int
    new: int
    reached: int
    saw: int
    acted: int
    remembered: int
    believed: int
    hops: dict[int, int]
    difference: dict[str, float]
    size: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual:
    """Two runs of the same people and chance, parent first.

    shared: the last tick up to which the states are equal.  forked_at: the last tick that a fork
    has from its parent; None where neither is a fork of the other.  settings: dotted key: value in
    each run.  first: some of the turns that changed first.  changed: how many there are.
    ticks: from the first difference on.  reached: by tick and id.
    """

    paths: tuple[str, str]
    run_ids: tuple[str, str]
    personas: int
    shared: int
    forked_at: int | None
    last_tick: int
    settings: dict[str, tuple[Any, Any]]
    changed: int
    first: tuple[ChangedTurn, ...]
    ticks: tuple[Spread, ...]
    reached: tuple[Reached, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return it as lines for people."""
        return wording.lines(self)


def counterfactual(parent: Path | str, fork: Path | str) -> Counterfactual:
    """Return how a run differs from one that it shares its people and its chance with.

    parent, fork: their files. If the first is a fork of the second, they change places.

    Raises:
        UsageError: they are no such pair; see `paired`.
        RunFileError: a file cannot be read.
    """
    with RunFile.open(parent) as first, RunFile.open(fork) as second:
        return between(first, second)


def paired(first: RunFile, second: RunFile) -> bool:
    """Return whether two runs have the same people, the same start and the same chance."""
    starts = [
        run.query("SELECT state_digest FROM ticks WHERE tick = 0 AND state_digest <> ''").rows
        for run in (first, second)
    ]
    same_seed = first.run.header.seed == second.run.header.seed
    return same_seed and bool(starts[0]) and starts[0] == starts[1]


def between(first: RunFile, second: RunFile) -> Counterfactual:
    """Return the same as `counterfactual`, of two open runs."""
    if first.run.header.parent_run_id == second.run.header.run_id:
        first, second = second, first
    if not paired(first, second):
        raise UsageError(
            f"{first.path} and {second.path} are no pair: they have another seed, other people "
            "or another start. A pair is a run and its fork, two forks of one run, or two runs of "
            "one scenario and seed that differ in a setting"
        )
    last = min(first.run.last_tick, second.run.last_tick)
    twins = Twin(first, last), Twin(second, last)
    settings = _settings(first, second)
    is_fork = second.run.header.parent_run_id == first.run.header.run_id
    return Counterfactual(
        paths=(str(first.path), str(second.path)),
        run_ids=(first.run.header.run_id, second.run.header.run_id),
        personas=len(twins[0].personas),
        forked_at=second.run.header.forked_at_tick if is_fork else None,
        last_tick=last,
        settings=settings,
        **_difference(twins, new_events="stimuli" in settings),
    )


def _settings(first: RunFile, second: RunFile) -> dict[str, tuple[Any, Any]]:
    one, other = first.run.header.parameters, second.run.header.parameters
    keys = sorted(key for key in {*one, *other} if one.get(key) != other.get(key))
    return {key: (one.get(key), other.get(key)) for key in keys}


def _difference(twins: tuple[Twin, Twin], *, new_events: bool) -> dict[str, Any]:
    """Return the parts of a counterfactual that come from comparing tick by tick.

    new_events: whether other events were set, so that who is shown one may differ.
    """
    acted, remembered, saw = (
        twins[0].marks(name) != twins[1].marks(name) for name in ("turns", "memories", "feeds")
    )
    gap = twins[1].beliefs() - twins[0].beliefs()
    believed = (gap != 0).any(axis=2)
    differs = acted | remembered | believed  # (ticks from 0, personas)
    when = np.where(differs.any(axis=0), differs.argmax(axis=0), NEVER)
    digests = twins[0].digests(), twins[1].digests()
    shared = next((t - 1 for t, (a, b) in enumerate(zip(*digests, strict=True)) if a != b), None)
    start = int(when.min(initial=NEVER))
    reached = _reached(twins, when, new_events=new_events)
    firsts = np.flatnonzero(when == start) if start != NEVER else np.zeros(0, np.int64)
    spread = [
        _spread(twins[0], tick, reached, gap[tick], acted, remembered, believed, saw)
        for tick in range(start, len(differs))
    ]
    return {
        "shared": twins[0].last if shared is None else shared,
        "changed": len(firsts),
        "first": tuple(_changed_turn(twins, gap, start, row) for row in firsts[:_FIRST].tolist()),
        "ticks": tuple(spread),
        "reached": reached,
    }


def _spread(
    twin: Twin,
    tick: int,
    reached: Sequence[Reached],
    gap: NDArray[np.float64],
    acted: BoolArray,
    remembered: BoolArray,
    believed: BoolArray,
    saw: BoolArray,
) -> Spread:
    so_far = [each for each in reached if each.tick <= tick]
    hops: dict[int, int] = {}
    for each in so_far:
        if each.hops is not None:
            hops[each.hops] = hops.get(each.hops, 0) + 1
    mean = gap.mean(axis=0) if len(gap) else np.zeros(gap.shape[1])
    size = np.abs(gap).mean(axis=0) if len(gap) else np.zeros(gap.shape[1])
    return Spread(
        tick=tick,
        new=sum(each.tick == tick for each in so_far),
        reached=len(so_far),
        saw=int(saw[tick].sum()),
        acted=int(acted[tick].sum()),
        remembered=int(remembered[tick].sum()),
        believed=int(believed[tick].sum()),
        hops=dict(sorted(hops.items())),
        difference=dict(zip(twin.targets, mean.tolist(), strict=True)),
        size=dict(zip(twin.targets, size.tolist(), strict=True)),
    )


def _changed_turn(
    twins: tuple[Twin, Twin], gap: NDArray[np.float64], tick: int, row: int
) -> ChangedTurn:
    one, other = (twin.beliefs()[tick, row].tolist() for twin in twins)
    names = twins[0].targets
    where = np.flatnonzero(gap[tick, row] != 0).tolist()
    who = twins[0].personas[row]
    return ChangedTurn(
        persona_id=who,
        turns=(twins[0].turn(tick, who), twins[1].turn(tick, who)),
        beliefs={names[i]: (one[i], other[i]) for i in where},
    )


def _reached(twins: tuple[Twin, Twin], when: IntArray, *, new_events: bool) -> tuple[Reached, ...]:
    """Return who lived otherwise. when: (P,) the first tick in which it did, or `NEVER`."""
    place = {name: row for row, name in enumerate(twins[0].personas)}
    ticks = sorted({int(tick) for tick in when if tick != NEVER})
    hops: dict[str, int | None] = {}
    found: list[tuple[str, int, str, str | None]] = []
    for tick in ticks:
        who = [twins[0].personas[row] for row in np.flatnonzero(when == tick).tolist()]
        feeds = twins[0].feeds_of(tick, who), twins[1].feeds_of(tick, who)
        earlier = dict(hops)  # what one says in a tick is seen in the next
        for name in who:
            pair = feeds[0].get(name, {}), feeds[1].get(name, {})
            way, by = _way(twins, pair, earlier, new_events=new_events)
            found.append((name, tick, way, by))
            hops[name] = _hops(way, by, earlier)
    distance = _distances(twins, [place[name] for name, hop in hops.items() if hop == 0])
    return tuple(
        Reached(
            persona_id=name,
            tick=tick,
            way=way,
            by=by,
            hops=hops[name],
            distance=None if distance[place[name]] == NEVER else int(distance[place[name]]),
        )
        for name, tick, way, by in found
    )


def _hops(way: str, by: str | None, earlier: Mapping[str, int | None]) -> int | None:
    if way in ("setting", "event"):
        return 0
    before = earlier.get(by or "")
    return None if before is None else before + 1


def _way(
    twins: tuple[Twin, Twin],
    feeds: tuple[Feed, Feed],
    earlier: Mapping[str, int | None],
    *,
    new_events: bool,
) -> tuple[str, str | None]:
    """Return how a persona was reached, and by whom. earlier: hops of those reached before."""
    if feeds[0] == feeds[1]:
        return "setting", None
    other = list(_otherwise(feeds))
    events = sorted(
        (item.position, item.event)
        for item in other
        if item.event and (new_events or not _said_in_both(twins, item))
    )
    if events:
        return "event", events[0][1]
    posts = [
        (earlier[item.author], item.position, item.author)
        for item in other
        if earlier.get(item.author) is not None and not _said_in_both(twins, item)
    ]
    if posts:
        return "post", min(posts)[2]
    return "ranking", None


def _otherwise(feeds: tuple[Feed, Feed]) -> Iterator[Item]:
    """Yield what stands in one feed alone, or says something else there."""
    for mine, theirs in (feeds, feeds[::-1]):
        for key, item in mine.items():
            if key not in theirs or theirs[key].content != item.content:
                yield item


def _said_in_both(twins: tuple[Twin, Twin], item: Item) -> bool:
    return all(twin.content(item.key) == item.content for twin in twins)


def _distances(twins: tuple[Twin, Twin], starts: Sequence[int]) -> IntArray:
    """Return follows between each persona and the nearest of some, (P,); `NEVER` for no path.

    What a persona says reaches its followers; follows of either run count, whenever they began.
    """
    distance: IntArray = np.full(len(twins[0].personas), NEVER)
    distance[list(starts)] = 0
    follower, followed = np.concatenate([twin.follows() for twin in twins], axis=1)
    step, grows = 0, bool(starts)
    while grows:
        step += 1
        near = follower[(distance[followed] < step) & (distance[follower] == NEVER)]
        distance[near] = step
        grows = len(near) > 0
    return distance
