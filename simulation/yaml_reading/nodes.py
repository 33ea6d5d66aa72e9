"""YAML text to nodes with line numbers, within limits that hold before anything is built.

We compose from PyYAML's event stream, not with `yaml.compose`: depth, size and aliases are then
counted while reading, so that an alias bomb is refused before it is expanded, recursion never
grows with the input, and no constructor exists that a tag could reach.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import yaml

from simulation.errors import Problem
from simulation.yaml_reading.scalars import quoted, unsafe_character

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HINTS = {
    "cannot start any token": "text that starts with this sign needs quotes; no tab may indent",
    "mapping values are not allowed": 'text that contains ": " needs quotes',
    "expected <block end>": "check the indentation, and quotes inside quotes",
    "did not find expected key": "check the indentation, and quotes inside quotes",
    "could not find expected ':'": 'a key needs a ":" after it',
    "end of stream": "a quote or bracket is not closed",
    "expected ',' or ']'": "a bracket is not closed",
    "expected ',' or '}'": "a bracket is not closed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a text may hold. aliases: 0 forbids anchors, too.  nodes: with aliases expanded."""

    bytes: int = 1024 * 1024
    depth: int = 50
    aliases: int = 100
    nodes: int = 200_000


USUAL = Limits()


@dataclass(slots=True, kw_only=True, eq=False)
class Node:
    """A scalar, list or mapping of the text.

    line: 1-based.  tag: an explicit tag, or None.  text, plain: of a scalar; plain when unquoted.
    children: items of a list, or keys and values of a mapping in turn.
    size: nodes in the tree below and this one.  height: 1 for a scalar.  Aliases are expanded.
    """

    kind: Literal["scalar", "list", "mapping"]
    line: int
    tag: str | None = None
    text: str = ""
    plain: bool = False
    children: list[Node] = field(default_factory=list)
    size: int = 1
    height: int = 1
    is_open: bool = False


class YamlError(Exception):
    """The text as a whole cannot be read; carries the one problem."""

    def __init__(self, message: str, line: int | None = None) -> None:
        """Keep the problem."""
        self.problem = Problem(where="", message=message, line=line)
        super().__init__(message)


def decoded(data: bytes, limits: Limits = USUAL) -> str:
    """Return the text of a file's bytes, without a byte order mark, with LF line ends.

    Raises:
        YamlError: more bytes than the limit, or not UTF-8.
    """
    if len(data) > limits.bytes:
        raise YamlError(_too_large(limits))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise YamlError("is not UTF-8 text; save it as UTF-8", line) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _too_large(limits: Limits) -> str:
    return f"is larger than {limits.bytes // 1024} KiB"


def read_nodes(text: str, limits: Limits = USUAL) -> Node | None:
    """Return the root node of a text, or None when it holds nothing.

    Raises:
        YamlError: not YAML, more than one document, or over a limit.
    """
    _check_characters(text, limits)
    composer = _Composer(limits)
    try:
        for event in _events(text):
            composer.take(event)
    except yaml.YAMLError as error:
        raise _explained(error) from error
    return composer.root


def _check_characters(text: str, limits: Limits) -> None:
    if len(text.encode("utf-8", "surrogatepass")) > limits.bytes:
        raise YamlError(_too_large(limits))
    name = unsafe_character(text)
    if name is not None:
        line = 1 + next(n for n, row in enumerate(text.split("\n")) if unsafe_character(row))
        raise YamlError(f"contains the character {name}, which no text file holds", line)


def _events(text: str) -> Iterator[Any]:
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _explained(error: yaml.YAMLError) -> YamlError:
    """Return PyYAML's complaint with its line and, for the usual slips, what to do."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = getattr(error, "problem", None) or "it holds a character that YAML does not allow"
    context = getattr(error, "context", None)
    whole = f"{context}: {said}" if context else str(said)
    line = None if mark is None else mark.line + 1
    start = getattr(error, "context_mark", None)
    notes = [advice for sign, advice in _HINTS.items() if sign in whole]
    if start is not None and start.line + 1 != line:
        notes.append(f"it starts in line {start.line + 1}")
    message = f"this is not YAML: {quoted(whole, 160)[1:-1]}"
    return YamlError(f"{message} ({'; '.join(notes)})" if notes else message, line)


class _Composer:
    """Builds the tree event by event, with a stack of the nodes that are still open."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.root: Node | None = None
        self.open: list[Node] = []
        self.anchors: dict[str, Node] = {}
        self.documents = 0
        self.aliases = 0

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        match event:
            case yaml.DocumentStartEvent():
                self._count_document(line)
            case yaml.AliasEvent():
                self._add(self._target(str(event.anchor), line), line)
            case yaml.ScalarEvent():
                self._add(self._anchored(event, _scalar(event, line)), line)
            case yaml.SequenceStartEvent():
                self._enter(event, Node(kind="list", line=line, tag=event.tag))
            case yaml.MappingStartEvent():
                self._enter(event, Node(kind="mapping", line=line, tag=event.tag))
            case yaml.CollectionEndEvent():
                self._leave(line)

    def _count_document(self, line: int) -> None:
        self.documents += 1
        if self.documents > 1:
            raise YamlError('holds more than one YAML document ("---"); only one is read', line)

    def _target(self, anchor: str, line: int) -> Node:
        self.aliases += 1
        if self.aliases > self.limits.aliases:
            raise YamlError(self._too_many_aliases(), line)
        node = self.anchors.get(anchor)
        if node is None:
            raise YamlError(
                f"the alias *{quoted(anchor)[1:-1]} has no anchor before it; "
                "text that starts with * needs quotes",
                line,
            )
        if node.is_open:
            raise YamlError(f"the anchor &{quoted(anchor)[1:-1]} contains itself", line)
        return node

    def _too_many_aliases(self) -> str:
        if not self.limits.aliases:
            return "anchors and aliases are not allowed"
        return f"uses more than {self.limits.aliases} aliases"

    def _anchored(self, event: Any, node: Node) -> Node:
        if event.anchor is not None:
            if not self.limits.aliases:
                raise YamlError(self._too_many_aliases(), node.line)
            self.anchors[event.anchor] = node
        return node

    def _enter(self, event: Any, node: Node) -> None:
        if len(self.open) >= self.limits.depth:
            raise YamlError(f"is nested deeper than {self.limits.depth} levels", node.line)
        node.is_open = True
        self.open.append(self._anchored(event, node))

    def _leave(self, line: int) -> None:
        node = self.open.pop()
        node.is_open = False
        node.size = 1 + sum(child.size for child in node.children)
        node.height = 1 + max((child.height for child in node.children), default=0)
        self._add(node, line)

    def _add(self, node: Node, line: int) -> None:
        """Hang a finished node under the one that is open, if the whole stays within limits."""
        limits = self.limits
        if node.size > limits.nodes:
            raise YamlError(f"holds more than {limits.nodes:,} values, aliases expanded", line)
        if len(self.open) + node.height > limits.depth + 1:
            raise YamlError(f"is nested deeper than {limits.depth} levels, aliases expanded", line)
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node


def _scalar(event: Any, line: int) -> Node:
    return Node(
        kind="scalar",
        line=line,
        tag=event.tag,
        text=event.value,
        plain=event.style in (None, ""),
    )
