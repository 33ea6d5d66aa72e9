"""Means of groups of runs, tick by tick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.numbers import cut
from simulation.analysis.report.parts import Chart, Figure, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.analysis.group_comparison import GroupComparison
    from simulation.analysis.report.source import Source

MEANS = "SELECT tick, target, avg(belief) AS mean FROM beliefs GROUP BY ALL ORDER BY ALL"

EACH = (
    "The queries are put to each run; a run is one observation, so intervals are t intervals over "
    "runs, paired by seed where seeds match, and p-values are corrected by Holm's method."
)


def means(source: Source, groups: GroupComparison) -> Figure:
    """Return the figure: one picture per belief, one line per group."""
    names = _names(groups)
    letters = list(names)[: len(charts.SERIES)]
    found = []
    for target in sorted(groups.targets, key=source.order):
        rows: dict[tuple[str, int], float] = {}
        for contrast in groups.contrasts:
            for each in contrast.ticks:
                if each.kind == "belief" and each.measure == target:
                    for letter, mean in zip(contrast.arms, each.means, strict=True):
                        rows[letter, each.tick] = mean
        told = [
            {"group": letter, "tick": tick, "mean": mean}
            for (letter, tick), mean in rows.items()
            if letter in letters
        ]
        found.append(_lines(source, target, told, letters, groups.common_ticks))
    return Figure(
        title="Means, tick by tick",
        sentence=f"Each line is the mean of a group's runs: {'; '.join(names.values())}. Each "
        "picture has its own scale, as far as its means go.",
        charts=found,
        tables=[_means_table(source, groups)],
        sql=[MEANS],
        computed=EACH,
    )


def _means_table(source: Source, groups: GroupComparison) -> Table:
    letters = [arm.letter for arm in groups.arms]
    found: dict[tuple[str, int], dict[str, float]] = {}
    for contrast in groups.contrasts:
        for each in contrast.ticks:
            if each.kind == "belief":
                row = found.setdefault((each.measure, each.tick), {})
                row.update(zip(contrast.arms, each.means, strict=True))
    step = max(1, -(-groups.common_ticks // 30))
    rows = [
        (name, tick, *(row.get(letter) for letter in letters))
        for (name, tick), row in sorted(
            found.items(), key=lambda item: (source.order(item[0][0]), item[0][1])
        )
        if tick % step == 0 or tick == groups.common_ticks
    ]
    note = f"One tick in {step} is shown, and the last." if step > 1 else ""
    return Table(
        caption="Mean of each belief by group and tick",
        columns=("belief", "tick", *letters),
        rows=rows,
        note=note,
    )


def _lines(
    source: Source,
    target: str,
    rows: Sequence[Mapping[str, Any]],
    letters: Sequence[str],
    last: int,
) -> Chart:
    ends = {row["group"]: row["mean"] for row in rows if row["tick"] == last}
    told = ", ".join(f"{letter} {mean:.2f}" for letter, mean in ends.items())
    spec = charts.chart(
        rows,
        height=150,
        mark={"type": "line", "point": {"size": 70, "opacity": 0}},
        encoding={
            "x": charts.tick_axis(last),
            "y": charts.near_axis("mean", "mean belief", [row["mean"] for row in rows]),
            "color": charts.colour("group", letters, "group"),
            "tooltip": [
                charts.tip("group", "group"),
                charts.tip("tick", "tick", "d"),
                charts.tip("mean", "mean", ".3f"),
            ],
        },
    )
    label = source.label(target)
    return Chart(
        spec=spec, title=label, description=f"Mean of {label} by group; at the end {told}"
    )


def _names(groups: GroupComparison) -> dict[str, str]:
    return {arm.letter: f"{arm.letter}: {cut(arm.name, 80)}" for arm in groups.arms}
