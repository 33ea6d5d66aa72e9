"""The study `locomo`: which memories answer a question about a long conversation.

Source: PersMem, section 4.4 and Table 8 (evidence recall@5: PersMem .387, Generative-Agents
scoring .341, semantic .444; BM25 .451), on LoCoMo (Maharana et al. 2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from simulation.encoders import EncoderSpec, load
from simulation.errors import UsageError
from simulation.mind.passive import PassiveParameters
from simulation.mind.retention import RetentionParameters
from simulation.studies.locomo import pictures, rows
from simulation.studies.locomo import verdicts as claims
from simulation.studies.locomo.comparing import Compared
from simulation.studies.locomo.conversations import read_conversations
from simulation.studies.locomo.memories import CAP, FULL, Reader, sampled
from simulation.studies.locomo.methods import PUBLISHED, TEXTBOOK
from simulation.studies.locomo.tuning import Grids, rows_of
from simulation.studies.output import Findings, publish, sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.encoders import Encoder
    from simulation.studies.locomo.conversations import Conversation
    from simulation.studies.locomo.memories import Memories

NAME: Final = "locomo"
TUNING: Final = ("conv-26", "conv-30")
"""Conversations on which everything was chosen, by hand and by grids."""
LEAST: Final = 2  # conversations: one to tune on, one to test
SEED: Final = 0
QUICK_QUESTIONS: Final = 40  # of each of two conversations
QUICK_EVERY: Final = 7  # a setting of ours is tried in the short form
DRAWS: Final = 2000
"""Of a bootstrap."""
QUICK_DRAWS: Final = 200
NEEDED: Final = (
    "needs conversations: name LoCoMo's JSON file (locomo10.json or a part of it) with --data"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Places of the conversations: what is tuned on, and what is tested once."""

    tuning: tuple[int, ...]
    test: tuple[int, ...]


def run(folder: Path, *, quick: bool, data: Path | None) -> str:
    """Make the study, write it into a new folder and return what to print.

    Raises:
        UsageError: There are no data, or they cannot be used.
    """
    return publish(findings(data, quick=quick), folder, quick=quick)


def findings(data: Path | None, *, quick: bool) -> Findings:
    """Return what the study found.

    Raises:
        UsageError: There are no data, or they cannot be used.
    """
    conversations, split = given(data, NAME, quick=quick)
    reader = Reader(_encoders(quick=quick))
    prepared = prepare(reader, conversations, quick=quick)
    every = QUICK_EVERY if quick else 1
    grids = {one.name: Grids(prepared, one.name, every=every) for one in reader.encoders}
    chosen = {name: grid.choose(split.tuning) for name, grid in grids.items()}
    compared = Compared(prepared, chosen, draws=QUICK_DRAWS if quick else DRAWS)
    main = reader.encoders[0].name
    left_out = rows.left_out(compared, grids[main], main) if len(prepared) > LEAST else ()
    return Findings(
        name=NAME,
        title="which memories answer a question",
        about=_about(conversations, split),
        verdicts=claims.verdicts(compared, split.test, main, left_out),
        tables=rows.tables(compared, grids, split.tuning, split.test, left_out),
        pictures=pictures.pictures(compared, split.test, main),
        seeds=(SEED,),
        configuration=_configuration(reader, conversations, split)
        | {
            "chosen": {name: _settings(each) for name, each in chosen.items()},
            "hybrid_by_the_engine": [name for name, each in chosen.items() if each.ships],
        },
        data={data.name: sha256_of(data)} if data is not None else {},
        encoders=reader.encoders,
    )


def given(data: Path | None, name: str, *, quick: bool) -> tuple[tuple[Conversation, ...], Split]:
    """Return the conversations of a file, in a short form the first two, and their split.

    Raises:
        UsageError: There are none, or too few.
    """
    if data is None:
        raise UsageError(f"the study {name} {NEEDED}")
    conversations = read_conversations(data)
    if len(conversations) < LEAST:
        raise UsageError(
            f"{data} holds one conversation; the study {name} needs two or more: it tunes on "
            "some and is tested on others"
        )
    conversations = conversations[:LEAST] if quick else conversations
    silent = [one.id for one in conversations if not any(q.evidence for q in one.questions)]
    if silent:
        raise UsageError(f'{data}: no question of "{silent[0]}" has evidence among its turns')
    return conversations, split_of([one.id for one in conversations])


def split_of(ids: Sequence[str]) -> Split:
    """Return the split of conversations: `TUNING` by name, else the first two (of two, one)."""
    named = [i for i, name in enumerate(ids) if name in TUNING]
    if not named or len(ids) - len(named) < 1:
        named = list(range(min(LEAST, len(ids) - 1)))
    test = tuple(i for i in range(len(ids)) if i not in named)
    return Split(tuning=tuple(named), test=test)


def prepare(
    reader: Reader, conversations: Sequence[Conversation], *, quick: bool
) -> tuple[Memories, ...]:
    """Return conversations as memories, with all their questions or a sample."""
    most = QUICK_QUESTIONS if quick else None
    return tuple(reader.prepare(one, sampled(one, most=most, seed=SEED)) for one in conversations)


def _encoders(*, quick: bool) -> tuple[Encoder, ...]:
    """Return the encoders that are here, the shipped one first; alone in a short form."""
    names = ["static"] if quick else ["static", "ngram"]
    if not quick and find_spec("sentence_transformers") is not None:
        names.append("sentence_transformers")
    return tuple(load(EncoderSpec(name=name)) for name in names)


def _about(conversations: Sequence[Conversation], split: Split) -> str:
    names = [conversation.id for conversation in conversations]
    unknown = sum(len(conversation.unknown) for conversation in conversations)
    return (
        "Evidence recall@k of questions about long conversations, a memory being a turn. All that "
        f"is chosen is chosen on {_named(names, split.tuning)}, and the verdicts come from "
        f"{_named(names, split.test)}. Figures of the source are of ten conversations, another "
        f"encoder and its own ages. {unknown} pieces of evidence name no turn and are left out."
    )


def _named(names: Sequence[str], places: Sequence[int]) -> str:
    return ", ".join(names[i] for i in places)


def _configuration(
    reader: Reader, conversations: Sequence[Conversation], split: Split
) -> dict[str, Any]:
    names = [conversation.id for conversation in conversations]
    return {
        "tuning": [names[i] for i in split.tuning],
        "test": [names[i] for i in split.test],
        "tick": "a session; questions in the tick after the last",
        "tau": "max(1, sessions / 4)",
        "cap": CAP,
        "importance": f"min(1, distinct stems of content words / {FULL})",
        "appraiser": dict(reader.appraiser),
        "bm25_textbook": rows_of(TEXTBOOK),
        "generative_agents_published": rows_of(PUBLISHED),
        "passive": rows_of(PassiveParameters()),
        "retention": rows_of(RetentionParameters()),
    }


def _settings(chosen: Any) -> dict[str, Any]:
    return {name: rows_of(getattr(chosen, name)) for name in chosen.__dataclass_fields__}
