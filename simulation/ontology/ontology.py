"""An ontology: the attributes of one field, and what they make of a persona."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simulation.ontology import sampling
from simulation.ontology.answers import normalise
from simulation.ontology.attributes import Attribute, Dispositions, ProbeQuestion
from simulation.ontology.portraits import Portraits, portray

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulation.rng import Streams, UIntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ontology:
    """The attributes of one field, most relevant first.

    sha256: of the file's bytes.  order: the drawn attributes, parents before those that depend
    on them.  aspects: the words by which people speak of an aspect of a thing; an aspect without
    any is looked for by its name.
    """

    name: str
    sha256: str
    attributes: tuple[Attribute, ...]
    order: tuple[str, ...] = ()
    description: str = ""
    aspects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Attribute:
        """Return an attribute by its id.

        Raises:
            KeyError: there is none.
        """
        for attribute in self.attributes:
            if attribute.id == name:
                return attribute
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        """Return whether there is an attribute of that id."""
        return any(attribute.id == name for attribute in self.attributes)

    def block(self, attributes: Mapping[str, str]) -> str:
        """Return the persona block: second person, relevance order, "" without attributes.

        Source: Beliefs, memory and reflection, "What the persona is told about itself".
        Values are put in literally, on one line, whatever they contain.
        """
        return self.portraits([attributes]).blocks[0]

    def voices(self, attributes: Mapping[str, str]) -> tuple[str, ...]:
        """Return the first-person fragments of a persona's values, in relevance order."""
        return self.portraits([attributes]).voices[0]

    def dispositions(self, attributes: Mapping[str, str]) -> Dispositions:
        """Return the sums of the effects of a persona's values."""
        sums = self.portraits([attributes])
        return Dispositions(
            receptivity=float(sums.receptivity[0]),
            voice=float(sums.voice[0]),
            scepticism=float(sums.scepticism[0]),
        )

    def portraits(self, people: Sequence[Mapping[str, str]]) -> Portraits:
        """Return blocks, voices and dispositions of many personas; see `portraits.portray`."""
        return portray(self.attributes, people)

    def probe_questions(self, attributes: Mapping[str, str]) -> tuple[ProbeQuestion, ...]:
        """Return the questions that a persona's own attributes answer, in relevance order."""
        probes = (a.probe(value) for a, value in self._held(attributes))
        return tuple(probe for probe in probes if probe is not None)

    def answerable(self, attributes: Mapping[str, str]) -> tuple[str, ...]:
        """Return the attributes that `probe_questions` asks about, in its order."""
        return tuple(a.id for a, _ in self._held(attributes) if a.question)

    def probe_question(self, name: str, attributes: Mapping[str, str]) -> ProbeQuestion:
        """Return the question about one of the `answerable` attributes of a persona.

        Raises:
            KeyError: the persona cannot be asked about it.
        """
        probe = self[name].probe(attributes[name].strip())
        if probe is None:
            raise KeyError(name)
        return probe

    def contradiction(self, question: ProbeQuestion) -> str:
        """Return a wrong answer to a probe question: the next value, or the next number."""
        return self[question.attribute].contradiction(question)

    def normalise(self, answer: str) -> str:
        """Return the form in which an answer is compared with `ProbeQuestion.accepted`."""
        return normalise(answer)

    def sample(self, *, streams: Streams, keys: UIntArray) -> dict[str, list[str]]:
        """Return the drawn attributes of all personas, by attribute; see `sampling.draw`."""
        drawn = [self[name] for name in self.order]
        return sampling.draw(drawn, streams=streams, keys=keys)

    def _held(self, attributes: Mapping[str, str]) -> Iterator[tuple[Attribute, str]]:
        for attribute in self.attributes:
            value = attributes.get(attribute.id, "").strip()
            if value:
                yield attribute, value
