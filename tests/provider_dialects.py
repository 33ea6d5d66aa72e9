"""The two protocols side by side, so that one test can speak both."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simulation.providers import MODES, ProviderSpec
from simulation.providers.base import Prompt, Request
from simulation.providers.spec import place_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    from provider_server import Server

    from simulation.providers.base import Completion, Provider
    from simulation.providers.chat import ChatProvider

    T = TypeVar("T")

NAMES = ("anthropic", "openai")
KEY = "sk-mine-0123456789"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["like", "post"], "x-varies": True},
        "strength": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["action", "strength"],
    "additionalProperties": False,
}
JSON = '{"action": "like", "strength": 0.5}'


def request(
    *, schema: dict[str, Any] | None = None, temperature: float | None = None, **prompt: str
) -> Request:
    parts = {"system": "Rules.", "persona": "You are Ann.", "question": "What now?"} | prompt
    return Request(prompt=Prompt(**parts), schema=schema, max_tokens=50, temperature=temperature)


def provider_at(
    server: Server | str, name: str, *, own: bool = False, timeout: float = 30.0, **settings: Any
) -> ChatProvider:
    """Return a provider for a loopback server, which `own` makes the provider's own host."""
    url = server if isinstance(server, str) else server.url
    base_url = url + ("/v1" if name == "openai" else "")
    spec = ProviderSpec(provider=name, model="m", base_url=base_url, timeout=timeout, **settings)
    place = replace(place_of(spec, base_url), own=own)
    used = MODES[name]
    if name == "openai":
        from simulation.providers.openai import OpenAIProvider  # noqa: PLC0415 - one SDK only

        return OpenAIProvider(spec, place, used)
    from simulation.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - one SDK only

    return AnthropicProvider(spec, place, used)


def run(provider: Provider, act: Callable[[Provider], Awaitable[T]]) -> T:
    """Do something with a provider and close it."""

    async def acting() -> T:
        try:
            return await act(provider)
        finally:
            await provider.close()

    return asyncio.run(acting())


def ask(provider: Provider, asked: Request | None = None) -> Completion:
    """Put one request."""
    return run(provider, lambda it: it.complete(asked or request()))


def body(name: str, text: str = "Hello.", finish: str | None = None) -> dict[str, Any]:
    """Return a right answer."""
    if name == "openai":
        return {
            "id": "1",
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": finish or "stop",
                }
            ],
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 3,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
        }
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "stop_reason": finish or "end_turn",
        "usage": {
            "input_tokens": 4,
            "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 2,
            "output_tokens": 3,
        },
    }


def chunk(name: str, text: str) -> dict[str, Any]:
    """Return a piece of a streamed answer."""
    if name == "openai":
        return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": text},
    }


def first(name: str) -> list[Any]:
    """Return how a stream begins."""
    if name == "openai":
        return [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}]
    usage = dict(body(name)["usage"], output_tokens=1)
    return [
        {"type": "message_start", "message": {"id": "1", "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
    ]


def last(name: str, finish: str | None = None) -> list[Any]:
    """Return how a stream ends, with its usage."""
    if name == "openai":
        return [
            {"choices": [{"index": 0, "delta": {}, "finish_reason": finish or "stop"}]},
            {"choices": [], "usage": body(name)["usage"]},
            b"data: [DONE]\n\n",
        ]
    return [
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": finish or "end_turn"},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    ]
