"""The social graph at a tick, coloured by a belief; its communities; who agrees with whom.

Where a node stands and which community it is in are computed by networkx, with a fixed seed and
over integers, so that one run always gives one picture. Neither enters any number of the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.numbers import many, percent
from simulation.analysis.report.parts import Chart, Choice, Figure, Section, Slider, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.report.source import Source

MOST_NODES = 300
"""Personas that are drawn one by one; of more, communities are drawn."""

MOST_PERSONAS = 20_000
"""Personas above which communities are not looked for: it would take minutes."""

MOST_TIES = 6_000
_SEED = 7  # of where the search for communities begins; nothing of the run depends on it
_ROUNDS = 120  # of the layout

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
SELECT persona_index, target, list(CAST(round(belief * 100) AS INTEGER) ORDER BY tick) AS hundredths
FROM beliefs JOIN personas USING (persona_id)
WHERE {ticks}
GROUP BY ALL ORDER BY ALL
"""

# Whether those who follow each other believe alike: the correlation over all follows of a tick.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Communities, largest first: the indexes of their members. modularity: of the whole."""

    communities: list[list[int]]
    modularity: float
    inside: float


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
    found = _communities(source.personas, follows.dicts())
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


def _sentence(source: Source, follows: Sequence[dict[str, Any]], found: _Found) -> str:
    ties = sum(row["follows"] for row in follows if row["removed"] is None)
    made = sum(row["created"] > 0 for row in follows)
    many_of = [each for each in found.communities if len(each) > 1]
    return (
        f"{many(source.personas, 'persona')} follow each other {ties:,} times; {made:,} of those "
        f"ties were made during the run. They fall into "
        f"{many(len(many_of), 'community', 'communities')}, and {percent(found.inside)} of ties "
        f"stay inside one (modularity {found.modularity:.2f})."
    )


def _communities(personas: int, follows: Sequence[dict[str, Any]]) -> _Found:
    import networkx as nx  # noqa: PLC0415 - slow to import, and only this section needs it

    graph = nx.Graph()
    graph.add_nodes_from(range(personas))
    graph.add_weighted_edges_from((row["one"], row["other"], row["follows"]) for row in follows)
    parts = [sorted(each) for each in nx.community.louvain_communities(graph, seed=_SEED)]
    parts.sort(key=lambda each: (-len(each), each[0]))
    home = {node: place for place, each in enumerate(parts) for node in each}
    inside = sum(home[row["one"]] == home[row["other"]] for row in follows)
    return _Found(
        communities=parts,
        modularity=float(nx.community.modularity(graph, parts)),
        inside=inside / len(follows),
    )


def _graph(
    source: Source,
    follows: Sequence[dict[str, Any]],
    found: _Found,
    states: Sequence[tuple[Any, ...]],
    sql: Sequence[str],
) -> Figure:
    if source.personas <= MOST_NODES:
        nodes, ties, note = _people(source, follows, found)
        beliefs = _by_node(states, {index: index for index in range(source.personas)})
    else:
        nodes, ties, note = _clusters(source, follows, found)
        home = {node: place for place, each in enumerate(found.communities) for node in each}
        beliefs = _by_node(states, home)
    rows = [{**node, "b": beliefs.get(node["i"], {})} for node in nodes]
    spec = _picture(source, rows, ties)
    return Figure(
        title="Who believes what, and follows whom",
        sentence=f"{note}{source.thinned}",
        charts=[
            Chart(
                spec=spec,
                description=f"The social graph, coloured by a belief at a tick. {note}",
                controls=[
                    Choice(
                        signal="belief",
                        label="Belief",
                        options=[(str(i), each.label) for i, each in enumerate(source.targets)],
                    ),
                    Slider(signal="tick", label="Tick", values=source.ticks, start=source.last),
                ],
            )
        ],
        sql=sql,
        computed=(
            "Positions are a spring layout and communities those of the Louvain method, computed "
            "by networkx from these rows with a fixed seed; closeness in the picture is no number."
        ),
    )


def _people(
    source: Source, follows: Sequence[dict[str, Any]], found: _Found
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    names = [
        row[0] for row in source.ask("SELECT persona_id FROM personas ORDER BY persona_index").rows
    ]
    home = {node: place for place, each in enumerate(found.communities) for node in each}
    degree = [0] * len(names)
    for row in follows:
        degree[row["one"]] += 1
        degree[row["other"]] += 1
    pairs = [(row["one"], row["other"], 1.0) for row in follows]
    places = _layout([node for each in found.communities for node in each], pairs)
    nodes = [
        {"i": i, "name": name, "x": places[i][0], "y": places[i][1], "size": degree[i],
         "community": home[i] + 1}
        for i, name in enumerate(names)
    ]  # fmt: skip
    ties = [
        {"a": row["one"], "z": row["other"], "from": row["created"],
         "until": source.last + 1 if row["removed"] is None else row["removed"], "w": 1}
        for row in follows[:MOST_TIES]
    ]  # fmt: skip
    left = len(follows) - len(ties)
    cut = f" {left:,} of the ties are not drawn." if left else ""
    return nodes, ties, (
        "Each dot is a persona, larger with more ties; orange doubts, grey is undecided, blue "
        f"believes. Move the slider to see it spread.{cut}"
    )  # fmt: skip


def _clusters(
    source: Source, follows: Sequence[dict[str, Any]], found: _Found
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    shown = found.communities[:MOST_NODES]
    home = {node: place for place, each in enumerate(shown) for node in each}
    weights: dict[tuple[int, int], int] = {}
    for row in follows:
        one, other = home.get(row["one"]), home.get(row["other"])
        if one is not None and other is not None and one != other:
            key = (min(one, other), max(one, other))
            weights[key] = weights.get(key, 0) + row["follows"]
    places = _layout(list(range(len(shown))), [(*key, float(w)) for key, w in weights.items()])
    nodes = [
        {"i": i, "name": f"community {i + 1}: {many(len(each), 'persona')}", "x": places[i][0],
         "y": places[i][1], "size": len(each), "community": i + 1}
        for i, each in enumerate(shown)
    ]  # fmt: skip
    heavy = sorted(weights.items(), key=lambda each: (-each[1], each[0]))[:MOST_TIES]
    most = heavy[0][1] if heavy else 1
    ties = [
        {"a": a, "z": z, "from": 0, "until": source.last + 1, "w": 0.3 + 4 * weight / most}
        for (a, z), weight in heavy
    ]
    left = source.personas - sum(map(len, shown))
    rest = f" {many(left, 'persona')} in smaller ones are not drawn." if left else ""
    return nodes, ties, (
        f"With {many(source.personas, 'persona')} each dot is a community, coloured by the mean "
        f"belief of its members: orange doubts, blue believes; lines are ties between them.{rest}"
    )  # fmt: skip


def _layout(
    order: Sequence[int], pairs: Sequence[tuple[int, int, float]]
) -> dict[int, tuple[float, float]]:
    """Return a place for each node, from a circle in the given order; each in [-1, 1]."""
    import networkx as nx  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    graph = nx.Graph()
    graph.add_nodes_from(order)
    graph.add_weighted_edges_from(pairs)
    angles = 2 * np.pi * np.arange(len(order)) / max(1, len(order))
    start = {
        node: (float(np.cos(angle)), float(np.sin(angle)))
        for node, angle in zip(order, angles, strict=True)
    }
    if len(order) < 2:  # noqa: PLR2004 - one node stands where it is
        return start
    found = nx.spring_layout(
        graph, pos=start, iterations=_ROUNDS, seed=_SEED, k=1.6 / len(order) ** 0.5,
        method="force",
    )  # fmt: skip
    return {node: (round(float(x), 3), round(float(y), 3)) for node, (x, y) in found.items()}


def _by_node(
    states: Sequence[tuple[Any, ...]], home: dict[int, int]
) -> dict[int, dict[str, list[float]]]:
    """Return node: target: belief in hundredths by tick shown, the mean over its personas."""
    sums: dict[tuple[int, str], list[int]] = {}
    counts: dict[tuple[int, str], int] = {}
    for index, target, values in states:
        key = (home[index], target)
        before = sums.get(key)
        sums[key] = (
            values if before is None else [a + b for a, b in zip(before, values, strict=True)]
        )
        counts[key] = counts.get(key, 0) + 1
    found: dict[int, dict[str, list[float]]] = {}
    for (node, target), total in sums.items():
        count = counts[node, target]
        found.setdefault(node, {})[target] = [value / count for value in total]
    return found


def _picture(
    source: Source, nodes: Sequence[dict[str, Any]], ties: Sequence[dict[str, Any]]
) -> charts.Spec:
    names = [each.name for each in source.targets]
    plain = [
        {**{key: node[key] for key in ("i", "name", "x", "y", "size", "community")},
         "b": [[round(value) for value in node["b"].get(name, [])] for name in names]}
        for node in nodes
    ]  # fmt: skip
    at = {row["i"]: (row["x"], row["y"]) for row in plain}
    lines = [
        {"x": at[tie["a"]][0], "y": at[tie["a"]][1], "x2": at[tie["z"]][0], "y2": at[tie["z"]][1],
         **{key: tie[key] for key in ("from", "until", "w")}}
        for tie in ties
    ]  # fmt: skip
    hidden = {"axis": None, "scale": {"domain": [-1.05, 1.05]}}
    xy = {"x": charts.number("x", None, **hidden), "y": charts.number("y", None, **hidden)}
    place = f"indexof({source.ticks}, +tick)"
    return charts.chart(
        plain,
        height=460,
        params=[charts.signal("tick", source.last), charts.signal("belief", "0")],
        layer=[
            {
                "data": {"values": lines},
                "transform": [{"filter": "datum.from <= tick && datum.until > tick"}],
                "mark": {"type": "rule", "color": "var(--soft)", "opacity": 0.25},
                "encoding": {**xy, "x2": {"field": "x2"}, "y2": {"field": "y2"},
                             "strokeWidth": {"field": "w", "type": "quantitative", "scale": None}},
            },
            {
                "transform": [{"calculate": f"datum.b[+belief][{place}] / 100", "as": "now"}],
                "mark": {"type": "circle", "opacity": 1, "stroke": "var(--panel)", "strokeWidth": 1},
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
    )  # fmt: skip


def _table(
    source: Source, found: _Found, states: Sequence[tuple[Any, ...]], sql: Sequence[str]
) -> Figure:
    home = {node: place for place, each in enumerate(found.communities) for node in each}
    beliefs = _by_node(states, home)
    names = [each.name for each in source.claims] or [each.name for each in source.targets]
    names = names[:6]
    shown = [each for each in found.communities if len(each) > 1][:15]
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
    left = len([each for each in found.communities if len(each) > 1]) - len(shown)
    note = f"{many(left, 'smaller community', 'smaller communities')} left out." if left else ""
    table = Table(caption="Mean beliefs of the communities", columns=columns, rows=rows, note=note)
    return Figure(
        title="Communities",
        sentence=_apart(names, rows),
        tables=[table],
        sql=sql,
        computed="Communities: Louvain method, networkx, fixed seed; means of beliefs in hundredths.",
        open_table=True,
    )  # fmt: skip


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
        (each.label, by_target[each.name].get(0), by_target[each.name].get(source.last))
        for each in source.targets
        if each.name in by_target
    ]
    known = [(end, start, label) for label, start, end in table if start == start and end == end
             and start is not None and end is not None]  # fmt: skip
    if known:
        end, start, label = max(known)
        sentence = (
            f"Those who follow each other agree most about {label}: the correlation of their "
            f"beliefs is {end:.2f} at the end and was {start:.2f} at the start (0: no more than "
            "strangers)."
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
