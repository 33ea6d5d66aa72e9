"""What the population answered to the scenario's surveys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.numbers import cut, many
from simulation.analysis.report.parts import Chart, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.analysis.report.source import Source

_SUMMARY = """
SELECT question_id AS question, tick, asked, answered, mean, sd,
    list_transform(shares, lambda share: round(share, 3)) AS shares
FROM survey_summary ORDER BY question_id, tick
"""


def surveys(source: Source) -> Section | None:
    """Return the section; None where nothing was asked."""
    answer = source.ask(_SUMMARY)
    rows = answer.dicts()
    if not rows:
        return None
    names = list(dict.fromkeys(row["question"] for row in rows))
    asked, answered = (sum(row[key] for row in rows) for key in ("asked", "answered"))
    figure = Figure(
        title="Answers by tick",
        sentence=(
            "Bars are the share of each point of a scale, lowest first, or of each choice; of a "
            "rated answer the probability of a point counts."
        ),
        charts=[_chart(name, [row for row in rows if row["question"] == name]) for name in names],
        tables=[answer.table("Answers by question and tick")],
        sql=[answer.sql],
    )
    return Section(
        name="surveys",
        title="What they answered",
        sentence=(
            f"{many(len(names), 'question')} put {many(asked, 'time')} to personas; "
            f"{answered:,} answers could be used."
        ),
        figures=[figure],
    )


def _chart(name: str, rows: Sequence[dict[str, Any]]) -> Chart:
    told = list(_points(rows))
    points = sorted({row["point"] for row in told}, key=int)
    colours = charts.SERIES if len(points) > 1 else charts.SERIES[:1]
    spec = charts.chart(
        told,
        height=180,
        mark="bar",
        encoding={
            "x": charts.field(
                "tick", "ordinal", "tick", axis={"labelAngle": 0},
                sort=sorted({row["tick"] for row in told}),
            ),
            "y": charts.share_axis("share", "share", stack="zero", scale={"domain": [0, 1]}),
            "color": charts.field(
                "point", "nominal", "point", sort=points,
                scale={"domain": points, "range": list(colours)}, legend={"columns": 6},
            ),
            "order": {"field": "place", "type": "quantitative"},
            "tooltip": [
                charts.tip("tick", "tick"),
                charts.tip("point", "point"),
                charts.tip("share", "share", ".1%"),
            ],
        },
    )  # fmt: skip
    return Chart(spec=spec, title=cut(name, 60), description=f"Answers to {cut(name, 60)} by tick")


def _points(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        for place, share in enumerate(row["shares"] or (), start=1):
            yield {"tick": str(row["tick"]), "point": str(place), "share": share, "place": place}
