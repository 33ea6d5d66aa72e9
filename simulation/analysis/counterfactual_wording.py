"""A counterfactual in words: lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.analysis.counterfactual import ChangedTurn, Counterfactual, Reached, Spread

_SHOWN = 5  # first turns, settings, and chains in words
_ROWS = 12  # ticks in the table
_WORDS = 60  # characters of a text


def lines(found: Counterfactual) -> list[str]:
    """Return a counterfactual as lines."""
    return list(_lines(found))


def _lines(found: Counterfactual) -> Iterator[str]:
    yield (
        f"Counterfactual: the same {_many(found.personas, 'persona')} and the same chance in "
        f"both; equal up to tick {found.shared} of {found.last_tick}"
    )
    if found.forked_at is not None:
        yield f"  the second is a fork of the first at tick {found.forked_at}"
    for key, (before, after) in list(found.settings.items())[:_SHOWN]:
        yield f"  set anew: {key}: {_value(before)} -> {_value(after)}"
    if len(found.settings) > _SHOWN:
        yield f"  … and {len(found.settings) - _SHOWN} more"
    if not found.reached:
        yield "  nobody did, believed or remembered anything else"
        return
    yield f"First turns that changed, at tick {found.ticks[0].tick} ({found.changed} in all)"
    for turn in found.first[:_SHOWN]:
        yield from _changed(turn)
    yield "How the difference spread (personas)"
    yield from _table(found.ticks)
    yield from _ways(found)


def _changed(turn: ChangedTurn) -> Iterator[str]:
    before, after = (_did(each) for each in turn.turns)
    did = f"the same ({before})" if turn.turns[0] == turn.turns[1] else f"{before} -> {after}"
    yield f"  {turn.persona_id}: {did}"
    moved = sorted(turn.beliefs.items(), key=lambda item: -abs(item[1][1] - item[1][0]))
    for target, (one, other) in moved[:1]:
        yield f"    {target} afterwards {one:.3f} -> {other:.3f}"


def _did(turn: dict[str, Any] | None) -> str:
    if turn is None:
        return "no turn"
    target = f" {turn['target']}" if turn["target"] else ""
    words = f' "{_cut(turn["text"])}"' if turn["text"] else ""
    return f"{turn['action']}{target}{words}"


def _table(ticks: Sequence[Spread]) -> Iterator[str]:
    targets = list(ticks[0].difference)
    largest = max(targets, key=lambda name: max(abs(each.difference[name]) for each in ticks))
    yield (
        "  tick  reached   new   saw acted remembered believed   by hops (0, 1, 2, …)   "
        f"mean {largest}"
    )
    for each in _some(ticks):
        hops = ", ".join(
            str(each.hops.get(hop, 0)) for hop in range(max(each.hops, default=0) + 1)
        )
        counts = f"{each.tick:>4}{each.reached:>9}{each.new:>6}{each.saw:>6}{each.acted:>6}"
        states = f"{each.remembered:>11}{each.believed:>9}"
        yield f"  {counts}{states}   {hops:<22}{each.difference[largest]:>+10.4f}"


def _some(ticks: Sequence[Spread]) -> list[Spread]:
    """Return the first and the last ticks and some between."""
    if len(ticks) <= _ROWS:
        return list(ticks)
    places = {round(i * (len(ticks) - 1) / (_ROWS - 1)) for i in range(_ROWS)}
    return [ticks[place] for place in sorted(places)]


def _ways(found: Counterfactual) -> Iterator[str]:
    reached = found.reached
    parts = [
        f"{count} {words}"
        for way, words in (
            ("setting", "by what was set"),
            ("event", "by an event of the scenario"),
            ("post", "by a post of somebody reached before"),
            ("ranking", "by another ranking of the same posts"),
        )
        if (count := sum(each.way == way for each in reached))
    ]
    missed = found.personas - len(reached)
    yield f"Reached: {', '.join(parts)}; {missed} not at all"
    told = sorted(
        (each for each in reached if each.way == "post" and each.hops),
        key=lambda each: (-(each.hops or 0), each.tick),
    )
    by = {each.persona_id: each for each in reached}
    for each in told[: _SHOWN - 2]:
        chain = " -> ".join(_chain(each, by))
        far = "" if each.distance is None else f", {_many(each.distance, 'follow')} away"
        yield f"  {_many(each.hops or 0, 'hop')} at tick {each.tick}{far}: {chain}"


def _chain(last: Reached, by: dict[str, Reached]) -> list[str]:
    """Return through whom somebody was reached, the first one first."""
    chain, each = [last.persona_id], last
    while each.way == "post" and each.by is not None:
        each = by[each.by]
        chain.append(each.persona_id)
    if each.way == "event" and each.by is not None:
        chain.append(f"event {each.by}")
    return chain[::-1]


def _value(value: Any) -> str:
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _WORDS else f"{text[: _WORDS - 1]}…"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
