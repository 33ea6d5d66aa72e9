"""A comparison of groups in words: what differs, by how much, and how sure that can be.

How sure is told as `simulation compare` tells it: so few seeds that no difference could pass the
test give a hint and no more, and what is not told apart is never called equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.analysis.inference import ALPHA, pairs_needed
from simulation.analysis.report.numbers import SMALL, cut, listed, many, signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.analysis.group_comparison import Contrast, Effect, GroupComparison

    Kin = Mapping[str, frozenset[str]]

_FEW = 3  # settings and contrasts that are told in a sentence
_KIND = "belief"


def in_short(groups: GroupComparison, kin: Kin) -> str:
    """Return what the page compares, and what it finds. kin: as in `words`."""
    names = [f"{arm.letter} ({cut(arm.name, 80)})" for arm in groups.arms]
    told = [f"This page compares {listed(names)}."]
    named = " ".join(arm.name for arm in groups.arms)
    settings = setting_rows(groups)
    if any(f"{row[1]}=" not in named for row in settings):
        told.append(differ_words(settings))
    told += [words(groups, contrast, kin) for contrast in groups.contrasts[:_FEW]]
    left = len(groups.contrasts) - _FEW
    if left > 0:
        told.append(f"{many(left, 'more group')} below.")
    return " ".join(told)


def words(groups: GroupComparison, contrast: Contrast, kin: Kin) -> str:
    """Return the largest difference of a contrast and how sure it is.

    kin: path of each run: its id and, of a fork, that of the run it was forked from.
    """
    effects = [each for each in contrast.end if each.kind == _KIND]
    if not effects:
        return "The runs have no belief in common."
    first, second = contrast.arms
    most = max(effects, key=lambda each: abs(each.difference))
    if abs(most.difference) < SMALL:
        return (
            f"At tick {groups.common_ticks} the means of {first} and {second} agree to two digits."
        )
    return (
        f"At tick {groups.common_ticks} {second} differs from {first} most in {most.measure}, by "
        f"{signed(most.difference)}{_interval(most)}. {_sure(groups, contrast, effects, kin)}"
    )


def hopeless(groups: GroupComparison, contrast: Contrast) -> bool:
    """Return whether there are so few seeds that no difference could pass the test."""
    return min(contrast.runs) > 1 and contrast.smallest_p * groups.tests[_KIND] > ALPHA


def clear(effect: Effect) -> bool:
    """Return whether the interval of an effect leaves out zero."""
    return (
        effect.low is not None and effect.high is not None and not effect.low <= 0 <= effect.high
    )


def _sure(groups: GroupComparison, contrast: Contrast, effects: Sequence[Effect], kin: Kin) -> str:
    if min(contrast.runs) < 2:  # noqa: PLR2004 - chance takes two runs to be seen
        return _single(groups, contrast, kin)
    if hopeless(groups, contrast):
        return _hint(groups, contrast, [each.measure for each in effects if clear(each)])
    beyond = [each.measure for each in effects if each.p_holm is not None and each.p_holm <= ALPHA]
    if beyond:
        return f"Beyond what seeds do by chance: {listed(beyond)}."
    return (
        "Nothing is told apart from the chance of the seeds, which does not show that the groups "
        "are alike: see what these seeds could have shown, under smallest detectable."
    )


def _single(groups: GroupComparison, contrast: Contrast, kin: Kin) -> str:
    runs = [arm.runs for arm in groups.arms if arm.letter in contrast.arms]
    if all(len(each) == 1 for each in runs):
        one, other = (kin.get(each[0], frozenset[str]()) for each in runs)
        if one & other:
            return (
                "A fork shares history and chance with the run it was forked from, so every "
                "difference follows from what was set. How large it is with another seed, one "
                "seed cannot say."
            )
    return "With a single run in either this cannot be told from chance."


def _hint(groups: GroupComparison, contrast: Contrast, clear_ones: Sequence[str]) -> str:
    tests = groups.tests[_KIND]
    first, second = contrast.runs
    runs = f"{first} pairs of runs" if contrast.paired else f"{first} and {second} runs"
    after = "" if contrast.smallest_p > ALPHA else f" after Holm's correction over {tests}"
    more = f"run {pairs_needed(tests)} pairs" if contrast.paired else "run more seeds"
    said = (
        f"So few seeds cannot tell it from chance: with {runs} the smallest p is "
        f"1/{round(1 / contrast.smallest_p):,}, and no difference, however large, reaches "
        f".05{after}; {more}."
    )
    if not clear_ones:
        return said
    return (
        f"{said} A hint, no more: intervals of their own leave out zero for {listed(clear_ones)}."
    )


def _interval(effect: Effect) -> str:
    if effect.low is None or effect.high is None:
        return ""
    return f" (95 % interval {signed(effect.low)} to {signed(effect.high)})"


def setting_rows(groups: GroupComparison) -> list[tuple[str, ...]]:
    """Return the settings that differ: groups, key, value in the first and in the second."""
    return [
        (" and ".join(contrast.arms), key, *(cut(str(value), 120) for value in values))
        for contrast in groups.contrasts
        for key, values in contrast.settings.items()
    ]


def differ_words(settings: Sequence[tuple[str, ...]]) -> str:
    """Return what tells groups apart, by name where there is little of it."""
    keys = list(dict.fromkeys(row[1] for row in settings))
    if not keys:
        return "No setting that both have tells them apart."
    if len(keys) > _FEW:
        return f"They differ in {len(keys)} settings."
    told = [f"{row[1]} ({row[2]} and {row[3]})" for row in settings[:_FEW]]
    return f"They differ in {listed(told)}."
