"""The controller of an active search that asks a language model (method.md 7.6).

What it cannot answer is decided by rule, and told.

Source: PersMem, C.5: temperature 0.4, 64 tokens; the answer is `DONE` or a revised query.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from simulation import prompts, records
from simulation.active import QUERY_CHARACTERS, Question, RuleController
from simulation.calls.base import Call
from simulation.errors import InvalidAnswerError
from simulation.turn.columns import constant, repeated
from simulation.turn.rows import persona_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.active import Controller
    from simulation.calls.base import Asker
    from simulation.providers.base import Prompt
    from simulation.records import Rows
    from simulation.world import World

TEMPERATURE = 0.4
MAX_TOKENS = 64


class ModelController:
    """Asks a language model, for each search on its own; it sees no personality and no state.

    faults: (persona row, kind, detail) of what went wrong since they were last taken.
    """

    def __init__(self, asker: Asker, ids: Sequence[str]) -> None:
        """Keep who answers, and the ids of the personas."""
        self.faults: list[tuple[int, str, str]] = []
        self._asker = asker
        self._ids = ids
        self._rule = RuleController()

    def decide(self, question: Question) -> Sequence[str]:
        """Return for each search a revised query, or `DONE`."""
        rows = question.row.tolist()
        answers = self._asker.ask([self._call(question, i, row) for i, row in enumerate(rows)])
        decided = [answer.value for answer in answers]
        for row, answer in zip(rows, answers, strict=True):
            self.faults += [(row, kind, said) for kind, said in answer.faults]
        missing = [i for i, said in enumerate(decided) if said is None]
        by_rule = self._rule.decide(question.take(np.array(missing, np.int64))) if missing else []
        for i, said in zip(missing, by_rule, strict=True):
            decided[i] = said
        return [said or "" for said in decided]

    def take_faults(self) -> list[tuple[int, str, str]]:
        """Return what went wrong since this was last asked."""
        taken, self.faults = self.faults, []
        return taken

    def _call(self, question: Question, i: int, row: int) -> Call[str]:
        return Call(
            tick=question.now,
            persona_id=self._ids[row],
            purpose="controller",
            prompt=partial(_prompt, question, i),
            schema=None,
            read=read,
            max_tokens=MAX_TOKENS,
            temperature=TEMPERATURE,
        )


def read(answer: str) -> str:
    """Return the first line of an answer that says something.

    Raises:
        InvalidAnswerError: none does.
    """
    lines = (part.strip().strip('"').strip() for part in answer.splitlines())
    line = next(filter(None, lines), "")
    if not line:
        raise InvalidAnswerError("the answer is empty")
    return line[:QUERY_CHARACTERS]


def _prompt(question: Question, i: int) -> Prompt:
    texts = question.texts
    return prompts.controller(
        goal=texts[int(question.goal[i])],
        query=texts[int(question.query[i])],
        found=question.excerpts(i),
    )


def faults_of(world: World, tick: int, controller: Controller) -> tuple[Rows, ...]:
    """Return what went wrong in asking a controller, as rows."""
    if not isinstance(controller, ModelController):
        return ()
    taken = controller.take_faults()
    return (
        records.Rejections(
            tick=repeated(len(taken), tick),
            persona_id=persona_column(world, np.array([row for row, _, _ in taken], np.int64)),
            purpose=constant(len(taken), "controller"),
            kind=[kind for _, kind, _ in taken],
            detail=[detail for _, _, detail in taken],
        ),
    )
