"""Any attribute of the personas against what became of each claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.numbers import SMALL, many, signed
from simulation.analysis.report.parts import Chart, Choice, Figure, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.report.source import Source

MOST_ATTRIBUTES = 24
LEAST_PEOPLE = 5
"""Personas of a group below which its mean is not spoken of: one person would decide it."""

# Numbers with many values are cut at their quartiles; of words the seven commonest stay and the
# rest is one group. What a persona does not say (NULL) is in no group.
_GROUPS = """
WITH told AS (
    SELECT persona_id, entry.key AS attribute, entry.value ->> '$' AS said
    FROM personas, json_each(attributes) AS entry
    WHERE entry.value ->> '$' IS NOT NULL
),
kinds AS (
    SELECT
        attribute,
        count(TRY_CAST(said AS DOUBLE)) = count(*) AND count(DISTINCT said) > 8 AS numeric,
        quantile_cont(TRY_CAST(said AS DOUBLE), [0.25, 0.5, 0.75]) AS cuts
    FROM told GROUP BY attribute
),
ranked AS (
    SELECT attribute, said, row_number() OVER (
        PARTITION BY attribute ORDER BY count(*) DESC, said
    ) AS place
    FROM told GROUP BY attribute, said
),
placed AS (
    SELECT persona_id, attribute, said, numeric, CASE
        WHEN numeric THEN len(list_filter(cuts, lambda cut: TRY_CAST(said AS DOUBLE) > cut))
        ELSE least(place, 8)
    END AS place
    FROM told JOIN kinds USING (attribute) JOIN ranked USING (attribute, said)
),
members AS (
    SELECT persona_id, attribute, CASE
        WHEN numeric THEN format('{{:g}} to {{:g}}', min(TRY_CAST(said AS DOUBLE)) OVER part,
            max(TRY_CAST(said AS DOUBLE)) OVER part)
        WHEN place = 8 THEN 'all others'
        ELSE said
    END AS people, place
    FROM placed WINDOW part AS (PARTITION BY attribute, place)
),
ends AS (
    SELECT persona_id, target,
        max(belief) FILTER (tick = 0) AS before, max(belief) FILTER (tick = {last}) AS after
    FROM beliefs WHERE tick IN (0, {last}) AND target IN (SELECT claim_id FROM claims)
    GROUP BY persona_id, target
),
crossings AS (
    SELECT persona_id, claim_id AS target,
        count(*) FILTER (crossed AND after > 0.5) AS won,
        count(*) FILTER (crossed AND after < 0.5) AS lost
    FROM claim_flips GROUP BY persona_id, claim_id
)
SELECT
    attribute,
    people,
    target AS claim,
    count(*) AS personas,
    avg(before) AS start,
    avg(after) AS "end",
    avg(after - before) AS change,
    CAST(coalesce(sum(won), 0) AS BIGINT) AS won,
    CAST(coalesce(sum(lost), 0) AS BIGINT) AS lost
FROM members JOIN ends USING (persona_id) LEFT JOIN crossings USING (persona_id, target)
GROUP BY attribute, people, place, target
ORDER BY attribute, place, target
"""


def by_group(source: Source) -> list[Figure]:
    """Return the figure of groups; none without attributes or claims."""
    answer = source.ask(_GROUPS.format(last=source.last))
    rows = answer.dicts()
    if not rows:
        return []
    gaps = _gaps(rows)
    attributes = sorted({row["attribute"] for row in rows})
    shown = sorted(attributes, key=lambda name: (-gaps.get(name, (0.0,))[0], name))
    shown = shown[:MOST_ATTRIBUTES]
    left = len(attributes) - len(shown)
    note = (
        f"{many(left, 'attribute')} with smaller gaps left out; the SQL gives all." if left else ""
    )
    kept = [row for row in rows if row["attribute"] in set(shown)]
    return [
        Figure(
            title="In which groups",
            sentence=_words(gaps, len(rows)),
            charts=[_heat(source, kept, shown)],
            tables=[
                Table(
                    caption="Each claim in each group: mean at start and end, won and lost",
                    columns=answer.columns,
                    rows=[tuple(row.values()) for row in kept],
                    note=note,
                )
            ],
            sql=[answer.sql],
        )
    ]


def _gaps(
    rows: Sequence[dict[str, Any]],
) -> dict[str, tuple[float, dict[str, Any], dict[str, Any]]]:
    """Return by attribute the two groups that one claim moved most differently."""
    parts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["personas"] >= LEAST_PEOPLE:
            parts.setdefault((row["attribute"], row["claim"]), []).append(row)
    found: dict[str, tuple[float, dict[str, Any], dict[str, Any]]] = {}
    for (attribute, _), some in parts.items():
        high = max(some, key=lambda row: row["change"])
        low = min(some, key=lambda row: row["change"])
        gap = high["change"] - low["change"]
        if gap > found.get(attribute, (0.0,))[0]:
            found[attribute] = (gap, high, low)
    return found


def _words(gaps: dict[str, tuple[float, dict[str, Any], dict[str, Any]]], looked_at: int) -> str:
    if not gaps or max(gap for gap, *_ in gaps.values()) < SMALL:
        return "No group moved differently from any other."
    _, high, low = max(gaps.values(), key=lambda each: each[0])
    return (
        f"Groups part most by {high['attribute']}, over {high['claim']}: "
        f"{_moved(high)}, {_moved(low)}. That is the largest gap among {looked_at:,} means, "
        "and some gap is large by chance: trust it when other seeds show it, too."
    )


def _moved(row: dict[str, Any]) -> str:
    return f"{row['people']} by {signed(row['change'])} ({many(row['personas'], 'persona')})"


def _heat(source: Source, rows: Sequence[dict[str, Any]], attributes: Sequence[str]) -> Chart:
    kept = [
        {
            **{
                key: row[key]
                for key in (
                    "attribute",
                    "people",
                    "claim",
                    "personas",
                    "change",
                    "won",
                    "lost",
                    "end",
                )
            },
            "place": place,
        }
        for place, row in enumerate(rows)
    ]
    largest = max(
        len({row["people"] for row in rows if row["attribute"] == name}) for name in attributes
    )
    far = max((abs(row["change"]) for row in rows), default=0.0) or 0.1
    sort = {"field": "place", "op": "min"}
    y = charts.field(
        "people", "nominal", None, sort=sort, axis={"labelLimit": 130, "domain": False}
    )
    axis = {"labelAngle": 0, "orient": "top", "domain": False}
    tips = [
        charts.tip("people", "group"),
        charts.tip("personas", "personas", ","),
        charts.tip("claim", "claim"),
        charts.tip("change", "change of the mean", "+.3f"),
        charts.tip("end", "mean at the end", ".3f"),
        charts.tip("won", "won", ","),
        charts.tip("lost", "lost", ","),
    ]
    spec = charts.chart(
        kept,
        height=30 * largest,
        params=[charts.signal("attribute", attributes[0])],
        transform=[{"filter": "datum.attribute == attribute"}],
        encoding={
            "x": charts.field(
                "claim", "nominal", None, axis=axis, sort=[each.name for each in source.claims]
            ),
            "y": y,
            "tooltip": tips,
        },
        layer=[
            {
                "mark": {"type": "rect", "stroke": "var(--panel)", "strokeWidth": 2},
                "encoding": {
                    "color": charts.belief_colour(
                        "change", "change of the mean", low=-far, high=far
                    )
                },
            },
            {
                "mark": {"type": "text", "color": "#111"},
                "encoding": {
                    "text": {"field": "change", "type": "quantitative", "format": "+.2f"}
                },
            },
        ],
    )
    return Chart(
        spec=spec,
        description="Change of each claim's mean credence in each group of the chosen attribute",
        controls=[
            Choice(
                signal="attribute",
                label="Attribute",
                options=[(name, name) for name in attributes],
                start=attributes[0],
            )
        ],
    )
