"""A comparison of groups in words: what differs, how surely, and what nobody can tell yet."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from simulation.analysis.inference import pairs_needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simulation.analysis.group_comparison import Arm, Contrast, Effect, GroupComparison

ALPHA = 0.05
_FEW = 5  # names spelled out before "and n more"
_LONG = 40  # code points of a value that are shown
_NAME = 14  # columns of a measure's name, at least
_SHOWN_TICKS = 5  # of a time course
_NOUNS = {"belief": "beliefs", "action": "measures of action"}
_TITLES = {
    "belief": "Mean beliefs after tick {}",
    "action": "Actions up to tick {} (bought, rejected: share of people; others: of turns)",
}


def summary(comparison: GroupComparison) -> list[str]:
    """Return a comparison of groups as lines for people."""
    lines = [line for arm in comparison.arms for line in _arm(arm)]
    lines += [f"Note: {note}" for note in comparison.notes]
    for contrast in comparison.contrasts:
        lines += ["", *_contrast(comparison, contrast)]
    return lines


def _arm(arm: Arm) -> Iterator[str]:
    runs = "1 run, seed" if len(arm.runs) == 1 else f"{len(arm.runs)} runs, seeds"
    yield f"{arm.letter}: {arm.name}  {runs} {spans(arm.seeds)}"
    for path, why in list(arm.left_out.items())[:_FEW]:
        yield f"   left out: {path}: {why}"
    if len(arm.left_out) > _FEW:
        yield f"   and {len(arm.left_out) - _FEW} more left out"


def spans(numbers: Sequence[int]) -> str:
    """Return whole numbers in short: `1-4, 7`."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(_span(part[0], part[-1]) for part in parts)


def _span(first: int, last: int) -> str:
    between = "-" if first >= 0 else " to "
    return str(first) if first == last else f"{first}{between}{last}"


def _contrast(comparison: GroupComparison, contrast: Contrast) -> Iterator[str]:
    first, second = contrast.arms
    yield f"{second} against {first}"
    yield from _settings(contrast.settings)
    yield _pairing(contrast)
    for kind, title in _TITLES.items():
        end = [effect for effect in contrast.end if effect.kind == kind]
        course = [effect for effect in contrast.course if effect.kind == kind]
        if end:
            yield title.format(comparison.common_ticks)
            yield from _table(contrast, end)
        if course and kind == "belief":
            yield f"Mean beliefs over ticks 1 to {comparison.common_ticks}"
            yield from _table(contrast, course)
    yield from _time_course(comparison, contrast)
    yield "What can be said"
    yield from (f"  {line}" for line in _said(comparison, contrast))


def _settings(settings: dict[str, tuple[Any, Any]]) -> Iterator[str]:
    for key, values in list(settings.items())[:_FEW]:
        first, second = (_cut(str(value)) for value in values)
        yield f"  {key}: {first} -> {second}"
    if len(settings) > _FEW:
        yield f"  and {len(settings) - _FEW} more settings differ"


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _pairing(contrast: Contrast) -> str:
    if not contrast.paired:
        first, second = contrast.runs
        return f"{first} and {second} runs, not paired by seed; Welch's t intervals."
    noun = "pair" if len(contrast.seeds) == 1 else "pairs"
    said = f"{len(contrast.seeds)} {noun} of runs with the same seed; paired t intervals."
    if contrast.unpaired:
        said += f" Without a partner, left out: {_list(contrast.unpaired)}."
    return said


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


def _table(contrast: Contrast, effects: Sequence[Effect]) -> Iterator[str]:
    first, second = contrast.arms
    shown = [effect for effect in effects if effect.kind == "belief" or not _same(effect)]
    digits = _digits([effect.difference for effect in shown])
    room = max([_NAME, *(len(effect.measure) for effect in shown)])
    if shown:
        yield (
            f"  {'':<{room}}{first:>6}{second:>7}{f'{second} - {first}':>{digits + 5}}"
            f"{'95 % interval':>{2 * digits + 12}}{contrast.size_name:>11}{'p':>7}{'Holm':>7}"
        )
    for effect in shown:
        one, two = effect.means
        yield (
            f"  {effect.measure:<{room}}{one:>6.3f}{two:>7.3f}"
            f"{effect.difference:>+z{digits + 5}.{digits}f}"
            f"{_interval(effect, digits):>{2 * digits + 12}}{_number(effect.effect_size):>11}"
            f"{p_value(effect.p):>7}{p_value(effect.p_holm):>7}"
        )
    same = [effect.measure for effect in effects if effect not in shown]
    if same:
        yield f"  no difference at any seed: {', '.join(same)}"


def _same(effect: Effect) -> bool:
    """Return whether a measure does not differ at all, at any seed."""
    return effect.difference == 0 and effect.low == effect.high


def _digits(differences: Sequence[float]) -> int:
    """Return decimals that show two digits of the largest difference, 3 to 6."""
    largest = max((abs(each) for each in differences), default=0.0)
    if not largest:
        return 3
    return min(6, max(3, 1 - math.floor(math.log10(largest))))


def _interval(effect: Effect, digits: int) -> str:
    if effect.low is None or effect.high is None:
        return "-"
    return f"{effect.low:+z.{digits}f} to {effect.high:+z.{digits}f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:+z.2f}"


def p_value(p: float | None) -> str:
    """Return a p-value as papers write it: `.062`, `<.001`, `1`; "-" for none."""
    if p is None:
        return "-"
    if p < 0.001:  # noqa: PLR2004 - the smallest that three decimals show
        return "<.001"
    return "1" if p > 0.9995 else f"{p:.3f}".lstrip("0")  # noqa: PLR2004 - rounds to one


def _time_course(comparison: GroupComparison, contrast: Contrast) -> Iterator[str]:
    last = comparison.common_ticks
    shown = sorted({round(last * part / _SHOWN_TICKS) for part in range(1, _SHOWN_TICKS + 1)})
    rows = {(each.measure, each.tick): each for each in contrast.ticks if each.kind == "belief"}
    if not last or not rows:
        return
    first, second = contrast.arms
    digits = _digits(
        [rows[(name, tick)].difference for name in comparison.targets for tick in shown]
    )
    room = max([_NAME, *(len(name) for name in comparison.targets)])
    yield f"Time course of {second} - {first} (* the tick's own 95 % interval leaves out 0)"
    yield f"  {'tick':<{room}}" + "".join(f"{tick:>10}" for tick in shown)
    for name in comparison.targets:
        cells = (rows[(name, tick)] for tick in shown)
        marks = (f"{each.difference:+z.{digits}f}{'*' if _clear(each) else ' '}" for each in cells)
        yield (f"  {name:<{room}}" + "".join(f"{mark:>10}" for mark in marks)).rstrip()


def _clear(each: Any) -> bool:
    return each.low is not None and each.low != each.high and not each.low <= 0 <= each.high


def _said(comparison: GroupComparison, contrast: Contrast) -> Iterator[str]:
    if min(contrast.runs) == 1:
        yield (
            "With one run in an arm nothing separates a difference from the chance of its seed: "
            "no interval, no p-value. Run more seeds."
        )
        return
    for kind, noun in _NOUNS.items():
        effects = [effect for effect in contrast.end if effect.kind == kind]
        tests = comparison.tests[kind]
        if contrast.smallest_p * tests > ALPHA:
            yield _hopeless(contrast, effects, noun, tests)
        else:
            yield from _told_apart(contrast, effects, noun)
    yield _method(comparison, contrast)
    yield from _detectable(contrast)
    yield from _noise(contrast)


def _told_apart(contrast: Contrast, effects: Sequence[Effect], noun: str) -> Iterator[str]:
    first, second = contrast.arms
    found = [each for each in effects if each.p_holm is not None and each.p_holm <= ALPHA]
    digits = _digits([each.difference for each in found])
    for each in found:
        than = "higher" if each.difference > 0 else "lower"
        low, high = sorted(abs(bound) for bound in (each.low or 0.0, each.high or 0.0))
        span = "" if each.low == each.high else f" ({low:.{digits}f} to {high:.{digits}f})"
        if each.low is not None and each.high is not None and each.low < 0 < each.high:
            span = f" ({each.low:+.{digits}f} to {each.high:+.{digits}f})"
        yield (
            f"{each.measure}: {second} is {than} than {first} by {abs(each.difference):.{digits}f}"
            f"{span}, p {_equals(each.p_holm)} after Holm."
        )
    rest = [each.measure for each in effects if each not in found and not _same(each)]
    if rest:
        yield f"Not told apart from the chance of the seeds, of the {noun}: {', '.join(rest)}."


def _hopeless(contrast: Contrast, effects: Sequence[Effect], noun: str, tests: int) -> str:
    """Return what there is to say of tests that no difference can pass with so few seeds."""
    clear = [each.measure for each in effects if _clear(each)]
    after = "" if contrast.smallest_p > ALPHA else f" after Holm over {tests}"
    more = f"run {pairs_needed(tests)} pairs" if contrast.paired else "run more seeds"
    said = (
        f"Of the {noun} nothing can be told apart: with {_runs(contrast)} the smallest p is "
        f"{_fraction(contrast.smallest_p)}, and no difference, however large, reaches .05{after}; "
        f"{more}."
    )
    if not clear:
        return said
    return f"{said} A hint, no more: intervals of their own leave out 0 for {', '.join(clear)}."


def _runs(contrast: Contrast) -> str:
    first, second = contrast.runs
    return f"{first} pairs" if contrast.paired else f"{first} and {second} runs"


def _equals(p: float | None) -> str:
    text = p_value(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def _method(comparison: GroupComparison, contrast: Contrast) -> str:
    counts = [f"{count} {_NOUNS[kind]}" for kind, count in comparison.tests.items() if count]
    contrasts = len(comparison.contrasts)
    over = f" of {contrasts} contrasts" if contrasts > 1 else ""
    return (
        f"p: two-sided, {contrast.test}; Holm: corrected over {' and, apart, '.join(counts)}"
        f"{over}. Intervals are not corrected."
    )


def _detectable(contrast: Contrast) -> Iterator[str]:
    known = [each for each in contrast.end if each.kind == "belief" and each.detectable]
    if known:
        low = min(known, key=lambda each: each.detectable or 0.0)
        high = max(known, key=lambda each: each.detectable or 0.0)
        span = f"{low.detectable:.2g} ({low.measure})"
        if high is not low:
            span += f" to {high.detectable:.2g} ({high.measure})"
        yield (
            f"With {_runs(contrast)} and this spread, a t test finds a true difference of {span} "
            "in 80 of 100 such experiments, before Holm. Smaller ones are easily missed: not told "
            "apart does not mean equal."
        )


def _fraction(p: float) -> str:
    return f"1/{round(1 / p):,} = {p_value(p)}"


def _noise(contrast: Contrast) -> Iterator[str]:
    known = [each for each in contrast.end if each.kind == "belief" and each.noise]
    if known:
        told = ", ".join(f"{each.measure} {each.noise:.2g}" for each in known)
        yield f"Noise floor: standard deviation between seeds within an arm: {told}."
    same: Iterable[str] = [
        each.measure for each in contrast.end if each.low is not None and each.low == each.high
    ]
    moved = [name for name in same if _differs(contrast, name)]
    if moved:
        yield (
            f"The same difference at every seed, so without an interval of its own: "
            f"{', '.join(moved)}."
        )


def _differs(contrast: Contrast, name: str) -> bool:
    return any(each.measure == name and each.difference for each in contrast.end)
