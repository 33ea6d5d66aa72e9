"""The seeded user of the study: what it likes, what it says, and what it is asked about.

The seed (DAM-LLM, "Dataset and Implementation") tells only sizes of its data: 2,500 observation
sequences, 100 sessions with 1,000 turns in all and 500 query-memory pairs; and that memory was
watched over 500 dialogues. Ours, in these sizes:

- **Attitudes.** 60 objects (6 types, 10 brands) with 6 aspects each. An object is liked (1/2),
  disliked (7/20) or left cold about (3/20); each of its sides goes with the object with chance
  1/2 and otherwise is drawn like an object.
- **An observation** is of one side. Its object is drawn by Zipf's law with exponent 0.8 over a
  seeded order of the objects (`EXPONENT`; the classical 1 is measured beside it), its aspect
  evenly. With chance 1/5 it contradicts the attitude: a liked side is blamed, a disliked one
  praised, an indifferent one either. The leading share of its evidence is U(0.6, 0.95), the rest
  is split evenly at random; its strength is U(0.2, 0.6).
- **Sessions.** 100 sessions of 10 turns of the user. Two turns make a dialogue, so there are 500;
  a turn holds 2 or 3 observations, so a dialogue holds 5 and all hold 2,500. Each observation
  is a sentence made from frames and phrases of `vocabulary`.
- **Pairs.** After all dialogues one question about an observation of each dialogue: 500. A third
  names the side, a third circumscribes it, a third repeats the words that were said.
- **Sequences.** Apart from the sessions, 2,500 sequences of 30 observations of one side each, on
  which a single unit is watched.

All of it is a function of the seed alone. The exponent and the chances were chosen before any
store was measured, so that most sides have come up by dialogue 300 (in expectation 322 of those
348 that come up at all; with exponent 1, 296 of 332): a world that is still being discovered
cannot show whether a memory is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from simulation.rng import Streams, stream_keys
from simulation.studies.dam import vocabulary as words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.rng import FloatArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

SEEDS: Final = (0, 1, 2, 3, 4)
SESSIONS: Final = 100
TURNS: Final = 10  # of a session
DIALOGUES: Final = 500
OBSERVATIONS: Final = 2500
PER_DIALOGUE: Final = OBSERVATIONS // DIALOGUES
SEQUENCES: Final = 2500
LENGTH: Final = 30  # of a sequence
EXPONENT: Final = 0.8
CONTRADICTIONS: Final = 0.2
STRENGTHS: Final = (0.2, 0.6)
LEADING: Final = (0.6, 0.95)
LIKED: Final = (0.5, 0.35, 0.15)  # chances of positive, negative, neutral
TOGETHER: Final = 0.5  # chance that a side goes with its object
_TURN_OF: Final = (0, 0, 0, 1, 1)  # of the observations of a dialogue: which of its two turns
_WEAK, _STRONG = 0.3, 0.5  # strengths below and above which a sentence is hedged or stressed

OBJECTS: Final = tuple((kind, f"{brand} {kind}") for kind in words.TYPES for brand in words.BRANDS)
"""(object type, object), in the order of their numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Evidence of any shape: polarity (..., 3), strength (...,), contradicts (...,)."""

    polarity: FloatArray
    strength: FloatArray
    contradicts: BoolArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dialogues:
    """What one seeded user says, N observations in their order, and Q questions.

    attitude: (60, 6) leading polarity of each side: 0 positive, 1 negative, 2 neutral.
    object, aspect: (N,) numbers in `OBJECTS` and `ASPECTS`.  texts: (N,) one sentence each.
    session, turn, dialogue: (N,) from 0, counted over all sessions.
    asked: (Q,) the observation each question is about.  questions: (Q,).
    """

    seed: int
    attitude: IntArray
    object: IntArray
    aspect: IntArray
    evidence: Evidence
    session: IntArray
    turn: IntArray
    dialogue: IntArray
    texts: tuple[str, ...]
    asked: IntArray
    questions: tuple[str, ...]


def dialogues(
    seed: int,
    *,
    per_dialogue: int = PER_DIALOGUE,
    exponent: float = EXPONENT,
    count: int = DIALOGUES,
) -> Dialogues:
    """Return the user of a seed.

    per_dialogue: keep so many of the five observations of each dialogue, [1, 5].  exponent: of
    Zipf's law, >= 0.  count: keep so many dialogues, [1, 500].
    """
    draw = _Draw(seed, "dialogues", OBSERVATIONS)
    attitude = _attitudes(seed)
    obj = _popular(seed, exponent, draw.uniform("object"), [name for _, name in OBJECTS])
    aspect = draw.pick("aspect", len(words.ASPECTS))
    evidence = _evidence(draw, attitude[obj, aspect])
    phrases = _phrases(draw, aspect, evidence)
    texts = _sentences(draw, obj, phrases, evidence.strength)
    place = np.arange(OBSERVATIONS) % PER_DIALOGUE
    dialogue = np.arange(OBSERVATIONS) // PER_DIALOGUE
    kept = np.flatnonzero((place < per_dialogue) & (dialogue < count))
    turn = dialogue * (SESSIONS * TURNS // DIALOGUES) + np.array(_TURN_OF)[place]
    asked = np.arange(count) * per_dialogue + _Draw(seed, "asked", count).pick("of", per_dialogue)
    whole = kept[asked]
    return Dialogues(
        seed=seed,
        attitude=attitude,
        object=obj[kept],
        aspect=aspect[kept],
        evidence=_some(evidence, kept),
        session=turn[kept] // TURNS,
        turn=turn[kept],
        dialogue=dialogue[kept],
        texts=tuple(texts[i] for i in kept.tolist()),
        asked=asked,
        questions=_questions(
            seed, obj[whole], aspect[whole], [phrases[i] for i in whole.tolist()]
        ),
    )


def sequences(
    seed: int,
    *,
    purpose: str = "sequences",
    count: int = SEQUENCES,
    length: int = LENGTH,
    leading: int | None = None,
) -> Evidence:
    """Return sequences of observations of one side each, (count, length).

    leading: the attitude behind all of them; default, drawn for each as for an object.
    """
    draw = _Draw(seed, purpose, count * length)
    attitude = np.full(count, leading if leading is not None else 0)
    if leading is None:
        attitude = _polarity(_Draw(seed, purpose, count).uniform("attitude"))
    flat = _evidence(draw, np.repeat(attitude, length))
    return Evidence(
        polarity=flat.polarity.reshape(count, length, 3),
        strength=flat.strength.reshape(count, length),
        contradicts=flat.contradicts.reshape(count, length),
    )


class _Draw:
    """Draws of one purpose, n at a time, each named."""

    def __init__(self, seed: int, purpose: str, n: int) -> None:
        self._streams, self._n = Streams(seed), n
        self._keys = stream_keys([f"dam-{purpose}"])

    def uniform(self, name: str) -> FloatArray:
        """Return (n,) draws from U(0, 1)."""
        return self._streams.uniform(
            f"study-dam-{name}", tick=0, keys=self._keys, index=np.arange(self._n)
        )

    def between(self, name: str, low: float, high: float) -> FloatArray:
        """Return (n,) draws from U(low, high)."""
        return low + (high - low) * self.uniform(name)

    def pick(self, name: str, among: int) -> IntArray:
        """Return (n,) draws from 0..among-1."""
        return np.minimum((self.uniform(name) * among).astype(np.int64), among - 1)


def _attitudes(seed: int) -> IntArray:
    """Return the leading polarity of each side, (60, 6)."""
    shape = (len(OBJECTS), len(words.ASPECTS))
    objects = _Draw(seed, "objects", shape[0])
    sides = _Draw(seed, "sides", shape[0] * shape[1])
    whole = _polarity(objects.uniform("liked"))[:, None]
    own = _polarity(sides.uniform("liked")).reshape(shape)
    with_object = sides.uniform("together").reshape(shape) < TOGETHER
    return np.where(with_object, whole, own)


def _polarity(uniform: FloatArray) -> IntArray:
    return np.searchsorted(np.cumsum(LIKED)[:-1], uniform, side="right").astype(np.int64)


def popular(seed: int, exponent: float, count: int, names: Sequence[str]) -> IntArray:
    """Return draws among names by Zipf's law, (count,), as those of the user's objects."""
    return _popular(seed, exponent, _Draw(seed, "dealt", count).uniform("object"), names)


def _popular(seed: int, exponent: float, uniform: FloatArray, names: Sequence[str]) -> IntArray:
    """Return places drawn by Zipf's law over a seeded order of names."""
    order = Streams(seed).permutation("study-dam-popularity", keys=stream_keys(names))
    chance = np.arange(1, len(names) + 1) ** -exponent
    rank = np.searchsorted(np.cumsum(chance / chance.sum())[:-1], uniform, side="right")
    return order[rank]


def _evidence(draw: _Draw, attitude: IntArray) -> Evidence:
    """Return n observations of sides with these attitudes."""
    contradicts = draw.uniform("contradicts") < CONTRADICTIONS
    either = draw.pick("either", 2)
    opposite = np.where(attitude == 2, either, 1 - np.minimum(attitude, 1))  # noqa: PLR2004 - neutral
    leading = np.where(contradicts, opposite, attitude)
    share = draw.between("leading", *LEADING)
    rest = (1.0 - share) * draw.uniform("rest")
    polarity = np.zeros((len(attitude), 3))
    row = np.arange(len(attitude))
    polarity[row, (leading + 1) % 3] = rest
    polarity[row, (leading + 2) % 3] = 1.0 - share - rest
    polarity[row, leading] = share
    strength = draw.between("strength", *STRENGTHS)
    return Evidence(polarity=polarity, strength=strength, contradicts=contradicts)


def _some(evidence: Evidence, kept: IntArray) -> Evidence:
    return Evidence(
        polarity=evidence.polarity[kept],
        strength=evidence.strength[kept],
        contradicts=evidence.contradicts[kept],
    )


def _phrases(draw: _Draw, aspect: IntArray, evidence: Evidence) -> list[str]:
    """Return what is said of the side in each observation, without its frame."""
    which = draw.uniform("phrase").tolist()
    leading = evidence.polarity.argmax(axis=1).tolist()
    found = []
    for side, lean, u in zip(aspect.tolist(), leading, which, strict=True):
        phrases = words.PHRASES[words.ASPECTS[side]][lean]
        found.append(phrases[int(u * len(phrases))])
    return found


def _sentences(draw: _Draw, obj: IntArray, phrases: list[str], strength: FloatArray) -> list[str]:
    frame, manner = draw.pick("frame", len(words.FRAMES)), draw.pick("manner", len(words.WEAK))
    return [
        _manner(words.FRAMES[f].format(thing=OBJECTS[o][1], phrase=phrase), m, s)
        for f, m, o, phrase, s in zip(
            frame.tolist(), manner.tolist(), obj.tolist(), phrases, strength.tolist(), strict=True
        )
    ]


def _manner(sentence: str, manner: int, strength: float) -> str:
    """Return the sentence, hedged when the evidence is weak and stressed when it is strong."""
    if _WEAK <= strength <= _STRONG:
        return sentence
    before = words.WEAK[manner] if strength < _WEAK else words.STRONG[manner]
    named = sentence.startswith(("I ", *words.BRANDS))
    return f"{before} {sentence if named else sentence[0].lower() + sentence[1:]}"


def _questions(seed: int, obj: IntArray, aspect: IntArray, phrases: list[str]) -> tuple[str, ...]:
    draw = _Draw(seed, "questions", len(obj))
    kind, which = draw.pick("kind", 3), draw.uniform("which").tolist()
    found = []
    for k, u, o, a, phrase in zip(
        kind.tolist(), which, obj.tolist(), aspect.tolist(), phrases, strict=True
    ):
        side = words.ASPECTS[a]
        forms = (words.NAMING, words.AROUND[side], words.REPEATING)[k]
        form = forms[int(u * len(forms))]
        found.append(form.format(thing=OBJECTS[o][1], aspect=side, phrase=phrase))
    return tuple(found)
