"""Survey questions: personas are asked after the turns of a tick; nothing is changed by it.

Neither a belief, a memory, a feeling nor a random stream of a turn is touched, and answers are
embedded in a table of their own, so a run without surveys has the same state digests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation import prompts, records, surveys
from simulation.mind.recency import recency
from simulation.models.base import Rejection
from simulation.models.surveys import MAX_ANSWER, SurveyReplies, SurveyRequests, chosen
from simulation.scenario.anchors import ANCHORS
from simulation.turn.columns import constant, repeated
from simulation.turn.quarantine import UNASKED, reason
from simulation.turn.rows import persona_column, rejections

if TYPE_CHECKING:
    from simulation.models.base import IntArray, Model
    from simulation.records import Rows
    from simulation.rng import Streams
    from simulation.scenario import Scenario
    from simulation.scenario.survey import Survey
    from simulation.surveys import Rater
    from simulation.world import World


def survey(
    world: World, scenario: Scenario, streams: Streams, tick: int, *, model: Model, rater: Rater
) -> tuple[Rows, ...]:
    """Put the questions of this tick, in their order, and return the answers.

    Whoever belongs to a question's panel is asked, active in this tick or not.
    """
    return tuple(
        rows
        for question in surveys.due(scenario.surveys, tick)
        for rows in _ask(world, scenario, streams.seed, tick, question, model, rater)
    )


def survey_notes(scenario: Scenario, rater: Rater) -> records.Rejections:
    """Return, as rows of tick 0, which anchors hardly tell answers apart with this encoder.

    Own anchors are looked at, shipped ones measured on their held-out answers.
    """
    said = [
        f"surveys: {question.id}: {weakness}"
        for question in scenario.surveys
        if question.anchor_sets and question.anchor_name is None
        for weakness in surveys.weaknesses(rater.nearness(question.anchor_sets))
    ]
    shipped = dict.fromkeys(question.anchor_name for question in scenario.surveys)
    said += [
        f"surveys: anchors {name}: {weakness}"
        for name in shipped
        if name is not None
        for weakness in surveys.confusions(
            surveys.separation(rater, ANCHORS[name], surveys.held_out()[name])
        )
    ]
    return records.Rejections(
        tick=repeated(len(said), 0),
        persona_id=records.Coded(codes=repeated(len(said), -1), names=()),
        purpose=constant(len(said), "survey"),
        kind=constant(len(said), "note"),
        detail=said,
    )


def _ask(
    world: World,
    scenario: Scenario,
    seed: int,
    tick: int,
    question: Survey,
    model: Model,
    rater: Rater,
) -> tuple[Rows, ...]:
    """Return the answers of a question's panel, and why some are missing."""
    panel = surveys.panel(seed, question.id, world.cast.ids, share=question.share)
    since = world.quarantined[panel]
    rows = panel[since == 0]
    replies = _replies(world, scenario, tick, question, rows, model)
    left = panel[since > 0]
    unasked = [
        Rejection(index=i, kind=UNASKED, detail=reason(int(when)))
        for i, when in enumerate(since[since > 0])
    ]
    table = _table(world, tick, question, rows, left, replies, rater)
    return (
        table,
        rejections(world, rows, tick, "survey", replies.rejections),
        rejections(world, left, tick, "survey", tuple(unasked)),
    )


def _replies(
    world: World, scenario: Scenario, tick: int, question: Survey, rows: IntArray, model: Model
) -> SurveyReplies:
    """Return a model's answers, each one that can be used; what cannot is NULL and named."""
    if not len(rows):
        return SurveyReplies(answer=[])
    targets = world.cast.targets
    requests = SurveyRequests(
        cast=world.cast,
        tick=tick,
        row=rows,
        beliefs=world.beliefs[rows],
        question_id=question.id,
        question=question.question,
        target=-1 if question.target is None else targets.index(question.target),
        anchors=question.anchor_sets,
        anchor_name=question.anchor_name or "",
        choices=question.choices,
        memories=lambda i: _memories(world, scenario, tick, int(rows[i])),
        prompt=lambda i: prompts.survey(requests, i),
    )
    return _checked(model.answer_surveys(requests), question)


def _memories(world: World, scenario: Scenario, tick: int, row: int) -> list[tuple[str, int]]:
    """Return the strongest memories of a persona: (text, tick), by recency times importance.

    As many as a turn of the cheap tier recalls. Relevance has no part in it: that would need the
    vector of the question among the world's texts.
    """
    store = world.memory
    held = int(store.count[row])
    written, weight = store.tick[row, :held], store.importance[row, :held]
    strength = recency(tick - written.astype(np.int64), tau=scenario.tau) * weight
    order = np.lexsort((store.memory_id[row, :held], -written, -strength))
    best = order[: scenario.recall.k.cheap].tolist()
    return [(world.texts[int(store.text[row, slot])], int(written[slot])) for slot in best]


def _checked(replies: SurveyReplies, question: Survey) -> SurveyReplies:
    """Return replies without what no answer may be; each that is missing says why."""
    answers = [None if said is None or _fault(said, question) else said for said in replies.answer]
    error = dict(replies.error)
    for i, said in enumerate(replies.answer):
        if answers[i] is None:
            error.setdefault(i, "no answer" if said is None else _fault(said, question))
    named = {item.index for item in replies.rejections}
    bare = tuple(
        Rejection(index=i, kind="invalid_answer", detail=error[i])
        for i in sorted(error)
        if i not in named
    )
    return SurveyReplies(answer=answers, error=error, rejections=(*replies.rejections, *bare))


def _fault(said: str, question: Survey) -> str:
    """Return why an answer cannot be used; "" if it can."""
    if not said.strip():
        return "the answer is empty"
    if len(said) > MAX_ANSWER:
        return f"the answer has {len(said)} characters; allowed are {MAX_ANSWER}"
    if question.choices and chosen(said, question.choices) < 0:
        return "the answer is none of the choices"
    return ""


def _table(
    world: World,
    tick: int,
    question: Survey,
    rows: IntArray,
    left: IntArray,
    replies: SurveyReplies,
    rater: Rater,
) -> records.Surveys:
    """Return the rows of those asked and of those `left` out, by persona."""
    everyone = np.concatenate([rows, left])
    order = np.argsort(everyone)
    answers = [*replies.answer, *[None] * len(left)]
    pmf = _distributions(answers, question, rater)
    return records.Surveys(
        tick=repeated(len(everyone), tick),
        persona_id=persona_column(world, everyone[order]),
        question_id=constant(len(everyone), question.id),
        answer=[answers[i] for i in order],
        scale_pmf=[pmf[i] for i in order],
    )


def _distributions(
    answers: list[str | None], question: Survey, rater: Rater
) -> list[list[float] | None]:
    """Return the distribution of each answer over the scale or the choices; None without one."""
    given = [said for said in answers if said is not None]
    if question.choices:
        places = [chosen(said, question.choices) for said in given]
        pmf = np.eye(len(question.choices))[np.array(places, dtype=np.int64)]
    else:
        pmf = rater.rate(
            given,
            question.anchor_sets,
            epsilon=question.epsilon,
            temperature=question.temperature,
        )
    found = iter(pmf.tolist())
    return [None if said is None else next(found) for said in answers]
