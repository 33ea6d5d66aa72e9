"""Four dimensions of an acted scene, each from 0 to 100 less what its flaws cost.

The judge reads plot, scene, characters, the book's own conversation and the acted one, both
without what is only thought, and lists flaws of one dimension, each with a severity from 1 (minor)
to 5 (severe). The score is, as in CoSER's code,

    max(0, min(100, 100 - 5 (sum of severities - 0.3 messages of characters)))

so that long scenes are not punished for being long. A flaw without a severity counts as 1. An
answer that cannot be read, or that never came, is counted, and the dimension left out of that
scene: CoSER asks again up to five times, and counts a severity that is no whole number as nothing.

Source: CoSER, gca_evaluation/main.py and prompts.py (github.com/Neph0s/CoSER, commit 4d6ed0f); the
kinds of flaws are theirs, the words of the prompt are ours.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simulation.studies.coser.casting import without_thoughts
from simulation.studies.coser.overlap import bleu, rouge_l, tokens
from simulation.studies.coser.reading import ENVIRONMENT
from simulation.studies.speaking import Form, Request
from simulation.studies.speaking_forms import closed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.coser.acting import Scene
    from simulation.studies.coser.reading import Message
    from simulation.studies.speaking import Speaker

DIMENSIONS: Final = {
    "Storyline Consistency": "whether what characters feel and do agrees with the book's own "
    "conversation. A flaw: a character reacts in another way than there.",
    "Anthropomorphism": "whether characters behave as human beings. Flaws: no goals, decisions or "
    "preferences of their own, or the manner of a helpful assistant; shallow feelings, or all "
    "feelings spoken out; a personality that changes from line to line; no sense of others.",
    "Character Fidelity": "whether the main characters ({major}) are those of the book. Flaws: "
    "words that do not suit them; knowledge that they lack, or lack of knowledge that they have; "
    "behaviour against their nature; the wrong tone towards others.",
    "Storyline Quality": "whether the conversation is well told. Flaws: no progress, or an "
    "unnatural one; wordiness; repetition of others or of oneself, the more the worse; "
    "contradictions.",
}
COST: Final = 5.0  # points a unit of severity
LENIENCE: Final = 0.3  # units of severity a message is forgiven
TOKENS: Final = 1200
MOST: Final = 12  # flaws in a fixed form, of so many characters: such a list fits into TOKENS
INSTANCE: Final = 200
SEVERITIES: Final = (1, 2, 3, 4, 5)
FORM: Final = Form(
    schema=closed(
        {
            "flaws": {
                "type": "array",
                "maxItems": MOST,
                "items": closed(
                    {
                        "instance": {"type": "string", "maxLength": INSTANCE},
                        "severity": {"type": "integer", "enum": [*SEVERITIES]},
                    }
                ),
            }
        }
    )
)
_LIST: Final = re.compile(r'"flaws"\s*:')
SYSTEM: Final = """\
You are a critic of acted scenes. Judge one thing: {name}, that is, {what}

List every flaw of this kind, and no other, with a severity from 1 (minor) to 5 (severe). \
Answer with JSON alone: {{"flaws": [{{"instance": "what is wrong", "severity": 3}}]}}, with an \
empty list if there is none."""
ASKED: Final = """\
The plot of {book}: {summary}

The scene: {scenario}

The characters:
{profiles}

The book's own conversation:
{reference}

The acted conversation, which you judge:
{acted}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """Something wrong. severity: 1 to 5."""

    instance: str
    severity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A scene with its scores.

    scores: by dimension, [0, 100]; without those that could not be read.  flaws: by dimension.
    unread: dimensions whose judgement came and could not be read.
    bleu, rouge_l: [0, 100], beside the book's own conversation.
    """

    scene: Scene
    scores: dict[str, float]
    flaws: dict[str, tuple[Flaw, ...]]
    bleu: float
    rouge_l: float
    unread: tuple[str, ...] = ()

    @property
    def average(self) -> float | None:
        """The mean of the four; None unless all are there."""
        found = list(self.scores.values())
        return sum(found) / len(found) if len(found) == len(DIMENSIONS) else None


def judge_all(scenes: Sequence[Scene], judge: Speaker) -> tuple[Judged, ...]:
    """Return scenes with their scores."""
    requests = [_request(scene, name) for scene in scenes for name in DIMENSIONS]
    answers = iter(judge.say(requests))
    return tuple(judged(scene, {name: next(answers) for name in DIMENSIONS}) for scene in scenes)


def judged(scene: Scene, answers: dict[str, str]) -> Judged:
    """Return a scene with its scores. answers: of the judge, by dimension."""
    read = {name: flaws_in(text) for name, text in answers.items()}
    flaws = {name: found for name, found in read.items() if found is not None}
    acted, reference = _plain(scene.said), _plain(scene.circumstance.reference.messages)
    return Judged(
        scene=scene,
        scores={name: score(found, lines=scene.lines) for name, found in flaws.items()},
        flaws=flaws,
        bleu=bleu(tokens(acted), tokens(reference)),
        rouge_l=rouge_l(tokens(acted), tokens(reference)),
        unread=tuple(name for name, text in answers.items() if text and name not in flaws),
    )


def score(flaws: Sequence[Flaw], *, lines: int) -> float:
    """Return the score of a dimension. lines: messages of characters.

    >>> score([Flaw(instance="", severity=5), Flaw(instance="", severity=3)], lines=10)
    75.0
    """
    total = sum(flaw.severity for flaw in flaws)
    return max(0.0, min(100.0, 100.0 - COST * (total - LENIENCE * lines)))


def flaws_in(text: str) -> tuple[Flaw, ...] | None:
    """Return the flaws of a judge's answer; None where it cannot be read without a doubt.

    It is one JSON object, with words around it or not, that has one list `flaws`, or holds an
    object that has (as CoSER's form does). All flaws are as asked for, or none is read.

    >>> flaws_in('Here: {"flaws": [{"instance": "x", "severity": 2}]}')
    (Flaw(instance='x', severity=2),)
    >>> flaws_in('{"flaws": [{"severity": 2}, {"severity": "5"}]}') is None
    True
    """
    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0 or len(_LIST.findall(text)) != 1:
        return None
    try:
        value = json.loads(text[start:end], object_pairs_hook=_object)
        found = next(each["flaws"] for each in (value, *value.values()) if _has_flaws(each))
        return tuple(map(_flaw, found))
    except (ValueError, RecursionError, StopIteration):
        return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(pairs)  # which of two is meant?
    return found


def _has_flaws(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("flaws"), list)


def _flaw(item: object) -> Flaw:
    """Return a flaw of an answer.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(item, dict):
        raise ValueError(item)  # noqa: TRY004 - caught with all else that cannot be read
    instance, severity = item.get("instance", ""), item.get("severity", 1)
    if type(severity) is not int or severity not in SEVERITIES or not isinstance(instance, str):
        raise ValueError(item)
    instance.encode()  # half a pair of surrogates can be written nowhere
    return Flaw(instance=instance, severity=severity)


def _plain(messages: Sequence[Message]) -> str:
    """Return a conversation without thoughts, a line a message, each with its speaker."""
    return "\n\n".join(
        f"{m.character}: {m.text if m.character == ENVIRONMENT else without_thoughts(m.text)}"
        for m in messages
    )


def _request(scene: Scene, name: str) -> Request:
    part = scene.circumstance
    acted, reference = _plain(scene.said), _plain(part.reference.messages)
    what = DIMENSIONS[name].format(major=", ".join(part.major))
    asked = ASKED.format(
        book=part.book,
        summary=part.summary,
        scenario=part.scenario,
        profiles="\n\n".join(f"{who}: {text}" for who, text in part.profiles.items()),
        reference=reference,
        acted=acted,
    )
    return Request(
        id=f"{part.id}|{name}",
        system=SYSTEM.format(name=name, what=what),
        messages=(("user", asked),),
        temperature=0.0,
        max_tokens=TOKENS,
        material=(acted, reference),
        form=FORM,
    )


def by_rule(request: Request) -> str:
    """List as flaws what a count can find: repeated lines, and lines far from the book's.

    It stands for a judge where there is none, and sees the same in every dimension.
    """
    acted, reference = request.material
    held = set(tokens(reference))
    flaws, seen = [], set[str]()
    for line in acted.split("\n\n"):
        words = tokens(line)
        if line in seen:
            flaws.append({"instance": f"repeated: {line}", "severity": 2})
        elif words and sum(word in held for word in words) * 2 < len(words):
            flaws.append({"instance": f"far from the book: {line}", "severity": 1})
        seen.add(line)
    return json.dumps({"flaws": flaws})
