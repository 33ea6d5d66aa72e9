"""A conversation as memories: what each recall sees of it, as arrays.

A session is a tick, and a question is put in the tick after the last; the horizon is the number
of sessions. Turns are written in order, and the store drops what exceeds its cap at the end of a
tick, as in a run. Nothing that a memory carries looks ahead.

The importance of a turn is min(1, c / 40), c being its distinct content words: a run takes it from
actions and from beliefs that moved, and a conversation has neither.

Shapes: Q questions, K turns, M words of a question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.appraisers import AppraiserSpec
from simulation.appraisers import load as load_appraiser
from simulation.encoders import EncoderSpec, load
from simulation.memory import KINDS, MemoryStore
from simulation.mind import affect, lexical
from simulation.mind.recency import recency, tau
from simulation.rng import Streams, stream_keys
from simulation.texts import Texts
from simulation.words import Vocabulary, content, stem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simulation.encoders import Encoder
    from simulation.rng import FloatArray
    from simulation.studies.locomo.conversations import Conversation, Question

    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]

CAP: Final = 50
"""Memories that a persona of a run holds."""
FULL: Final = 40
"""Distinct content words of the most important turn."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Words:
    """Words of questions in turns. frequency: (Q, K, M).  length: (K,) words of a turn."""

    frequency: IntArray
    length: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Memories:
    """A conversation, prepared for recall.

    questions: those with evidence, Q.  tick: (K,) session.  age: (K,) ticks, >= 1.
    recency, importance: (K,) in [0, 1].  affect: (K, 3).  state: (Q, 3), how the rememberer feels
    on being asked.  texts: of turns and questions, by encoder.  items: (K,) text ids of turns.
    query: (Q,) of questions.  cosine: (Q, K) by encoder.  plain: all words as they are.
    stems: stems of content words.  capped: (K,) what is left under the cap.
    """

    conversation: Conversation
    questions: tuple[Question, ...]
    tick: IntArray
    age: IntArray
    tau: float
    recency: FloatArray
    importance: FloatArray
    affect: FloatArray
    state: FloatArray
    texts: Mapping[str, Texts]
    items: IntArray
    query: IntArray
    cosine: Mapping[str, FloatArray]
    plain: Words
    stems: Words
    capped: BoolArray

    def all(self) -> BoolArray:
        """Return that every turn is remembered, (K,)."""
        return np.ones(len(self.tick), np.bool_)

    def store(self) -> MemoryStore:
        """Return the engine's store with every turn, as it is after the last session."""
        store = MemoryStore(1, cap=len(self.tick))
        store.write(
            np.zeros(len(self.tick), np.int64),
            tick=self.tick,
            kind=KINDS.index("seed"),
            importance=self.importance,
            text=self.items,
        )
        return store

    def ageless(self) -> Memories:
        """Return them as if all had been written in the tick of the questions."""
        return replace(self, age=np.zeros_like(self.age), recency=np.ones_like(self.recency))


class Reader:
    """Prepares conversations; texts are encoded and appraised once."""

    def __init__(self, encoders: Sequence[Encoder]) -> None:
        """Take encoders; affects come from the shipped one, whatever else there is."""
        static = next((one for one in encoders if one.name == "static"), None)
        self.encoders = tuple(encoders)
        self._static = static or load(EncoderSpec(name="static"))
        self._appraiser = load_appraiser(AppraiserSpec(name="embedding", encoder=self._static))

    @property
    def appraiser(self) -> Mapping[str, str]:
        """Name and fingerprint of where affects come from."""
        return {"name": self._appraiser.name, "sha256": self._appraiser.sha256}

    def prepare(self, conversation: Conversation, questions: Sequence[Question]) -> Memories:
        """Return a conversation with some of its questions."""
        turns = [turn.memory for turn in conversation.turns]
        asked = [question.text for question in questions]
        tick = np.array([turn.session for turn in conversation.turns], np.int64)
        _, tick = np.unique(tick, return_inverse=True)  # a session without turns is no tick
        sessions = int(tick.max()) + 1
        age, weight = sessions - tick, importance(turns)
        state = affect.update_state(
            np.array(affect.NEUTRAL_STATE), affect.clip_affect(self._felt(asked))
        )
        texts = {one.name: Texts(one.encode, width=one.width) for one in self.encoders}
        ids = [(each.intern(turns), each.intern(asked)) for each in texts.values()]
        items, query = ids[0]  # counted alike, whatever encodes them
        return Memories(
            conversation=conversation,
            questions=tuple(questions),
            tick=tick,
            age=age,
            tau=tau(sessions),
            recency=recency(age, tau=tau(sessions)),
            importance=weight,
            affect=affect.clip_affect(self._felt(turns)),
            state=state,
            texts=texts,
            items=items,
            query=query,
            cosine={
                name: each.cosine(items[None, :], query[:, None]) for name, each in texts.items()
            },
            plain=_words(turns, asked, Vocabulary(stem=False, stop=False)),
            stems=_words(turns, asked, Vocabulary(stem=True, stop=True)),
            capped=capped(tick, weight),
        )

    def _felt(self, texts: Sequence[str]) -> FloatArray:
        return self._appraiser.appraise(texts, self._static.encode(texts))


def importance(turns: Sequence[str]) -> FloatArray:
    """Return the importance of turns, (K,), in [0, 1]."""
    counts = [len({stem(word) for word in content(turn)}) for turn in turns]
    return np.minimum(1.0, np.array(counts, np.float64) / FULL)


def capped(tick: IntArray, weight: FloatArray, *, cap: int = CAP) -> BoolArray:
    """Return which memories the engine's store still holds at the end, (K,).

    tick: (K,) when each was written, rising.  weight: (K,) importances.
    """
    store = MemoryStore(1, cap=cap)
    for now in np.unique(tick).tolist():
        places = np.flatnonzero(tick == now)
        store.write(
            np.zeros(len(places), np.int64),
            tick=now,
            kind=KINDS.index("seed"),
            importance=weight[places],
            text=places,
        )
        store.settle()
    held = store.held(np.zeros(1, np.int64))
    result = np.zeros(len(tick), np.bool_)
    result[held.text[held.used]] = True
    return result


def sampled(conversation: Conversation, *, most: int | None, seed: int) -> tuple[Question, ...]:
    """Return a conversation's questions with evidence, or `most` of them by chance, in order."""
    questions = [question for question in conversation.questions if question.evidence]
    if most is None or most >= len(questions):
        return tuple(questions)
    keys = stream_keys(f"{conversation.id}|{i}" for i in range(len(questions)))
    drawn = Streams(seed).permutation("locomo-questions", keys=keys)[:most]
    return tuple(questions[i] for i in sorted(drawn.tolist()))


def _words(turns: Sequence[str], asked: Sequence[str], vocabulary: Vocabulary) -> Words:
    memories = vocabulary.ids(turns)
    query = vocabulary.ids(asked, once=True)
    return Words(
        frequency=lexical.frequencies(memories[None], query),
        length=np.count_nonzero(memories >= 0, axis=1),
    )
