"""Two or more runs side by side: how far they differ, how sure that is, and where they part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.inference import ALPHA
from simulation.analysis.report import charts
from simulation.analysis.report.numbers import SMALL, cut, listed, many, signed
from simulation.analysis.report.parts import Chart, Figure, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.analysis.comparison import Comparison
    from simulation.analysis.counterfactual import Counterfactual
    from simulation.analysis.group_comparison import Contrast, Effect, GroupComparison
    from simulation.analysis.report.source import Source

_MEANS = "SELECT tick, target, avg(belief) AS mean FROM beliefs GROUP BY ALL ORDER BY ALL"
_TURNS = "SELECT action, count(*) AS turns FROM turns GROUP BY action ORDER BY action"

_EACH = (
    "The queries are put to each run; a run is one observation, so intervals are t intervals over "
    "runs, paired by seed where seeds match, and p-values are corrected by Holm's method."
)


def comparison(
    source: Source, groups: GroupComparison | None, pair: Comparison | None
) -> Section | None:
    """Return the section; None where there is nothing to compare.

    groups: of runs with different settings.  pair: where there are just two runs.
    """
    figures = []
    said = []
    if groups is not None:
        figures += [_who(groups), _differences(source, groups), _paths(source, groups)]
        said += [_words(groups, contrast) for contrast in groups.contrasts]
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


def _names(groups: GroupComparison) -> dict[str, str]:
    return {arm.letter: f"{arm.letter}: {cut(arm.name, 80)}" for arm in groups.arms}


def _words(groups: GroupComparison, contrast: Contrast) -> str:
    effects = [each for each in contrast.end if each.kind == "belief"]
    if not effects:
        return "The runs have no belief in common."
    first, second = contrast.arms
    most = max(effects, key=lambda each: abs(each.difference))
    if abs(most.difference) < SMALL:
        return f"At tick {groups.common_ticks} no mean differs between {first} and {second}."
    told = (
        f"At tick {groups.common_ticks} {second} differs from {first} most in {most.measure}, by "
        f"{signed(most.difference)}{_interval(most)}."
    )
    if min(contrast.runs) < 2:  # noqa: PLR2004 - chance takes two runs to be seen
        return f"{told} With one run of a kind this cannot be told from chance."
    beyond = [each.measure for each in effects if each.p_holm is not None and each.p_holm <= ALPHA]
    if not beyond:
        return f"{told} No difference is beyond what seeds do by chance."
    return f"{told} Beyond what seeds do by chance: {listed(beyond)}."


def _interval(effect: Effect) -> str:
    if effect.low is None or effect.high is None:
        return ""
    return f" (95 % interval {signed(effect.low)} to {signed(effect.high)})"


def _who(groups: GroupComparison) -> Figure:
    rows = [
        (arm.letter, arm.name, len(arm.runs), ", ".join(map(str, arm.seeds)),
         "; ".join(f"{path}: {why}" for path, why in arm.left_out.items()) or "–")
        for arm in groups.arms
    ]  # fmt: skip
    settings = [
        (f"{contrast.arms[0]} and {contrast.arms[1]}", key, str(values[0]), str(values[1]))
        for contrast in groups.contrasts
        for key, values in contrast.settings.items()
    ]
    notes = f" {' '.join(groups.notes)}" if groups.notes else ""
    told = [f"{key} ({one} and {other})" for _, key, one, other in settings[:3]]
    differ = f"They differ in {listed(told)}." if told else "No setting tells them apart."
    return Figure(
        title="What is compared",
        sentence=f"{many(len(rows), 'group')} of runs. {cut(differ, 300)}{notes}",
        tables=[
            Table(
                caption="Groups",
                columns=("group", "what it is", "runs", "seeds", "left out"),
                rows=rows,
            ),
            Table(
                caption="Settings that differ",
                columns=("groups", "setting", "in the first", "in the second"),
                rows=settings,
            ),
        ],
        open_table=True,
    )


def _differences(source: Source, groups: GroupComparison) -> Figure:
    rows = [
        {"contrast": f"{contrast.arms[1]} minus {contrast.arms[0]}", "measure": each.measure,
         "kind": each.kind, "first": each.means[0], "second": each.means[1],
         "difference": each.difference, "low": each.low, "high": each.high,
         "size": each.effect_size, "p": each.p_holm, "detectable": each.detectable}
        for contrast in groups.contrasts
        for each in sorted(contrast.end, key=lambda each: source.order(each.measure))
    ]  # fmt: skip
    beliefs = [row for row in rows if row["kind"] == "belief"]
    table = Table(
        caption=f"Differences at tick {groups.common_ticks}: beliefs are means, actions are shares",
        columns=("groups", "measure", "kind", "mean of the first", "mean of the second",
                 "difference", "low", "high", "effect size", "p (Holm)", "smallest detectable"),
        rows=[tuple(row.values()) for row in rows],
    )  # fmt: skip
    sentence = _forest_words(groups)
    return Figure(
        title="Differences with their intervals",
        sentence=sentence,
        charts=[
            Chart(
                spec=_forest([row for row in beliefs if row["contrast"] == name]),
                title=name,
                description=f"Differences of mean beliefs with 95 % intervals, {name}. {sentence}",
            )
            for name in dict.fromkeys(row["contrast"] for row in beliefs)
        ],
        tables=[table],
        sql=[_MEANS, _TURNS],
        computed=_EACH,
    )


def _forest_words(groups: GroupComparison) -> str:
    known = [
        each
        for contrast in groups.contrasts
        for each in contrast.end
        if each.kind == "belief" and each.low is not None and each.high is not None
    ]
    if not known:
        return (
            "There is one run of a kind, so differences have no interval: run more seeds of each "
            "(simulation sweep) and give all runs to the report."
        )
    clear = sum(each.low > 0 or each.high < 0 for each in known if each.low is not None
                and each.high is not None)  # fmt: skip
    return (
        f"Dots are differences of means, lines their 95 % intervals over seeds; "
        f"{clear} of {len(known)} intervals leave out zero."
    )


def _forest(rows: Sequence[Mapping[str, Any]]) -> charts.Spec:
    y = charts.field("measure", "nominal", None, sort=[row["measure"] for row in rows],
                     axis={"labelLimit": 140, "domain": False})  # fmt: skip
    tips = [
        charts.tip("measure", "belief"),
        charts.tip("difference", "difference", "+.3f"),
        charts.tip("low", "low", "+.3f"),
        charts.tip("high", "high", "+.3f"),
    ]
    title = "difference of the means"
    return charts.chart(
        rows,
        height={"step": 28},
        encoding={"y": y, "tooltip": tips},
        layer=[
            {
                "mark": {"type": "rule", "strokeDash": [3, 3]},
                "encoding": {"x": {"datum": 0, "type": "quantitative"}},
            },
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 3, "color": "var(--series-1)"},
                "encoding": {"x": charts.number("low", title), "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "circle", "size": 90, "opacity": 1, "color": "var(--series-2)"},
                "encoding": {"x": charts.number("difference", title)},
            },
        ],
    )


def _paths(source: Source, groups: GroupComparison) -> Figure:
    names = _names(groups)
    letters = list(names)[: len(charts.SERIES)]
    found = []
    for target in groups.targets:
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
        sentence=f"Each line is the mean of a group's runs: {'; '.join(names.values())}.",
        charts=found,
        sql=[_MEANS],
        computed=_EACH,
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
            "y": charts.belief_axis("mean", "mean belief"),
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


def _pair_words(pair: Comparison) -> str:
    if pair.identical:
        return "The two runs are identical in everything that a run computes."
    if pair.divergence is None:
        return "In the ticks that both have, the two runs agree in everything."
    cause = f" The reason: {pair.causes[0].kind}." if pair.causes else ""
    return f"The two runs part at tick {pair.divergence.tick}.{cause}"


def _apart(pair: Comparison) -> Figure:
    names = [f"{letter}: {side.scenario_name}, seed {side.seed}" for letter, side in
             zip("AB", pair.sides, strict=True)]  # fmt: skip
    last = [each for each in pair.means if each.tick == pair.common_ticks]
    return Figure(
        title="Where the two runs part",
        sentence=f"{listed(names)}. In words, as simulation compare says it:",
        lines=pair.summary(),
        tables=[
            Table(
                caption=f"Means at tick {pair.common_ticks}",
                columns=("belief", "first", "second", "difference"),
                rows=[(each.target, *each.means, each.difference) for each in last],
            ),
            Table(
                caption="Turns by action",
                columns=("action", "first", "second"),
                rows=[(name, *counts) for name, counts in pair.actions.items()],
            ),
        ],
        sql=[_MEANS, _TURNS],
        computed="The queries are put to both runs.",
    )


def _spread(found: Counterfactual) -> Figure:
    rows = [
        {"tick": each.tick, "personas": value, "what": what}
        for each in found.ticks
        for what, value in (
            ("reached so far", each.reached), ("acted otherwise", each.acted),
            ("believe otherwise", each.believed),
        )
    ]  # fmt: skip
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
            (each.tick, each.new, each.reached, each.saw, each.acted, each.remembered,
             each.believed)
            for each in found.ticks
        ],
    )  # fmt: skip
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
