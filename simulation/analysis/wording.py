"""A comparison in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.cause_wording import why

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulation.analysis.comparison import Comparison, Divergence, Side

_FEW = 5  # names or settings spelled out before "and n more"
_LONG = 70  # code points of a text that are shown


def summary(comparison: Comparison) -> list[str]:
    """Return a comparison as lines for people."""
    parts = (
        _runs(comparison),
        _sameness(comparison),
        _divergence(comparison),
        why(comparison.causes) if comparison.causes else (),
        _ends(comparison),
        _largest(comparison),
        _actions(comparison),
        _counterfactual(comparison),
    )
    return [line for part in parts for line in part]


def _counterfactual(comparison: Comparison) -> Iterable[str]:
    found = comparison.counterfactual
    return () if found is None else ("", *found.lines())


def _runs(comparison: Comparison) -> Iterable[str]:
    for letter, side in zip("AB", comparison.sides, strict=True):
        yield (
            f"{letter}: {side.path}  {side.scenario_name}, seed {side.seed}, {side.status}, "
            f"{side.last_tick} of {side.horizon} ticks"
        )


def _sameness(comparison: Comparison) -> Iterable[str]:
    first, second = comparison.sides
    if comparison.same_scenario:
        yield "Scenario: the same."
    else:
        texts = (
            "the same text" if first.scenario_sha256 == second.scenario_sha256 else "other text"
        )
        yield f"Scenario: different ({texts})."
    yield from _settings(comparison.settings)
    yield f"Seed: {'the same' if comparison.same_seed else f'{first.seed} and {second.seed}'}."
    if not comparison.same_versions:
        yield f"Engine and encoder: {_version(first)} and {_version(second)}."
    yield from _forks(comparison)
    yield from _starts(comparison)
    yield from _lengths(comparison)


def _forks(comparison: Comparison) -> Iterable[str]:
    first, second = comparison.sides
    for letter, side, other, name in (("A", first, second, "B"), ("B", second, first, "A")):
        if side.parent_run_id == other.run_id:
            yield f"{letter} was forked from {name} after tick {side.forked_at_tick}."


def _starts(comparison: Comparison) -> Iterable[str]:
    if comparison.different_personas:
        yield (
            f"Personas: {comparison.different_personas} of {comparison.common_personas} in common "
            "are not the same person."
        )
    if not comparison.same_graph:
        yield "Graph: the follows differ from the start."


def _settings(settings: dict[str, tuple[Any, Any]]) -> Iterable[str]:
    for key, (first, second) in list(settings.items())[:_FEW]:
        yield f"  {key}: {_value(first)} -> {_value(second)}"
    if len(settings) > _FEW:
        yield f"  and {len(settings) - _FEW} more settings differ"


def _value(value: Any) -> str:
    return "(not set)" if value is None else _cut(str(value))


def _version(side: Side) -> str:
    return f"{side.engine_version} with {side.encoder} {(side.encoder_sha256 or '')[:8]}".rstrip()


def _lengths(comparison: Comparison) -> Iterable[str]:
    first, second = comparison.sides
    if first.last_tick != second.last_tick:
        counts = f"{first.last_tick} and {second.last_tick}"
        yield f"Ticks: {counts}; the first {comparison.common_ticks} are compared."
    for letter, side in zip("AB", comparison.sides, strict=True):
        for noun, names in (("persona", side.only_personas), ("target", side.only_targets)):
            if names:
                many = "s" if len(names) > 1 else ""
                yield f"Only in {letter}: {len(names)} {noun}{many} ({_list(names)})."
    if not comparison.common_personas or not comparison.common_targets:
        yield "They have no persona or no target in common, so no belief can be compared."


def _list(names: tuple[str, ...]) -> str:
    more = f", and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


def _divergence(comparison: Comparison) -> Iterable[str]:
    found = comparison.divergence
    if comparison.identical:
        ticks = comparison.common_ticks
        yield f"Identical: every belief, turn and state digest of {ticks} ticks agrees."
    elif found is None:
        yield "What they have in common agrees: every belief, turn and state digest."
    elif found.kind == "state":
        yield (
            f"They part at tick {found.tick}: beliefs and turns agree, the state digest does not "
            "(memories, posts or the graph differ)."
        )
    else:
        yield from _first(found)
        yield from _visible(comparison)
        digest = comparison.first_different_digest
        if digest is not None and digest < found.tick:
            parts = "(personas, graph, memories or posts)"
            yield f"  The state digest differs from tick {digest} on {parts}."


def _first(found: Divergence) -> Iterable[str]:
    others = f" ({found.personas} personas differ in that tick)" if found.personas > 1 else ""
    when = f"at tick {found.tick}" if found.tick else "at the start, tick 0"
    if found.values:
        yield (
            f"They part {when}, persona {found.persona_id}, {found.target}: "
            f"{_both(found.values)}{others}."
        )
    else:
        yield f"They part {when}, in the turn of persona {found.persona_id}{others}."
    if not found.tick:  # nobody has taken a turn
        return
    exact = found.values is not None and _is_fine(found.values)
    for letter, turn, changes in zip("AB", found.turns, found.changes, strict=True):
        yield f"  {letter}: {_turn(turn)}"
        yield from (f"     {_change(change, exact=exact)}" for change in changes)
    yield from _inputs(found)


def _both(values: tuple[float, float]) -> str:
    """Return two different values with as many digits as it takes to see the difference."""
    if not _is_fine(values):
        return f"{values[0]:.6g} and {values[1]:.6g}"
    return f"{values[0]!r} and {values[1]!r}, {abs(values[1] - values[0]):.2g} apart"


def _is_fine(values: tuple[float, float]) -> bool:
    """Return whether six digits hide that two values differ."""
    return f"{values[0]:.6g}" == f"{values[1]:.6g}"


def _inputs(found: Divergence) -> Iterable[str]:
    """Say what the persona saw or recalled in one run and not in the other."""
    if not found.inputs and any(found.turns):
        yield "  It saw and recalled the same in both, with equal scores."
    for each in found.inputs:
        did = "recalled" if each.kind == "memory" else "saw"
        if each.reordered:
            yield f"  It {did} the same in both, in another order or with other scores."
        for letter, texts in zip("AB", each.only, strict=True):
            yield from (f'  Only in {letter} it {did} "{_cut(text)}"' for text in texts[:_FEW])
            if len(texts) > _FEW:
                yield f"  and {len(texts) - _FEW} more"


def _visible(comparison: Comparison) -> Iterable[str]:
    """Name the first difference that is more than rounding, where that is not the first."""
    found, seen = comparison.divergence, comparison.visible
    if seen is None:
        yield "  No belief differs by more than 1e-9."
    elif found is not None and _place(found) != _place(seen) and seen.values:
        yield (
            f"  The first belief that differs by more than 1e-9: tick {seen.tick}, persona "
            f"{seen.persona_id}, {seen.target}, {_both(seen.values)}."
        )
        yield from (f"  {line}" for line in _inputs(seen))


def _place(found: Divergence) -> tuple[int, str | None, str | None]:
    return found.tick, found.persona_id, found.target


def _turn(turn: dict[str, Any] | None) -> str:
    if turn is None:
        return "no turn"
    target = f" {turn['target_id']}" if turn["target_id"] is not None else ""
    words = f': "{_cut(turn["text"])}"' if turn["text"] else ""
    return f"{turn['action']}{target}{words}"


def _change(change: dict[str, Any], *, exact: bool) -> str:
    before, after = (f"{change[name]:.6g}" for name in ("before", "after"))
    if exact:
        before, after = (repr(change[name]) for name in ("before", "after"))
    moved = f"{change['phase']}: {before} -> {after}"
    if not change["cause_text"]:
        return moved
    return f'{moved}, because of {change["cause_author"]}: "{_cut(change["cause_text"])}"'


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _ends(comparison: Comparison) -> Iterable[str]:
    last = [mean for mean in comparison.means if mean.tick == comparison.common_ticks]
    if last and comparison.divergence:
        whose = ""
        if any(side.only_personas for side in comparison.sides):
            count = comparison.common_personas
            whose = f" over the {count:,} {'persona' if count == 1 else 'personas'} in both"
        yield f"Mean beliefs after tick {comparison.common_ticks}{whose} (A, B, B - A):"
        width = max(len(mean.target) for mean in last)
        for mean in last:
            first, second = mean.means
            yield f"  {mean.target:<{width}}  {first:.3f}  {second:.3f}  {mean.difference:+z.3f}"


def _largest(comparison: Comparison) -> Iterable[str]:
    if comparison.largest:
        yield f"Largest differences after tick {comparison.common_ticks} (A, B, B - A):"
        for each in comparison.largest[:_FEW]:
            first, second = each.values
            yield (
                f"  {each.persona_id} {each.target}: "
                f"{first:.3f}  {second:.3f}  {each.difference:+z.3f}"
            )
    if comparison.different_personas:
        yield (
            f"Differences by persona leave out {comparison.different_personas} of "
            f"{comparison.common_personas}: other people with the same ids."
        )


def _actions(comparison: Comparison) -> Iterable[str]:
    different = {name: n for name, n in comparison.actions.items() if n[0] != n[1]}
    same = [name for name in comparison.actions if name not in different]
    if different:
        yield "Actions (A, B):"
        yield from (f"  {name}: {n[0]}  {n[1]}" for name, n in different.items())
        if same:
            yield f"  the same: {', '.join(same)}"
    elif same and comparison.divergence:
        yield f"Actions: the same counts ({', '.join(same)})."
