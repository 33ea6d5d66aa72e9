"""Two or more runs side by side: how far they differ, how sure that is, and where they part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report import contrast as wording
from simulation.analysis.report.means import EACH, MEANS, means
from simulation.analysis.report.numbers import NOTHING, listed, many
from simulation.analysis.report.parts import Chart, Figure, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.analysis.comparison import Comparison
    from simulation.analysis.counterfactual import Counterfactual
    from simulation.analysis.group_comparison import GroupComparison
    from simulation.analysis.report.contrast import Kin
    from simulation.analysis.report.source import Source

_TURNS = "SELECT action, count(*) AS turns FROM turns GROUP BY action ORDER BY action"

_MOST_SETTINGS = 40  # that are told in a table


def comparison(
    source: Source, groups: GroupComparison | None, pair: Comparison | None, kin: Kin
) -> Section | None:
    """Return the section; None where there is nothing to compare.

    groups: of runs with different settings.  pair: where there are just two runs.  kin: path of
    each run: its id and, of a fork, that of the run it was forked from.
    """
    figures = []
    said = []
    if groups is not None:
        figures += [_who(groups), _differences(source, groups, pair), means(source, groups)]
        said += [wording.words(groups, contrast, kin) for contrast in groups.contrasts]
    if pair is not None:
        figures += [_apart(pair)]
        said.append(_pair_words(pair))
        if pair.counterfactual is not None and pair.counterfactual.ticks:
            figures += [_spread(pair.counterfactual)]
    if not figures:
        return None
    return Section(
        name="comparison", title="Side by side", sentence=" ".join(said), figures=figures
    )


def _who(groups: GroupComparison) -> Figure:
    rows = [
        (
            arm.letter,
            arm.name,
            len(arm.runs),
            ", ".join(map(str, arm.seeds)),
            "; ".join(f"{Path(path).name}: {why}" for path, why in arm.left_out.items())
            or NOTHING,
        )
        for arm in groups.arms
    ]
    settings = wording.setting_rows(groups)
    notes = f" {' '.join(groups.notes)}" if groups.notes else ""
    differ = wording.differ_words(settings)
    return Figure(
        title="What is compared",
        sentence=f"{many(len(rows), 'group')} of runs. {differ}{notes}",
        tables=[
            Table(
                caption="Groups",
                columns=("group", "what it is", "runs", "seeds", "left out"),
                rows=rows,
            ),
            Table(
                caption="Settings that differ",
                columns=("groups", "setting", "in the first", "in the second"),
                rows=settings[:_MOST_SETTINGS],
                note=_settings_note(len(settings)),
            ),
        ],
        open_table=True,
    )


def _settings_note(count: int) -> str:
    left = max(0, count - _MOST_SETTINGS)
    told = f"{left} more are left out. " if left else ""
    return f"{told}Each is a key of the scenario; simulation schema says what it does."


def _whose(pair: Comparison | None) -> tuple[str, str]:
    """Return whose means stand in the differences and whose where two runs part, if not the same.

    The first are over all personas of each run, the second over those that both runs have.
    """
    if pair is None or not any(side.only_personas for side in pair.sides):
        return "", ""
    common = pair.common_personas
    first, second = (common + len(side.only_personas) for side in pair.sides)
    return (
        f" Means are over all personas of each run: {first:,} in A, {second:,} in B.",
        f" over the {many(common, 'persona')} in both",
    )


def _differences(source: Source, groups: GroupComparison, pair: Comparison | None) -> Figure:
    rows = [
        {
            "contrast": f"{contrast.arms[1]} minus {contrast.arms[0]}",
            "measure": each.measure,
            "kind": each.kind,
            "first": each.means[0],
            "second": each.means[1],
            "difference": each.difference,
            "low": each.low,
            "high": each.high,
            "size": each.effect_size,
            "p": each.p_holm,
            "detectable": each.detectable,
        }
        for contrast in groups.contrasts
        for each in sorted(contrast.end, key=lambda each: source.order(each.measure))
    ]
    beliefs = [row for row in rows if row["kind"] == "belief"]
    table = Table(
        caption=f"Differences at tick {groups.common_ticks}: means of beliefs, shares of actions",
        columns=(
            "groups",
            "measure",
            "kind",
            "mean of the first",
            "mean of the second",
            "difference",
            "low",
            "high",
            "effect size",
            "p (Holm)",
            "smallest detectable",
        ),
        rows=[tuple(row.values()) for row in rows],
        note=_differences_note(groups),
    )
    sentence = f"{_forest_words(groups)}{_whose(pair)[0]}"
    return Figure(
        title="Differences with their intervals",
        sentence=sentence,
        charts=[
            Chart(
                spec=_forest([row for row in beliefs if row["contrast"] == name]),
                title=name,
                description=f"Differences of mean beliefs with 95 % intervals, {name}. {sentence}",
            )
            for name in dict.fromkeys(str(row["contrast"]) for row in beliefs)
        ],
        tables=[table],
        sql=[MEANS, _TURNS],
        computed=EACH,
    )


def _differences_note(groups: GroupComparison) -> str:
    detectable = (
        "Smallest detectable: the true difference that a t test on so many seeds finds in 80 of "
        "100 cases, with nothing corrected for many tests."
    )
    if any(wording.hopeless(groups, contrast) for contrast in groups.contrasts):
        return f"With so few seeds no p can reach .05: here p says nothing. {detectable}"
    return detectable


def _forest_words(groups: GroupComparison) -> str:
    known = [
        each
        for contrast in groups.contrasts
        for each in contrast.end
        if each.kind == "belief" and each.low is not None
    ]
    if not known:
        return (
            "A group has a single run, so there is no interval: run more seeds of each "
            "(simulation sweep) and give all runs to the report."
        )
    clear = sum(map(wording.clear, known))
    return (
        f"Dots are differences of means, lines their 95 % intervals over seeds; "
        f"{clear} of {len(known)} intervals leave out zero; each stands alone, so of many some do "
        "by chance."
    )


def _forest(rows: Sequence[Mapping[str, Any]]) -> charts.Spec:
    y = charts.field(
        "measure",
        "nominal",
        None,
        sort=[row["measure"] for row in rows],
        axis={"labelLimit": 140, "domain": False},
    )
    tips = [
        charts.tip("measure", "belief"),
        charts.tip("difference", "difference", "+.3f"),
        charts.tip("low", "low", "+.3f"),
        charts.tip("high", "high", "+.3f"),
    ]
    title = "difference of the means"
    return charts.chart(
        rows,
        height=28 * max(1, len(rows)),
        encoding={"y": y, "tooltip": tips},
        layer=[
            {
                "mark": {"type": "rule", "strokeDash": [3, 3]},
                "encoding": {"x": {"datum": 0, "type": "quantitative"}, "y": None},
            },
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 3, "color": "var(--series-1)"},
                "encoding": {"x": charts.change_axis("low", title), "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "circle", "size": 90, "opacity": 1, "color": "var(--series-2)"},
                "encoding": {"x": charts.change_axis("difference", title)},
            },
        ],
    )


def _pair_words(pair: Comparison) -> str:
    if pair.identical:
        return "The two runs are identical in everything that a run computes."
    if not pair.common_personas or not pair.common_targets:
        return "The two runs have no persona or no belief in common."
    if pair.divergence is None:
        return "In the ticks that both have, the two runs agree in everything."
    why = next((line for line in pair.summary() if line.startswith("Why: ")), "")
    return f"The two runs part at tick {pair.divergence.tick}. {why}".rstrip()


def _without_folders(pair: Comparison) -> list[str]:
    """Return the comparison in words, files by name: a page that is sent on tells no folders."""
    lines = pair.summary()
    for side in sorted(pair.sides, key=lambda side: -len(side.path)):
        lines = [line.replace(side.path, Path(side.path).name) for line in lines]
    return lines


def _apart(pair: Comparison) -> Figure:
    names = [
        f"{letter}: {side.scenario_name}, seed {side.seed}"
        for letter, side in zip("AB", pair.sides, strict=True)
    ]
    last = [each for each in pair.means if each.tick == pair.common_ticks]
    whose = _whose(pair)[1]
    note = f" Means here are{whose}, and so may differ from those over all." if whose else ""
    return Figure(
        title="Where the two runs part",
        sentence=f"{listed(names)}.{note} In words, as simulation compare says it:",
        lines=_without_folders(pair),
        tables=[
            Table(
                caption=f"Means at tick {pair.common_ticks}{whose}",
                columns=("belief", "first", "second", "difference"),
                rows=[(each.target, *each.means, each.difference) for each in last],
            ),
            Table(
                caption="Turns by action",
                columns=("action", "first", "second"),
                rows=[(name, *counts) for name, counts in pair.actions.items()],
            ),
        ],
        sql=[MEANS, _TURNS],
        computed="The queries are put to both runs.",
    )


def _spread(found: Counterfactual) -> Figure:
    rows = [
        {"tick": each.tick, "personas": value, "what": what}
        for each in found.ticks
        for what, value in (
            ("reached so far", each.reached),
            ("acted otherwise", each.acted),
            ("believe otherwise", each.believed),
        )
    ]
    names = ["reached so far", "believe otherwise", "acted otherwise"]
    last = found.ticks[-1]
    spec = charts.chart(
        rows,
        mark={"type": "line", "point": {"size": 70, "opacity": 0}},
        encoding={
            "x": charts.tick_axis(found.last_tick),
            "y": charts.number("personas", "personas", scale={"domain": [0, found.personas]}),
            "color": charts.colour("what", names),
            "tooltip": [
                charts.tip("tick", "tick", "d"),
                charts.tip("what", "who"),
                charts.tip("personas", "personas", ","),
            ],
        },
    )
    sentence = (
        f"The same people with the same chance: the change had reached {last.reached:,} of "
        f"{many(found.personas, 'persona')} by tick {last.tick}; {last.believed:,} then believe "
        "something else."
    )
    table = Table(
        caption="How the difference spread, tick by tick",
        columns=("tick", "new", "reached", "saw", "acted", "remembered", "believed"),
        rows=[
            (
                each.tick,
                each.new,
                each.reached,
                each.saw,
                each.acted,
                each.remembered,
                each.believed,
            )
            for each in found.ticks
        ],
    )
    return Figure(
        title="How the difference went through the graph",
        sentence=sentence,
        charts=[
            Chart(spec=spec, description=f"Personas that live otherwise, by tick. {sentence}")
        ],
        tables=[table],
        sql=[
            "SELECT * FROM turns ORDER BY tick, persona_id",
            "SELECT * FROM beliefs ORDER BY tick, persona_id, target",
        ],
        computed="Rows of both runs are compared persona by persona and tick by tick.",
    )
