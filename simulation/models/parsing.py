"""From what a written model answers to rows: nothing is trusted, whatever is refused is named.

What breaks a rule of method.md 9 and 12 raises `InvalidAnswerError`; what may be left out without
harm (an unknown belief, a bad rating) is left out and listed in `dropped` as (kind, detail). The
JSON Schemas of the answers stand in `schemas` and are offered here too.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.errors import InvalidAnswerError
from simulation.models.answers import (
    Dropped,
    clean,
    decode,
    printable,
    said_in,
    shown,
)
from simulation.models.base import ACTION_CODE, ACTIONS, ON_A_POST, SPEAKING
from simulation.models.batches import FRONTIER, choices, target_name
from simulation.models.copied import is_copied, is_copied_shape
from simulation.models.schemas import (
    MAX_MEMORIES,
    answer_schema,
    reaction_schema,
    reflection_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulation.models.base import Cast, FloatArray, ReflectionRequests, TurnRequests
    from simulation.models.batches import Choices

__all__ = [
    "Dropped",
    "InvalidAnswerError",
    "Parsed",
    "ParsedReflection",
    "answer_schema",
    "parse_probe",
    "parse_reaction",
    "parse_reflection",
    "reaction_schema",
    "reflection_schema",
]

MAX_PROBE = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parsed:
    """One row of `Reactions`.

    action: index into `ACTIONS`.  post: post id or -1.  persona: persona row or -1.
    change: (T,) in [-1, 1].  claim: index or -1.  stance: [-1, 1].  cause: the feed slot that
    moved what changed, or -1.  importance: [0, 1] or NaN.  dropped: (kind, detail) of what was
    left out of the answer.
    """

    action: int
    post: int
    persona: int
    words: str
    change: FloatArray
    claim: int
    stance: float
    cause: int
    importance: float
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParsedReflection:
    """One row of `ReflectionReplies`: revised (T,) in [0, 1] or NaN, 1 to 3 memories."""

    revised: FloatArray
    memories: tuple[str, ...]
    claim: int
    stance: float
    dropped: tuple[Dropped, ...]


def parse_reaction(
    answer: str, requests: TurnRequests, i: int, possible: Choices | None = None
) -> Parsed:
    """Return the reaction that an answer to the i-th turn holds.

    The claim is that of the post acted on, else the one with the largest change, else none; the
    stance is 2b - 1 of its credence after the change; the cause is the slot of the post acted
    on, else the first slot of the feed (method.md 1, 2, 9, 12).

    possible: the turn's `choices`, where they are known.

    Raises:
        InvalidAnswerError: not JSON, a wrong type, an action that is unknown or not possible now,
            a missing or unknown target, nothing said in an action that speaks.
    """
    given = decode(answer)
    dropped = _unknown_keys(given, ("action", "target", "words", "changes", "importance"))
    possible = choices(requests, i) if possible is None else possible
    action = _action(given, possible)
    post, persona = _target(given, action, possible[action], requests.cast.ids, dropped)
    words = _words(given, action, dropped)
    change = _changes(given, requests.cast, dropped)
    importance = _importance(given, int(requests.tier[i]), dropped)
    slot = requests.feed.post[i].tolist().index(post) if post >= 0 else -1
    claim = _claim(requests, i, slot, change)
    return Parsed(
        action=ACTION_CODE[action],
        post=post,
        persona=persona,
        words=words,
        change=change,
        claim=claim,
        stance=_stance(requests.beliefs[i] + change, requests.cast, claim),
        cause=slot if slot >= 0 else _first_slot(requests, i),
        importance=importance,
        dropped=tuple(dropped),
    )


def parse_reflection(answer: str, requests: ReflectionRequests, i: int) -> ParsedReflection:
    """Return what an answer to the i-th reflection holds (method.md 4, 12).

    `beliefs` are absolute values; null leaves one as it is. The claim is the one revised most.

    Raises:
        InvalidAnswerError: not JSON, a wrong type, a belief outside [0, 1], not 1 to 3 memories.
    """
    given = decode(answer)
    dropped = _unknown_keys(given, ("beliefs", "memories"))
    revised = _revised(given, requests.cast, dropped)
    memories = _memories(given, dropped)
    moved = np.nan_to_num(revised - requests.beliefs[i])
    claim = _most_moved(moved, requests.cast)
    return ParsedReflection(
        revised=revised,
        memories=memories,
        claim=claim,
        stance=_stance(revised, requests.cast, claim),
        dropped=tuple(dropped),
    )


def parse_probe(answer: str) -> str:
    """Return the first line of an answer, at most 200 code points.

    A JSON object with a text under "answer" counts as that text.

    Raises:
        InvalidAnswerError: nothing is said, or it starts as an object and is not such a one.
    """
    said = said_in(answer)
    lines = [printable(line).strip() for line in said.splitlines()]
    first = next((line for line in lines if line), "")
    if not first:
        raise InvalidAnswerError("the answer is empty")
    if is_copied_shape(first):
        raise InvalidAnswerError(f"{shown(first)} stands in the question; it is no answer")
    return first[:MAX_PROBE].rstrip()


# Reading fields


def _unknown_keys(given: dict[str, Any], known: tuple[str, ...]) -> list[Dropped]:
    """Return one entry that names the keys nobody asked for, if there are any."""
    extra = [shown(key) for key in given if key not in known]
    return [("unknown_key", ", ".join(extra))] if extra else []


def _action(given: dict[str, Any], possible: Choices) -> str:
    """Return the name of an action that is possible now."""
    if "action" not in given:
        raise InvalidAnswerError('"action" is missing')
    action = given["action"]
    if not isinstance(action, str) or action not in ACTIONS:
        raise InvalidAnswerError(f"{shown(action)} is not an action; {_allowed(possible)}")
    if action not in possible:
        raise InvalidAnswerError(f'"{action}" is not possible now; {_allowed(possible)}')
    return action


def _allowed(names: Iterable[str]) -> str:
    """Return what is allowed, in words."""
    return f"allowed: {', '.join(names) or 'nothing'}"


def _target(
    given: dict[str, Any],
    action: str,
    targets: tuple[int, ...],
    ids: Sequence[str],
    dropped: list[Dropped],
) -> tuple[int, int]:
    """Return (post id, persona row), -1 for none."""
    named = given.get("target")
    if not targets:
        if named not in (None, ""):
            dropped.append(("unused_target", f"{action} has no target, given {shown(named)}"))
        return -1, -1
    names = {target_name(action, target, ids): target for target in targets}
    if named in (None, ""):
        raise InvalidAnswerError(f'"{action}" needs a target; {_allowed(names)}')
    found = next((names[form] for form in _forms(named) if form in names), None)
    if found is None:
        allowed = _allowed(names)
        raise InvalidAnswerError(f'{shown(named)} is not a target of "{action}"; {allowed}')
    return (found, -1) if action in ON_A_POST else (-1, found)


def _forms(named: object) -> tuple[str, ...]:
    """Return the ways in which an answer may have meant an id: 12, "12", "#12", "a&amp;b"."""
    if isinstance(named, int) and not isinstance(named, bool):
        return (str(named),)
    if isinstance(named, str):
        return named, html.unescape(named), named.strip().removeprefix("#")
    return ()


def _words(given: dict[str, Any], action: str, dropped: list[Dropped]) -> str:
    """Return what is said, clean and cut; an action that speaks must say something.

    What is copied from the prompt counts as nothing.
    """
    said = given.get("words")
    if said is not None and not isinstance(said, str):
        raise InvalidAnswerError(f'"words" must be a text, not {shown(said)}')
    words = clean(said or "", "words", dropped)
    # A number alone may answer a question; elsewhere it is an id or a limit of the prompt.
    if (is_copied_shape if action == "answer" else is_copied)(words):
        if action in SPEAKING:
            raise InvalidAnswerError(f'"words" must be what you say, not {shown(words)}')
        dropped.append(("copied", f"words: {shown(words)}"))
        return ""
    if not words and action in SPEAKING:
        raise InvalidAnswerError(f'"{action}" needs words')
    return words


def _changes(given: dict[str, Any], cast: Cast, dropped: list[Dropped]) -> FloatArray:
    """Return (T,) requested changes, clipped to [-1, 1] (method.md 1)."""
    change = [0.0] * len(cast.targets)
    for at, name, value in _by_target(given, "changes", cast, dropped):
        # Adding 0 turns -0.0 into 0.0, so that equal changes have equal bytes.
        change[at] = min(1.0, max(-1.0, _finite(value, name))) + 0.0
    return np.array(change)


def _revised(given: dict[str, Any], cast: Cast, dropped: list[Dropped]) -> FloatArray:
    """Return (T,) revised beliefs, NaN where there is none."""
    if not isinstance(given.get("beliefs"), dict):
        raise InvalidAnswerError('"beliefs" must be an object, {} if nothing is revised')
    revised = np.full(len(cast.targets), np.nan)
    for at, name, value in _by_target(given, "beliefs", cast, dropped):
        if value is None:
            continue
        number = _finite(value, name)
        if not 0.0 <= number <= 1.0:
            raise InvalidAnswerError(f"{shown(name)} must lie in 0 to 1, not {shown(value)}")
        revised[at] = number + 0.0
    return revised


def _by_target(
    given: dict[str, Any], key: str, cast: Cast, dropped: list[Dropped]
) -> list[tuple[int, str, object]]:
    """Return (index, name, value) of the beliefs named under `key`; unknown names are dropped."""
    values = given.get(key)
    if values is None:
        return []
    if not isinstance(values, dict):
        raise InvalidAnswerError(f'"{key}" must be an object, not {shown(values)}')
    index = _places(cast.targets)
    dropped.extend(("unknown_belief", shown(name)) for name in values if name not in index)
    return [(index[name], name, value) for name, value in values.items() if name in index]


@lru_cache(maxsize=8)  # a run has one set of beliefs
def _places(targets: tuple[str, ...]) -> dict[str, int]:
    return {name: at for at, name in enumerate(targets)}


def _finite(value: object, name: str) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidAnswerError(f"{shown(name)} must be a number, not {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidAnswerError(f"{shown(name)} must be a finite number")
    return number


def _importance(given: dict[str, Any], tier: int, dropped: list[Dropped]) -> float:
    """Return a rating in [0, 1], or NaN where there is none to use (method.md 2)."""
    value = given.get("importance")
    if value is None:
        return math.nan
    if tier != FRONTIER:
        dropped.append(("importance_not_allowed", shown(value)))
        return math.nan
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        dropped.append(("bad_importance", shown(value)))
        return math.nan
    return float(value) + 0.0


def _memories(given: dict[str, Any], dropped: list[Dropped]) -> tuple[str, ...]:
    """Return 1 to 3 clean texts."""
    texts = given.get("memories")
    if not isinstance(texts, list) or not 1 <= len(texts) <= MAX_MEMORIES:
        raise InvalidAnswerError(f'"memories" must be a list of 1 to {MAX_MEMORIES} texts')
    kept = tuple(clean(text, "memory", dropped) for text in texts if isinstance(text, str))
    if len(kept) < len(texts) or not all(kept):
        raise InvalidAnswerError('each of "memories" must be a text that says something')
    copied = next((text for text in kept if is_copied(text)), None)
    if copied is not None:
        raise InvalidAnswerError(f'"memories" must be what you remember, not {shown(copied)}')
    return kept


# What follows from them


def _first_slot(requests: TurnRequests, i: int) -> int:
    """Return 0 when the feed has an item, else -1."""
    return 0 if requests.feed.post.shape[1] and requests.feed.post[i, 0] >= 0 else -1


def _claim(requests: TurnRequests, i: int, slot: int, change: FloatArray) -> int:
    """Return the claim of the post acted on, else the one changed most, else -1."""
    about = int(requests.feed.claim[i, slot]) if slot >= 0 else -1
    return about if about >= 0 else _most_moved(change, requests.cast)


def _most_moved(change: FloatArray, cast: Cast) -> int:
    """Return the claim with the largest change, the first of equals, -1 if none moved."""
    moved = [abs(each) for each in change[len(cast.dimensions) :].tolist()]
    most = max(moved, default=0.0)
    return moved.index(most) if most else -1


def _stance(beliefs: FloatArray, cast: Cast, claim: int) -> float:
    """Return 2b - 1 of the claim's credence, clipped to [-1, 1]; 0 without a claim."""
    if claim < 0:
        return 0.0
    credence = float(beliefs[len(cast.dimensions) + claim])
    return 2.0 * min(1.0, max(0.0, credence)) - 1.0
