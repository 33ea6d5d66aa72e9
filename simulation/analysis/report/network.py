"""The social graph at a tick, coloured by a belief; its communities; who agrees with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.layout import (
    MOST_NODES,
    Communities,
    Drawing,
    by_node,
    clusters,
    communities,
    people,
)
from simulation.analysis.report.numbers import known_number, many, percent, plain
from simulation.analysis.report.parts import Chart, Choice, Figure, Section, Slider, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.analysis.report.source import Source

MOST_PERSONAS = 20_000
"""Personas above which communities are not looked for: it would take minutes."""


_FOLLOWS = """
SELECT
    least(a.persona_index, b.persona_index) AS one,
    greatest(a.persona_index, b.persona_index) AS other,
    min(created_tick) AS created,
    CASE WHEN count(*) = count(removed_tick) THEN max(removed_tick) END AS removed,
    count(*) AS follows
FROM edges
JOIN personas AS a ON a.persona_id = source
JOIN personas AS b ON b.persona_id = target
GROUP BY ALL ORDER BY ALL
"""

_STATES = """
SELECT
    persona_index,
    target,
    list(CAST(round(belief * 100) AS INTEGER) ORDER BY tick) AS hundredths
FROM beliefs JOIN personas USING (persona_id)
WHERE {ticks}
GROUP BY ALL ORDER BY ALL
"""

# Whether a persona and those it follows believe alike: the correlation over all follows.
_ALIKE = """
SELECT
    one.target,
    one.tick,
    corr(one.belief, other.belief) AS correlation,
    count(*) AS follows
FROM edges
JOIN beliefs AS one ON one.persona_id = edges.source
JOIN beliefs AS other ON other.persona_id = edges.target
    AND other.target = one.target AND other.tick = one.tick
WHERE one.tick IN (0, {last})
    AND created_tick <= one.tick AND (removed_tick IS NULL OR removed_tick > one.tick)
GROUP BY ALL ORDER BY ALL
"""


def network(source: Source) -> Section:
    """Return the section."""
    follows = source.ask(_FOLLOWS)
    alike = source.ask(_ALIKE.format(last=source.last))
    agreement = _agreement(source, alike.dicts(), alike.sql)
    start = Section(name="graph", title="The social graph", sentence="")
    if not follows.rows:
        said = "Nobody follows anybody, so nothing could spread from persona to persona."
        return Section(name=start.name, title=start.title, sentence=said)
    if source.personas > MOST_PERSONAS:
        said = (
            f"{many(source.personas, 'persona')} are too many to be drawn or parted into "
            f"communities on a page. {agreement.sentence}"
        )
        return Section(name=start.name, title=start.title, sentence=said, figures=[agreement])
    found = communities(source.personas, follows.dicts())
    states = source.ask(_STATES.format(ticks=source.some_ticks))
    return Section(
        name=start.name,
        title=start.title,
        sentence=_sentence(source, follows.dicts(), found),
        figures=[
            _graph(source, follows.dicts(), found, states.rows, [follows.sql, states.sql]),
            _table(source, found, states.rows, [follows.sql, states.sql]),
            agreement,
        ],
    )


def _sentence(source: Source, follows: Sequence[dict[str, Any]], found: Communities) -> str:
    ties = sum(row["follows"] for row in follows if row["removed"] is None)
    made = sum(row["created"] > 0 for row in follows)
    many_of = [each for each in found.members if len(each) > 1]
    return (
        f"{many(source.personas, 'persona')} and {many(ties, 'follow')}, each from one persona to "
        f"another; {made:,} ties were made during the run. The personas fall into "
        f"{many(len(many_of), 'community', 'communities')}, and {percent(found.inside)} of ties "
        f"stay inside one (modularity {found.modularity:.2f})."
    )


def _graph(
    source: Source,
    follows: Sequence[dict[str, Any]],
    found: Communities,
    states: Sequence[tuple[Any, ...]],
    sql: Sequence[str],
) -> Figure:
    if source.personas <= MOST_NODES:
        drawing = people(source, follows, found)
        beliefs = by_node(states, {index: index for index in range(source.personas)})
    else:
        drawing = clusters(source, follows, found)
        home = {node: place for place, each in enumerate(found.members) for node in each}
        beliefs = by_node(states, home)
    rows = [{**node, "b": beliefs.get(node["i"], {})} for node in drawing.nodes]
    spec = _picture(source, rows, drawing.ties)
    return Figure(
        title="Who believes what, and follows whom",
        sentence=f"{drawing.note}{source.thinned}",
        charts=[
            Chart(
                spec=spec,
                description=f"The social graph, coloured by a belief at a tick. {drawing.note}",
                controls=[
                    Choice(
                        signal="belief",
                        label="Belief",
                        options=[(str(i), each.label) for i, each in enumerate(source.targets)],
                        start=_first(source),
                    ),
                    Slider(signal="tick", label="Tick", values=source.ticks, start=source.last),
                ],
            )
        ],
        tables=[_nodes_table(source, drawing, beliefs)],
        sql=sql,
        computed=(
            "Positions are a spring layout and communities those of the Louvain method, computed "
            "by networkx from these rows with a fixed seed; closeness in the picture is no number."
        ),
    )


def _first(source: Source) -> str:
    """Return the place of the belief that the picture begins with."""
    return str(source.order(source.most_moved)) if source.targets else ""


def _nodes_table(
    source: Source, drawing: Drawing, beliefs: Mapping[int, Mapping[str, Sequence[float]]]
) -> Table:
    names = [each.name for each in source.targets][:8]
    rows = [
        (
            node["name"],
            node["community"],
            node["size"],
            *(beliefs[node["i"]][name][at] / 100 for name in names for at in (0, -1)),
        )
        for node in drawing.nodes
    ]
    ends = [f"{name} {when}" for name in names for when in ("start", "end")]
    return Table(
        caption="The dots: who, in which community, how many ties (or members), with beliefs",
        columns=("who", "community", "ties or members", *ends),
        rows=rows,
    )


def _picture(
    source: Source, nodes: Sequence[dict[str, Any]], ties: Sequence[dict[str, Any]]
) -> charts.Spec:
    names = [each.name for each in source.targets]
    plain = [
        {
            **{key: node[key] for key in ("i", "name", "x", "y", "size", "community")},
            "b": [[round(value) for value in node["b"].get(name, [])] for name in names],
        }
        for node in nodes
    ]
    at = {row["i"]: (row["x"], row["y"]) for row in plain}
    lines = [
        {
            "x": at[tie["a"]][0],
            "y": at[tie["a"]][1],
            "x2": at[tie["z"]][0],
            "y2": at[tie["z"]][1],
            **{key: tie[key] for key in ("from", "until", "w")},
        }
        for tie in ties
    ]
    hidden = {"axis": None, "scale": {"domain": [-1.05, 1.05]}}
    xy = {"x": charts.number("x", None, **hidden), "y": charts.number("y", None, **hidden)}
    place = f"indexof({source.ticks}, +tick)"
    return charts.chart(
        plain,
        height=460,
        params=[charts.signal("tick", source.last), charts.signal("belief", _first(source))],
        layer=[
            {
                "data": {"values": lines},
                "transform": [{"filter": "datum.from <= tick && datum.until > tick"}],
                "mark": {"type": "rule", "color": "var(--soft)", "opacity": 0.25},
                "encoding": {
                    **xy,
                    "x2": {"field": "x2"},
                    "y2": {"field": "y2"},
                    "strokeWidth": {"field": "w", "type": "quantitative", "scale": None},
                },
            },
            {
                "transform": [{"calculate": f"datum.b[+belief][{place}] / 100", "as": "now"}],
                "mark": {
                    "type": "circle",
                    "opacity": 1,
                    "stroke": "var(--panel)",
                    "strokeWidth": 1,
                },
                "encoding": {
                    **xy,
                    "color": charts.belief_colour("now", "belief"),
                    "size": charts.number("size", None, legend=None, scale={"range": [40, 320]}),
                    "tooltip": [
                        charts.tip("name", "who"),
                        charts.tip("now", "belief", ".2f"),
                        charts.tip("size", "ties or members", ","),
                        charts.tip("community", "community", "d"),
                    ],
                },
            },
        ],
    )


def _table(
    source: Source, found: Communities, states: Sequence[tuple[Any, ...]], sql: Sequence[str]
) -> Figure:
    home = {node: place for place, each in enumerate(found.members) for node in each}
    beliefs = by_node(states, home)
    names = [each.name for each in source.claims] or [each.name for each in source.targets]
    names = names[:6]
    shown = [each for each in found.members if len(each) > 1][:15]
    rows = [
        (
            place + 1,
            len(each),
            *(beliefs[place][name][at] / 100 for name in names for at in (0, -1)),
        )
        for place, each in enumerate(shown)
    ]
    columns = ["community", "personas"]
    columns += [f"{name} {when}" for name in names for when in ("start", "end")]
    left = len([each for each in found.members if len(each) > 1]) - len(shown)
    note = f"{many(left, 'smaller community', 'smaller communities')} left out." if left else ""
    table = Table(caption="Mean beliefs of the communities", columns=columns, rows=rows, note=note)
    return Figure(
        title="Communities",
        sentence=_apart(names, rows),
        tables=[table],
        sql=sql,
        computed="Communities: Louvain method, networkx, fixed seed; beliefs in hundredths.",
        open_table=True,
    )


def _apart(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    if len(rows) < 2 or not names:  # noqa: PLR2004 - two can be apart
        return "There is one community at most, so none could part from another."
    gaps = []
    for place, name in enumerate(names):
        starts = [row[2 + 2 * place] for row in rows]
        ends = [row[3 + 2 * place] for row in rows]
        gaps.append((max(ends) - min(ends), max(starts) - min(starts), name))
    now, before, name = max(gaps)
    return (
        f"At the end the means of communities are furthest apart over {name}: {now:.2f} between "
        f"the highest and the lowest, {before:.2f} at the start."
    )


def _agreement(source: Source, rows: Sequence[dict[str, Any]], sql: str) -> Figure:
    by_target: dict[str, dict[int, float | None]] = {}
    for row in rows:
        by_target.setdefault(row["target"], {})[row["tick"]] = row["correlation"]
    table = [
        (
            each.name,
            known_number(by_target[each.name].get(0)),
            known_number(by_target[each.name].get(source.last)),
        )
        for each in source.targets
        if each.name in by_target
    ]
    known = [(end, start, label) for label, start, end in table if end is not None]
    if known:
        end, start, label = max(known, key=lambda each: each[0])
        before = "cannot be known at" if start is None else f"was {plain(start)} at"
        sentence = (
            f"A persona and those it follows agree most about {source.named(label)}: the "
            f"correlation of their beliefs is {plain(end)} at the end and {before} the start (0: "
            "no more than strangers)."
        )
    else:
        sentence = (
            "Whether followers agree cannot be said: there are too few, or all believe alike."
        )
    return Figure(
        title="Do friends agree?",
        sentence=sentence,
        tables=[
            Table(
                caption="Correlation of beliefs over all follows",
                columns=("belief", "at the start", "at the end"),
                rows=table,
            )
        ],
        sql=[sql],
    )
