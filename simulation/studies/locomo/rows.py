"""Tables of the study `locomo`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.studies.locomo import comparing as of
from simulation.studies.locomo.comparing import Key
from simulation.studies.locomo.conversations import CATEGORIES
from simulation.studies.locomo.measuring import KS, recall_at
from simulation.studies.locomo.methods import best
from simulation.studies.locomo.verdicts import rivals
from simulation.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulation.rng import FloatArray
    from simulation.studies.locomo.comparing import Compared
    from simulation.studies.locomo.memories import Memories
    from simulation.studies.locomo.tuning import Chosen, Grid, Grids
    from simulation.studies.tables import Cell

_KS = tuple(f"recall@{k}" for k in KS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A conversation, measured with what was chosen on all others. recall: @5 by method."""

    conversation: str
    chosen: Chosen
    recall: Mapping[str, float]


def left_out(compared: Compared, grids: Grids, encoder: str) -> tuple[LeftOut, ...]:
    """Return each conversation, measured with what was chosen on all others."""
    everything = range(len(compared.conversations))
    return tuple(
        _left_out(one, grids.choose([j for j in everything if j != i]), encoder)
        for i, one in enumerate(compared.conversations)
    )


def _left_out(memories: Memories, chosen: Chosen, encoder: str) -> LeftOut:
    used, methods = memories.all(), of.methods_of(encoder, chosen)
    tops = {name: best(memories, used, methods[name](memories, used)) for name in of.MAIN}
    return LeftOut(
        conversation=memories.conversation.id,
        chosen=chosen,
        recall={
            name: float(recall_at(memories.questions, top)[:, of.AT].mean())
            for name, top in tops.items()
        },
    )


def tables(
    compared: Compared,
    grids: Mapping[str, Grids],
    tuning: Sequence[int],
    test: Sequence[int],
    left: Sequence[LeftOut],
) -> tuple[Table, ...]:
    """Return all tables."""
    main = next(iter(compared.chosen))
    grid, chosen = grids[main], compared.chosen[main]
    found = [
        _recall(compared, test, "recall", "Evidence recall on the test conversations"),
        _recall(compared, tuning, "recall_tuning", "Evidence recall on the tuning conversations"),
        _categories(compared, test, main),
        _differences(compared, test, main),
        _conversations(compared, tuning),
        _grid("grid_bm25", "BM25", grid.bm25, tuning),
        _grid("grid_generative_agents", "Generative-Agents scoring", grid.weights, tuning),
        _grid("grid_hybrid", "our mode", grid.hybrid(chosen.bm25), tuning),
        _questions(compared, main),
    ]
    if left:
        found.insert(4, _left_table(left))
    return tuple(found)


def _recall(compared: Compared, among: Sequence[int], name: str, title: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for key in compared.found:
        values = compared.recall(key, among)
        means = values.mean(axis=0).tolist()
        interval = compared.interval(key, among)
        cells = (key.encoder, key.method, key.store, len(values))
        rows.append((*cells, *means, interval.low, interval.high))
    return Table(
        name=name,
        title=title,
        columns=("encoder", "method", "memories", "questions", *_KS, "@5 low", "@5 high"),
        rows=tuple(rows),
    )


def _categories(compared: Compared, among: Sequence[int], encoder: str) -> Table:
    of_each = compared.categories(among)
    parts = {name: of_each == number for number, name in CATEGORIES.items()}
    parts["all but adversarial"] = np.isin(of_each, (1, 2, 3, 4))
    rows: list[tuple[Cell, ...]] = [
        (name, method, int(part.sum()), *_means(compared, _key(encoder, method), among, part))
        for name, part in parts.items()
        if part.any()
        for method in of.MAIN
    ]
    return Table(
        name="categories",
        title="Evidence recall by category, on the test conversations, all memories",
        columns=("category", "method", "questions", *_KS),
        rows=tuple(rows),
    )


def _means(compared: Compared, key: Key, among: Sequence[int], part: Any) -> tuple[float, ...]:
    means: FloatArray = compared.recall(key, among)[part].mean(axis=0)
    return tuple(means.tolist())


def _differences(compared: Compared, among: Sequence[int], main: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            key.encoder,
            key.method,
            other.encoder,
            other.method,
            key.store,
            *_between(compared, key, other, among),
        )
        for key, other in _pairs(compared, among, main)
    ]
    return Table(
        name="differences",
        title="Differences of recall@5 on the test conversations",
        columns=(
            "encoder",
            "method",
            "other encoder",
            "other",
            "memories",
            "difference",
            "low (conversations)",
            "high (conversations)",
            "low (questions)",
            "high (questions)",
        ),
        rows=tuple(rows),
    )


def _between(compared: Compared, key: Key, other: Key, among: Sequence[int]) -> tuple[float, ...]:
    found, questions = compared.difference(key, other, among)
    return (found.value, found.low, found.high, questions.low, questions.high)


def _pairs(compared: Compared, among: Sequence[int], main: str) -> Iterator[tuple[Key, Key]]:
    for encoder in compared.chosen:
        for store in of.STORES:
            yield _key(encoder, of.PERSMEM, store), _key(encoder, of.AGENTS, store)
            yield _key(encoder, of.PERSMEM, store), _key(encoder, of.AGENTS_BEST, store)
            yield (
                _key(encoder, of.AGELESS_PERSMEM, store),
                _key(encoder, of.AGELESS_AGENTS, store),
            )
            ours = _key(encoder, of.OURS, store)
            yield from ((ours, other) for other in rivals(compared, among, main, store))
            yield ours, _key(encoder, of.AGENTS_BEST, store)


def _left_table(left: Sequence[LeftOut]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            one.conversation,
            *(one.recall[name] for name in of.MAIN),
            one.recall[of.OURS] - one.recall[of.BM25],
            _words(one.chosen.bm25),
            _words(one.chosen.weights),
            _words(one.chosen.hybrid),
        )
        for one in left
    ]
    means = [float(np.mean([one.recall[name] for one in left])) for name in of.MAIN]
    above = means[of.MAIN.index(of.OURS)] - means[of.MAIN.index(of.BM25)]
    rows.append(("mean", *means, above, "", "", ""))
    return Table(
        name="leave_one_out",
        title="Recall@5 of each conversation, settings chosen on all others",
        columns=(
            "conversation",
            *of.MAIN,
            "ours above BM25, tuned",
            "BM25 settings",
            "Generative-Agents settings",
            "our settings",
        ),
        rows=tuple(rows),
    )


def _words(setting: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in asdict(setting).items())


def _conversations(compared: Compared, tuning: Sequence[int]) -> Table:
    rows = tuple(_conversation(m, i in tuning) for i, m in enumerate(compared.conversations))
    return Table(
        name="conversations",
        title="The conversations",
        columns=(
            "conversation",
            "part",
            "sessions",
            "turns",
            "questions",
            "asked",
            "evidence not found",
            "evidence kept under the cap",
        ),
        rows=rows,
    )


def _conversation(memories: Memories, tuned: bool) -> tuple[Cell, ...]:  # noqa: FBT001 - a cell
    given = memories.conversation
    kept = [memories.capped[list(q.evidence)].mean() for q in memories.questions]
    return (
        given.id,
        "tuning" if tuned else "test",
        int(memories.tick.max()) + 1,
        len(given.turns),
        len(given.questions),
        len(memories.questions),
        len(given.unknown),
        float(np.mean(kept)),
    )


def _grid(name: str, of_what: str, grid: Grid[Any], tuning: Sequence[int]) -> Table:
    means = grid.means(tuning).tolist()
    pairs = zip(grid.settings, means, strict=True)
    return Table(
        name=name,
        title=f"Settings of {of_what}: recall@5 on the tuning conversations",
        columns=(*asdict(grid.settings[0]), "recall@5"),
        rows=tuple((*asdict(setting).values(), found) for setting, found in pairs),
    )


def _questions(compared: Compared, encoder: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for i, memories in enumerate(compared.conversations):
        places = {id(q): n for n, q in enumerate(memories.conversation.questions)}
        asked = [(places[id(q)], q) for q in memories.questions]
        for method in of.MAIN:
            found = compared.found[_key(encoder, method)][i].tolist()
            rows += [
                (memories.conversation.id, n, q.category, len(q.evidence), method, *values)
                for (n, q), values in zip(asked, found, strict=True)
            ]
    return Table(
        name="questions",
        title="Every question, all memories",
        columns=("conversation", "question", "category", "evidence", "method", *_KS),
        rows=tuple(rows),
    )


def _key(encoder: str, method: str, store: str = of.ALL) -> Key:
    return Key(encoder=encoder, method=method, store=store)
