"""Drift probes: personas are asked what their own attributes answer; nothing is changed by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation import probes, prompts, records
from simulation.models.base import ProbeRequests, Rejection
from simulation.turn.columns import repeated
from simulation.turn.quarantine import answer_probes
from simulation.turn.rows import persona_column, rejections

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.models.base import Model, ProbeReplies
    from simulation.ontology import Ontology, ProbeQuestion
    from simulation.records import IntArray, Rows
    from simulation.rng import Streams
    from simulation.scenario import Scenario
    from simulation.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    row: int
    question: ProbeQuestion


def probe(
    world: World,
    scenario: Scenario,
    streams: Streams,
    rows: IntArray,
    tick: int,
    *,
    ontology: Ontology,
    attributes: Sequence[Mapping[str, str]],
    model: Model,
) -> tuple[Rows, ...]:
    """Ask the drawn personas among those active, `rows`, and return questions and answers."""
    if not probes.due(tick, every=scenario.probes.every):
        return ()
    asked = _questions(world, scenario, streams.seed, rows, tick, ontology, attributes)
    if not asked:
        return ()
    questions = [item.question for item in asked]
    requests = ProbeRequests(
        cast=world.cast,
        tick=tick,
        row=np.array([item.row for item in asked], dtype=np.int64),
        attribute=[question.attribute for question in questions],
        question=[question.question for question in questions],
        expected=[question.expected for question in questions],
        other=[ontology.contradiction(question) for question in questions],
        prompt=lambda i: prompts.probe(requests, i),
    )
    replies = answer_probes(requests, model, quarantined=world.quarantined)
    count = len(asked)
    table = records.Probes(
        tick=repeated(count, tick),
        persona_id=persona_column(world, requests.row),
        attribute=requests.attribute,
        question=requests.question,
        expected=requests.expected,
        answer=replies.answer,
        agrees=[
            None if answer is None else ontology.normalise(answer) in question.accepted
            for answer, question in zip(replies.answer, questions, strict=True)
        ],
    )
    failures = rejections(world, requests.row, tick, "probe", _refused(replies))
    return (table, failures)


def _refused(replies: ProbeReplies) -> tuple[Rejection, ...]:
    """Return why there is no answer, also where a model says so in `error` alone."""
    named = {item.index for item in replies.rejections}
    bare = [i for i in sorted(replies.error) if i not in named]
    return (
        *replies.rejections,
        *(Rejection(index=i, kind="invalid_answer", detail=replies.error[i]) for i in bare),
    )


def _questions(
    world: World,
    scenario: Scenario,
    seed: int,
    rows: IntArray,
    tick: int,
    ontology: Ontology,
    attributes: Sequence[Mapping[str, str]],
) -> list[_Asked]:
    place = {world.cast.ids[row]: row for row in rows.tolist()}
    asked = []
    for persona_id in probes.drawn(seed, tick, list(place), share=scenario.probes.share):
        row = place[persona_id]
        own = attributes[row]
        chosen = probes.questions(
            seed, tick, persona_id, ontology.answerable(own), count=scenario.probes.questions
        )
        asked += [_Asked(row=row, question=ontology.probe_question(name, own)) for name in chosen]
    return asked
