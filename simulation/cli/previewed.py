"""The words of `run --dry-run`: each request in full, and what leaves the machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simulation.cli.text import paragraph, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.planning import Preview, Shown

_RULE = 72  # columns of a line between requests


def previewed(found: Preview) -> str:
    """Return what a dry run prints; prompts keep their lines, whatever the terminal."""
    blocks = [*(_request(shown) for shown in found.requests), _leaves(found)]
    return "\n\n".join("\n".join(block) for block in blocks)


def _request(shown: Shown) -> Iterator[str]:
    who = f", {plain(shown.persona_id)}" if shown.persona_id else ""
    yield "=" * _RULE
    yield f"{shown.purpose}, {shown.tier} tier, tick {shown.tick}{who}"
    yield f"to         {plain(shown.provider)}:{plain(shown.model)} at {plain(shown.host)}"
    yield f"exact      {_exact(shown)}"
    yield f"parameters {', '.join(_parameters(shown))}"
    for title, text in (
        ("system", shown.system),
        ("persona", shown.persona),
        ("question", shown.question),
    ):
        if text:
            yield f"-- {title} {'-' * (_RULE - 4 - len(title))}"
            yield plain(text, keep="\n")
    if shown.schema is not None:
        yield f"-- schema of the answer {'-' * (_RULE - 24)}"
        yield plain(json.dumps(shown.schema, ensure_ascii=False))


def _exact(shown: Shown) -> str:
    if shown.exact:
        return "yes, to the letter"
    return "no: the rule model acted in place of the language models before"


def _parameters(shown: Shown) -> Iterator[str]:
    yield f"at most {shown.max_tokens:,} tokens"
    heat = shown.temperature
    yield "temperature the provider's own" if heat is None else f"temperature {heat:g}"
    yield f"structured {shown.structured}"
    if shown.effort is not None:
        yield f"effort {shown.effort}"


def _leaves(found: Preview) -> Iterator[str]:
    yield "What leaves this machine"
    for line in found.leaves:
        yield paragraph(plain(line), indent="  ", hanging="    ")
    if found.requests:
        known = "never sent: the file's name, other personas' private state, your environment"
        yield paragraph(known, indent="  ", hanging="    ")
    for note in found.notes:
        yield paragraph(plain(note), indent="  ", hanging="    ")
    yield "  Nothing was sent and nothing was written."
