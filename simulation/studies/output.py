"""How a study is written: tables, pictures, a report and a manifest in one new folder.

Source of what a manifest holds: PersMem, F.6.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import platform
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from simulation.studies.verdict import verdict_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from simulation.encoders import Encoder
    from simulation.studies.tables import Cell, Table
    from simulation.studies.verdict import Verdict

PACKAGES: Final = (
    "simulation",
    "numpy",
    "scipy",
    "tokenizers",
    "vaderSentiment",
    "sentence-transformers",
    "torch",
    "vl-convert-python",
)
"""Packages that may decide a number of a study; the ones installed are told."""
ROWS: Final = 40
"""A longer table stands in the report by its first rows only; its CSV is whole."""
SHORT: Final = "A short form, to see that all works; take numbers from a full one."
_MARKS: Final = frozenset("\\|<`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a study found.

    about: a paragraph for the head of the report.  headline: what comes before all else, such as
    who spoke.  pictures: SVG by name.  seeds: of its chance.
    configuration: whatever decides its numbers, JSON.  data: SHA-256 of each file read, by name.
    encoders: where similarities come from.  models: language models and their settings, JSON.
    records: other files, by name.  notes: paragraphs that are printed after the verdicts.
    """

    name: str
    title: str
    about: str
    verdicts: tuple[Verdict, ...]
    tables: tuple[Table, ...]
    pictures: Mapping[str, str] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    encoders: tuple[Encoder, ...] = ()
    models: Mapping[str, Any] = field(default_factory=dict)
    records: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    headline: str = ""


def publish(findings: Findings, folder: Path, *, quick: bool) -> str:
    """Write a study into a new or empty folder and return what to print: a line a verdict.

    Files: a CSV a table (verdicts.csv first, if there are any), an SVG a picture, the records,
    report.md, and manifest.json with the SHA-256 of all the others.

    Raises:
        OSError: the folder holds something, or cannot be written; nothing is left of the study.
    """
    _write(folder, files_of(findings, quick=quick))
    head, verdicts = [findings.headline] if findings.headline else [], list(findings.verdicts)
    if quick:  # a target is for the whole study
        head, verdicts = [*head, SHORT], [replace(one, reached=None) for one in verdicts]
    lines = "\n".join([*head, *map(str, verdicts)])
    return "\n\n".join(filter(None, (lines, *findings.notes, f"wrote {folder}")))


def _write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a new or empty folder: all of them, or none."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(errno.EEXIST, "it holds something", str(folder))
    written: list[Path] = []
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                written.append(path)
                file.write(text)
    except BaseException:
        for path in reversed(written):
            path.unlink()
            with contextlib.suppress(OSError):
                path.parent.rmdir()
        raise


def files_of(findings: Findings, *, quick: bool) -> dict[str, str]:
    """Return the study's files by name, the manifest last."""
    claims = (verdict_table(findings.verdicts),) if findings.verdicts else ()
    tables = (*claims, *findings.tables)
    files = {f"{table.name}.csv": table.csv() for table in tables}
    files |= {f"{name}.svg": text for name, text in findings.pictures.items()}
    files |= findings.records
    files["report.md"] = _report(findings, tables, quick=quick)
    files["manifest.json"] = _json(_manifest(findings, files, quick=quick))
    return files


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each CSV file of a folder, by name."""
    return {path.name: sha256_of(path) for path in sorted(folder.glob("*.csv"))}


def shown(table: Table) -> str:
    """Return a title and a table in Markdown, whatever stands in it; a long one is cut."""
    rows = tuple(tuple(map(_plain, row)) for row in table.rows[:ROWS])
    text = f"{table.title}\n\n{replace(table, rows=rows).markdown()}"
    if len(table.rows) <= ROWS:
        return text
    return f"{text}\nThe first {ROWS} of {len(table.rows):,} rows of {table.name}.csv.\n"


def _report(findings: Findings, tables: Sequence[Table], *, quick: bool) -> str:
    return "".join(_paragraphs(findings, tables, quick=quick))


def _paragraphs(findings: Findings, tables: Sequence[Table], *, quick: bool) -> Iterator[str]:
    about = " ".join(filter(None, (findings.headline, findings.about)))
    yield f"# {findings.name}: {findings.title}\n\n{about}\n"
    if quick:
        yield f"\n**{SHORT}**\n"
    for table in tables:
        yield f"\n## {shown(table)}"
    for name in findings.pictures:
        yield f"\n![{name.replace('_', ' ')}]({name}.svg)\n"


def _plain(cell: Cell) -> Cell:
    """Return a cell that cannot break a Markdown table, whatever things are called."""
    if not isinstance(cell, str):
        return cell
    visible = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in cell)
    return "".join(f"\\{c}" if c in _MARKS else c for c in visible)


def _manifest(findings: Findings, files: Mapping[str, str], *, quick: bool) -> dict[str, Any]:
    return {
        "study": findings.name,
        "quick": quick,
        "seeds": list(findings.seeds),
        "retrieval": "cosine of int8 vectors, exact",
        "encoders": [{"name": one.name, "sha256": one.sha256} for one in findings.encoders],
        "device": "cpu",
        "models": dict(findings.models),
        "packages": dict(_packages()),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "configuration": dict(findings.configuration),
        "data": dict(findings.data),
        "files": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()},
    }


def _packages() -> Iterator[tuple[str, str]]:
    for name in PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
