"""From a backend of your own to answers: a batch of texts, and once more those to be repaired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from simulation.calls.base import INVALID, MODEL_ERROR, Answer
from simulation.errors import InvalidAnswerError, ModelError

if TYPE_CHECKING:
    from simulation.calls.base import Call
    from simulation.providers.base import Prompt

MAX_REASON = 500  # characters of what a backend died of

P = TypeVar("P")
Fault = tuple[str, str]


class Backend(Protocol):
    """Answers texts with texts: the smallest thing that can be a language model."""

    @property
    def name(self) -> str:
        """Provider and model, as the run records it."""
        ...

    def complete(
        self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]
    ) -> Sequence[str | ModelError]:
        """Return one answer per prompt, in their order, a `ModelError` for one that failed.

        schemas: the JSON Schema of each answer, for providers with structured output.

        Raises:
            ModelError: none of them can be answered.
        """
        ...


class BackendAsker:
    """An `Asker` made of a backend; it never raises for what a backend does."""

    def __init__(self, backend: Backend) -> None:
        """Keep who answers."""
        self._backend = backend

    @property
    def name(self) -> str:
        """Provider and model, as the run records it."""
        return self._backend.name

    def ask(self, calls: Sequence[Call[P]]) -> Sequence[Answer[P]]:
        """Ask for all, then once more for those whose answer was invalid (method.md 9)."""
        value: list[P | None] = [None] * len(calls)
        faults: list[list[Fault]] = [[] for _ in calls]
        prompts = {i: call.prompt() for i, call in enumerate(calls)}
        while prompts:
            invalid = self._once(calls, prompts, value, faults)
            prompts = {
                i: repair(prompts[i], faults[i][0][1])
                for i in invalid
                if (repair := calls[i].repair) is not None and len(faults[i]) == 1
            }
        return [
            Answer(value=each, faults=tuple(wrong))
            for each, wrong in zip(value, faults, strict=True)
        ]

    def _once(
        self,
        calls: Sequence[Call[P]],
        prompts: dict[int, Prompt],
        value: list[P | None],
        faults: list[list[Fault]],
    ) -> list[int]:
        """Ask once, note what was read and what went wrong; return where it was invalid."""
        schemas = [calls[i].schema or {} for i in prompts]
        answers = self._complete([str(prompt) for prompt in prompts.values()], schemas)
        invalid = []
        for i, answer in zip(prompts, answers, strict=True):
            if isinstance(answer, ModelError):
                faults[i].append((MODEL_ERROR, str(answer) or type(answer).__name__))
                continue
            try:
                value[i] = calls[i].read(answer)
            except InvalidAnswerError as error:
                faults[i].append((INVALID, str(error)))
                invalid.append(i)
        return invalid

    def _complete(
        self, prompts: list[str], schemas: list[dict[str, Any]]
    ) -> Sequence[str | ModelError]:
        """Return one answer or error per prompt, whatever the backend does with the batch."""
        try:
            answers: object = self._backend.complete(prompts, schemas=schemas)
            listed = list(answers) if isinstance(answers, Sequence) else []
        except ModelError as error:
            return [error] * len(prompts)
        except MemoryError:
            raise  # no answer of a model, and every further batch would end in it
        except Exception as error:  # noqa: BLE001 - a backend is somebody else's code
            return [ModelError(f"{type(error).__name__}: {error}"[:MAX_REASON])] * len(prompts)
        if len(listed) != len(prompts):
            wrong = ModelError(f"{len(listed)} answers to {len(prompts)} prompts")
            return [wrong] * len(prompts)
        return [_text_or_error(answer) for answer in listed]


def _text_or_error(answer: object) -> str | ModelError:
    """Return a text or an error, whatever the backend put there."""
    if isinstance(answer, str | ModelError):
        return answer
    return ModelError(f"the backend answered with {type(answer).__name__}, not with a text")
