"""A comparison in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        _ends(comparison),
        _largest(comparison),
        _actions(comparison),
    )
    return [line for part in parts for line in part]


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
    yield from _starts(comparison)
    yield from _lengths(comparison)


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
        digest = comparison.first_different_digest
        if digest is not None and digest < found.tick:
            parts = "(personas, graph, memories or posts)"
            yield f"  The state digest differs from tick {digest} on {parts}."


def _first(found: Divergence) -> Iterable[str]:
    others = f" ({found.personas} personas differ in that tick)" if found.personas > 1 else ""
    if found.values:
        yield (
            f"They part at tick {found.tick}, persona {found.persona_id}, {found.target}: "
            f"{found.values[0]:.6g} and {found.values[1]:.6g}{others}."
        )
    else:
        yield f"They part at tick {found.tick}, in the turn of persona {found.persona_id}{others}."
    for letter, turn, changes in zip("AB", found.turns, found.changes, strict=True):
        yield f"  {letter}: {_turn(turn)}"
        yield from (f"     {_change(change)}" for change in changes)


def _turn(turn: dict[str, Any] | None) -> str:
    if turn is None:
        return "no turn"
    target = f" {turn['target_id']}" if turn["target_id"] is not None else ""
    words = f': "{_cut(turn["text"])}"' if turn["text"] else ""
    return f"{turn['action']}{target}{words}"


def _change(change: dict[str, Any]) -> str:
    moved = f"{change['phase']}: {change['before']:.6g} -> {change['after']:.6g}"
    if not change["cause_text"]:
        return moved
    return f'{moved}, because of {change["cause_author"]}: "{_cut(change["cause_text"])}"'


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _ends(comparison: Comparison) -> Iterable[str]:
    last = [mean for mean in comparison.means if mean.tick == comparison.common_ticks]
    if last and comparison.divergence:
        yield f"Mean beliefs after tick {comparison.common_ticks} (A, B, B - A):"
        width = max(len(mean.target) for mean in last)
        for mean in last:
            first, second = mean.means
            yield f"  {mean.target:<{width}}  {first:.3f}  {second:.3f}  {mean.difference:+.3f}"


def _largest(comparison: Comparison) -> Iterable[str]:
    if comparison.largest:
        yield f"Largest differences after tick {comparison.common_ticks} (A, B, B - A):"
        for each in comparison.largest[:_FEW]:
            first, second = each.values
            yield (
                f"  {each.persona_id} {each.target}: "
                f"{first:.3f}  {second:.3f}  {each.difference:+.3f}"
            )


def _actions(comparison: Comparison) -> Iterable[str]:
    different = {name: n for name, n in comparison.actions.items() if n[0] != n[1]}
    if different:
        yield "Actions (A, B):"
        yield from (f"  {name}: {n[0]}  {n[1]}" for name, n in different.items())
