"""From the bytes of an ontology file to typed entries, with a line for every problem.

Safe by construction: only plain scalars, lists and mappings; no tags, no aliases, and limits on
size and depth that are checked before anything is built.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError
from yaml.constructor import SafeConstructor

from simulation.errors import Problem, ScenarioError
from simulation.ontology.entries import FieldEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic_core import ErrorDetails

MAX_BYTES = 2_000_000
MAX_DEPTH = 20
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same grammar, ten times faster
_SCALARS = frozenset(
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null")
)

_WORDS = {
    "string_type": "a text is needed; put it in quotes",
    "missing": "this key is missing",
    "tuple_type": "a list is needed",
    "dict_type": "a mapping is needed",
    "model_type": "a mapping is needed",
    "float_type": "a number is needed",
    "bool_type": "true or false is needed",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "has characters that are not allowed here",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be above {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
}


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """Return `; did you mean "x"?` for the nearest option, or "" when none is near."""
    by_folded = {option.casefold(): option for option in sorted(options, reverse=True)}
    near = difflib.get_close_matches(name.casefold(), list(by_folded), n=1, cutoff=0.6)
    return f'; did you mean "{by_folded[near[0]]}"?' if near else ""


def listed(names: Iterable[str], *, most: int = 12) -> str:
    """Return names as `a, b, c`, cut after `most` with the number left out."""
    names = list(names)
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


class Lines:
    """The node tree of a YAML file: where a key path stands."""

    def __init__(self, root: yaml.Node | None) -> None:
        """Keep the tree."""
        self._root = root

    def of(self, path: Sequence[str | int]) -> int | None:
        """Return the 1-based line of a path, or of its longest part that exists."""
        node, line = self._root, 1 if self._root is not None else None
        for part in path:
            found = _child(node, part)
            if found is None:
                break
            line, node = found
        return line

    def existing(self, path: Sequence[str | int]) -> tuple[str | int, ...]:
        """Return the longest part of a path that the file has."""
        node, kept = self._root, []
        for part in path:
            found = _child(node, part)
            if found is None:
                break
            kept.append(part)
            node = found[1]
        return tuple(kept)


def _child(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        child = node.value[part]
        return child.start_mark.line + 1, child
    return None


def where(path: Iterable[str | int]) -> str:
    """Return a key path as people write it: `attributes[2].say`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def read_field(data: bytes, *, source: str) -> tuple[FieldEntry, Lines]:
    """Return the typed entries of an ontology file and the lines of its keys.

    Raises:
        ScenarioError: the file is not plain YAML or does not have the shape of an ontology; it
            carries every problem found.
    """
    root = _compose(data, source=source)
    lines = Lines(root)
    problems: list[Problem] = []
    value = _build(root, (), problems) if root is not None else None
    if problems:
        raise ScenarioError(source, problems)
    try:
        return FieldEntry.model_validate(value), lines
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A list whose items all failed is reported as too short as well; the items say more.
        told = [e for e in errors if e["type"] != "too_short" or not e["input"]]
        problems = [_problem(e, lines) for e in told]
        raise ScenarioError(source, list(dict.fromkeys(problems))) from None


def _compose(data: bytes, *, source: str) -> yaml.Node | None:
    if len(data) > MAX_BYTES:
        message = f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read"
        raise ScenarioError(source, [Problem(where="", message=message)])
    try:
        text = data.decode("utf-8-sig")
        _check_events(text, source=source)
        return yaml.compose(text, Loader=_LOADER)
    except UnicodeDecodeError as error:
        message = f"byte {error.start} is not UTF-8"
        raise ScenarioError(source, [Problem(where="", message=message)]) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = f"not valid YAML: {getattr(error, 'problem', None) or error}"
        line = mark.line + 1 if mark is not None else None
        raise ScenarioError(source, [Problem(where="", message=message, line=line)]) from None


def _check_events(text: str, *, source: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        refused = _refusal(event, depth)
        if refused:
            mark = event.start_mark
            line = mark.line + 1 if mark is not None else None
            problem = Problem(where="", message=refused, line=line)
            raise ScenarioError(source, [problem])


def _refusal(event: yaml.Event, depth: int) -> str:
    if depth > MAX_DEPTH:
        return f"nested deeper than {MAX_DEPTH} levels"
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        return "anchors and aliases are not allowed"
    tag = getattr(event, "tag", None)
    if tag not in (None, "!"):
        return f"the tag {tag} is not allowed"
    return ""


def _build(node: yaml.Node, path: tuple[str | int, ...], problems: list[Problem]) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, problems)
    if isinstance(node, yaml.SequenceNode):
        return tuple(_build(item, (*path, i), problems) for i, item in enumerate(node.value))
    return _scalar(node, path, problems)


def _scalar(node: yaml.Node, path: tuple[str | int, ...], problems: list[Problem]) -> Any:
    if node.tag not in _SCALARS:  # an unquoted date or `=` is the text that stands there
        return node.value
    try:
        return SafeConstructor().construct_object(node)
    except ValueError:  # more digits than Python converts
        line = node.start_mark.line + 1
        problems.append(Problem(where=where(path), message="not a usable number", line=line))
        return None


def _mapping(
    node: yaml.MappingNode, path: tuple[str | int, ...], problems: list[Problem]
) -> dict[str, Any]:
    built: dict[str, Any] = {}
    for key, value in node.value:
        name = str(key.value)
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            problems.append(Problem(where=where(path), message="a key must be a text", line=line))
            continue
        if name in built:
            place = where((*path, name))
            problems.append(Problem(where=place, message="this key stands twice", line=line))
        built[name] = _build(value, (*path, name), problems)
    return built


def _problem(error: ErrorDetails, lines: Lines) -> Problem:
    path = error["loc"]
    found = lines.existing(path)
    if error["type"] == "missing":
        found = (*found, *path[len(found) : len(found) + 1])
    return Problem(where=where(found), message=_message(error), line=lines.of(path))


def _message(error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"unknown key{did_you_mean(str(error['loc'][-1]), _keys(error['loc']))}"
    text = _WORDS.get(kind, "").format(**error.get("ctx", {})) or error["msg"]
    given = error["input"]
    shown = isinstance(given, str | int | float) and kind != "missing"
    return f"{text}; found {given!r:.80}" if shown else text


def _keys(path: Sequence[str | int]) -> list[str]:
    """Return the keys that are allowed beside an unknown one, by walking the entry types."""
    from simulation.ontology import entries as e  # noqa: PLC0415  (only needed for a message)

    parts = [part for part in path[:-1] if isinstance(part, str)]
    models: dict[str, type[e.Entry]] = {
        "attributes": e.AttributeEntry,
        "values": e.ValueEntry,
        "bands": e.BandEntry,
        "table": e.RowEntry,
        "effects": e.EffectsEntry,
    }
    model = models[parts[-1]] if parts else FieldEntry
    return list(model.model_fields)
