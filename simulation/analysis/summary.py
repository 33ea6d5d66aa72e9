"""What a run says in short: how beliefs moved, what people did, what failed, whether they drifted.

Every number is counted by SQL from the rows of the run database, and from nothing else.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

REFLECTION_WARNING = 0.8
"""Mean share of reflections among held memories above which a run warns."""

_LISTED = 3  # flips and movers shown


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefShift:
    """One target over the population. text: of a claim.  start, end: mean beliefs, [0, 1].

    start_above, end_above: shares of personas with a belief above 0.5, [0, 1].  start_at: share
    of personas that started at exactly 0.5, where nothing is known or leans.
    """

    target: str
    text: str | None
    start: float
    end: float
    start_above: float
    end_above: float
    start_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionShare:
    """An action that occurred. share: of all turns, (0, 1]."""

    action: str
    turns: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFlips:
    """Credences of one claim that crossed 0.5, counted as changes (view `claim_flips`)."""

    claim_id: str
    to_belief: int
    to_doubt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One change of mind. author, text: of the post that moved it most; None for none known."""

    tick: int
    persona_id: str
    claim_id: str
    before: float
    after: float
    author: str | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """A persona whose belief in one target moved far between tick 0 and the end."""

    persona_id: str
    target: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Faults of one purpose (turn, reflection, …) over all ticks (view `failures`).

    asked, failed: askings, and those with at least one fault.  kinds: what the faults were, such
    as "3 fallback", with the commonest rejections.
    """

    purpose: str
    asked: int
    failed: int
    share: float
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Probes over all ticks (view `drift`): personas asked, those who contradicted themselves."""

    rounds: int
    probed: int
    disagreed: int
    answers: int
    disagreeing_answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in short. seconds: from start to end of the run, writing included.

    turns_per_s: 0 when the run took no measurable time.  reflection_share: mean share of
    reflections among the memories held at the end, None without memories.  notes: what of the
    edge file was left out or merged, and what the appraiser cannot tell.  digest: of the state
    after `last_tick`, None for a run that has not even tick 0.
    """

    path: str
    run_id: str
    scenario: str
    seed: int
    status: str
    horizon: int
    last_tick: int
    personas: int
    follows: int
    turns: int
    reflections: int
    posts: int
    model_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    seconds: float
    turns_per_s: float
    digest: str | None
    beliefs: tuple[BeliefShift, ...]
    actions: tuple[ActionShare, ...]
    bought: int
    rejected: int
    claim_flips: tuple[ClaimFlips, ...]
    largest_flips: tuple[Flip, ...]
    movers: tuple[Mover, ...]
    failures: tuple[Failure, ...]
    drift: Drift | None
    reflection_share: float | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values, ready for JSON."""
        return asdict(self)


def summarise(path: str | Path) -> Summary:
    """Return a run in short.

    Raises:
        RunFileError: the file is no readable run database.
    """
    with RunFile.open(path) as run:
        counts = _rows(run, _COUNTS)[0]
        share = _rows(run, _REFLECTION_SHARE)[0]["share"]
        took = _seconds(run, counts.pop("engine_s"))
        return Summary(
            path=str(path),
            run_id=run.run.header.run_id,
            scenario=run.run.header.scenario_name,
            seed=run.run.header.seed,
            status=run.run.status,
            horizon=run.run.header.horizon,
            last_tick=run.run.last_tick,
            seconds=took,
            turns_per_s=counts["turns"] / took if took > 0 else 0.0,
            beliefs=_beliefs(run),
            actions=tuple(ActionShare(**row) for row in _rows(run, _ACTIONS)),
            claim_flips=tuple(ClaimFlips(**row) for row in _rows(run, _CLAIM_FLIPS)),
            largest_flips=tuple(Flip(**row) for row in _rows(run, _LARGEST_FLIPS, _LISTED)),
            movers=tuple(Mover(**row) for row in _rows(run, _MOVERS, _LISTED)),
            failures=_failures(run),
            drift=_drift(run),
            reflection_share=share,
            notes=tuple(row["detail"] for row in _rows(run, _NOTES)),
            warnings=_warnings(share),
            **counts,
        )


def _rows(run: RunFile, sql: str, *parameters: Any) -> list[dict[str, Any]]:
    return run.query(sql, parameters=parameters).dicts()


def _beliefs(run: RunFile) -> tuple[BeliefShift, ...]:
    """Return the dimensions in the order of the brief, then its claims."""
    order = {
        name: i for i, name in enumerate(run.run.header.parameters.get("brief.dimensions", ()))
    }
    shifts = [BeliefShift(**row) for row in _rows(run, _BELIEFS)]
    last = len(order)
    return tuple(sorted(shifts, key=lambda shift: order.get(shift.target, last)))


def _seconds(run: RunFile, engine_s: float) -> float:
    """Return how long the run took, or how long its ticks took, if it never ended or not at once.

    A fork has ticks that its parent made, and a resumed run lay still for a while.
    """
    started, finished = run.run.started_at, run.run.finished_at
    at_once = run.run.header.parent_run_id is None and not _rows(run, _RESUMES)
    return (finished - started).total_seconds() if finished and at_once else engine_s


def _drift(run: RunFile) -> Drift | None:
    row = _rows(run, _DRIFT)[0]
    return Drift(**row) if row["rounds"] else None


def _failures(run: RunFile) -> tuple[Failure, ...]:
    rejections = _rows(run, _REJECTIONS)
    found = []
    for row in _rows(run, _FAILURES):
        kinds = [f"{row[kind]} {kind}" for kind in _KINDS if row[kind]]
        kinds += [
            f"{each['count']} {each['kind']}"
            for each in rejections
            if each["purpose"] == row["purpose"]
        ]
        asked, failed = row["asked"], row["failed"]
        found.append(
            Failure(
                purpose=row["purpose"],
                asked=asked,
                failed=failed,
                share=failed / asked,
                kinds=tuple(kinds),
            )
        )
    return tuple(found)


def _warnings(reflection_share: float | None) -> tuple[str, ...]:
    if reflection_share is None or reflection_share <= REFLECTION_WARNING:
        return ()
    crowded = (
        f"reflections are {reflection_share:.0%} of the memories held and crowd out what "
        "happened; memory.reflection_cap limits them (see the view memory_composition)"
    )
    return (crowded,)


_KINDS: Sequence[str] = ("fallback", "unanswered", "repaired", "invalid", "refused", "error")

_COUNTS = """
SELECT
    (SELECT count(*) FROM personas) AS personas,
    (SELECT count(*) FROM edges WHERE removed_tick IS NULL) AS follows,
    (SELECT count(*) FROM posts WHERE stimulus_id IS NULL) AS posts,
    (SELECT count(DISTINCT persona_id) FROM turns WHERE action = 'buy') AS bought,
    (SELECT count(DISTINCT persona_id) FROM turns WHERE action = 'reject') AS rejected,
    CAST(coalesce(sum(turns), 0) AS BIGINT) AS turns,
    CAST(coalesce(sum(reflections), 0) AS BIGINT) AS reflections,
    CAST(coalesce(sum(model_calls), 0) AS BIGINT) AS model_calls,
    CAST(coalesce(sum(input_tokens), 0) AS BIGINT) AS input_tokens,
    CAST(coalesce(sum(output_tokens), 0) AS BIGINT) AS output_tokens,
    CAST(coalesce(sum(cost_usd) FILTER (
        tick > coalesce((SELECT forked_at_tick FROM run), -1)), 0) AS DOUBLE) AS cost_usd,
    CAST(coalesce(sum(wall_s), 0) AS DOUBLE) AS engine_s,
    arg_max(state_digest, tick) AS digest
FROM ticks
"""

# The last change of a tick is the reflection's. The same as `beliefs` at tick 0 and at the last,
# without listing every tick between.
_ENDS = """
WITH latest AS (
    SELECT
        persona_id,
        target,
        arg_max(after, 2 * tick + CAST(phase = 'reflection' AS INTEGER)) AS belief
    FROM belief_changes GROUP BY persona_id, target
),
ends AS (
    SELECT persona_id, target, initial_beliefs.belief AS before,
        coalesce(latest.belief, initial_beliefs.belief) AS after
    FROM initial_beliefs LEFT JOIN latest USING (persona_id, target)
)
"""

# Dimensions first; then claims, in the order of the brief.
_BELIEFS = (
    _ENDS
    + """
SELECT
    target,
    text,
    avg(before) AS start,
    avg(after) AS end,
    avg(CAST(before > 0.5 AS DOUBLE)) AS start_above,
    avg(CAST(after > 0.5 AS DOUBLE)) AS end_above,
    avg(CAST(before = 0.5 AS DOUBLE)) AS start_at
FROM ends LEFT JOIN claims ON claim_id = target
GROUP BY target, text, claim_index
ORDER BY claim_index NULLS FIRST, target
"""
)

_MOVERS = (
    _ENDS
    + """
SELECT persona_id, target, before, after FROM ends
WHERE after <> before
QUALIFY row_number() OVER (PARTITION BY persona_id ORDER BY abs(after - before) DESC, target) = 1
ORDER BY abs(after - before) DESC, persona_id LIMIT ?
"""
)

_ACTIONS = """
SELECT action, count(*) AS turns, count(*) / sum(count(*)) OVER () AS share
FROM turns GROUP BY action ORDER BY turns DESC, action
"""

_CLAIM_FLIPS = """
SELECT
    claim_id,
    count(*) FILTER (crossed AND after > 0.5) AS to_belief,
    count(*) FILTER (crossed AND after < 0.5) AS to_doubt
FROM claims LEFT JOIN claim_flips USING (claim_id)
GROUP BY claim_id, claim_index ORDER BY claim_index
"""

_LARGEST_FLIPS = """
SELECT tick, persona_id, claim_id, before, after, cause_author AS author, cause_text AS text
FROM claim_flips ORDER BY abs(change) DESC, tick, persona_id, claim_id LIMIT ?
"""

_FAILURES = """
SELECT
    purpose,
    CAST(sum(asked) AS BIGINT) AS asked,
    CAST(sum(failed) AS BIGINT) AS failed,
    CAST(sum(fallback) AS BIGINT) AS fallback,
    CAST(sum(unanswered) AS BIGINT) AS unanswered,
    CAST(sum(repaired) AS BIGINT) AS repaired,
    CAST(sum(invalid) AS BIGINT) AS invalid,
    CAST(sum(refused) AS BIGINT) AS refused,
    CAST(sum(error) AS BIGINT) AS error
FROM failures GROUP BY purpose HAVING sum(failed) > 0 ORDER BY failed DESC, purpose
"""

_REJECTIONS = """
SELECT purpose, kind, count(*) AS count FROM rejections
GROUP BY purpose, kind ORDER BY count DESC, kind
"""

_NOTES = """
SELECT detail FROM rejections WHERE tick = 0 AND (purpose = 'graph' OR kind = 'note')
ORDER BY rowid
"""

_RESUMES = "SELECT resume_no FROM resumes"

_DRIFT = """
SELECT
    count(*) AS rounds,
    CAST(coalesce(sum(personas), 0) AS BIGINT) AS probed,
    CAST(coalesce(sum(disagreeing_personas), 0) AS BIGINT) AS disagreed,
    CAST(coalesce(sum(answers), 0) AS BIGINT) AS answers,
    CAST(coalesce(sum(disagreeing_answers), 0) AS BIGINT) AS disagreeing_answers
FROM drift
"""

_REFLECTION_SHARE = """
SELECT avg(share) AS share FROM (
    SELECT avg(CAST(kind = 'reflection' AS DOUBLE)) AS share
    FROM memories WHERE evicted_tick IS NULL GROUP BY persona_id
)
"""
