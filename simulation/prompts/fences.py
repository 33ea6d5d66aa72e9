"""Texts between tags that they cannot close, and the layout of a prompt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_ITEM = 2_000  # code points of a post or memory; a written persona's words have at most 1,000

_UNSENDABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters but tab and line feed, and halves of surrogate pairs."""


def sections(*parts: str) -> str:
    """Return the parts of a prompt with an empty line between them."""
    return "\n\n".join(parts)


def titled(title: str, lines: Iterable[str]) -> str:
    """Return a part with its title."""
    return "\n".join((f"# {title}", *lines))


def names(names: Iterable[str]) -> str:
    """Return names in quotes, each in one line."""
    return ", ".join([quoted(name) for name in names])


def quoted(name: str) -> str:
    """Return a name in quotes that it cannot close, in one line."""
    if name.isalnum():  # letters and digits need nothing
        return f'"{name}"'
    return '"' + escaped(line(name)).replace('"', "&quot;") + '"'


def fenced(tag: str, text: str, **marks: str) -> str:
    """Return a text between tags that it cannot close; `marks` are attributes of the first."""
    attributes = "".join([f" {key}={quoted(value)}" for key, value in marks.items()])
    return f"<{tag}{attributes}>{escaped(text)}</{tag}>"


def escaped(text: str) -> str:
    """Return the text as XML content: without < > & and without what cannot be sent.

    Control characters other than tab and line feed and halves of surrogate pairs have no place in
    a request and become U+FFFD.
    """
    if not text.isprintable():  # what cannot be sent cannot be printed, and few texts cannot
        text = _UNSENDABLE.sub("\ufffd", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def line(text: str) -> str:
    """Return a name or a message in one line."""
    return " ".join(text.split())


def cut(text: str) -> str:
    """Return a text that is not too long to be one of many."""
    return text if len(text) <= MAX_ITEM else f"{text[:MAX_ITEM]} … (cut)"
