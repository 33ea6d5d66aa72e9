"""HTML in which text cannot be anything but text.

`element` escapes every child that is not itself an `Html`, and every attribute; nothing else
makes an `Html`, but for `trusted`, which takes what ships with the package.
"""

from __future__ import annotations

import json
import math
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

VOID = frozenset({"meta", "input", "br", "link"})

# In a script element a text ends at "</script", whatever quotes stand around it; U+2028 and 2029
# end a line for old readers of JavaScript.
_IN_SCRIPT = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def trusted(text: str) -> Html:
    """Return a text that ships with the package, or was escaped, as markup."""
    return Html(text)


def element(tag: str, /, *children: str | Iterable[str], **attributes: str | bool | None) -> Html:
    """Return an element; text in it is escaped.

    children: text, markup, or several of them.  attributes: `class_` and `for_` for the words
    that Python keeps, `aria_label` for `aria-label`; True for one without a value, None or False
    for none.
    """
    told = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in VOID:
        return Html(f"<{tag}{told}>")
    return Html(f"<{tag}{told}>{joined(*children)}</{tag}>")


def joined(*children: str | Iterable[str]) -> Html:
    """Return text and markup one after the other, text escaped."""
    return Html("".join(_escaped(child) for child in children))


def _escaped(child: str | Iterable[str]) -> str:
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(shown(child))
    return joined(*child)


def _attribute(key: str, value: str | bool | None) -> str:  # noqa: FBT001 - an attribute's value
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(shown(value), quote=True)}"'


def shown(text: str) -> str:
    """Return a text without what a page cannot hold: lone halves of characters, and controls."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    code = ord(character)
    control = (code < 0x20 and character not in "\n\t") or 0x7F <= code < 0xA0  # noqa: PLR2004 - C0, DEL and C1
    turning = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069  # noqa: PLR2004 - marks of text direction
    if control or turning or 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - surrogates
        return f"\\u{code:04x}"
    return character


def script_json(value: Any) -> Html:
    """Return a value as JSON that may stand in a script element; NaN and infinity become null."""
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, code in _IN_SCRIPT.items():
        text = text.replace(character, code)
    return Html(text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {shown(str(key)): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return _short(value)
    return shown(value) if isinstance(value, str) else value


def _short(value: float) -> float | None:
    """Return a number with the digits that a picture can show."""
    return float(f"{value:.5g}") if math.isfinite(value) else None
