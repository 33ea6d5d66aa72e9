"""A call: one question to a language model with all that belongs to it, and its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.providers.base import Prompt

P = TypeVar("P")

PURPOSES = (
    "turn",
    "reflection",
    "probe",
    "appraisal",
    "importance",
    "extraction",
    "controller",
    "survey",
    "interview",
)

MODEL_ERROR, REFUSED, INVALID = "model_error", "refused", "invalid_answer"  # kinds of faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[P]):
    """One question.

    persona_id: who is asked, None where the question is about a text.
    prompt: renders it; called when its turn comes, so that not all are held at once.
    read: from the answer to what is used; raises `InvalidAnswerError`.
    repair: (prompt, reason) -> the prompt put once more after an invalid answer; None: never.
    max_tokens, temperature: None for those of the model's settings.
    """

    tick: int
    persona_id: str | None
    purpose: str
    prompt: Callable[[], Prompt]
    schema: dict[str, Any] | None
    read: Callable[[str], P]
    repair: Callable[[Prompt, str], Prompt] | None = None
    max_tokens: int | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[P]):
    """What became of a call.

    value: what was read; None where nothing could be.
    faults: (kind, detail) of what went wrong on the way, in order, also where a repair helped;
    kinds are `MODEL_ERROR`, `REFUSED`, `INVALID`.  replayed: it is another run's answer.
    """

    value: P | None
    faults: tuple[tuple[str, str], ...] = field(default=())
    replayed: bool = False

    @property
    def why(self) -> str:
        """Why nothing could be read: the last of the faults."""
        return self.faults[-1][1] if self.faults else "there was no answer"


class Asker(Protocol):
    """Answers calls: the way from a `Call` to a language model and back."""

    @property
    def name(self) -> str:
        """Provider and model, as the run records it."""
        ...

    def ask(self, calls: Sequence[Call[P]]) -> Sequence[Answer[P]]:
        """Return one answer per call, in their order; never raises for a bad answer.

        Raises:
            RunStoppedError: the next call would pass the budget, or no call can be answered.
        """
        ...
