"""The engine's own recall over a fixed set of memories, for many minds at once.

A run grows its memories; a study holds them fixed and varies who remembers. Here P personalities
share one corpus, and the search, the gate and the controls are those of a run:
`simulation.search`, `simulation.active` and `simulation.recall`.

    >>> import numpy as np
    >>> from simulation.studies import corpus, recalling
    >>> bank = recalling.bank(corpus.read("development"))
    >>> minds = recalling.Minds(bank, "attachment", np.array([[0.15, 0.15], [0.85, 0.15]]))
    >>> asked = recalling.ask(
    ...     bank, personas=[0, 1], cues=["A letter"] * 2, streams=["first"] * 2
    ... )
    >>> minds.passive(asked, count=3).shape
    (2, 3)

Chance depends on the seed and on `streams` alone: questions that share a stream meet the same
numbers, whatever the personality, so that comparisons are paired (method.md 11).

Shapes: P personalities, A questions, K memories.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation import active, recall
from simulation.active import RuleController
from simulation.appraisal import Appraisals
from simulation.appraisers import AppraiserSpec
from simulation.appraisers import load as load_appraiser
from simulation.disposition import Disposition
from simulation.encoders import EncoderSpec, load
from simulation.memory import KINDS, MemoryStore
from simulation.mind.affect import NEUTRAL_STATE
from simulation.personality import Personalities
from simulation.rng import Streams, stream_keys
from simulation.scenario.persmem import PersMem, Switches
from simulation.search import Mind, Search
from simulation.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from simulation.active import Controller
    from simulation.encoders import Encoder
    from simulation.recall import Recalled
    from simulation.rng import FloatArray, UIntArray
    from simulation.search import Decisions
    from simulation.studies.corpus import Corpus

    IntArray = NDArray[np.int64]

TRAITLESS = Switches(A=False, R=False, P=False)
"""What knows traits is off; the gate may still have a threshold of its own."""
DISTRESS = (-0.6, 0.75, 0.3)
"""The affective state of distress (PersMem, F.4)."""
TAU = 7.5  # ticks; that of a run of 30 (method.md 3). Without ages nothing depends on it.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bank:
    """A corpus with its texts encoded. items: (K,) text ids of the memories."""

    corpus: Corpus
    encoder: Encoder
    texts: Texts
    items: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """A questions. rows: (A,) which personality.  query: (A,) text ids.  keys: (A,) of chance.

    state: (A, 3) the affective state.
    """

    rows: IntArray
    query: IntArray
    keys: UIntArray
    state: FloatArray


def bank(corpus: Corpus, encoder: Encoder | None = None) -> Bank:
    """Return a corpus, encoded; default, by the shipped static encoder."""
    encoder = load(EncoderSpec(name="static")) if encoder is None else encoder
    texts = Texts(encoder.encode, width=encoder.width)
    return Bank(
        corpus=corpus, encoder=encoder, texts=texts, items=texts.intern(list(corpus.texts))
    )


def ask(
    bank: Bank,
    *,
    personas: Sequence[int] | IntArray,
    cues: Sequence[str],
    streams: Sequence[str],
    state: ArrayLike = NEUTRAL_STATE,
) -> Asked:
    """Return questions to minds.

    personas: (A,) row of each one's personality.  cues: A texts.  streams: A names; draws of the
    same name are the same.  state: (3,) of all, or (A, 3); default (0, .4, .5).
    """
    return Asked(
        rows=np.asarray(personas, np.int64),
        query=bank.texts.intern(list(cues)),
        keys=stream_keys(streams),
        state=np.array(np.broadcast_to(np.asarray(state, np.float64), (len(cues), 3))),
    )


class Minds:
    """P personalities who hold the same memories.

    disposition: what their personalities make of them.  store: the memories, a row a personality;
    the affect of a memory is its label as that personality feels it (switch A), its importance the
    labelled arousal.
    """

    def __init__(
        self,
        bank: Bank,
        kind: str,
        vectors: FloatArray,
        spec: PersMem | None = None,
        *,
        seed: int = 0,
        ages: ArrayLike = 0,
        tau: float = TAU,
        controller: Controller | None = None,
    ) -> None:
        """Let them hold the memories.

        kind: `attachment` or `big_five`.  vectors: (P, T) in [0, 1].  spec: constants and
        switches; default, those of a run.  ages: (K,) or one for all, ticks >= 0.
        controller: of active searches; default, by rule.

        Raises:
            UsageError: there is no such map of gains for this kind.
        """
        vectors = np.asarray(vectors, np.float64)
        self.bank = bank
        self._streams = Streams(seed)
        self._controller = RuleController() if controller is None else controller
        # nothing that has no label is ever appraised here
        appraisals = Appraisals(load_appraiser(AppraiserSpec(name="lexicon")), bank.texts)
        self.disposition = Disposition(
            Personalities.of(kind, vectors), spec or PersMem(), appraisals, tau=tau
        )
        self.store = self._stored(len(vectors), np.broadcast_to(ages, (len(bank.items),)))

    def passive(self, asked: Asked, *, count: int) -> IntArray:
        """Return the places of memories that come unasked, (A, count), in the order of drawing.

        They are drawn without replacement from the best `spec.passive.candidates` scores.
        """
        return self._search(asked).draw(np.ones(len(asked.rows), np.bool_), step=0, count=count)

    def scores(self, asked: Asked) -> FloatArray:
        """Return the passive score of each memory for each question, (A, K)."""
        return self._search(asked).passive()

    def weighed(self, asked: Asked) -> tuple[FloatArray, FloatArray]:
        """Return relation R and retention of each memory, (A, K) each."""
        held = self.store.held(asked.rows)
        found = self.disposition.weigh(held, asked.rows, asked.state, now=self._now)
        return found.relation, found.retention

    def samples(self, asked: Asked, *, draws: int) -> IntArray:
        """Return single draws by the passive score, (A, draws), each as if it were the first."""
        search = self._search(asked)
        everyone = np.ones(len(asked.rows), np.bool_)
        return np.concatenate(
            [search.draw(everyone, step=step, count=1) for step in range(draws)], axis=1
        )

    def retrieve(self, asked: Asked) -> tuple[Recalled, Decisions]:
        """Return passive and active retrieval in full, the query being the goal."""
        return active.retrieve(
            self.store,
            self.bank.texts,
            self._streams,
            self.disposition,
            self._mind(asked),
            controller=self._controller,
        )

    def control(self, asked: Asked, mode: str, *, count: int) -> Recalled:
        """Return what a recall without personality finds, by a mode of `recall.MODES`."""
        return recall.recall(
            self.store,
            self.bank.texts,
            rows=asked.rows,
            query=asked.query,
            now=self._now,
            tau=self.disposition.tau,
            k=np.full(len(asked.rows), count),
            mode=mode,
            streams=self._streams,
            keys=asked.keys,
        )

    def _stored(self, personas: int, ages: IntArray) -> MemoryStore:
        corpus, memories = self.bank.corpus, len(self.bank.items)
        self._now = int(ages.max(initial=0))
        rows = np.repeat(np.arange(personas), memories)
        raw = np.tile(corpus.affect, (personas, 1))
        store = MemoryStore(personas, cap=memories, affect=True)
        store.write(
            rows,
            tick=np.tile(self._now - ages, personas),
            kind=KINDS.index("seed"),
            importance=raw[:, 1],
            text=np.tile(self.bank.items, personas),
            affect=self.disposition.felt(raw, rows),
            overgeneral=np.tile(corpus.overgeneral, personas),
        )
        return store

    def _search(self, asked: Asked) -> Search:
        return Search(
            self.store, self.bank.texts, self._streams, self.disposition, self._mind(asked)
        )

    def _mind(self, asked: Asked) -> Mind:
        return Mind(
            rows=asked.rows,
            keys=asked.keys,
            state=asked.state,
            query=asked.query,
            now=self._now,
        )
