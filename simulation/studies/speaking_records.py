"""What was asked of language models in a study, and answered: JSON Lines, a line a request.

The lines of a finished study lie in its folder as calls.jsonl. While models are asked they are
also kept beside the folder, so that a study that was stopped can go on from what was answered.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from simulation.calls.record import CallRecord, canonical
from simulation.errors import UsageError
from simulation.providers import NAMES as PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import BinaryIO

FILE: Final = "calls.jsonl"
ROLES: Final = ("speaker", "judge")
PURPOSE: Final = "study"
RULE: Final = "rule"

_NAMES: Final = {"persona_id": "id", "request_sha256": "sha256", "latency_s": "seconds"}
_PARTS: Final = {new: old for old, new in _NAMES.items()}
_LEFT_OUT: Final = ("tick", "purpose", "billed", "unconfirmed_usd", "unconfirmed_tokens")
_NEEDED: Final = frozenset(
    {_NAMES.get(name, name) for name in CallRecord.__dataclass_fields__} - {*_LEFT_OUT}
)
_ENDS: Final = frozenset(("ok", "repaired", "invalid", "refused", "error"))
_ASKED: Final = frozenset(
    ("provider", "model", "system", "persona", "question", "schema", "max_tokens", "temperature",
     "effort")
)  # fmt: skip
_DIGITS: Final = frozenset("0123456789abcdef")
_DIGEST: Final = 64
_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # it can stand in no file of a study


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_amount(value: object) -> bool:
    return _is_count(value) or (isinstance(value, float) and math.isfinite(value) and value >= 0)


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == _DIGEST and _DIGITS.issuperset(value)


def _is_reply(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"text", "finish"}
        and all(
            isinstance(part, str) and _SURROGATE.search(part) is None for part in value.values()
        )
    )


def _or_none(test: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or test(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_MAY_BE: Final[dict[str, Callable[[object], bool]]] = {
    "id": lambda value: isinstance(value, str) and value.partition("|")[0] in ROLES,
    "attempt": lambda value: _is_count(value) and value != 0,
    "provider": lambda value: value in (RULE, *PROVIDERS),
    "model": _is_text,
    "sha256": _is_digest,
    "request": _or_none(lambda value: isinstance(value, dict) and value.keys() == _ASKED),
    "response": _or_none(_is_reply),
    **dict.fromkeys(
        ("input_tokens", "cached_tokens", "written_tokens", "output_tokens"), _or_none(_is_count)
    ),
    "cost_usd": _or_none(_is_amount),
    "seconds": _is_amount,
    "attempts": _is_count,
    "outcome": lambda value: isinstance(value, str) and value in _ENDS,
    "error": _or_none(_is_text),
}
"""What each part of a line can be."""


def line_of(record: CallRecord) -> str:
    """Return a record as a line. Request and response stand in it as objects, to be read."""
    row = {_NAMES.get(k, k): v for k, v in asdict(record).items() if k not in _LEFT_OUT}
    for name in ("request", "response"):
        row[name] = None if row[name] is None else json.loads(row[name])
    return canonical(row).decode() + "\n"


def read_calls(path: Path) -> tuple[CallRecord, ...]:
    """Return the records of a file; a last line that was cut off on the way is left out.

    Raises:
        UsageError: it cannot be read, or holds something else; with the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise UsageError(f"{path} cannot be read: {why}") from error
    # split at "\n" alone: an answer may hold other ends of lines, such as U+2028
    lines = text.split("\n")[:-1]
    found: dict[tuple[str | None, int, str], CallRecord] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{path}, line {number}"
            record = _record(line, place)
            key = (record.persona_id, record.attempt, record.request_sha256)
            if key in found:
                raise UsageError(f"{place}: this request stands in an earlier line, too")
            found[key] = record
    if not found:
        raise UsageError(f"{path} holds no answer: a {FILE} of an earlier study is needed")
    return tuple(found.values())


def _record(line: str, place: str) -> CallRecord:
    row: object = None
    with suppress(ValueError, RecursionError):
        row = json.loads(line)
    if not isinstance(row, dict) or row.keys() != _NEEDED:
        raise UsageError(f"{place}: no line of a {FILE} as a study writes it")
    wrong = next((name for name, test in _MAY_BE.items() if not test(row[name])), None)
    if wrong is not None:
        raise UsageError(f'{place}: "{wrong}" is not as a study writes it in a {FILE}')
    return _from(row)


def _from(row: dict[str, Any]) -> CallRecord:
    values = {_PARTS.get(name, name): value for name, value in row.items()}
    for name in ("request", "response"):
        value = values[name]
        values[name] = None if value is None else canonical(value).decode()
    return CallRecord(
        **values,
        tick=0,
        purpose=PURPOSE,
        billed=values["attempts"],
        unconfirmed_usd=0.0,
        unconfirmed_tokens=0,
    )


class Journal:
    """A file that grows with every answer, and goes when all is well."""

    def __init__(self, folder: Path | None) -> None:
        """Choose a name beside a folder: `NAME.calls.jsonl`; None for no journal at all."""
        self.path: Path | None = None
        self._folder = folder
        self._file: BinaryIO | None = None

    def add(self, records: Iterable[CallRecord]) -> None:
        """Write records; they are in the file when this returns.

        Raises:
            UsageError: the file cannot be written; it holds what was added before.
        """
        if self._folder is None:
            return
        path = self.path
        try:
            if self._file is None:
                path = _free(self._folder)
                self._file = path.open("xb", buffering=0)  # what stays in a buffer fails at close
                self.path = path
            self._write(self._file, "".join(map(line_of, records)).encode())
        except OSError as error:
            raise UsageError(
                f"{path or self._folder} cannot be written: {error.strerror}"
            ) from error

    def _write(self, file: BinaryIO, left: bytes) -> None:
        whole = file.tell()
        try:
            while left:
                left = left[file.write(left) :]
        except OSError:
            with suppress(OSError):  # half a line would spoil the next one
                file.truncate(whole)
                file.seek(whole)
            raise

    def close(self, *, keep: bool) -> None:
        """Close the file. keep: leave it, where something was written."""
        if self._file is None or self.path is None:
            return
        keep = keep and self._file.tell() > 0
        self._file.close()
        self._file = None
        if not keep:
            self.path.unlink(missing_ok=True)
            self.path = None

    @property
    def kept(self) -> Path | None:
        """The file, where it holds something."""
        return self.path if self._file is not None and self._file.tell() else None


def _free(folder: Path) -> Path:
    folder.parent.mkdir(parents=True, exist_ok=True)
    names = (f"{folder.name}{f'-{i}' if i > 1 else ''}.{FILE}" for i in count(1))
    return next(path for name in names if not (path := folder.parent / name).exists())


def model_of(records: Sequence[CallRecord], role: str) -> tuple[str, str] | None:
    """Return provider and model of the records of a role; None where it has none."""
    found = (r for r in records if (r.persona_id or "").startswith(f"{role}|"))
    first = next(found, None)
    return None if first is None else (first.provider, first.model)
