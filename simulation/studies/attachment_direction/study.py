"""The study `attachment-direction`: what is reported.

Source: PersMem, E.5 to E.7, Tables 3, 14 and 15.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from simulation.personality import maps
from simulation.studies import corpus, recalling
from simulation.studies.attachment_direction import charts, protocol, report
from simulation.studies.attachment_direction.directions import QUICK, Directions, Size, measure
from simulation.studies.output import Findings, publish
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from simulation.encoders import Encoder
    from simulation.studies.recalling import Bank

NAME: Final = "attachment-direction"
TITLE: Final = "what each trait does to recall"
ABOUT: Final = (
    "Memories are drawn for cues under personalities that differ in anxiety and avoidance, calm "
    "and in distress, and neutral goals are searched for. A direction is reached where the mean "
    "has the sign that the source gives it and the 95 % interval over the cues (over the runs in "
    "E.7) leaves 0 out; where the source has one memory a cue and one seed, the order of these "
    "points is judged, and the same again over all draws. The directions are built into the "
    "mechanism: that they come out shows that it works over memories that it was not fitted to, "
    "and nothing about people."
)


def run(folder: Path, *, quick: bool, data: None = None) -> str:  # noqa: ARG001 - as all studies
    """Make the study, write it into a new folder and return what to print.

    data: there are none; all studies are called alike.
    """
    return publish(make(QUICK) if quick else make(Size()), folder, quick=quick)


def make(size: Size, encoder: Encoder | None = None) -> Findings:
    """Return what the study finds.

    encoder: default, the shipped static one.
    """
    banks = {
        name: recalling.bank(corpus.read(name), encoder)
        for name in (protocol.STORE, protocol.OTHER_STORE)
    }
    main, *others = [(name, gains) for name in banks for gains in protocol.MAPS]
    found = measure(banks[main[0]], main[1], size)
    others = others[: size.others]
    elsewhere = {f"{name}, {gains}": measure(banks[name], gains, size) for name, gains in others}
    return Findings(
        name=NAME,
        title=TITLE,
        about=ABOUT,
        verdicts=tuple(_verdicts(found, elsewhere)),
        tables=report.tables(found, elsewhere, banks[protocol.STORE]),
        pictures=charts.pictures(found),
        seeds=size.seeds,
        configuration=_configuration(size, banks, found),
        data=corpus.digests(),
        encoders=(banks[protocol.STORE].encoder,),
        records=report.records(found, elsewhere, size),
    )


def _verdicts(found: Directions, elsewhere: Mapping[str, Directions]) -> Iterator[Verdict]:
    for claim in found.claims:
        yield Verdict(
            claim=f"{claim.part} {claim.text}",
            found=claim.found,
            theirs=claim.theirs,
            target=claim.target,
            reached=claim.holds,
        )
    for name, held, judged in report.summary(elsewhere):
        yield Verdict(
            claim=f"all directions, {name} gains",
            found=f"{held} of {judged} hold",
            target="",
            reached=None,
        )


def _configuration(size: Size, banks: Mapping[str, Bank], found: Directions) -> dict[str, object]:
    return {
        "store": protocol.STORE,
        "other_store": protocol.OTHER_STORE,
        "memories": {name: len(bank.corpus) for name, bank in banks.items()},
        "cues": len(found.cues),
        "negative_cues": found.moods.count("negative"),
        "states": {name: list(state) for name, state in protocol.STATES.items()},
        "profiles": list(protocol.PROFILES),
        "levels": list(protocol.LEVELS),
        "held": protocol.HELD,
        "neutral_probes": list(protocol.NEUTRAL_PROBES),
        "positive_probes": list(protocol.POSITIVE_PROBES),
        "goals": list(protocol.GOALS),
        "gate_mode": "personality",
        "mistakes": list(protocol.MISTAKES),
        "maps_sha256": maps.sha256(),
        **asdict(size),
    }
