"""A loopback server that answers chat completions as a test says, and counts tokens."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Say = Callable[[dict[str, Any], dict[str, Any] | None], str]
    """(the request's body, the schema of the answer) -> the answer."""

PER_TOKEN = 3.4  # characters


def shortest(_: dict[str, Any], schema: dict[str, Any] | None) -> str:
    """Do as little as can be done."""
    if schema is None:
        return "DONE"
    properties = schema["properties"]
    if "action" in properties:
        return json.dumps(
            {"action": "ignore", "target": None, "words": "", "changes": _all(0, schema)}
        )
    if "memories" in properties:
        return json.dumps({"beliefs": {}, "memories": ["Hm."]})
    return json.dumps({name: _value(part) for name, part in properties.items()})


def longest(_: dict[str, Any], schema: dict[str, Any] | None) -> str:
    """Say as much as can be said, in other words each time, and turn right around."""
    if schema is None:
        return "what else was there about it"
    properties = schema["properties"]
    words = f"{next(_NUMBERS)} " + "I really cannot say enough about this & that bar! " * 20
    if "action" in properties:
        changes = _all(1 if next(_NUMBERS) % 2 else -1, schema)
        return json.dumps({"action": "post", "target": None, "words": words, "changes": changes})
    if "memories" in properties:
        return json.dumps({"beliefs": {}, "memories": [words[:500], words[:400], "So it is."]})
    return json.dumps({name: _value(part) for name, part in properties.items()})


def clumsy(body: dict[str, Any], schema: dict[str, Any] | None) -> str:
    """Answer in prose at first; only the second time as asked."""
    question = body["messages"][-1]["content"]
    if schema is not None and "Your last answer could not be used" not in question:
        return '{"sorry": "' + "I would rather tell you a story. " * 30 + '"}'
    return longest(body, schema)


@contextmanager
def answering(say: Say) -> Iterator[str]:
    """Serve a model that says what `say` returns; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send({"object": "list", "data": [{"id": "parrot", "owned_by": "test"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            format_ = body.get("response_format", {})
            text = say(body, format_.get("json_schema", {}).get("schema"))
            read = sum(len(message["content"]) for message in body["messages"])
            usage = {
                "prompt_tokens": round(read / PER_TOKEN),
                "completion_tokens": min(body["max_tokens"], round(len(text) / PER_TOKEN)),
            }
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._send(
                {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}
            )

        def _send(self, content: object) -> None:
            data = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _counting() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


_NUMBERS = _counting()


def _all(value: float, schema: dict[str, Any]) -> dict[str, float]:
    return dict.fromkeys(schema["properties"]["changes"]["properties"], value)


def _value(part: dict[str, Any]) -> object:
    if "enum" in part:
        return part["enum"][0]
    if part.get("type") == "array":
        return [{name: _value(each) for name, each in part["items"]["properties"].items()}]
    return 0 if part.get("type") in ("number", "integer") else "fine"
