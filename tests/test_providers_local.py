"""One real model, through both SDKs; slow, and only where llama.cpp is installed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from local_model import local_server
from provider_dialects import ask, provider_at, request, run

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.extra, pytest.mark.slow]
SHORT = {  # no answer after it is long: a number's digits could go on to the last token
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["like", "post"]},
        "strength": {"type": "integer", "enum": [0, 1]},
    },
    "required": ["action", "strength"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with local_server() as address:
        yield address


@pytest.mark.parametrize("stream", [False, True])
def test_openai_gets_an_answer_after_its_schema(url: str, *, stream: bool) -> None:
    provider = provider_at(url, "openai", stream=stream, timeout=120.0)
    completion = ask(provider, request(schema=SHORT, temperature=0.5))
    answer = json.loads(completion.text)
    assert answer["action"] in ("like", "post")
    assert answer["strength"] in (0, 1)
    assert list(answer) == ["action", "strength"]
    assert completion.finish == "stop"
    assert completion.input_tokens
    assert completion.output_tokens
    assert provider.notes == ()


@pytest.mark.parametrize("stream", [False, True])
def test_anthropic_gets_an_answer_with_its_tokens(url: str, *, stream: bool) -> None:
    completion = ask(provider_at(url, "anthropic", stream=stream, timeout=120.0))
    assert completion.text
    assert completion.finish in ("stop", "length")
    assert completion.input_tokens
    assert completion.output_tokens


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_it_is_in_order_under_any_name(url: str, name: str) -> None:
    run(provider_at(url, name), lambda it: it.check())
