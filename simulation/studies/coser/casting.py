"""A character's part: what it remembers, and how it is asked to act.

Every character has a memory of its own, recalled by PersMem as in a run: what was said in earlier
conversations of the book in which it took part, and what was said in this one before the last
messages, which stand in the prompt. Its personality is neutral, 0.5 on all traits; the prompt
names no trait and no feeling. Memories carry the affect that the word list gives them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.appraisers import AppraiserSpec
from simulation.appraisers import load as load_appraiser
from simulation.scenario.model import TRAITS
from simulation.studies import recalling
from simulation.studies.corpus import Corpus
from simulation.studies.coser.reading import ENVIRONMENT
from simulation.studies.speaking import Request, one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.appraisers import Appraiser
    from simulation.encoders import Encoder
    from simulation.studies.coser.reading import Circumstance, Conversation, Message

RECENT: Final = 6  # messages of the present conversation that the prompt holds
SHOWN: Final = 5  # memories, at most
TEMPERATURE: Final = 0.75
TOKENS: Final = 160
END: Final = "<END CHAT>"
KIND: Final = "big_five"
_THOUGHT: Final = re.compile(r"\[[^\]]*\]")
_SPACE: Final = re.compile(r"[ \t]+")

PART: Final = """\
You act {name} in a scene of {book}.

Who you are:
{profile}

The scene:
{scenario}

Who else is there:
{others}

What moves you:
{motive}

What comes to your mind:
{memories}

Say what {name} says next, in at most 60 words. Put what {name} does in (parentheses) and what \
{name} only thinks in [brackets]. Speak for nobody else."""
SURROUNDINGS: Final = """\
You describe the surroundings in a scene with {major}. In one to three sentences, say what \
changes around them, or what bystanders do. Never let {major} speak or act.

The scene:
{scenario}"""
NEXT: Final = """\
A scene is acted. Say who speaks next: one of {cast}. Answer with the name alone, or with {end} \
when the scene is over.

The scene:
{scenario}"""
NOTHING: Final = "Nothing in particular."
BEGIN: Final = "The scene begins."


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Something that was said. age: messages ago, >= 1."""

    text: str
    age: int


class Remembering:
    """Recalls by PersMem with a neutral personality."""

    def __init__(self, encoder: Encoder) -> None:
        """Start with nobody's memories."""
        self._encoder = encoder
        self._appraiser: Appraiser = load_appraiser(AppraiserSpec(name="lexicon"))
        self._neutral = np.full((1, len(TRAITS[KIND])), 0.5)

    def recall(self, memories: Sequence[Memory], query: str, *, stream: str) -> tuple[str, ...]:
        """Return what comes to mind, at most `SHOWN` texts, best first.

        stream: names the draws.
        """
        if not memories:
            return ()
        texts = tuple(memory.text for memory in memories)
        corpus = Corpus(
            name="coser",
            ids=tuple(str(i) for i in range(len(texts))),
            texts=texts,
            topics=("",) * len(texts),
            affect=self._appraiser.appraise(texts, None),
            overgeneral=np.zeros(len(texts), np.bool_),
        )
        bank = recalling.bank(corpus, self._encoder)
        ages = np.array([memory.age for memory in memories])
        mind = recalling.Minds(bank, KIND, self._neutral, ages=ages)
        asked = recalling.ask(bank, personas=[0], cues=[query], streams=[stream])
        found, _ = mind.retrieve(asked)
        places = [at for at in found.position[0].tolist() if at >= 0]
        return tuple(dict.fromkeys(texts[at] for at in places))[:SHOWN]


def memories_of(
    name: str, earlier: Sequence[Conversation], said: Sequence[Message]
) -> list[Memory]:
    """Return what a character can remember, oldest first: all but the last messages.

    earlier: conversations before this one, oldest first.  said: in this one so far.
    """
    past = [message for each in earlier for message in each.messages]
    whole = [*past, *said[: max(0, len(said) - RECENT)]]
    count = len(past) + len(said)
    return [Memory(text=line_for(name, message), age=count - i) for i, message in enumerate(whole)]


def act(
    scene: Circumstance,
    name: str,
    said: Sequence[Message],
    recalled: Sequence[str],
    *,
    id: str,  # noqa: A002 - the name of a request's
) -> Request:
    """Return the request for what a character, or the environment, says next."""
    last = "\n".join(line_for(name, message) for message in said[-RECENT:]) or BEGIN
    return Request(
        id=id,
        system=_surroundings(scene) if name == ENVIRONMENT else _part(scene, name, recalled),
        messages=(("user", f"{last}\n{name}:"),),
        temperature=TEMPERATURE,
        max_tokens=TOKENS,
        material=(scene.scenario,) if name == ENVIRONMENT else _cues(scene, name, recalled),
    )


def who_is_next(scene: Circumstance, said: Sequence[Message], *, id: str, rule: str) -> Request:  # noqa: A002 - as above
    """Return the request for who speaks next. rule: what is answered by rule."""
    last = "\n".join(line_for("", message) for message in said[-RECENT:])
    return Request(
        id=id,
        system=NEXT.format(cast=", ".join(scene.cast), end=END, scenario=scene.scenario),
        messages=(("user", f"{last}\n\nWho is next?"),),
        temperature=0.0,
        max_tokens=16,
        material=(rule,),
        form=one_of(*scene.cast, END),
    )


def line_for(name: str, message: Message) -> str:
    """Return a message as a line that a character can know: of others without their thoughts."""
    own = message.character == name
    text = message.text if own else without_thoughts(message.text)
    return f"{message.character}: {_SPACE.sub(' ', text.replace(chr(10), ' ')).strip()}"


def without_thoughts(text: str) -> str:
    """Return a message without what is only thought, in brackets.

    >>> without_thoughts("[He lies.] (nods) I see.")
    '(nods) I see.'
    """
    return _SPACE.sub(" ", _THOUGHT.sub("", text)).strip()


def _part(scene: Circumstance, name: str, recalled: Sequence[str]) -> str:
    others = [f"- {n}: {text}" for n, text in scene.profiles.items() if n != name]
    return PART.format(
        name=name,
        book=scene.book,
        profile=scene.profiles.get(name, NOTHING),
        scenario=scene.scenario,
        others="\n".join(others) or "Nobody that matters.",
        motive=scene.motives.get(name, NOTHING),
        memories="\n".join(f"- {text}" for text in recalled) or NOTHING,
    )


def _surroundings(scene: Circumstance) -> str:
    return SURROUNDINGS.format(major=", ".join(scene.major), scenario=scene.scenario)


def _cues(scene: Circumstance, name: str, recalled: Sequence[str]) -> tuple[str, ...]:
    """Return what a rule can say: the memories, else what moves the character, else the scene."""
    return tuple(recalled[:2]) or (scene.motives.get(name) or scene.scenario,)
