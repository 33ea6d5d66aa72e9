"""Stores of memories with an affect, and whole personalities, for tests of gated recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.active import RuleController, retrieve
from simulation.appraisal import Appraisals
from simulation.disposition import Disposition
from simulation.encoders import EncoderSpec, load
from simulation.gated import gated
from simulation.memory import MemoryStore
from simulation.personality import Personalities
from simulation.rng import Streams, stream_keys
from simulation.scenario.persmem import PersMem
from simulation.search import Decisions, Mind
from simulation.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.active import Controller
    from simulation.recall import Recalled

NOW, TAU = 12, 5.0
ANXIOUS, SECURE = (0.85, 0.15), (0.15, 0.15)
ENCODER = load(EncoderSpec(name="ngram"))


class Neutral:
    """An appraiser to which every text feels alike; it counts what it is asked."""

    name, sha256 = "neutral", "0" * 64
    notes: tuple[str, ...] = ()

    def __init__(self, answer: Sequence[float] = (0.0, 0.4, 0.5)) -> None:
        self.answer = answer
        self.failures: tuple[tuple[int, str], ...] = ()
        self.asked: list[list[str]] = []

    def appraise(self, texts: Sequence[str], vectors: Any) -> np.ndarray:
        assert vectors is None or len(vectors) == len(texts)
        self.asked.append(list(texts))
        return np.tile(np.array(self.answer, np.float64), (len(texts), 1))


class World:
    """Personas with a personality, what they remember, and what they recall of it."""

    def __init__(
        self,
        personality: Sequence[tuple[float, ...]] = (ANXIOUS,),
        *,
        seed: int = 5,
        ids: Sequence[str] | None = None,
        **persmem: Any,
    ) -> None:
        self.texts = Texts(ENCODER.encode, width=ENCODER.width)
        kind = "attachment" if len(personality[0]) == 2 else "big_five"
        self.disposition = Disposition(
            Personalities.of(kind, np.array(personality)),
            PersMem(**persmem),
            Appraisals(Neutral(), self.texts),
            tau=TAU,
        )
        self.size = len(personality)
        self.keys = stream_keys(ids or [f"p{i}" for i in range(self.size)])
        self.store = MemoryStore(self.size, cap=50, affect=True)
        self.streams = Streams(seed)

    def remember(
        self,
        texts: Sequence[str],
        *,
        row: int = 0,
        affect: Sequence[float] = (0.0, 0.4, 0.5),
        **more: Any,
    ) -> None:
        values: dict[str, Any] = {
            "tick": np.arange(len(texts)) % (NOW - 1) + 1,
            "kind": 0,
            "importance": 0.5,
        }
        self.store.write(
            np.full(len(texts), row),
            text=self.texts.intern(list(texts)),
            affect=np.tile(np.array(affect, np.float64), (len(texts), 1)),
            **(values | more),
        )

    def mind(
        self, query: str, *, state: Sequence[float] = (0.0, 0.4, 0.5), rows: Sequence[int] = ()
    ) -> Mind:
        who = np.array(rows or range(self.size), np.int64)
        return Mind(
            rows=who,
            keys=self.keys[who],
            state=np.tile(np.array(state, np.float64), (len(who), 1)),
            query=np.repeat(self.texts.intern([query]), len(who)),
            now=NOW,
        )

    def gated(self, query: str, k: int = 3, **more: Any) -> tuple[Recalled, Decisions]:
        mind = self.mind(query, **more)
        return gated(
            self.store, self.texts, self.streams, self.disposition, mind,
            k=np.full(len(mind.rows), k),
        )  # fmt: skip

    def retrieve(
        self, query: str, controller: Controller | None = None, **more: Any
    ) -> tuple[Recalled, Decisions]:
        return retrieve(
            self.store, self.texts, self.streams, self.disposition, self.mind(query, **more),
            controller=controller or RuleController(),
        )  # fmt: skip

    def words(self, recalled: Recalled, row: int = 0) -> list[str]:
        places = recalled.position[row]
        return [self.texts[int(self.store.text[row, p])] for p in places.tolist() if p >= 0]
