"""Getting an object and clean text out of whatever a written model answers.

An answer is one JSON object, alone, in a ```json fence or within prose. All lengths are in
Unicode code points.
"""

from __future__ import annotations

import json
import re
from typing import Any

from simulation.errors import InvalidAnswerError

MAX_ANSWER = 20_000
MAX_WORDS = 1_000
MAX_SHOWN = 60
MAX_DEPTH = 32  # objects and lists within each other

_FENCE = "```json"
_SPACES = "\t\n\r\v\f\x85\u2028\u2029"  # these part words, so they become a space
_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # these reorder what follows them
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))  # Unicode's category Cc
_PRINTABLE: dict[int, str | None] = {
    **dict.fromkeys(_CONTROLS),
    **dict.fromkeys(map(ord, _BIDI)),
    **dict.fromkeys(map(ord, _SPACES), " "),
}

_ESCAPED = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))  # & last: only once

Dropped = tuple[str, str]


def said_in(answer: str) -> str:
    """Return the text under "answer" if the answer is an object, else all of it.

    Raises:
        InvalidAnswerError: it starts as an object and is not such a one, or cannot be stored.
    """
    check_length(answer)
    check_text(answer)
    if not answer.lstrip().startswith(("{", "```")):
        return answer
    said = decode(answer).get("answer")
    if not isinstance(said, str):
        raise InvalidAnswerError('the answer holds no text under "answer"')
    return said


def decode(answer: str) -> dict[str, Any]:
    """Return the object in an answer; all of its texts can be stored as UTF-8."""
    check_length(answer)
    if (given := _plainly(answer)) is not None:
        return given
    text, rest = _object_text(answer)
    _refuse_second(rest)
    try:
        given = _DECODER.decode(text)
        check_text(json.dumps(given, ensure_ascii=False))
    except ValueError as error:
        reason = str(error).splitlines()[0]
        raise InvalidAnswerError(f"the answer is not valid JSON: {reason}") from error
    return dict(given)


def _plainly(answer: str) -> dict[str, Any] | None:
    """Return the object of an answer that is one and nothing else, as most are; else None.

    What is not told apart at a glance, and whatever is wrong, is left to the way through the text
    character by character: it comes to the same, and says what is wrong.
    """
    text = answer.strip()
    if not text.startswith("{") or "\\u" in text or len(_OPENING.findall(text)) > MAX_DEPTH:
        return None
    try:
        text.encode()  # with no \\u in it, it holds all the surrogates that its object would
        return dict(_DECODER.decode(text))
    except (ValueError, InvalidAnswerError):
        return None


def check_length(answer: str) -> None:
    """Refuse an answer that is too long to read."""
    if len(answer) > MAX_ANSWER:
        raise InvalidAnswerError(
            f"the answer has {len(answer)} characters; allowed are {MAX_ANSWER}"
        )


def check_text(text: str) -> None:
    """Refuse half of a surrogate pair: no file and no request can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidAnswerError("the answer holds half of a surrogate pair") from error


def _refuse_second(rest: str) -> None:
    """Refuse an answer in which a second object follows: which of them is meant is a guess."""
    try:
        _object_text(rest)
    except InvalidAnswerError:  # prose, with or without braces
        return
    raise InvalidAnswerError("the answer holds more than one JSON object")


def _object_text(answer: str) -> tuple[str, str]:
    """Return the first balanced {…} of an answer that could be an object, and what follows it.

    A fence marked as JSON goes before prose. Braces in prose that hold no key ("{sic}") are passed
    over; a broken object is not, lest an object inside of it be taken for the answer.
    """
    text = answer.strip()
    if not text.startswith("{") and _FENCE in text:
        text = text.partition(_FENCE)[2]
    start = text.find("{")
    while start >= 0:
        end = _closing_brace(text, start)
        if text[start + 1 : end].lstrip()[:1] in ('"', ""):
            return text[start : end + 1], text[end + 1 :]
        start = text.find("{", end)
    raise InvalidAnswerError("the answer holds no JSON object")


def _closing_brace(text: str, start: int) -> int:
    """Return where the brace at `start` is closed; brackets within strings do not count.

    The limit on depth is ours, so that it does not depend on how much stack a caller has left.
    """
    depth, quoted, at = 0, False, start
    while at < len(text):
        character = text[at]
        if quoted and character == "\\":
            at += 1
        elif character == '"':
            quoted = not quoted
        elif not quoted:
            depth += (character in "{[") - (character in "}]")
            if depth == 0:
                return at
            if depth > MAX_DEPTH:
                raise InvalidAnswerError("the JSON is nested too deeply")
        at += 1
    raise InvalidAnswerError("the JSON object is not closed")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that says one thing twice."""
    given = dict(pairs)
    if len(given) < len(pairs):
        raise InvalidAnswerError("a key stands twice in one object")
    return given


def _refuse_constant(name: str) -> float:
    """Refuse NaN and infinities, which are not JSON."""
    raise InvalidAnswerError(f"{name} is not a number")


_DECODER = json.JSONDecoder(
    strict=False, object_pairs_hook=_unique, parse_constant=_refuse_constant
)
_OPENING = re.compile(r"[{\[]")


def clean(text: str, what: str, dropped: list[Dropped]) -> str:
    """Return the text without control characters and not too long, and say what was dropped.

    What prompts write as &lt; &gt; &quot; and &amp; becomes < > " and & again.
    """
    text = _plain(text)
    kept = printable(text)
    if len(kept) < len(text):
        dropped.append(("control_characters", f"{len(text) - len(kept)} in {what}"))
    kept = kept.strip()
    if len(kept) > MAX_WORDS:
        dropped.append(("too_long", f"{what} cut from {len(kept)} to {MAX_WORDS} characters"))
    return kept[:MAX_WORDS].rstrip()


def _plain(text: str) -> str:
    """Return the text without the marks by which prompts escape what somebody wrote, once."""
    if "&" not in text:
        return text
    for mark, character in _ESCAPED:
        text = text.replace(mark, character)
    return text


def printable(text: str) -> str:
    """Return the text without control and reordering characters; line ends become spaces."""
    if text.isprintable():  # then it holds none of them
        return text
    return text.translate(_PRINTABLE)


def shown(value: object) -> str:
    """Return a value as part of a message: one short line that can be printed and stored."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
