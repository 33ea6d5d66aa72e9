"""Answers of any shape at all: there is a completion or one of our errors, nothing else."""

from __future__ import annotations

import contextlib
import json
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_dialects import NAMES, body, chunk, first, last, provider_at

from simulation.providers.faults import LONGEST, BrokenAnswerError
from simulation.providers.rejections import rejection_of, rejection_within

if TYPE_CHECKING:
    from simulation.providers.base import Completion
    from simulation.providers.chat import ChatProvider

both = pytest.mark.parametrize("name", NAMES)

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**13),
    st.floats(),
    st.sampled_from(["", "stop", "text", "end_turn", "message_delta", "tool_use", "\ud800"]),
)
WORDS = st.sampled_from(
    (
        *("choices", "message", "content", "text", "delta", "finish_reason", "stop_reason"),
        *("usage", "prompt_tokens", "input_tokens", "output_tokens", "prompt_tokens_details"),
        *("error", "code", "type", "param", "detail", "details", "refusal", "partial_json"),
    )
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=5)
    ),
    max_leaves=12,
)


def changed(data: object, at: list[int], value: object) -> Any:
    """Return JSON with one part of it put in place of another."""
    if not at or not isinstance(data, dict | list) or not data:
        return value
    copy = json.loads(json.dumps(data))
    keys = list(copy) if isinstance(copy, dict) else list(range(len(copy)))
    key = keys[at[0] % len(keys)]
    copy[key] = changed(copy[key], at[1:], value)
    return copy


def holds(completion: Completion) -> None:
    """Check that a completion can be stored and added up."""
    completion.text.encode()
    for tokens in (
        completion.input_tokens,
        completion.cached_tokens,
        completion.written_tokens,
        completion.output_tokens,
    ):
        assert tokens is None or (type(tokens) is int and tokens >= 0)


def provider(name: str) -> ChatProvider:
    return provider_at("http://127.0.0.1:1", name)


PROVIDERS = {name: provider(name) for name in NAMES}


@both
@given(at=st.lists(st.integers(0, 6), max_size=5), value=VALUES)
def test_one_odd_part_of_a_right_answer(name: str, at: list[int], value: object) -> None:
    data = changed(body(name), at, value)
    if isinstance(data, dict):
        with contextlib.suppress(BrokenAnswerError):
            holds(PROVIDERS[name]._whole(data))


@both
@given(at=st.lists(st.integers(0, 6), max_size=5), value=VALUES)
def test_one_odd_part_of_a_right_stream(name: str, at: list[int], value: object) -> None:
    pieces = [*first(name), chunk(name, "a"), *last(name)]
    data = changed([piece for piece in pieces if isinstance(piece, dict)], at, value)
    gathering = PROVIDERS[name]._gathering()
    with contextlib.suppress(BrokenAnswerError):
        for piece in data if isinstance(data, list) else []:
            if isinstance(piece, dict):
                gathering.add(piece)
        holds(gathering.completion(stopped=False))


@both
@given(status=st.integers(300, 599), data=VALUES, text=st.text())
def test_any_error_is_told_in_one_short_line(
    name: str, status: int, data: object, text: str
) -> None:
    faults = PROVIDERS[name]._faults
    headers = {"location": text, "retry-after": text}
    for content in (data, text, text.encode()):
        message = str(faults.rejected(rejection_of(status, content, headers)))
        assert 0 < len(message) <= LONGEST
        assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in message)


@given(VALUES)
def test_any_error_within_an_answer_is_heard(error: object) -> None:
    rejection = rejection_within({"error": error}, {})
    assert (rejection is None) == (not error)
    assert rejection is None or 400 <= rejection.status < 600
