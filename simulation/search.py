"""A persona's search through its own memories, with those that come unasked (method.md 7.4, 7.5).

A `Search` goes on in steps, for a batch of personas at once. In a step one memory comes to mind
by the passive score, and the gate decides whether it takes over: then it is what the persona
remembers, and the beginning of its text is what it looks for next. How a step ends when the gate
stays shut is up to `simulation.gated` and `simulation.active`.

Draws are keyed by persona, tick, step and a memory's place among those that the persona holds,
oldest first; never by an id, which would depend on how much others wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simulation.choice import highest, top_without_replacement
from simulation.mind import recency as mind
from simulation.recall import PATHS, Recalled, recency_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.disposition import Disposition
    from simulation.memory import MemoryStore
    from simulation.rng import Streams, UIntArray
    from simulation.texts import Texts

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

REDIRECT_CHARACTERS = 60  # code points of a memory that become the next query
_STRIDE = 4096  # draws reserved for a step: more than a persona can hold memories


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Decisions of the gate, (N,) each: by turn, then by step.

    turn: index of the turn.  step: from 1.  memory_id, query: what was proposed, and the id of the
    text that was looked for.  semantic, retention, affect_match, relation, passive_score: of the
    memory.  threshold, arousal, probability, draw, fired: of the gate.
    """

    turn: IntArray
    step: IntArray
    memory_id: IntArray
    query: IntArray
    semantic: FloatArray
    retention: FloatArray
    affect_match: FloatArray
    relation: FloatArray
    passive_score: FloatArray
    threshold: FloatArray
    arousal: FloatArray
    probability: FloatArray
    draw: FloatArray
    fired: BoolArray

    @classmethod
    def joined(cls, pieces: Sequence[Decisions]) -> Decisions:
        """Return several as one, by turn, then by step."""
        columns = {
            f.name: np.concatenate([getattr(piece, f.name) for piece in pieces])
            for f in fields(cls)
        }
        order = np.lexsort((columns["step"], columns["turn"]))
        return cls(**{name: column[order] for name, column in columns.items()})

    @classmethod
    def none(cls) -> Decisions:
        """Return no decision."""
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        kinds: dict[str, Any] = {
            "IntArray": whole,
            "FloatArray": real,
            "BoolArray": np.zeros(0, np.bool_),
        }
        return cls(**{f.name: kinds[str(f.type)] for f in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """What a search needs of A personas that take a turn.

    rows: (A,) persona rows.  keys: (A,) their stream keys.  state: (A, 3) s_in.  query: (A,) text
    ids of what they look at.  now: the tick.
    """

    rows: IntArray
    keys: UIntArray
    state: FloatArray
    query: IntArray
    now: int

    def block(self, start: int, stop: int) -> Mind:
        """Return some of the personas."""
        part = slice(start, stop)
        return Mind(
            rows=self.rows[part],
            keys=self.keys[part],
            state=self.state[part],
            query=self.query[part],
            now=self.now,
        )


class Search:
    """The searches of A personas that hold up to K memories.

    unused: (A, K) memories not found yet.  query: (A,) text ids, what is looked for now.
    semantic: (A, K) clipped cosines of memories and query.  decisions: of the gate so far.
    mind: whose searches they are.
    """

    def __init__(
        self,
        store: MemoryStore,
        texts: Texts,
        streams: Streams,
        disposition: Disposition,
        mind: Mind,
    ) -> None:
        """Begin with what each persona looks at."""
        self.texts = texts
        self.disposition = disposition
        self.held = store.held(mind.rows)
        self.unused = self.held.used.copy()
        self.query = mind.query.copy()
        self.semantic: FloatArray = np.zeros(self.unused.shape)
        self._passive: FloatArray = np.zeros(self.unused.shape)
        self.decisions: list[Decisions] = []
        self._streams = streams
        self.mind = mind
        self._recency = (
            recency_of(self.held, now=mind.now, tau=disposition.tau)
            if self.unused.size
            else np.zeros(self.unused.shape)
        )
        self._weighed = disposition.weigh(self.held, mind.rows, mind.state, now=mind.now)
        self._temperature = disposition.temperature(mind.rows)
        self._threshold = disposition.threshold(mind.rows)
        self._slots: list[Recalled] = []
        self._look(np.arange(len(mind.rows)))

    def product(self) -> FloatArray:
        """Return recency x importance x relevance to the query, (A, K)."""
        return mind.score(self._recency, self.held.importance, self.semantic)

    def passive(self) -> FloatArray:
        """Return the passive scores for the query, (A, K)."""
        return self._passive

    def draw(self, going: BoolArray, *, step: int, count: int) -> IntArray:
        """Return the slots of memories that come unasked, (A, count); -1 for none.

        going: (A,) for whom.  step: which draw of the turn this is, from 0.
        """
        score, free = self.passive(), self.unused & going[:, None]
        place = highest(score, free, self.disposition.candidates)  # the others need no draw
        gumbel = self._streams.gumbel(
            "passive",
            tick=self.mind.now,
            keys=self.mind.keys[:, None],
            index=step * _STRIDE + place,
        )
        drawn = top_without_replacement(
            np.take_along_axis(score, place, axis=1),
            np.take_along_axis(free, place, axis=1),
            temperature=self._temperature,
            count=count,
            gumbel=gumbel,
            candidates=None,
        )
        if not place.size:
            return drawn
        return np.where(drawn >= 0, np.take_along_axis(place, np.maximum(drawn, 0), axis=1), -1)

    def propose(self, going: BoolArray, *, step: int, offset: int) -> tuple[IntArray, BoolArray]:
        """Let one memory come to each mind, and the gate decide; return its slot and whether.

        going: (A,) for whom; each has an unused memory.  step: from 1.  offset: index of the first
        turn, for `decisions`.
        """
        place = self.draw(going, step=step, count=1)[:, 0]
        turn = np.flatnonzero(going)
        at = (turn, place[turn])
        score = self.passive()[at]
        arousal, limit = self.mind.state[turn, 1], self._threshold[turn]
        chance = self.disposition.probability(score, limit, arousal)
        uniform = self._streams.uniform(
            "gate", tick=self.mind.now, keys=self.mind.keys[turn], index=step
        )
        decided = Decisions(
            turn=turn + offset,
            step=np.full(len(turn), step),
            memory_id=self.held.memory_id[at],
            query=self.query[turn],
            semantic=self.semantic[at],
            retention=self._weighed.retention[at],
            affect_match=self._weighed.match[at],
            relation=self._weighed.relation[at],
            passive_score=score,
            threshold=limit,
            arousal=arousal,
            probability=chance,
            draw=uniform,
            fired=uniform < chance,
        )
        self.decisions.append(decided)
        fired = np.zeros(len(going), np.bool_)
        fired[turn] = decided.fired
        return place, fired

    def find(self, place: IntArray, path: IntArray, score: FloatArray) -> Recalled:
        """Take what was found in a step, and return it as one more slot, (A, 1).

        place: (A,) slots of the store, -1 for nothing.  path: (A,) index into `PATHS`.
        score: (A,) what it was chosen by.
        """
        found = self.describe(place[:, None], path[:, None], score[:, None])
        turn = np.flatnonzero(place >= 0)
        self.unused[turn, place[turn]] = False
        return found

    def describe(self, place: IntArray, path: IntArray, score: FloatArray) -> Recalled:
        """Return memories as recalled for the current query, (A, N), all arguments (A, N)."""
        used = place >= 0
        at = (np.arange(len(place))[:, None], np.maximum(place, 0))
        if not self.unused.shape[1]:
            at = (at[0][:, :0], at[1][:, :0])

        def part(values: FloatArray) -> FloatArray:
            return np.where(used, values[at] if values.size else np.nan, np.nan)

        ids = self.held.memory_id[at] if self.held.memory_id.size else np.int64(-1)
        return Recalled(
            position=place,
            memory_id=np.where(used, ids, -1),
            path=np.where(used, path, -1),
            query=np.where(used, self.query[:, None], -1),
            recency=part(self._recency),
            importance=part(self.held.importance),
            relevance=part(self.semantic),
            score=np.where(used, score, np.nan),
        )

    def redirect(
        self, fired: BoolArray, place: IntArray, *, on: BoolArray | None = None
    ) -> BoolArray:
        """Look next for the beginning of the memory that took over; return whose has no text.

        fired: (A,).  place: (A,) its slot.  on: (A,) whose search goes on, default all; for the
        others nothing is compared.
        """
        turn = np.flatnonzero(fired)
        words = self.held.text[turn, place[turn]]
        query = self.texts.beginnings(words, REDIRECT_CHARACTERS)
        return self._ask(turn, query, on=None if on is None else on[turn])

    def ask(self, turn: IntArray, queries: Sequence[str]) -> BoolArray:
        """Look next for other texts; an empty one changes nothing. Return whose was empty, (A,).

        turn: (N,) whose.  queries: N texts.
        """
        there = np.array([bool(query) for query in queries], dtype=np.bool_)
        ids = np.full(len(queries), -1)
        ids[there] = self.texts.intern([query for query in queries if query])
        return self._ask(turn, ids)

    def _ask(self, turn: IntArray, query: IntArray, *, on: BoolArray | None = None) -> BoolArray:
        """Look next for texts by their ids, -1 for an empty one; return whose was empty, (A,)."""
        empty = np.zeros(len(self.query), np.bool_)
        there = query >= 0
        empty[turn[~there]] = True
        self.query[turn[there]] = query[there]
        self._look(turn[there if on is None else there & on])
        return empty

    def _look(self, turn: IntArray) -> None:
        """Compare the memories of some personas with what they look for now."""
        cosine = self.texts.cosine(self.held.text[turn], self.query[turn, None])
        self.semantic[turn] = mind.relevance(cosine)
        self._passive[turn] = self.disposition.score(
            self._weighed.take(turn), self.semantic[turn], self.mind.rows[turn]
        )


def path(name: str) -> int:
    """Return the code of a path."""
    return int(PATHS.index(name))
