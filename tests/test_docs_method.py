"""Method, limits, glossary: the defaults, modules and numbers that they name are real."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from simulation.mind import traits
from simulation.scenario.model import Scenario
from simulation.scenario.survey import Survey

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
ATTITUDES = "units" in Scenario.model_fields  # settled attitudes and their three pages
SMALLEST = {
    "name": "smallest",
    "horizon": 1,
    "brief": {"brand": "a", "proposition": "b"},
    "ontology": "consumer_products",
    "population": {"size": 1},
}
ROW = re.compile(r"^\|.*\| `([a-z_.A-Z\[\]0]+)` \| (.+?) \|$", re.MULTILINE)
RESOLVED = {"recall.mode", "recall.tau"}  # their default is none, and is told as what it becomes
# What the page need not name: which events, models and files there are, what a call may take.
ELSEWHERE = (
    "name", "description", "horizon", "brief", "ontology", "population", "graph", "actions",
    "final_actions", "stimuli", "surveys", "encoder", "models", "temperature", "budget", "calls",
    "log", "tier", "affect",
)  # fmt: skip


def read(page: str) -> str:
    return (DOCS / f"{page}.md").read_text("utf-8")


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return values of nested mappings by dotted key."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        inner = flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {}
        found |= inner or {f"{prefix}{key}": value}
    return found


def defaults() -> dict[str, Any]:
    """Return the default of every parameter of a scenario by key, surveys' own among them."""
    survey = {name: field.default for name, field in Survey.model_fields.items()}
    given = flat(Scenario.model_validate(SMALLEST).model_dump(mode="json"))
    return given | {f"surveys[].{name}": value for name, value in survey.items()}


def told() -> dict[str, str]:
    """Return what the page on the method says of each parameter."""
    rows: dict[str, str] = dict(ROW.findall(read("method")))
    if not ATTITUDES:
        rows = {k: v for k, v in rows.items() if not k.startswith(("units.", "memory.units"))}
    return rows


def as_written(value: object, text: str) -> bool:
    """Return whether a cell says a value."""
    if value is None or isinstance(value, bool):
        return text == {None: "none", True: "true", False: "false"}[value]
    return text == f"`{value}`" if isinstance(value, str) else float(text) == value


@pytest.mark.parametrize("key", sorted(told()))
def test_a_parameter_has_the_default_that_the_method_says(key: str) -> None:
    value = defaults()[key]
    if key in RESOLVED:
        assert value is None
    else:
        assert as_written(value, told()[key]), value


def test_the_method_says_what_the_defaults_become() -> None:
    scenario = Scenario.model_validate(SMALLEST | {"horizon": 30})
    assert told()["recall.tau"] == "`max(1, horizon / 4)`"
    assert scenario.tau == max(1, 30 / 4)
    assert told()["recall.mode"] == "`gated` with a personality, else `product`"
    assert scenario.recall_mode == "product"


def test_the_method_names_every_parameter_of_the_mathematics() -> None:
    wanted = {key for key in defaults() if key.partition(".")[0] not in ELSEWHERE}
    assert sorted(wanted - told().keys() - {key for key in wanted if "surveys" in key}) == []


def test_every_module_that_the_method_names_is_there() -> None:
    modules = re.findall(r"`(simulation/[a-z_/]+\.py)`", read("method"))
    assert len(modules) > 20
    later = ("simulation/mind/attitude.py", "simulation/units/", "simulation/regards/")
    for module in modules:
        assert (ROOT / module).exists() or (module.startswith(later) and not ATTITUDES), module


def test_every_section_of_the_method_has_a_formula_its_code_and_its_page() -> None:
    page = read("method").partition("\n## Sources")[0]
    sections = re.split(r"^## (?=\d)", page, flags=re.MULTILINE)[1:]
    assert len(sections) == 16
    for section in sections:
        title = section.partition("\n")[0]
        assert "$$" in section or "```text" in section or "$" in section, title
        assert "`simulation/" in section, title
        assert re.search(r"Sources?:\s", section) or title == "2 The feed", title
        assert re.search(r"\]\([a-z-]+\.md", section), title


def test_the_table_of_gains_is_that_of_the_code() -> None:
    table = re.findall(
        r"^\| \$\\[a-z]+(?:_\{?\w+\}?)?\$ \| ([\d., ]*?) ?\| ([\d., ]*) \|$",
        read("method"),
        re.MULTILINE,
    )
    big_five = zip(
        traits.BIG_FIVE_LOW, traits.BIG_FIVE_HIGH, traits.BIG_FIVE_REFERENCE, strict=True
    )
    attachment = zip(
        traits.ATTACHMENT_LOW, traits.ATTACHMENT_HIGH, traits.ATTACHMENT_REFERENCE, strict=True
    )

    def numbers(cells: list[str]) -> list[tuple[float, ...]]:
        return [tuple(map(float, cell.split(","))) for cell in cells if cell]

    assert numbers([row[0] for row in table]) == list(attachment)
    assert numbers([row[1] for row in table]) == list(big_five)


def test_numbers_of_the_limits_stand_on_the_pages_that_they_link() -> None:
    checked = read("limits").partition("## Where it was checked")[2].partition("\n##")[0]
    rows = [line for line in checked.splitlines() if line.startswith("| ") and "](" in line]
    assert len(rows) >= 7
    for row in rows:
        page = re.findall(r"\]\(([a-z-]+)\.md", row)[-1]
        if not (DOCS / f"{page}.md").exists():
            assert not ATTITUDES, page
            continue
        numbers = re.findall(r"\d[\d,.]*\d|\d", row.split(" | ")[-1].partition("](")[0])
        for number in numbers:
            assert number.lstrip("0") in read(page), (page, number)


def test_the_limits_repeat_the_correlations_of_the_calibration() -> None:
    rows = [line for line in read("limits").splitlines() if re.match(r"\| \w+ \| (v|o)", line)]
    assert len(rows) == 5
    assert all(row in read("persmem-calibration").splitlines() for row in rows)


def test_the_glossary_is_in_order_and_every_term_leads_to_a_page() -> None:
    entry = re.compile(r"^([^\n:][^\n]*)\n: (.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
    terms = entry.findall(read("glossary"))
    names = [name.lower() for name, _ in terms]
    assert len(terms) >= 50
    assert names == sorted(names)
    for name, meaning in terms:
        assert re.search(r"\]\([a-z/-]+\.md", meaning), name
