"""The shortest and the longest answers that a language model may give, and that can be used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from simulation.active import DONE, QUERY_CHARACTERS
from simulation.models.answers import MAX_WORDS
from simulation.models.base import ON_A_PERSONA, ON_A_POST, SPEAKING
from simulation.models.schemas import MAX_MEMORIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.calls.base import Call

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_PER_TOKEN: Final = 5  # characters that a token of an answer may carry
_LOUDEST: Final = ("post", "quote", "comment", "complain", "reply", "ask_peer", "answer")
_SMALLEST: Final[dict[str, Any]] = {
    "string": "x",
    "number": 0,
    "integer": 0,
    "boolean": True,
    "null": None,
}


def shortest(schema: dict[str, Any]) -> Any:
    """Return a short value that a JSON Schema allows; of several kinds null, where it may be.

    >>> shortest({"type": "array", "items": {"type": "string"}, "minItems": 1})
    ['x']
    """
    if "enum" in schema:
        return min(schema["enum"], key=lambda value: len(str(value)))
    if "anyOf" in schema:
        return min(
            (shortest(each) for each in schema["anyOf"]), key=lambda value: value is not None
        )
    kind = schema.get("type")
    if kind == "object":
        return {name: shortest(part) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [shortest(schema.get("items", {}))] * schema.get("minItems", 0)
    if kind in ("number", "integer"):
        return max(0, schema.get("minimum", 0))
    return _SMALLEST.get(str(kind), "x")


def terse(call: Call[Any]) -> Iterator[str]:
    """Yield answers of a model that says as little as it can and does nothing."""
    schema = call.schema
    if schema is None:
        yield DONE if call.purpose == "controller" else "x"
        return
    least = shortest(schema)
    if call.purpose == "turn":
        least |= {"target": None, "words": ""}
        actions = schema["properties"]["action"]["enum"]
        quiet = [name for name in ("ignore",) if name in actions]
        for action in (*quiet, *(each for each in actions if each not in SPEAKING), *actions):
            yield from _acted(least, action, _targets(schema), words="x")
        return
    yield _ENCODE(least)


def least(call: Call[Any], *, enforced: bool) -> str:
    """Return the shortest answer that can be used.

    enforced: the server makes its model keep to the schema; else a turn needs its action only.
    """
    if call.schema is None:
        return "x"
    if enforced or call.purpose not in ("turn", "reflection"):
        return _ENCODE(shortest(call.schema))
    if call.purpose == "reflection":
        return '{"beliefs":{},"memories":["x"]}'
    actions = call.schema["properties"]["action"]["enum"]
    return _ENCODE({"action": min(actions, key=len)})


class Wordy:
    """A model that publishes as much as it can at every turn, and swings from belief to belief."""

    def __init__(self, filler: str, *, max_tokens: int, varied: bool) -> None:
        """Prepare what it says.

        Args:
            filler: A text in the language of the scenario; it is repeated.
            max_tokens: The longest answer.
            varied: Every text differs, so that each is appraised; else those of a tick are equal.
        """
        length = min(MAX_WORDS, _PER_TOKEN * max_tokens)
        self._text = (filler.strip() + " ") * (length // (len(filler.strip()) + 1) + 1)
        self._length = length
        self._varied = varied
        self._moved: dict[str | None, bool] = {}

    def __call__(self, call: Call[Any]) -> Iterator[str]:
        """Yield answers, the longest first; the first that can be read is given."""
        schema = call.schema
        if schema is None:
            yield f"{call.tick} {self._text}"[:QUERY_CHARACTERS]
        elif call.purpose == "turn":
            yield from self._turn(call, schema)
        elif call.purpose == "reflection":
            count = MAX_MEMORIES if self._varied else 1
            texts = [self._words(call, number) for number in range(count)]
            yield _ENCODE(shortest(schema) | {"memories": texts})
        else:
            yield _ENCODE(shortest(schema))

    def _turn(self, call: Call[Any], schema: dict[str, Any]) -> Iterator[str]:
        up = self._moved[call.persona_id] = not self._moved.get(call.persona_id, False)
        names = schema["properties"]["changes"]["properties"]
        answer = shortest(schema) | {"changes": dict.fromkeys(names, 1 if up else -1)}
        if "importance" in answer:
            answer["importance"] = 1
        actions = schema["properties"]["action"]["enum"]
        for action in (*(each for each in _LOUDEST if each in actions), *actions):
            yield from _acted(answer, action, _targets(schema), words=self._words(call, 0))

    def _words(self, call: Call[Any], number: int) -> str:
        who = f"{call.persona_id} " if self._varied else ""
        return f"{who}{call.tick}.{number} {self._text}"[: self._length]


def _targets(schema: dict[str, Any]) -> list[str]:
    """Return the targets that the schema of a turn names."""
    target = schema["properties"]["target"]
    return [name for part in target.get("anyOf", ()) for name in part.get("enum", ())]


def _acted(
    answer: dict[str, Any], action: str, targets: list[str], *, words: str
) -> Iterator[str]:
    """Yield an answer with an action, for every target that it may need."""
    said = words if action in SPEAKING or answer["words"] else answer["words"]
    needs_target = action in ON_A_POST or action in ON_A_PERSONA
    for target in targets if needs_target else (None,):
        yield _ENCODE(answer | {"action": action, "target": target, "words": said})
