"""Prompts that ask a persona about itself: reflections, probes, surveys, interviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.prompts.fences import cut, fenced, titled
from simulation.prompts.parts import beliefs, keys, persona_prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.base import Cast, ProbeRequests, ReflectionRequests
    from simulation.models.interviews import InterviewRequests
    from simulation.models.surveys import SurveyRequests
    from simulation.providers.base import Prompt


def reflection(requests: ReflectionRequests, i: int) -> Prompt:
    """Return the prompt of the i-th reflection.

    Raises:
        EmptyPersonaBlockError: the persona has no block (method.md 6).
    """
    cast, row = requests.cast, int(requests.row[i])
    why = "Something has just moved you." if requests.sharp[i] else "Some time has passed."
    memories = [
        fenced("memory", cut(requests.text(text)), tick=str(tick))
        for text, _, tick in requests.memories[i]
    ]
    return persona_prompt(
        cast,
        row,
        titled(f"Now: tick {requests.tick}, you look back", [why]),
        titled("What you believed before", beliefs(cast, requests.before[i])),
        titled("What you believe now", beliefs(cast, requests.beliefs[i])),
        titled("What you remember since then", memories or ["Nothing in particular."]),
        titled("What do you make of it?", _reflection_shape(cast)),
    )


def probe(requests: ProbeRequests, i: int) -> Prompt:
    """Return the prompt of the i-th probe question; it holds no answer but the persona's block.

    Raises:
        EmptyPersonaBlockError: the persona has no block (method.md 6).
    """
    shape = [
        'Answer with one JSON object that has the key "answer": a few words, as this person',
    ]
    return persona_prompt(
        requests.cast,
        int(requests.row[i]),
        titled("A question about yourself", [fenced("question", requests.question[i])]),
        titled("What do you answer?", shape),
    )


def survey(requests: SurveyRequests, i: int) -> Prompt:
    """Return the prompt of the i-th persona to a survey question.

    Neither the points of a scale nor its anchors are told: the answer is free (Maier et al. 2025).

    Raises:
        EmptyPersonaBlockError: the persona has no block (method.md 6).
    """
    cast, row = requests.cast, int(requests.row[i])
    memories = [fenced("memory", cut(text), tick=str(tick)) for text, tick in requests.memories(i)]
    return persona_prompt(
        cast,
        row,
        titled(
            f"Now: tick {requests.tick}, somebody asks you",
            ["What you believe:", *beliefs(cast, requests.beliefs[i])],
        ),
        titled("What comes to your mind", memories or ["Nothing in particular."]),
        titled("A survey question", [fenced("question", requests.question)]),
        titled("What do you answer?", _survey_shape(requests.choices)),
    )


def interview(requests: InterviewRequests, i: int) -> Prompt:
    """Return the prompt of the i-th question of an interview.

    Raises:
        EmptyPersonaBlockError: the persona has no block (method.md 6).
    """
    cast, row = requests.cast, int(requests.row[i])
    memories = [fenced("memory", cut(text), tick=str(tick)) for text, tick in requests.memories(i)]
    feelings = [fenced("attitude", cut(text)) for text in requests.attitudes(i)]
    earlier = [
        line
        for asked, said in requests.earlier(i)
        for line in (fenced("question", cut(asked)), fenced("answer", cut(said)))
    ]
    return persona_prompt(
        cast,
        row,
        titled(
            f"Now: tick {requests.tick}, somebody talks with you",
            ["What you believe:", *beliefs(cast, requests.beliefs[i])],
        ),
        titled("What comes to your mind", memories or ["Nothing in particular."]),
        *([titled("How you feel about things", feelings)] if feelings else []),
        *([titled("What was said before", earlier)] if earlier else []),
        titled("You are asked", [fenced("question", cut(requests.question[i]))]),
        titled(
            "What do you answer?",
            [
                'Answer with one JSON object that has the key "answer":',
                "one to five sentences, as this person",
            ],
        ),
    )


def _survey_shape(choices: Sequence[str]) -> list[str]:
    """Return the shape of an answer to a survey question."""
    if not choices:
        return [
            'Answer with one JSON object that has the key "answer":',
            "one to three sentences in your own words, without a number",
        ]
    return [
        "Choose one of these:",
        *(fenced("choice", choice) for choice in choices),
        'Answer with one JSON object that has the key "answer": the choice, word for word',
    ]


def _reflection_shape(cast: Cast) -> list[str]:
    """Return the shape of an answer to a reflection."""
    return [
        "Answer with one JSON object that has these keys:",
        '- "beliefs": what you believe after thinking it over, from 0 to 1, null if it stays:',
        f"  {{{keys(cast, 'null')}}}",
        '- "memories": a list of one to three short sentences of your own, in the first person',
    ]
