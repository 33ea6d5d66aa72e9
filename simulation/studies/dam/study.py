"""The study `dam`: attitudes that settle, over the seed's experiments and a stream of one's own.

Source: DAM-LLM (arXiv:2510.27418), "Experimental Conclusions"; method.md 10.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from simulation.encoders import EncoderSpec, load
from simulation.errors import UsageError
from simulation.studies.dam import aspects, charts, dialogues, own, report, streams, unit
from simulation.studies.dam.validation import MAIN, OTHERS, validate
from simulation.studies.dam.verdicts import verdicts
from simulation.units import Rules

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.encoders import Encoder
    from simulation.studies.dam.streams import Taken
    from simulation.studies.dam.verdicts import Verdict
    from simulation.studies.tables import Cell, Table

NAME: Final = "dam"
SHOWN: Final = frozenset(("one_unit", "growth_curve", "own_units", "own_updates", "own_growth"))
"""Tables that are too long for the report; the first rows stand in it."""
ROWS: Final = 20
_MARKS: Final = frozenset("\\|<`")
NO_LABELLED: Final = (
    "The real stream was skipped: name a file or folder of aspect-labelled sentences by --data."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What the study found: files by name, in the order in which they are written."""

    tables: tuple[Table, ...]
    verdicts: tuple[Verdict, ...]
    files: dict[str, str]
    taken: Taken | None
    skipped: str


def run(folder: Path, *, quick: bool, data: Path | None) -> str:
    """Make the study, write it into a new folder and return what to print.

    quick: one seed, in less than a minute.  data: labelled sentences (.xml, or a folder of such
    files) for the real stream, or a file of the user's own observations (CSV or JSON Lines).

    Raises:
        InputError: the data cannot be used. Nothing is written.
    """
    study = make(quick=quick, data=data)
    write(study, folder)
    parts = ["\n".join(map(str, study.verdicts))]
    if study.taken is not None:
        parts.append(_shown(streams.summary_table(study.taken)).rstrip())
    if study.skipped:
        parts.append(study.skipped)
    return "\n\n".join([*parts, f"wrote {folder}"])


def make(*, quick: bool, data: Path | None, encoder: Encoder | None = None) -> Study:
    """Return the study's tables and files.

    encoder: where similarities come from; default, the shipped static one.

    Raises:
        InputError: the data cannot be used.
    """
    labelled, mine = _read(data)
    encoder = encoder or load(EncoderSpec(name="static"))
    taken = None if mine is None else streams.take(mine, encoder)
    found = validate(encoder, quick=quick, labelled=labelled)
    claims = verdicts(found)
    every = list(report.tables(found, claims))
    files = charts.charts(found)
    if taken is not None:
        every += _own_tables(taken)
        files["own_growth.svg"] = charts.own_chart(taken)
    files |= {f"{table.name}.csv": table.csv() for table in every}
    files["report.md"] = _report(every)
    manifest = _manifest(files, encoder, quick=quick, data=data)
    files["manifest.json"] = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    return Study(
        tables=tuple(every),
        verdicts=claims,
        files=files,
        taken=taken,
        skipped="" if labelled is not None else NO_LABELLED,
    )


def write(study: Study, folder: Path) -> None:
    """Write a study's files into a new folder."""
    folder.mkdir(parents=True)
    for name, text in study.files.items():
        with (folder / name).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _read(data: Path | None) -> tuple[Path | None, own.Own | None]:
    """Return where labelled sentences are, and a user's own observations: one of them, or none."""
    if data is None:
        return None, None
    if not data.exists():
        raise UsageError(f"{data} does not exist")
    if data.is_dir() or data.suffix.lower() == ".xml":
        aspects.read(data)  # refused now, and not after minutes
        return data, None
    return None, own.read(data)


def _own_tables(taken: Taken) -> tuple[Table, ...]:
    return (
        streams.summary_table(taken),
        streams.unit_table(taken),
        streams.update_table(taken),
        streams.growth_table(taken),
    )


def _report(every: list[Table]) -> str:
    parts = ["# dam\n\nAttitudes that settle: what was found beside what was aimed at.\n"]
    for table in every:
        long = table.name in SHOWN and len(table.rows) > ROWS
        rows = table.rows[:ROWS] if long else table.rows
        parts.append(f"\n## {_shown(replace(table, rows=rows))}")
        if long:
            parts.append(f"\nThe first {ROWS} of {len(table.rows):,} rows of {table.name}.csv.\n")
    return "".join(parts)


def _shown(table: Table) -> str:
    """Return a title and a table in Markdown, whatever stands in it."""
    plain = replace(table, rows=tuple(tuple(map(_plain, row)) for row in table.rows))
    return f"{table.title}\n\n{plain.markdown()}"


def _plain(cell: Cell) -> Cell:
    """Return a cell that cannot break a Markdown table, whatever things are called."""
    if not isinstance(cell, str):
        return cell
    visible = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in cell)
    return "".join(f"\\{c}" if c in _MARKS else c for c in visible)


def _manifest(
    files: dict[str, str], encoder: Encoder, *, quick: bool, data: Path | None
) -> dict[str, Any]:
    inputs = [] if data is None else aspects.files(data)
    worlds = (MAIN,) if quick else (MAIN, *OTHERS)
    return {
        "study": NAME,
        "quick": quick,
        "seeds": list(dialogues.SEEDS[:1] if quick else dialogues.SEEDS),
        "encoder": encoder.name,
        "encoder_sha256": encoder.sha256,
        "packages": {name: version(name) for name in ("simulation", "numpy", "tokenizers")},
        "python": platform.python_version(),
        "configuration": {
            "cap": unit.CAP,
            "rules": asdict(Rules()),
            "worlds": [asdict(world) for world in worlds],
            "sessions": dialogues.SESSIONS,
            "turns_a_session": dialogues.TURNS,
            "dialogues": dialogues.DIALOGUES,
            "observations": dialogues.OBSERVATIONS,
            "sequences": dialogues.SEQUENCES,
            "length_of_a_sequence": dialogues.LENGTH,
            "objects": len(dialogues.OBJECTS),
            "contradictions": dialogues.CONTRADICTIONS,
            "strengths": list(dialogues.STRENGTHS),
            "coffee_streams": unit.STREAMS,
        },
        "data": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs},
        "files": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()},
    }
