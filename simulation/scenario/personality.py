"""What the types of `population.personality` cannot say: one kind, and values from one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.scenario.model import PROFILES, TRAITS
from simulation.scenario.words import meant
from simulation.yaml_reading import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simulation.scenario.draft import Draft
    from simulation.yaml_reading.keypath import KeyPath

    Found = Iterator[tuple[KeyPath, str]]
    Given = dict[str, Any]

_PLACE: KeyPath = ("population", "personality")
_COMMON = (("sample",), ("columns",))
_WAYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "attachment": (
        ("profile",),
        TRAITS["attachment"],
        *_COMMON,
        ("shares",),
        ("by", "profiles", "otherwise"),
    ),
    "big_five": (TRAITS["big_five"], *_COMMON),
}
_CHOICES = {
    "attachment": "profile, anxiety and avoidance, sample: true, columns, shares, or by and "
    "profiles",
    "big_five": "O, C, E, A and N, sample: true, or columns",
}


def personality_problems(draft: Draft) -> Found:
    """Yield what is wrong with the keys of a personality, as (key path, message)."""
    kind = draft.value(*_PLACE, "kind")
    if not isinstance(kind, str) or kind not in _WAYS:
        return  # no personality, or a kind that was complained about
    given = {k: v for k, v in draft.entries(*_PLACE).items() if v is not None and v is not False}
    foreign = list(_foreign(given, kind))
    yield from foreign or _values(given, kind)


def _foreign(given: Given, kind: str) -> Found:
    (other,) = _WAYS.keys() - {kind}
    own, others = (set[str]().union(*_WAYS[name]) for name in (kind, other))
    for key in given:
        if key in others - own:
            yield (*_PLACE, key), f"belongs to the kind {other}, not {kind}"


def _values(given: Given, kind: str) -> Found:
    """Yield what is wrong with where the values come from: one place, and all of it."""
    used = [way for way in _WAYS[kind] if any(key in given for key in way)]
    if not used:
        yield _PLACE, f"does not say which values: give {_CHOICES[kind]}"
    elif len(used) > 1:
        first, second = ([key for key in way if key in given] for way in used[:2])
        only = f"the values come from one place; give {_CHOICES[kind]}"
        yield (*_PLACE, second[0]), f"cannot stand beside {_and(first)}: {only}"
    else:
        yield from _CHECKS.get(used[0][0], _nothing)(given, kind)


def _traits(given: Given, kind: str) -> Found:
    missing = [name for name in TRAITS[kind] if name not in given]
    if missing:
        yield _PLACE, f"needs {_and(TRAITS[kind])}; {_and(missing)} {_is(missing)} missing"


def _columns(given: Given, kind: str) -> Found:
    columns, traits = given["columns"], TRAITS[kind]
    if not isinstance(columns, dict):
        return
    unknown = [name for name in columns if name not in traits]
    for name in unknown:
        yield (
            (*_PLACE, "columns", name),
            f"{quoted(name)} is no trait of the kind {kind}; {meant(name, traits, 'traits are')}",
        )
    missing = [name for name in traits if name not in columns]
    if missing and not unknown:
        yield (
            (*_PLACE, "columns"),
            f"needs a column for each of {_and(traits)}; {_and(missing)} {_is(missing)} missing",
        )


def _shares(given: Given, _kind: str) -> Found:
    shares = given["shares"]
    if not isinstance(shares, dict):
        return
    for name in shares:
        if name not in PROFILES:
            hint = meant(name, PROFILES, "profiles are")
            yield (*_PLACE, "shares", name), f"{quoted(name)} is not a profile; {hint}"
    if not any(shares.values()):
        yield (*_PLACE, "shares"), "must not all be 0"


def _by(given: Given, _kind: str) -> Found:
    if "by" not in given:
        yield (*_PLACE, "by"), "is required beside profiles: an attribute of the ontology"
    elif "profiles" not in given:
        yield (*_PLACE, "profiles"), "is required beside by: attribute value: profile"


def _nothing(_given: Given, _kind: str) -> Found:
    yield from ()


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


_CHECKS: dict[str, Callable[[Given, str], Found]] = {
    "anxiety": _traits,
    "O": _traits,
    "columns": _columns,
    "shares": _shares,
    "by": _by,
}
