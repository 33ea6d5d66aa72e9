"""A conversation with a persona: one question after the other, each answered as of the tick."""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from simulation import prompts
from simulation.calls.budget import BudgetExhaustedError
from simulation.calls.record import Sums
from simulation.errors import RunFileError, UsageError
from simulation.interviewing.stage import check_persona, engine_of
from simulation.interviewing.statements import Recollection, Statement
from simulation.models.base import SOURCES
from simulation.models.interviews import InterviewRequests
from simulation.prompts.fences import MAX_ITEM
from simulation.rebuilding import whole_tick
from simulation.recall import PATHS
from simulation.runlog import RunFile, Transcript
from simulation.turn import come_back

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from simulation.calls.record import CallRecord
    from simulation.engine import Engine
    from simulation.models.asking import Backend
    from simulation.models.base import Model
    from simulation.models.interviews import InterviewReplies
    from simulation.recall import Recalled
    from simulation.runlog import RunInfo
    from simulation.scenario import Access


EARLIER = 20
"""Questions before this one, with their answers, that the persona still has in mind."""


class Interview:
    """A conversation with one persona of a run; what was said before counts as said.

    Example::

        with Interview("runs/bar.duckdb", "p0003", tick=10) as talk:
            print(talk.ask("Would you buy it?").answer)

    run: the row of table `run`.  tick: the persona is as it was at its end.  said: so far.
    """

    def __init__(
        self,
        run: str | Path,
        persona: str,
        *,
        tick: int | None = None,
        settings: Sequence[str] = (),
        access: Access | None = None,
        tiers: Sequence[Model | Backend] | None = None,
        by_rule: bool = False,
        replay: str | Path | None = None,
        out: str | Path | None = None,
    ) -> None:
        """Rebuild a run's world at a tick, and find the persona.

        tick: from 0; default, the last whole one.  settings: `path=value`, on top of the run's
        own, such as `budget.usd=5`.  access: what the scenario's language models may be asked.
        tiers: the cheap and the frontier model, in place of those of the scenario.
        by_rule: let the rule model answer, whoever took the turns; nobody else is asked.
        replay: a transcript (`.duckdb`) whose language models answer again.
        out: the transcript to write or to add to; `.duckdb` for a database with the tables
        `interviews` and `model_calls`, any other name for JSON lines.

        What the run has spent of its budget counts.

        Raises:
            UsageError: no such persona or tick; a setting, the encoder or a model cannot be used.
            ScenarioError: a setting cannot be used, or a key or a price is missing.
            RunFileError: the run or a transcript cannot be read or written.
        """
        self.said: tuple[Statement, ...] = ()
        self._by_rule = by_rule
        self._calls: list[CallRecord] = []
        self._id = uuid.uuid4().hex
        self._path = str(run)
        if by_rule and (tiers is not None or replay is not None):
            raise UsageError("by_rule asks the rule model alone; give neither tiers nor replay")
        with RunFile.open(run) as opened:
            self.run: RunInfo = opened.run
            self.tick = whole_tick(opened, tick)
            check_persona(opened, persona)
            self._engine = engine_of(
                opened, self.tick, settings, access, tiers, by_rule=by_rule, replay=replay
            )
        self._row = self._engine.world.cast.ids.index(persona)
        self._transcript: Transcript | None = None
        try:
            if self._engine.languages is not None:
                self._engine.languages.switchboard.sink = self._note
                self._engine.check_models()
            if out is not None:
                self._transcript = Transcript.open(out)
        except BaseException:
            self._engine.close()
            raise

    @property
    def persona_id(self) -> str:
        """Who is asked."""
        return self._engine.world.cast.ids[self._row]

    def ask(self, question: str) -> Statement:
        """Put a question, and return the answer; it is in the transcript before this returns.

        Raises:
            UsageError: the question is empty, or no text that can be sent.
            EmptyPersonaBlockError: the persona has nothing to answer from (method.md 6).
            RunStoppedError: the budget is spent, the language model cannot be asked, or a replay
                has no answer.
            RunFileError: the transcript cannot be written.
        """
        _check_question(question)
        try:
            asked = self._asked()
            requests, recalled, notes = self._requests(question)
            replies = asked.answer_interviews(requests)
        except BudgetExhaustedError as error:
            self._keep_calls()
            raise BudgetExhaustedError(
                f"{error}\nNothing of the run was changed. To ask more: "
                f"--set budget.{error.name}={error.more}",
                name=error.name,
                more=error.more,
            ) from None
        except BaseException:
            self._keep_calls()
            raise
        statement = self._statement(question, replies, recalled, notes, model=asked.name)
        self._keep(statement)
        return statement

    def close(self) -> None:
        """Let go of language models and of the transcript."""
        self._engine.close()
        if self._transcript is not None:
            self._transcript.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _asked(self) -> Model:
        """Return who answers: the model of the persona's tier, or the rule model."""
        engine = self._engine
        model = engine.rule if self._by_rule else engine.tiers[int(engine.world.tier[self._row])]
        if not callable(getattr(model, "answer_interviews", None)):
            raise UsageError(
                f"{model.name} cannot be interviewed: it has no method "
                "`answer_interviews(requests)`"
            )
        return model

    def _requests(
        self, question: str
    ) -> tuple[InterviewRequests, tuple[Recollection, ...], list[str]]:
        """Return the question as a model gets it, what it brought back, and what failed there."""
        engine, row = self._engine, np.array([self._row], dtype=np.int64)
        world = engine.world
        text = world.texts.intern([question])
        found = come_back(
            world, engine.scenario, engine.streams, self.tick, row, text, engine.controller
        )
        recalled = _recollections(engine, self._row, found.recalled)
        requests = InterviewRequests(
            cast=world.cast,
            tick=self.tick,
            row=row,
            beliefs=world.beliefs[row],
            question=[question],
            known=[_known(engine, self._row, question)],
            memories=lambda _: [(each.text, each.tick) for each in recalled],
            attitudes=lambda _: _settled(engine, self._row, int(text[0])),
            earlier=lambda _: [(each.question, each.answer) for each in self.said[-EARLIER:]],
            prompt=lambda i: prompts.interview(requests, i),
        )
        return requests, recalled, found.faults

    def _note(self, calls: Sequence[CallRecord]) -> None:
        """Take calls; where the run keeps no requests, a transcript keeps none either."""
        whole = self._engine.scenario.log.requests == "full"
        self._calls += calls if whole else [replace(call, request=None) for call in calls]

    def _statement(
        self,
        question: str,
        replies: InterviewReplies,
        recalled: tuple[Recollection, ...],
        notes: list[str],
        *,
        model: str,
    ) -> Statement:
        header = self.run.header
        error = replies.error.get(0)
        wrong = [*notes, *([error] if error else [item.detail for item in replies.rejections])]
        sums = Sums()
        for record in self._calls:
            sums.add(record)
        ticks = dict.fromkeys(record.tick for record in self._calls)
        return Statement(
            interview_id=self._id,
            question_no=len(self.said) + 1,
            asked_at=datetime.now(UTC).replace(tzinfo=None),
            run_id=header.run_id,
            run_path=self._path,
            scenario_name=header.scenario_name,
            seed=header.seed,
            tick=self.tick,
            persona_id=self.persona_id,
            question=question,
            answer=replies.answer[0],
            source=SOURCES[int(replies.source[0])],
            model=model,
            error="; ".join(wrong) or None,
            recalled=recalled,
            cost_usd=sum(sums.of(tick).cost_usd for tick in ticks),
        )

    def _keep(self, statement: Statement) -> None:
        """Write an answer and the calls that it took."""
        calls, self._calls = self._calls, []
        self.said = (*self.said, statement)
        if self._transcript is not None:
            self._transcript.add(statement.to_dict(), calls)

    def _keep_calls(self) -> None:
        """Write the calls of an answer that did not come; why it did not is what is told."""
        calls, self._calls = self._calls, []
        if self._transcript is not None:
            with contextlib.suppress(RunFileError):
                self._transcript.add(None, calls)


def interview(
    run: str | Path,
    persona: str,
    question: str,
    *,
    tick: int | None = None,
    settings: Sequence[str] = (),
    access: Access | None = None,
    tiers: Sequence[Model | Backend] | None = None,
    by_rule: bool = False,
    replay: str | Path | None = None,
    out: str | Path | None = None,
) -> Statement:
    """Ask a persona of a run one question, as it was at the end of a tick; the run is only read.

    For several questions, of which each knows those before it, see `Interview`, also for what the
    arguments mean and what is raised.
    """
    with Interview(
        run,
        persona,
        tick=tick,
        settings=settings,
        access=access,
        tiers=tiers,
        by_rule=by_rule,
        replay=replay,
        out=out,
    ) as talk:
        return talk.ask(question)


def _check_question(question: str) -> None:
    if not question.strip():
        raise UsageError("the question is empty")
    if len(question) > MAX_ITEM:
        raise UsageError(
            f"the question has {len(question):,} characters; a persona is put at most {MAX_ITEM:,}"
        )
    with contextlib.suppress(UnicodeEncodeError):
        question.encode()
        return
    raise UsageError("the question is not valid UTF-8")


def _known(engine: Engine, row: int, question: str) -> str:
    """Return what the persona's own attributes answer to a question of the ontology, or ""."""
    field = engine.ontology
    asked = field.normalise(question)
    for probe in field.probe_questions(engine.people.attributes[row]):
        if field.normalise(probe.question) == asked:
            return probe.expected
    return ""


def _settled(engine: Engine, row: int, question: int) -> list[str]:
    """Return what the persona has settled, what is nearest to the question first."""
    world = engine.world
    if world.regards is None:
        return []
    found = world.regards.nearest(world.texts, row, question)
    peers = world.cast.ids
    return [f"{name}: {view}" if name in peers else view for name, view in found]


def _recollections(engine: Engine, row: int, recalled: Recalled) -> tuple[Recollection, ...]:
    """Return recalled memories, (1, K), in words."""
    store, texts = engine.world.memory, engine.world.texts
    return tuple(
        Recollection(
            memory_id=int(store.memory_id[row, slot]),
            tick=int(store.tick[row, slot]),
            text=texts[int(store.text[row, slot])],
            path=PATHS[path],
        )
        for slot, path in zip(
            recalled.position[0].tolist(), recalled.path[0].tolist(), strict=True
        )
        if slot >= 0
    )
