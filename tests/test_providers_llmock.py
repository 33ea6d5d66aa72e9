"""The faults of a mock of both services, as it plays them to the SDKs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from llmock.scenarios import Delay, Fail, Reply, StreamFault
from llmock.testing import LLMockServer
from provider_dialects import NAMES, ask, provider_at, request

from simulation.providers.base import (
    RateLimitedError,
    RequestError,
    TransientError,
    UnusableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llmock.scenarios import StreamFaultKind

    from simulation.providers.chat import ChatProvider

both = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def mock() -> Iterator[LLMockServer]:
    with LLMockServer() as server:
        yield server


def provider(
    mock: LLMockServer, name: str, *, timeout: float = 30.0, stream: bool
) -> ChatProvider:
    url = mock.base_url(name).removesuffix("/v1")
    return provider_at(url, name, stream=stream, timeout=timeout, api_key="llmock")


@both
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_has_text_tokens_and_an_end(
    mock: LLMockServer, name: str, *, stream: bool
) -> None:
    mock.state.scenarios.add(Reply(text="A protein bar."))
    completion = ask(provider(mock, name, stream=stream))
    assert (completion.text, completion.finish) == ("A protein bar.", "stop")
    assert completion.input_tokens
    assert completion.output_tokens


@both
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, RateLimitedError),
        (529, RateLimitedError),
        (500, TransientError),
        (503, TransientError),
        (401, UnusableError),
        (400, RequestError),
    ],
)
def test_its_errors_are_ours(
    mock: LLMockServer, name: str, status: int, kind: type[Exception], *, stream: bool
) -> None:
    mock.state.scenarios.add(Fail(status, retry_after=2.0))
    with pytest.raises(kind) as caught:
        ask(provider(mock, name, stream=stream))
    if isinstance(caught.value, RateLimitedError):
        assert caught.value.retry_after == 2.0


@both
@pytest.mark.parametrize("fault", ["disconnect", "truncate", "malformed", "stall"])
def test_a_stream_that_breaks_is_transient(
    mock: LLMockServer, name: str, fault: StreamFaultKind
) -> None:
    mock.state.scenarios.add(Reply(text="one two three four five six"))
    mock.state.scenarios.add(StreamFault(fault, after_chunks=2))
    with pytest.raises(TransientError) as caught:
        ask(provider(mock, name, stream=True, timeout=0.5))
    assert caught.value.billed


@both
def test_a_late_answer_is_transient(mock: LLMockServer, name: str) -> None:
    mock.state.scenarios.add(Delay(1.0))
    with pytest.raises(TransientError, match="did not answer"):
        ask(provider(mock, name, stream=False, timeout=0.3), request())
