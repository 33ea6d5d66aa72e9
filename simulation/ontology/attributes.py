"""One attribute of a persona: its values, its words and its answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from simulation.ontology.answers import accepted, first_person, normalise, spellings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_TEXT = 2_000  # code points of a free text: it goes into every prompt of its persona
_MAX_INTEGER = 2.0**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispositions:
    """How a persona leans before it hears anything: sums of its values' effects.

    receptivity: openness to being moved by what it reads.  voice: readiness to speak.
    scepticism: doubt about who is speaking.  Each is about in [-1, 1]; 0 is the average person.
    """

    receptivity: float = 0.0
    voice: float = 0.0
    scepticism: float = 0.0

    def __add__(self, other: Dispositions) -> Dispositions:
        """Return the sum, part by part."""
        return Dispositions(
            receptivity=self.receptivity + other.receptivity,
            voice=self.voice + other.voice,
            scepticism=self.scepticism + other.scepticism,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeQuestion:
    """A question whose answer stands in the persona's own attributes.

    expected: the answer as people would say it.  accepted: normalised answers that agree with
    it, among them the value and its synonyms.
    """

    attribute: str
    question: str
    expected: str
    accepted: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A value of a category, or a band of a number with its two ends."""

    id: str
    label: str
    say: str
    voice: str = ""
    synonyms: tuple[str, ...] = ()
    effects: Dispositions = Dispositions()
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distribution:
    """How an attribute is drawn.

    parents: attributes that must be drawn before; shape: how many levels each of them has.
    cumulative: (combinations of the parents' levels in row-major order, levels), rows that rise
    to 1; None for a continuous distribution.
    mean, sd: of a normal between the attribute's minimum and maximum; NaN for a uniform one.
    """

    parents: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    cumulative: NDArray[np.float64] | None = None
    mean: float = math.nan
    sd: float = math.nan


@dataclass(frozen=True, kw_only=True, eq=False)
class Attribute:
    """One attribute. `distribution` is None when it can come from a population file only.

    Not slotted: its look-up tables are made once, when first needed.
    """

    id: str
    label: str
    kind: Literal["category", "number", "text"]
    say: str
    voice: str
    question: str
    answers: tuple[str, ...]
    levels: tuple[Level, ...]
    distribution: Distribution | None
    minimum: float = -math.inf
    maximum: float = math.inf
    integer: bool = True

    @cached_property
    def by_id(self) -> dict[str, Level]:
        """The levels by their ids."""
        return {level.id: level for level in self.levels}

    @cached_property
    def by_name(self) -> dict[str, str]:
        """Value ids by every normalised name of a category value: id, label and synonyms."""
        names: dict[str, str] = {}
        for level in self.levels:
            for name in (level.id, level.label, *level.synonyms):
                names.setdefault(normalise(name), level.id)
        return names

    def level(self, value: str) -> Level | None:
        """Return the category value or the band that a persona's value falls in, if any."""
        if self.kind == "category":
            return self.by_id.get(value)
        number = parse_number(value) if self.levels else None
        if number is None:
            return None
        return next((b for b in self.levels if b.low <= number <= b.high), None)

    def canonical(self, raw: str) -> str:
        """Return the value in the one form that a persona holds.

        A category gives its value id, found by id, label or synonym whatever the case; a number
        is written without needless digits; a text loses its outer blanks.

        Raises:
            ValueError: the attribute has no such value; the message says what is allowed.
        """
        raw = raw.strip()
        if self.kind == "text":
            return _plain(raw)
        return self._category(raw) if self.kind == "category" else self._number(raw)

    def _category(self, raw: str) -> str:
        if raw in self.by_id:
            return raw
        found = self.by_name.get(normalise(raw))
        if found is None:
            raise ValueError(f"is not a value of {self.id}")
        return found

    def _number(self, raw: str) -> str:
        number = parse_number(raw)
        if number is None:
            raise ValueError("is not a number")
        if not self.minimum <= number <= self.maximum:
            raise ValueError(f"is not between {self.minimum:g} and {self.maximum:g}")
        if self.integer and not number.is_integer():
            raise ValueError("is not a whole number")
        return write_number(number)

    def sentence(self, value: str) -> str:
        """Return the sentence of the persona block, second person."""
        level = self.level(value)
        template = level.say if level is not None else self.say
        return _fill(template, self.spoken(value))

    def fragment(self, value: str) -> str:
        """Return the first-person fragment of a value, or "" when it has none."""
        level = self.level(value)
        template = level.voice if level is not None else self.voice
        return _fill(template, self.spoken(value))

    def spoken(self, value: str) -> str:
        """Return the value as it reads inside a sentence, in one line."""
        level = self.by_id.get(value) if self.kind == "category" else None
        return level.label if level is not None else " ".join(value.split())

    @cached_property
    def _probes(self) -> dict[str, ProbeQuestion]:
        """The questions of category values asked so far: at most one for each level."""
        return {}

    def probe(self, value: str) -> ProbeQuestion | None:
        """Return the question that the value answers, or None when the attribute has none."""
        if not self.question:
            return None
        level = self.by_id.get(value) if self.kind == "category" else None
        if level is None:
            return self._probe(value, None)
        if value not in self._probes:  # normal forms are dear, and many personas share a value
            self._probes[value] = self._probe(value, level)
        return self._probes[value]

    def _probe(self, value: str, level: Level | None) -> ProbeQuestion:
        spoken = self.spoken(value)
        expected = first_person(spoken) if level is not None else spoken
        names = (spoken, level.id, *level.synonyms) if level is not None else spellings(value)
        return ProbeQuestion(
            attribute=self.id,
            question=self.question,
            expected=expected,
            accepted=accepted((expected, *names), templates=self.answers),
        )

    def contradiction(self, question: ProbeQuestion) -> str:
        """Return an answer that does not agree: another value, or another number."""
        others = [first_person(level.label) for level in self.levels if self.kind == "category"]
        number = parse_number(question.expected) if self.kind == "number" else None
        if number is not None:
            others = [write_number(number + 1.0)]
        start = next((i for i, other in enumerate(others) if other == question.expected), 0)
        turned = [*others[start:], *others[:start], "something else", "nothing of the kind"]
        return next(other for other in turned if normalise(other) not in question.accepted)


def parse_number(text: str) -> float | None:
    """Return a finite number that is exact as a float, or None."""
    try:
        number = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) <= _MAX_INTEGER else None


def write_number(number: float) -> str:
    """Return a number without needless digits: `34`, `2.5`."""
    return str(int(number)) if number.is_integer() else repr(number)


def _fill(template: str, value: str) -> str:
    # A plain replacement: whatever braces a value has stay as they are.
    return template.replace("{value}", value)


def _plain(text: str) -> str:
    bad = next((c for c in text if (c < " " and c not in "\t\n\r") or c == "\x7f"), None)
    if len(text) > MAX_TEXT:
        raise ValueError(f"has {len(text):,} characters; at most {MAX_TEXT:,} are allowed")
    if bad is not None:
        raise ValueError(f"has the control character U+{ord(bad):04X}")
    return text
