"""One HTML page that needs nothing else: markup, style, scripts and data in one text.

A content security policy of the page itself allows its own two scripts by their digests and no
request to anywhere, so that even a text that were not escaped could neither run nor call home.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from simulation.analysis.report.glossary import WORDS
from simulation.analysis.report.markup import Html, element, joined, script_json, trusted
from simulation.analysis.report.numbers import cell
from simulation.analysis.report.parts import Slider

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.analysis.report.parts import (
        Chart,
        Choice,
        Document,
        Figure,
        Section,
        Table,
    )

_GLOBALS = "window.vegaEmbed = vegaEmbed;"
_LONG = 40  # code points from which a cell is given more room


@dataclass(slots=True)
class _Drawn:
    """What has been put on the page so far. specs: of the charts, in order."""

    specs: list[Any] = field(default_factory=list)


def render(document: Document) -> str:
    """Return the page as HTML."""
    drawn = _Drawn()
    body = joined([_section(each, drawn) for each in document.sections])
    scripts = (libraries(), asset("page.js"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(scripts)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", document.title),
        element("style", trusted(asset("page.css"))),
    )
    page = element(
        "body",
        element("a", "Skip to the report", class_="skip", href="#report"),
        element("div", _header(document), _contents(document), _main(document, body), _footer(),
                class_="layout"),
        element("script", script_json(drawn.specs), type="application/json", id="charts"),
        [element("script", trusted(script), type="module") for script in scripts],
    )  # fmt: skip
    return f"<!DOCTYPE html>\n{element('html', head, page, lang='en')}\n"


def asset(name: str) -> str:
    """Return a text that ships beside this module."""
    return (resources.files(__package__) / "assets" / name).read_text("utf-8")


@cache
def libraries() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, from the installed package."""
    import vl_convert  # noqa: PLC0415 - 30 MB that only a page needs

    bundle: str = vl_convert.javascript_bundle(_GLOBALS)
    # It would end the element. No version has been seen to hold it, and only a text could.
    return re.sub("</(?=script)", r"<\\/", bundle, flags=re.IGNORECASE)


def _policy(scripts: Sequence[str]) -> str:
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _header(document: Document) -> Html:
    return element(
        "header",
        element("button", "Dark page", id="theme", type="button", hidden=True),
        element("h1", document.title),
        element("p", document.subtitle),
    )


def _contents(document: Document) -> Html:
    links = [
        element("li", element("a", each.title, href=f"#{each.name}")) for each in document.sections
    ]
    return element("nav", element("ol", links), aria_label="Contents")


def _main(document: Document, body: Html) -> Html:
    warnings = [element("p", each, class_="warning", role="note") for each in document.warnings]
    plain = element(
        "noscript",
        element(
            "p",
            "Charts need JavaScript; every sentence and every table is here without it.",
            class_="warning",
        ),
    )
    return element("main", warnings, plain, _words(), body, id="report", tabindex="-1")


def _words() -> Html:
    told = [
        joined(element("dt", word), element("dd", _kept(means))) for word, means in WORDS.items()
    ]
    return element(
        "details", element("summary", "Words used"), element("dl", told), class_="words"
    )


def _footer() -> Html:
    return element(
        "footer",
        element(
            "p",
            "Every number on this page was counted from the run database by the SQL shown beside "
            "it. The page is complete in itself: it loads nothing and sends nothing.",
        ),
        element(
            "details",
            element("summary", "Licences of the scripts in this page"),
            element(
                "pre", asset("licences.txt"), tabindex="0", role="region", aria_label="Licences"
            ),
        ),
    )


def _section(section: Section, drawn: _Drawn) -> Html:
    title = f"{section.name}-title"
    return element(
        "section",
        element("h2", section.title, id=title),
        element("p", _kept(section.sentence), class_="lead"),
        [
            _figure(figure, f"{section.name}-{place}", drawn)
            for place, figure in enumerate(section.figures, start=1)
        ],
        id=section.name,
        aria_labelledby=title,
    )


def _kept(sentence: str) -> str:
    """Return a sentence whose numbers stay on the line of their percent sign."""
    return sentence.replace(" %", "\N{NO-BREAK SPACE}%")


def _figure(figure: Figure, name: str, drawn: _Drawn) -> Html:
    title = f"{name}-title"
    kind = "charts several" if len(figure.charts) > 1 else "charts"
    charts = [
        _chart(chart, f"{name}-{place}", drawn) for place, chart in enumerate(figure.charts, 1)
    ]
    return element(
        "figure",
        element("h3", figure.title, id=title),
        element("p", _kept(figure.sentence), class_="says"),
        _lines(figure),
        element("div", charts, class_=kind) if charts else "",
        _tables(figure),
        list(_made_by(figure)),
        id=name,
        role="group",
        aria_labelledby=title,
    )


def _lines(figure: Figure) -> Html:
    if not figure.lines:
        return Html()
    label = figure.lines_title or "In words"
    text = element("pre", "\n".join(figure.lines), tabindex="0", role="region", aria_label=label)
    if not figure.lines_title:
        return text
    return element("details", element("summary", figure.lines_title), text)


def _tables(figure: Figure) -> Html:
    if not figure.tables:
        return Html()
    tables = [_table(each) for each in figure.tables]
    if figure.open_table:
        return joined(tables)
    return element("details", element("summary", "The numbers as a table"), tables)


def _made_by(figure: Figure) -> Iterator[Html]:
    if not figure.sql:
        return
    queries = [
        element("pre", element("code", sql), tabindex="0", role="region", aria_label="SQL query")
        for sql in figure.sql
    ]
    computed = element("p", figure.computed, class_="note") if figure.computed else ""
    yield element("details", element("summary", "The SQL that made it"), queries, computed)


def _chart(chart: Chart, name: str, drawn: _Drawn) -> Html:
    drawn.specs.append(chart.spec)
    controls = [_control(each, f"{name}-{each.signal}") for each in chart.controls]
    return element(
        "div",
        element("h4", chart.title) if chart.title else "",
        element("div", controls, class_="controls") if controls else "",
        element(
            "div",
            class_="chart",
            data_chart=str(len(drawn.specs) - 1),
            role="img",
            aria_label=chart.description,
        ),
        class_="chart-box",
    )


def _control(control: Slider | Choice, name: str) -> Html:
    label = element("label", control.label, for_=name)
    if isinstance(control, Slider):
        return element("div", label, _slider(control, name))
    options = [
        element("option", text, value=value, selected=value == control.start)
        for value, text in control.options
    ]
    menu = element(
        "select",
        options,
        id=name,
        data_signal=control.signal,
        disabled=True,
        autocomplete="off",  # else a browser keeps the choice of a page that it loads anew
    )
    return element("div", label, menu)


def _slider(slider: Slider, name: str) -> Html:
    values = list(slider.values)
    return joined(
        element(
            "input",
            type="range",
            id=name,
            min="0",
            max=str(len(values) - 1),
            step="1",
            value=str(values.index(slider.start)),
            data_signal=slider.signal,
            data_label=slider.label,
            data_values=str(script_json(values)),
            aria_valuetext=f"{slider.label} {slider.start}",
            disabled=True,
            autocomplete="off",
        ),
        element("output", str(slider.start), id=f"{name}-value", for_=name),
    )


def _table(table: Table) -> Html:
    numbers = [
        all(isinstance(row[place], int | float | None) for row in table.rows)
        for place in range(len(table.columns))
    ]
    head = [
        element("th", name, scope="col", class_="number" if is_number else None)
        for name, is_number in zip(table.columns, numbers, strict=True)
    ]
    rows = [
        element("tr", [_cell(*each, table.whole) for each in zip(row, numbers, strict=True)])
        for row in table.rows
    ]
    body = rows or [element("tr", element("td", "no rows", colspan=str(len(table.columns))))]
    return element(
        "div",
        element(
            "table",
            element("caption", element("span", table.caption)),
            element("thead", element("tr", head)),
            element("tbody", body),
        ),
        element("p", table.note, class_="note") if table.note else "",
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=table.caption,
    )


def _cell(value: Any, is_number: bool, whole: bool) -> Html:  # noqa: FBT001 - one caller
    text = value if whole and isinstance(value, str) else cell(value)
    kind = "number" if is_number else "long" if len(text) > _LONG else None
    return element("td", text, class_=kind)
