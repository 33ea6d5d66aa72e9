"""A language model that answers prompts in writing, behind the protocol that the engine sees.

`Backend` is what a provider implements: texts in, texts out. `WrittenModel` adds what is the same
for all of them: read each answer, ask once more for those that cannot be used, and let a fallback
take what is left (method.md 9). Whatever went wrong is in `error` and `rejections`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from simulation.errors import InvalidAnswerError, ModelError
from simulation.models.base import (
    SOURCES,
    ProbeReplies,
    Reactions,
    ReflectionReplies,
    Rejection,
)
from simulation.models.batches import take_reflections, take_turns
from simulation.models.parsing import (
    Parsed,
    ParsedReflection,
    parse_probe,
    parse_reaction,
    parse_reflection,
    probe_schema,
    reaction_schema,
    reflection_schema,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.models.base import ProbeRequests, ReflectionRequests, TurnRequests
    from simulation.models.parsing import Dropped

MODEL = SOURCES.index("model")
FALLBACK = SOURCES.index("fallback")

MAX_REASON = 500  # characters of what a backend died of

P = TypeVar("P")


class Backend(Protocol):
    """A provider: answers texts with texts."""

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


class Fallback(Protocol):
    """Who acts for a model that could not: needs no prompt and never fails."""

    def react(self, requests: TurnRequests) -> Reactions:
        """Take turns."""
        ...

    def consolidate(self, requests: ReflectionRequests) -> ReflectionReplies:
        """Reflect by rule: one memory, no belief revised (method.md 4)."""
        ...


@dataclass(slots=True, kw_only=True)
class Asked(Generic[P]):
    """What became of a batch of prompts: per index a reading, or why there is none."""

    read: dict[int, P] = field(default_factory=dict)
    error: dict[int, str] = field(default_factory=dict)
    rejections: list[Rejection] = field(default_factory=list)

    def refuse(self, index: int, kind: str, detail: str) -> None:
        """Note that an answer could not be used."""
        self.error[index] = detail
        self.rejections.append(Rejection(index=index, kind=kind, detail=detail))

    def accept(self, index: int, reading: P, dropped: tuple[Dropped, ...]) -> None:
        """Note a reading, and what was dropped from it."""
        self.read[index] = reading
        self.error.pop(index, None)
        self.rejections.extend(Rejection(index=index, kind=k, detail=d) for k, d in dropped)

    def sorted_rejections(self) -> tuple[Rejection, ...]:
        """Return the rejections by index, those of one index in the order they happened."""
        return tuple(sorted(self.rejections, key=lambda rejection: rejection.index))


class WrittenModel:
    """A `Model` made of a backend; it never raises for what a backend does.

    A persona without a block is the one thing that is refused: rendering its prompt raises
    `EmptyPersonaBlockError` before the backend is called (method.md 6).
    """

    def __init__(
        self,
        *,
        backend: Backend,
        fallback: Fallback,
        repair: Callable[[str, str], str],
    ) -> None:
        """Keep the parts.

        Args:
            backend: Who answers.
            fallback: Who takes the turns and reflections that got no usable answer.
            repair: (prompt, reason) -> the prompt to put once more.
        """
        self._backend = backend
        self._fallback = fallback
        self._repair = repair

    @property
    def name(self) -> str:
        """Provider and model, as the run records it."""
        return self._backend.name

    def react(self, requests: TurnRequests) -> Reactions:
        """Answer a batch of turns; source is `model` or, where that failed, `fallback`."""
        asked: Asked[Parsed] = Asked()
        first = {
            i: (requests.prompt(i), reaction_schema(requests, i)) for i in range(len(requests))
        }

        def read(answer: str, i: int) -> None:
            parsed = parse_reaction(answer, requests, i)
            asked.accept(i, parsed, parsed.dropped)

        self._ask_twice(first, read, asked)
        missing = [i for i in range(len(requests)) if i not in asked.read]
        instead = self._fallback.react(take_turns(requests, missing)) if missing else None
        return _reactions(requests, asked, missing, instead)

    def reflect(self, requests: ReflectionRequests) -> ReflectionReplies:
        """Answer a batch of reflections; a failed one consolidates by rule, beliefs stay."""
        asked: Asked[ParsedReflection] = Asked()
        schema = reflection_schema(requests)
        first = {i: (requests.prompt(i), schema) for i in range(len(requests))}

        def read(answer: str, i: int) -> None:
            parsed = parse_reflection(answer, requests, i)
            asked.accept(i, parsed, parsed.dropped)

        self._ask_twice(first, read, asked)
        missing = [i for i in range(len(requests)) if i not in asked.read]
        batch = take_reflections(requests, missing) if missing else None
        instead = self._fallback.consolidate(batch) if batch is not None else None
        return _reflections(requests, asked, missing, instead)

    def answer_probes(self, requests: ProbeRequests) -> ProbeReplies:
        """Answer a batch of probe questions, each asked once; a failed one is None."""
        asked: Asked[str] = Asked()
        schema = probe_schema()
        prompts = {i: (requests.prompt(i), schema) for i in range(len(requests))}
        self._ask(prompts, lambda answer, i: asked.accept(i, parse_probe(answer), ()), asked, "")
        return ProbeReplies(
            answer=[asked.read.get(i) for i in range(len(requests))], error=asked.error
        )

    def _ask_twice(
        self,
        first: dict[int, tuple[str, dict[str, Any]]],
        read: Callable[[str, int], None],
        asked: Asked[Any],
    ) -> None:
        """Ask for all, then once more for those whose answer was invalid (method.md 9)."""
        invalid = self._ask(first, read, asked, "attempt 1: ")
        second = {
            i: (self._repair(first[i][0], reason), first[i][1]) for i, reason in invalid.items()
        }
        self._ask(second, read, asked, "attempt 2: ")

    def _ask(
        self,
        prompts: dict[int, tuple[str, dict[str, Any]]],
        read: Callable[[str, int], None],
        asked: Asked[Any],
        attempt: str,
    ) -> dict[int, str]:
        """Ask once; return why an answer was invalid, by index."""
        invalid = {}
        answers = self._complete(list(prompts.values()))
        for i, answer in zip(prompts, answers, strict=True):
            if isinstance(answer, ModelError):
                asked.refuse(i, "model_error", f"{attempt}{_reason(answer)}")
                continue
            try:
                read(answer, i)
            except InvalidAnswerError as error:
                invalid[i] = str(error)
                asked.refuse(i, "invalid_answer", f"{attempt}{error}")
        return invalid

    def _complete(self, prompts: list[tuple[str, dict[str, Any]]]) -> Sequence[str | ModelError]:
        """Return one answer or error per prompt, whatever the backend does with the batch."""
        if not prompts:
            return []
        texts, schemas = [text for text, _ in prompts], [schema for _, schema in prompts]
        try:
            answers: object = self._backend.complete(texts, schemas=schemas)
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


def _reason(error: ModelError) -> str:
    """Return what an error says; never nothing."""
    return str(error) or type(error).__name__


def _rows(parsed: Sequence[Parsed], targets: int) -> Reactions:
    """Return readings as columns."""
    change = np.array([p.change for p in parsed]).reshape(len(parsed), targets)
    slot = np.array([p.cause for p in parsed], dtype=np.int64)
    return Reactions(
        action=np.array([p.action for p in parsed], dtype=np.int64),
        post=np.array([p.post for p in parsed], dtype=np.int64),
        persona=np.array([p.persona for p in parsed], dtype=np.int64),
        words=[p.words for p in parsed],
        change=change,
        claim=np.array([p.claim for p in parsed], dtype=np.int64),
        stance=np.array([p.stance for p in parsed], dtype=np.float64),
        cause=np.where(change != 0.0, slot[:, np.newaxis], -1),
        importance=np.array([p.importance for p in parsed], dtype=np.float64),
        source=np.full(len(parsed), MODEL, dtype=np.int64),
    )


def _reactions(
    requests: TurnRequests, asked: Asked[Parsed], missing: list[int], instead: Reactions | None
) -> Reactions:
    """Return the columns of all turns: those read, and those of the fallback in their place."""
    read = sorted(asked.read)
    own = _rows([asked.read[i] for i in read], len(requests.cast.targets))
    if instead is None:
        return replace(own, rejections=asked.sorted_rejections())
    place = np.argsort(np.array([*read, *missing], dtype=np.int64))
    words = [*own.words, *instead.words]
    _blame(asked, missing, instead)
    return Reactions(
        action=np.concatenate([own.action, instead.action])[place],
        post=np.concatenate([own.post, instead.post])[place],
        persona=np.concatenate([own.persona, instead.persona])[place],
        words=[words[i] for i in place],
        change=np.concatenate([own.change, instead.change])[place],
        claim=np.concatenate([own.claim, instead.claim])[place],
        stance=np.concatenate([own.stance, instead.stance])[place],
        cause=np.concatenate([own.cause, instead.cause])[place],
        importance=np.concatenate([own.importance, instead.importance])[place],
        source=np.concatenate([own.source, np.full(len(missing), FALLBACK)])[place],
        error=asked.error,
        rejections=asked.sorted_rejections(),
    )


def _reflections(
    requests: ReflectionRequests,
    asked: Asked[ParsedReflection],
    missing: list[int],
    instead: ReflectionReplies | None,
) -> ReflectionReplies:
    """Return the columns of all reflections; a fallback's revisions are left out."""
    size, targets = len(requests), len(requests.cast.targets)
    revised = np.full((size, targets), np.nan)
    memories: list[tuple[str, ...]] = [()] * size
    claim = np.full(size, -1, dtype=np.int64)
    stance = np.zeros(size)
    source = np.full(size, MODEL, dtype=np.int64)
    for i, parsed in asked.read.items():
        revised[i], memories[i] = parsed.revised, parsed.memories
        claim[i], stance[i] = parsed.claim, parsed.stance
    if instead is not None:
        claim[missing], stance[missing], source[missing] = instead.claim, instead.stance, FALLBACK
        for i, texts in zip(missing, instead.memories, strict=True):
            memories[i] = texts
        _blame(asked, missing, instead)
    return ReflectionReplies(
        revised=revised,
        memories=memories,
        claim=claim,
        stance=stance,
        source=source,
        error=asked.error,
        rejections=asked.sorted_rejections(),
    )


def _blame(asked: Asked[Any], missing: list[int], instead: Reactions | ReflectionReplies) -> None:
    """Add what a fallback itself refused, under the indices of the whole batch."""
    for at, detail in instead.error.items():
        asked.error[missing[at]] += f"; fallback: {detail}"
    for rejection in instead.rejections:
        asked.rejections.append(replace(rejection, index=missing[rejection.index]))
