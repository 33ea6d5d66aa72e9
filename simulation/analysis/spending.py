"""What language models did in a run and what they cost, counted from its rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of the questions of one purpose to one model.

    questions: those that were put and not broken off by the end of the run.  valid: answered as
    wanted at once; repaired: at the second time; failed: not at all.  calls: requests, repairs
    included.  cost_usd: paid by this run.
    """

    purpose: str
    model: str
    questions: int
    valid: int
    repaired: int
    failed: int
    calls: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUse:
    """A limit of the budget, and what may have been used of it. name: usd, calls or tokens."""

    name: str
    used: float
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A persona that was left to the rule model, and the tick from whose end on."""

    persona_id: str
    tick: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The language models of a run; the rows of an unfinished tick count, too.

    calls, tokens: of all answers that the run used.  replayed: calls of those that an earlier run
    had answered and paid: that of a replay, or the parent of a fork, also in the history that the
    two share.  replayed_usd: what they had cost.  cost_usd: what this run paid for certain.
    unconfirmed_usd: at most, of its tries that may have been billed although no account of them
    came.  unpriced: its calls whose cost is not known.
    """

    calls: int
    replayed: int
    replayed_usd: float
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float
    unconfirmed_usd: float
    unpriced: int
    asked: tuple[Asked, ...]
    budget: tuple[BudgetUse, ...]
    quarantined: tuple[Quarantined, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        return asdict(self)


def spending(path: str | Path) -> Spending | None:
    """Return what language models did in a run; None where none was asked.

    Raises:
        RunFileError: the file is no readable run database.
    """
    with RunFile.open(path) as run:
        sums = _rows(run, f"{_CALLS}{_SUMS}")[0]
        used = {name: sums.pop(f"used_{name}") for name in ("usd", "calls", "tokens")}
        if not sums["calls"]:
            return None
        return Spending(
            asked=tuple(Asked(**row) for row in _rows(run, f"{_CALLS}, {_ASKED}")),
            budget=tuple(_budget(run, used)),
            quarantined=tuple(Quarantined(**row) for row in _rows(run, _QUARANTINED)),
            notes=tuple(row["detail"] for row in _rows(run, _NOTES)),
            **sums,
        )


def _rows(run: RunFile, sql: str) -> list[dict[str, Any]]:
    return run.query(sql).dicts()


def _budget(run: RunFile, used: dict[str, float]) -> Iterator[BudgetUse]:
    parameters = dict(run.run.header.parameters)
    for setting in _later_settings(run):
        key, _, value = setting.partition("=")
        if key.strip().startswith("budget."):
            parameters[key.strip()] = None if value.strip() in ("null", "~", "") else float(value)
    for name, amount in used.items():
        limit = parameters.get(f"budget.{name}")
        if limit is not None:
            yield BudgetUse(name=name, used=amount, limit=limit)


def _later_settings(run: RunFile) -> Iterator[str]:
    """Yield what was set when the run was resumed, in order."""
    if not any(table.name == "resumes" for table in run.tables()):
        return  # layout 1
    for (settings,) in run.query("SELECT settings FROM resumes ORDER BY resume_no").rows:
        yield from settings


# What a fork shares with its parent was paid for by that one, and so was what it answered again.
_CALLS = """
WITH calls AS (
    SELECT model_calls.*,
        attempts > 0 AND tick > coalesce((SELECT forked_at_tick FROM run), -1) AS paid
    FROM model_calls
)
"""

_SUMS = """
SELECT
    count(*) AS calls,
    count(*) FILTER (NOT paid) AS replayed,
    CAST(coalesce(sum(cost_usd) FILTER (NOT paid), 0) AS DOUBLE) AS replayed_usd,
    CAST(coalesce(sum(input_tokens), 0) AS BIGINT) AS input_tokens,
    CAST(coalesce(sum(cached_tokens), 0) AS BIGINT) AS cached_tokens,
    CAST(coalesce(sum(output_tokens), 0) AS BIGINT) AS output_tokens,
    CAST(coalesce(sum(cost_usd) FILTER (paid), 0) AS DOUBLE) AS cost_usd,
    CAST(coalesce(sum(unconfirmed_usd) FILTER (paid), 0) AS DOUBLE) AS unconfirmed_usd,
    count(*) FILTER (paid AND response IS NOT NULL AND cost_usd IS NULL) AS unpriced,
    CAST(coalesce(sum(coalesce(cost_usd, 0) + unconfirmed_usd) FILTER (paid), 0) AS DOUBLE)
        AS used_usd,
    CAST(coalesce(sum(billed) FILTER (paid), 0) AS BIGINT) AS used_calls,
    CAST(coalesce(sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + unconfirmed_tokens)
        FILTER (paid), 0) AS BIGINT) AS used_tokens
FROM calls
"""

# The first request of a question has an odd attempt, its repair the even one after it.
_ASKED = """
counted AS (
    SELECT
        purpose,
        provider || ':' || model AS model,
        count(*) FILTER (
            attempt % 2 = 1 AND NOT coalesce(starts_with(error, 'interrupted'), false)
        ) AS questions,
        count(*) FILTER (outcome = 'ok') AS valid,
        count(*) FILTER (outcome = 'repaired') AS repaired,
        count(*) AS calls,
        CAST(coalesce(sum(cost_usd) FILTER (paid), 0) AS DOUBLE) AS cost_usd,
        min(call_id) AS place
    FROM calls GROUP BY ALL
)
SELECT purpose, model, questions, valid, repaired,
    greatest(0, questions - valid - repaired) AS failed, calls, cost_usd
FROM counted ORDER BY place
"""

_QUARANTINED = """
SELECT persona_id, quarantined_tick AS tick FROM personas
WHERE quarantined_tick IS NOT NULL ORDER BY quarantined_tick, persona_index
"""

_NOTES = """
SELECT DISTINCT ON (detail) detail FROM rejections WHERE purpose = 'model' AND kind = 'note'
ORDER BY rowid
"""
