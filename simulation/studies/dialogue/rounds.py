"""What a profile recalls before each question, and the dialogue that comes of it.

Source: PersMem, F.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.rng import Streams, stream_keys
from simulation.scenario.persmem import PersMem
from simulation.studies import recalling
from simulation.studies.dialogue.words import QUESTIONS, block
from simulation.studies.speaking import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.recalling import Bank
    from simulation.studies.speaking import Speaker

    IntArray = NDArray[np.int64]

CONDITIONS: Final = ("full", "no-trait", "random", "no-memory")
PER_ROUND: Final = 3
FIRST_SEED: Final = 42
"""Profile s of the random control draws from the stream of seed 42 + s."""
TEMPERATURE: Final = 0.75
LONGEST: Final = 220

WITHOUT_TRAITS: Final = PersMem(switches=recalling.TRAITLESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A dialogue that is to be held.

    id: unlike any other.  system: the role card.  memories: texts that come to mind, a tuple a
    round.  questions: one a round.  voice: said first by the rule speaker in every round.
    """

    id: str
    system: str
    memories: tuple[tuple[str, ...], ...]
    questions: tuple[str, ...] = QUESTIONS
    voice: tuple[str, ...] = ()


def recalled(
    bank: Bank,
    vectors: FloatArray,
    condition: str,
    *,
    seed: int,
    questions: Sequence[str] = QUESTIONS,
) -> IntArray:
    """Return the places of recalled memories, (P, 6, n): n is 3, or 0 without memory.

    The state is (0, .4, .5) in every round. In the full system and without traits every profile
    meets the same draws in a round, so what differs there is the traits' doing.

    vectors: (P, 5).  condition: one of `CONDITIONS`.  questions: six, the cues of the recall.
    """
    people, rounds = len(vectors), len(questions)
    if condition == "no-memory":
        return np.zeros((people, rounds, 0), np.int64)
    if condition == "random":
        return _at_random(bank.corpus.ids, people, seed=seed)
    spec = PersMem() if condition == "full" else WITHOUT_TRAITS
    minds = recalling.Minds(bank, "big_five", vectors, spec, seed=seed)
    asked = recalling.ask(
        bank,
        personas=np.repeat(np.arange(people), rounds),
        cues=list(questions) * people,
        streams=[f"round-{i}" for i in range(rounds)] * people,
    )
    return minds.passive(asked, count=PER_ROUND).reshape(people, rounds, PER_ROUND)


def _at_random(ids: Sequence[str], people: int, *, seed: int) -> IntArray:
    """Return memories drawn uniformly without replacement, afresh in every round.

    seed: of the repetition; the first has the seeds 42 + s, the next ones lie beyond.
    """
    keys = stream_keys(ids)
    streams = [Streams(FIRST_SEED + 1000 * seed + s) for s in range(people)]
    drawn = [
        [
            stream.permutation("random-memory", keys=keys, tick=i)[:PER_ROUND]
            for i in range(len(QUESTIONS))
        ]
        for stream in streams
    ]
    return np.array(drawn, np.int64)


def texts(bank: Bank, places: IntArray) -> tuple[tuple[str, ...], ...]:
    """Return the texts of one profile's memories, a tuple a round. places: (6, n)."""
    return tuple(tuple(bank.corpus.texts[i] for i in row) for row in places.tolist())


def converse(speaker: Speaker, talks: Sequence[Talk]) -> list[tuple[str, ...]]:
    """Return the replies of dialogues, all of one length, which are held side by side.

    A reply that did not come is "", here and in what the speaker is shown of the dialogue.
    """
    said: list[list[str]] = [[] for _ in talks]
    for i in range(len(talks[0].questions)):
        requests = [_request(talk, i, replies) for talk, replies in zip(talks, said, strict=True)]
        for replies, reply in zip(said, speaker.say(requests), strict=True):
            replies.append(reply)
    return [tuple(replies) for replies in said]


def _request(talk: Talk, i: int, replies: Sequence[str]) -> Request:
    before = [
        message
        for asked, reply in zip(talk.questions, replies, strict=False)
        for message in (("user", asked), ("assistant", reply))
    ]
    memories = talk.memories[i]
    now = ("user", block(memories) + talk.questions[i])
    return Request(
        id=f"{talk.id}|{i + 1}",
        system=talk.system,
        messages=(*before, now),
        temperature=TEMPERATURE,
        max_tokens=LONGEST,
        material=(*talk.voice, *memories),
    )
