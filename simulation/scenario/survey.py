"""What a scenario can say of surveys, and what their types cannot say (docs/surveys.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from simulation.ontology.answers import normalise
from simulation.scenario.anchors import ANCHORS, LABELS, AnchorName, AnchorSets
from simulation.scenario.parts import (
    VISIBLE_PATTERN,
    Identifier,
    Part,
    Text,
    Ticks,
    Unit,
    shape,
)
from simulation.yaml_reading import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.scenario.draft import Draft
    from simulation.yaml_reading import KeyPath

    Found = Iterator[tuple[KeyPath, str]]

FEWEST, MOST = 2, 11  # points of a scale
MOST_CHOICES = 50
MOST_SETS = 20
STATEMENT_LENGTH = 500
DEFAULT_ANCHORS: AnchorName = "agreement"
_OF_LIKERT = ("scale", "anchors", "epsilon", "temperature")


def _listed(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Statement = Annotated[
    str, Field(min_length=1, max_length=STATEMENT_LENGTH, pattern=VISIBLE_PATTERN)
]
AnchorSet = Annotated[tuple[Statement, ...], BeforeValidator(_listed)]
Anchors = Annotated[
    Annotated[AnchorName, Tag("string")]
    | Annotated[tuple[AnchorSet, ...], Field(min_length=1), Tag("array")],
    Discriminator(shape),
]


class Survey(Part):
    """A question put to personas after the turns of some ticks; it changes nothing in them."""

    id: Identifier = Field(description="Short name, such as intent; the answers are under it.")
    tick: Ticks = Field(description="Tick, or ticks, after whose turns it is asked.")
    question: Text = Field(description="What is asked, as personas read it.")
    kind: Literal["likert", "choice"] = Field(
        default="likert",
        description="`likert`: a free answer, rated by its similarity to anchor statements; "
        "`choice`: one of `choices`.",
    )
    target: str | None = Field(
        default=None,
        description="Dimension or claim that it is about: the rule model answers from it; default "
        "the mean of the dimensions.",
    )
    share: Unit = Field(
        default=1.0, description="Of all personas, active or not; the same ones at every tick."
    )
    scale: tuple[Statement, ...] | None = Field(
        default=None,
        description="likert: what the points are called, from low to high, 2 to 11. Default those "
        "of the shipped anchors; without `anchors`, the names are the anchors.",
    )
    anchors: Anchors | None = Field(
        default=None,
        description="likert: shipped anchors by name, or own sets, each with one statement per "
        "point. Default agreement.",
    )
    choices: tuple[Statement, ...] = Field(
        default=(), description="choice: what can be chosen, 2 to 50, from low to high."
    )
    epsilon: Annotated[float, Field(ge=0.0, le=10.0, allow_inf_nan=False)] = Field(
        default=0.0, description="likert: added to the similarity of the farthest anchor."
    )
    temperature: Annotated[float, Field(ge=0.01, le=100.0, allow_inf_nan=False)] = Field(
        default=1.0, description="likert: below 1 sharpens the distributions, above flattens."
    )

    @property
    def ticks(self) -> tuple[int, ...]:
        """The ticks at which it is asked."""
        return (self.tick,) if isinstance(self.tick, int) else self.tick

    @property
    def anchor_name(self) -> AnchorName | None:
        """Name of the shipped anchors in use; None for own ones and for a choice."""
        if self.kind == "choice" or isinstance(self.anchors, tuple):
            return None
        if self.anchors is None:
            return None if self.scale else DEFAULT_ANCHORS
        return self.anchors

    @property
    def anchor_sets(self) -> AnchorSets:
        """Sets of anchors, lowest point first; none for a choice."""
        if self.kind == "choice":
            return ()
        if self.anchor_name is not None:
            return ANCHORS[self.anchor_name]
        return self.anchors if isinstance(self.anchors, tuple) else (self.scale or (),)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the points of the scale, or the choices, are called, from low to high."""
        if self.kind == "choice":
            return self.choices
        if self.scale:
            return self.scale
        if self.anchor_name is not None:
            return LABELS[self.anchor_name]
        return tuple(str(point) for point in range(1, len(self.anchor_sets[0]) + 1))


def survey_problems(draft: Draft) -> Found:
    """Yield what is wrong with surveys, references apart, as (key path, message)."""
    seen: dict[str, int] = {}
    for index, item in draft.items("surveys"):
        name = item.get("id") if isinstance(item, dict) else None
        if isinstance(name, str) and name in seen:
            yield (
                ("surveys", index, "id"),
                f"the id {quoted(name)} is taken by surveys[{seen[name]}]; ids must differ",
            )
        if isinstance(name, str):
            seen.setdefault(name, index)
        yield from _choice(draft, index) if _kind(draft, index) == "choice" else ()
        yield from _likert(draft, index) if _kind(draft, index) == "likert" else ()


def _kind(draft: Draft, index: int) -> object:
    place: KeyPath = ("surveys", index, "kind")
    return draft.value(*place) if draft.wrote(*place) else "likert"


def _choice(draft: Draft, index: int) -> Found:
    place: KeyPath = ("surveys", index)
    for key in _OF_LIKERT:
        if draft.wrote(*place, key):
            yield (*place, key), "belongs to the kind likert, not choice"
    choices = draft.names(*place, "choices")
    if not draft.wrote(*place, "choices"):
        yield (*place, "choices"), "is required by kind choice: a list of 2 to 50"
    elif choices and not FEWEST <= len(choices) <= MOST_CHOICES:
        yield (*place, "choices"), f"must be {FEWEST} to {MOST_CHOICES}, not {len(choices)}"
    yield from _repeated((*place, "choices"), choices, "choice")


def _likert(draft: Draft, index: int) -> Found:
    place: KeyPath = ("surveys", index)
    if draft.names(*place, "choices"):
        yield (*place, "choices"), "belongs to the kind choice, not likert"
    scale = draft.names(*place, "scale")
    if draft.wrote(*place, "scale"):
        yield from _points((*place, "scale"), len(scale))
        yield from _repeated((*place, "scale"), scale, "point")
    yield from _anchors(draft, index, len(scale))


def _anchors(draft: Draft, index: int, points: int) -> Found:
    """Yield what is wrong with anchors; points: of the scale, 0 where none is written."""
    place: KeyPath = ("surveys", index, "anchors")
    given = draft.value(*place)
    if isinstance(given, str) and given in LABELS and points not in {0, len(LABELS[given])}:
        yield (
            place,
            f"the anchors {given} are for {len(LABELS[given])} points; the scale has {points}",
        )
    sets = [draft.names(*place, at) for at, _ in draft.items(*place)]
    if len(sets) > MOST_SETS:
        yield place, f"must be at most {MOST_SETS} sets, not {len(sets)}"
    wanted = points or (len(sets[0]) if sets else 0)
    if sets and not points:
        yield from _points((*place, 0), len(sets[0]))
    for at, statements in enumerate(sets):
        if len(statements) != wanted:
            whose = "the scale's" if points else "those of the first set"
            yield (*place, at), f"must be {wanted}, as {whose} points, not {len(statements)}"
        yield from _repeated((*place, at), statements, "anchor")


def _points(place: KeyPath, count: int) -> Found:
    if not FEWEST <= count <= MOST:
        yield place, f"must be {FEWEST} to {MOST} points, not {count}"


def _repeated(place: KeyPath, names: Sequence[str], noun: str) -> Found:
    """Yield those that say the same as one before them, as answers are compared."""
    seen: set[str] = set()
    for at, name in enumerate(names):
        normal = normalise(name)
        if name and normal in seen:
            yield (*place, at), f"the {noun} {quoted(name)} appears twice"
        seen.add(normal)
