"""Whether the run can be relied on: drift, failures, fallbacks, and what models cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.numbers import cut, many, percent
from simulation.analysis.report.parts import Chart, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.report.source import Answer, Source

_DRIFT = """
SELECT tick, personas, disagreeing_personas, persona_share, answers, disagreeing_answers,
    answer_share
FROM drift ORDER BY tick
"""

_CONTRADICTIONS = """
SELECT tick, persona_id, question, expected, answer
FROM probes WHERE NOT agrees ORDER BY tick, persona_id, attribute LIMIT 10
"""

_FAILURES = """
SELECT
    purpose,
    CAST(sum(asked) AS BIGINT) AS asked,
    CAST(sum(failed) AS BIGINT) AS failed,
    sum(failed) / sum(asked) AS share,
    CAST(sum(fallback) AS BIGINT) AS fallback,
    CAST(sum(unanswered) AS BIGINT) AS unanswered,
    CAST(sum(rejected) AS BIGINT) AS rejected,
    CAST(sum(repaired) AS BIGINT) AS repaired,
    CAST(sum(invalid) AS BIGINT) AS invalid,
    CAST(sum(refused) AS BIGINT) AS refused,
    CAST(sum(error) AS BIGINT) AS error
FROM failures GROUP BY purpose ORDER BY failed DESC, purpose
"""

_FAILURES_BY_TICK = """
SELECT tick, purpose, failed, asked, share FROM failures WHERE failed > 0 ORDER BY tick, purpose
"""

_REJECTIONS = """
SELECT purpose, kind, count(*) AS times, any_value(detail) AS example
FROM rejections GROUP BY purpose, kind ORDER BY times DESC, purpose, kind LIMIT 12
"""

_SOURCES = """
SELECT source, count(*) AS turns, count(*) / sum(count(*)) OVER () AS share
FROM turns GROUP BY source ORDER BY turns DESC, source
"""

_SPEND = """
SELECT
    provider || ': ' || model AS model,
    purpose,
    CAST(sum(calls) AS BIGINT) AS calls,
    CAST(sum(replayed) AS BIGINT) AS replayed,
    CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
    CAST(sum(cached_tokens) AS BIGINT) AS cached_tokens,
    CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
    sum(cost_usd) AS cost_usd,
    sum(unconfirmed_usd) AS unconfirmed_usd
FROM spend GROUP BY provider, model, purpose ORDER BY cost_usd DESC, calls DESC, model, purpose
"""


def trust(source: Source) -> Section:
    """Return the section."""
    drift, failures = source.ask(_DRIFT), source.ask(_FAILURES)
    spend = source.ask(_SPEND)
    said = (_drift_words(drift.dicts()), _failure_words(failures.dicts()), _spend_words(spend))
    return Section(
        name="trust",
        title="Can it be trusted?",
        sentence=" ".join(said),
        figures=[
            _drift(source, drift, said[0]),
            _failures(source, failures, said[1]),
            _spend(spend, said[2]),
        ],
    )


def _drift_words(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "Nobody was probed, so drift was not measured."
    probed = sum(row["personas"] for row in rows)
    disagreed = sum(row["disagreeing_personas"] for row in rows)
    answers = sum(row["answers"] for row in rows)
    wrong = sum(row["disagreeing_answers"] for row in rows)
    return (
        f"{disagreed:,} of {many(probed, 'probed persona')} contradicted themselves "
        f"({percent(disagreed / probed)}), in {wrong:,} of {many(answers, 'answer')}."
    )


def _drift(source: Source, answer: Answer, sentence: str) -> Figure:
    rows = answer.dicts()
    wrong = source.ask(_CONTRADICTIONS)
    tables = [answer.table("Probes by tick")]
    if wrong.rows:
        tables.append(wrong.table("The first ten contradictions"))
    spec = charts.chart(
        [row for row in rows if row["persona_share"] is not None],
        height=160,
        mark={
            "type": "line",
            "point": {"size": 80, "color": "var(--series-2)"},
            "color": "var(--series-2)",
        },
        encoding={
            "x": charts.tick_axis(source.last),
            "y": charts.share_axis(
                "persona_share", "contradicted themselves", scale={"domain": [0, 1]}
            ),
            "tooltip": [
                charts.tip("tick", "tick", "d"),
                charts.tip("personas", "personas probed", ","),
                charts.tip("disagreeing_personas", "contradicted themselves", ","),
            ],
        },
    )
    about = f"Share of probed personas that contradicted themselves, by tick. {sentence}"
    return Figure(
        title="Drift: do personas remember who they are?",
        sentence=sentence,
        charts=[Chart(spec=spec, description=about)] if rows else [],
        tables=tables,
        sql=[answer.sql, wrong.sql],
    )


def _failure_words(rows: Sequence[dict[str, Any]]) -> str:
    failed = [row for row in rows if row["failed"]]
    if not failed:
        return "Nothing failed: no answer was refused, invalid, repaired or replaced."
    told = [
        f"{row['failed']:,} of {row['asked']:,} by purpose {row['purpose']} "
        f"({percent(row['share'])}; {row['fallback']:,} fell back to the rule model)"
        for row in failed[:3]
    ]
    return f"Answers with a fault: {'; '.join(told)}."


def _failures(source: Source, answer: Answer, sentence: str) -> Figure:
    by_tick, kinds, who = (source.ask(sql) for sql in (_FAILURES_BY_TICK, _REJECTIONS, _SOURCES))
    rows = by_tick.dicts()
    names = list(dict.fromkeys(row["purpose"] for row in answer.dicts()))[: len(charts.SERIES)]
    told = [
        {**row, "place": names.index(row["purpose"])} for row in rows if row["purpose"] in names
    ]
    spec = charts.bars_by_tick(
        told, names, last=source.last, series="purpose", value="failed", title="with a fault"
    )
    chart = Chart(spec=spec, description=f"Askings with a fault by tick and purpose. {sentence}")
    tables = [
        answer.table("Askings and faults by purpose"),
        who.table("Who answered the turns: rule, model, or fallback (rule after a failed answer)"),
    ]
    if kinds.rows:
        tables.append(kinds.table("What was refused or dropped, and notes, with an example"))
    return Figure(
        title="Failures and fallbacks",
        sentence=sentence,
        charts=[chart] if told else [],
        tables=tables,
        sql=[answer.sql, by_tick.sql, who.sql, kinds.sql],
    )


def _spend_words(answer: Answer) -> str:
    rows = answer.dicts()
    if not rows:
        return "No language model was asked, so the run cost nothing."
    calls = sum(row["calls"] for row in rows)
    cost = sum(row["cost_usd"] for row in rows)
    replayed = sum(row["replayed"] for row in rows)
    again = f", {replayed:,} of them answered from an earlier run" if replayed else ""
    return f"{many(calls, 'call')} to language models cost {cost:,.2f} US dollars{again}."


def _spend(answer: Answer, sentence: str) -> Figure:
    rows = answer.dicts()
    paid = any(row["cost_usd"] for row in rows)
    value, title = ("cost_usd", "US dollars") if paid else ("calls", "calls")
    names = list(dict.fromkeys(row["purpose"] for row in rows))[: len(charts.SERIES)]
    spec = charts.chart(
        [{**row, "model": cut(row["model"], 60)} for row in rows if row["purpose"] in names],
        height=36 * max(1, len({row["model"] for row in rows})),
        mark="bar",
        encoding={
            "y": charts.field("model", "nominal", None, axis={"labelLimit": 160}),
            "x": charts.number(value, title, stack="zero"),
            "color": charts.colour("purpose", names, "purpose"),
            "tooltip": [
                charts.tip("model", "model"),
                charts.tip("purpose", "purpose"),
                charts.tip("calls", "calls", ","),
                charts.tip("cost_usd", "US dollars", ",.4f"),
            ],
        },
    )
    return Figure(
        title="Spend, by model and purpose",
        sentence=sentence,
        charts=[Chart(spec=spec, description=f"Spend by model and purpose. {sentence}")]
        if rows
        else [],
        tables=[answer.table("Calls, tokens and cost by model and purpose")],
        sql=[answer.sql],
    )
