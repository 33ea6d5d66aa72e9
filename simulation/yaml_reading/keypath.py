"""Key paths: where a value stands in a file, as people write it.

`stimuli[2].claim` and `stimuli.2.claim` are the same place; a key that is no plain word stands in
brackets and quotes: `audience["age group"]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping
from collections.abc import Set as AbstractSet

Key = str | int
KeyPath = tuple[Key, ...]

_WORD = re.compile(r"[^\W\d][\w-]*")
_STEP = re.compile(
    r"""(?:^|\.)(?P<word>[^.\[\]"=\s][^.\[\]"]*)   # population, or .size, or .2
    | \[(?P<index>\d{1,9})\]                       # [2]
    | (?:^|\.)?\[(?P<quoted>"(?:[^"\\]|\\.)*")\]   # ["age group"]
    """,
    re.VERBOSE,
)


def format_path(path: KeyPath) -> str:
    """Return a key path as text.

    >>> format_path(("stimuli", 2, "audience", "age group"))
    'stimuli[2].audience["age group"]'
    """
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif _WORD.fullmatch(key):
            text += f".{key}" if text else key
        else:
            text += f"[{json.dumps(key, ensure_ascii=not key.isprintable())}]"
    return text


def parse_path(text: str) -> KeyPath | None:
    """Return the keys of a path, or None when it is not one.

    Indices after a dot stay text, since only the data can tell a list from a mapping.

    >>> parse_path("stimuli[2].audience")
    ('stimuli', 2, 'audience')
    """
    keys: list[Key] = []
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            return None
        keys.append(_key(step))
        at = step.end()
    return tuple(keys) or None


def _key(step: re.Match[str]) -> Key:
    if step["index"] is not None:
        return int(step["index"])
    if step["quoted"] is not None:
        return _unquoted(step["quoted"])
    return step["word"].strip()


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]


def step_into(container: object, key: Key) -> tuple[Key, bool]:
    """Return the key in the form that fits a container, and whether it is there.

    A list takes whole numbers (also "2"), a mapping takes text.
    """
    if isinstance(container, Mapping):
        return str(key), str(key) in container
    if isinstance(container, list | tuple) and str(key).isdecimal():
        index = int(key)
        return index, index < len(container)
    return key, False


def deepest(path: KeyPath, places: Container[KeyPath]) -> KeyPath:
    """Return the longest beginning of a path that is one of some places; () when none is."""
    depths = range(len(path), 0, -1)
    return next((path[:depth] for depth in depths if path[:depth] in places), ())


def lies_in(path: KeyPath, places: AbstractSet[KeyPath]) -> bool:
    """Return whether a path is one of some places, or lies under one of them."""
    return any(path[:depth] in places for depth in range(len(path) + 1))
