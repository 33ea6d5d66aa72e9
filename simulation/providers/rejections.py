"""What a server says when it turns a request away, and of which kind that is."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_WORDS: Final = 600
"""Characters of a server's words that are looked at."""

Kind = Literal["key", "credit", "model", "redirect", "rate", "busy", "policy", "length", "request"]

_ANTHROPIC_TYPES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "api_error": 500,
    "overloaded_error": 529,
}
_BY_STATUS: Final[dict[int, Kind]] = {
    401: "key",
    402: "credit",
    403: "key",
    404: "model",
    408: "busy",
    409: "busy",
    413: "length",
    425: "busy",
    429: "rate",
    501: "request",
    529: "rate",
}
_SPENT: Final = re.compile(
    r"insufficient_quota|billing_(?:hard_limit|not_active|error)|spend_limit|credit_balance"
)
_CREDIT: Final = re.compile(r"credit balance|purchase credits|billing", re.IGNORECASE)
_POLICY: Final = re.compile(
    r"content[_ -]?(?:filter|policy|management|moderation)|moderation|safety system"
    r"|usage polic|flagged|responsible ?ai",
    re.IGNORECASE,
)
_LENGTH: Final = re.compile(
    r"context[_ ](?:length|window|size)|prompt is too long|too many (?:input )?tokens"
    r"|string_above_max_length|request too large|exceeds? the (?:available |maximum )?context",
    re.IGNORECASE,
)
_MODEL: Final = re.compile(
    r"not a valid model|invalid model|unknown model|model_not_found|no such model"
    r"|model\b.{0,80}?\b(?:not found|does not exist|is not available|not exist)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A request that was turned away.

    status: HTTP status, or what an error within an answer amounts to.  code: codes and types the
    server names, in one text.  words: what it says, in one line.  headers: of the answer.
    billed: whether an answer had begun.
    """

    status: int
    code: str
    words: str
    headers: Mapping[str, str]
    billed: bool = False

    @property
    def kind(self) -> Kind:
        """What to make of it."""
        said = f"{self.code} {self.words}"
        if self.status in (400, 403, 422) and _POLICY.search(said):
            return "policy"
        if _SPENT.search(self.code) or (self.status == 400 and _CREDIT.search(self.words)):  # noqa: PLR2004 - HTTP's "bad request"
            return "credit"
        if self.status in _BY_STATUS:
            return _BY_STATUS[self.status]
        return self._by_class(said)

    def _by_class(self, said: str) -> Kind:
        """Return the kind of a status that means nothing in particular."""
        if self.status >= 500:  # noqa: PLR2004 - HTTP's class of server errors
            return "busy"
        if self.status < 400:  # noqa: PLR2004 - HTTP's class of redirects
            return "redirect"
        if _LENGTH.search(said):
            return "length"
        return "model" if _MODEL.search(said) else "request"


def rejection_of(
    status: int, content: bytes | Any, headers: Mapping[str, str], *, billed: bool = False
) -> Rejection:
    """Return what a body says, whatever its shape.

    content: the raw body, or one decoded already.
    """
    data = _decoded(content) if isinstance(content, bytes) else content
    code, words = _said(data)
    return Rejection(
        status=status, code=code, words=one_line(words), headers=headers, billed=billed
    )


def rejection_within(data: dict[str, Any], headers: Mapping[str, str]) -> Rejection | None:
    """Return the error that an answer with status 200, or a piece of a stream, holds, if any."""
    error = data.get("error")
    if not error:
        return None
    code = error.get("code", error.get("status_code")) if isinstance(error, dict) else None
    kind = str(error.get("type")) if isinstance(error, dict) else ""
    status = code if type(code) is int and 400 <= code < 600 else _ANTHROPIC_TYPES.get(kind, 500)  # noqa: PLR2004 - HTTP's classes of errors
    return rejection_of(status, data, headers, billed=True)


def one_line(text: str) -> str:
    """Return a text's beginning in one line, without control characters or HTML."""
    plain = re.sub(r"<[^<>]{0,200}>", " ", text[: 8 * LONGEST_WORDS])
    spaced = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in plain)
    return " ".join(spaced.split())[:LONGEST_WORDS]


def _decoded(content: bytes) -> Any:
    """Return the JSON in a body, or its text."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(errors="replace")


def _said(data: Any) -> tuple[str, str]:
    """Return codes and words of an error's body."""
    if not isinstance(data, dict):
        return "", data if isinstance(data, str) else _written(data)
    error = data.get("error")
    inner: dict[str, Any] = error if isinstance(error, dict) else data
    words = inner.get("message") or inner.get("detail") or error or data
    text = words if isinstance(words, str) else _written(words)
    param = inner.get("param")
    codes = [str(inner[name]) for name in ("code", "type") if inner.get(name) is not None]
    details = inner.get("details")
    if isinstance(details, dict):
        codes += [str(value) for value in details.values() if isinstance(value, str)]
    return " ".join(codes), f"{param}: {text}" if isinstance(param, str) and param else text


def _written(value: Any) -> str:
    """Return a value as JSON; deep ones can be read and not be written again."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:  # pragma: no cover - depends on the stack that is left
        return ""
