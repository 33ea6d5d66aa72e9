"""Claim flips: which claims were won and lost, by which posts, in which groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.analysis.report import charts
from simulation.analysis.report.groups import by_group
from simulation.analysis.report.numbers import listed, many, quoted
from simulation.analysis.report.parts import Chart, Figure, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.report.source import Source

_BY_CLAIM = """
SELECT
    claim_id,
    text,
    count(*) FILTER (crossed AND after > 0.5) AS won,
    count(*) FILTER (crossed AND after < 0.5) AS lost,
    count(*) FILTER (jumped) AS jumps,
    count(DISTINCT persona_id) FILTER (crossed) AS personas
FROM claims LEFT JOIN claim_flips USING (claim_id)
GROUP BY claim_id, text, claim_index ORDER BY claim_index
"""

_BY_TICK = """
SELECT
    tick,
    claim_id,
    count(*) FILTER (crossed AND after > 0.5) AS won,
    count(*) FILTER (crossed AND after < 0.5) AS lost
FROM claim_flips GROUP BY tick, claim_id ORDER BY tick, claim_id
"""

# A flip without a post comes from a reflection, or from a turn with an empty feed.
_BY_POST = """
SELECT
    flips.claim_id AS claim_id,
    count(*) FILTER (after > 0.5) AS won,
    count(*) FILTER (after < 0.5) AS lost,
    coalesce(any_value(cause_author), '(no post: a reflection)') AS who_said_it,
    any_value(cause_text) AS text,
    any_value(coalesce(stimuli.kind, posts.kind)) AS kind,
    any_value(posts.tick) AS tick
FROM claim_flips AS flips
LEFT JOIN posts ON posts.post_id = flips.cause_post_id
LEFT JOIN stimuli ON stimuli.stimulus_id = flips.cause_stimulus_id
WHERE crossed
GROUP BY flips.claim_id, cause_post_id, cause_stimulus_id
ORDER BY count(*) DESC, flips.claim_id, cause_post_id NULLS LAST, cause_stimulus_id
LIMIT 10
"""

_LARGEST = """
SELECT
    tick, persona_id, claim_id, change, before, after, crossed AS crossed_one_half,
    CASE WHEN moves > 1 THEN 'both' ELSE phase END AS phase,
    cause_author AS after_whom, cause_text AS after_what
FROM claim_flips JOIN (
    SELECT tick, persona_id, target AS claim_id, count(*) FILTER (before <> after) AS moves
    FROM belief_changes GROUP BY ALL
) USING (tick, persona_id, claim_id)
ORDER BY abs(change) DESC, tick, persona_id, claim_id LIMIT 5
"""


def flips(source: Source) -> Section:
    """Return the section."""
    claims = source.ask(_BY_CLAIM)
    rows = claims.dicts()
    return Section(
        name="flips",
        title="Claims won and lost",
        sentence=_sentence(rows),
        figures=[_by_tick(source, rows, claims.sql), _by_post(source), *by_group(source)],
    )


def _sentence(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "The brief makes no claim that could be won or lost."
    changed = [row for row in rows if row["won"] or row["lost"]]
    if not changed:
        return (
            "Nobody changed their mind: no credence crossed one half for any of "
            f"{many(len(rows), 'claim')}."
        )
    told = [
        f"{row['claim_id']} was won {many(row['won'], 'time')} and lost {row['lost']:,}"
        for row in changed
    ]
    return f"A claim is won when a credence crosses one half upwards. {listed(told)}."


def _by_tick(source: Source, claims: Sequence[dict[str, Any]], sql: str) -> Figure:
    answer = source.ask(_BY_TICK)
    order = {row["claim_id"]: place for place, row in enumerate(claims)}
    names = list(order)[: len(charts.SERIES)]
    rows = [
        {"tick": row["tick"], "claim": row["claim_id"], "place": order[row["claim_id"]],
         "flips": sign * row[way], "way": way}
        for row in answer.dicts()
        for way, sign in (("won", 1), ("lost", -1))
        if row[way] and row["claim_id"] in names
    ]  # fmt: skip
    spec = charts.bars_by_tick(
        rows, names, last=source.last, series="claim", value="flips", title="lost | won"
    )
    table = Table(
        caption="Crossings of one half over all ticks, by claim",
        columns=("claim", "text", "won", "lost", "jumps of more than 0.3 in a tick", "personas"),
        rows=[tuple(row.values()) for row in claims],
    )
    hidden = len(order) - len(names)
    more = f" The picture shows the first {len(names)} claims." if hidden > 0 else ""
    sentence = f"{_busiest(answer.dicts())}{more}"
    return Figure(
        title="When minds changed",
        sentence=sentence,
        charts=[Chart(spec=spec, description=f"Claims won and lost by tick. {sentence}")]
        if rows
        else [],
        tables=[table],
        sql=[sql, answer.sql],
        open_table=True,
    )


def _busiest(rows: Sequence[dict[str, Any]]) -> str:
    total: dict[int, int] = {}
    for row in rows:
        total[row["tick"]] = total.get(row["tick"], 0) + row["won"] + row["lost"]
    if not any(total.values()):
        return "No tick saw a change of mind."
    tick = max(total, key=lambda each: (total[each], -each))
    return (
        f"Tick {tick} saw the most changes of mind, {total[tick]:,}. Bars above the line are "
        "claims won in a tick, bars below it claims lost."
    )


def _by_post(source: Source) -> Figure:
    answer = source.ask(_BY_POST)
    largest = source.ask(_LARGEST)
    return Figure(
        title="Which posts won and lost them",
        sentence=_posts_words(answer.dicts()),
        tables=[
            answer.table("The 10 causes of the most crossings: what moved the credence most then"),
            largest.table(
                "The 5 largest changes within a tick, whether they crossed one half or not. "
                "Phase: turn, reflection or both, one after the other; the post is that of the "
                "larger."
            ),
        ],
        sql=[answer.sql, largest.sql],
        open_table=True,
    )  # fmt: skip


def _posts_words(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "There is no post to name, since nobody changed their mind."
    said = []
    for way in ("won", "lost"):
        best = max(rows, key=lambda row: row[way])
        if best[way]:
            text = f": {quoted(best['text'])}" if best["text"] else ""
            said.append(
                f"Most often {best['claim_id']} was {way} by {best['who_said_it']} "
                f"({many(best[way], 'time')}){text}."
            )
    return " ".join(said)
