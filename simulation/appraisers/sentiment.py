"""The sentiment rules of vaderSentiment (Hutto and Gilbert 2014), loaded when first needed."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

FILES: Final = ("emoji_utf8_lexicon.txt", "vaderSentiment.py", "vader_lexicon.txt")

Scores = tuple[float, float, float, float]


def scores(text: str) -> Scores:
    """Return negative, neutral and positive share in [0, 1] and compound in [-1, 1], of a text.

    All four are sums, quotients and square roots in a fixed order, rounded to 3 or 4 decimals, so
    they are the same on every machine. A text without words has zeros.
    """
    found = _analyzer().polarity_scores(text)
    return found["neg"], found["neu"], found["pos"], found["compound"]


@cache
def digests() -> dict[str, str]:
    """Return the SHA-256 of each file of the package that decides the scores, by name."""
    folder = Path(str(_package().__file__)).parent
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}


@cache
def _analyzer() -> Any:
    """Return the analyzer with its lexicon."""
    return _package().SentimentIntensityAnalyzer()


def _package() -> Any:
    """Import the package, which carries no types."""
    return import_module("vaderSentiment.vaderSentiment")
