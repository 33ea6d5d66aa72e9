"""Small runs on a loopback language model, and what their databases say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from model_server import PRICE
from small import SMALL

from simulation import Run, simulate
from simulation.scenario import Access, load_text

if TYPE_CHECKING:
    from pathlib import Path

    from model_server import Model

    from simulation.scenario import Loaded

ACTIONS = ["ignore", "like", "post", "comment", "buy", "reject"]
STIMULI = [*SMALL["stimuli"][:1], SMALL["stimuli"][1] | {"tick": 2}, SMALL["stimuli"][2]]
WHOLE: dict[str, Any] = {
    "population": {"size": 8, "personality": {"kind": "attachment", "shares": {"anxious": 1}}},
    "recall": {"mode": "persmem"},
    "persmem": {"controller": "model"},
    "affect": {"appraiser": "model"},
    "units": {"extractor": "model"},
    "reflection": {"interval_min": 2, "interval_spread": 2},
    "probes": {"every": 2, "share": 0.3},
}
"""All that asks a language model: turns, reflections, probes, appraisals, searches, texts."""


def described(model: Model | str, name: str, **changes: Any) -> dict[str, Any]:
    """Return a scenario whose tiers ask a model; its own `models` go into both tiers."""
    base_url = model if isinstance(model, str) else model.base_url(name)
    spec = {"provider": name, "model": "m", "base_url": base_url, "price": PRICE}
    spec |= changes.pop("models", {})
    short = {"horizon": 4, "population": {"size": 8}, "actions": ACTIONS, "stimuli": STIMULI}
    calls = {"concurrency": 8, "timeout": 20.0} | changes.pop("calls", {})
    return SMALL | short | {"models": {"cheap": spec, "frontier": spec}, "calls": calls} | changes


def loaded(
    model: Model | str, name: str, *, access: Access | None = None, **changes: Any
) -> Loaded:
    """Return the scenario as it is after loading."""
    text = yaml.safe_dump(described(model, name, **changes), sort_keys=False)
    return load_text(text, name="small.yaml", access=access or Access())


def ran(
    model: Model, name: str, out: Path, *, access: Access | None = None, **changes: Any
) -> Path:
    """Return the database of a run."""
    return simulate(loaded(model, name, access=access, **changes), out=out)


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return what a query gives."""
    with Run.open(path) as run:
        return [tuple(row) for row in run.query(sql).rows]


def one(path: Path, sql: str) -> Any:
    """Return the first value of the first row."""
    return rows(path, sql)[0][0]


def digests(path: Path) -> list[str]:
    """Return the state digest of each tick."""
    return [row[0] for row in rows(path, "SELECT state_digest FROM ticks ORDER BY tick")]


SUMS = """
    SELECT t.tick FROM ticks t LEFT JOIN (
        SELECT tick, count(*) AS calls, sum(coalesce(input_tokens, 0)) AS read,
            sum(coalesce(output_tokens, 0)) AS written,
            coalesce(sum(cost_usd) FILTER (attempts > 0), 0) AS cost
        FROM model_calls GROUP BY tick
    ) c USING (tick)
    WHERE t.model_calls <> coalesce(calls, 0) OR t.input_tokens <> coalesce(read, 0)
        OR t.output_tokens <> coalesce(written, 0) OR abs(t.cost_usd - coalesce(cost, 0)) > 1e-9
"""
"""Ticks whose totals are not the sums over their calls."""

UNTOLD = """
    SELECT tick, persona_id, 'turn' FROM turns
    WHERE source = 'fallback' AND (error IS NULL OR (tick, persona_id) NOT IN (
        SELECT (tick, persona_id) FROM rejections WHERE purpose = 'turn')
        AND persona_id NOT IN (
            SELECT persona_id FROM personas WHERE quarantined_tick < turns.tick))
    UNION ALL
    SELECT tick, persona_id, 'reflection' FROM reflections
    WHERE source = 'fallback' AND error IS NULL
    UNION ALL
    SELECT tick, persona_id, 'probe' FROM probes WHERE answer IS NULL AND (tick, persona_id) NOT IN
        (SELECT (tick, persona_id) FROM rejections WHERE purpose = 'probe')
    UNION ALL
    SELECT tick, persona_id, purpose FROM model_calls
    WHERE outcome NOT IN ('ok', 'repaired') AND error IS NULL
"""
"""Failures of which nothing says why."""

ANSWERED = """
    SELECT 'turn' WHERE (SELECT count(*) FROM turns WHERE source = 'model') <> (
        SELECT count(*) FROM model_calls WHERE purpose = 'turn' AND outcome IN ('ok', 'repaired'))
    UNION ALL
    SELECT 'reflection' WHERE (SELECT count(*) FROM reflections WHERE source = 'model') <> (
        SELECT count(*) FROM model_calls
        WHERE purpose = 'reflection' AND outcome IN ('ok', 'repaired'))
    UNION ALL
    SELECT 'probe' WHERE (SELECT count(answer) FROM probes) <> (
        SELECT count(*) FROM model_calls WHERE purpose = 'probe' AND outcome = 'ok')
"""
"""Purposes of which not each usable answer was used, or more than those."""

IMPOSSIBLE = """
    SELECT tick, persona_id, 'no such post before it' FROM turns
    WHERE action IN ('like', 'upvote', 'downvote', 'repost', 'comment', 'reply', 'quote')
        AND (tick, persona_id, TRY_CAST(target_id AS BIGINT)) NOT IN (
            SELECT (tick, persona_id, post_id) FROM exposures WHERE post_id IS NOT NULL)
    UNION ALL
    SELECT tick, persona_id, 'says nothing' FROM turns
    WHERE action IN ('post', 'comment', 'reply', 'quote') AND coalesce(trim(text), '') = ''
    UNION ALL
    SELECT tick, persona_id, 'a belief out of bounds' FROM belief_changes
    WHERE NOT ("before" BETWEEN 0 AND 1 AND "after" BETWEEN 0 AND 1)
    UNION ALL
    SELECT tick, persona_id, 'importance out of bounds' FROM memories
    WHERE NOT importance BETWEEN 0 AND 1
    UNION ALL
    SELECT tick, persona_id, 'an empty memory' FROM memories WHERE coalesce(trim(text), '') = ''
    UNION ALL
    SELECT tick, persona_id, 'a control character' FROM memories
    WHERE regexp_matches(text, '[\\x00-\\x1f]')
    UNION ALL
    SELECT max(tick), persona_id, 'decided twice' FROM turns
    WHERE action IN ('buy', 'reject') GROUP BY persona_id HAVING count(*) > 1
"""
"""What was applied although it was not possible."""
