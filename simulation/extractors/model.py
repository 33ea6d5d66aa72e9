"""Extraction by a language model: one question a text, its schema and how an answer is read.

The limits are this project's.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from simulation.calls.base import Call
from simulation.errors import InvalidAnswerError
from simulation.extractors.base import POLARITIES, Evidence, Extracted
from simulation.models.answers import check_text, clean, decode, shown
from simulation.models.copied import is_copied_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.calls.base import Asker
    from simulation.extractors.base import Dropped, Topic
    from simulation.providers.base import Prompt

MAX_EVIDENCE = 8  # pieces from one text
MAX_TOKENS = 400
TEMPERATURE = 0.1


class ModelExtractor:
    """Asks a language model, for each text on its own; what fails is extracted by `fallback`."""

    def __init__(
        self,
        asker: Asker,
        *,
        prompt: Callable[[str, Sequence[Topic]], Prompt],
        repair: Callable[[Prompt, str], Prompt],
        fallback: Callable[[str, Sequence[Topic]], tuple[Evidence, ...]],
    ) -> None:
        """Keep the parts. fallback: extracts by rule and never fails."""
        self._asker = asker
        self._prompt = prompt
        self._repair = repair
        self._fallback = fallback

    def extract(
        self,
        texts: Sequence[str],
        topics: Sequence[Topic],
        *,
        tick: int,
        ids: Sequence[str | None],
    ) -> Extracted:
        """Return the evidence in each text; see `Extractor.extract`."""
        schema = extraction_schema(topics)
        calls = [
            Call(
                tick=tick,
                persona_id=persona_id,
                purpose="extraction",
                prompt=partial(self._prompt, text, topics),
                schema=schema,
                read=partial(parse_extraction, topics=topics),
                repair=self._repair,
                max_tokens=MAX_TOKENS,
                temperature=TEMPERATURE,
            )
            for text, persona_id in zip(texts, ids, strict=True)
        ]
        answers = self._asker.ask(calls)
        error, rejections, found = {}, [], []
        for i, answer in enumerate(answers):
            rejections += [(i, kind, detail) for kind, detail in answer.faults]
            if answer.value is None:
                error[i] = answer.why
                found.append(self._fallback(texts[i], topics))
                continue
            evidence, dropped = answer.value
            rejections += [(i, kind, detail) for kind, detail in dropped]
            found.append(evidence)
        return Extracted(evidence=found, error=error, rejections=tuple(rejections))


def extraction_schema(topics: Sequence[Topic]) -> dict[str, Any]:
    """Return the JSON Schema of an answer."""
    names = list(dict.fromkeys(topic.object for topic in topics))
    aspects = list(dict.fromkeys(aspect for topic in topics for aspect in topic.aspects))
    unit = {"type": "number", "minimum": 0, "maximum": 1}
    properties: dict[str, Any] = {
        "object": {"type": "string", "enum": names},
        "aspect": {"type": "string", "enum": aspects},
        **dict.fromkeys(POLARITIES, unit),
        "strength": unit,
        "summary": {"type": "string"},
    }
    piece = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"evidence": {"type": "array", "items": piece, "maxItems": MAX_EVIDENCE}},
        "required": ["evidence"],
        "additionalProperties": False,
    }


def parse_extraction(
    answer: str, *, topics: Sequence[Topic]
) -> tuple[tuple[Evidence, ...], tuple[Dropped, ...]]:
    """Return the evidence in an answer, and what was dropped from it.

    Shares are divided by their sum. A piece about an unknown object or aspect, without any share,
    or of strength 0 is dropped; so is what goes beyond `MAX_EVIDENCE`.

    Raises:
        InvalidAnswerError: not such an object, or a number that is none.
    """
    pieces = decode(answer).get("evidence")
    if not isinstance(pieces, list):
        raise InvalidAnswerError('"evidence" must be a list, [] if there is none')
    known = {(topic.object, aspect): topic for topic in topics for aspect in topic.aspects}
    found: list[Evidence] = []
    dropped: list[Dropped] = []
    if len(pieces) > MAX_EVIDENCE:
        dropped.append(("too_much_evidence", f"{len(pieces)} pieces, {MAX_EVIDENCE} kept"))
    for piece in pieces[:MAX_EVIDENCE]:
        if not isinstance(piece, dict):
            raise InvalidAnswerError(f"a piece of evidence must be an object, not {shown(piece)}")
        evidence = _evidence(piece, known, dropped)
        if evidence is not None:
            found.append(evidence)
    return tuple(found), tuple(dropped)


def _evidence(
    piece: dict[str, Any], known: dict[tuple[str, str], Topic], dropped: list[Dropped]
) -> Evidence | None:
    place = (str(piece.get("object")), str(piece.get("aspect")))
    shares = [_share(piece, name) for name in POLARITIES]
    strength, total = _share(piece, "strength"), sum(shares)
    if place not in known:
        dropped.append(("unknown_object", f"{shown(place[0])}, {shown(place[1])}"))
        return None
    if not total or not strength:
        dropped.append(("no_evidence", f"{shown(place[0])}, {shown(place[1])}"))
        return None
    summary = piece.get("summary")
    if not isinstance(summary, str):
        raise InvalidAnswerError(f'"summary" must be a text, not {shown(summary)}')
    check_text(summary)
    if is_copied_shape(summary):
        raise InvalidAnswerError(f'"summary" must be what the text says, not {shown(summary)}')
    positive, negative, neutral = (share / total for share in shares)
    return Evidence(
        object_type=known[place].object_type,
        object=place[0],
        aspect=place[1],
        polarity=(positive, negative, neutral),
        strength=strength,
        summary=clean(summary, "summary", dropped),
    )


def _share(piece: dict[str, Any], name: str) -> float:
    """Return a number in [0, 1]."""
    value = piece.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidAnswerError(f'"{name}" must be a number from 0 to 1, not {shown(value)}')
    return float(value) + 0.0
