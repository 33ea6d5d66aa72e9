"""How long a provider asks to wait, from the headers of its answer."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_LIMITS: Final = ("requests", "tokens")
_EPOCH: Final = 1e9  # as seconds, a wait of 30 years: it is a point in time
_EPOCH_MS: Final = 1e12


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait, >= 0, or None where the provider does not say.

    headers: of the answer, looked up in lower case. In order: `retry-after-ms`, `retry-after`
    (seconds or a date), `x-ratelimit-reset-requests` and `-tokens` (OpenAI: "1m30s"; of the limits
    that are spent), `x-ratelimit-reset`.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    now = _date(headers.get("date")) or datetime.now(tz=UTC)  # its clock may differ from ours
    for name in ("retry-after", "x-ratelimit-reset"):
        wait = _wait(headers.get(name), now)
        if name == "retry-after" and wait is None:
            wait = _resets(headers, now)
        if wait is not None:
            return wait
    return None


def _resets(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return when the last of the spent limits is reset; of any limit where none says so."""
    waits = {name: _wait(headers.get(f"x-ratelimit-reset-{name}"), now) for name in _LIMITS}
    spent = [n for n in _LIMITS if _number(headers.get(f"x-ratelimit-remaining-{n}")) == 0]
    said = [wait for name in spent or _LIMITS if (wait := waits[name]) is not None]
    return max(said, default=None)


def _wait(text: str | None, now: datetime) -> float | None:
    """Return seconds from "2", "1m30s", a date or a point in time."""
    number = _number(text)
    if number is not None:
        seconds = number / 1000 if number >= _EPOCH_MS else number
        return max(0.0, seconds - now.timestamp()) if seconds >= _EPOCH else seconds
    parts = _PART.findall(text or "")
    if parts and "".join(map("".join, parts)) == text:
        return sum(float(size) * _UNITS[unit] for size, unit in parts)
    date = _date(text)
    return max(0.0, (date - now).total_seconds()) if date is not None else None


def _number(text: str | None) -> float | None:
    """Return a finite number >= 0, or None."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str | None) -> datetime | None:
    """Return the time in an HTTP date, or None."""
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, IndexError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
