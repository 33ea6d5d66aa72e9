"""YAML nodes to plain values: dict, list, text, numbers; with the line of every key path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulation.errors import Problem
from simulation.yaml_reading.keypath import format_path
from simulation.yaml_reading.nodes import USUAL, read_nodes
from simulation.yaml_reading.scalars import SurpriseError, quoted, read_plain, unsafe_character

if TYPE_CHECKING:
    from simulation.yaml_reading.keypath import Key, KeyPath
    from simulation.yaml_reading.nodes import Limits, Node

_CORE = "tag:yaml.org,2002:"
_KINDS = {f"{_CORE}seq": "list", f"{_CORE}map": "mapping", f"{_CORE}str": "scalar", "!": "scalar"}
_SCALARS: dict[str, tuple[type, ...]] = {
    f"{_CORE}null": (type(None),),
    f"{_CORE}bool": (bool,),
    f"{_CORE}int": (int,),
    f"{_CORE}float": (float, int),
}


@dataclass(slots=True, kw_only=True)
class Plain:
    """What a YAML text says.

    data: dict, list, str, int, float, bool or None.  lines: 1-based line of every key path.
    words: spelling of unquoted scalars that are no text.  broken: places with a problem, which
    later checks leave alone.
    """

    data: Any = None
    lines: dict[KeyPath, int] = field(default_factory=dict)
    words: dict[KeyPath, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    broken: set[KeyPath] = field(default_factory=set)

    def note(self, path: KeyPath, line: int, message: str) -> None:
        """Note a problem; the value at the path is checked all the same."""
        self.problems.append(Problem(where=format_path(path), message=message, line=line))

    def complain(self, path: KeyPath, line: int, message: str) -> None:
        """Note a problem and that the value at the path is not to be used."""
        self.note(path, line, message)
        self.broken.add(path)


def read_plain_yaml(text: str, limits: Limits = USUAL) -> Plain:
    """Return the values of a YAML text; an empty one gives None.

    Raises:
        YamlError: the text as a whole cannot be read.
    """
    plain = Plain()
    root = read_nodes(text, limits)
    if root is not None:
        plain.data = _value(root, (), plain, root.line)
    return plain


def _value(node: Node, path: KeyPath, plain: Plain, line: int) -> Any:
    """Return a node's value; recursion is bounded by the depth limit of `nodes.py`."""
    if not _tag_fits(node):
        tag = quoted(node.tag or "")[1:-1]
        plain.complain(path, line, f"the tag {tag} is not allowed; only plain values are")
    if node.kind == "mapping":
        return _mapping(node, path, plain)
    if node.kind == "list":
        return [_item(child, (*path, i), plain) for i, child in enumerate(node.children)]
    return _scalar(node, path, plain, line)


def _tag_fits(node: Node) -> bool:
    if node.tag is None or (node.tag in _SCALARS and node.kind == "scalar"):
        return True
    return _KINDS.get(node.tag) == node.kind or node.tag == "!"


def _item(node: Node, path: KeyPath, plain: Plain) -> Any:
    plain.lines[path] = node.line
    return _value(node, path, plain, node.line)


def _mapping(node: Node, path: KeyPath, plain: Plain) -> dict[str, Any]:
    values: dict[str, Any] = {}
    pairs = zip(node.children[::2], node.children[1::2], strict=True)
    for key_node, value_node in pairs:
        key = _key(key_node, path, plain)
        if key is None:
            continue
        place = (*path, key)
        if key in values:
            message = f"appears twice; first in line {plain.lines[place]}"
            plain.note(place, key_node.line, message)
            continue
        plain.lines[place] = key_node.line
        values[key] = _value(value_node, place, plain, key_node.line)
    return values


def _key(node: Node, path: KeyPath, plain: Plain) -> str | None:
    """Return a key; one that is not text is a problem, and is then taken as it is spelled."""
    if node.kind != "scalar":
        plain.note(path, node.line, f"a key must be text, not a {node.kind}")
        return None
    if node.plain and node.text == "<<":
        plain.complain(
            path, node.line, "merge keys (<<) are not supported; write the keys out, or use an "
            "alias for each value"
        )  # fmt: skip
        return None
    place: tuple[Key, ...] = (*path, node.text)
    if not node.text:
        plain.note(path, node.line, "a key must not be empty")
        return None
    _check_key(node, place, plain)
    return node.text


def _check_key(node: Node, place: KeyPath, plain: Plain) -> None:
    """Note a key with a tag, a key that YAML does not read as text, or control codes."""
    try:
        value = read_plain(node.text) if node.plain and node.tag is None else node.text
    except SurpriseError as surprise:
        plain.note(place, node.line, f"a key must be text: {surprise}")
        return
    if not isinstance(value, str):
        plain.note(
            place,
            node.line,
            f"a key must be text, and YAML reads {node.text} as {_meaning(value)}; "
            f"put it in quotes: {quoted(node.text)}",
        )
    elif unsafe_character(value) or not _tag_fits(node):
        plain.note(place, node.line, "a key must be plain text")


def _meaning(value: float | bool | None) -> str:  # noqa: FBT001 - a value, not a switch
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else "a number"


def _scalar(node: Node, path: KeyPath, plain: Plain, line: int) -> Any:
    name = unsafe_character(node.text)
    if name is not None:
        plain.complain(path, line, f"the character {name} is not allowed in a text")
        return ""
    if node.tag in _SCALARS:
        return _tagged(node, path, plain, line)
    if not node.plain or node.tag is not None:
        return node.text
    try:
        value = read_plain(node.text)
    except SurpriseError as surprise:
        plain.complain(path, line, str(surprise))
        return node.text
    if not isinstance(value, str):
        plain.words[path] = node.text
    return value


def _tagged(node: Node, path: KeyPath, plain: Plain, line: int) -> Any:
    """Return a scalar with a core tag such as `!!int`, whose text must fit it."""
    tag = str(node.tag)
    try:
        value = read_plain(node.text)
    except SurpriseError as surprise:
        plain.complain(path, line, str(surprise))
        return node.text
    fits = isinstance(value, _SCALARS[tag]) and not (
        isinstance(value, bool) and bool not in _SCALARS[tag]
    )
    if not fits:
        plain.complain(
            path, line, f"{quoted(node.text)} does not fit its tag !!{tag[len(_CORE) :]}"
        )
        return node.text
    return float(value) if tag == f"{_CORE}float" and value is not None else value


def frozen(value: Any) -> Any:
    """Return plain values with tuples for lists, as typed entries hold them."""
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    return tuple(map(frozen, value)) if isinstance(value, list) else value
