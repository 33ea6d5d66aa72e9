"""What `locomo` claims.

A difference counts as reached where it is large enough and its interval over conversations (over
questions where there is but one) lies above 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies.intervals import spread
from simulation.studies.locomo import comparing as of
from simulation.studies.locomo.comparing import Key
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.studies.locomo.comparing import Compared
    from simulation.studies.locomo.rows import LeftOut

ABOVE_AGENTS: Final = 0.046
ABOVE: Final = 0.03
THEIRS: Final = {of.TEXTBOOK: 0.451, of.SEMANTIC: 0.444, of.PERSMEM: 0.387, of.AGENTS: 0.341}
"""Recall@5 in PersMem's Table 8."""


def verdicts(
    compared: Compared, test: Sequence[int], encoder: str, left_out: Sequence[LeftOut]
) -> tuple[Verdict, ...]:
    """Return all claims, of the test conversations. encoder: that of our mode."""
    return tuple(_verdicts(compared, test, encoder, left_out))


def _verdicts(
    compared: Compared, test: Sequence[int], encoder: str, left_out: Sequence[LeftOut]
) -> Iterator[Verdict]:
    persmem, agents = (_key(encoder, method) for method in (of.PERSMEM, of.AGENTS))
    yield _above(compared, test, (persmem, agents), ABOVE_AGENTS, theirs=".387 to .341")
    yield _above_theirs(compared, test, _key(encoder, of.OURS))
    for store in of.STORES:
        ours = _key(encoder, of.OURS, store)
        for other in rivals(compared, test, encoder, store):
            yield _above(compared, test, (ours, other), ABOVE)
    if left_out:
        yield _left_out(left_out)
    yield _held(compared, test)
    best, ageless = _key(encoder, of.AGENTS_BEST), _key(encoder, of.AGELESS_AGENTS)
    yield _above(compared, test, (persmem, best), None)
    pair = (_key(encoder, of.AGELESS_PERSMEM), ageless)
    yield _above(compared, test, pair, None, theirs=".387 to .341")
    for method, theirs in THEIRS.items():
        key = _key(encoder, method)
        yield Verdict(
            claim=f"recall@5 of {_said(key)}",
            found=compared.interval(key, test).words(),
            target="",
            reached=None,
            theirs=f"{theirs:.3f}",
        )


def rivals(compared: Compared, among: Sequence[int], encoder: str, store: str) -> tuple[Key, ...]:
    """Return what our mode is held against: both BM25s, and semantic by the best encoder."""
    semantic = [_key(name, of.SEMANTIC, store) for name in compared.chosen]
    best = max(semantic, key=lambda key: compared.recall(key, among)[:, of.AT].mean())
    return (_key(encoder, of.TEXTBOOK, store), _key(encoder, of.BM25, store), best)


def _key(encoder: str, method: str, store: str = of.ALL) -> Key:
    return Key(encoder=encoder, method=method, store=store)


def _said(key: Key) -> str:
    by = f" ({key.encoder})" if key.method == of.SEMANTIC else ""
    return f"{key.method}{by}{', capped at 50' if key.store == of.CAPPED else ''}"


def _above(
    compared: Compared,
    test: Sequence[int],
    pair: tuple[Key, Key],
    target: float | None,
    *,
    theirs: str = "",
) -> Verdict:
    key, other = pair
    found, questions = compared.difference(key, other, test)
    several = len(test) > 1  # one conversation, drawn again, is always the same
    sure = found if several else questions
    known = not np.isnan(sure.low)  # one question alone has no interval
    reached = sure.value >= target and sure.low > 0 if target is not None and known else None
    over = f"{found.words()} over conversations, " if several else ""
    return Verdict(
        claim=f"recall@5 of {_said(key)} above {_said(other)}",
        found=f"{over}{questions.words()} over questions",
        target="" if target is None else f"at least {target}, and the interval above 0",
        reached=reached,
        theirs=theirs,
    )


def _above_theirs(compared: Compared, test: Sequence[int], key: Key) -> Verdict:
    found, best = compared.interval(key, test), max(THEIRS.values())
    return Verdict(
        claim=f"recall@5 of {_said(key)}",
        found=found.words(),
        target=f"at least {best + ABOVE:.3f}, {ABOVE} above the source's BM25",
        reached=found.value >= best + ABOVE,
        theirs=f"BM25 {THEIRS[of.TEXTBOOK]}, semantic {THEIRS[of.SEMANTIC]}",
    )


def _held(compared: Compared, test: Sequence[int]) -> Verdict:
    """Return how much recall is possible under the cap."""
    asked = [
        (compared.conversations[i], q) for i in test for q in compared.conversations[i].questions
    ]
    kept = [memories.capped[list(q.evidence)].mean() for memories, q in asked]
    return Verdict(
        claim="evidence that is still held under the cap: no recall can find more",
        found=f"{np.mean(kept):.3f}",
        target="",
        reached=None,
    )


def _left_out(left_out: Sequence[LeftOut]) -> Verdict:
    above = np.array([one.recall[of.OURS] - one.recall[of.BM25] for one in left_out])
    return Verdict(
        claim="the same above BM25, tuned, by conversation, settings chosen on all others",
        found=spread(above),
        target=f"at least {ABOVE} in the mean",
        reached=bool(above.mean() >= ABOVE),
    )
