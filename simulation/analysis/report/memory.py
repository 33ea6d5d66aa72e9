"""Memory: what comes back, when the gate fires, reflections, and how torn attitudes are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.numbers import many, percent
from simulation.analysis.report.parts import Chart, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.report.source import Source

_YOUNG = 3  # ticks
_HEAVY = 0.5

_RECALLED = """
SELECT
    path,
    count(*) AS recalls,
    median(recalls.tick - memories.tick) AS median_age,
    avg(recalls.tick - memories.tick) AS mean_age,
    avg(memories.importance) AS mean_importance,
    avg(CAST(memories.kind = 'reflection' AS DOUBLE)) AS share_of_reflections
FROM recalls JOIN memories USING (memory_id)
GROUP BY path ORDER BY recalls DESC, path
"""

_AGES = """
SELECT recalls.tick - memories.tick AS age, path, count(*) AS recalls
FROM recalls JOIN memories USING (memory_id)
GROUP BY ALL ORDER BY ALL
"""

_IMPORTANCE = """
WITH rated AS (
    SELECT 'written' AS what, importance FROM memories
    UNION ALL
    SELECT 'recalled', memories.importance FROM recalls JOIN memories USING (memory_id)
)
SELECT
    what,
    least(9, CAST(floor(importance * 10 + 1e-9) AS INTEGER)) / 10 AS importance_from,
    count(*) AS memories,
    count(*) / sum(count(*)) OVER (PARTITION BY what) AS share
FROM rated GROUP BY 1, 2 ORDER BY 1, 2
"""

# The trait that moves the gate: anxiety of an attachment, neuroticism of the Big Five.
_GATES = """
WITH traits AS (
    SELECT persona_id, CASE personality_kind
        WHEN 'attachment' THEN CASE
            WHEN personality[1] >= 0.5 AND personality[2] >= 0.5 THEN 'fearful'
            WHEN personality[1] >= 0.5 THEN 'anxious'
            WHEN personality[2] >= 0.5 THEN 'avoidant'
            ELSE 'secure'
        END
        ELSE format('neuroticism {:.1f} to {:.1f}', least(4, floor(personality[5] * 5)) / 5,
                    least(4, floor(personality[5] * 5)) / 5 + 0.2)
    END AS personality
    FROM personas WHERE personality_kind <> 'none'
)
SELECT
    personality,
    count(DISTINCT persona_id) AS personas,
    count(*) AS decisions,
    count(*) FILTER (fired) AS fired,
    avg(CAST(fired AS DOUBLE)) AS share_fired,
    avg(probability) AS mean_probability,
    avg(arousal) AS mean_arousal
FROM gates JOIN traits USING (persona_id)
GROUP BY personality ORDER BY personality
"""

_REFLECTIONS = """
SELECT tick, trigger, count(*) AS reflections, count(DISTINCT persona_id) AS personas
FROM reflections GROUP BY ALL ORDER BY ALL
"""

_HELD = """
SELECT avg(held) AS held, avg(reflection_share) AS reflection_share
FROM memory_composition WHERE tick = {last}
"""

# The last update of a tick holds until the next; a merge ends the unit that is merged.
_ENTROPY = """
WITH spans AS (
    SELECT *, lead(tick, 1, {last} + 1) OVER (PARTITION BY unit_id ORDER BY tick) AS until
    FROM attitude_paths
),
states AS (
    SELECT unnest(range(spans.tick, least(until, ended_tick))) AS tick, spans.entropy, certainty
    FROM spans JOIN units USING (unit_id)
)
SELECT
    tick,
    count(*) AS attitudes,
    avg(entropy) AS mean_entropy,
    avg(CAST(certainty = 'certain' AS DOUBLE)) AS certain,
    avg(CAST(certainty = 'mixed' AS DOUBLE)) AS mixed,
    avg(CAST(certainty = 'torn' AS DOUBLE)) AS torn
FROM states WHERE {ticks}
GROUP BY tick ORDER BY tick
"""


def memory(source: Source) -> Section:
    """Return the section."""
    recalled = source.ask(_RECALLED)
    rows = recalled.dicts()
    figures = [_recalled(source, rows, recalled.sql), _gates(source), _reflections(source)]
    return Section(
        name="memory",
        title="Memory",
        sentence=_sentence(source, rows),
        figures=[*figures, _attitudes(source)],
    )


def _sentence(source: Source, rows: Sequence[dict[str, Any]]) -> str:
    total = sum(row["recalls"] for row in rows)
    held = source.ask(_HELD.format(last=source.last)).dicts()[0]
    said = (
        f"At the end a persona holds {held['held'] or 0:.1f} memories on average, "
        f"{percent(held['reflection_share'] or 0.0)} of them from reflections."
    )
    if not total:
        return f"No memory was ever recalled. {said}"
    age = sum(row["mean_age"] * row["recalls"] for row in rows) / total
    ways = ", ".join(f"{row['path']} {percent(row['recalls'] / total)}" for row in rows)
    return (
        f"{total:,} times a memory came back, on average {age:.1f} ticks after it was written; "
        f"by path: {ways}. {said}"
    )


def _recalled(source: Source, rows: Sequence[dict[str, Any]], sql: str) -> Figure:
    ages = source.ask(_AGES)
    weights = source.ask(_IMPORTANCE)
    if not rows:
        return Figure(title="What is recalled", sentence="Nothing was recalled.", sql=[sql])
    names = [row["path"] for row in rows][: len(charts.SERIES)]
    told = [
        {**row, "tick": row["age"], "place": names.index(row["path"])}
        for row in ages.dicts()
        if row["path"] in names
    ]
    oldest = max((row["age"] for row in told), default=1)
    by_age = charts.bars_by_tick(
        told, names, last=oldest, series="path", value="recalls", title="recalls"
    )
    by_age["encoding"]["x"]["title"] = "age in ticks"
    by_age["encoding"]["tooltip"][0]["title"] = "age"
    shares = weights.dicts()
    return Figure(
        title="What is recalled: age, importance, path",
        sentence=_recalled_words(shares, ages.dicts()),
        charts=[
            Chart(spec=by_age, title="Age when recalled", description="Recalls by age and path"),
            Chart(
                spec=_importance(shares),
                title="Importance: recalled against written",
                description="Shares of memories by importance, those written and those recalled",
            ),
        ],
        tables=[
            source.ask(_RECALLED).table("Recalls by path"),
            ages.table("Recalls by age and path"),
            weights.table("Memories by importance"),
        ],
        sql=[sql, ages.sql, weights.sql],
    )


def _recalled_words(shares: Sequence[dict[str, Any]], ages: Sequence[dict[str, Any]]) -> str:
    total = sum(row["recalls"] for row in ages)
    young = sum(row["recalls"] for row in ages if row["age"] <= _YOUNG)
    heavy = {
        what: sum(
            row["share"]
            for row in shares
            if row["what"] == what and row["importance_from"] >= _HEAVY
        )
        for what in ("written", "recalled")
    }
    return (
        f"{percent(young / total)} of what comes back is at most {_YOUNG} ticks old. Memories of "
        f"importance {_HEAVY} or more are {percent(heavy['written'])} of those written and "
        f"{percent(heavy['recalled'])} of those recalled."
    )


def _importance(rows: Sequence[dict[str, Any]]) -> charts.Spec:
    names = ["written", "recalled"]
    offset = {"field": "what", "type": "nominal", "sort": names}
    title = "importance, from"
    bins = [place / 10 for place in range(10)]  # the empty ones too, or the axis would lie
    return charts.chart(
        rows,
        mark="bar",
        encoding={
            "x": charts.field(
                "importance_from",
                "ordinal",
                title,
                axis={"labelAngle": 0, "format": ".1f"},
                scale={"domain": bins},
            ),
            "xOffset": offset,
            "y": charts.share_axis("share", "share of memories"),
            "color": charts.colour("what", names),
            "tooltip": [
                charts.tip("what", "memories"),
                charts.tip("importance_from", "importance from", ".1f"),
                charts.tip("memories", "memories", ","),
                charts.tip("share", "share", ".1%"),
            ],
        },
    )


def _gates(source: Source) -> Figure:
    answer = source.ask(_GATES)
    rows = answer.dicts()
    if not rows:
        return Figure(
            title="The gate, by personality",
            sentence="No gate was asked: the personas of this run have no personality, or its "
            "recall does not use one.",
            sql=[answer.sql],
        )
    high = max(rows, key=lambda row: row["share_fired"])
    low = min(rows, key=lambda row: row["share_fired"])
    told = f"The gate fired in {percent(_share(rows))} of {_total(rows):,} decisions"
    sentence = f"{told}."
    if high is not low:
        sentence = (
            f"{told}: most for {high['personality']} personas ({percent(high['share_fired'])}), "
            f"least for {low['personality']} ones ({percent(low['share_fired'])}). Where it "
            "fires, a feeling carries the persona to another memory."
        )
    y = charts.field(
        "personality",
        "nominal",
        None,
        sort=[row["personality"] for row in rows],
        axis={"labelLimit": 160, "domain": False},
    )
    spec = charts.chart(
        rows,
        height=32 * len(rows),
        mark={"type": "bar", "color": "var(--series-1)"},
        encoding={
            "y": y,
            "x": charts.share_axis(
                "share_fired",
                "share of decisions in which the gate fired",
                scale={"domain": [0, 1]},
            ),
            "tooltip": [
                charts.tip("personality", "personality"),
                charts.tip("personas", "personas", ","),
                charts.tip("decisions", "decisions", ","),
                charts.tip("share_fired", "fired", ".1%"),
            ],
        },
    )
    return Figure(
        title="The gate, by personality",
        sentence=sentence,
        charts=[Chart(spec=spec, description=f"Share of fired gates by personality. {sentence}")],
        tables=[answer.table("Decisions of the gate by personality")],
        sql=[answer.sql],
    )


def _total(rows: Sequence[dict[str, Any]]) -> int:
    return sum(row["decisions"] for row in rows)


def _share(rows: Sequence[dict[str, Any]]) -> float:
    return float(sum(row["fired"] for row in rows) / _total(rows))


def _reflections(source: Source) -> Figure:
    answer = source.ask(_REFLECTIONS)
    rows = answer.dicts()
    if not rows:
        return Figure(title="Reflections", sentence="Nobody reflected.", sql=[answer.sql])
    words = {"cadence": "by cadence", "sharp_move": "after a sharp move"}
    total = sum(row["reflections"] for row in rows)
    sharp = sum(row["reflections"] for row in rows if row["trigger"] == "sharp_move")
    sentence = (
        f"{many(total, 'reflection')}, {percent(sharp / total)} of them after a sharp move of a "
        "belief and the rest because a persona had taken its number of turns."
    )
    told = [
        {
            **row,
            "trigger": words.get(row["trigger"], row["trigger"]),
            "place": list(words).index(row["trigger"]) if row["trigger"] in words else 2,
        }
        for row in rows
    ]
    names = list(dict.fromkeys([*words.values(), *(row["trigger"] for row in told)]))
    spec = charts.bars_by_tick(
        told, names, last=source.last, series="trigger", value="reflections", title="reflections"
    )
    return Figure(
        title="Reflections",
        sentence=sentence,
        charts=[Chart(spec=spec, description=f"Reflections by tick and trigger. {sentence}")],
        tables=[answer.table("Reflections by tick and trigger")],
        sql=[answer.sql],
    )


def _alive(count: int) -> str:
    return f"{many(count, 'attitude')} {'is' if count == 1 else 'are'} alive"


def _attitudes(source: Source) -> Figure:
    answer = source.ask(_ENTROPY.format(last=source.last, ticks=source.some_ticks))
    rows = answer.dicts()
    if not rows:
        return Figure(
            title="How torn attitudes are",
            sentence="This run kept no attitudes (memory units).",
            sql=[answer.sql],
        )
    first, last = rows[0], rows[-1]
    sentence = (
        f"{_alive(last['attitudes'])} at the end. Their mean entropy went from "
        f"{first['mean_entropy']:.2f} bits at tick {first['tick']} to {last['mean_entropy']:.2f}; "
        f"{percent(last['torn'])} are torn (1.2 or more) and {percent(last['certain'])} certain "
        f"(below 0.6).{source.thinned}"
    )
    names = ["certain", "mixed", "torn"]
    told = [
        {"tick": row["tick"], "state": name, "share": row[name], "place": place}
        for row in rows
        for place, name in enumerate(names)
    ]
    spec = charts.bars_by_tick(
        told, names, last=source.last, series="state", value="share", title="share of attitudes"
    )
    spec["encoding"]["y"] = charts.share_axis("share", "share of attitudes", stack="zero")
    spec["encoding"]["tooltip"][-1]["format"] = ".1%"
    return Figure(
        title="How torn attitudes are",
        sentence=sentence,
        charts=[Chart(spec=spec, description=f"Attitudes by entropy and tick. {sentence}")],
        tables=[answer.table("Attitudes by tick: entropy in bits")],
        sql=[answer.sql],
    )
