"""Where a text names things, and which of them a word speaks of."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from simulation.extractors.clauses import head, lowered, spaced
from simulation.extractors.polarity import emoji

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.extractors.clauses import Reading

Mention = tuple[int, str]
"""(word, object)."""


class Names:
    """Finds objects by their names: literally, in any case, between the edges of words."""

    def __init__(self, objects: Sequence[str]) -> None:
        """Prepare the names; the longest is looked for first."""
        signs = emoji()  # as a text is read
        written = {name: lowered(spaced(head(name).translate(signs))).strip() for name in objects}
        named = [(text, name) for name, text in written.items() if text]
        self._names = sorted(named, key=lambda pair: -len(pair[0]))

    def find(self, text: Reading) -> list[Mention]:
        """Return the mentions in the order of the text; none lies within another."""
        taken = bytearray(len(text.lower))
        found: list[Mention] = []
        for written, name in self._names:
            for start in _places(text.lower, written):
                end = start + len(written)
                if not any(taken[start:end]):
                    taken[start:end] = b"\1" * len(written)
                    found.append((text.word_at(start), name))
        return sorted(found)


def owner(text: Reading, word: int, mentions: Sequence[Mention]) -> str | None:
    """Return the object that a word speaks of; None if none is named.

    It is the one named last before it, unless that one stands in another clause and the next one
    in this.
    """
    if not mentions:
        return None
    after = bisect_left(mentions, (word, ""))
    if after == len(mentions):
        return mentions[-1][1]
    place, name = mentions[after]
    if after == 0:
        return name
    before, last = mentions[after - 1]
    here = text.clause[word]
    return name if text.clause[before] != here and text.clause[place] == here else last


def _places(text: str, name: str) -> Iterator[int]:
    """Yield where a name stands as a whole, or as a plural."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if name[-1].isalnum() and text[end : end + 1] == "s":
            end += 1
        opens = not (name[0].isalnum() and text[max(0, start - 1) : start].isalnum())
        if opens and not (name[-1].isalnum() and text[end : end + 1].isalnum()):
            yield start
        start = text.find(name, start + len(name))
