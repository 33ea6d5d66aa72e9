from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_requests import IDS, cast, plain, probes, reflections, turns

from simulation import prompts
from simulation.errors import EmptyPersonaBlockError, ModelError
from simulation.models.asking import BackendAsker
from simulation.models.base import (
    ACTION_CODE,
    ACTIONS,
    ON_A_PERSONA,
    ON_A_POST,
    SOURCES,
    Model,
    Reactions,
    ReflectionReplies,
    ReflectionRequests,
    Rejection,
    TurnRequests,
)
from simulation.models.batches import choices
from simulation.models.written import WrittenModel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MODEL, FALLBACK = SOURCES.index("model"), SOURCES.index("fallback")
LIKE = '{"action": "like", "target": "11", "changes": {"C2": 0.1, "trust": -0.2}}'
REFLECTION = '{"beliefs": {"C1": 0.2}, "memories": ["I see it now."]}'


@dataclass
class Script:
    """A backend that answers by prompt, each answer once; it keeps what it was asked."""

    answers: dict[str, list[Any]]
    name: str = "script"
    asked: list[list[str]] = field(default_factory=list)
    schemas: list[list[dict[str, Any]]] = field(default_factory=list)

    def complete(
        self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]
    ) -> list[str | ModelError]:
        self.asked.append(list(prompts))
        self.schemas.append(list(schemas))
        # A repaired prompt goes on after the first line.
        return [self.answers[prompt.splitlines()[0]].pop(0) for prompt in prompts]


@dataclass
class Whole:
    """A backend that does the same with every batch."""

    do: Callable[[int], Any]
    name: str = "whole"
    batches: int = 0

    def complete(self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]) -> Any:
        assert len(schemas) == len(prompts)
        self.batches += 1
        return self.do(len(prompts))


@dataclass
class Stubborn:
    """A fallback that buys, with words that say for whom, and keeps its batches."""

    seen: list[list[str]] = field(default_factory=list)

    def react(self, requests: TurnRequests) -> Reactions:
        size = len(requests)
        self.seen.append([str(requests.prompt(i)) for i in range(size)])
        return Reactions(
            action=np.full(size, ACTION_CODE["buy"]),
            post=np.full(size, -1),
            persona=np.full(size, -1),
            words=[f"for {requests.cast.ids[row]}" for row in requests.row],
            change=requests.beliefs / 10,
            claim=np.zeros(size, dtype=np.int64),
            stance=np.full(size, 0.25),
            cause=np.full((size, 4), 2),
            importance=np.full(size, np.nan),
            source=np.zeros(size, dtype=np.int64),
        )

    def consolidate(self, requests: ReflectionRequests) -> ReflectionReplies:
        size = len(requests)
        self.seen.append([str(requests.prompt(i)) for i in range(size)])
        return ReflectionReplies(
            revised=np.full((size, 4), 0.9),
            memories=[(f"by rule for {requests.cast.ids[row]}",) for row in requests.row],
            claim=np.ones(size, dtype=np.int64),
            stance=np.full(size, -0.5),
            source=np.zeros(size, dtype=np.int64),
        )


def written(backend: Any, fallback: Any = None) -> WrittenModel:
    return WrittenModel(
        asker=BackendAsker(backend),
        fallback=fallback or Stubborn(),
        repair=lambda prompt, reason: plain(f"{prompt}\nrepair: {reason}"),
    )


def test_a_written_model_is_a_model_with_the_name_of_its_backend() -> None:
    model: Model = written(Script({}))
    assert model.name == "script"


# Turns


def test_answers_become_columns() -> None:
    answers: dict[str, list[Any]] = {
        "prompt 0": [LIKE],
        "prompt 1": ['{"action": "ask_peer", "target": "cem", "words": "And you?"}'],
        "prompt 2": ['{"action": "ignore", "importance": 0.7, "changes": {"C9": 1}}'],
    }
    reactions = written(Script(answers)).react(turns((0, 3, 0), tier=[0, 0, 1]))
    assert [ACTIONS[code] for code in reactions.action] == ["like", "ask_peer", "ignore"]
    assert reactions.post.tolist() == [11, -1, -1]
    assert reactions.persona.tolist() == [-1, 2, -1]
    assert reactions.words == ["", "And you?", ""]
    assert reactions.change.tolist() == [[0, -0.2, 0, 0.1], [0] * 4, [0] * 4]
    assert reactions.claim.tolist() == [1, -1, -1]
    assert reactions.stance == pytest.approx([2 * 0.9 - 1, 0, 0])
    assert reactions.cause.tolist() == [[-1, 1, -1, 1], [-1] * 4, [-1] * 4]
    assert np.array_equal(reactions.importance, [np.nan, np.nan, 0.7], equal_nan=True)
    assert reactions.source.tolist() == [MODEL] * 3
    assert reactions.error == {}
    assert reactions.rejections == (Rejection(index=2, kind="unknown_belief", detail="'C9'"),)


def test_each_prompt_goes_with_the_schema_of_its_turn() -> None:
    backend = Script({"prompt 0": ["x", LIKE], "prompt 1": [LIKE]})
    requests = turns((0, 0), tier=[1, 0])
    written(backend).react(requests)
    assert ["importance" in s["properties"] for s in backend.schemas[0]] == [True, False]
    assert backend.schemas[1] == backend.schemas[0][:1]


def test_only_the_invalid_are_asked_once_more_in_one_batch_with_the_reason() -> None:
    answers: dict[str, list[Any]] = {
        "prompt 0": ['{"action": "fly"}', LIKE],
        "prompt 1": [LIKE],
        "prompt 2": ["Well...", LIKE],
    }
    backend = Script(answers)
    reactions = written(backend).react(turns())
    assert len(backend.asked) == 2
    first, second = (prompt.splitlines() for prompt in backend.asked[1])
    assert first[0] == "prompt 0"
    assert first[1].startswith("repair: 'fly' is not an action; allowed: ignore, ")
    assert second == ["prompt 2", "repair: the answer holds no JSON object"]
    assert reactions.source.tolist() == [MODEL] * 3
    assert reactions.error == {}
    assert [(r.index, r.kind) for r in reactions.rejections] == [
        (0, "invalid_answer"),
        (2, "invalid_answer"),
    ]
    assert reactions.rejections[1].detail == "attempt 1: the answer holds no JSON object"


def test_what_stays_invalid_or_fails_is_taken_by_the_fallback_and_nothing_else_is() -> None:
    answers: dict[str, list[Any]] = {
        "prompt 0": ["no", "still no"],
        "prompt 1": [LIKE],
        "prompt 2": [ModelError("timeout")],
        "prompt 3": ["no", ModelError("")],
    }
    fallback = Stubborn()
    requests = turns((0, 3, 1, 2))
    reactions = written(Script(answers), fallback).react(requests)
    assert fallback.seen == [["prompt 0", "prompt 2", "prompt 3"]]
    assert reactions.source.tolist() == [FALLBACK, MODEL, FALLBACK, FALLBACK]
    assert [ACTIONS[code] for code in reactions.action] == ["buy", "like", "buy", "buy"]
    assert reactions.words == ["for anna", "", "for bo", "for cem"]
    assert np.array_equal(reactions.change[[0, 2, 3]], requests.beliefs[[0, 2, 3]] / 10)
    assert reactions.stance == pytest.approx([0.25, 0.832 + 0.028, 0.25, 0.25])
    assert reactions.cause[:, 0].tolist() == [2, -1, 2, 2]
    assert reactions.error == {
        0: "attempt 2: the answer holds no JSON object",
        2: "attempt 1: timeout",
        3: "attempt 2: ModelError",
    }
    assert [(r.index, r.kind, r.detail[:9]) for r in reactions.rejections] == [
        (0, "invalid_answer", "attempt 1"),
        (0, "invalid_answer", "attempt 2"),
        (2, "model_error", "attempt 1"),
        (3, "invalid_answer", "attempt 1"),
        (3, "model_error", "attempt 2"),
    ]


def test_what_the_fallback_refuses_is_logged_under_its_turn() -> None:
    class Complaining(Stubborn):
        def react(self, requests: TurnRequests) -> Reactions:
            note = (Rejection(index=0, kind="odd", detail="so"),)
            return replace(super().react(requests), error={0: "oh"}, rejections=note)

    answers: dict[str, list[Any]] = {"prompt 0": [LIKE], "prompt 1": [ModelError("timeout")]}
    reactions = written(Script(answers), Complaining()).react(turns((0, 1)))
    assert reactions.error == {1: "attempt 1: timeout; fallback: oh"}
    assert reactions.rejections[-1] == Rejection(index=1, kind="odd", detail="so")


def _raise(_: int) -> Any:
    raise ModelError("no network")


@pytest.mark.parametrize(
    ("do", "error"),
    [
        (_raise, "no network"),
        (lambda _: [], "0 answers to 3 prompts"),
        (lambda _: [LIKE] * 4, "4 answers to 3 prompts"),
        (lambda _: None, "0 answers to 3 prompts"),
        (lambda _: iter([LIKE] * 3), "0 answers to 3 prompts"),
        (lambda n: [None] * n, "the backend answered with NoneType, not with a text"),
        (lambda n: [LIKE.encode()] * n, "the backend answered with bytes, not with a text"),
    ],
)
def test_a_batch_that_fails_as_a_whole_falls_back_and_is_logged(
    do: Callable[[int], Any], error: str
) -> None:
    backend = Whole(do)
    reactions = written(backend).react(turns())
    assert backend.batches == 1
    assert reactions.source.tolist() == [FALLBACK] * 3
    assert reactions.error == dict.fromkeys(range(3), f"attempt 1: {error}")
    assert [r.kind for r in reactions.rejections] == ["model_error"] * 3


def test_no_turns_ask_for_nothing() -> None:
    backend, fallback = Whole(_raise), Stubborn()
    reactions = written(backend, fallback).react(turns(()))
    assert reactions.change.shape == (0, 4)
    assert reactions.cause.shape == (0, 4)
    replies = written(backend, fallback).reflect(reflections(()))
    assert replies.revised.shape == (0, 4)
    assert written(backend, fallback).answer_probes(probes(())).answer == []
    assert backend.batches == 0
    assert fallback.seen == []


def test_a_persona_without_a_block_is_refused_before_any_call() -> None:
    backend = Whole(lambda n: [LIKE] * n)
    whole = turns((0, 3), who=cast(blocks=["a", "b", "c", ""]))
    requests = replace(whole, prompt=lambda i: prompts.turn(whole, i))
    with pytest.raises(EmptyPersonaBlockError, match="dana"):
        written(backend).react(requests)
    assert backend.batches == 0


def test_prompts_and_their_repairs_work_together() -> None:
    class Echo:
        name = "echo"
        seen: list[str] = []  # noqa: RUF012 - one test, one list

        def complete(self, texts: Sequence[str], *, schemas: Sequence[Any]) -> list[str]:
            assert len(schemas) == len(texts)
            self.seen.extend(texts)
            return [LIKE if "could not be used" in text else "</reason>" for text in texts]

    whole = turns((0,))
    requests = replace(whole, prompt=lambda i: prompts.turn(whole, i))
    asker = BackendAsker(Echo())
    model = WrittenModel(asker=asker, fallback=Stubborn(), repair=prompts.repair)
    assert model.react(requests).source.tolist() == [MODEL]
    assert "<reason>the answer holds no JSON object</reason>" in Echo.seen[1]


def raise_it(error: BaseException) -> Any:
    raise error


class Rotten(list[str]):
    """Answers that cannot even be counted through."""

    def __iter__(self) -> Any:
        raise LookupError("rotten")


@pytest.mark.parametrize(
    ("do", "reason"),
    [
        (lambda _: raise_it(RuntimeError("boom")), "attempt 1: RuntimeError: boom"),
        (lambda _: raise_it(ValueError()), "attempt 1: ValueError: "),
        (lambda _: raise_it(TimeoutError("late")), "attempt 1: TimeoutError: late"),
        (lambda n: Rotten(["x"] * n), "attempt 1: LookupError: rotten"),
    ],
)
def test_whatever_a_backend_raises_the_fallback_acts_and_it_is_logged(
    do: Callable[[int], Any], reason: str
) -> None:
    reactions = written(Whole(do)).react(turns((0, 1)))
    assert reactions.source.tolist() == [FALLBACK] * 2
    assert reactions.error == {0: reason, 1: reason}
    assert [r.kind for r in reactions.rejections] == ["model_error"] * 2


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), SystemExit()])
def test_what_ends_the_process_passes_through(error: BaseException) -> None:
    with pytest.raises(type(error)):
        written(Whole(lambda _: raise_it(error))).react(turns((0,)))


# Nonsense of every kind

nonsense = st.one_of(
    st.text(max_size=60),
    st.sampled_from([LIKE, REFLECTION, LIKE[:-1], "[" * 5000, '{"a":' * 3000, "null", "\ud800"]),
    st.fixed_dictionaries(
        {"action": st.sampled_from(ACTIONS)},
        optional={
            "target": st.sampled_from(["10", 11, "12", *IDS, None, "x", 1e999, [], {}]),
            "words": st.text(max_size=20) | st.none() | st.integers(),
            "changes": st.dictionaries(
                st.sampled_from(["value", "trust", "C1", "C2", "C3"]), st.floats() | st.text()
            ),
            "importance": st.floats() | st.text(max_size=3),
        },
    ).map(json.dumps),
    st.just("down").map(ModelError),
    st.none(),
    st.binary(max_size=5),
)


class Raving:
    name = "raving"

    def __init__(self, answers: list[Any], *, miscount: int = 0) -> None:
        self.answers = answers
        self.miscount = miscount

    def complete(self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]) -> list[Any]:
        assert len(schemas) == len(prompts)
        count = max(0, len(prompts) + self.miscount)
        return [self.answers[i % len(self.answers)] for i in range(count)]


raving = st.builds(
    Raving, st.lists(nonsense, min_size=1, max_size=5), miscount=st.sampled_from([0, 0, 0, -1, 1])
)


@given(raving, st.lists(st.integers(0, 1), min_size=3, max_size=3), st.booleans())
def test_whatever_a_backend_answers_every_row_is_a_valid_reaction(
    backend: Raving,
    tier: list[int],
    empty_feed: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    requests = turns((0, 3, 1), tier=tier, empty_feed=empty_feed)
    reactions = written(backend).react(requests)
    assert reactions.action.shape == reactions.post.shape == reactions.persona.shape == (3,)
    assert reactions.change.shape == reactions.cause.shape == (3, 4)
    assert np.isfinite(reactions.change).all()
    assert (np.abs(reactions.change) <= 1).all()
    assert (np.abs(reactions.stance) <= 1).all()
    assert (reactions.cause[reactions.change == 0.0] == -1).all()
    assert {a.dtype for a in (reactions.action, reactions.cause, reactions.source)} == {
        np.dtype(np.int64)
    }
    for i in range(3):
        possible = choices(requests, i)
        action = ACTIONS[reactions.action[i]]
        assert action in possible
        assert (int(reactions.post[i]) in possible[action]) == (action in ON_A_POST)
        assert (int(reactions.persona[i]) in possible[action]) == (action in ON_A_PERSONA)
        assert (i in reactions.error) == (reactions.source[i] == FALLBACK)
        assert reactions.words[i].encode() is not None
        logged = [r.kind for r in reactions.rejections if r.index == i]
        assert i not in reactions.error or {"invalid_answer", "model_error"} & set(logged)


@given(raving)
def test_whatever_a_backend_answers_every_row_is_a_valid_reflection(backend: Raving) -> None:
    replies = written(backend).reflect(reflections())
    known = replies.revised[~np.isnan(replies.revised)]
    assert replies.revised.shape == (3, 4)
    assert ((known >= 0) & (known <= 1)).all()
    assert all(1 <= len(texts) <= 3 for texts in replies.memories)
    assert np.isnan(replies.revised[replies.source == FALLBACK]).all()
    assert {i for i in range(3) if replies.source[i] == FALLBACK} == set(replies.error)


@given(raving)
def test_whatever_a_backend_answers_every_probe_has_an_answer_or_an_error(backend: Raving) -> None:
    replies = written(backend).answer_probes(probes())
    assert len(replies.answer) == 2
    assert {i for i, said in enumerate(replies.answer) if said is None} == set(replies.error)


# Reflections and probes


def test_a_failed_reflection_consolidates_by_rule_and_beliefs_stay() -> None:
    answers: dict[str, list[Any]] = {
        "prompt 0": [REFLECTION],
        "prompt 1": ["no", '{"beliefs": {"C1": 3}, "memories": ["x"]}'],
        "prompt 2": ["no", REFLECTION],
    }
    fallback = Stubborn()
    replies = written(Script(answers), fallback).reflect(reflections())
    assert fallback.seen == [["prompt 1"]]
    assert replies.source.tolist() == [MODEL, FALLBACK, MODEL]
    assert replies.memories == [("I see it now.",), ("by rule for bo",), ("I see it now.",)]
    assert replies.revised[[0, 2], 2].tolist() == [0.2, 0.2]
    assert np.isnan(replies.revised[1]).all()
    assert replies.claim.tolist() == [0, 1, 0]
    assert replies.stance == pytest.approx([-0.6, -0.5, -0.6])
    assert replies.error == {1: "attempt 2: 'C1' must lie in 0 to 1, not 3"}
    assert [r.index for r in replies.rejections] == [1, 1, 2]


def test_a_failed_probe_is_none_with_an_error_and_is_not_asked_again() -> None:
    backend = Script(
        {"prompt 0": ['{"answer": "34"}'], "prompt 1": [""], "prompt 2": [ModelError("down")]}
    )
    replies = written(backend).answer_probes(probes((0, 1, 3)))
    assert replies.answer == ["34", None, None]
    assert replies.error == {1: "the answer is empty", 2: "down"}
    assert len(backend.asked) == 1
