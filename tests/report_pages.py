"""A report as tests read it: its sections, figures, tables, queries and charts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import duckdb
from small import small

from simulation.runs import simulate

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class Shown:
    """A figure, or what stands in a section outside of one."""

    title: str = ""
    says: str = ""
    queries: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)
    charts: list[int] = field(default_factory=list)
    text: str = ""


@dataclass(slots=True)
class Page:
    """What a page holds. tags: how often each element stands in it."""

    sections: dict[str, list[Shown]] = field(default_factory=dict)
    leads: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    specs: list[dict[str, Any]] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    text: str = ""

    def figure(self, section: str, title: str) -> Shown:
        """Return a figure by the start of its title."""
        return next(each for each in self.sections[section] if each.title.startswith(title))

    def figures(self) -> list[Shown]:
        """Return all figures."""
        return [each for section in self.sections.values() for each in section]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.section = ""
        self.shown = Shown()
        self.into: list[tuple[str, str, list[str]]] = []  # tag, what it is, text so far

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        self.page.tags[tag] = self.page.tags.get(tag, 0) + 1
        self.page.attributes += [(tag, name, value) for name, value in told.items()]
        kind = told.get("class", "")
        if tag == "section":
            self.section = told["id"]
            self.page.sections[self.section] = []
        elif tag == "figure":
            self.shown = Shown()
            self.page.sections[self.section].append(self.shown)
        elif tag == "table":
            self.shown.tables.append([])
        elif tag == "tr":
            self.shown.tables[-1].append([])
        elif "data-chart" in told:
            self.shown.charts.append(int(told["data-chart"]))
        name = {"p": kind or "p", "pre": told.get("aria-label", "pre")}.get(tag, tag)
        if tag not in ("meta", "input", "br"):
            self.into.append((tag, name, []))

    def handle_data(self, data: str) -> None:
        for _, _, text in self.into:
            text.append(data)
        if not {"script", "style"}.intersection(tag for tag, *_ in self.into):
            self.page.text += data
            self.shown.text += data

    def handle_endtag(self, tag: str) -> None:
        opened, name, text = self.into.pop()
        assert opened == tag
        self._keep(name, "".join(text))

    def _keep(self, name: str, text: str) -> None:
        if name == "lead":
            self.page.leads[self.section] = text
        elif name == "h3":
            self.shown.title = text
        elif name == "says":
            self.shown.says = text
        elif name in ("th", "td"):
            self.shown.tables[-1][-1].append(text)
        elif name != "warning" or "noscript" not in [tag for tag, *_ in self.into]:
            self._list(name, text)

    def _list(self, name: str, text: str) -> None:
        lists = {
            "warning": self.page.warnings,
            "script": self.page.scripts,
            "SQL query": self.shown.queries,
            "caption": self.shown.captions,
        }
        if name in lists:
            lists[name].append(text)


def read(html: str) -> Page:
    """Return a page; fails if elements do not close as they open."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.into == []
    reader.page.specs = json.loads(reader.page.scripts[0])
    return reader.page


def small_run(path: Path, *settings: str, **changes: Any) -> Path:
    """Run the small scenario into a file."""
    return simulate(small(settings=settings, **changes), out=path)


def write_rows(path: Path, *statements: str) -> None:
    """Change a run's file by SQL, for what no engine of a test writes."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
