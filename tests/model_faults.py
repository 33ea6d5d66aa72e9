"""Thirty per cent of calls fail, each in its own way: seeded by what is asked, not by chance."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from model_server import good, piece, sensible, told, whole
from provider_server import answer, failing, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from model_server import Asked, Model
    from provider_server import Step

    Fault = Callable[[Asked], list[Step]]

SHARE = 0.3
STUCK = 30.0  # seconds: longer than any timeout of these tests


def failing_at_times(kinds: Mapping[str, Fault]) -> Callable[[Asked, Model], list[Step]]:
    """Return a server that fails a share of calls, for one to three tries each.

    Which call fails, how and how long follows from its text, so every run hears the same.
    """
    names = sorted(kinds)

    def play(asked: Asked, _: Model) -> list[Step]:
        draw = hashlib.sha256(b"fault|" + asked.draw).digest()
        if draw[0] >= 256 * SHARE or asked.number > draw[1] % 3:
            return good(asked)
        return kinds[names[draw[2] % len(names)]](asked)

    return play


def _changed(**fields: Any) -> Fault:
    """Return an answer with some fields replaced."""
    return lambda asked: told(asked, json.dumps(json.loads(sensible(asked)) | fields))


def _refused(asked: Asked) -> list[Step]:
    reason = "content_filter" if asked.name == "openai" else "refusal"
    return told(asked, "", finish=reason)


def _cut_off(asked: Asked) -> list[Step]:
    reason = "length" if asked.name == "openai" else "max_tokens"
    return told(asked, sensible(asked)[:20], finish=reason)


def _truncated(asked: Asked) -> list[Step]:
    """End a body or a stream in the middle, without a word."""
    if asked.streamed:
        return stream(piece(asked.name, sensible(asked)[:10]))
    head, body = _split(asked)
    return [head + body[: len(body) // 2], "reset"]


def _broken_off(asked: Asked) -> list[Step]:
    """Reset the connection in the middle."""
    if asked.streamed:
        return stream(piece(asked.name, sensible(asked)[:10]), "reset")
    return ["reset"]


def _corrupt(asked: Asked) -> list[Step]:
    """Send what is no JSON where JSON belongs."""
    if asked.streamed:
        return stream(piece(asked.name, "{"), b"data: {broken\n\n")
    return answer(json.dumps(whole(asked, sensible(asked))).encode()[:-9])


def _stalled(asked: Asked) -> list[Step]:
    """Begin and never end."""
    if asked.streamed:
        return stream(piece(asked.name, sensible(asked)[:10]), STUCK)
    return [STUCK, *good(asked)]


def _split(asked: Asked) -> tuple[bytes, bytes]:
    steps = good(asked)
    assert isinstance(steps[0], bytes)
    head, gap, body = steps[0].partition(b"\r\n\r\n")
    return head + gap, body


def _page(_: Asked) -> list[Step]:
    return answer(b"<html><p>Sign in</p></html>", headers=_HTML)


_SOON = {"retry-after": "0"}
_HTML = {"content-type": "text/html"}

SLOW: dict[str, Fault] = {"stalled": _stalled}
"""What takes as long as the timeout."""

PASSING: dict[str, Fault] = {
    "429": lambda _: answer({"error": {"message": "slow down"}}, status=429, headers=_SOON),
    "429 without a word": lambda _: failing(429, "slow down"),
    "500": lambda _: failing(500, "oh"),
    "502": lambda _: answer(b"<html>Bad gateway</html>", status=502, headers=_HTML),
    "529": lambda _: failing(529, "overloaded", type="overloaded_error"),
    "reset": lambda _: ["reset"],
    "broken off": _broken_off,
    "truncated": _truncated,
    "corrupt": _corrupt,
    "an empty 200": lambda _: answer(b""),
    "a page": _page,
    "a list": lambda _: answer([]),
}  # fmt: skip
"""What is tried again."""

WRONG: dict[str, Fault] = {
    "no JSON": lambda asked: told(asked, "I would rather not say it in JSON."),
    "an empty text": lambda asked: told(asked, ""),
    "wrong schema": _changed(action=7, answer=[], beliefs="none", memories={}),
    "unknown action": _changed(action="dance", answer=None, beliefs=[]),
    "unknown target": _changed(action="like", target="9999999", answer={}, memories=[]),
    "NaN": lambda asked: told(asked, '{"action": "buy", "changes": {"value": NaN}, "answer": 1}'),
    "infinity": _changed(changes={"value": 1e999}, beliefs={"value": 1e999}, answer=1e999),
    "huge": lambda asked: told(asked, '{"words": "' + "x" * 30_000 + '"}'),
    "control characters": _changed(words="a\x00b\x1b[31m\u202e", answer="\x00", memories=["\x07"]),
    "refusal": _refused,
    "cut off": _cut_off,
}  # fmt: skip
"""What is asked for once more, or refused."""

EVERYTHING = PASSING | WRONG | SLOW
