"""Passive and active retrieval in full, as PersMem has them (method.md 7.4 and 7.6).

First some memories come unasked. Then the persona searches for what it is looking at, its goal: in
each step a memory comes to mind, and if the gate fires it takes over; else the memory most similar
to the query is found, and a controller says what to look for next, or that it is done. What was
found and what came unasked go before the persona together, each once.

The controller sees texts and their similarity: neither a personality nor a state.

Source: PersMem, section 3 ("Active Goal-Driven Memory Retrieval") and C.5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from simulation.gated import beside, nothing
from simulation.recall import BLOCK, Recalled, joined
from simulation.search import Decisions, Search, path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.disposition import Disposition
    from simulation.memory import MemoryStore
    from simulation.recall import BoolArray, IntArray
    from simulation.rng import Streams
    from simulation.search import Mind
    from simulation.texts import Texts

EXCERPT_CHARACTERS = 50  # of each memory, for the controller
QUERY_CHARACTERS = 80  # of the controller's answer
DONE = "DONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a controller is asked about N searches.

    row: (N,) whose searches: persona rows.  now: the tick.  goal, query: (N,) text ids.
    found: (N, S) text ids of what each search has found so far, in order; -1 beyond the last.
    texts: where the ids belong.
    """

    row: IntArray
    now: int
    goal: IntArray
    query: IntArray
    found: IntArray
    texts: Texts

    def excerpts(self, i: int) -> list[str]:
        """Return the beginning of each memory that the i-th search has found."""
        ids = [text for text in self.found[i].tolist() if text >= 0]
        return [self.texts[text][:EXCERPT_CHARACTERS] for text in ids]

    def take(self, index: IntArray) -> Question:
        """Return the question about some of the searches."""
        return replace(
            self,
            row=self.row[index],
            goal=self.goal[index],
            query=self.query[index],
            found=self.found[index],
        )


class Controller(Protocol):
    """Says what a search looks for next."""

    def decide(self, question: Question) -> Sequence[str]:
        """Return for each search a revised query, or `DONE`."""
        ...


class RuleController:
    """The controller that ships: it looks for the goal again until what it finds gets weak.

    It is done as soon as the newest memory is less than half as similar to the goal as the most
    similar one so far, or not similar at all.
    """

    def decide(self, question: Question) -> Sequence[str]:
        """Return for each search its goal, or `DONE`."""
        near = question.texts.cosine(question.found, question.goal[:, None])
        newest = (question.found >= 0).sum(axis=1) - 1
        last = near[np.arange(len(near)), newest]
        weak = (last <= 0.0) | (last < 0.5 * near.max(axis=1))
        goals = question.goal.tolist()
        return [
            DONE if stop else question.texts[goal]
            for goal, stop in zip(goals, weak.tolist(), strict=True)
        ]


def retrieve(
    store: MemoryStore,
    texts: Texts,
    streams: Streams,
    disposition: Disposition,
    mind: Mind,
    *,
    controller: Controller,
) -> tuple[Recalled, Decisions]:
    """Return what each persona finds and what comes to it unasked, and each decision.

    The active set stands first, in the order of finding; then the rest of the passive set. A
    memory in both has the path of the active one.
    store: with affect; holds memories written before `mind.now`.
    """
    found, decided = [], [Decisions.none()]
    for start in range(0, max(1, len(mind.rows)), BLOCK):
        part = mind.block(start, start + BLOCK)
        search = Search(store, texts, streams, disposition, part)
        passive = _passive(search)
        active = _active(search, controller, offset=start)
        found.append(_merged(active, passive))
        decided += search.decisions
    return joined(found), Decisions.joined(decided)


def _passive(search: Search) -> Recalled:
    """Return the passive set, in the order of drawing."""
    everyone = np.ones(len(search.query), np.bool_)
    place = search.draw(everyone, step=0, count=search.disposition.draws)
    score = np.full(place.shape, np.nan)
    if search.unused.size:
        score = np.take_along_axis(search.passive(), np.maximum(place, 0), axis=1)
    return search.describe(place, np.full(place.shape, path("passive")), score)


def _active(search: Search, controller: Controller, *, offset: int) -> Recalled:
    """Search to the end, and return what was found, in order."""
    goal = search.query.copy()
    going = np.ones(len(goal), np.bool_)
    found = [nothing(search)]
    for step in range(1, search.disposition.max_steps + 1):
        going = going & search.unused.any(axis=1)
        slot, fired = _step(search, going, step=step, offset=offset)
        found.append(slot)
        stop = search.redirect(fired, slot.position[:, 0])
        stop |= _control(search, controller, going & ~fired, goal, beside(found))
        going &= ~stop
    return beside(found)


def _step(
    search: Search, going: BoolArray, *, step: int, offset: int
) -> tuple[Recalled, BoolArray]:
    """Let each search that goes on find one memory; return it, and where the gate fired."""
    none = np.full(len(going), -1)
    if not going.any():
        return search.find(none, none, np.full(len(none), np.nan)), going
    proposed, fired = search.propose(going, step=step, offset=offset)
    near = np.where(search.unused, search.semantic, -np.inf).argmax(axis=1)  # ties: index order
    place = np.where(going, np.where(fired, proposed, near), -1)
    at = (np.arange(len(place)), place)
    slot = search.find(
        place,
        np.where(fired, path("redirect"), path("active")),
        np.where(fired, search.passive()[at], search.semantic[at]),
    )
    return slot, fired


def _control(
    search: Search, controller: Controller, asked: BoolArray, goal: IntArray, found: Recalled
) -> BoolArray:
    """Ask the controller about some searches; return which are done, (A,)."""
    turn = np.flatnonzero(asked)
    if not len(turn):
        return np.zeros(len(asked), np.bool_)
    place = found.position[turn]
    texts = search.held.text[turn[:, None], np.maximum(place, 0)]
    question = Question(
        row=search.mind.rows[turn],
        now=search.mind.now,
        goal=goal[turn],
        query=search.query[turn],
        found=np.where(place >= 0, texts, -1),
        texts=search.texts,
    )
    answers = [_query(answer) for answer in controller.decide(question)]
    return search.ask(turn, answers)


def _query(answer: str) -> str:
    """Return the query in a controller's answer: cut, of its first line; "" when it is done."""
    line = answer.strip().split("\n", 1)[0].strip()
    return "" if line == DONE else line[:QUERY_CHARACTERS]


def _merged(active: Recalled, passive: Recalled) -> Recalled:
    """Return both sets in one, each memory once, unused slots at the end."""
    both = beside([active, passive])
    width = active.position.shape[1]
    twice = (passive.position[:, :, None] == active.position[:, None, :]).any(axis=2)
    keep = both.position >= 0
    keep[:, width:] &= ~twice
    order = np.argsort(~keep, axis=1, kind="stable")
    kept = np.take_along_axis(keep, order, axis=1)

    def column(name: str) -> Any:
        values = np.take_along_axis(getattr(both, name), order, axis=1)
        empty = np.nan if values.dtype.kind == "f" else -1
        return np.where(kept, values, empty)

    return Recalled(**{name: column(name) for name in Recalled.__slots__})
