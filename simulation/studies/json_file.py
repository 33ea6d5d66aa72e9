"""A user's JSON file, read whole, with a place for whatever in it cannot be used.

Refused is what a study could only stumble over later: half of a surrogate pair, which no file can
hold, a key that stands twice, of which one value would be lost, and numbers beyond any use.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_DIGITS: Final = 18
"""Of a whole number, so that any array can hold it."""
_SHOWN: Final = 40  # characters of a name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    """Stands for a value that cannot be used. why: what is wrong with it."""

    why: str


def read_json(path: Path, *, wanted: str, most: int) -> Any:
    """Return what a JSON file in UTF-8 holds.

    wanted: what it should hold, for the messages.  most: bytes.

    Raises:
        UsageError: it cannot be read or used; says where in it: line and column, or key path.
    """
    value = _parsed(_text(path, most), path, wanted)
    for where, why in _faults(value):
        raise UsageError(f"{path}: {where or 'it'} {why}")
    return value


def _text(path: Path, most: int) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(content) > most:
        raise UsageError(f"{path} is larger than {most:,} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is no UTF-8 at byte {error.start:,}; save the file as UTF-8"
        ) from error
    if "\0" in text:
        raise UsageError(f"{path} holds zero bytes, as UTF-16 does; save the file as UTF-8")
    return text


def _parsed(text: str, path: Path, wanted: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_int=_whole, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{path}, line {error.lineno}, column {error.colno}: this is no JSON ({error.msg}); "
            f"{wanted} is needed"
        ) from error
    except RecursionError as error:
        raise UsageError(f"{path} holds JSON that is nested too deeply") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Refused:
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            return _Refused(why=f'has the key "{printable(name)}" {times} times')
    return dict(pairs)


def _whole(digits: str) -> int | _Refused:
    if len(digits.lstrip("-")) <= MAX_DIGITS:
        return int(digits)
    return _Refused(why=f"is a number of {len(digits):,} digits; at most {MAX_DIGITS} are allowed")


def _constant(name: str) -> _Refused:
    return _Refused(why=f"is {name}, which is no JSON")


def _faults(value: Any) -> Iterator[tuple[str, str]]:
    """Yield what cannot be used with its place, in the order of the file."""
    left = [("", value)]  # no recursion: a parser may go deeper than Python can
    while left:
        where, one = left.pop()
        if isinstance(one, _Refused):
            yield where, one.why
        elif isinstance(one, str) and holds_half(one):
            yield where, "holds half of a surrogate pair, which is no character"
        elif isinstance(one, list):
            left += reversed([(f"{where}[{i}]", each) for i, each in enumerate(one)])
        elif isinstance(one, dict):
            for name in filter(holds_half, one):
                yield where, f'has the key "{printable(name)}" with half of a surrogate pair'
            inside = [
                (f"{where}.{printable(name)}".lstrip("."), each) for name, each in one.items()
            ]
            left += reversed(inside)


def holds_half(text: str) -> bool:
    """Return whether a text holds half of a surrogate pair, which no file in UTF-8 can hold."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def printable(name: str) -> str:
    """Return a name from a file as a message can hold it: printable, and not too long."""
    return name[:_SHOWN].encode("utf-8", "backslashreplace").decode("utf-8")
