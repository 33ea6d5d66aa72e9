"""Small hand-made runs for the tests of the run database."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simulation import records
from simulation.runlog import RunHeader, RunWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

R = TypeVar("R", bound=records.Rows)

PERSONAS = ("p1", "p2", "p3")
DIMENSIONS = ("value", "trust")
CLAIMS = ("C1", "C2")

_DEFAULTS: dict[str, dict[str, Any]] = {
    "personas": {
        "attributes": '{"age": 40}',
        "persona_block": "I am a nurse.",
        "block_sha256": "b" * 64,
        "personality_kind": "none",
        "personality": None,
        "gains": None,
        "reflection_interval": 5,
        "activity": 1.0,
        "tier": "cheap",
    },
    "edges": {"weight": 1.0, "created_tick": 0},
    "stimuli": {
        "kind": "ad",
        "claim_id": None,
        "stance": 1.0,
        "credibility": 0.5,
        "stream_index": 0,
        "post_id": -1,
    },
    "posts": {
        "kind": "post",
        "parent_id": -1,
        "claim_id": None,
        "text": "Fine.",
        "valence": np.nan,
        "credibility": 0.6,
        "addressee": None,
        "stimulus_id": None,
        "embedding_id": 0,
    },
    "exposures": {"stimulus_id": None, "position": 0, "score": 1.0},
    "turns": {
        "turn_no": 1,
        "tier": "cheap",
        "stimulus_text": "An ad.",
        "action": "ignore",
        "target_id": None,
        "claim_id": None,
        "text": "",
        "importance": 0.05,
        "max_abs_delta": 0.0,
        "source": "rule",
        "error": None,
    },
    "belief_changes": {
        "phase": "turn",
        "requested": np.nan,
        "cause_post_id": -1,
        "cause_stimulus_id": None,
    },
    "memories": {
        "kind": "turn",
        "text": "I saw an ad.",
        "importance": 0.05,
        "valence": np.nan,
        "arousal": np.nan,
        "dominance": np.nan,
        "specificity": "specific",
        "claim_id": None,
        "stance": np.nan,
        "embedding_id": 0,
    },
    "recalls": {
        "slot": 1,
        "path": "product",
        "query": "An ad.",
        "recency": 1.0,
        "importance": 0.5,
        "relevance": 0.5,
        "score": 0.25,
    },
    "reflections": {"trigger": "cadence", "source": "rule", "memory_ids": (), "error": None},
    "probes": {"attribute": "age", "question": "How old are you?", "expected": "40"},
    "rejections": {"purpose": "turn", "kind": "unknown_belief", "detail": "no belief C9"},
}


def rows(cls: type[R], values: Iterable[Mapping[str, Any]]) -> R:
    """Return rows of a class from one mapping per row; what is left out has a default."""
    full = [{**_DEFAULTS.get(cls.table, {}), **each} for each in values]
    columns: dict[str, Any] = {}
    for field in fields(cls):
        column = [each[field.name] for each in full]
        kind = {"IntArray": np.int64, "FloatArray": np.float64}.get(str(field.type))
        columns[field.name] = np.array(column, dtype=kind) if kind else column
    return cls(**columns)


def coded(values: Sequence[str | None]) -> records.Coded:
    """Return texts as codes into the sorted list of them."""
    names = sorted({value for value in values if value is not None})
    codes = [-1 if value is None else names.index(value) for value in values]
    return records.Coded(codes=np.array(codes, dtype=np.int64), names=names)


def header(**changes: Any) -> RunHeader:
    """Return the header of a run of four ticks."""
    values: dict[str, Any] = {
        "run_id": "r1",
        "scenario_name": "bar",
        "scenario_yaml": "name: bar\n",
        "scenario_sha256": "a" * 64,
        "settings": (),
        "seed": 7,
        "engine_version": "0.1.0",
        "horizon": 4,
        "tau": 1.0,
        "parameters": {"recall.k.cheap": 3, "memory.cap": 50},
        "encoder": "static",
        "encoder_sha256": "e" * 64,
        "models": {"cheap": {"provider": "rule"}},
        "packages": {"numpy": "2"},
    }
    return RunHeader(**{**values, **changes})


def start(
    *,
    personas: Sequence[str] = PERSONAS,
    dimensions: Sequence[str] = DIMENSIONS,
    claims: Sequence[str] = CLAIMS,
    beliefs: Mapping[tuple[str, str], float] | None = None,
    extra: Sequence[records.Rows] = (),
) -> records.TickRecords:
    """Return tick 0: everyone follows the next one and believes 0.5."""
    told = beliefs or {}
    targets = (*dimensions, *claims)
    people = [{"persona_id": p, "persona_index": i} for i, p in enumerate(personas)]
    said = [{"claim_id": c, "claim_index": i, "text": f"{c}."} for i, c in enumerate(claims)]
    initial = [
        {"persona_id": p, "target": t, "belief": told.get((p, t), 0.5)}
        for p in personas
        for t in targets
    ]
    follows = [{"source": personas[i - 1], "target": p} for i, p in enumerate(personas)]
    return records.TickRecords(
        tick=0,
        state_digest="0" * 64,
        rows=(
            rows(records.Personas, people),
            rows(records.Claims, said),
            rows(records.InitialBeliefs, initial),
            rows(records.Edges, follows),
            *extra,
        ),
    )


def tick(
    number: int,
    *,
    turns: Sequence[Mapping[str, Any]] = (),
    changes: Sequence[Mapping[str, Any]] = (),
    extra: Sequence[records.Rows] = (),
    digest: str | None = None,
) -> records.TickRecords:
    """Return a tick of the given turns and belief changes; its digest hashes them."""
    said = f"{number} {list(turns)} {list(changes)}"
    state_digest = digest or hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
    summary = records.Tick(
        tick=np.array([number]),
        active=np.array([len(turns)]),
        turns=np.array([len(turns)]),
        reflections=np.array([0]),
        probes=np.array([0]),
        model_calls=np.array([0]),
        input_tokens=np.array([0]),
        output_tokens=np.array([0]),
        cost_usd=np.array([0.0]),
        unit_entropy=np.array([np.nan]),
        state_digest=[state_digest],
    )
    parts = (
        rows(records.Turns, ({"tick": number, **each} for each in turns)),
        rows(records.BeliefChanges, ({"tick": number, **each} for each in changes)),
        *extra,
        summary,
    )
    return records.TickRecords(tick=number, state_digest=state_digest, rows=parts)


def change(persona: str, target: str, before: float, after: float, **more: Any) -> dict[str, Any]:
    """Return a belief change."""
    return {"persona_id": persona, "target": target, "before": before, "after": after, **more}


def write_run(
    path: Path | None,
    ticks: Sequence[records.TickRecords],
    *,
    run: RunHeader | None = None,
    status: str = "complete",
) -> RunWriter:
    """Write a run; the writer stays open only for a run in memory."""
    writer = RunWriter.create(path, run or header())
    for each in ticks:
        writer.write(each, wall_s=0.25)
    writer.finish(status)
    if path is not None:
        writer.close()
    return writer


def story() -> list[records.TickRecords]:
    """Return a run of three ticks in which everything happens at least once.

    p1 sees an ad, comments and is moved across 0.5 on C1; p2 sees the comment, jumps on C1 and
    reflects back; p3 answers a probe wrongly and has a turn that fell back.
    """
    ad = {"stimulus_id": "ad1", "tick": 1, "source": "Bolt", "text": "Twenty grams!", "post_id": 1}
    ad_post = {"post_id": 1, "tick": 1, "author": "Bolt", "kind": "ad", "stimulus_id": "ad1"}
    comment = {"post_id": 2, "tick": 1, "author": "p1", "kind": "comment", "parent_id": 1}
    first = tick(
        1,
        turns=[
            {
                "persona_id": "p1",
                "action": "comment",
                "target_id": "1",
                "claim_id": "C1",
                "text": "Sounds great.",
                "importance": 0.62,
            },
            {"persona_id": "p2"},
            {"persona_id": "p3", "source": "fallback", "error": "not JSON"},
        ],
        changes=[
            change("p1", "C1", 0.4, 0.6, cause_post_id=1, cause_stimulus_id="ad1", requested=0.2),
            change("p1", "value", 0.5, 0.55, cause_post_id=1, cause_stimulus_id="ad1"),
        ],
        extra=[
            rows(
                records.Posts,
                [
                    {**ad_post, "text": "Twenty grams!", "claim_id": "C1", "valence": 1.0},
                    {**comment, "text": "Sounds great.", "claim_id": "C1", "valence": 0.2},
                ],
            ),
            rows(
                records.Exposures,
                [
                    {"tick": 1, "persona_id": p, "post_id": 1, "stimulus_id": "ad1"}
                    for p in ("p1", "p3")
                ],
            ),
            rows(
                records.Memories,
                [{"memory_id": i, "persona_id": f"p{i}", "tick": 1} for i in (1, 2, 3)],
            ),
            rows(records.Rejections, [{"tick": 1, "persona_id": "p1"}]),
        ],
    )
    second = tick(
        2,
        turns=[
            {"persona_id": "p2", "turn_no": 2, "action": "like", "target_id": "2"},
            {"persona_id": "p3", "turn_no": 2, "action": "follow", "target_id": "p1"},
        ],
        changes=[
            change("p2", "C1", 0.1, 0.45, phase="reflection", requested=0.45),
            change("p2", "C1", 0.5, 0.1, cause_post_id=2, requested=-0.4),
        ],
        extra=[
            rows(records.Exposures, [{"tick": 2, "persona_id": "p2", "post_id": 2}]),
            rows(records.Recalls, [{"tick": 2, "persona_id": "p2", "memory_id": 2}]),
            rows(
                records.Memories,
                [
                    {"memory_id": 4, "persona_id": "p2", "tick": 2, "text": "I liked it."},
                    {"memory_id": 5, "persona_id": "p2", "tick": 2, "kind": "reflection"},
                ],
            ),
            rows(
                records.Reflections,
                [{"tick": 2, "persona_id": "p2", "trigger": "sharp_move", "memory_ids": [5]}],
            ),
            records.Evictions(memory_id=np.array([2]), evicted_tick=np.array([2])),
            rows(
                records.Probes,
                [
                    {"tick": 2, "persona_id": "p2", "answer": "40", "agrees": True},
                    {"tick": 2, "persona_id": "p3", "answer": "12", "agrees": False},
                    {
                        "tick": 2,
                        "persona_id": "p3",
                        "attribute": "job",
                        "answer": None,
                        "agrees": None,
                    },
                ],
            ),
        ],
    )
    begin = start(
        beliefs={("p1", "C1"): 0.4},
        extra=[rows(records.Stimuli, [ad])],
    )
    return [begin, first, second, tick(3)]
