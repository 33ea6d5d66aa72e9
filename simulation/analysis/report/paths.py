"""Belief paths: median and bands over the ticks, and the distribution at any tick."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.numbers import SMALL, many, percent, quoted, signed
from simulation.analysis.report.parts import Chart, Choice, Figure, Section, Slider, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.measures import RunMeasures
    from simulation.analysis.report.source import Source, Target

_BANDS = """
SELECT
    tick,
    target,
    avg(belief) AS mean,
    stddev_pop(belief) AS sd,
    quantile_cont(belief, 0.1) AS p10,
    quantile_cont(belief, 0.25) AS p25,
    quantile_cont(belief, 0.5) AS median,
    quantile_cont(belief, 0.75) AS p75,
    quantile_cont(belief, 0.9) AS p90
FROM beliefs WHERE {ticks}
GROUP BY tick, target ORDER BY target, tick
"""

# An event is shown in its own tick, and moves beliefs in it.
_EVENTS = """
SELECT tick, claim_id AS target, source, kind, text
FROM stimuli WHERE tick <= {last} ORDER BY tick, stimulus_id
"""

_BINS = """
SELECT
    target,
    tick,
    least(19, CAST(floor(belief * 20 + 1e-9) AS INTEGER)) AS bin,
    count(*) AS personas
FROM beliefs WHERE {ticks}
GROUP BY ALL ORDER BY ALL
"""

_BANDS_OF_FIVE = """
SELECT
    target,
    tick,
    avg(CAST(belief < 0.2 AS DOUBLE)) AS below_20,
    avg(CAST(belief >= 0.2 AND belief < 0.4 AS DOUBLE)) AS from_20_to_40,
    avg(CAST(belief >= 0.4 AND belief < 0.6 AS DOUBLE)) AS from_40_to_60,
    avg(CAST(belief >= 0.6 AND belief < 0.8 AS DOUBLE)) AS from_60_to_80,
    avg(CAST(belief >= 0.8 AS DOUBLE)) AS from_80,
    stddev_pop(belief) AS sd
FROM beliefs WHERE tick IN ({chosen})
GROUP BY target, tick ORDER BY target, tick
"""

_BIN_COUNT = 20

_ByTarget = dict[str, list[dict[str, Any]]]


def paths(source: Source, seeds: Sequence[RunMeasures]) -> Section:
    """Return the section. seeds: finished runs that differ in their seed, drawn as thin lines."""
    by_target = _rows(source)
    return Section(
        name="beliefs",
        title="How beliefs went",
        sentence=_sentence(source, by_target),
        figures=[_bands(source, seeds, by_target), _distribution(source)],
    )


def _rows(source: Source) -> _ByTarget:
    found: _ByTarget = {}
    for row in source.ask(_BANDS.format(ticks=source.some_ticks)).dicts():
        found.setdefault(row["target"], []).append(row)
    return found


def _sentence(source: Source, by_target: _ByTarget) -> str:
    widths = {
        name: rows[-1]["sd"] - rows[0]["sd"] for name, rows in by_target.items() if len(rows) > 1
    }
    if not widths or max(map(abs, widths.values())) < SMALL:
        return "People are as far apart at the end as they were at the start, in every belief."
    most = max(widths, key=lambda name: abs(widths[name]))
    way = "apart" if widths[most] > 0 else "together"
    first, last = by_target[most][0]["sd"], by_target[most][-1]["sd"]
    rest = sum(value > SMALL for value in widths.values())
    return (
        f"People moved {way} most over {source.named(most)}: the standard deviation of the "
        f"population went from {first:.2f} to {last:.2f}. It grew in {rest} of "
        f"{many(len(widths), 'belief')}."
    )


def _bands(source: Source, seeds: Sequence[RunMeasures], by_target: _ByTarget) -> Figure:
    events = source.ask(_EVENTS.format(last=source.last))
    charts_ = [
        _path(source, target, by_target.get(target.name, []), events.dicts(), seeds)
        for target in source.targets
    ]
    rows = [
        (row["target"], row["tick"], *list(row.values())[2:])
        for target in source.targets
        for row in by_target.get(target.name, [])
    ]
    more = _seeds_words(source, seeds)
    columns = ("belief", "tick", "mean", "sd", "p10", "p25", "median", "p75", "p90")
    return Figure(
        title="Median and bands, belief by belief",
        sentence=(
            "The line is the median of all personas, the dark band the middle half, the light "
            "band the middle 80 %. Small marks at the foot are events of the scenario about "
            f"that claim.{more}{source.thinned}"
        ),
        charts=charts_,
        tables=[Table(caption="Quantiles of each belief by tick", columns=columns, rows=rows)],
        sql=[_BANDS.format(ticks=source.some_ticks).strip(), events.sql],
    )


def _path(
    source: Source,
    target: Target,
    rows: Sequence[dict[str, Any]],
    events: Sequence[dict[str, Any]],
    seeds: Sequence[RunMeasures],
) -> Chart:
    own = [each for each in events if each["target"] == target.name]
    said = _path_words(rows, own)
    means_of = [
        {"tick": tick, "mean": float(means[tick]), "seed": str(run.info.header.seed)}
        for run in (seeds if len(seeds) > 1 else ())
        if (means := run.beliefs.get(target.name)) is not None
        for tick in source.ticks
        if tick < len(means)
    ]
    spec = charts.chart(
        [{key: value for key, value in row.items() if key != "target"} for row in rows],
        height=170,
        encoding={"x": charts.tick_axis(source.last)},
        layer=[
            *_band_layers(),
            *_seed_layers(source, means_of),
            *_event_layers(own),
            _pointer_layer(),
        ],
    )
    return Chart(spec=spec, title=target.label, description=f"{target.label}. {said}")


def _band_layers() -> list[charts.Spec]:
    """Return the two bands, the median and the line at one half."""
    light = {"type": "area", "opacity": 0.16, "color": "var(--series-1)"}
    dark = {"type": "area", "opacity": 0.3, "color": "var(--series-1)"}
    return [
        {
            "mark": {"type": "rule", "strokeDash": [2, 4], "opacity": 0.6},
            "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": {"datum": 0.5}},
        },
        {"mark": light, "encoding": {"y": charts.belief_axis("p10"), "y2": {"field": "p90"}}},
        {"mark": dark, "encoding": {"y": charts.belief_axis("p25"), "y2": {"field": "p75"}}},
        {
            "mark": {"type": "line", "color": "var(--series-1)", "strokeWidth": 2.5},
            "encoding": {"y": charts.belief_axis("median")},
        },
    ]


def _pointer_layer() -> charts.Spec:
    """Return invisible points that are easy to hit, and say the numbers of their tick."""
    names = ("mean", "p10", "p25", "median", "p75", "p90")
    return {
        "mark": {"type": "circle", "size": 260, "opacity": 0},
        "encoding": {
            "y": charts.belief_axis("median"),
            "tooltip": [
                charts.tip("tick", "tick", "d"),
                *(charts.tip(name, name, ".2f") for name in names),
            ],
        },
    }


def _seeds_words(source: Source, seeds: Sequence[RunMeasures]) -> str:
    if len(seeds) < 2:  # noqa: PLR2004 - others take two
        return ""
    return (
        " Thin lines are means, one for each seed; that of this run, seed "
        f"{source.header.seed}, is dashed. Compare them with each other and not with the median, "
        "from which a mean is apart in any run."
    )


def _seed_layers(source: Source, means_of: Sequence[dict[str, Any]]) -> list[charts.Spec]:
    """Return the means of the seeds: named by colour, or alike where there are too many."""
    if not means_of:
        return []
    own = str(source.header.seed)
    names = list(dict.fromkeys([own, *(row["seed"] for row in means_of)]))
    colours = charts.SERIES[1:]  # the first is that of the median
    parted: charts.Spec = {"detail": {"field": "seed", "type": "nominal"}}
    mark: charts.Spec = {"type": "line", "strokeWidth": 1.5}
    if len(names) <= len(colours):
        colour = charts.colour("seed", names, "mean, seed")
        parted = {"color": {**colour, "scale": {"domain": names, "range": colours[: len(names)]}}}
    else:
        mark = {**mark, "color": colours[0], "opacity": 0.7}
    dash = {"condition": {"test": f"datum.seed == '{own}'", "value": [5, 3]}, "value": [1, 0]}
    return [
        {
            "data": {"values": list(means_of)},
            "mark": mark,
            "encoding": {"y": charts.belief_axis("mean"), "strokeDash": dash, **parted},
        }
    ]


def _event_layers(own: Sequence[dict[str, Any]]) -> list[charts.Spec]:
    if not own:
        return []
    mark = {"type": "point", "shape": "triangle-up", "filled": True, "size": 90,
            "color": "var(--series-2)", "opacity": 1}  # fmt: skip
    told = [
        {"tick": each["tick"], "foot": 0.03, "who": f"{each['source']} ({each['kind']})",
         "text": quoted(each["text"])}
        for each in own
    ]  # fmt: skip
    return [
        {
            "data": {"values": told},
            "mark": mark,
            "encoding": {
                "y": charts.belief_axis("foot"),
                "tooltip": [
                    charts.tip("tick", "tick", "d"),
                    charts.tip("who", "event"),
                    charts.tip("text", "says"),
                ],
            },
        }
    ]


def _path_words(rows: Sequence[dict[str, Any]], events: Sequence[dict[str, Any]]) -> str:
    """Return what a path shows: where it began and ended, and its steepest tick."""
    if not rows:
        return "Nobody holds this belief."
    first, last = rows[0], rows[-1]
    said = (
        f"The median went from {first['median']:.2f} to {last['median']:.2f}; the middle 80 % of "
        f"personas lay between {first['p10']:.2f} and {first['p90']:.2f} at the start and between "
        f"{last['p10']:.2f} and {last['p90']:.2f} at the end."
    )
    steps = [(after["mean"] - before["mean"], after["tick"]) for before, after in pairwise(rows)]
    if not steps or max(abs(step) for step, _ in steps) < SMALL:
        return f"{said} No tick moved the mean by 0.01."
    step, tick = max(steps, key=lambda each: (abs(each[0]), -each[1]))
    because = [f"{each['source']} ({each['kind']})" for each in events if each["tick"] == tick]
    behind = f", the tick of {because[0]}" if because else ""
    return f"{said} The steepest step of the mean is {signed(step)} at tick {tick}{behind}."


def _distribution(source: Source) -> Figure:
    answer = source.ask(_BINS.format(ticks=source.some_ticks))
    counts: dict[tuple[str, int], list[int]] = {}
    for target, tick, place, personas in answer.rows:
        counts.setdefault((target, tick), [0] * _BIN_COUNT)[place] = personas
    rows = [
        {"target": target, "tick": tick, "now": now, "first": counts[target, 0]}
        for (target, tick), now in counts.items()
    ]
    chosen = sorted({0, *(round(source.last * part / 4) for part in range(1, 5))})
    table = source.ask(_BANDS_OF_FIVE.format(chosen=", ".join(map(str, chosen))))
    return Figure(
        title="The distribution at a tick",
        sentence=_distribution_words(source, table.dicts()),
        charts=[_histogram(source, rows)],
        tables=[
            Table(
                caption=f"Shares of personas by belief at {many(len(chosen), 'chosen tick')}",
                columns=table.columns,
                rows=sorted(table.rows, key=lambda row: (source.order(row[0]), row[1])),
            )
        ],
        sql=[answer.sql, table.sql],
    )


def _distribution_words(source: Source, rows: Sequence[dict[str, Any]]) -> str:
    ends = [row for row in rows if row["tick"] == source.last]
    if not ends:
        return "Nobody holds a belief."
    sided = max(ends, key=lambda row: row["below_20"] + row["from_80"])
    share = sided["below_20"] + sided["from_80"]
    if share < SMALL:
        return "At the end nobody is sure: no persona believes anything below 0.2 or above 0.8."
    return (
        f"At the end the strongest views are on {source.named(sided['target'])}: "
        f"{percent(sided['from_80'])} of personas are at 0.8 or above and "
        f"{percent(sided['below_20'])} below 0.2. Bars are the chosen tick, the outline the start."
    )


def _histogram(source: Source, rows: Sequence[dict[str, Any]]) -> Chart:
    bars = {"type": "rect", "color": "var(--series-1)", "opacity": 0.75}
    outline = {"type": "line", "interpolate": "step-after", "color": "var(--ink)",
               "strokeWidth": 1.5}  # fmt: skip
    number = charts.number
    spec = charts.chart(
        rows,
        height=220,
        params=[charts.signal("tick", source.last), charts.signal("belief", source.most_moved)],
        transform=[
            {"filter": "datum.target == belief && datum.tick == tick"},
            {"calculate": f"sequence(0, {_BIN_COUNT})", "as": "bin"},
            {"flatten": ["now", "first", "bin"]},
            {"calculate": f"datum.bin / {_BIN_COUNT}", "as": "from"},
            {"calculate": f"(datum.bin + 1) / {_BIN_COUNT}", "as": "to"},
            {"calculate": "0", "as": "zero"},
        ],
        encoding={
            "x": number(
                "from",
                "belief",
                scale={"domain": [0, 1]},
                axis={"grid": False, "tickCount": 10, "format": ".2~f"},
            )
        },
        layer=[
            {
                "mark": bars,
                "encoding": {
                    "x2": {"field": "to"},
                    "y": number("now", "personas", axis={"tickMinStep": 1}),
                    "y2": {"field": "zero"},
                    "tooltip": [
                        charts.tip("from", "from", ".2f"),
                        charts.tip("to", "to", ".2f"),
                        charts.tip("now", "personas", ","),
                        charts.tip("first", "at the start", ","),
                    ],
                },
            },
            {"mark": outline, "encoding": {"y": number("first", "personas")}},
        ],
    )
    return Chart(
        spec=spec,
        description="Histogram of one belief over all personas at one tick, with the start",
        controls=[
            Choice(
                signal="belief",
                label="Belief",
                options=[(each.name, each.label) for each in source.targets],
                start=source.most_moved,
            ),
            Slider(signal="tick", label="Tick", values=source.ticks, start=source.last),
        ],
    )
