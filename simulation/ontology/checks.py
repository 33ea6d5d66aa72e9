"""What the types of an ontology file cannot see: names that must exist, sums, cycles, words."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simulation.ontology.answers import normalise
from simulation.ontology.reading import problem
from simulation.spelling import did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simulation.errors import Problem
    from simulation.ontology.entries import AttributeEntry, FieldEntry, RowEntry
    from simulation.yaml_reading import Plain

MAX_COMBINATIONS = 100_000
_BRACES = re.compile(r"\{[^{}]*\}|[{}]")
_TABLE = frozenset({"given", "table"})
_RANGE = frozenset({"distribution", "mean", "sd", "minimum", "maximum", "integer"})
_KEYS = {  # keys that only some kinds of attributes have
    "category": _TABLE | {"values"},
    "number": _TABLE | _RANGE | {"bands"},
    "text": frozenset[str](),
}
_ASPECT = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_VOICE_END = tuple(".,;:!?")


@dataclass(slots=True)
class Report:
    """The problems found so far.

    unknown: attributes of which nothing is known.  faulty: indices of attributes with a problem.
    """

    plain: Plain
    unknown: frozenset[str] = frozenset()
    problems: list[Problem] = field(default_factory=list)
    faulty: set[str | int] = field(default_factory=set)

    def add(self, path: Sequence[str | int], message: str) -> None:
        """Note a problem at a key path."""
        self.faulty.update(path[1:2])
        self.problems.append(problem(tuple(path), message, self.plain))


def field_problems(
    entry: FieldEntry, plain: Plain, *, unknown: frozenset[str] = frozenset()
) -> list[Problem]:
    """Return everything that is wrong with an ontology beyond its shape.

    unknown: attributes of which nothing is known, since the types refused them.
    """
    report = Report(plain, unknown)
    _repeats(report, ("attributes",), [a.id for a in entry.attributes])
    for index, attribute in enumerate(entry.attributes):
        path = ("attributes", index)
        _check_kind(report, path, attribute)
        _check_levels(report, path, attribute)
        _check_words(report, path, attribute)
        _check_parents(report, path, attribute, entry)
    if not report.problems and not unknown:  # what follows needs sound references
        _check_order(report, entry)
    _check_aspects(report, entry)
    sound = {a.id: i for i, a in enumerate(entry.attributes) if i not in report.faulty}
    for index in sound.values():
        attribute = entry.attributes[index]
        if sound.keys() >= set(attribute.given):
            _check_coverage(report, ("attributes", index), attribute, entry)
    return report.problems


def is_drawn(entry: AttributeEntry) -> bool:
    """Return whether an attribute says how it is drawn; if not, it comes from files only."""
    weighted = any(level.weight is not None for level in entry.levels)
    return entry.kind != "text" and (
        entry.distribution != "bands" or weighted or bool(entry.table)
    )


def drawing_order(entry: FieldEntry) -> tuple[str, ...] | None:
    """Return the drawn attributes with parents first, else in file order; None for a cycle."""
    waiting = {a.id: set(a.given) for a in entry.attributes if is_drawn(a)}
    order: list[str] = []
    while waiting:
        ready = next((name for name, parents in waiting.items() if parents <= set(order)), None)
        if ready is None:
            return None
        order.append(ready)
        del waiting[ready]
    return tuple(order)


def row_for(entry: AttributeEntry, levels: Sequence[str]) -> RowEntry | None:
    """Return the first row of the table that holds for the parents' levels."""
    return next((row for row in entry.table if _holds(row, entry.given, levels)), None)


def _holds(row: RowEntry, given: Sequence[str], levels: Sequence[str]) -> bool:
    return all(
        level in named(row, parent)
        for parent, level in zip(given, levels, strict=True)
        if parent in row.when
    )


def named(row: RowEntry, parent: str) -> tuple[str, ...]:
    """Return the levels of a parent that a row names, one or several."""
    levels = row.when[parent]
    return (levels,) if isinstance(levels, str) else levels


def _repeats(report: Report, path: Sequence[str | int], ids: Iterable[str]) -> None:
    seen: dict[str, int] = {}
    for index, name in enumerate(ids):
        if name in seen:
            report.add((*path, index), f'"{name}" stands twice')
        seen[name] = index


def _check_kind(report: Report, path: tuple[str | int, ...], entry: AttributeEntry) -> None:
    allowed = _KEYS[entry.kind]
    special = frozenset[str]().union(*_KEYS.values())
    for key in sorted((entry.model_fields_set & special) - allowed):
        report.add((*path, key), f"a {entry.kind} attribute has no {key}")
    if entry.kind == "category" and not entry.values:
        report.add(path, "a category attribute needs values")
    if entry.kind == "number":
        _check_number(report, path, entry)


def _check_number(report: Report, path: tuple[str | int, ...], entry: AttributeEntry) -> None:
    low = -math.inf if entry.minimum is None else entry.minimum
    high = math.inf if entry.maximum is None else entry.maximum
    if low > high:
        report.add((*path, "minimum"), f"minimum {low:g} is above maximum {high:g}")
    if entry.distribution == "normal" and (entry.mean is None or entry.sd is None):
        report.add((*path, "distribution"), "a normal distribution needs mean and sd")
    if entry.distribution != "bands" and (entry.minimum is None or entry.maximum is None):
        report.add((*path, "distribution"), "this distribution needs minimum and maximum")
    if entry.distribution != "bands" and (entry.table or entry.given):
        report.add((*path, "table"), "a table gives weights to bands; drop the distribution")
    _check_bands(report, path, entry, low=low, high=high)


def _check_bands(
    report: Report, path: tuple[str | int, ...], entry: AttributeEntry, *, low: float, high: float
) -> None:
    before = -math.inf
    for index, band in enumerate(entry.bands):
        place = (*path, "bands", index)
        if band.low > band.high:
            report.add(place, f"low {band.low:g} is above high {band.high:g}")
        if band.low < before or (entry.integer and band.low == before):
            report.add(place, f"low {band.low:g} does not follow the band before it")
        if entry.integer and not (band.low.is_integer() and band.high.is_integer()):
            report.add(place, "a whole-number attribute needs whole ends")
        if not low <= band.low <= band.high <= high:
            report.add(place, "reaches outside minimum and maximum")
        before = band.high


def _check_levels(report: Report, path: tuple[str | int, ...], entry: AttributeEntry) -> None:
    key = "values" if entry.kind == "category" else "bands"
    _repeats(report, (*path, key), [level.id for level in entry.levels])
    weights = [level.weight for level in entry.levels if level.weight is not None]
    if weights and sum(weights) <= 0:
        report.add((*path, key), "the weights sum to 0; at least one must be positive")
    owners: dict[str, str] = {}
    for index, value in enumerate(entry.values):
        names = {normalise(name) for name in (value.id, value.label or value.id, *value.synonyms)}
        for name in sorted(names):
            owner = owners.setdefault(name, value.id)
            if owner != value.id:
                report.add((*path, key, index), f'"{name}" also names the value "{owner}"')


def _check_words(report: Report, path: tuple[str | int, ...], entry: AttributeEntry) -> None:
    for place, text in _templates(entry):
        wrong = [brace for brace in _BRACES.findall(text) if brace != "{value}"]
        if wrong:
            report.add((*path, *place), f"only {{value}} may stand in braces; found {wrong[0]}")
        if place[-1] == "voice" and text.endswith(_VOICE_END):
            report.add((*path, *place), "a voice is a fragment: it ends without punctuation")
    if entry.say is not None and "{value}" not in entry.say:
        report.add((*path, "say"), "must contain {value}; a fixed sentence belongs to a value")
    if entry.question is None and "answers" in entry.model_fields_set:
        report.add((*path, "answers"), "answers without a question")
    for index, answer in enumerate(entry.answers):
        if "{value}" not in answer:
            report.add((*path, "answers", index), "must contain {value}")


def _templates(entry: AttributeEntry) -> Iterator[tuple[tuple[str | int, ...], str]]:
    key = "values" if entry.kind == "category" else "bands"
    texts: list[tuple[tuple[str | int, ...], str | None]] = [
        (("say",), entry.say),
        (("voice",), entry.voice),
        *((("answers", i), answer) for i, answer in enumerate(entry.answers)),
    ]
    for index, level in enumerate(entry.levels):
        texts += [((key, index, "say"), level.say), ((key, index, "voice"), level.voice)]
    yield from ((place, text) for place, text in texts if text is not None)


def _check_parents(
    report: Report, path: tuple[str | int, ...], entry: AttributeEntry, whole: FieldEntry
) -> None:
    others = {a.id: a for a in whole.attributes if a.id != entry.id}
    for index, parent in enumerate(entry.given):
        place = (*path, "given", index)
        if parent in report.unknown:
            continue
        if parent not in others:
            names = f"; attributes are {listed(others)}{did_you_mean(parent, others)}"
            report.add(place, f'"{parent}" is not another attribute{names}')
        elif not others[parent].levels or not is_drawn(others[parent]):
            report.add(place, f'"{parent}" has no drawn values or bands to depend on')
    _repeats(report, (*path, "given"), entry.given)
    if entry.given and not entry.table:
        report.add((*path, "given"), "given without a table says nothing")
    for index, row in enumerate(entry.table):
        _check_row(report, (*path, "table", index), row, entry, others)


def _check_row(
    report: Report,
    path: tuple[str | int, ...],
    row: RowEntry,
    entry: AttributeEntry,
    others: dict[str, AttributeEntry],
) -> None:
    for parent in row.when:
        if parent not in entry.given:
            hint = did_you_mean(parent, entry.given)
            report.add((*path, "when", parent), f'"{parent}" is not in given{hint}')
        elif parent in others:
            levels = [level.id for level in others[parent].levels]
            _known(report, (*path, "when", parent), named(row, parent), levels)
    own = [level.id for level in entry.levels]
    for name in row.weights:
        _known(report, (*path, "weights", name), (name,), own)
    if sum(row.weights.values()) <= 0:
        report.add((*path, "weights"), "the weights sum to 0; at least one must be positive")


def _known(
    report: Report, path: tuple[str | int, ...], names: Iterable[str], allowed: Sequence[str]
) -> None:
    for name in names:
        if name not in allowed:
            hint = did_you_mean(name, allowed)
            report.add(path, f'"{name}" is unknown; values are {listed(allowed)}{hint}')


def _check_aspects(report: Report, entry: FieldEntry) -> None:
    for aspect, words in entry.aspects.items():
        path = ("aspects", aspect)
        if not _ASPECT.fullmatch(aspect):
            report.add(path, "an aspect's name is letters, digits and _, a letter first")
        _repeats(report, path, [word.casefold() for word in words])
        for index, word in enumerate(words):
            if not any(map(str.isalnum, word)):
                report.add((*path, index), f"{word!r} has no letter to look for")


def _check_order(report: Report, entry: FieldEntry) -> None:
    if drawing_order(entry) is not None:
        return
    caught = [a.id for a in entry.attributes if a.given]
    message = f"given goes round in a circle among {listed(caught)}"
    report.add(("attributes", [a.id for a in entry.attributes].index(caught[0]), "given"), message)


def _check_coverage(
    report: Report, path: tuple[str | int, ...], entry: AttributeEntry, whole: FieldEntry
) -> None:
    by_id = {a.id: a for a in whole.attributes}
    for parent in entry.given:
        if not _bands_cover(by_id[parent]):
            message = f'the bands of "{parent}" leave gaps between its minimum and maximum'
            report.add((*path, "given"), message)
    levels = [[level.id for level in by_id[parent].levels] for parent in entry.given]
    if math.prod(map(len, levels)) > MAX_COMBINATIONS:
        report.add((*path, "given"), f"more than {MAX_COMBINATIONS:,} combinations of parents")
        return
    if not entry.table or any(level.weight is not None for level in entry.levels):
        return
    gaps = [c for c in itertools.product(*levels) if row_for(entry, c) is None]
    if gaps:
        message = f"no row for {len(gaps)} combinations, such as {listed(gaps[0])}"
        report.add((*path, "table"), f"{message}; add a last row without `when`")


def _bands_cover(entry: AttributeEntry) -> bool:
    if entry.kind != "number" or entry.distribution == "bands":
        return True
    step = 1.0 if entry.integer else 0.0
    ends = itertools.pairwise(entry.bands)
    whole = entry.bands[0].low == entry.minimum and entry.bands[-1].high == entry.maximum
    return whole and all(a.high + step == b.low for a, b in ends)
