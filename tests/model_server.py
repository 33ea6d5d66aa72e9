"""A loopback language model that speaks both protocols and answers sensibly, by the schema.

What it says depends on what it is asked and on nothing else, so that two runs hear the same
whatever arrives first.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from provider_server import Seen, Server, answer, serving, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from provider_server import Step

NAMES = ("openai", "anthropic")
IN_WORDS = "Its JSON Schema: "
ENDING = "\n\nAnswer with one JSON object and nothing else. Its"
ON_A_POST = ("like", "comment")
PRICE = {"input": 1.0, "output": 4.0, "cached_input": 0.1}
SAID = (
    "I wonder how long it keeps me full.",
    "That sounds fair to me.",
    "I have heard better.",
    "My brother says that it tastes of chocolate.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request to the model.

    text: all that is put before it.  schema: None where there is none.  number: how often the same
    body came before.  draw: SHA-256 of the text, without how JSON is asked for.
    """

    name: str
    body: dict[str, Any]
    text: str
    schema: dict[str, Any] | None
    number: int
    draw: bytes

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))


@dataclass
class Model:
    """What it saw, and when.

    play: returns the steps of an answer to a request; the n-th request has the place n - 1.
    """

    play: Callable[[Asked, Model], list[Step]]
    server: Server | None = None
    asked: list[Asked] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    wake_at: int = 0
    inventory: list[Any] = field(default_factory=lambda: ["m"])
    """Names of its models, or the steps of what it answers instead."""
    _seen: dict[bytes, int] = field(default_factory=dict)

    @property
    def url(self) -> str:
        assert self.server is not None
        return self.server.url

    def base_url(self, name: str) -> str:
        return f"{self.url}/v1" if name == "openai" else self.url

    def reply(self, seen: Seen) -> list[Step]:
        if seen.method == "GET":
            return self._list()
        body = json.dumps(seen.body, sort_keys=True).encode()
        number = self._seen[body] = self._seen.get(body, -1) + 1
        asked = _asked(seen, number)
        self.asked.append(asked)
        self.at.append(time.monotonic())
        if self.wake_at and len(self.asked) >= self.wake_at:
            self.arrived.set()
        return self.play(asked, self)

    def _list(self) -> list[Step]:
        if self.inventory and not isinstance(self.inventory[0], str):
            return self.inventory
        return answer({"object": "list", "data": [{"id": name} for name in self.inventory]})

    def most_within(self, seconds: float) -> int:
        """Return the most requests that arrived within so many seconds."""
        return max(sum(start <= at < start + seconds for at in self.at) for start in self.at)


@contextmanager
def model(play: Callable[[Asked, Model], list[Step]] | None = None) -> Iterator[Model]:
    """Serve a model; without `play` it answers at once and well."""
    made = Model(play=play or (lambda asked, _: good(asked)))
    with serving(made.reply) as server:
        made.server = server
        yield made


def good(asked: Asked) -> list[Step]:
    """Return the steps of a right answer."""
    return told(asked, sensible(asked))


def told(asked: Asked, text: str, *, finish: str | None = None) -> list[Step]:
    """Return the steps of an answer with this text."""
    if asked.streamed:
        return stream(*_first(asked), *_pieces(asked.name, text), *_last(asked, text, finish))
    return answer(whole(asked, text, finish=finish))


def whole(asked: Asked, text: str, *, finish: str | None = None) -> dict[str, Any]:
    """Return the body of an answer with this text."""
    if asked.name == "openai":
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": finish or "stop"}
        usage = _usage(asked, text)
        return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "stop_reason": finish or "end_turn",
        "usage": _usage(asked, text),
    }


def sensible(asked: Asked) -> str:
    """Return an answer that is right by the schema, or ends a search where there is none."""
    if asked.schema is None:
        return "DONE" if asked.draw[0] % 2 else "what a bar costs"
    given = _value(asked.schema, asked, ())
    if "action" in given:
        posts = re.findall(r'<post number="\d+" id="(\d+)"', asked.text)
        given["target"] = posts[0] if given["action"] in ON_A_POST else None
    return json.dumps(given)


def tokens_of(asked: Asked, text: str) -> tuple[int, int, int]:
    """Return the tokens that the model says it read, read from its cache, and wrote."""
    read = len(asked.text) // 4
    return read, read // 2, min(max(1, len(text) // 4), asked.body["max_tokens"])


def _value(schema: dict[str, Any], asked: Asked, path: tuple[str, ...]) -> Any:
    """Return a value that a schema allows, drawn from the request and the place."""
    draw = hashlib.sha256(asked.draw + "/".join(path).encode()).digest()
    if "anyOf" in schema:
        return _value(schema["anyOf"][draw[0] % len(schema["anyOf"])], asked, path)
    if "enum" in schema:
        return schema["enum"][draw[0] % len(schema["enum"])]
    if schema["type"] == "object":
        parts = schema["properties"].items()
        return {name: _value(part, asked, (*path, name)) for name, part in parts}
    if schema["type"] == "array":
        return [_value(schema["items"], asked, (*path, "0"))]
    if schema["type"] == "number":
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        # Small moves most of the time, so that not every turn ends in a reflection.
        share = draw[0] / 255 if draw[1] < 20 else 0.5 + (draw[0] - 128) / 1280
        return round(low + (high - low) * share, 3)
    return None if schema["type"] == "null" else SAID[draw[0] % len(SAID)]


def _asked(seen: Seen, number: int) -> Asked:
    name = "anthropic" if seen.path.endswith("/messages") else "openai"
    messages = seen.body["messages"]
    question = [text for message in messages for text in _texts(message)]
    text = "\n\n".join(_texts(seen.body.get("system")) + question)
    return Asked(
        name=name,
        body=seen.body,
        text=text,
        schema=_schema(seen.body, text),
        number=number,
        draw=hashlib.sha256(text.partition(ENDING)[0].encode()).digest(),
    )


def _texts(part: Any) -> list[str]:
    """Return the texts of a message, of a list of blocks, or of nothing."""
    if isinstance(part, str):
        return [part]
    if isinstance(part, list):
        return [text for each in part for text in _texts(each)]
    return _texts(part.get("text", part.get("content"))) if isinstance(part, dict) else []


def _schema(body: dict[str, Any], text: str) -> dict[str, Any] | None:
    found: Any = None
    if body.get("response_format", {}).get("type") == "json_schema":
        found = body["response_format"]["json_schema"]["schema"]
    elif "format" in body.get("output_config", {}):
        found = body["output_config"]["format"]["schema"]
    elif "tools" in body:
        found = body["tools"][0]["input_schema"]
    elif IN_WORDS in text:
        found, _ = json.JSONDecoder().raw_decode(text.partition(IN_WORDS)[2])
    return found  # type: ignore[no-any-return] # JSON


def _usage(asked: Asked, text: str) -> dict[str, Any]:
    read, cached, written = tokens_of(asked, text)
    if asked.name == "openai":
        return {
            "prompt_tokens": read,
            "completion_tokens": written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
    return {
        "input_tokens": read - cached,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": written,
    }


def _first(asked: Asked) -> list[Any]:
    if asked.name == "openai":
        return [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}]
    block = {"type": "text", "text": ""}
    return [
        {"type": "message_start", "message": {"id": "1", "usage": _usage(asked, "")}},
        {"type": "content_block_start", "index": 0, "content_block": block},
    ]


def _pieces(name: str, text: str) -> list[Any]:
    middle = len(text) // 2
    return [piece(name, text[:middle]), piece(name, text[middle:])]


def piece(name: str, text: str) -> dict[str, Any]:
    """Return a part of a streamed answer."""
    if name == "openai":
        return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def _last(asked: Asked, text: str, finish: str | None) -> list[Any]:
    if asked.name == "openai":
        end = {"index": 0, "delta": {}, "finish_reason": finish or "stop"}
        usage = {"choices": [], "usage": _usage(asked, text)}
        return [{"choices": [end]}, usage, b"data: [DONE]\n\n"]
    return [
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": finish or "end_turn"},
            "usage": {"output_tokens": _usage(asked, text)["output_tokens"]},
        },
        {"type": "message_stop"},
    ]
