"""The page in a browser: drawn, moved, read aloud, printed; and nothing leaves the file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import run_rows
from report_pages import small_run, write_rows

from simulation import fork, simulate
from simulation.analysis.report import report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not there")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return the machine's Chromium."""
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return pages: of a real run with personalities, of a fork beside its parent, hostile."""
    folder = tmp_path_factory.mktemp("pages")
    real = simulate(
        SCENARIOS / "anxious_neighbours.yaml", settings=["horizon=12"], out=folder / "real.duckdb"
    )
    parent = small_run(folder / "parent.duckdb")
    child = fork(parent, at=3, settings=["rule.influence=0.6"], out=folder / "child.duckdb")
    evil = folder / "evil.duckdb"
    run_rows.write_run(evil, run_rows.story())
    text = "</script><script>window.hacked = 1</script><img src=x onerror=window.hacked=1>"
    write_rows(
        evil,
        f"UPDATE personas SET persona_id = '{text}' WHERE persona_id = 'p1'",
        f"UPDATE edges SET source = '{text}' WHERE source = 'p1'",
        f"UPDATE edges SET target = '{text}' WHERE target = 'p1'",
        f"UPDATE initial_beliefs SET persona_id = '{text}' WHERE persona_id = 'p1'",
        f"UPDATE posts SET text = '{text}', author = '{text}'",
        f"UPDATE claims SET text = '{text}'",
        f"UPDATE stimuli SET text = '{text}', source = '{text}', claim_id = 'C1'",
    )
    pages = {"real": [real], "pair": [parent, child], "evil": [evil]}
    for name, runs in pages.items():
        (folder / f"{name}.html").write_text(report(runs), "utf-8")
    return {name: folder / f"{name}.html" for name in pages}


Opened = tuple[Any, list[str], list[str]]


@pytest.fixture
def opened(browser: Any, files: dict[str, Path]) -> Iterator[Callable[..., Opened]]:
    """Return a function that opens a page: it, what its console said, what it asked for."""
    contexts = []

    def open_(name: str, size: dict[str, int] = DESKTOP, **given: Any) -> Opened:
        context = browser.new_context(viewport=size, **given)
        contexts.append(context)
        page, said, asked = context.new_page(), [], []
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(files[name].as_uri())
        page.wait_for_selector("html[data-drawn]", timeout=60_000)
        return page, said, asked

    yield open_
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", ["real", "pair", "evil"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_page_draws_every_chart_says_nothing_and_asks_for_nothing(
    name: str, size: dict[str, int], opened: Callable[..., Opened], files: dict[str, Path]
) -> None:
    page, said, asked = opened(name, size)
    assert said == []
    assert asked == [files[name].as_uri()]
    drawn = page.eval_on_selector_all("[data-chart]", "all => all.map(e => e.dataset.drawn)")
    assert set(drawn) == {"yes"}
    empty = page.eval_on_selector_all(
        ".chart svg", "all => all.filter(e => !e.querySelector('path[d], text')).length"
    )
    assert empty == 0
    cut_off = page.eval_on_selector_all(
        ".chart svg .role-legend",
        "all => all.filter(e => e.getBoundingClientRect().right > "
        "e.closest('svg').getBoundingClientRect().right + 1).length",
    )
    assert cut_off == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    sections = page.eval_on_selector_all("section", "all => all.map(e => e.id)")
    expected = {"headline", "beliefs", "flips", "actions", "graph", "memory", "trust", "method"}
    assert expected <= set(sections)
    assert all(page.locator(f"#{each}").is_visible() for each in sections)


@pytest.mark.parametrize("name", ["real", "pair"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(name: str, scheme: str, opened: Callable[..., Opened]) -> None:
    page, *_ = opened(name, color_scheme=scheme)
    page.eval_on_selector_all("details", "all => all.forEach(e => e.open = true)")
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (each["id"], each["nodes"][0]["html"])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


def colours(page: Any) -> list[str]:
    """Return the colours of the graph's dots."""
    found: list[str] = page.eval_on_selector_all(
        "#graph .chart svg .mark-symbol path", "all => all.map(e => e.getAttribute('fill'))"
    )
    return found


def choose_another(menu: Any) -> None:
    """Choose the option after the one that is chosen."""
    menu.select_option(index=menu.evaluate("e => (e.selectedIndex + 1) % e.length"))


def test_a_table_wider_than_a_phone_says_so_and_its_caption_stays_in_sight(
    opened: Callable[..., Opened],
) -> None:
    page, *_ = opened("real", PHONE)
    page.eval_on_selector_all("details", "all => all.forEach(e => e.open = true)")
    page.wait_for_timeout(300)  # tables in folds are measured when they open
    tables = page.eval_on_selector_all(
        ".scroll",
        """all => all.map(e => [
            e.scrollWidth > e.clientWidth + 1,
            getComputedStyle(e, '::before').content.includes('move it sideways'),
            e.querySelector('caption span').getBoundingClientRect().right
                <= e.getBoundingClientRect().right + 1,
        ])""",
    )
    assert [wide for wide, *_ in tables] == [says for _, says, _ in tables]
    assert any(wide for wide, *_ in tables)
    assert all(fits for *_, fits in tables)


def test_the_slider_and_the_menu_of_the_graph_move_it_by_keyboard(
    opened: Callable[..., Opened],
) -> None:
    page, said, _ = opened("real")
    slider = page.locator("#graph input[type=range]")
    at_the_end = colours(page)
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(300)
    assert page.locator("#graph output").inner_text() == "0"
    assert slider.get_attribute("aria-valuetext") == "Tick 0"
    at_the_start = colours(page)
    assert at_the_start != at_the_end
    page.keyboard.press("ArrowRight")
    assert page.locator("#graph output").inner_text() == "1"
    page.keyboard.press("End")
    page.wait_for_timeout(300)
    assert colours(page) == at_the_end
    choose_another(page.locator("#graph select"))
    page.wait_for_timeout(300)
    assert colours(page) != at_the_end
    assert said == []


def test_menus_choose_the_belief_of_the_distribution_and_the_attribute_of_the_groups(
    opened: Callable[..., Opened],
) -> None:
    page, said, _ = opened("real")
    for place in ("#beliefs figure:has(select)", "#flips figure:has(select)"):
        before = page.locator(f"{place} svg").inner_html()
        choose_another(page.locator(f"{place} select"))
        page.wait_for_timeout(300)
        assert page.locator(f"{place} svg").inner_html() != before
    assert said == []


def test_resting_on_a_dot_says_who_it_is(opened: Callable[..., Opened]) -> None:
    page, said, _ = opened("real")
    page.locator("#graph .mark-symbol path").nth(5).hover()
    tip = page.locator("#vg-tooltip-element")
    tip.wait_for(state="visible")
    text = tip.inner_text()
    assert "belief" in text
    assert "community" in text
    assert said == []


def test_texts_of_others_never_run_not_even_in_a_tooltip(opened: Callable[..., Opened]) -> None:
    page, said, asked = opened("evil")
    for place in ("#graph .mark-symbol path", "#beliefs .mark-symbol path[fill*='series-2']"):
        marks = page.locator(place)
        for i in range(min(3, marks.count())):
            marks.nth(i).hover(force=True)
            page.wait_for_timeout(150)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert "<img src=x" in page.locator("body").inner_text()
    assert said == []
    assert len(asked) == 1


def test_every_control_and_fold_is_reached_by_tab(opened: Callable[..., Opened]) -> None:
    page, *_ = opened("real")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(400):
        page.keyboard.press("Tab")
        seen.add(
            page.evaluate("document.activeElement.tagName + (document.activeElement.id || '')")
        )
        if page.evaluate("document.activeElement === document.body"):
            break
    inputs = page.eval_on_selector_all("input, select", "all => all.map(e => e.tagName + e.id)")
    assert set(inputs) <= seen
    assert {"SUMMARY", "BUTTONtheme"} <= seen


def test_the_button_turns_the_page_dark_and_back(opened: Callable[..., Opened]) -> None:
    page, *_ = opened("real", color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.locator("#theme").click()
    assert page.evaluate(paper) == "rgb(23, 22, 21)"
    label = page.locator("#graph svg text").first
    assert label.evaluate("e => getComputedStyle(e).fill") != "rgb(28, 27, 26)"
    page.locator("#theme").click()
    assert page.evaluate(paper) == "rgb(255, 255, 255)"


def test_print_is_light_and_fits_the_sheet(opened: Callable[..., Opened]) -> None:
    page, *_ = opened("real", color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert page.locator("#headline table").first.is_visible()
    page.set_viewport_size({"width": 720, "height": 1000})  # the sheet is narrower than the screen
    widest = page.eval_on_selector_all(
        ".chart svg", "all => Math.max(...all.map(e => e.getBoundingClientRect().right))"
    )
    assert widest <= 720
    assert len(page.pdf(format="A4")) > 50_000


def test_without_scripts_every_sentence_and_table_is_there(
    browser: Any, files: dict[str, Path]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(files["real"].as_uri())
    assert "Charts need JavaScript" in page.locator("noscript").inner_text()
    assert page.locator("section .lead").count() == 8
    assert page.locator("#headline table").first.is_visible()
    context.close()
