"""docs/scenario.md: every key of a scenario with type, default and meaning, from `model.py`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simulation.scenario.words import Schema, model_schema, phrase, resolved

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HEAD = """\
# The scenario file

One YAML file says everything that a run depends on. This page is generated from
`simulation/scenario/model.py`; `simulation schema` prints the same as a JSON Schema for editors,
`simulation init` writes a commented file to start from, and `simulation validate FILE` names every
problem of a file at once, each with its line and key path.

## Rules

- **Unknown keys are errors**, and so are keys that appear twice.
- **Types are strict.** `"5"` is text and no number, `3.0` is no whole number, `true` is not 1.
- **YAML's surprises are refused, not guessed.** YAML reads `no`, `yes`, `on` and `off` as
  booleans; where text is wanted, write `"no"`. Dates, times such as `12:30` and numbers such as
  `010` need quotes. Tags, merge keys (`<<`) and more than one document in a file are
  refused; anchors and aliases work.
- **Limits**: 1 MiB of UTF-8 text, 50 levels, 100 aliases, 200,000 values with aliases expanded.
- **Files** are relative to the scenario's folder and must lie in it, symbolic links followed. Any
  other file must be named on the command line: by `--set` (then relative to the current directory,
  or else to the scenario's folder), or allowed by `--allow-path FILE_OR_FOLDER`.
- **Ontology**: a bare name is `NAME.yaml` beside the scenario, else `ontology/NAME.yaml` in its
  folder, else an ontology that ships with the engine. Anything with a suffix or a slash is a file.
- **Servers**: a `base_url` names this machine or the provider's own host (`api.anthropic.com`,
  `api.openai.com`, by https). Any other host needs `--allow-host HOST`. No user name, password,
  query or fragment may stand in it.
- **Horizon**: a tick beyond it is an error. Where `--set horizon=N` makes it shorter, the stimuli
  of the file that come later are left out, with a note.
- **No effect, no silence**: a value that changes nothing where it stands, such as `graph.degree`
  with kind `edges`, gets a note of `validate` and of the run.
- **Settings**: `--set path=value` changes one value; the value is YAML:
  `--set population.size=200`, `--set 'stimuli[2].tick=[3, 8]'`. `stimuli.2.tick` is the same
  place; items count from 0. A key with dots or spaces stands in brackets:
  `--set 'population.columns["age group"]=AGE'`.
- **Digest**: `scenario_sha256` is the SHA-256 of the file's text (LF line ends, no byte order
  mark) and, for each setting in order, a zero byte and `path=value` with the value as JSON; of a
  file named by a setting only the last part of its path counts.
- An action that is always possible (`ignore`, `post`, `complain`; with `final_actions: false` also
  `buy` and `reject`) must be among `actions`, or a persona could be left with nothing to do.

Keys without a default are required. An empty value is the default where the default is `none`.
"""


def reference() -> str:
    """Return the whole page, as Markdown."""
    sections = [_section(*entry) for entry in _entries()]
    return "\n".join([_HEAD, *sections])


def write_reference(path: Path) -> None:
    """Write the page to a file: `docs/scenario.md`."""
    path.write_text(reference(), encoding="utf-8", newline="\n")


def _entries() -> Iterator[tuple[list[str], Schema]]:
    """Yield each mapping of the model once, with the paths where it stands, outermost first."""
    places: dict[str, list[str]] = {}
    schemas: dict[str, Schema] = {}
    for path, schema in _mappings(model_schema(), ""):
        title = schema["title"]
        schemas[title] = schema
        places.setdefault(title, []).append(path)
    for title, schema in schemas.items():
        yield places[title], schema


def _mappings(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    """Yield the path and schema of every mapping with fixed keys, depth first."""
    schema = resolved(schema)
    if "properties" in schema:
        yield path, schema
        for key, child in schema["properties"].items():
            yield from _mappings(child, f"{path}.{key}" if path else key)
    for member in schema.get("oneOf", ()):
        yield from _mappings(member, path)
    if "items" in schema:
        yield from _mappings(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _mappings(schema["additionalProperties"], f"{path}.NAME")


def _section(paths: list[str], schema: Schema) -> str:
    title = ", ".join(f"`{path}`" for path in paths) if paths[0] else "Top level"
    kind = schema["properties"].get("distribution", {}).get("const")
    title += f" with distribution {kind}" if kind else ""
    title += " with by" if "by" in schema.get("required", ()) else ""
    rows = [_row(key, child, schema) for key, child in schema["properties"].items()]
    table = ["| key | type | default | meaning |", "|---|---|---|---|", *rows]
    return "\n".join([f"## {title}", "", schema["description"], "", *table, ""])


def _row(key: str, schema: Schema, parent: Schema) -> str:
    default = "**required**" if key in parent.get("required", ()) else _default(schema)
    meaning = schema.get("description") or resolved(schema).get("description", "")
    cells = (f"`{key}`", _type(schema), default, meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type(schema: Schema) -> str:
    """Return the type in words; a mapping with fixed keys has its own section."""
    inner = resolved(schema)
    if "properties" in inner:
        return "a mapping, see below"
    if "properties" in resolved(inner.get("items", {})):
        return "a list of mappings, see below"
    return phrase(schema)


def _default(schema: Schema) -> str:
    if "properties" in resolved(schema):
        return "see below"
    value: Any = schema.get("default", {})
    return "none" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"
