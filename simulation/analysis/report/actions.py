"""What people did: the mix of actions over time, the posts that travelled, who was reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.numbers import listed, many, percent, quoted
from simulation.analysis.report.parts import Chart, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.report.source import Source

_ACTIONS = """
SELECT
    action,
    count(*) AS turns,
    count(*) / sum(count(*)) OVER () AS share,
    count(DISTINCT persona_id) AS personas,
    min(tick) AS first_tick,
    max(tick) AS last_tick
FROM turns GROUP BY action ORDER BY turns DESC, action
"""

_MIX = "SELECT tick, action, turns, share FROM action_counts ORDER BY tick, action"

_EXPOSURES = """
SELECT
    tick,
    CASE WHEN stimulus_id IS NULL THEN 'post by a persona'
        ELSE 'event of the scenario' END AS what,
    count(*) AS shown,
    count(DISTINCT persona_id) AS personas
FROM exposures GROUP BY ALL ORDER BY ALL
"""

_REACH = """
WITH firsts AS (
    SELECT posts.claim_id, exposures.persona_id, min(exposures.tick) AS tick
    FROM exposures JOIN posts USING (post_id)
    WHERE posts.claim_id IS NOT NULL
    GROUP BY ALL
),
ticks AS (
    SELECT tick FROM (SELECT unnest(range(0, {last} + 1)) AS tick) WHERE {ticks}
)
SELECT
    ticks.tick,
    claims.claim_id AS claim,
    count(persona_id) AS personas,
    count(persona_id) / (SELECT count(*) FROM personas) AS share
FROM ticks CROSS JOIN claims
LEFT JOIN firsts ON firsts.claim_id = claims.claim_id AND firsts.tick <= ticks.tick
GROUP BY ALL ORDER BY ALL
"""

# What a post set off: the post and everything that repeats, quotes or answers it, and so on.
_TRAVELLED = """
WITH RECURSIVE tree AS (
    SELECT post_id AS root, post_id, 0 AS steps FROM posts WHERE parent_id IS NULL
    UNION ALL
    SELECT root, posts.post_id, steps + 1
    FROM posts JOIN tree ON posts.parent_id = tree.post_id
),
sizes AS (
    SELECT root, count(*) - 1 AS set_off, max(steps) AS steps FROM tree GROUP BY root
),
seen AS (
    SELECT root, count(DISTINCT persona_id) AS personas, count(*) AS times
    FROM tree JOIN exposures USING (post_id) GROUP BY root
)
SELECT
    posts.author AS author,
    coalesce(seen.personas, 0) AS reached,
    posts.text AS text,
    coalesce(stimuli.kind, posts.kind) AS kind,
    posts.tick AS tick,
    coalesce(times, 0) AS times_seen,
    set_off AS posts_set_off,
    steps,
    round(total_change, 2) AS belief_moved
FROM sizes
JOIN posts ON posts.post_id = root
JOIN posts_reach ON posts_reach.post_id = root
LEFT JOIN seen USING (root)
LEFT JOIN stimuli ON stimuli.stimulus_id = posts.stimulus_id
WHERE posts.stimulus_id IS {which} NULL
ORDER BY reached DESC, times_seen DESC, root
LIMIT 8
"""


def actions(source: Source) -> Section:
    """Return the section."""
    totals = source.ask(_ACTIONS)
    rows = totals.dicts()
    return Section(
        name="actions",
        title="What people did",
        sentence=_sentence(source, rows),
        figures=[_mix(source, rows, totals.sql), *_reach(source), _travelled(source)],
    )


def _sentence(source: Source, rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "Nobody did anything: no turn was taken."
    first = rows[0]
    told = [f"{row['action']} {percent(row['share'])}" for row in rows[1:4]]
    then = f", then {', '.join(told)}" if told else ""
    decided = {
        row["action"]: row["personas"] for row in rows if row["action"] in ("buy", "reject")
    }
    return (
        f"The commonest of {sum(row['turns'] for row in rows):,} turns is {first['action']} "
        f"({percent(first['share'])}){then}. {decided.get('buy', 0):,} of "
        f"{many(source.personas, 'persona')} chose to buy and {decided.get('reject', 0):,} to "
        "reject."
    )  # fmt: skip


def _mix(source: Source, totals: Sequence[dict[str, Any]], sql: str) -> Figure:
    answer = source.ask(_MIX)
    most = len(charts.SERIES) - 1
    named = [row["action"] for row in totals][:most]
    names = [*named, "all others"] if len(totals) > most else named
    shares: dict[tuple[int, str], float] = {}
    for row in answer.dicts():
        action = row["action"] if row["action"] in named else "all others"
        shares[row["tick"], action] = shares.get((row["tick"], action), 0.0) + row["share"]
    rows = [
        {"tick": tick, "action": action, "share": share, "place": names.index(action)}
        for (tick, action), share in sorted(shares.items())
    ]
    spec = charts.bars_by_tick(
        rows, names, last=source.last, series="action", value="share", title="share of turns"
    )
    spec["encoding"]["y"] = charts.share_axis("share", "share of turns", stack="zero")
    spec["encoding"]["y"]["scale"] = {"domain": [0, 1]}
    spec["encoding"]["tooltip"][-1]["format"] = ".1%"
    sentence = _drifted(answer.dicts(), source.last)
    return Figure(
        title="The mix of actions, tick by tick",
        sentence=sentence,
        charts=[Chart(spec=spec, description=f"Shares of turns by action and tick. {sentence}")]
        if rows
        else [],
        tables=[
            source.ask(_ACTIONS).table("All turns by action"),
            answer.table("Turns by tick and action"),
        ],
        sql=[sql, answer.sql],
    )


def _drifted(rows: Sequence[dict[str, Any]], last: int) -> str:
    """Return which action's share changed most from the first third of the run to the last."""
    third = last / 3
    shares: dict[str, list[int]] = {}
    totals = [0, 0]
    for row in rows:
        part = 0 if row["tick"] <= third else 1 if row["tick"] > last - third else None
        if part is not None:
            shares.setdefault(row["action"], [0, 0])[part] += row["turns"]
            totals[part] += row["turns"]
    if not all(totals):
        return "There are too few ticks with turns to say how the mix changed."
    changes = {
        name: (first / totals[0], second / totals[1]) for name, (first, second) in shares.items()
    }
    name = max(changes, key=lambda each: (abs(changes[each][1] - changes[each][0]), each))
    before, after = changes[name]
    way = "rarer" if after < before else "commoner"
    if before == after:
        return "The mix of the last third of the run is that of the first."
    return (
        f"From the first third of the run to the last, {name} became {way}: {percent(before)} "
        f"of turns, then {percent(after)}."
    )


def _reach(source: Source) -> list[Figure]:
    shown = source.ask(_EXPOSURES)
    reach = source.ask(_REACH.format(last=source.last, ticks=source.some_ticks))
    rows = shown.dicts()
    kinds = ["event of the scenario", "post by a persona"]
    bars = charts.bars_by_tick(
        [{**row, "place": kinds.index(row["what"])} for row in rows],
        kinds,
        last=source.last,
        series="what",
        value="shown",
        title="things shown",
    )
    names = [each.name for each in source.claims][: len(charts.SERIES)]
    spec = charts.chart(
        [row for row in reach.dicts() if row["claim"] in names],
        mark={"type": "line", "interpolate": "step-after", "point": {"size": 90, "opacity": 0}},
        encoding={
            "x": charts.tick_axis(source.last),
            "y": charts.share_axis("share", "personas reached", scale={"domain": [0, 1]}),
            "color": charts.colour("claim", names, "claim"),
            "tooltip": [
                charts.tip("tick", "tick", "d"),
                charts.tip("claim", "claim"),
                charts.tip("personas", "personas", ","),
                charts.tip("share", "share", ".0%"),
            ],
        },
    )
    sentence = _reach_words(source, rows, reach.dicts())
    left = len(source.claims) - len(names)
    more = f" The picture shows the first {len(names)} claims." if left else ""
    drawn = []
    if rows:
        drawn.append(Chart(spec=bars, title="Things shown", description="Things shown by tick"))
    if rows and names:
        about = "Share of personas that have seen something about each claim, by tick"
        drawn.append(Chart(spec=spec, title="Reached so far", description=about))
    return [
        Figure(
            title="Exposure and reach",
            sentence=f"{sentence}{more}{source.thinned}",
            charts=drawn,
            tables=[
                shown.table("What was shown, by tick and origin"),
                reach.table("Personas who have seen anything about a claim so far"),
            ],
            sql=[shown.sql, reach.sql],
        )
    ]


def _reach_words(
    source: Source, shown: Sequence[dict[str, Any]], reach: Sequence[dict[str, Any]]
) -> str:
    if not shown:
        return "Nothing was shown to anybody."
    total = sum(row["shown"] for row in shown)
    peers = sum(row["shown"] for row in shown if row["what"] == "post by a persona")
    said = f"{percent(peers / total)} of {total:,} things shown were posts by other personas"
    ends = [row for row in reach if row["tick"] == source.last]
    if not ends:
        return f"{said}."
    widest = max(ends, key=lambda row: (row["share"], row["claim"]))
    least = min(ends, key=lambda row: (row["share"], row["claim"]))
    if widest["share"] == least["share"]:
        return f"{said}. Every claim reached {percent(widest['share'])} of personas."
    return (
        f"{said}. {_at(ends, widest['share'])} reached {percent(widest['share'])} of personas, "
        f"{_at(ends, least['share'])} {percent(least['share'])}."
    )


def _at(rows: Sequence[dict[str, Any]], share: float) -> str:
    """Return all claims that reached so many."""
    return listed([row["claim"] for row in rows if row["share"] == share])


def _travelled(source: Source) -> Figure:
    events = source.ask(_TRAVELLED.format(which="NOT"))
    posts = source.ask(_TRAVELLED.format(which=""))
    best = posts.dicts()[:1]
    if best:
        row = best[0]
        sentence = (
            f"The post by a persona that travelled furthest is one by {row['author']} at "
            f"tick {row['tick']}: with what it set off it was seen by "
            f"{many(row['reached'], 'persona')} "
            f"in {many(row['steps'], 'step')}: {quoted(row['text'])}."
        )  # fmt: skip
    else:
        sentence = "No persona published anything."
    return Figure(
        title="What travelled furthest",
        sentence=sentence,
        tables=[
            posts.table("Posts by personas, by how many personas saw them or what they set off"),
            events.table("Events of the scenario, likewise"),
        ],
        sql=[posts.sql, events.sql],
        open_table=True,
    )
