"""The study `coser`: given-circumstance acting on a user's copy of CoSER's test set.

Sources: PersMem, 4.3 and appendix I; CoSER, gca_evaluation.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.encoders import EncoderSpec, load
from simulation.errors import UsageError
from simulation.studies.coser import acting, casting, judging
from simulation.studies.coser.judging import DIMENSIONS
from simulation.studies.coser.reading import read
from simulation.studies.intervals import Interval, bootstrap
from simulation.studies.output import Findings, publish, sha256_of
from simulation.studies.plots import bars
from simulation.studies.speaking import FILE, Models, recite, voices
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.studies.coser.judging import Judged
    from simulation.studies.coser.reading import Circumstances
    from simulation.studies.speaking import Voices

NAME: Final = "coser"
NEEDED: Final = (
    f"the study {NAME} needs CoSER's test set: name your copy of test_set.json, or of the folder "
    "data that holds test/test_set.json and final/, with --data (github.com/Neph0s/CoSER)"
)
SCENES: Final = {False: None, True: 2}  # scenes that are acted; quick
ROUNDS: Final = {False: acting.ROUNDS, True: acting.LEAST}
AVERAGE: Final = "average of the four"
THEIRS: Final = {
    "Storyline Consistency": "59.83",
    "Anthropomorphism": "51.00",
    "Character Fidelity": "69.33",
    "Storyline Quality": "84.33",
    AVERAGE: "66.13",
    "BLEU": "3.01",
    "ROUGE-L": "19.99",
}
"""PersMem's own, Table 6 and I.2: speaker and judge DeepSeek, texts unlike a user's subset."""
ABOUT: Final = (
    "Characters act scenes of books from profile, scene, what moves them and what PersMem brings "
    "to mind of earlier conversations, with a neutral personality; the conversation of the book "
    "is the reference. A judge lists flaws in four dimensions; a score is 100 less what they "
    "cost. Intervals: bootstrap over scenes, 95 %."
)


def run(folder: Path, *, quick: bool, data: Path | None, models: Models | None = None) -> str:
    """Make the study, write it into a new folder and return what to print.

    quick: two scenes of six messages.  data: the test set, or the folder that holds it.
    models: language models that act and judge; default, by rule.

    Raises:
        UsageError: there are no data, or they or a model cannot be used.
        RunStoppedError: a model did not answer to the end.
    """
    if data is None:
        raise UsageError(NEEDED)
    found = read(data)
    encoder = load(EncoderSpec(name="static"))
    memory = casting.Remembering(encoder)
    with voices(models or Models(), speak=recite, judge=judging.by_rule, folder=folder) as who:
        chosen = found.circumstances[: SCENES[quick]]
        scenes = acting.play(found, chosen, who.speaker, memory, rounds=ROUNDS[quick])
        judged = judging.judge_all(scenes, who.judge)
        return publish(_findings(found, judged, who), folder, quick=quick)


def _findings(found: Circumstances, judged: Sequence[Judged], who: Voices) -> Findings:
    names = {name: DIMENSIONS[name] for name in DIMENSIONS}
    return Findings(
        name=NAME,
        title="given-circumstance acting on CoSER's test set",
        headline=who.headline,
        about=f"{len(judged)} of {len(found.circumstances)} scenes. {ABOUT}",
        verdicts=tuple(verdicts(judged)),
        tables=(summary_table(judged), scene_table(judged), flaw_table(judged)),
        pictures={"scores": picture(judged)},
        seeds=(acting.SEED,),
        configuration={
            "messages": acting.ROUNDS,
            "least": acting.LEAST,
            "recent_messages": casting.RECENT,
            "memories_shown": casting.SHOWN,
            "temperature": casting.TEMPERATURE,
            "most_tokens": casting.TOKENS,
            "prompts": [casting.PART, casting.SURROUNDINGS, casting.NEXT],
            "judge_prompts": [judging.SYSTEM, judging.ASKED],
            "dimensions": names,
        },
        data={file.name: sha256_of(file) for file in found.files},
        encoders=(load(EncoderSpec(name="static")),),
        models=who.told(),
        records={"scenes.jsonl": scene_lines(judged)}
        | ({} if who.models.by_rule else {FILE: who.lines()}),
    )


def measures(judged: Sequence[Judged]) -> dict[str, list[float]]:
    """Return the values of each measure over scenes; a scene without one is left out."""
    found: dict[str, list[float]] = {
        name: [each.scores[name] for each in judged if name in each.scores] for name in DIMENSIONS
    }
    found[AVERAGE] = [each.average for each in judged if each.average is not None]
    found["BLEU"] = [each.bleu for each in judged]
    found["ROUGE-L"] = [each.rouge_l for each in judged]
    return found


def mean(values: Sequence[float], name: str) -> Interval:
    """Return a mean over scenes with its interval."""
    return bootstrap(
        np.array(values), lambda v: float(v.mean()), purpose=f"{NAME}:{name}", draws=2000
    )


def verdicts(judged: Sequence[Judged]) -> list[Verdict]:
    """Return what was found by measure; nothing is aimed at."""
    return [
        Verdict(
            claim=name,
            found="; ".join(filter(None, (_told(values, name), _lost(judged, name)))),
            target="as it is",
            reached=None,
            theirs=THEIRS[name],
        )
        for name, values in measures(judged).items()
    ]


def _told(values: Sequence[float], name: str) -> str:
    if not values:
        return "no scene has it"
    return f"{mean(values, name).words(2)}, {len(values)} scenes"


def _lost(judged: Sequence[Judged], name: str) -> str:
    """Return how many judgements of a dimension came to nothing, in words; "" for none."""
    if name not in DIMENSIONS:
        return ""
    unread = sum(name in each.unread for each in judged)
    never = sum(name not in each.scores for each in judged) - unread
    told = ((unread, "could not be read"), (never, "never came"))
    parts = [f"{count} of {len(judged)} judgements {what}" for count, what in told if count]
    return ", ".join(parts)


def summary_table(judged: Sequence[Judged]) -> Table:
    """Return means over scenes beside those of PersMem."""
    rows = []
    for name, values in measures(judged).items():
        if values:
            at = mean(values, name)
            rows.append((name, len(values), len(judged), at.value, at.low, at.high, THEIRS[name]))
    columns = ("measure", "scenes", "of", "mean", "low", "high", "theirs")
    return Table(name="summary", title="Means over scenes", columns=columns, rows=tuple(rows))


def scene_table(judged: Sequence[Judged]) -> Table:
    """Return the scores of each scene; an empty score is one that could not be read."""
    rows = tuple(
        (each.scene.circumstance.id, len(each.scene.said), each.scene.lines, each.scene.recalled,
         each.scene.drawn, each.scene.silent,
         *(each.scores.get(name, "") for name in DIMENSIONS), each.bleu, each.rouge_l)
        for each in judged
    )  # fmt: skip
    columns = ("scene", "messages", "of_characters", "memories_shown", "next_speaker_drawn",
               "silences", *(name.lower().replace(" ", "_") for name in DIMENSIONS), "bleu",
               "rouge_l")  # fmt: skip
    return Table(name="scenes", title="Scenes", columns=columns, rows=rows)


def flaw_table(judged: Sequence[Judged]) -> Table:
    """Return all flaws."""
    rows = tuple(
        (each.scene.circumstance.id, name, flaw.severity, flaw.instance)
        for each in judged
        for name, flaws in each.flaws.items()
        for flaw in flaws
    )
    columns = ("scene", "dimension", "severity", "instance")
    return Table(name="flaws", title="Flaws that the judge found", columns=columns, rows=rows)


def scene_lines(judged: Sequence[Judged]) -> str:
    """Return the acted scenes as JSON Lines."""
    return "".join(
        json.dumps(
            {
                "scene": each.scene.circumstance.id,
                "said": [[message.character, message.text] for message in each.scene.said],
            },
            ensure_ascii=False,
        )
        + "\n"
        for each in judged
    )


def picture(judged: Sequence[Judged]) -> str:
    """Return mean scores beside those of PersMem as SVG."""
    found = {name: values for name, values in measures(judged).items() if values}
    series = {
        "ours": [sum(values) / len(values) for values in found.values()],
        "PersMem's own": [float(THEIRS[name]) for name in found],
    }
    return bars("Means over scenes, 0 to 100", labels=list(found), series=series, y="score")
