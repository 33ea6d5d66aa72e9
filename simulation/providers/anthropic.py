"""Anthropic's messages: its own host, or any server that speaks its protocol."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import anthropic
import httpx2

from simulation.providers.adaptation import STRUCTURED, Way
from simulation.providers.chat import (
    ChatProvider,
    Gathering,
    count,
    features,
    finished,
    instruction,
)
from simulation.providers.connection import Connection
from simulation.providers.faults import BrokenAnswerError
from simulation.providers.schemas import strict, whole
from simulation.providers.spec import place_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterable

    from simulation.providers.base import Completion, Finish, Request
    from simulation.providers.spec import Place, ProviderSpec

DEFAULT_URL: Final = "https://api.anthropic.com"
VERSION: Final = "2023-06-01"
"""Of the protocol, as every request names it."""

_NO_KEY: Final = "none"  # the SDK wants one; it is not sent
_TOOL: Final = "answer"
_LOWEST: Final = "low"
_CACHE: Final = {"type": "ephemeral"}
_FINISHES: Final[dict[str, Finish]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_FEATURES: Final[dict[str, Callable[[dict[str, Any]], bool]]] = {
    "temperature": lambda body: "temperature" in body,
    "effort": lambda body: "effort" in body.get("output_config", {}),
    "cache_control": lambda body: any("cache_control" in b for b in body.get("system", ())),
    STRUCTURED: lambda body: "tools" in body or "format" in body.get("output_config", {}),
}


def build(spec: ProviderSpec, modes: tuple[str, ...]) -> AnthropicProvider:
    """Return the provider of a spec; `modes` are the ways of asking for JSON, best first."""
    return AnthropicProvider(spec, place_of(spec, DEFAULT_URL), modes)


class AnthropicProvider(ChatProvider):
    """A model behind messages."""

    def __init__(self, spec: ProviderSpec, place: Place, modes: tuple[str, ...]) -> None:
        """Prepare the client; nothing is sent yet."""
        used = modes if spec.structured == "auto" else (spec.structured,)
        super().__init__(spec, place, Way(mode=used[0]), used)
        self._effort = _LOWEST if spec.effort in ("none", "minimal") else spec.effort
        if self._effort != spec.effort:
            self._adaptation.say(
                f'effort "{spec.effort}" is not known to {place.host}; "{_LOWEST}" is asked for'
            )
        self._client = anthropic.AsyncAnthropic(
            api_key=spec.api_key or _NO_KEY,
            # The SDK's own paths begin with /v1; many write it into the address all the same.
            base_url=place.url.removesuffix("/v1"),
            timeout=spec.timeout,
            max_retries=0,
            open_telemetry=False,
            http_client=Connection(
                place=place, headers=_headers(spec.api_key), timeout=spec.timeout
            ),
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

    def _body(self, request: Request, way: Way) -> dict[str, Any]:
        """Return the body of a request."""
        prompt, schema = request.prompt, request.schema
        in_words = instruction(schema) if schema is not None and way.mode == "plain" else ""
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": prompt.question + in_words}],
        }
        system = _system(
            (prompt.system, prompt.persona), cached="cache_control" not in way.left_out
        )
        if system:
            body["system"] = system
        if self._spec.stream:
            body["stream"] = True
        if request.temperature is not None and "temperature" not in way.left_out:
            body["temperature"] = request.temperature
        return body | self._output(schema, way)

    def _output(self, schema: dict[str, Any] | None, way: Way) -> dict[str, Any]:
        """Return how effort and JSON are asked for."""
        config: dict[str, Any] = {}
        body: dict[str, Any] = {}
        if self._effort is not None and "effort" not in way.left_out:
            config["effort"] = self._effort
        if schema is not None and way.mode == "json_schema":
            config["format"] = {"type": "json_schema", "schema": self._schema(schema)}
        if schema is not None and way.mode == "tool":
            body = {
                "tools": [
                    {
                        "name": _TOOL,
                        "description": "Takes your answer.",
                        "input_schema": self._schema(schema),
                    }
                ],
                "tool_choice": {"type": "tool", "name": _TOOL},
            }
        return body | ({"output_config": config} if config else {})

    def _schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return strict(schema, provider="anthropic") if self._place.own else whole(schema)

    def _features(self, body: dict[str, Any]) -> Collection[str]:
        return features(body, _FEATURES)

    @asynccontextmanager
    async def _post(self, body: dict[str, Any]) -> AsyncIterator[httpx2.Response]:
        named = dict(body)
        extra = {"temperature": named.pop("temperature")} if "temperature" in named else None
        create = self._client.messages.with_streaming_response.create
        async with create(**named, extra_body=extra) as response:
            yield response.http_response

    async def _get(self, path: str) -> httpx2.Response:
        return await self._client.get(path, cast_to=httpx2.Response)

    def _failures(self) -> tuple[type[Exception], type[Exception]]:
        return anthropic.APIStatusError, anthropic.AnthropicError

    @property
    def _models_path(self) -> str:
        return "/v1/models"

    def _whole(self, data: dict[str, Any]) -> Completion:
        content = data.get("content")
        if not isinstance(content, list):
            raise BrokenAnswerError("holds no content")
        return _completion("".join(_texts(content)), data.get("stop_reason"), data.get("usage"))

    def _gathering(self) -> Gathering:
        return _Events()


class _Events(Gathering):
    """The events of a streamed message."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._tool: list[str] = []
        self._finish: object = None
        self._usage: dict[str, Any] = {}

    def add(self, piece: dict[str, Any]) -> bool:
        """Take an event; `message_stop` is the last."""
        kind = piece.get("type")
        if kind == "message_start":
            # Its output tokens are those of the first piece, not of the answer.
            usage = _dict(_dict(piece.get("message")).get("usage"))
            self._usage = {name: usage[name] for name in usage if name != "output_tokens"}
        elif kind == "content_block_start":
            self._take(_text(_dict(piece.get("content_block")).get("text")), self._text)
        elif kind == "content_block_delta":
            delta = _dict(piece.get("delta"))
            self._take(_text(delta.get("text")), self._text)
            self._take(_text(delta.get("partial_json")), self._tool)
        elif kind == "message_delta":
            self._finish = _dict(piece.get("delta")).get("stop_reason") or self._finish
            told = _dict(piece.get("usage"))
            self._usage |= {name: told[name] for name in told if told[name] is not None}
        return kind == "message_stop"

    def completion(self, *, stopped: bool) -> Completion:
        if self._finish is None and not stopped:
            raise BrokenAnswerError("broke off: the stream ended without saying why")
        text = "".join(self._tool or self._text)
        return _completion(text, self._finish, self._usage)

    def _take(self, text: str, texts: list[str]) -> None:
        if text:
            texts.append(text)
            self.length += len(text)


def _headers(key: str | None) -> dict[str, str]:
    """Return the headers of every request; servers look for the key in either of two."""
    keys = {"Authorization": f"Bearer {key}", "X-Api-Key": key} if key is not None else {}
    return {"anthropic-version": VERSION} | keys


def _system(parts: Iterable[str], *, cached: bool) -> list[dict[str, Any]]:
    """Return the blocks of the system prompt, from what never changes on.

    Two marks of the four allowed: after the rules, which all personas share, and after the
    persona. An empty block may have none, and is left out.
    """
    mark: dict[str, Any] = {"cache_control": _CACHE} if cached else {}
    return [{"type": "text", "text": part} | mark for part in parts if part.strip()]


def _texts(content: list[Any]) -> list[str]:
    """Return the input of the tool as JSON, or the texts where it was not used."""
    blocks = [block for block in content if isinstance(block, dict)]
    inputs = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    if inputs:
        return [json.dumps(inputs[0], ensure_ascii=False)]
    return [_text(block.get("text")) for block in blocks if block.get("type") == "text"]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _completion(text: str, reason: object, usage: object) -> Completion:
    """Return a completion; what was read from a cache or written to one was read as well."""
    fresh = count(usage, "input_tokens")
    cached = count(usage, "cache_read_input_tokens")
    written = count(usage, "cache_creation_input_tokens")
    return finished(
        text,
        _FINISHES.get(str(reason), "other"),
        input_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        cached_tokens=cached,
        written_tokens=written,
        output_tokens=count(usage, "output_tokens"),
    )
