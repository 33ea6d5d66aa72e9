"""Word lists: which aspect a word, or a few words in a row, speaks of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from simulation.extractors.clauses import read
from simulation.yaml_reading import read_plain_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RESTAURANT: Final = Path(__file__).parent / "aspects_restaurant.yaml"
"""Lists that ship: the sides of a restaurant; `weights.RESTAURANT` was fitted with them."""

Words = dict[str, tuple[str, ...]]
Phrases = dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]
"""By the first stem: the stems of the whole, and the aspects that it speaks of."""

MAX_PHRASE: Final = 6
"""Words of a phrase; what is longer is cut there."""


def read_words(path: Path = RESTAURANT) -> Words:
    """Return the word lists of a file of the package: YAML, lists of words by aspect."""
    data = read_plain_yaml(path.read_text(encoding="utf-8")).data
    return {str(aspect): tuple(map(str, words)) for aspect, words in data.items()}


def with_names(words: Mapping[str, Sequence[str]], aspects: Sequence[str]) -> Words:
    """Return the words of some aspects; one without a list is looked for by its name."""
    return {
        aspect: tuple(words.get(aspect, ())) or (aspect.replace("_", " "),) for aspect in aspects
    }


class Lists:
    """Finds the words of aspects in a text: whole words, in any simple inflection."""

    def __init__(self, words: Mapping[str, Sequence[str]]) -> None:
        """Prepare the lists. words: by aspect."""
        owners: dict[tuple[str, ...], list[str]] = {}
        for aspect, given in words.items():
            for phrase in given:
                stems = read(phrase).stems[:MAX_PHRASE]
                if any(stems) and aspect not in owners.setdefault(stems, []):
                    owners[stems].append(aspect)
        self.aspects = tuple(words)
        self._phrases: Phrases = {}
        for stems in sorted(owners, key=len, reverse=True):
            entry = (stems, tuple(owners[stems]))
            self._phrases[stems[0]] = (*self._phrases.get(stems[0], ()), entry)

    def find(self, stems: Sequence[str]) -> list[tuple[int, str]]:
        """Return where which aspect is spoken of, in the order of the text.

        The longest phrase goes first, and no word counts for two phrases ("wine list" is about
        the menu, not about wine).
        """
        found: list[tuple[int, str]] = []
        free = 0
        for at, word in enumerate(stems):
            if at < free or word not in self._phrases:
                continue
            for phrase, aspects in self._phrases[word]:
                if len(phrase) == 1 or tuple(stems[at : at + len(phrase)]) == phrase:
                    found += [(at, aspect) for aspect in aspects]
                    free = at + len(phrase)
                    break
        return found
