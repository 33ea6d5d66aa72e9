"""What was answered, arm by arm, and the tables and the picture made of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from simulation.studies.conditioning import arms
from simulation.studies.conditioning.answers import expected_distinct, variety
from simulation.studies.plots import Line, lines
from simulation.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.studies.conditioning.answers import Answer, Normal, Variety
    from simulation.studies.conditioning.arms import Way

DRAWN: Final = {
    arms.AS_IN_A_RUN: "as in a run",
    arms.CHANCE_ALONE: "chance alone",
    arms.PERSON_ALONE: "block and opinions",
    arms.BLOCK_ALONE: "block alone",
    arms.DIRECT: "none of them",
}
"""What each curve lets stand."""
CURVE: Final = (1, 2, 5, 10, 20, 30, 40, 50, 75, 100, 125, 150)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What a population of a seed answered in a way. normal: the answers, normalised."""

    seed: int
    way: Way
    answers: Sequence[Answer]
    normal: Sequence[Normal]

    @property
    def variety(self) -> Variety:
        """How varied the answers are."""
        return variety(self.normal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a language model answered. arms: normalised, by arm.  rows: seed, arm, id, text."""

    head: str
    arms: Mapping[str, Sequence[Normal]]
    rows: tuple[tuple[str, str, str, str, str], ...]
    told: Mapping[str, Any]
    record: str


def distinct(made: Sequence[Arm], way: Way) -> list[int]:
    """Return the number of different answers in a way, a seed."""
    return [arm.variety.distinct for arm in made if arm.way == way]


def changed(made: Sequence[Arm], one: Way, other: Way) -> tuple[int, int, int]:
    """Return how many answers differ between two ways, how many choices, and of how many."""
    pairs = [
        pair
        for a in made
        for b in made
        if a.seed == b.seed and (a.way, b.way) == (one, other)
        for pair in zip(a.normal, b.normal, strict=True)
    ]
    return sum(a != b for a, b in pairs), sum(a[0] != b[0] for a, b in pairs), len(pairs)


def variety_table(made: Sequence[Arm]) -> Table:
    """Return how varied each arm is."""
    columns = (
        "asked", "seed", "answers", "distinct", "choices", "reasons", "entropy_bits",
        "commonest_share", "commonest",
    )  # fmt: skip
    rows = []
    for way in arms.WAYS:
        for arm in (arm for arm in made if arm.way == way):
            v = arm.variety
            example = f"{v.example[0]}: {v.example[1]}"
            rows.append((str(way), arm.seed, v.count, v.distinct, v.choices, v.reasons, v.entropy,
                         v.commonest, example))  # fmt: skip
    title = "How varied the answers of the rule model are, normalised; entropy in bits"
    return Table(name="variety", title=title, columns=columns, rows=tuple(rows))


def change_table(made: Sequence[Arm]) -> Table:
    """Return how many answers change when the block alone is taken away."""
    rows = []
    for way in (way for way in arms.WAYS if way.block):
        bare = replace(way, block=False)
        moved, choices, of = changed(made, way, bare)
        rows.append((str(way), str(bare), of, moved / of, choices / of))
    return Table(
        name="block_taken_away",
        title="The block taken away, all else the same: shares of answers and of choices that "
        "change, all seeds",
        columns=("with", "without", "answers", "answers_changed", "choices_changed"),
        rows=tuple(rows),
    )


def curve_table(made: Sequence[Arm]) -> Table:
    """Return the expected number of different answers of fewer personas."""
    rows = [
        (str(arm.way), arm.seed, size, expected_distinct(arm.normal, size))
        for way in DRAWN
        for arm in made
        if arm.way == way
        for size in CURVE
        if size <= len(arm.normal)
    ]
    return Table(
        name="curve",
        title="Different answers of n personas on average (rarefaction)",
        columns=("asked", "seed", "personas", "distinct"),
        rows=tuple(rows),
    )


def answer_table(made: Sequence[Arm]) -> Table:
    """Return every answer."""
    rows = [
        (str(arm.way), arm.seed, i, answer.choice, answer.reason, normal[1])
        for arm in made
        for i, (answer, normal) in enumerate(zip(arm.answers, arm.normal, strict=True))
    ]
    columns = ("asked", "seed", "persona", "choice", "reason", "reason_normalised")
    return Table(name="answers", title="All answers", columns=columns, rows=tuple(rows))


def spoken_tables(spoken: Spoken) -> list[Table]:
    """Return how varied the language model's answers are, and all of them."""
    rows = []
    for arm, found in spoken.arms.items():
        if found:
            v = variety(found)
            rows.append((arm, v.count, v.distinct, v.choices, v.reasons, v.entropy, v.commonest))
    columns = ("blocks", "answers", "distinct", "choices", "reasons", "entropy_bits",
               "commonest_share")  # fmt: skip
    return [
        Table(
            name="language_model",
            title="The language model's answers, normalised, at temperature 0",
            columns=columns,
            rows=tuple(rows),
        ),
        Table(
            name="language_model_answers",
            title="All answers of the language model; an empty text is a request without one",
            columns=("blocks", "persona", "choice", "reason", "text"),
            rows=spoken.rows,
        ),
    ]


def picture(made: Sequence[Arm]) -> str:
    """Return the curves as SVG, with the range over seeds."""
    sizes = [size for size in CURVE if size <= len(made[0].normal)]
    drawn = []
    for way, name in DRAWN.items():
        found = [
            [expected_distinct(arm.normal, size) for arm in made if arm.way == way]
            for size in sizes
        ]
        drawn.append(
            Line(
                name=name,
                x=sizes,
                y=[sum(each) / len(each) for each in found],
                low=[min(each) for each in found],
                high=[max(each) for each in found],
                dashed=not way.block,
            )
        )
    title = "Different answers of n personas of the rule model"
    return lines(title, x="personas", y="different answers", lines=drawn)
