"""What a server turned out not to take, and how it is asked from then on.

Many requests are under way at once, and all of them may be refused for the same reason. Each
keeps the `Way` in which it was put; whoever is refused first changes the current way, the others
find it changed and just try again. A way only ever loses something, so that no request is put
again for ever.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

STRUCTURED: Final = "structured"
TOKENS: Final = "tokens"

_NAMES: Final = {
    "temperature": r"temperature",
    "effort": r"reasoning_effort|effort|output_config(?!\.format)",
    "cache_control": r"cache_control",
    "store": r"['\"`]store['\"`]|store:",
    "stream_options": r"stream_options|include_usage",
    TOKENS: r"max_tokens|max_completion_tokens",
    STRUCTURED: r"response_format|output_config|output_format|json_schema|json_object|"
    r"tool_choice|tools?|json.?schema|schema|grammar|structured.outputs?",
}
"""What a request may do without, and the words by which servers name it, most telling first."""

_PATTERNS: Final = {
    feature: re.compile(rf"(?<!\w)(?:{names})(?!\w)", re.IGNORECASE)
    for feature, names in _NAMES.items()
}
_RANGE: Final = re.compile(
    r"[<>≤≥]|\brange\b|between|less than|greater than|at most|at least|m(?:ax|in)imum(?! tokens)"
    r"|too (?:large|small|high|low)|(?:above_max|below_min)",
    re.IGNORECASE,
)
_INSTEAD: Final = {
    "temperature": "a temperature; the model's own is used",
    "effort": "an effort of reasoning; the model's own is used",
    "cache_control": "marks for its cache; none are sent",
    "store": 'the word "store"; it is left out',
    "stream_options": "to be asked for the usage of a stream; tokens are estimated",
}
_MODES: Final = {
    "json_schema": "JSON Schema",
    "tool": "the input of a forced tool",
    "json_object": "a JSON object as response format",
    "plain": "plain JSON, by instruction",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a server is asked.

    mode: the way of asking for JSON.  left_out: what is not sent.  tokens: name of the parameter
    that limits the answer.
    """

    mode: str
    left_out: frozenset[str] = frozenset()
    tokens: str = "max_tokens"


def named(feature: str, complaint: str) -> bool:
    """Return whether a server's complaint names something that was sent."""
    return _PATTERNS[feature].search(complaint) is not None


def out_of_range(complaint: str) -> bool:
    """Return whether a complaint is about the value of a setting that the user chose."""
    settings = named("temperature", complaint) or named(TOKENS, complaint)
    return settings and _RANGE.search(complaint) is not None


class Adaptation:
    """The way in which a server is asked now, and what was found out about it."""

    def __init__(self, *, host: str, way: Way, modes: tuple[str, ...]) -> None:
        """Begin with a way; `modes`, best first, are those that may be used."""
        self._host = host
        self._modes = modes
        self.way = way
        self.notes: list[str] = []

    def after(self, way: Way, sent: Collection[str], complaint: str, status: int) -> bool:
        """Learn from a request that was refused; return whether to put it again.

        way: the one in which it was put.  sent: of the features that one may do without, those
        it had.  complaint: the server's words.
        """
        if out_of_range(complaint):
            return False
        for feature in (name for name in _NAMES if name in sent and named(name, complaint)):
            if self._differs(way, feature) or self._do_without(feature, complaint, status):
                return True
        return False

    def ignored(self, way: Way) -> None:
        """Learn that an answer was no JSON although the server took the schema."""
        if not self._differs(way, STRUCTURED):
            self._descend(way.mode, "takes", " but does not keep to it")

    def say(self, note: str) -> None:
        """Note something; what leads here happens once, as a way only ever loses something."""
        self.notes.append(note)

    def _differs(self, way: Way, feature: str) -> bool:
        """Return whether another request has changed a feature since."""
        if feature == STRUCTURED:
            return self.way.mode != way.mode
        if feature == TOKENS:
            return self.way.tokens != way.tokens
        return feature in self.way.left_out and feature not in way.left_out

    def _do_without(self, feature: str, complaint: str, status: int) -> bool:
        """Change the way; return False where nothing is left to change."""
        why = f"(HTTP {status}: {complaint:.120})"
        if feature == STRUCTURED:
            return self._descend(self.way.mode, "does not take", f" {why}")
        if feature == TOKENS:
            return self._other_name(why)
        self.way = replace(self.way, left_out=self.way.left_out | {feature})
        self.say(f"{self._host} does not take {_INSTEAD[feature]} from here on {why}")
        return True

    def _descend(self, mode: str, verb: str, why: str) -> bool:
        """Go one mode down; return False where there is none."""
        lower = self._modes[self._modes.index(mode) + 1 :]
        if not lower:
            return False
        self.way = replace(self.way, mode=lower[0])
        self.say(
            f"{self._host} {verb} {_MODES[mode]}{why}; answers are asked for as "
            f"{_MODES[lower[0]]} from here on"
        )
        return True

    def _other_name(self, why: str) -> bool:
        """Call the limit of an answer by its other name, once."""
        if TOKENS in self.way.left_out:
            return False
        other = "max_tokens" if self.way.tokens != "max_tokens" else "max_completion_tokens"
        self.way = replace(self.way, tokens=other, left_out=self.way.left_out | {TOKENS})
        self.say(f'{self._host} wants the limit of an answer as "{other}" {why}')
        return True
