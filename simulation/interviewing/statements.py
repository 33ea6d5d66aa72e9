"""What comes of a question in an interview."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """A memory that a question brought back. tick: when it was written.  path: how it came."""

    memory_id: int
    tick: int
    text: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A question and what a persona answered.

    interview_id: of the conversation.  question_no: from 1.  run_path: as it was given.
    tick: the persona is as it was at its end.  source: `rule`, `model`, `replay` or `fallback`.
    model: provider and model of the persona's tier.  error: what went wrong on the way, None for
    nothing.  recalled: what came to its mind, best first.  cost_usd: of this question.
    """

    interview_id: str
    question_no: int
    asked_at: datetime
    run_id: str
    run_path: str
    scenario_name: str
    seed: int
    tick: int
    persona_id: str
    question: str
    answer: str
    source: str
    model: str
    error: str | None
    recalled: tuple[Recollection, ...]
    cost_usd: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        return asdict(self) | {"asked_at": self.asked_at.isoformat()}
