"""Given-circumstance acting: characters speak in turn until the scene is over.

All scenes are acted at once, round by round, so that a model gets many requests together. After
each message the speaker's model says who is next; an answer that is no name of another of the cast
is counted, and somebody is drawn among the main characters and the environment. A scene may end
after six messages and ends after twenty at the latest.

Source: CoSER, gca_evaluation/main.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from simulation.rng import Streams, stream_keys
from simulation.studies.coser.casting import (
    END,
    act,
    memories_of,
    who_is_next,
)
from simulation.studies.coser.reading import ENVIRONMENT, Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.coser.casting import Remembering
    from simulation.studies.coser.reading import Circumstance, Circumstances
    from simulation.studies.speaking import Request, Speaker

ROUNDS: Final = 20
LEAST: Final = 6  # messages before a scene may end
SEED: Final = 0


@dataclass(slots=True, kw_only=True)
class Scene:
    """A circumstance as it is acted.

    said: so far.  speaker: who is next; END when it is over.  drawn: how often nobody fit was
    named.  silent: how often nothing usable came.  recalled: memories shown, in all.
    """

    circumstance: Circumstance
    speaker: str
    said: list[Message] = field(default_factory=list)
    drawn: int = 0
    silent: int = 0
    recalled: int = 0

    @property
    def on(self) -> bool:
        """Whether somebody speaks next."""
        return self.speaker != END

    @property
    def lines(self) -> int:
        """How many messages are of characters."""
        return sum(message.character != ENVIRONMENT for message in self.said)


def play(
    found: Circumstances,
    circumstances: Sequence[Circumstance],
    speaker: Speaker,
    memory: Remembering,
    *,
    rounds: int = ROUNDS,
) -> tuple[Scene, ...]:
    """Act all scenes to their ends.

    found: whose books hold what went before.  rounds: messages of a scene, at most.
    """
    scenes = tuple(Scene(circumstance=each, speaker=each.cast[0]) for each in circumstances)
    for number in range(rounds):
        acting = [scene for scene in scenes if scene.on]
        requests = [_request(found, scene, memory, number) for scene in acting]
        for scene, text in zip(acting, speaker.say(requests), strict=True):
            _hear(scene, text)
        if number + 1 < rounds:
            _pass_on(acting, speaker, number)
    return scenes


def _request(found: Circumstances, scene: Scene, memory: Remembering, number: int) -> Request:
    part, name = scene.circumstance, scene.speaker
    recalled: tuple[str, ...] = ()
    if name != ENVIRONMENT:
        earlier = found.before(part, name)
        query = "\n".join(message.text for message in scene.said[-1:]) or part.scenario
        held = memories_of(name, earlier, scene.said)
        recalled = memory.recall(held, query, stream=f"{part.id}|{number}")
        scene.recalled += len(recalled)
    return act(part, name, scene.said, recalled, id=f"{part.id}|{number}|{name}")


def _hear(scene: Scene, text: str) -> None:
    """Let a scene take in what was said; nothing usable leaves a silence, which is counted."""
    said = text.strip().removeprefix(f"{scene.speaker}:").strip()
    scene.silent += not said
    scene.said.append(Message(character=scene.speaker, text=said or "(says nothing)"))


def _pass_on(scenes: Sequence[Scene], speaker: Speaker, number: int) -> None:
    """Find out who is next in each scene."""
    requests = [
        who_is_next(
            scene.circumstance,
            scene.said,
            id=f"{scene.circumstance.id}|{number}|next",
            rule=_by_rule(scene),
        )
        for scene in scenes
    ]
    for scene, text in zip(scenes, speaker.say(requests), strict=True):
        named = _named(text, scene.circumstance.cast)
        if named == END and len(scene.said) >= LEAST:
            scene.speaker = END
        elif named in scene.circumstance.cast and named != scene.speaker:
            scene.speaker = named
        else:
            scene.drawn += 1
            scene.speaker = _drawn(scene, number)


def _named(text: str, cast: Sequence[str]) -> str:
    """Return the name, or the end, that a text begins with, and else the text."""
    bare = text.strip().strip("\"'*.")
    fitting = [name for name in (*cast, END) if bare.casefold().startswith(name.casefold())]
    return max(fitting, key=len, default=bare)


def _drawn(scene: Scene, number: int) -> str:
    part = scene.circumstance
    among = [name for name in (*part.major, ENVIRONMENT) if name != scene.speaker]
    draw = (
        Streams(SEED)
        .uniform("coser-next-speaker", tick=number, keys=stream_keys([part.id]))
        .item()
    )
    return among[min(int(draw * len(among)), len(among) - 1)]


def _by_rule(scene: Scene) -> str:
    """Return who is next by rule: the cast in turn, until as much is said as in the book."""
    part = scene.circumstance
    if len(scene.said) >= max(LEAST, len(part.reference.messages)):
        return END
    people = [name for name in part.cast if name != ENVIRONMENT]
    turns = people if len(people) > 1 else [*people, ENVIRONMENT]
    place = turns.index(scene.speaker) if scene.speaker in turns else -1
    return turns[(place + 1) % len(turns)]
