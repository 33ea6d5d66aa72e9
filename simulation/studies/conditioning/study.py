"""The study `conditioning`: 150 personas, one question, with and without persona blocks.

Source: Beliefs, memory and reflection, "Measured: conditioning is what makes a population".
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from simulation.errors import UsageError
from simulation.studies.conditioning import arms, model, tables
from simulation.studies.conditioning.answers import attribute_words, normalise, variety
from simulation.studies.conditioning.tables import Arm, Spoken, changed, distinct
from simulation.studies.intervals import spread, wilson
from simulation.studies.output import Findings, publish
from simulation.studies.speaking import FILE, NOBODY, recite, voices
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.studies.conditioning.answers import Normal
    from simulation.studies.conditioning.arms import Asked, Way
    from simulation.studies.speaking import Models, Voices

NAME: Final = "conditioning"
TARGET: Final = 57
PERSONAS: Final = 150
SEEDS: Final = (1, 2, 3, 4, 5)
SPOKEN: Final = {False: PERSONAS, True: 8}  # personas that a language model is asked as; quick
ABOUT: Final = (
    f"{PERSONAS} personas of the shipped scenario {arms.SCENARIO} are put one question: "
    f'"{arms.QUESTION}" An answer is what a persona does and what it says. Two are the same when '
    "both are, without case, punctuation, digits and all words of the ontology's attributes. The "
    "eight ways to ask tell what comes from the persona block, from a persona's first opinions "
    "and from random numbers of its own."
)


def run(folder: Path, *, quick: bool, data: Path | None, models: Models | None = None) -> str:
    """Make the study, write it into a new folder and return what to print.

    quick: one seed, and few personas of a language model.  models: a language model to ask too.

    Raises:
        UsageError: data are given, or a model cannot be used.
        RunStoppedError: a model did not answer to the end.
    """
    if data is not None:
        raise UsageError(f"the study {NAME} takes no --data")
    seeds = SEEDS[:1] if quick else SEEDS
    asked = [arms.ask(seed, size=PERSONAS) for seed in seeds]
    dropped = attribute_words(asked[0].field)
    made = [arm_of(one, way, dropped) for one in asked for way in arms.WAYS]
    if models is None or models.speaker.is_rule:
        return publish(findings(made, None, dropped=len(dropped)), folder, quick=quick)
    with voices(models, speak=recite, judge=recite, folder=folder) as who:
        # published while its answers are kept: a full disk loses none that were paid for
        spoken = speak(asked[0], who, dropped, size=SPOKEN[quick])
        return publish(findings(made, spoken, dropped=len(dropped)), folder, quick=quick)


def arm_of(asked: Asked, way: Way, dropped: frozenset[str]) -> Arm:
    """Return what the rule model answers in a way. dropped: words that count for nothing."""
    found = arms.answers(asked, way)
    normal = [normalise(answer, dropped) for answer in found]
    return Arm(seed=asked.seed, way=way, answers=found, normal=normal)


def speak(asked: Asked, who: Voices, dropped: frozenset[str], *, size: int) -> Spoken:
    """Return what a language model answers with and without blocks. size: personas."""
    blocks = {
        "without": ("",) * size,
        "with": asked.requests.cast.blocks[:size],
    }
    rows: list[tuple[str, str, str, str, str]] = []
    found: dict[str, list[Normal]] = {}
    for arm, told in blocks.items():
        texts = model.say(who.speaker, told, arm=arm)
        found[arm] = []
        for i, text in enumerate(texts):
            answer = model.read(text)
            rows.append((arm, asked.requests.cast.ids[i], answer.choice, answer.reason, text))
            if text:
                found[arm].append(normalise(answer, dropped))
    return Spoken(
        head=who.headline, arms=found, rows=tuple(rows), told=who.told(), record=who.lines()
    )


def findings(made: Sequence[Arm], spoken: Spoken | None, *, dropped: int) -> Findings:
    """Return all that was found. dropped: number of words of attributes."""
    found = [
        tables.variety_table(made),
        tables.change_table(made),
        tables.curve_table(made),
        tables.answer_table(made),
    ]
    verdicts = list(rule_verdicts(made))
    if spoken is not None:
        verdicts += spoken_verdicts(spoken)
        found += tables.spoken_tables(spoken)
    return Findings(
        name=NAME,
        title="what the persona block does to the answers to one question",
        headline=NOBODY if spoken is None else spoken.head,
        about=ABOUT,
        verdicts=tuple(verdicts),
        tables=tuple(found),
        pictures={"distinct_answers": tables.picture(made)},
        seeds=tuple(dict.fromkeys(arm.seed for arm in made)),
        configuration={
            "scenario": arms.SCENARIO,
            "question": arms.QUESTION,
            "personas": len(made[0].answers),
            "ways": [asdict(way) for way in arms.WAYS],
            "words_of_attributes": dropped,
            "asked_of_a_language_model": model.ASKED,
            "most_tokens": model.TOKENS,
        },
        models={} if spoken is None else spoken.told,
        records={} if spoken is None else {FILE: spoken.record},
    )


def rule_verdicts(made: Sequence[Arm]) -> tuple[Verdict, ...]:
    """Return the claims about the rule model."""
    count = len(made[0].answers)
    direct, full = distinct(made, arms.DIRECT), distinct(made, arms.AS_IN_A_RUN)
    alone, person = distinct(made, arms.BLOCK_ALONE), distinct(made, arms.PERSON_ALONE)
    moved, _, of = changed(made, arms.AS_IN_A_RUN, arms.NO_BLOCK_IN_A_RUN)
    return (
        Verdict(
            claim=f"without a block, called directly: different answers of {count}",
            found=spread(direct, 0),
            target="1 in every seed",
            reached=set(direct) == {1},
            theirs="1",
        ),
        Verdict(
            claim=f"with blocks, as in a run: different answers of {count}",
            found=spread(full, 0),
            target=f"at least {TARGET} in every seed",
            reached=min(full) >= TARGET,
            theirs=str(TARGET),
        ),
        Verdict(
            claim="the same with all but the block as in the direct call: one stream, temperature "
            "0, opinions at 0.5",
            found=spread(alone, 0),
            target=f"at least {TARGET}, read strictly",
            reached=min(alone) >= TARGET,
        ),
        Verdict(
            claim="block and first opinions, one stream, temperature 0",
            found=spread(person, 0),
            target="",
            reached=None,
        ),
        Verdict(
            claim="chance alone: no block, opinions at 0.5, own streams",
            found=spread(distinct(made, arms.CHANCE_ALONE), 0),
            target="",
            reached=None,
        ),
        Verdict(
            claim="answers of a run that become others when the block alone is taken away",
            found=wilson(moved, of).words(),
            target="",
            reached=None,
        ),
    )


def spoken_verdicts(spoken: Spoken) -> list[Verdict]:
    """Return what is told of the language model: nothing is aimed at."""
    return [
        Verdict(
            claim=f"the language model, {arm} blocks: different answers of {len(found)}",
            found=f"{variety(found).distinct}, with {variety(found).choices} choices"
            if found
            else "no usable answer",
            target="as it is",
            reached=None,
            theirs="1" if arm == "without" else str(TARGET),
        )
        for arm, found in spoken.arms.items()
    ]
