"""How well an encoder finds the turns that answer a question, and how fast it is.

    python tests/benchmarks/encoder_recall.py LOCOMO.json [--encoder NAME] [--model FOLDER]

LOCOMO.json holds long conversations with questions and the turns that answer them (Maharana et
al., Evaluating very long-term conversational memory of LLM agents, 2024). Of each conversation
all turns are candidates; a question's recall@5 is the share of its evidence turns among the five
with the highest cosine, ties to the earlier turn. `named` puts "Speaker: " before each turn.

Since relevance is clip(cos, 0, 1), unrelated texts should be near 0: `related` is the mean cosine
of a question and its first evidence turn, `unrelated` with the turns of another conversation,
`auc` the share of pairs in which the related one is higher.

`--float` takes --model as the model folder to distil and skips the rounding to int8.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from simulation.encoders import EncoderSpec, load
from simulation.encoders.base import unit_rows
from simulation.encoders.distil import token_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]

TOP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Turns in order, and questions with the turns that answer them."""

    turns: list[tuple[str, str]]
    questions: list[str]
    evidence: list[list[int]]

    def texts(self, *, named: bool) -> list[str]:
        """Return the turns, with or without who speaks."""
        return [f"{speaker}: {text}" if named else text for speaker, text in self.turns]


def conversations(path: Path) -> list[Conversation]:
    """Read all conversations; questions without evidence are left out."""
    return [_conversation(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(entry: dict[str, Any]) -> Conversation:
    """Put the sessions in order and resolve the names of turns."""
    talk = entry["conversation"]
    sessions = [name for name in talk if re.fullmatch(r"session_\d+", name)]
    sessions.sort(key=lambda name: int(name.removeprefix("session_")))
    turns = [turn for name in sessions for turn in talk[name]]
    place = {turn["dia_id"]: i for i, turn in enumerate(turns)}
    asked = [
        (qa["question"], sorted({place[turn] for turn in qa["evidence"] if turn in place}))
        for qa in entry["qa"]
    ]
    asked = [(question, found) for question, found in asked if found]
    return Conversation(
        turns=[(turn["speaker"], turn["text"]) for turn in turns],
        questions=[question for question, _ in asked],
        evidence=[found for _, found in asked],
    )


def recall(encode: Encode, talks: Sequence[Conversation], *, named: bool) -> float:
    """Return the mean recall@5 over all questions."""
    shares = []
    for talk in talks:
        scores = encode(talk.questions) @ encode(talk.texts(named=named)).T
        best = np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
        shares += [
            len(set(top.tolist()).intersection(found)) / len(found)
            for top, found in zip(best, talk.evidence, strict=True)
        ]
    return float(np.mean(shares))


def contrast(encode: Encode, talks: Sequence[Conversation]) -> dict[str, float]:
    """Return the mean cosine of related and unrelated pairs and how well they part."""
    rows = []
    for talk, other in zip(talks, [*talks[1:], talks[0]], strict=True):
        questions = encode(talk.questions)
        answers = encode(talk.texts(named=False))[[found[0] for found in talk.evidence]]
        related = (questions * answers).sum(axis=1)
        unrelated = questions @ encode(other.texts(named=False)).T
        auc = (related[:, None] > unrelated).mean()
        rows.append((related.mean(), unrelated.mean(), auc))
    return dict(zip(("related", "unrelated", "auc"), np.mean(rows, axis=0).tolist(), strict=True))


def speed(encode: Encode, talks: Sequence[Conversation], *, seconds: float = 3.0) -> float:
    """Return texts a second over all turns, the best of what fits into the time."""
    texts = [text for talk in talks for text in talk.texts(named=False)][:1000]
    best, end = 0.0, time.perf_counter() + seconds
    while best == 0.0 or time.perf_counter() < end:
        start = time.perf_counter()
        encode(texts)
        best = max(best, len(texts) / (time.perf_counter() - start))
    return best


def unrounded(model: Path) -> Encode:
    """Return the static encoder before its rows are rounded to int8."""
    content, rows = token_rows(model)
    tokenizer = Tokenizer.from_str(content)

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        ids = [tokenizer.encode(text).ids for text in texts]
        return unit_rows(
            np.stack([rows[[i for i in row if i < len(rows)]].sum(axis=0) for row in ids])
        )

    return encode


def main() -> None:
    """Measure one encoder and write one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="static")
    parser.add_argument("--model")
    parser.add_argument("--float", action="store_true")
    options = parser.parse_args()
    talks = conversations(options.data)
    if options.float:
        encode, name = unrounded(Path(options.model)), "static, float64"
    else:
        encoder = load(EncoderSpec(name=options.encoder, model=options.model))
        encode, name = encoder.encode, encoder.name
    result = {
        "encoder": name,
        "recall@5": recall(encode, talks, named=False),
        "recall@5 named": recall(encode, talks, named=True),
        **contrast(encode, talks),
        "texts/s": speed(encode, talks),
    }
    sys.stdout.write(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
