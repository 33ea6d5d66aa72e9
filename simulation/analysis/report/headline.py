"""The first section: who was asked what, what changed, how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.analysis.inference import Samples, interval
from simulation.analysis.report import charts
from simulation.analysis.report.numbers import SMALL, many, percent, quoted, signed
from simulation.analysis.report.parts import Chart, Figure, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.measures import RunMeasures
    from simulation.analysis.report.source import Answer, Source

_SHIFTS = """
SELECT
    target,
    avg(belief) FILTER (tick = 0) AS start,
    avg(belief) FILTER (tick = {last}) AS "end",
    avg(belief) FILTER (tick = {last}) - avg(belief) FILTER (tick = 0) AS change,
    avg(CAST(belief > 0.5 AS DOUBLE)) FILTER (tick = 0) AS above_half_at_start,
    avg(CAST(belief > 0.5 AS DOUBLE)) FILTER (tick = {last}) AS above_half_at_end,
    avg(CAST(belief = 0.5 AS DOUBLE)) FILTER (tick = 0) AS at_half_at_start
FROM beliefs WHERE tick IN (0, {last})
GROUP BY target ORDER BY target
"""

_SIZE = """
SELECT
    (SELECT count(*) FROM personas) AS personas,
    (SELECT count(*) FROM edges WHERE removed_tick IS NULL) AS follows,
    (SELECT count(*) FROM stimuli WHERE tick <= {last}) AS events,
    (SELECT count(*) FROM turns) AS turns,
    (SELECT count(*) FROM posts WHERE stimulus_id IS NULL) AS posts_by_personas,
    (SELECT count(*) FROM exposures) AS things_seen,
    (SELECT count(*) FROM reflections) AS reflections,
    (SELECT count(*) FROM model_calls) AS model_calls
"""

_MOST = 0.5  # share of personas from which on their start at one half needs a word

_SEEDS = "SELECT seed, target, tick, avg(belief) FROM beliefs, run GROUP BY ALL ORDER BY ALL"


def headline(source: Source, seeds: Sequence[RunMeasures], compared: str = "") -> Section:
    """Return the section.

    seeds: finished runs that differ from this one in their seed alone.  compared: what a page that
    compares groups of runs finds, which is then what it is about; "" for none.
    """
    shifts = source.ask(_SHIFTS.format(last=source.last))
    rows = sorted(shifts.dicts(), key=lambda row: source.order(row["target"]))
    figures = [_changed(source, shifts, rows)]
    if len(seeds) > 1:
        figures.append(_spread(source, seeds))
    told = [_asked(source), _moved(source, rows), _sure(source, rows, seeds)]
    if compared:
        told = [compared, "Of the first run, in group A:", *told]
    return Section(
        name="headline",
        title="In short",
        sentence=" ".join(told),
        figures=[*figures, _size(source)],
    )


def _asked(source: Source) -> str:
    about = source.header.parameters.get("brief.proposition")
    said = f" about {quoted(str(about), 200)}" if about else ""
    claims = many(len(source.claims), "claim")
    people = many(source.personas, "persona")
    return f"{people} lived through {many(source.last, 'tick')}{said} with {claims} at stake."


def _moved(source: Source, rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "There was nothing to believe."
    most = max(rows, key=lambda row: abs(row["change"]))
    if abs(most["change"]) < SMALL:
        return "No belief moved on average: every mean ends where it began, to two digits."
    undecided = ", when most stood at exactly that" if most["at_half_at_start"] > _MOST else ""
    told = (
        f"What moved most is {source.named(most['target'])}: its mean went from "
        f"{most['start']:.2f} to {most['end']:.2f} ({signed(most['change'])}), and "
        f"{percent(most['above_half_at_end'])} of personas end above one half "
        f"({percent(most['above_half_at_start'])} at the start{undecided})."
    )
    still = [row["target"] for row in rows if abs(row["change"]) < SMALL]
    return f"{told} {len(still)} of {len(rows)} beliefs stayed where they were." if still else told


def _sure(source: Source, rows: Sequence[dict[str, Any]], seeds: Sequence[RunMeasures]) -> str:
    if len(seeds) < 2:  # noqa: PLR2004 - a spread takes two
        return (
            "How sure: this is one run of one seed, so nothing here says how far chance alone "
            "would move it; give the report several seeds to see their spread."
        )
    if not rows:
        return ""
    most = max(rows, key=lambda row: abs(row["change"]))["target"]
    row = next(each for each in _spread_rows(source, seeds) if each["target"] == most)
    return (
        f"How sure: over {len(seeds)} seeds the change of {most} lies between "
        f"{signed(row['least'])} and {signed(row['most'])}, on average {signed(row['change'])} "
        f"(95 % interval {signed(row['low'])} to {signed(row['high'])})."
    )


def _changed(source: Source, shifts: Answer, rows: Sequence[dict[str, Any]]) -> Figure:
    moved = sum(abs(row["change"]) >= SMALL for row in rows)
    up = sum(row["change"] >= SMALL for row in rows)
    sentence = (
        f"Of {many(len(rows), 'belief')}, {up} rose and {moved - up} fell by 0.01 or more; "
        "each line goes from the mean at the start (ring) to the mean at the end (dot)."
    )
    names = [row["target"] for row in rows]
    y = charts.field(
        "target", "nominal", None, sort=names, axis={"labelLimit": 140, "domain": False}
    )
    tips = [
        charts.tip("label", "belief"),
        charts.tip("start", "start", ".2f"),
        charts.tip("end", "end", ".2f"),
        charts.tip("change", "change", "+.2f"),
    ]
    spec = charts.chart(
        [{**row, "label": source.label(row["target"])} for row in rows],
        height=30 * max(1, len(rows)),
        encoding={"y": y, "tooltip": tips},
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 3, "color": "var(--series-1)"},
                "encoding": {
                    "x": charts.belief_axis("start", "mean belief"),
                    "x2": {"field": "end"},
                },
            },
            {
                "mark": {
                    "type": "point", "size": 90, "fill": "var(--panel)", "opacity": 1,
                    "stroke": "var(--series-1)",
                },
                "encoding": {"x": charts.belief_axis("start", "mean belief")},
            },
            {
                "mark": {"type": "circle", "size": 110, "opacity": 1, "color": "var(--series-1)"},
                "encoding": {"x": charts.belief_axis("end", "mean belief")},
            },
        ],
    )  # fmt: skip
    table = Table(
        caption="Means over all personas, before the first tick and after the last",
        columns=(
            "belief",
            "start",
            "end",
            "change",
            "above ½ at start",
            "above ½ at end",
            "at ½ at start",
        ),
        rows=[(source.label(row["target"]), *list(row.values())[1:]) for row in rows],
    )
    return Figure(
        title="What changed",
        sentence=sentence,
        charts=[Chart(spec=spec, description=f"Mean of each belief, start and end. {sentence}")],
        tables=[table],
        sql=[shifts.sql],
        open_table=True,
    )


def _spread_rows(source: Source, seeds: Sequence[RunMeasures]) -> list[dict[str, Any]]:
    """Return one row per target: how its change differs between the seeds."""
    names = [
        each.name for each in source.targets if all(each.name in run.beliefs for run in seeds)
    ]
    starts, ends = (
        np.array([[run.beliefs[name][place] for name in names] for run in seeds])
        for place in (0, -1)
    )
    found = interval(Samples(first=starts, second=ends, paired=True))
    changes = ends - starts
    return [
        {
            "target": name,
            "runs": len(seeds),
            "least": float(changes[:, i].min()),
            "change": float(changes[:, i].mean()),
            "most": float(changes[:, i].max()),
            "low": float(found.low[i]),
            "high": float(found.high[i]),
        }
        for i, name in enumerate(names)
    ]


def _spread(source: Source, seeds: Sequence[RunMeasures]) -> Figure:
    rows = _spread_rows(source, seeds)
    sure = [row["target"] for row in rows if row["low"] > 0 or row["high"] < 0]
    told = ", ".join(sure) if sure else "none"
    sentence = (
        f"{many(len(seeds), 'run')} that differ in their seed alone, each one dot per belief. "
        f"The 95 % interval of the mean change leaves out zero for: {told}."
    )
    dots = [
        {
            "target": row["target"],
            "seed": str(run.info.header.seed),
            "change": float(run.beliefs[row["target"]][-1] - run.beliefs[row["target"]][0]),
        }
        for row in rows
        for run in seeds
    ]
    y = charts.field("target", "nominal", None, sort=[row["target"] for row in rows])
    spec = charts.chart(
        dots,
        height=30 * max(1, len(rows)),
        encoding={"y": y},
        layer=[
            {
                "mark": {"type": "rule", "strokeDash": [3, 3]},
                "encoding": {"x": {"datum": 0, "type": "quantitative"}, "y": None},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.45,
                         "color": "var(--series-1)"},
                "encoding": {
                    "x": charts.change_axis("low", "change of the mean, start to end"),
                    "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "circle", "size": 70, "opacity": 0.9, "color": "var(--series-2)"},
                "encoding": {
                    "x": charts.change_axis("change", "change of the mean, start to end"),
                    "tooltip": [
                        charts.tip("target", "belief"),
                        charts.tip("seed", "seed"),
                        charts.tip("change", "change", "+.3f"),
                    ],
                },
            },
        ],
    )  # fmt: skip
    table = Table(
        caption="Change of each mean over the seeds, with its 95 % t interval",
        columns=("belief", "runs", "smallest", "mean", "largest", "low", "high"),
        rows=[(source.label(row["target"]), *list(row.values())[1:]) for row in rows],
    )
    return Figure(
        title="How far seeds differ",
        sentence=sentence,
        charts=[Chart(spec=spec, description=f"Change of each belief by seed. {sentence}")],
        tables=[table],
        sql=[_SEEDS],
        computed=(
            "The query is put to each run; the interval is a paired t interval of start and end "
            "with one pair per run, since the personas of one run are no independent ones."
        ),
    )


def _size(source: Source) -> Figure:
    answer = source.ask(_SIZE.format(last=source.last))
    row = answer.dicts()[0]
    return Figure(
        title="What the run holds",
        sentence=(
            f"{many(row['turns'], 'turn')} by {many(row['personas'], 'persona')} with "
            f"{many(row['follows'], 'follow')}, each one-way; "
            f"{many(row['events'], 'event')} of the scenario and "
            f"{many(row['posts_by_personas'], 'post')} by personas were seen "
            f"{many(row['things_seen'], 'time')}."
        ),
        tables=[answer.table("Rows of the run")],
        sql=[answer.sql],
    )
