"""The study `locomo-answers`: whether better evidence gives better answers.

Five memories of each recall are put to a model with the question; its answer is scored by LoCoMo's
F1. Only test conversations of the study `locomo` are asked about, and our mode is as it ships.

Source: PersMem, section 4.4 and Table 8 (mean answer F1 of PersMem above Generative-Agents scoring
by .0169 [.0027, .0310]; much the same where the evidence was found).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.encoders import EncoderSpec, load
from simulation.errors import UsageError
from simulation.studies.intervals import bootstrap
from simulation.studies.locomo import asking, methods
from simulation.studies.locomo.answers_rows import ORACLE, PAIRS, K, tables
from simulation.studies.locomo.asking import Answerer, asked_of
from simulation.studies.locomo.comparing import AGENTS, OURS, PERSMEM, mean
from simulation.studies.locomo.conversations import ADVERSARIAL
from simulation.studies.locomo.f1 import score
from simulation.studies.locomo.memories import Reader, sampled
from simulation.studies.locomo.methods import HYBRID, LEXICON
from simulation.studies.locomo.study import SEED, given
from simulation.studies.locomo.tuning import rows_of
from simulation.studies.output import Findings, publish, sha256_of
from simulation.studies.plots import bars
from simulation.studies.speaking import FILE, Models, voices
from simulation.studies.speaking_records import read_calls
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simulation.encoders import Encoder
    from simulation.rng import FloatArray
    from simulation.studies.locomo.asking import Asked
    from simulation.studies.locomo.conversations import Conversation, Question
    from simulation.studies.locomo.memories import Memories
    from simulation.studies.speaking import Speaker, Voices

    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]

NAME: Final = "locomo-answers"
SAMPLE: Final = 40
"""Questions of each conversation that a language model is asked; a rule is asked all."""
HERE_SAMPLE: Final = 20
"""The same of a model on this machine, which may take a minute for a few."""
QUICK_SAMPLE: Final = 20
THEIRS: Final = "0.0169 [0.0027, 0.0310]"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answered:
    """Questions with the answers of each method.

    conversation, category: (N,) of each question.  f1, recall: (N,) by method.
    asked, said: N of each method.
    """

    names: tuple[str, ...]
    conversation: IntArray
    category: IntArray
    f1: Mapping[str, FloatArray]
    recall: Mapping[str, FloatArray]
    asked: Mapping[str, Sequence[Asked]]
    said: Mapping[str, Sequence[str]]


def run(folder: Path, *, quick: bool, data: Path | None, models: Models | None = None) -> str:
    """Make the study, write it into a new folder and return what to print.

    models: who answers; default, a rule.

    Raises:
        UsageError: There are no data or no model, or they cannot be used.
        RunStoppedError: What was asked could not be answered to the end.
    """
    models = models or Models()
    conversations, split = given(data, NAME, quick=quick)
    test = [conversations[i] for i in split.test]
    encoder = load(EncoderSpec(name="static"))
    reader = Reader((encoder,))
    prepared = [reader.prepare(one, _questions(one, models, quick=quick)) for one in test]
    asked = questions_of(prepared, encoder.name)
    everything = [each for one in asked.values() for each in one]
    rule = Answerer(everything)
    with voices(models, speak=rule, judge=rule, folder=folder) as heard:
        answered = answer(prepared, asked, heard.speaker)
        findings = _findings(answered, test, encoder, heard, data)
        return publish(findings, folder, quick=quick)


def questions_of(prepared: Sequence[Memories], encoder: str) -> dict[str, list[Asked]]:
    """Return what is asked, by method; the last is put the evidence itself."""
    found: dict[str, list[Asked]] = {}
    for memories in prepared:
        for method, places in recalled(memories, encoder).items():
            found.setdefault(method, []).extend(
                asked_of(memories.conversation, memories.questions, places, method, seed=SEED)
            )
    return found


def recalled(memories: Memories, encoder: str) -> dict[str, list[list[int]]]:
    """Return the places of the turns that each method finds for each question."""
    used = memories.all()
    scores = {
        AGENTS: methods.generative_agents(memories, used, encoder),
        PERSMEM: methods.persmem(memories, used, encoder),
    }
    tops = {name: methods.best(memories, used, each) for name, each in scores.items()}
    tops[OURS] = methods.shipped(memories, encoder)
    found = {name: each[:, :K].tolist() for name, each in tops.items()}
    found[ORACLE] = [list(question.evidence) for question in memories.questions]
    return found


def answer(
    prepared: Sequence[Memories], asked: Mapping[str, Sequence[Asked]], speaker: Speaker
) -> Answered:
    """Return the questions with their answers."""
    said = {
        method: [each.read(text) for each, text in zip(some, _say(speaker, some), strict=True)]
        for method, some in asked.items()
    }
    sizes = [len(memories.questions) for memories in prepared]
    questions = [question for memories in prepared for question in memories.questions]
    return Answered(
        names=tuple(each.id.rpartition("|")[0] for each in asked[ORACLE]),
        conversation=np.repeat(np.arange(len(prepared)), sizes),
        category=np.array([question.category for question in questions], np.int64),
        f1={
            method: np.array([score(q, text) for q, text in zip(questions, texts, strict=True)])
            for method, texts in said.items()
        },
        recall={method: _found(prepared, asked[method]) for method in asked},
        asked=asked,
        said=said,
    )


def _say(speaker: Speaker, asked: Sequence[Asked]) -> list[str]:
    return speaker.say([each.request for each in asked])


def _found(prepared: Sequence[Memories], asked: Sequence[Asked]) -> FloatArray:
    """Return the share of evidence among the turns that were put, (N,)."""
    place = {
        id(turn): i for memories in prepared for i, turn in enumerate(memories.conversation.turns)
    }
    shares = [
        len({place[id(turn)] for turn in each.turns} & set(each.question.evidence))
        / len(each.question.evidence)
        for each in asked
    ]
    return np.array(shares)


def _questions(conversation: Conversation, models: Models, *, quick: bool) -> tuple[Question, ...]:
    """Return what is asked about a conversation: a sample, or what an earlier study asked."""
    if models.replay is None or models.ask:
        return sampled(conversation, most=_most(models, quick=quick), seed=SEED)
    asked = {record.persona_id or "" for record in read_calls(models.replay)}
    wanted = {tuple(name.split("|")[1:3]) for name in asked}
    found = tuple(
        question
        for i, question in enumerate(conversation.questions)
        if question.evidence and (conversation.id, str(i)) in wanted
    )
    if not found:
        raise UsageError(f'{models.replay} holds no answer about "{conversation.id}"')
    return found


def _most(models: Models, *, quick: bool) -> int | None:
    if quick:
        return QUICK_SAMPLE
    if models.speaker.is_rule:
        return None
    return HERE_SAMPLE if models.speaker.is_here else SAMPLE


def _findings(
    answered: Answered,
    test: Sequence[Conversation],
    encoder: Encoder,
    heard: Voices,
    data: Path | None,
) -> Findings:
    found = {method: values.mean() for method, values in answered.f1.items()}
    return Findings(
        name=NAME,
        title="whether better evidence gives better answers",
        headline=heard.headline,
        about=(
            f"{len(answered.category)} questions of "
            f"{', '.join(one.id for one in test)}, each with {K} memories of every recall and "
            f"with the evidence itself; scored by LoCoMo's F1. {_undecided(answered)}"
        ),
        verdicts=tuple(_verdicts(answered)),
        tables=tables(answered),
        pictures={
            "f1": bars(
                "Mean answer F1",
                labels=list(found),
                series={"F1": [float(value) for value in found.values()]},
                y="F1",
            )
        },
        seeds=(SEED,),
        configuration={
            "memories": K,
            "questions": len(answered.category),
            "temperature": asking.TEMPERATURE,
            "max_tokens": asking.TOKENS,
            "bm25": rows_of(LEXICON),
            "hybrid": rows_of(HYBRID),
        },
        data={data.name: sha256_of(data)} if data is not None else {},
        encoders=(encoder,),
        models=heard.told(),
        records={FILE: heard.lines()},
    )


def _verdicts(answered: Answered) -> Iterator[Verdict]:
    kinds = {"": answered.category > 0, " but adversarial": answered.category != ADVERSARIAL}
    for kind, part in kinds.items():
        yield from (_pair(answered, pair, part, kind) for pair in PAIRS if part.any())
    for method in (AGENTS, PERSMEM, OURS, ORACLE):
        whole = answered.recall[method] == 1.0
        share = answered.f1[method][whole].mean() if whole.any() else float("nan")
        yield Verdict(
            claim=f"F1 where all evidence was found, {method}",
            found=f"{share:.3f} of {int(whole.sum())} questions",
            target="",
            reached=None,
            theirs="similar for both" if method in (AGENTS, PERSMEM) else "",
        )


def _pair(answered: Answered, pair: tuple[str, str], part: BoolArray, kind: str) -> Verdict:
    method, other = pair
    values = (answered.f1[method] - answered.f1[other])[part]
    purpose = f"F1 of {method} - {other}"
    clusters = answered.conversation[part]
    found = bootstrap(values, mean, clusters=clusters, purpose=purpose)
    questions = bootstrap(values, mean, purpose=purpose)
    return Verdict(
        claim=f"mean answer F1 of {method} above {other}, all questions{kind}",
        found=f"{found.words(4)} over conversations, {questions.words(4)} over questions",
        target="",
        reached=None,
        theirs=THEIRS if pair == (PERSMEM, AGENTS) and not kind else "",
    )


def _undecided(answered: Answered) -> str:
    """Say how many adversarial questions were answered by no choice, or by both."""
    count = sum(text == asking.NO_CHOICE for texts in answered.said.values() for text in texts)
    return f"{count} answers to adversarial questions chose nothing, or both; they score 0."
