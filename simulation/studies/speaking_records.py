"""What was asked of language models in a study, and answered: JSON Lines, a line a request.

The lines of a finished study lie in its folder as calls.jsonl. While models are asked they are
also kept beside the folder, so that a study that was stopped can go on from what was answered.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from simulation.calls.record import CallRecord, canonical
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import TextIO

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
    whole = text[: text.rfind("\n") + 1]
    found = tuple(
        _record(line, f"{path}, line {number}")
        for number, line in enumerate(whole.splitlines(), start=1)
        if line.strip()
    )
    if not found:
        raise UsageError(f"{path} holds no answer: a {FILE} of an earlier study is needed")
    return found


def _record(line: str, place: str) -> CallRecord:
    with suppress(ValueError, TypeError, AttributeError, KeyError):
        row: dict[str, Any] = json.loads(line)
        if row.keys() == _NEEDED:
            return _from(row)
    raise UsageError(f"{place}: no line of a {FILE} as a study writes it")


def _from(row: dict[str, Any]) -> CallRecord:
    role, _, _ = row["id"].partition("|")
    if role not in ROLES:
        raise ValueError(role)
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
        self._file: TextIO | None = None

    def add(self, records: Iterable[CallRecord]) -> None:
        """Write records; they are in the file when this returns.

        Raises:
            UsageError: the file cannot be written.
        """
        if self._folder is None:
            return
        try:
            if self._file is None:
                self.path = _free(self._folder)
                self._file = self.path.open("x", encoding="utf-8", newline="\n")
            self._file.writelines(map(line_of, records))
            self._file.flush()
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror}") from error

    def close(self, *, keep: bool) -> None:
        """Close the file. keep: leave it, where something was written."""
        if self._file is None or self.path is None:
            return
        self._file.close()
        self._file = None
        if not keep:
            self.path.unlink(missing_ok=True)
            self.path = None


def _free(folder: Path) -> Path:
    folder.parent.mkdir(parents=True, exist_ok=True)
    names = (f"{folder.name}{f'-{i}' if i > 1 else ''}.{FILE}" for i in count(1))
    return next(path for name in names if not (path := folder.parent / name).exists())


def model_of(records: Sequence[CallRecord], role: str) -> tuple[str, str] | None:
    """Return provider and model of the records of a role; None where it has none."""
    found = (r for r in records if (r.persona_id or "").startswith(f"{role}|"))
    first = next(found, None)
    return None if first is None else (first.provider, first.model)
