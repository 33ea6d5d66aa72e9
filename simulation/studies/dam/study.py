"""The study `dam`: attitudes that settle, over the seed's experiments and a stream of one's own.

Source: DAM-LLM (arXiv:2510.27418), "Experimental Conclusions"; method.md 10.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from simulation.encoders import EncoderSpec, load
from simulation.errors import UsageError
from simulation.studies.dam import aspects, charts, dialogues, own, report, streams, unit
from simulation.studies.dam.validation import MAIN, OTHERS, validate
from simulation.studies.dam.verdicts import verdicts
from simulation.studies.output import Findings, publish, sha256_of, shown
from simulation.units import Rules

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.encoders import Encoder
    from simulation.studies.dam.streams import Taken
    from simulation.studies.tables import Table

NAME: Final = "dam"
NO_LABELLED: Final = (
    "The real stream was skipped: name a file or folder of aspect-labelled sentences by --data."
)


def run(folder: Path, *, quick: bool, data: Path | None) -> str:
    """Make the study, write it into a new folder and return what to print.

    quick: one seed, in less than a minute.  data: labelled sentences (.xml, or a folder of such
    files) for the real stream, or a file of the user's own observations (CSV or JSON Lines).

    Raises:
        InputError: the data cannot be used. Nothing is written.
    """
    return publish(make(quick=quick, data=data), folder, quick=quick)


def make(*, quick: bool, data: Path | None, encoder: Encoder | None = None) -> Findings:
    """Return what the study finds.

    encoder: where similarities come from; default, the shipped static one.

    Raises:
        InputError: the data cannot be used.
    """
    labelled, mine = _read(data)
    encoder = encoder or load(EncoderSpec(name="static"))
    taken = None if mine is None else streams.take(mine, encoder)
    found = validate(encoder, quick=quick, labelled=labelled)
    tables, pictures, notes = report.tables(found), charts.charts(found), []
    if taken is not None:
        tables += _own_tables(taken)
        pictures["own_growth"] = charts.own_chart(taken)
        notes.append(shown(streams.summary_table(taken)).rstrip())
    return Findings(
        name=NAME,
        title="attitudes that settle",
        about="What was found beside what was aimed at.",
        verdicts=verdicts(found),
        tables=tables,
        pictures=pictures,
        seeds=dialogues.SEEDS[:1] if quick else dialogues.SEEDS,
        configuration=_configuration(quick=quick),
        data={} if data is None else {p.name: sha256_of(p) for p in aspects.files(data)},
        encoders=(encoder,),
        notes=(*notes, *(() if labelled is not None else (NO_LABELLED,))),
    )


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


def _configuration(*, quick: bool) -> dict[str, Any]:
    return {
        "cap": unit.CAP,
        "rules": asdict(Rules()),
        "worlds": [asdict(world) for world in ((MAIN,) if quick else (MAIN, *OTHERS))],
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
    }
