"""What an ontology file can say: frozen, typed entries, before their references are checked.

docs/ontology.md explains every key. Defaults stand here, once.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
Line = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^\x00-\x1f\x7f]*$")]
Word = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]
Signed = Annotated[float, Field(ge=-1.0, le=1.0, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0.0, le=1e12, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Entry(BaseModel):
    """A part of an ontology file: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class EffectsEntry(Entry):
    """How a value shifts its bearer's dispositions, each from -1 to 1; see `Dispositions`."""

    receptivity: Signed = 0.0
    voice: Signed = 0.0
    scepticism: Signed = 0.0


class LevelEntry(Entry):
    """What a category value and a band of numbers have in common."""

    id: Line
    say: Line | None = None
    voice: Line | None = None
    weight: Weight | None = None
    effects: EffectsEntry = EffectsEntry()


class ValueEntry(LevelEntry):
    """A value of a category attribute.

    label: how it reads inside a sentence; default: the id with spaces for underscores.
    synonyms: other words for it, in population files and in answers to probes.
    """

    label: Line | None = None
    synonyms: tuple[Line, ...] = ()


class BandEntry(LevelEntry):
    """A range of a number attribute, both ends included."""

    low: Finite
    high: Finite


class RowEntry(Entry):
    """Weights that hold where `when` does; without `when`, everywhere."""

    when: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)
    weights: dict[str, Weight] = Field(min_length=1)


class AttributeEntry(Entry):
    """One attribute of a persona."""

    id: Identifier
    label: Line | None = None
    kind: Literal["category", "number", "text"]
    say: Line | None = None
    voice: Line | None = None
    question: Line | None = None
    answers: tuple[Line, ...] = ("{value}", "I am {value}", "I'm {value}")
    values: tuple[ValueEntry, ...] = ()
    bands: tuple[BandEntry, ...] = ()
    given: tuple[str, ...] = ()
    table: tuple[RowEntry, ...] = ()
    distribution: Literal["bands", "uniform", "normal"] = "bands"
    mean: Finite | None = None
    sd: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] | None = None
    minimum: Finite | None = None
    maximum: Finite | None = None
    integer: bool = True

    @property
    def levels(self) -> tuple[LevelEntry, ...]:
        """The values of a category or the bands of a number, in file order."""
        return self.values if self.kind == "category" else self.bands


class FieldEntry(Entry):
    """A whole ontology file.

    aspects: the words by which people speak of an aspect of a thing.
    """

    name: Identifier
    description: str = ""
    attributes: tuple[AttributeEntry, ...] = Field(min_length=1)
    aspects: dict[str, Annotated[tuple[Word, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
