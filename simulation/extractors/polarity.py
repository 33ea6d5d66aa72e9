"""How the words of a text judge, and how near they stand to what they may judge.

The judgement of a word is that of vaderSentiment (Hutto and Gilbert 2014): its lexicon with
`opinions.yaml` added, its rules of negation, degree and capitals, within one clause. A word counts
for what stands at a distance of d words and c half steps between clauses with

    exp(-d / 4) * exp(-c / 2)

What the constants are, and on what they were tuned, is in docs/extraction.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulation.yaml_reading import read_plain_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulation.extractors.clauses import Reading

OPINIONS: Final = Path(__file__).parent / "opinions.yaml"
REACH: Final = 4.0
"""Words after which a judgement counts 1/e."""
STEP: Final = 2.0
"""Half steps between clauses after which it counts 1/e."""
FAR_WORDS: Final = 24
FAR_STEPS: Final = 12
"""Beyond these it does not count at all."""
QUIET: Final = 0.5
"""What stands against all judgements: the weight of the neutral share (units of valence)."""

MARK: Final = 0.292
MARKS: Final = 4
"""What an exclamation mark adds, and how many do; as in the sentiment rules."""

NEGATIONS: Final = frozenset(
    (
        *("no", "not", "never", "none", "nobody", "nothing", "nor", "neither", "nowhere"),
        *("without", "hardly", "barely", "cannot", "rarely", "seldom"),
    )
)
HEDGES: Final = frozenset(
    (
        *("apparently", "guess", "maybe", "might", "perhaps", "possibly", "probably", "seem"),
        *("seems", "seemed", "somewhat", "suppose", "supposedly", "unsure"),
    )
)
LEAST: Final = 0.2
"""Strength of a text that names a thing and does not judge it."""
HALF: Final = 4.0
"""Valence at which strength is half way from the least to 1."""
HEDGED: Final = 0.7
ASKED: Final = 0.5
"""Factors on the strength of what is only supposed, and of what is asked."""

# Rounded, so that the last bit of a machine's exp cannot show.
_BY_WORDS: Final = tuple(round(math.exp(-d / REACH), 9) for d in range(FAR_WORDS))
_BY_STEPS: Final = (*(round(math.exp(-c / STEP), 9) for c in range(FAR_STEPS)), 0.0)

Judgement = tuple[int, float]
"""(word, what it says: about -5 to 5, not 0)."""


@dataclass(slots=True)
class _Clause:
    """What the sentiment rules read of a clause."""

    words_and_emoticons: list[str]
    is_cap_diff: bool


def judgements(text: Reading) -> list[Judgement]:
    """Return the words that judge, in the order of the text, and what each says.

    An exclamation mark at the end of a clause makes its words louder.
    """
    analyzer, lexicon, degrees = _rules()
    found: list[Judgement] = []
    start = 0
    for at, group in groupby(text.clause):
        end = start + sum(1 for _ in group)
        raw = text.raw[start:end]
        lower = [word.lower() for word in raw]
        clause: _Clause | None = None
        for i, word in enumerate(lower):
            of_kind = word == "kind" and lower[i + 1 : i + 2] == ["of"]  # a degree, as "rather"
            if word in lexicon and word not in degrees and not of_kind:
                clause = clause or _Clause(list(raw), _shouts(raw))
                value = float(analyzer.sentiment_valence(0, clause, raw[i], i, [])[0])
                if value:
                    mark = MARK * min(MARKS, text.marks.get(at, "").count("!"))
                    found.append((start + i, value + math.copysign(mark, value)))
        start = end
    return found


def nearness(text: Reading, anchors: Sequence[int]) -> list[float]:
    """Return how much each of N words counts for what is named at some places, in [0, 1]."""
    near = [0.0] * len(text.words)
    for anchor in anchors:
        low, high = max(0, anchor - FAR_WORDS + 1), anchor + FAR_WORDS
        at = text.clause[anchor]
        here = [
            _BY_WORDS[abs(i - anchor)] * _BY_STEPS[min(abs(clause - at), FAR_STEPS)]
            for i, clause in enumerate(text.clause[low:high], start=low)
        ]
        near[low:high] = map(max, near[low:high], here)
    return near


def judged(said: Iterable[Judgement], near: Sequence[float] | None) -> tuple[float, float]:
    """Return the sums of what is said for and against a thing, each >= 0.

    said: `judgements`.  near: `nearness`; None: every word counts in full.
    """
    good = bad = 0.0
    for word, value in said:
        share = value if near is None else value * near[word]
        if share > 0:
            good += share
        else:
            bad -= share
    return good, bad + 0.0


def shares(good: float, bad: float) -> tuple[float, float, float]:
    """Return positive, negative and neutral share in thousandths; they sum to 1.

    In proportion to what is said for it, against it, and `QUIET`.
    """
    total = good + bad + QUIET
    return rounded(good / total, bad / total)


def rounded(positive: float, negative: float) -> tuple[float, float, float]:
    """Return shares in thousandths of which the third is what is left of 1."""
    up = min(1000, round(positive * 1000))
    down = min(1000 - up, round(negative * 1000))
    return up / 1000, down / 1000, (1000 - up - down) / 1000


def strength(text: Reading, loudness: float, anchors: Sequence[int]) -> float:
    """Return how clearly something is said, (0, 1], in thousandths.

    loudness: sum of what is said for and against, >= 0.  anchors: where the thing is named.
    """
    asked = hedged = False
    value = LEAST + (1.0 - LEAST) * loudness / (loudness + HALF)
    for clause in {text.clause[anchor] for anchor in anchors}:
        asked |= "?" in text.marks.get(clause, "")
        hedged |= not HEDGES.isdisjoint(text.words[text.span(clause, clause)])
    value *= (ASKED if asked else 1.0) * (HEDGED if hedged else 1.0)
    return max(1, round(value * 1000)) / 1000


@cache
def emoji() -> dict[int, str]:
    """Return what single emoji stand for in words, as the sentiment rules have it."""
    names: dict[str, str] = _rules()[0].emojis
    return {ord(sign): f" {name} " for sign, name in names.items() if len(sign) == 1}


@cache
def _rules() -> tuple[Any, dict[str, float], frozenset[str]]:
    """Return the sentiment rules with our words added, their lexicon, and words of degree."""
    package = import_module("vaderSentiment.vaderSentiment")  # it carries no types
    analyzer = package.SentimentIntensityAnalyzer()
    lexicon: dict[str, float] = analyzer.lexicon
    for group in read_plain_yaml(OPINIONS.read_text(encoding="utf-8")).data:
        for word in group["words"]:
            lexicon.setdefault(word, group["valence"])
    return analyzer, lexicon, frozenset(package.BOOSTER_DICT)


def _shouts(words: Sequence[str]) -> bool:
    """Return whether some words, but not all, are in capitals."""
    return 0 < sum(map(str.isupper, words)) < len(words)
