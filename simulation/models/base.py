"""What the engine asks of a language model, and what it gets back: batches of columns.

A batch of requests carries the structured choices (what each persona sees, believes and recalls,
what it may do) as arrays over the A personas that take a turn, and renders the same content as a
prompt when asked. `rule` reads the arrays, a written model reads the prompts; both return the same
`Reactions`. The order of rows never carries meaning.

Shapes: A turns, F feed slots, K recalled memories, D dimensions, C claims, T = D + C targets,
P personas of the world. A negative index means "none".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from simulation import scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.models.interviews import InterviewReplies, InterviewRequests
    from simulation.models.surveys import SurveyReplies, SurveyRequests
    from simulation.providers.base import Prompt

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

ACTIONS: tuple[str, ...] = scenario.ACTIONS
ACTION_CODE = {name: code for code, name in enumerate(ACTIONS)}
ON_A_POST = ("like", "upvote", "downvote", "repost", "comment", "reply", "quote", "answer")
ON_A_PERSONA = ("follow", "ask_peer")
SPEAKING = ("answer", "post", "comment", "reply", "quote", "ask_peer", "complain")

SOURCES: tuple[str, ...] = ("rule", "model", "replay", "fallback")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """What does not change in a run, about all P personas (rows sorted by id) and the brief.

    receptivity, voice, scepticism: (P,) dispositions, about [-1, 1], from attributes.
    voices: first-person fragments per persona, e.g. "as a nurse".
    weights: (C, D) how a change of a claim's credence moves each dimension, [-1, 1].
    """

    ids: tuple[str, ...]
    keys: NDArray[np.uint64]
    blocks: tuple[str, ...]
    voices: tuple[tuple[str, ...], ...]
    receptivity: FloatArray
    voice: FloatArray
    scepticism: FloatArray
    brand: str
    proposition: str
    dimensions: tuple[str, ...]
    claims: tuple[str, ...]
    claim_texts: tuple[str, ...]
    weights: FloatArray

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of all beliefs: dimensions, then claims."""
        return (*self.dimensions, *self.claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedView:
    """The ranked feed of each turn, (A, F), best first; unused slots are at the end.

    post: post id, -1 in an unused slot.  author: persona row, -1 for a source outside the
    population.  text: text id.  claim: claim index or -1.  stance: [-1, 1], what the item says
    about its claim.  credibility, relevance: [0, 1]; relevance is the clipped cosine of item and
    persona block.  sponsored: the brand itself speaks.  question: this persona may answer it.
    followable: the author is a persona not followed yet.  outside: the words come from outside the
    population, even where a persona shares them.  origin: persona row, not followed yet, whose
    words the item shares, quotes or comments on, -1 for none.
    """

    post: IntArray
    author: IntArray
    text: IntArray
    claim: IntArray
    stance: FloatArray
    credibility: FloatArray
    relevance: FloatArray
    sponsored: BoolArray
    question: BoolArray
    followable: BoolArray
    outside: BoolArray
    origin: IntArray
    source_names: Callable[[int], str]  # post id -> how its author is called


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledView:
    """Recalled memories of each turn, (A, K), best first; text -1 in an unused slot.

    score: its weight, >= 0: what ranked it; where personality let some come unasked, recency x
    importance x relevance of all, so that weights are of one scale.  claim: claim index or -1.
    stance: [-1, 1], how the persona felt about the claim then.  tick: when it was written.
    valence: [-1, 1], how it felt; None where personas have no personality.
    """

    text: IntArray
    score: FloatArray
    claim: IntArray
    stance: FloatArray
    tick: IntArray
    valence: FloatArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttitudesView:
    """What personas have settled about what is before them (method.md 10).

    brand: (A,), [-1, 1], how they feel about the brand.  claim: (A, F), [-1, 1], about the claim
    of each item.  peer: (A, F), [-1, 1], about who wrote it.  0 where nothing is settled.
    words: i -> (name of the object, the view in words) of the i-th turn, nearest first.
    """

    brand: FloatArray
    claim: FloatArray
    peer: FloatArray
    words: Callable[[int], Sequence[tuple[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequests:
    """A batch of turns.

    row: (A,) row of the persona in `cast`.  tier: (A,) 0 cheap, 1 frontier.  turn_no: (A,) from 1.
    beliefs, initial: (A, T), [0, 1], now and at tick 0.  heard: (A, C, 2) how often each claim was
    met so far, affirmed and denied.  allowed: (A, 15) actions possible now, in order of `ACTIONS`.
    decided: (A,) what it decided for good: 1 bought, -1 rejected, 0 neither so far.
    friend: (A,) a persona row it follows (for ask_peer), or -1.  stimulus: (A,) text id of what
    the persona is looking at (the proposition when the feed is empty).
    text: text id -> text.  prompt: i -> prompt of the i-th turn.  state: (A, 3) affective state
    (valence, arousal, dominance) of personas with a personality, else None.
    attitudes: None with `memory.units: off`.
    """

    cast: Cast
    tick: int
    horizon: int
    row: IntArray
    tier: IntArray
    turn_no: IntArray
    beliefs: FloatArray
    initial: FloatArray
    heard: FloatArray
    decided: IntArray
    feed: FeedView
    recalled: RecalledView
    allowed: BoolArray
    friend: IntArray
    stimulus: IntArray
    text: Callable[[int], str]
    prompt: Callable[[int], Prompt]
    state: FloatArray | None = None
    attitudes: AttitudesView | None = None

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self.row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Something of the i-th answer that was refused or dropped."""

    index: int
    kind: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reactions:
    """What A personas do.

    action: (A,) index into `ACTIONS`.  post: (A,) post id acted upon, or -1.
    persona: (A,) persona row acted upon, or -1.  words: what is said, "" for nothing.
    change: (A, T) signed requested changes, 0 for none.  claim: (A,) what it is about, or -1.
    stance: (A,) [-1, 1], what the words say about the claim.
    cause: (A, T) feed slot that moved each target, or -1.
    importance: (A,) a rating in [0, 1], NaN for none.  source: (A,) index into `SOURCES`.
    error: why the model's own answer was not used, by index.
    """

    action: IntArray
    post: IntArray
    persona: IntArray
    words: Sequence[str]
    change: FloatArray
    claim: IntArray
    stance: FloatArray
    cause: IntArray
    importance: FloatArray
    source: IntArray
    error: dict[int, str] = field(default_factory=dict)
    rejections: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionRequests:
    """A batch of reflections.

    row, tier as in turns.  beliefs, before: (A, T) now, and at the last reflection or the start.
    memories: per reflection, (text id, importance, tick) of what it remembers since then, most
    important first.  memory_views: of each of these the claim index or -1, and how the persona
    felt about it, [-1, 1]; empty if not known.  sharp: (A,) triggered by a sharp move, else by
    cadence.
    """

    cast: Cast
    tick: int
    row: IntArray
    beliefs: FloatArray
    before: FloatArray
    memories: Sequence[Sequence[tuple[int, float, int]]]
    sharp: BoolArray
    text: Callable[[int], str]
    prompt: Callable[[int], Prompt]
    memory_views: Sequence[Sequence[tuple[int, float]]] = ()

    def __len__(self) -> int:
        """Return the number of reflections."""
        return len(self.row)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionReplies:
    """What reflections yield.

    revised: (A, T) absolute beliefs in [0, 1], NaN where nothing is revised.  memories: 1 to 3
    texts each.  claim, stance: (A,) what they are about (claim index or -1), [-1, 1].
    """

    revised: FloatArray
    memories: Sequence[tuple[str, ...]]
    claim: IntArray
    stance: FloatArray
    source: IntArray
    error: dict[int, str] = field(default_factory=dict)
    rejections: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRequests:
    """A batch of N probe questions. other: an answer that contradicts the attribute, or ""."""

    cast: Cast
    tick: int
    row: IntArray
    attribute: Sequence[str]
    question: Sequence[str]
    expected: Sequence[str]
    other: Sequence[str]
    prompt: Callable[[int], Prompt]

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.row)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReplies:
    """Answers to probe questions; None where the call failed."""

    answer: Sequence[str | None]
    error: dict[int, str] = field(default_factory=dict)
    rejections: tuple[Rejection, ...] = ()


class Model(Protocol):
    """A language model, as the engine sees it; it never raises for a bad answer."""

    @property
    def name(self) -> str:
        """Provider and model, as the run records it."""
        ...

    def react(self, requests: TurnRequests) -> Reactions:
        """Answer a batch of turns."""
        ...

    def reflect(self, requests: ReflectionRequests) -> ReflectionReplies:
        """Answer a batch of reflections."""
        ...

    def answer_probes(self, requests: ProbeRequests) -> ProbeReplies:
        """Answer a batch of probe questions."""
        ...

    def answer_surveys(self, requests: SurveyRequests) -> SurveyReplies:
        """Answer one survey question for a batch of personas."""
        ...

    def answer_interviews(self, requests: InterviewRequests) -> InterviewReplies:
        """Answer a batch of interview questions."""
        ...
