"""What a page is made of: sections of figures, each with its sentence, chart, table and SQL.

Everything here is plain values: text is data until `markup` escapes it, and a chart is a
Vega-Lite specification, which JSON carries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows to read. caption: what they are.  note: what was left out; "" for nothing.

    whole: whether long texts are shown to their end.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Slider:
    """A slider that sets a signal of a chart to one of `values`. label: what it is, in a word."""

    signal: str
    label: str
    values: Sequence[int]
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A menu that sets a signal of a chart. options: (value, label).  start: the value chosen."""

    signal: str
    label: str
    options: Sequence[tuple[str, str]]
    start: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A Vega-Lite specification. description: what is drawn, for those who cannot see it.

    title: of this chart where a figure has several; "" for none.
    """

    spec: Mapping[str, Any]
    description: str
    title: str = ""
    controls: Sequence[Slider | Choice] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One thing to see. sentence: what it shows, computed.  sql: the queries that made it.

    lines: more of it, line by line.  lines_title: of lines that are folded away; "" for open ones.
    computed: what was computed from the rows of the queries and not by them; "" for nothing.
    open_table: whether the table is the figure, and so not folded away.
    """

    title: str
    sentence: str
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    sql: Sequence[str] = ()
    lines: Sequence[str] = ()
    lines_title: str = ""
    computed: str = ""
    open_table: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the page. name: its anchor.  sentence: what it says in one or two sentences."""

    name: str
    title: str
    sentence: str
    figures: Sequence[Figure] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page. warnings: what to know before anything else, such as an unfinished run."""

    title: str
    subtitle: str
    warnings: Sequence[str]
    sections: Sequence[Section]
