"""Answers that come piece by piece, whole and broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from provider_dialects import (
    JSON,
    NAMES,
    SCHEMA,
    ask,
    body,
    chunk,
    first,
    last,
    provider_at,
    request,
)
from provider_server import answer, serving, stream

from simulation.providers.base import RateLimitedError, TransientError
from simulation.providers.chat import MAX_TEXT

if TYPE_CHECKING:
    from simulation.providers.base import Completion

both = pytest.mark.parametrize("name", NAMES)


def streamed(name: str, *parts: object, timeout: float = 30.0) -> Completion:
    with serving(stream(*parts)) as server:
        return ask(provider_at(server, name, stream=True, timeout=timeout))


def raw(*parts: object) -> bytes:
    """Return the bytes of a stream."""
    return b"".join(step for step in stream(*parts)[1:] if isinstance(step, bytes))


def broken(name: str, *parts: object, timeout: float = 30.0) -> TransientError:
    """Return the error of a stream that breaks, after it began well."""
    with pytest.raises(TransientError) as caught:
        streamed(name, *first(name), chunk(name, "Hel"), *parts, timeout=timeout)
    assert caught.value.billed
    assert caught.value.__cause__ is None
    return caught.value


@both
def test_a_stream_gives_what_one_piece_would(name: str) -> None:
    pieces = [chunk(name, "Hel"), b": still here\n\n", chunk(name, "lo.\u2028")]
    completion = streamed(name, *first(name), *pieces, *last(name))
    with serving(answer(body(name, "Hello.\u2028"))) as server:
        assert completion == ask(provider_at(server, name))


@both
def test_usage_is_asked_for_and_a_stream_too(name: str) -> None:
    with serving(stream(*first(name), *last(name))) as server:
        ask(provider_at(server, name, stream=True))
    assert server.bodies[0]["stream"] is True
    assert (name == "openai") == ("stream_options" in server.bodies[0])


@both
def test_a_server_that_does_not_stream_is_read_all_the_same(name: str) -> None:
    with serving(answer(body(name))) as server:
        assert ask(provider_at(server, name, stream=True)).text == "Hello."


@both
def test_a_stream_cut_within_a_letter_or_an_event_is_put_together(name: str) -> None:
    whole = raw(chunk(name, "\N{GRINNING FACE}"), *last(name))
    parts = [whole[at : at + 7] for at in range(0, len(whole), 7)]
    assert streamed(name, *first(name), *parts).text == "\N{GRINNING FACE}"


@both
def test_windows_line_ends_are_line_ends(name: str) -> None:
    events = raw(*first(name), chunk(name, "a"), *last(name))
    assert streamed(name, events.replace(b"\n", b"\r\n")).text == "a"


@both
def test_a_stream_that_ends_without_a_reason_broke_off(name: str) -> None:
    assert "broke off" in str(broken(name))


@both
def test_a_stream_that_says_done_without_a_reason_broke_off(name: str) -> None:
    assert "broke off" in str(broken(name, b"data: [DONE]\n\n"))


@both
def test_a_connection_lost_in_the_middle_is_transient(name: str) -> None:
    assert "broke off" in str(broken(name, "reset"))


@both
@pytest.mark.parametrize("piece", [b'data: {"type": "cont\n\n', b"data: []\n\n", b"data: 3\n\n"])
def test_a_piece_that_cannot_be_read_is_transient(name: str, piece: bytes) -> None:
    assert "its answer is no JSON" in str(broken(name, piece, *last(name)))


@both
def test_a_stall_is_transient(name: str) -> None:
    assert "did not answer within 0.2 s" in str(broken(name, 2.0, timeout=0.2))


def test_a_stream_that_only_says_it_is_there_ends_as_well() -> None:
    waits = [0.05, b": wait\n\n"] * 200
    assert "did not answer" in str(broken("openai", *waits, timeout=0.1))


@both
def test_a_stream_slower_in_all_than_the_timeout_is_read(name: str) -> None:
    slow: list[object] = [0.4, chunk(name, "a")] * 4
    completion = streamed(name, *first(name), *slow, *last(name), timeout=1.2)
    assert completion.text == "aaaa"


@both
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "overloaded_error", "message": "busy"}, RateLimitedError),
        ({"type": "server_error", "message": "oh"}, TransientError),
        ({"message": "slow down", "code": 429}, RateLimitedError),
        ("something", TransientError),
    ],
)
def test_an_error_in_the_middle_is_heard(name: str, error: object, kind: type) -> None:
    assert type(broken(name, {"type": "error", "error": error})) is kind


@both
def test_an_answer_that_never_ends_is_stopped(name: str) -> None:
    piece = chunk(name, "x" * 10_000)
    with serving(stream(*first(name), *([piece] * 5000))) as server:
        completion = ask(provider_at(server, name, stream=True))
        assert server.cut_off()
    assert (len(completion.text), completion.finish) == (MAX_TEXT, "length")
    assert completion.output_tokens is None


@both
def test_a_line_without_end_is_stopped(name: str) -> None:
    assert "line without end" in str(broken(name, b"data: ", *([b"x" * 100_000] * 40)))


@pytest.mark.parametrize("piece", [{"choices": [None]}, {"choices": ["x"]}])
def test_a_chunk_without_a_choice_is_transient(piece: dict[str, Any]) -> None:
    assert "no choice" in str(broken("openai", piece))


def test_a_streamed_refusal_is_a_refusal() -> None:
    piece = {"choices": [{"delta": {"refusal": "No."}}, {"delta": None}]}
    completion = streamed("openai", *first("openai"), piece, *last("openai"))
    assert (completion.text, completion.finish) == ("No.", "refusal")


def test_odd_events_of_anthropic_are_passed_over() -> None:
    odd = [{"type": "message_start", "message": 3}, {"type": "content_block_delta"}, {"x": 1}]
    completion = streamed("anthropic", *odd, chunk("anthropic", "a"), *last("anthropic"))
    assert (completion.text, completion.input_tokens) == ("a", None)


def test_the_input_of_a_tool_is_put_together() -> None:
    def part(text: str) -> dict[str, Any]:
        return {
            "type": "content_block_delta",
            "delta": {"type": "input_json_delta", "partial_json": text},
        }

    name = "anthropic"
    steps = stream(*first(name), part(JSON[:9]), part(JSON[9:]), *last(name, "tool_use"))
    with serving(steps) as server:
        provider = provider_at(server, name, stream=True, structured="tool")
        completion = ask(provider, request(schema=SCHEMA))
    assert (completion.text, completion.finish) == (JSON, "stop")
