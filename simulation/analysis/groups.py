"""Groups of runs side by side: do they differ beyond what their seeds do by chance?

A run is one observation. Each group is compared with the first, run by run of the same seed where
there are such pairs, else as independent runs; inference.py has the statistics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from simulation.analysis import inference
from simulation.analysis.arms import Group, between, differing, make_group, pairs, refuse_doubles
from simulation.analysis.gathering import by_setting, gathered
from simulation.analysis.group_comparison import (
    Arm,
    Contrast,
    Effect,
    GroupComparison,
    TickDifference,
)
from simulation.analysis.inference import Samples
from simulation.analysis.measures import Kind, RunMeasures
from simulation.errors import UsageError
from simulation.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_KINDS: tuple[Kind, ...] = get_args(Kind)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    """What all runs have: measures in order, ticks 0 to last."""

    measures: tuple[tuple[Kind, str], ...]
    last: int
    only_some: tuple[str, ...]
    differing: tuple[str, ...]  # parameters that vary within an arm

    def cube(self, runs: Sequence[RunMeasures]) -> NDArray[np.float64]:
        """Return the values of runs, (runs, measures, last + 1)."""
        return np.array(
            [[run.value(*each)[: self.last + 1] for each in self.measures] for run in runs]
        )


def compare_groups(
    groups: Mapping[str, Sequence[Path | str]] | Sequence[Sequence[Path | str] | Path | str],
) -> GroupComparison:
    """Compare groups of runs, each with the first.

    groups: by name, or in order; each a run database, a folder of them, a pattern such as
    `a/*.duckdb`, or several of these.

    Raises:
        UsageError: there are fewer than two groups, a group has no finished run, or a run is
            counted twice.
        RunFileError: a file is missing.
    """
    named = groups if hasattr(groups, "items") else _named(groups)
    if not 1 < len(named) <= len(_LETTERS):
        raise UsageError(
            f"groups are compared from 2 to {len(_LETTERS)} at a time; {len(named)} given"
        )
    made = [
        make_group(letter, name, gathered([words] if isinstance(words, str) else words))
        for letter, (name, words) in zip(_LETTERS, named.items(), strict=False)
    ]
    refuse_doubles(made)
    return _compare(made)


def compare_by(words: Iterable[Path | str], setting: str) -> GroupComparison:
    """Compare runs grouped by the value of a setting, as those of a sweep.

    words: run databases, folders or patterns.  setting: such as `population.size`.

    Raises:
        UsageError: a run does not have the setting, or all have the same value.
        RunFileError: a file cannot be read.
    """
    return compare_groups(by_setting(words, setting))


def _named(groups: Any) -> dict[str, list[Path | str]]:
    """Return groups by what they were called; of equal names the later are numbered."""
    named: dict[str, list[Path | str]] = {}
    for group in groups:
        words = list(group) if isinstance(group, list | tuple) else [group]
        name = _called(words)
        number = sum(each.partition(" (")[0] == name for each in named)
        named[f"{name} ({number + 1})" if number else name] = words
    return named


def _called(words: Sequence[Path | str]) -> str:
    more = f" and {len(words) - 1} more" if len(words) > 1 else ""
    return f"{words[0]}{more}" if words else "nothing"


def _compare(groups: Sequence[Group]) -> GroupComparison:
    every = [run for each in groups for run in each.runs]
    common = _common(groups, every)
    if not common.measures:
        raise UsageError(
            "the runs have neither a belief nor an action in common: there is nothing to compare"
        )
    contrasts = _corrected([_contrast(groups[0], other, common) for other in groups[1:]])
    return GroupComparison(
        arms=tuple(
            Arm(
                letter=group.letter,
                name=group.name,
                runs=tuple(str(run.path) for run in group.runs),
                seeds=tuple(run.info.header.seed for run in group.runs),
                left_out=group.left_out,
                differing=differing(group.runs),
            )
            for group in groups
        ),
        common_ticks=common.last,
        targets=tuple(name for kind, name in common.measures if kind == "belief"),
        only_some=common.only_some,
        tests=_tests(contrasts),
        contrasts=contrasts,
        notes=_notes(groups, every, common),
    )


def _common(groups: Sequence[Group], every: Sequence[RunMeasures]) -> _Common:
    targets = [t for t in every[0].beliefs if all(t in run.beliefs for run in every)]
    known = sorted({target for run in every for target in run.beliefs})
    actions = sorted({name for run in every for name in run.actions})
    beliefs: list[tuple[Kind, str]] = [("belief", name) for name in targets]
    done: list[tuple[Kind, str]] = [("action", name) for name in actions]
    mixed = sorted({key for group in groups for key in differing(group.runs)})
    return _Common(
        measures=(*beliefs, *done),
        last=min(run.info.last_tick for run in every),
        only_some=tuple(target for target in known if target not in targets),
        differing=tuple(mixed),
    )


def _contrast(first: Group, second: Group, common: _Common) -> Contrast:
    partners = pairs(first, second, common.differing)
    paired = bool(partners[0])
    runs = partners if paired else (list(first.runs), list(second.runs))
    cubes = (common.cube(runs[0]), common.cube(runs[1]))
    end = _samples(cubes, paired, slice(common.last, None))
    course = _samples(cubes, paired, slice(1, None)) if common.last else None
    permuted = inference.permutation(end, label="end")
    partnered = {run.path for arm in runs for run in arm}
    return Contrast(
        arms=(first.letter, second.letter),
        paired=paired,
        seeds=tuple(run.info.header.seed for run in partners[0]),
        unpaired=tuple(
            str(run.path) for run in (*first.runs, *second.runs) if run.path not in partnered
        ),
        runs=end.sizes,
        size_name="d_z" if paired else "Hedges' g",
        test=_test_name(permuted, paired=paired),
        smallest_p=permuted.smallest,
        settings=between(first.runs, second.runs),
        ticks=_ticks(cubes, paired, common),
        end=_effects(end, common, "end", permuted),
        course=() if course is None else _effects(
            course, common, "course", inference.permutation(course, label="course")
        ),
    )  # fmt: skip


def _samples(
    cubes: tuple[NDArray[np.float64], NDArray[np.float64]], paired: bool, ticks: slice  # noqa: FBT001 - one caller
) -> Samples:  # fmt: skip
    first, second = (cube[:, :, ticks].mean(axis=2) for cube in cubes)
    return Samples(first=first, second=second, paired=paired)


def _test_name(found: inference.Permutation, *, paired: bool) -> str:
    kind = "sign-flip" if paired else "permutation"
    how = f"all {found.arrangements:,}" if found.exact else f"{inference.RESAMPLES:,} drawn"
    return f"{kind} test, {how} arrangements"


def _ticks(
    cubes: tuple[NDArray[np.float64], NDArray[np.float64]],
    paired: bool,  # noqa: FBT001 - one caller
    common: _Common,
) -> tuple[TickDifference, ...]:
    flat = [cube.reshape(len(cube), -1) for cube in cubes]  # (runs, measures by ticks)
    samples = Samples(first=flat[0], second=flat[1], paired=paired)
    found, difference = inference.interval(samples), samples.difference
    means = [each.mean(axis=0) for each in flat]
    return tuple(
        TickDifference(
            kind=kind,
            measure=name,
            tick=tick,
            means=(float(means[0][i]), float(means[1][i])),
            difference=float(difference[i]),
            low=_known(found.low[i]),
            high=_known(found.high[i]),
        )
        for i, ((kind, name), tick) in enumerate(
            (each, tick) for each in common.measures for tick in range(common.last + 1)
        )
    )


def _effects(
    samples: Samples, common: _Common, when: str, permuted: inference.Permutation
) -> tuple[Effect, ...]:
    found, difference = inference.interval(samples), samples.difference
    size, noise = inference.effect_size(samples), inference.pooled_sd(samples)
    least = inference.detectable(found)
    means = [arm.mean(axis=0) for arm in (samples.first, samples.second)]
    spread = [_sd(arm) for arm in (samples.first, samples.second)]
    return tuple(
        Effect(
            kind=kind,
            measure=name,
            when=when,
            means=(float(means[0][i]), float(means[1][i])),
            difference=float(difference[i]),
            low=_known(found.low[i]),
            high=_known(found.high[i]),
            sd=(_known(spread[0][i]), _known(spread[1][i])),
            noise=_known(noise[i]),
            effect_size=_known(size[i]),
            p=_known(permuted.p[i]),
            p_holm=None,
            detectable=_known(least[i]),
        )
        for i, (kind, name) in enumerate(common.measures)
    )


def _sd(arm: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(arm) == 1:
        return np.full(arm.shape[1], np.nan)
    spread: NDArray[np.float64] = arm.std(axis=0, ddof=1)
    return spread


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _corrected(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """Return the contrasts with Holm's p-values: over all measures of a kind and all contrasts."""
    ends = _holm([each.end for each in contrasts])
    courses = _holm([each.course for each in contrasts])
    return tuple(
        replace(each, end=end, course=course)
        for each, end, course in zip(contrasts, ends, courses, strict=True)
    )


def _holm(effects: Sequence[tuple[Effect, ...]]) -> list[tuple[Effect, ...]]:
    flat = [effect for each in effects for effect in each]
    p = np.array([np.nan if effect.p is None else effect.p for effect in flat])
    corrected = np.full(len(flat), np.nan)
    for kind in _KINDS:
        rows = [i for i, effect in enumerate(flat) if effect.kind == kind]
        corrected[rows] = inference.holm(p[rows])
    told = (
        replace(effect, p_holm=_known(each)) for effect, each in zip(flat, corrected, strict=True)
    )
    return [tuple(islice(told, len(each))) for each in effects]


def _tests(contrasts: Sequence[Contrast]) -> dict[str, int]:
    every = [effect for contrast in contrasts for effect in contrast.end if effect.p is not None]
    return {kind: sum(effect.kind == kind for effect in every) for kind in _KINDS}


def _notes(
    groups: Sequence[Group], every: Sequence[RunMeasures], common: _Common
) -> tuple[str, ...]:
    notes = []
    horizons = sorted({run.info.last_tick for run in every})
    if len(horizons) > 1:
        told = listed(map(str, horizons))
        notes.append(
            f"Runs end at different ticks ({told}); the first {common.last} are compared."
        )
    if common.only_some:
        notes.append(f"Not in every run, so left out: {listed(common.only_some)}.")
    for what, values in _versions(every).items():
        if len(values) > 1:
            notes.append(f"Runs differ in {what}: {listed(values)}.")
    for group in groups:
        own = differing(group.runs)
        if own:
            notes.append(f"{group.letter} mixes settings: {listed(own)} differ between its runs.")
    return tuple(notes)


def _versions(every: Sequence[RunMeasures]) -> dict[str, list[str]]:
    headers = [run.info.header for run in every]
    encoders = {f"{each.encoder} {(each.encoder_sha256 or '')[:8]}".strip() for each in headers}
    return {
        "engine version": sorted({each.engine_version for each in headers}),
        "encoder": sorted(encoders),
    }
