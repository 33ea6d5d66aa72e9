"""A language model that answers prompts in writing, behind the protocol that the engine sees.

An `Asker` gets the answers; `WrittenModel` says how each is read and how one is asked for once
more, and lets a fallback take what is left (method.md 9). Whatever went wrong is in `error` and
`rejections`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from simulation.calls.base import Call
from simulation.errors import EmptyPersonaBlockError
from simulation.models.base import (
    SOURCES,
    ProbeReplies,
    Reactions,
    ReflectionReplies,
    Rejection,
)
from simulation.models.batches import choices, take_reflections, take_turns
from simulation.models.interviews import (
    InterviewReplies,
    answer_by_rule,
    parse_interview,
)
from simulation.models.parsing import (
    Parsed,
    ParsedReflection,
    answer_schema,
    parse_probe,
    parse_reaction,
    parse_reflection,
    reaction_schema,
    reflection_schema,
)
from simulation.models.replies import join
from simulation.models.surveys import SurveyReplies, parse_survey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.calls.base import Answer, Asker
    from simulation.models.base import ProbeRequests, ReflectionRequests, TurnRequests
    from simulation.models.interviews import InterviewRequests
    from simulation.models.parsing import Dropped
    from simulation.models.surveys import SurveyRequests
    from simulation.providers.base import Prompt

    Asking = TurnRequests | ReflectionRequests | ProbeRequests | SurveyRequests | InterviewRequests

MODEL = SOURCES.index("model")
REPLAY = SOURCES.index("replay")
FALLBACK = SOURCES.index("fallback")

P = TypeVar("P")


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
    """What became of a batch of calls: per index a reading, or why there is none."""

    read: dict[int, P] = field(default_factory=dict)
    error: dict[int, str] = field(default_factory=dict)
    rejections: list[Rejection] = field(default_factory=list)
    replayed: set[int] = field(default_factory=set)

    def take(self, index: int, answer: Answer[P], *, numbered: bool) -> None:
        """Note an answer and its faults; numbered: say in which attempt each happened."""
        for attempt, (kind, said) in enumerate(answer.faults, start=1):
            detail = f"attempt {attempt}: {said}" if numbered else said
            self.error[index] = detail
            self.rejections.append(Rejection(index=index, kind=kind, detail=detail))
        if answer.value is not None:
            self.read[index] = answer.value
            self.error.pop(index, None)
            if answer.replayed:
                self.replayed.add(index)

    def drop(self, index: int, dropped: tuple[Dropped, ...]) -> None:
        """Note what was left out of an answer."""
        self.rejections.extend(Rejection(index=index, kind=k, detail=d) for k, d in dropped)

    def sorted_rejections(self) -> tuple[Rejection, ...]:
        """Return the rejections by index, those of one index in the order they happened."""
        return tuple(sorted(self.rejections, key=lambda rejection: rejection.index))


class WrittenModel:
    """A `Model` whose answers are written; it never raises for a bad one.

    asker: who answers.

    A persona without a block is the one thing that is refused: `EmptyPersonaBlockError` is raised
    before anything is asked (method.md 6).
    """

    def __init__(
        self,
        *,
        asker: Asker,
        fallback: Fallback,
        repair: Callable[[Prompt, str], Prompt],
    ) -> None:
        """Keep the parts.

        Args:
            asker: Who answers.
            fallback: Who takes the turns and reflections that got no usable answer.
            repair: (prompt, reason) -> the prompt to put once more.
        """
        self.asker = asker
        self._fallback = fallback
        self._repair = repair

    @property
    def name(self) -> str:
        """Provider and model, as the run records it."""
        return self.asker.name

    def react(self, requests: TurnRequests) -> Reactions:
        """Answer a batch of turns; source is `model` or, where that failed, `fallback`."""
        possible = [choices(requests, i) for i in range(len(requests))]
        asked = self._ask(
            requests,
            "turn",
            schema=lambda i: reaction_schema(requests, i, possible[i]),
            read=lambda i, answer: parse_reaction(answer, requests, i, possible[i]),
        )
        for i, parsed in asked.read.items():
            asked.drop(i, parsed.dropped)
        missing = [i for i in range(len(requests)) if i not in asked.read]
        instead = self._fallback.react(take_turns(requests, missing)) if missing else None
        return _reactions(requests, asked, missing, instead)

    def reflect(self, requests: ReflectionRequests) -> ReflectionReplies:
        """Answer a batch of reflections; a failed one consolidates by rule, beliefs stay."""
        schema = reflection_schema(requests)
        asked = self._ask(
            requests,
            "reflection",
            schema=lambda _: schema,
            read=lambda i, answer: parse_reflection(answer, requests, i),
        )
        for i, parsed in asked.read.items():
            asked.drop(i, parsed.dropped)
        missing = [i for i in range(len(requests)) if i not in asked.read]
        batch = take_reflections(requests, missing) if missing else None
        instead = self._fallback.consolidate(batch) if batch is not None else None
        return _reflections(requests, asked, missing, instead)

    def answer_probes(self, requests: ProbeRequests) -> ProbeReplies:
        """Answer a batch of probe questions, each asked once; a failed one is None."""
        schema = answer_schema()
        asked = self._ask(
            requests,
            "probe",
            schema=lambda _: schema,
            read=lambda _, answer: parse_probe(answer),
            again=False,
        )
        return ProbeReplies(
            answer=[asked.read.get(i) for i in range(len(requests))],
            error=asked.error,
            rejections=asked.sorted_rejections(),
        )

    def answer_surveys(self, requests: SurveyRequests) -> SurveyReplies:
        """Answer a survey question; an invalid answer is asked for once more, a failed is None."""
        schema = answer_schema(requests.choices)
        asked = self._ask(
            requests,
            "survey",
            schema=lambda _: schema,
            read=lambda _, answer: parse_survey(answer, requests.choices),
        )
        for i, parsed in asked.read.items():
            asked.drop(i, parsed.dropped)
        read = [asked.read.get(i) for i in range(len(requests))]
        return SurveyReplies(
            answer=[None if parsed is None else parsed.answer for parsed in read],
            error=asked.error,
            rejections=asked.sorted_rejections(),
        )

    def answer_interviews(self, requests: InterviewRequests) -> InterviewReplies:
        """Answer interview questions; a failed one is answered by rule and says so in `source`."""
        schema = answer_schema()
        asked = self._ask(
            requests,
            "interview",
            schema=lambda _: schema,
            read=lambda _, answer: parse_interview(answer),
        )
        for i, parsed in asked.read.items():
            asked.drop(i, parsed.dropped)
        instead = answer_by_rule(requests).answer if len(asked.read) < len(requests) else ()
        source = np.full(len(requests), FALLBACK, dtype=np.int64)
        source[sorted(asked.read)] = MODEL
        source[sorted(asked.replayed)] = REPLAY
        return InterviewReplies(
            answer=[
                asked.read[i].answer if i in asked.read else instead[i]
                for i in range(len(requests))
            ],
            source=source,
            error=asked.error,
            rejections=asked.sorted_rejections(),
        )

    def _ask(
        self,
        requests: Asking,
        purpose: str,
        *,
        schema: Callable[[int], dict[str, Any]],
        read: Callable[[int, str], P],
        again: bool = True,
    ) -> Asked[P]:
        """Ask for a whole batch and return what became of it.

        again: an invalid answer is asked for once more (method.md 9).
        """
        cast, rows = requests.cast, requests.row.tolist()
        for row in rows:
            if not cast.blocks[row].strip():
                raise EmptyPersonaBlockError(cast.ids[row])
        calls = [
            Call(
                tick=requests.tick,
                persona_id=cast.ids[row],
                purpose=purpose,
                prompt=partial(requests.prompt, i),
                schema=schema(i),
                read=partial(read, i),
                repair=self._repair if again else None,
            )
            for i, row in enumerate(rows)
        ]
        asked: Asked[P] = Asked()
        for i, answer in enumerate(self.asker.ask(calls)):
            asked.take(i, answer, numbered=again)
        return asked


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
    own.source[[i in asked.replayed for i in read]] = REPLAY
    if instead is None:
        return replace(own, rejections=asked.sorted_rejections())
    _blame(asked, missing, instead)
    instead = replace(instead, source=np.full(len(missing), FALLBACK))
    whole = join([(read, own), (missing, instead)])
    return replace(whole, error=asked.error, rejections=asked.sorted_rejections())


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
    source[sorted(asked.replayed)] = REPLAY
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
