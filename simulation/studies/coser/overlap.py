"""How far the words of two texts overlap: BLEU and ROUGE-L, both from 0 to 100.

Both take a text as one sequence of tokens: words and punctuation marks in lower case.

- BLEU (Papineni et al. 2002): the geometric mean of the clipped precisions of 1- to 4-grams, times
  the brevity penalty exp(1 - r / c) where the c tokens of the candidate are fewer than the r of
  the reference. Nothing is smoothed: without a common 4-gram it is 0.
- ROUGE-L (Lin 2004): the harmonic mean of LCS / c and LCS / r, where LCS is the length of the
  longest common subsequence.

CoSER's own code splits words by NLTK's Treebank rules, which part "don't" into two, and sums
ROUGE-L over sentences; on the same texts figures differ a little.
"""

from __future__ import annotations

import re
from collections import Counter
from math import exp, log
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ORDER: Final = 4
_TOKEN: Final = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")


def tokens(text: str) -> list[str]:
    """Return words and punctuation marks, in lower case.

    >>> tokens("Don't go, Anna!")
    ["don't", 'go', ',', 'anna', '!']
    """
    return _TOKEN.findall(text.lower())


def bleu(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """Return BLEU-4 of tokens beside one reference, [0, 100]; 0 for nothing."""
    if len(candidate) < ORDER:
        return 0.0
    total = 0.0
    for n in range(1, ORDER + 1):
        have, want = _grams(candidate, n), _grams(reference, n)
        same = sum(min(count, want[gram]) for gram, count in have.items())
        if not same:
            return 0.0
        total += log(same / have.total()) / ORDER
    short = min(0.0, 1.0 - len(reference) / len(candidate))
    return 100.0 * exp(total + short)


def rouge_l(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """Return the F1 of ROUGE-L of tokens beside a reference, [0, 100]; 0 for nothing."""
    if not candidate or not reference:
        return 0.0
    return 200.0 * common(candidate, reference) / (len(candidate) + len(reference))


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    >>> common("abcbdab", "bdcaba")
    4

    Source: the bit-parallel algorithm of M. Crochemore et al. (2001), "A fast and practical
    bit-vector algorithm for the longest common subsequence problem", Information Processing
    Letters 80; the bits of one integer stand for a row of the table of the textbook.
    """
    places: dict[str, int] = {}
    for i, token in enumerate(one):
        places[token] = places.get(token, 0) | 1 << i
    everything = (1 << len(one)) - 1
    row = everything
    for token in other:
        met = row & places.get(token, 0)
        row = ((row + met) | (row - met)) & everything
    return len(one) - row.bit_count()


def _grams(found: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(found[i : i + n]) for i in range(len(found) - n + 1))
