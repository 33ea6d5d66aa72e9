"""Three attachment profiles who are asked ten questions: what they feel, recall and remember.

A state and a store of memories go on from question to question. A question moves the state; three
memories come unasked by the state that this leaves; the reply moves the state again; and the
exchange becomes a memory with the mean of the two affects.

Source: PersMem, C.9, E.8; method.md 7.2, 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.appraisal import Appraisals
from simulation.appraisers import AppraiserSpec
from simulation.appraisers import load as load_appraiser
from simulation.disposition import Disposition
from simulation.memory import KINDS, MemoryStore
from simulation.mind.affect import NEUTRAL_STATE, memory_affect, update_state
from simulation.mind.traits import ATTACHMENT_PROFILES
from simulation.personality import Personalities
from simulation.rng import Streams, stream_keys
from simulation.scenario.persmem import PersMem
from simulation.search import Mind, Search
from simulation.studies.recalling import TAU

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.rng import FloatArray
    from simulation.studies.recalling import Bank

PROFILES: Final = ("secure", "anxious", "avoidant")
RECALLED: Final = 3
EXCERPT: Final = 120
"""Characters of a memory that are shown."""

FEELING: Final = (
    (-0.2, 0.2, ("bad", "neither good nor bad", "good")),
    (0.3, 0.6, ("calm", "awake", "stirred up")),
    (0.4, 0.6, ("with little in your hands", "with some things in your hands", "in control")),
)
"""Thresholds and words for valence, arousal and dominance (C.9; the words are the project's)."""
LABELS: Final = ("negative", "neutral", "positive")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Turn:
    """What a question does to the three.

    state: (3, 3) s_in.  excerpts: of each, what it recalls, with a coarse label of its valence.
    texts: of each, the whole memories.  valence: (3, n) of what is recalled.
    """

    state: FloatArray
    excerpts: tuple[tuple[str, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    valence: FloatArray


class Lives:
    """The three, who meet the same draws in a turn."""

    def __init__(self, bank: Bank, *, seed: int, turns: int) -> None:
        """Give them the memories of a bank, as each of them feels them, at tick 0."""
        count, memories = len(PROFILES), len(bank.items)
        vectors = np.array([ATTACHMENT_PROFILES[name] for name in PROFILES])
        appraiser = load_appraiser(AppraiserSpec(encoder=bank.encoder))
        self.appraiser = appraiser.name
        self._bank = bank
        self._streams = Streams(seed)
        self._disposition = Disposition(
            Personalities.of("attachment", vectors),
            PersMem(),
            Appraisals(appraiser, bank.texts),
            tau=TAU,
        )
        self._rows = np.arange(count)
        self._store = MemoryStore(count, cap=memories + turns, affect=True)
        self._state = np.tile(NEUTRAL_STATE, (count, 1))
        rows, raw = np.repeat(self._rows, memories), np.tile(bank.corpus.affect, (count, 1))
        self._store.write(
            rows,
            tick=0,
            kind=KINDS.index("seed"),
            importance=raw[:, 1],
            text=np.tile(bank.items, count),
            affect=self._disposition.felt(raw, rows),
            overgeneral=np.tile(bank.corpus.overgeneral, count),
        )
        self._heard: FloatArray = self._state

    def hear(self, question: str, turn: int) -> Turn:
        """Let a question be heard. turn: from 1."""
        query = self._bank.texts.intern([question] * len(self._rows))
        _, self._heard = self._disposition.appraise(query, self._rows)
        self._state = update_state(self._state, self._heard, rate=self._disposition.rate)
        mind = Mind(
            rows=self._rows,
            keys=stream_keys([f"turn-{turn}"] * len(self._rows)),
            state=self._state,
            query=query,
            now=turn,
        )
        search = Search(self._store, self._bank.texts, self._streams, self._disposition, mind)
        everyone = np.ones(len(self._rows), np.bool_)
        places = search.draw(everyone, step=0, count=RECALLED)
        valence = np.take_along_axis(search.held.valence, places, axis=1)
        items = np.take_along_axis(search.held.text, places, axis=1)
        texts = tuple(tuple(self._bank.texts[i] for i in row) for row in items.tolist())
        return Turn(
            state=self._state,
            texts=texts,
            valence=valence,
            excerpts=tuple(
                tuple(map(excerpt, row, values))
                for row, values in zip(texts, valence.tolist(), strict=True)
            ),
        )

    def remember(self, question: str, replies: Sequence[str], turn: int) -> FloatArray:
        """Let the replies move the three, keep the exchange; return the state after it, (3, 3).

        A reply that did not come moves nobody, and leaves no memory.
        """
        came = np.array([bool(reply) for reply in replies])
        rows = self._rows[came]
        said = self._bank.texts.intern([reply for reply in replies if reply])
        _, felt = self._disposition.appraise(said, rows)
        told = [f'Asked "{question}", I said: {reply}' for reply in replies if reply]
        affect = memory_affect(self._heard[came], felt)
        self._store.write(
            rows,
            tick=turn,
            kind=KINDS.index("turn"),
            importance=affect[:, 1],
            text=self._bank.texts.intern(told),
            affect=affect,
        )
        after = self._state.copy()
        after[came] = update_state(self._state[came], felt, rate=self._disposition.rate)
        self._state = after
        return after


def feeling(state: Sequence[float]) -> str:
    """Return a state in words.

    >>> feeling((-0.3, 0.7, 0.5))
    'bad, stirred up, with some things in your hands'
    """
    return ", ".join(
        names[_level(value, low, high)]
        for value, (low, high, names) in zip(state, FEELING, strict=True)
    )


def excerpt(text: str, valence: float) -> str:
    """Return the beginning of a memory with a coarse label of its valence.

    >>> excerpt("I fell.", -0.5)
    '(negative) I fell.'
    """
    low, high, _ = FEELING[0]
    return f"({LABELS[_level(valence, low, high)]}) {text[:EXCERPT]}"


def _level(value: float, low: float, high: float) -> int:
    return int(value >= low) + int(value > high)
