"""What two memories of one simulated user bring back to the same questions.

The user is that of the study `dam`, unchanged. The full memory keeps every observation in the
words in which it was said; ours keeps a unit a side, in the words of what has settled. Both
recall by the same two stages, the best five.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simulation.attitudes import as_said
from simulation.studies.dam import vocabulary
from simulation.studies.dam.dialogues import OBJECTS, dialogues
from simulation.studies.dam.growth import TOP, facts_of, grow, stream_of

if TYPE_CHECKING:
    from simulation.attitudes import AttitudeMemory
    from simulation.encoders import Encoder
    from simulation.studies.dam.dialogues import Dialogues

SEEDS: Final = (0, 1, 2, 3, 4)
MEMORIES: Final = ("full", "dam")
POLARITIES: Final = ("positive", "negative", "neutral")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How much the user says. per_dialogue: observations in each of `count` dialogues.

    every: of the questions, one a dialogue, only each so many is asked.
    """

    name: str
    per_dialogue: int
    count: int
    every: int = 1


WORLDS: Final = (
    World(name="about 40 %", per_dialogue=1, count=300),
    World(name="redundant", per_dialogue=5, count=500, every=2),
)
"""The first was chosen by the size of the memories alone: one observation in each of 300 dialogues
makes ours 40 % of all on average over the seeds. The second is that of `dam`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, and what is known about its answer.

    id: unlike any other of a study.  dialogue: what the question is about was said there.
    truth: the user's attitude to the side asked about, which neither memory was told.
    said: all that the user said of that side, in order.
    recalled: what comes to mind, by memory, best first.
    """

    id: str
    world: str
    seed: int
    dialogue: int
    question: str
    thing: str
    side: str
    truth: str
    said: tuple[str, ...]
    recalled: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large the memories are, in units and in characters of their texts."""

    world: str
    seed: int
    full_units: int
    dam_units: int
    full_characters: int
    dam_characters: int

    @property
    def share(self) -> float:
        """Our part of the units."""
        return self.dam_units / self.full_units


def cases(world: World, seed: int, encoder: Encoder) -> tuple[tuple[Case, ...], Size]:
    """Return the questions to both memories of a seed's user, and how large these are."""
    user = dialogues(seed, per_dialogue=world.per_dialogue, count=world.count)
    stream = stream_of(user)
    memories = {
        "full": facts_of(stream, encoder, told=as_said),
        "dam": grow(stream, encoder).memory,
    }
    found = tuple(
        _case(world, user, number, memories) for number in range(0, len(user.asked), world.every)
    )
    size = Size(
        world=world.name,
        seed=seed,
        full_units=len(memories["full"]),
        dam_units=len(memories["dam"]),
        full_characters=_characters(memories["full"]),
        dam_characters=_characters(memories["dam"]),
    )
    return found, size


def _case(world: World, user: Dialogues, number: int, memories: dict[str, AttitudeMemory]) -> Case:
    row = int(user.asked[number])
    obj, aspect = int(user.object[row]), int(user.aspect[row])
    same = ((user.object == obj) & (user.aspect == aspect)).nonzero()[0].tolist()
    question = user.questions[number]
    return Case(
        id=f"{world.name}-{user.seed}-{number}",
        world=world.name,
        seed=user.seed,
        dialogue=int(user.dialogue[row]),
        question=question,
        thing=OBJECTS[obj][1],
        side=vocabulary.ASPECTS[aspect],
        truth=POLARITIES[int(user.attitude[obj, aspect])],
        said=tuple(user.texts[i] for i in same),
        recalled={
            name: tuple(unit.summary for unit in memory.recall(question, TOP))
            for name, memory in memories.items()
        },
    )


def _characters(memory: AttitudeMemory) -> int:
    return sum(len(unit.summary) for unit in memory.units())
