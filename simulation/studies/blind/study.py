"""The study `blind-annotation`: memories to be labelled by somebody who knows nothing else.

Without data it writes what a blind reader gets, item names without meaning and texts in mixed
order, and apart from it the key. With a file of the reader's labels it says how far they agree
with the labels that the studies use.

Source: PersMem, F.6 and E.6. The rubric is that of docs/corpora.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.rng import Streams, stream_keys
from simulation.studies import corpus, intervals
from simulation.studies.blind.labels import RANGES, Labels, correlation, kappa, read_labels
from simulation.studies.output import Findings, publish, sha256_of
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simulation.studies.tables import Cell

    IntArray = NDArray[np.int64]

NAME: Final = "blind-annotation"
READER: Final = "for_the_reader"
KEY: Final = "key.csv"
AGREED: Final = 0.8
LEAST: Final = 30
"""Of fewer items nothing is judged."""
ABOUT: Final = (
    "A reader who is given the folder `for_the_reader` and nothing else labels each text by the "
    "rubric in it. The key, from items to memories, stays with whoever hands it out. A file of "
    "the reader's labels, named by --data, is held against the labels that the studies use."
)
INSTRUCTIONS: Final = """# What to do

`items.csv` holds short texts in which one person tells something from their life. Read each and
add four columns, `valence`, `arousal`, `dominance` and `specificity`. Judge how it was for the
person telling it, at the time, from what the text says and no more. Work alone, do not look
anything up, and do not go back to make labels alike. Leave a row without labels if you do not
get to it.

**valence**, -1 to 1: how bad or good it felt. -1 among the worst that happens to anyone, -0.75 a
grave harm, -0.5 bad beyond the day, -0.25 a sting, 0 neither or as much of one as of the other,
0.25 a small pleasure, 0.5 good enough to tell at supper, 0.75 a joy, 1 among the best that
happens to anyone. Below -0.2 counts as negative, above 0.2 as positive.

**arousal**, 0 to 1: how stirred body and mind were. 0.1 near sleep, 0.3 quiet, also a quiet
sorrow, 0.5 awake and at work, 0.7 the heart is heard, 0.9 beside oneself.

**dominance**, 0 to 1: how far it was the teller's to decide. 0.1 nothing to be done, 0.3 others
or chance lead, 0.5 some of both, 0.7 decides and does it, 0.9 all of it answers to the teller.
It is not virtue: who hurts somebody is in control.

The three numbers go in steps of 0.05, with a decimal point.

**specificity**: `specific` for one event, at one time and place, of a day or less, even where no
date is given; `overgeneral` for a kind of event that came again, an extended period, a habit or
a trait. One past event with a word on its later consequence is specific; a habit told with one
instance is overgeneral.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A memory as the reader meets it. item: its name.  memory, of: its id and set."""

    item: str
    text: str
    memory: str
    of: str


def run(folder: Path, *, quick: bool, data: Path | None) -> str:
    """Hand out the items, or score a reader's labels, into a new folder; return what to print.

    quick: changes nothing.  data: CSV or JSON Lines with `item` and the four labels.

    Raises:
        InputError: the data cannot be used. Nothing is written.
    """
    given = None if data is None else read_labels(data, [one.item for one in items()])
    findings = _handed_out() if data is None or given is None else _scored(data, *given)
    return publish(findings, folder, quick=quick)


def items() -> tuple[Item, ...]:
    """Return all memories in the order of the reader: mixed, the same every time."""
    every = [
        (memory, text, name)
        for name in corpus.NAMES
        for one in (corpus.read(name),)
        for memory, text in zip(one.ids, one.texts, strict=True)
    ]
    drawn = Streams(0).uniform(
        NAME, tick=0, keys=stream_keys(memory for memory, _, _ in every), index=0
    )
    return tuple(
        Item(item=f"item-{place:03d}", text=every[i][1], memory=every[i][0], of=every[i][2])
        for place, i in enumerate(np.argsort(drawn, kind="stable").tolist(), 1)
    )


def _ours() -> tuple[tuple[Item, ...], Labels, Labels]:
    """Return all items with the labels of the first and of the second reader."""
    every = items()
    sets = [corpus.read(name) for name in corpus.NAMES]
    place = {memory: i for i, memory in enumerate(i for one in sets for i in one.ids)}
    order = np.array([place[one.memory] for one in every])

    def labels(found: Sequence[corpus.Corpus]) -> Labels:
        return Labels(
            affect=np.concatenate([one.affect for one in found]),
            overgeneral=np.concatenate([one.overgeneral for one in found]),
        ).take(order)

    return every, labels(sets), labels([corpus.second(one) for one in sets])


def _handed_out() -> Findings:
    every, first, second = _ours()
    return _findings(
        verdicts=(
            Verdict(
                claim="handed out",
                found=f"{len(every)} items in {READER}; {KEY} is not for the reader",
                target="",
                reached=None,
            ),
            *_verdicts(first, second, "second reader of the corpora"),
        ),
        table=_agreement(every, first, second, "The second reader of the corpora"),
        records={
            f"{READER}/items.csv": _item_table().csv(),
            f"{READER}/instructions.md": INSTRUCTIONS,
            KEY: _key_table().csv(),
        },
    )


def _scored(data: Path, names: tuple[str, ...], theirs: Labels) -> Findings:
    every, first, _ = _ours()
    place = {one.item: i for i, one in enumerate(every)}
    at = np.array([place[name] for name in names])
    some = tuple(every[i] for i in at.tolist())
    ours = first.take(at)
    return _findings(
        verdicts=(
            Verdict(
                claim="labelled",
                found=f"{len(names)} of {len(every)} items",
                target="",
                reached=None,
            ),
            *_verdicts(ours, theirs, "reader"),
        ),
        table=_agreement(some, ours, theirs, "The reader"),
        data={data.name: sha256_of(data)},
    )


def _findings(
    *,
    verdicts: tuple[Verdict, ...],
    table: Table,
    records: dict[str, str] | None = None,
    data: dict[str, str] | None = None,
) -> Findings:
    return Findings(
        name=NAME,
        title="labels by a reader who knows nothing else",
        about=ABOUT,
        verdicts=verdicts,
        tables=(table,),
        seeds=(0,),
        records=records or {},
        data=corpus.digests() | (data or {}),
    )


def _verdicts(ours: Labels, theirs: Labels, who: str) -> Iterator[Verdict]:
    for label, one in ours.sides().items():
        pair = np.stack([one, theirs.sides()[label]], axis=1)
        value = kappa(pair[:, 0], pair[:, 1])
        undefined = math.isnan(value)
        found = "undefined: only one kind" if undefined else _interval(pair, label)
        few = len(pair) < LEAST
        yield Verdict(
            claim=f"{who}, {label}, Cohen's kappa",
            found=f"{found}; {len(pair)} items are too few to judge" if few else found,
            target=f">= {AGREED}",
            reached=None if undefined or few else value >= AGREED,
            theirs=".988" if label == "specificity" else "",
        )


def _interval(pair: NDArray[np.int64], label: str) -> str:
    return intervals.bootstrap(
        pair.astype(np.float64),
        lambda rows: kappa(*rows.astype(np.int64).T),
        purpose=f"{NAME}:{label}",
    ).words()


def _agreement(every: Sequence[Item], ours: Labels, theirs: Labels, who: str) -> Table:
    sets = np.array([one.of for one in every])
    rows: list[tuple[Cell, ...]] = []
    for name in (*corpus.NAMES, "all"):
        at = np.flatnonzero((sets == name) | (name == "all"))
        if len(at):
            one, other = ours.take(at), theirs.take(at)
            kappas = [kappa(a, other.sides()[label]) for label, a in one.sides().items()]
            linear = [
                correlation(one.affect[:, i], other.affect[:, i]) for i in range(len(RANGES))
            ]
            rows.append((name, len(at), *kappas, *linear))
    return Table(
        name="agreement",
        title=f"{who} and the labels of the studies",
        columns=(
            "set",
            "items",
            *(f"{label} kappa" for label in ours.sides()),
            *(f"{label} r" for label in RANGES),
        ),
        rows=tuple(rows),
    )


def _item_table() -> Table:
    rows = tuple((one.item, one.text) for one in items())
    return Table(name="items", title="Items", columns=("item", "text"), rows=rows)


def _key_table() -> Table:
    rows = tuple((one.item, one.memory, one.of) for one in items())
    return Table(name="key", title="Key", columns=("item", "memory_id", "set"), rows=rows)
