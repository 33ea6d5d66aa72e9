"""Sentences with labelled aspects, read from XML.

<sentences>
  <sentence>
    <text>The soup was cold, but the waiter was kind.</text>
    <aspectCategories>
      <aspectCategory category="food" polarity="negative"/>
      <aspectCategory category="staff" polarity="positive"/>
    </aspectCategories>
  </sentence>
</sentences>
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from simulation.errors import UsageError
from simulation.extractors.base import POLARITIES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_BYTES: Final = 20_000_000
_DECLARATIONS: Final = re.compile(r"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence. labels: polarity by aspect, at least one."""

    text: str
    labels: Mapping[str, str]


def read_sentences(path: Path) -> tuple[Sentence, ...]:
    """Return the sentences of a file, in its order.

    Raises:
        UsageError: It cannot be read, is not such a file, is too large, or declares a document
            type or an entity.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        found = _sentences(_root(content))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, ET.ParseError) as error:
        raise UsageError(f"{path} holds no labelled sentences: {error}") from error
    return found


def _root(content: bytes) -> ET.Element:
    """Return the outermost element."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES:,} bytes")
    text = content.decode("utf-8-sig")
    if _DECLARATIONS.search(text):
        raise ValueError("it declares a document type or an entity; neither is read")
    return ET.fromstring(text.encode())  # noqa: S314 UTF-8 without declarations


def _sentences(root: ET.Element) -> tuple[Sentence, ...]:
    found = tuple(_sentence(each, number) for number, each in enumerate(root.iter("sentence"), 1))
    if not found:
        raise ValueError("there is no <sentence> in it")
    return found


def _sentence(element: ET.Element, number: int) -> Sentence:
    text = (element.findtext("text") or "").strip()
    labels: dict[str, str] = {}
    for label in element.iter("aspectCategory"):
        aspect, polarity = label.get("category", ""), label.get("polarity", "")
        if not aspect or polarity not in POLARITIES:
            raise ValueError(
                f'sentence {number} has the label "{aspect}" with the polarity "{polarity}"; '
                f"polarities are {', '.join(POLARITIES)}"
            )
        if labels.setdefault(aspect, polarity) != polarity:
            raise ValueError(f'sentence {number} has the label "{aspect}" twice')
    if not text or not labels:
        raise ValueError(f"sentence {number} has no {'label' if text else 'text'}")
    return Sentence(text=text, labels=labels)
