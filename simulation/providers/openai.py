"""OpenAI's chat completions: its own host, or any server that speaks its protocol."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import httpx2
import openai

from simulation.providers.adaptation import STRUCTURED, TOKENS, Way
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
    from collections.abc import AsyncIterator, Callable, Collection

    from simulation.providers.base import Completion, Finish, Request
    from simulation.providers.spec import Place, ProviderSpec

DEFAULT_URL: Final = "https://api.openai.com/v1"

_NO_KEY: Final = "none"  # the SDK wants one; it is not sent
_FINISHES: Final[dict[str, Finish]] = {
    "stop": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "length": "length",
    "content_filter": "refusal",
}
_FEATURES: Final[dict[str, Callable[[dict[str, Any]], bool]]] = {
    "temperature": lambda body: "temperature" in body,
    "effort": lambda body: "reasoning_effort" in body,
    "store": lambda body: "store" in body,
    "stream_options": lambda body: "stream_options" in body,
    TOKENS: lambda _: True,
    STRUCTURED: lambda body: "response_format" in body,
}


def build(spec: ProviderSpec, modes: tuple[str, ...]) -> OpenAIProvider:
    """Return the provider of a spec; `modes` are the ways of asking for JSON, best first."""
    return OpenAIProvider(spec, place_of(spec, DEFAULT_URL), modes)


class OpenAIProvider(ChatProvider):
    """A model behind chat completions."""

    def __init__(self, spec: ProviderSpec, place: Place, modes: tuple[str, ...]) -> None:
        """Prepare the client; nothing is sent yet."""
        used = modes if spec.structured == "auto" else (spec.structured,)
        # OpenAI's own models of today take only the new name; other servers know the old one.
        tokens = "max_completion_tokens" if place.own else "max_tokens"
        super().__init__(spec, place, Way(mode=used[0], tokens=tokens), used)
        headers = {"Authorization": f"Bearer {spec.api_key}"} if spec.api_key else {}
        self._client = openai.AsyncOpenAI(
            api_key=spec.api_key or _NO_KEY,
            base_url=place.url,
            timeout=spec.timeout,
            max_retries=0,
            http_client=Connection(place=place, headers=headers, timeout=spec.timeout),
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

    def _body(self, request: Request, way: Way) -> dict[str, Any]:
        """Return the body of a request; what never changes comes first, so that it is cached."""
        prompt, schema = request.prompt, request.schema
        in_words = "" if schema is None or way.mode == "json_schema" else instruction(schema)
        system = "\n\n".join(part for part in (prompt.system, prompt.persona) if part)
        messages = [{"role": "system", "content": system}] if system else []
        body = {
            "model": self.model,
            "messages": [*messages, {"role": "user", "content": prompt.question + in_words}],
            way.tokens: request.max_tokens,
        }
        return body | {
            name: value
            for feature, name, value in self._options(request, way)
            if value is not None and feature not in way.left_out
        }

    def _options(self, request: Request, way: Way) -> tuple[tuple[str, str, Any], ...]:
        """Return (feature, parameter, value) of what a server may refuse; None is not sent.

        `store: false` says that nothing is to be kept for evaluations and distillation, whatever
        the account's setting; other servers store nothing on their own and may not know the word.
        """
        streamed = self._spec.stream
        return (
            ("temperature", "temperature", request.temperature),
            ("effort", "reasoning_effort", self._spec.effort),
            ("store", "store", False if self._place.own else None),
            ("stream", "stream", True if streamed else None),
            ("stream_options", "stream_options", {"include_usage": True} if streamed else None),
            (STRUCTURED, "response_format", self._response_format(request.schema, way.mode)),
        )

    def _response_format(self, schema: dict[str, Any] | None, mode: str) -> dict[str, Any] | None:
        """Return how JSON is asked for; None where it is not."""
        if schema is None or mode == "plain":
            return None
        if mode == "json_object":
            return {"type": "json_object"}
        given = strict(schema, provider="openai") if self._place.own else whole(schema)
        return {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": given},
        }

    def _features(self, body: dict[str, Any]) -> Collection[str]:
        return features(body, _FEATURES)

    @asynccontextmanager
    async def _post(self, body: dict[str, Any]) -> AsyncIterator[httpx2.Response]:
        create = self._client.chat.completions.with_streaming_response.create
        async with create(**body) as response:
            yield response.http_response

    async def _get(self, path: str) -> httpx2.Response:
        return await self._client.get(path, cast_to=httpx2.Response)

    def _failures(self) -> tuple[type[Exception], type[Exception]]:
        return openai.APIStatusError, openai.OpenAIError

    @property
    def _models_path(self) -> str:
        return "/models"

    def _whole(self, data: dict[str, Any]) -> Completion:
        choice = _choice(data)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise BrokenAnswerError("holds no message")
        refusal = _text(message.get("refusal"))
        text = _text(message.get("content")) or refusal
        return _completion(text, choice.get("finish_reason"), data.get("usage"), refusal=refusal)

    def _gathering(self) -> Gathering:
        return _Chunks()


class _Chunks(Gathering):
    """The chunks of a streamed chat completion."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._refusal = ""
        self._finish: object = None
        self._usage: object = None

    def add(self, piece: dict[str, Any]) -> bool:
        """Take a chunk; the last one, before `[DONE]`, holds the usage and no choice."""
        self._usage = piece.get("usage") or self._usage
        choices = piece.get("choices")
        if not isinstance(choices, list) or not choices:
            return False
        choice = _choice(piece)
        delta = choice.get("delta")
        if isinstance(delta, dict):
            refusal, text = _text(delta.get("refusal")), _text(delta.get("content"))
            self._refusal += refusal
            self._text.append(text or refusal)
            self.length += len(self._text[-1])
        self._finish = choice.get("finish_reason") or self._finish
        return False

    def completion(self, *, stopped: bool) -> Completion:
        if self._finish is None and not stopped:
            raise BrokenAnswerError("broke off: the stream ended without saying why")
        text = "".join(self._text)
        return _completion(text, self._finish, self._usage, refusal=self._refusal)


def _choice(data: dict[str, Any]) -> dict[str, Any]:
    """Return the first choice of an answer or a chunk."""
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise BrokenAnswerError("holds no choice")
    return choices[0]


def _text(content: object) -> str:
    """Return text given as such, as a list of parts, or as nothing."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _completion(text: str, reason: object, usage: object, *, refusal: str) -> Completion:
    """Return a completion."""
    finish: Finish = "refusal" if refusal else _FINISHES.get(str(reason), "other")
    return finished(
        text,
        finish,
        input_tokens=count(usage, "prompt_tokens"),
        cached_tokens=count(usage, "prompt_tokens_details", "cached_tokens"),
        written_tokens=count(usage, "prompt_tokens_details", "cache_write_tokens"),
        output_tokens=count(usage, "completion_tokens"),
    )
