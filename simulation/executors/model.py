"""The embedded model, its large batches answered by an executor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from simulation.executors import portable
from simulation.models.base import Model
from simulation.models.replies import join
from simulation.models.written import Fallback

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.executors.base import Executor
    from simulation.models.base import (
        Cast,
        ProbeReplies,
        ProbeRequests,
        Reactions,
        ReflectionReplies,
        ReflectionRequests,
        TurnRequests,
    )
    from simulation.models.interviews import InterviewReplies, InterviewRequests
    from simulation.models.surveys import SurveyReplies, SurveyRequests

BATCH = 1024
"""Requests sent at a time. It does not follow the number of workers, so nothing can."""

Q = TypeVar("Q", "TurnRequests", "ReflectionRequests", "ProbeRequests", "SurveyRequests")
R = TypeVar("R", "Reactions", "ReflectionReplies", "ProbeReplies", "SurveyReplies")


class Embedded(Model, Fallback, Protocol):
    """A model that computes: it reads no prompt, and each answer depends on its own row only."""


class Distributed:
    """An embedded model whose large batches are answered on an executor's workers.

    A batch is cut into parts of one size, whoever answers them, and the replies are joined in
    order. What fits into one part is answered here: nobody else could be quicker.
    """

    def __init__(self, model: Embedded, executor: Executor, *, batch: int | None = None) -> None:
        """Answer by `model` on `executor`, `batch` requests at a time, >= 1, default BATCH."""
        self._model, self._executor, self._batch = model, executor, batch or BATCH
        self._cast: Cast | None = None
        self._shared: Any = None

    @property
    def name(self) -> str:
        """Return the model's own name: where it answers is no part of what it is."""
        return self._model.name

    def react(self, requests: TurnRequests) -> Reactions:
        """Answer a batch of turns."""
        return self._spread(self._model.react, portable.cut_turns, requests)

    def reflect(self, requests: ReflectionRequests) -> ReflectionReplies:
        """Answer a batch of reflections."""
        return self._spread(self._model.reflect, portable.cut_reflections, requests)

    def consolidate(self, requests: ReflectionRequests) -> ReflectionReplies:
        """Stand in for another model whose reflections failed."""
        return self._spread(self._model.consolidate, portable.cut_reflections, requests)

    def answer_probes(self, requests: ProbeRequests) -> ProbeReplies:
        """Answer a batch of probe questions."""
        return self._spread(self._model.answer_probes, portable.cut_probes, requests)

    def answer_surveys(self, requests: SurveyRequests) -> SurveyReplies:
        """Answer one survey question for a batch of personas."""
        return self._spread(self._model.answer_surveys, portable.cut_surveys, requests)

    def answer_interviews(self, requests: InterviewRequests) -> InterviewReplies:
        """Answer a batch of interview questions; they are few, and answered here."""
        return self._model.answer_interviews(requests)

    def _spread(
        self,
        method: Callable[[Q], R],
        cut: Callable[[Q, Sequence[int]], Q],
        requests: Q,
    ) -> R:
        """Return what a method of the model answers, asked part by part."""
        count = len(requests)
        if count <= self._batch:
            return method(requests)
        places = [
            range(start, min(start + self._batch, count)) for start in range(0, count, self._batch)
        ]
        parts = ((method.__name__, cut(requests, rows)) for rows in places)
        replies: list[R] = self._executor.map(_answer, self._handle(requests.cast), parts)
        return join(list(zip(places, replies, strict=True)))

    def _handle(self, cast: Cast) -> Any:
        """Return the handle of model and cast; a run has one cast, so it is shared once."""
        if cast is not self._cast:
            self._cast, self._shared = cast, self._executor.share((self._model, cast))
        return self._shared


def _answer(shared: tuple[Embedded, Cast], part: tuple[str, Any]) -> Any:
    """Return what the shared model answers to a part that was sent: (method, requests)."""
    model, cast = shared
    method, requests = part
    return getattr(model, method)(portable.restore(requests, cast))
