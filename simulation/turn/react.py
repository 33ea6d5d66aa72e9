"""Ask the models of each tier, and never trust an answer: what cannot be is taken by rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simulation.models.base import (
    ACTION_CODE,
    ACTIONS,
    ON_A_POST,
    SOURCES,
    Reactions,
    Rejection,
)
from simulation.models.batches import take_turns
from simulation.models.replies import join
from simulation.turn import quarantine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.base import BoolArray, IntArray, Model, TurnRequests

_FALLBACK = SOURCES.index("fallback")


def react(
    requests: TurnRequests,
    models: Sequence[Model],
    *,
    fallback: Model,
    quarantined: IntArray | None = None,
) -> Reactions:
    """Return the reactions of a batch of turns: each by the model of its tier.

    models: the cheap and the frontier model.  An impossible reaction (an action that is not
    allowed, a target that cannot be seen, a change that is not finite) is taken by `fallback`, and
    so are the turns of personas in quarantine, for which no model is asked.
    quarantined: (P,) tick since when, 0 for never.
    """
    since = np.zeros(len(requests), np.int64) if quarantined is None else quarantined[requests.row]
    left = np.flatnonzero(since)
    if not len(left):
        return _checked(requests, _by_tier(requests, models), fallback)
    free = np.flatnonzero(since == 0)
    some = take_turns(requests, free.tolist())
    answered = _checked(some, _by_tier(some, models), fallback)
    reasons = {i: quarantine.reason(int(since[row])) for i, row in enumerate(left.tolist())}
    instead = _instead(requests, left, reasons, fallback)
    return join([(free, answered), (left, instead)])


def _checked(requests: TurnRequests, reactions: Reactions, fallback: Model) -> Reactions:
    """Return reactions of which every one is possible."""
    wrong = faults(requests, reactions)
    if not wrong:
        return reactions
    rows = np.array(sorted(wrong), dtype=np.int64)
    reasons = {i: wrong[row] for i, row in enumerate(rows.tolist())}
    answer = replace(
        _instead(requests, rows, reasons, fallback),
        rejections=tuple(
            Rejection(index=i, kind="invalid_reaction", detail=detail)
            for i, detail in reasons.items()
        ),
    )
    rest = np.setdiff1d(np.arange(len(requests)), rows)
    return join([(rest, take(reactions, rest)), (rows, answer)])


def _instead(
    requests: TurnRequests, rows: IntArray, reasons: dict[int, str], fallback: Model
) -> Reactions:
    """Return what `fallback` does in some turns, and why it was asked."""
    answer = fallback.react(take_turns(requests, rows.tolist()))
    source = np.full(len(rows), _FALLBACK, dtype=np.int64)
    return replace(answer, source=source, error=reasons)


def _by_tier(requests: TurnRequests, models: Sequence[Model]) -> Reactions:
    if all(model is models[0] for model in models) or not len(requests):
        return models[0].react(requests)
    parts = []
    for tier, model in enumerate(models):
        rows = np.flatnonzero(requests.tier == tier)
        if len(rows):
            parts.append((rows, model.react(take_turns(requests, rows.tolist()))))
    return join(parts)


def faults(requests: TurnRequests, reactions: Reactions) -> dict[int, str]:
    """Return what is impossible about each impossible reaction, by index of the turn."""
    action = reactions.action
    known = (action >= 0) & (action < len(ACTIONS))
    code = np.where(known, action, 0)
    allowed = known & requests.allowed[np.arange(len(requests)), code]
    finite = np.isfinite(reactions.change).all(axis=1) & np.isfinite(reactions.stance)
    checks = (
        (allowed, "the action is not possible now"),
        (_target_is_there(requests, reactions, code), "the target is missing or cannot be seen"),
        (finite, "a change or a stance is not a finite number"),
    )
    wrong: dict[int, str] = {}
    for good, reason in checks:
        for i in np.flatnonzero(~good).tolist():
            wrong.setdefault(i, reason)
    return wrong


def _target_is_there(requests: TurnRequests, reactions: Reactions, action: IntArray) -> BoolArray:
    feed = requests.feed
    slot = (feed.post == reactions.post[:, None]) & (feed.post >= 0)
    person = (feed.author == reactions.persona[:, None]) & (feed.author >= 0)
    shared = (feed.origin == reactions.persona[:, None]) & (feed.origin >= 0)
    friend = (requests.friend == reactions.persona) & (requests.friend >= 0)
    there = np.ones(len(requests), dtype=bool)
    on_a_post = np.isin(action, [ACTION_CODE[name] for name in ON_A_POST])
    there[on_a_post] = slot.any(axis=1)[on_a_post]
    rules = {
        "answer": (slot & feed.question).any(axis=1),
        "follow": ((person & feed.followable) | shared).any(axis=1),
        "ask_peer": person.any(axis=1) | friend,
    }
    for name, good in rules.items():
        chosen = action == ACTION_CODE[name]
        there[chosen] = good[chosen]
    return there


def take(reactions: Reactions, rows: IntArray) -> Reactions:
    """Return the reactions of some turns of a batch."""
    place = {row: i for i, row in enumerate(rows.tolist())}
    return Reactions(
        action=reactions.action[rows],
        post=reactions.post[rows],
        persona=reactions.persona[rows],
        words=[reactions.words[i] for i in rows.tolist()],
        change=reactions.change[rows],
        claim=reactions.claim[rows],
        stance=reactions.stance[rows],
        cause=reactions.cause[rows],
        importance=reactions.importance[rows],
        source=reactions.source[rows],
        error={place[i]: text for i, text in reactions.error.items() if i in place},
        rejections=tuple(
            replace(item, index=place[item.index])
            for item in reactions.rejections
            if item.index in place
        ),
    )
