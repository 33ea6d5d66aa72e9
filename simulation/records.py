"""Immutable rows: all that a run can say about itself, as columns.

A tick of the engine returns `TickRecords`; whoever called it decides what to do with them (the
composition root hands them to the run database). Each class is one table of the run database and
each field one of its columns, of equal length; docs/run-database.md says what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """A text column as codes into a list of names; a negative code is NULL."""

    codes: IntArray
    names: Sequence[str]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)


Texts = Sequence[str] | Coded
OptionalTexts = Sequence[str | None] | Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of one table. An integer column named in `nullable` has NULL for negative values."""

    table: ClassVar[str]
    nullable: ClassVar[tuple[str, ...]] = ()

    def columns(self) -> dict[str, Any]:
        """Return column name: values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(getattr(self, fields(self)[0].name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources(Rows):
    """Files that a run goes on needing, whole; written once."""

    table: ClassVar[str] = "sources"
    name: Sequence[str]
    file: Sequence[str]
    sha256: Sequence[str]
    content: Sequence[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Personas(Rows):
    """Who takes part; written once."""

    table: ClassVar[str] = "personas"
    persona_id: Texts
    persona_index: IntArray
    attributes: Sequence[str]  # JSON
    persona_block: Sequence[str]
    block_sha256: Sequence[str]
    personality_kind: Texts
    personality: Sequence[Sequence[float] | None] | FloatArray  # (P, traits); None for no traits
    gains: Sequence[Sequence[float] | None] | FloatArray  # (P, gains); None for no personality
    reflection_interval: IntArray
    activity: FloatArray
    tier: Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims(Rows):
    """The claims of the brief; written once."""

    table: ClassVar[str] = "claims"
    claim_id: Texts
    claim_index: IntArray
    text: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialBeliefs(Rows):
    """Beliefs at tick 0; written once."""

    table: ClassVar[str] = "initial_beliefs"
    persona_id: Texts
    target: Texts
    belief: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges(Rows):
    """Directed follows: `source` follows `target`."""

    table: ClassVar[str] = "edges"
    source: Texts
    target: Texts
    weight: FloatArray
    created_tick: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimuli(Rows):
    """Events of the scenario; written once."""

    table: ClassVar[str] = "stimuli"
    stimulus_id: Texts
    tick: IntArray
    kind: Texts
    source: Texts
    text: Sequence[str]
    claim_id: OptionalTexts
    stance: FloatArray
    credibility: FloatArray
    stream_index: IntArray  # of its draws


@dataclass(frozen=True, slots=True, kw_only=True)
class Posts(Rows):
    """Posts, comments, replies, quotes, reposts, questions, answers, complaints, stimuli."""

    table: ClassVar[str] = "posts"
    nullable: ClassVar[tuple[str, ...]] = ("parent_id",)
    post_id: IntArray
    tick: IntArray
    author: Texts
    kind: Texts
    parent_id: IntArray
    claim_id: OptionalTexts
    text: Sequence[str]
    valence: FloatArray
    credibility: FloatArray
    addressee: OptionalTexts
    stimulus_id: OptionalTexts
    embedding_id: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposures(Rows):
    """What was shown to whom; position 0 is the stimulus of the turn."""

    table: ClassVar[str] = "exposures"
    tick: IntArray
    persona_id: Texts
    post_id: IntArray
    stimulus_id: OptionalTexts
    position: IntArray
    score: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns(Rows):
    """One row per persona turn."""

    table: ClassVar[str] = "turns"
    tick: IntArray
    persona_id: Texts
    turn_no: IntArray
    tier: Texts
    stimulus_text: Texts
    action: Texts
    target_id: OptionalTexts
    claim_id: OptionalTexts
    text: Sequence[str]
    importance: FloatArray
    max_abs_delta: FloatArray
    source: Texts
    error: OptionalTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefChanges(Rows):
    """One row per target that a turn or a reflection changed."""

    table: ClassVar[str] = "belief_changes"
    nullable: ClassVar[tuple[str, ...]] = ("cause_post_id",)
    tick: IntArray
    persona_id: Texts
    phase: Texts
    target: Texts
    requested: FloatArray
    before: FloatArray
    after: FloatArray
    cause_post_id: IntArray
    cause_stimulus_id: OptionalTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories(Rows):
    """Memories written in this tick."""

    table: ClassVar[str] = "memories"
    memory_id: IntArray
    persona_id: Texts
    tick: IntArray
    kind: Texts
    text: Sequence[str]
    importance: FloatArray
    valence: FloatArray  # NaN without personality, as the next two
    arousal: FloatArray
    dominance: FloatArray
    specificity: Texts
    claim_id: OptionalTexts
    stance: FloatArray
    embedding_id: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Evictions(Rows):
    """Memories dropped at the end of this tick; the writer sets `memories.evicted_tick`."""

    table: ClassVar[str] = "evictions"
    memory_id: IntArray
    evicted_tick: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantines(Rows):
    """Personas left to the rule model; the writer sets `personas.quarantined_tick`."""

    table: ClassVar[str] = "quarantines"
    persona_id: Texts
    quarantined_tick: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings(Rows):
    """Distinct embedded texts, quantised to int8: the vector is `quantised * scale`."""

    table: ClassVar[str] = "embeddings"
    embedding_id: IntArray
    tick: IntArray
    text: Sequence[str]
    text_sha256: Sequence[str]
    quantised: NDArray[np.int8]  # (N, width)
    scale: NDArray[np.float32]  # (N,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalls(Rows):
    """Memories put before a persona in a turn; slot counts from 1."""

    table: ClassVar[str] = "recalls"
    tick: IntArray
    persona_id: Texts
    slot: IntArray
    memory_id: IntArray
    path: Texts
    query: Texts
    recency: FloatArray
    importance: FloatArray
    relevance: FloatArray
    score: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates(Rows):
    """Decisions of the redirection gate; step counts from 1."""

    table: ClassVar[str] = "gates"
    tick: IntArray
    persona_id: Texts
    step: IntArray
    memory_id: IntArray
    mode: Texts
    query: Texts
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Affects(Rows):
    """Appraisals of what was perceived (`in`) and of the own reply (`out`)."""

    table: ClassVar[str] = "affects"
    tick: IntArray
    persona_id: Texts
    phase: Texts
    raw_valence: FloatArray
    raw_arousal: FloatArray
    raw_dominance: FloatArray
    valence: FloatArray
    arousal: FloatArray
    dominance: FloatArray
    state_valence: FloatArray
    state_arousal: FloatArray
    state_dominance: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Appraisals(Rows):
    """Raw affects of texts, before any personality: each text is appraised once."""

    table: ClassVar[str] = "appraisals"
    embedding_id: IntArray
    tick: IntArray
    valence: FloatArray
    arousal: FloatArray
    dominance: FloatArray
    error: OptionalTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Rows):
    """What posts say about sides of the brand and of claims."""

    table: ClassVar[str] = "evidence"
    tick: IntArray
    post_id: IntArray
    object_type: Texts
    object: Texts
    aspect: Texts
    positive: FloatArray
    negative: FloatArray
    neutral: FloatArray
    strength: FloatArray
    summary: OptionalTexts
    source: Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRows(Rows):
    """Memory units founded in this tick; how they stand is in their updates."""

    table: ClassVar[str] = "unit_rows"
    unit_id: IntArray
    persona_id: Texts
    object_type: Texts
    object: Texts
    aspect: Texts
    created_tick: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitUpdates(Rows):
    """Changes of memory units; step counts from 1 within a persona's tick."""

    table: ClassVar[str] = "unit_updates"
    nullable: ClassVar[tuple[str, ...]] = ("other_unit_id", "cause_post_id")
    tick: IntArray
    persona_id: Texts
    step: IntArray
    unit_id: IntArray
    kind: Texts
    other_unit_id: IntArray
    cause_post_id: IntArray
    summary: OptionalTexts
    strength: FloatArray  # NaN but for evidence, as the next three
    p_positive: FloatArray
    p_negative: FloatArray
    p_neutral: FloatArray
    positive: FloatArray
    negative: FloatArray
    neutral: FloatArray
    weight: FloatArray
    entropy: FloatArray
    observations: IntArray
    aspects: Sequence[Sequence[str] | None]  # after a merge


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflections(Rows):
    """Reflections of this tick; `memory_ids` are the memories that it wrote."""

    table: ClassVar[str] = "reflections"
    tick: IntArray
    persona_id: Texts
    trigger: Texts
    source: Texts
    memory_ids: Sequence[Sequence[int]]
    error: OptionalTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes(Rows):
    """One row per probe question asked."""

    table: ClassVar[str] = "probes"
    tick: IntArray
    persona_id: Texts
    attribute: Texts
    question: Sequence[str]
    expected: Sequence[str]
    answer: Sequence[str | None]
    agrees: Sequence[bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalls(Rows):
    """Requests put to language models; they are written as they come, not with their tick."""

    table: ClassVar[str] = "model_calls"
    nullable: ClassVar[tuple[str, ...]] = (
        "input_tokens",
        "cached_tokens",
        "written_tokens",
        "output_tokens",
    )
    tick: IntArray
    persona_id: Sequence[str | None]
    purpose: Texts
    attempt: IntArray
    provider: Texts
    model: Texts
    request_sha256: Sequence[str]
    request: Sequence[str | None]  # JSON
    response: Sequence[str | None]  # JSON
    input_tokens: IntArray
    cached_tokens: IntArray
    written_tokens: IntArray
    output_tokens: IntArray
    cost_usd: FloatArray
    latency_s: FloatArray
    attempts: IntArray
    billed: IntArray
    unconfirmed_usd: FloatArray
    unconfirmed_tokens: IntArray
    outcome: Texts
    error: Sequence[str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveys(Rows):
    """One row per persona asked; `scale_pmf` is over the points of the scale, or the choices."""

    table: ClassVar[str] = "surveys"
    tick: IntArray
    persona_id: Texts
    question_id: Texts
    answer: Sequence[str | None]
    scale_pmf: Sequence[Sequence[float] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections(Rows):
    """Things refused or dropped."""

    table: ClassVar[str] = "rejections"
    tick: IntArray
    persona_id: Texts
    purpose: Texts
    kind: Texts
    detail: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick(Rows):
    """The finished tick: one row."""

    table: ClassVar[str] = "ticks"
    tick: IntArray
    active: IntArray
    turns: IntArray
    reflections: IntArray
    probes: IntArray
    model_calls: IntArray
    input_tokens: IntArray
    output_tokens: IntArray
    cost_usd: FloatArray
    unit_entropy: FloatArray
    state_digest: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TickRecords:
    """Everything that one tick (or, as tick 0, the start of a run) has to say."""

    tick: int
    state_digest: str
    rows: tuple[Rows, ...] = field(default=())

    def of(self, table: str) -> Rows | None:
        """Return the rows of one table, or None."""
        return next((rows for rows in self.rows if rows.table == table), None)
