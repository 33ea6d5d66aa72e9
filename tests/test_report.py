"""The page of one run: what stands on it, and that every number has its rows."""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import run_rows
import vl_convert
from executing import SURVEYS
from report_pages import Page, read, small_run, write_rows

from simulation import Run, compare, records, simulate
from simulation.analysis.report import charts, report
from simulation.analysis.report.glossary import WORDS
from simulation.analysis.report.numbers import cell
from simulation.analysis.report.page import asset, libraries
from simulation.cli.app import execute
from simulation.errors import RunFileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
SECTIONS = ["headline", "beliefs", "flips", "actions", "graph", "memory", "trust", "method"]
MEGABYTES = 3e6


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of twelve personas with probes that are answered wrongly, and surveys."""
    path = tmp_path_factory.mktemp("report") / "small.duckdb"
    return small_run(path, "rule.drift_rate=0.5", surveys=SURVEYS)


@pytest.fixture(scope="module")
def html(run: Path) -> str:
    """Return its page."""
    return report([run])


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    """Return its page as tests read it."""
    return read(html)


def told(folder: Path, ticks: Sequence[records.TickRecords], *, status: str = "complete") -> Page:
    """Return the page of a hand-made run."""
    folder.mkdir(exist_ok=True)
    path = folder / "told.duckdb"
    run_rows.write_run(path, ticks, status=status)
    return read(report([path]))


def test_every_section_is_there_and_says_something(page: Page) -> None:
    assert [name for name in page.sections if name != "surveys"] == SECTIONS
    assert "surveys" in page.sections
    assert all(len(page.leads[name]) > 20 for name in page.sections)
    assert page.text.count("Skip to the report") == 1
    for name in page.sections:
        assert ("a", "href", f"#{name}") in page.attributes


def test_every_figure_has_a_sentence_and_every_chart_a_description_a_table_and_its_sql(
    page: Page,
) -> None:
    for figure in page.figures():
        assert figure.says.endswith((".", ":")), figure.title
        if figure.charts:
            assert figure.tables, figure.title
            assert figure.queries, figure.title
    descriptions = [
        value for tag, name, value in page.attributes if (tag, name) == ("div", "aria-label")
    ]
    assert len(page.specs) == sum(len(each.charts) for each in page.figures()) > 15
    assert all(len(each) > 7 for each in descriptions)


def test_every_query_of_the_page_runs_on_the_run(page: Page, run: Path) -> None:
    queries = {sql for figure in page.figures() for sql in figure.queries}
    assert len(queries) > 25
    with Run.open(run) as opened:
        for sql in queries:
            assert opened.query(sql).columns, sql


def test_the_rows_of_a_table_are_those_of_its_query(page: Page, run: Path) -> None:
    with Run.open(run) as opened:
        for section, title, place in (
            ("actions", "Exposure", 0),
            ("flips", "When minds", 0),
            ("trust", "Drift", 0),
            ("memory", "Reflections", 0),
            ("surveys", "Answers", 0),
        ):
            figure = page.figure(section, title)
            rows = opened.query(figure.queries[place]).rows
            assert rows, title
            assert figure.tables[place][1:] == [[cell(value) for value in row] for row in rows]


def test_the_means_are_those_that_the_run_database_gives(page: Page, run: Path) -> None:
    shown = {row[0][:2]: row[1:4] for row in page.figure("headline", "What changed").tables[0][1:]}
    with Run.open(run) as opened:
        for name in ("C1", "C2"):
            start, end = (
                opened.query(
                    "SELECT mean FROM belief_summary WHERE target = ? AND tick = ?",
                    parameters=[name, tick],
                ).rows[0][0]
                for tick in (0, 8)
            )
            assert shown[name] == [f"{start:.3f}", f"{end:.3f}", f"{end - start:.3f}"]


def test_every_chart_is_a_specification_that_vega_lite_compiles(page: Page) -> None:
    for spec in page.specs:
        assert vl_convert.vegalite_to_vega(spec)["marks"]


def test_controls_set_signals_that_their_charts_have(page: Page) -> None:
    signals = {parameter["name"] for spec in page.specs for parameter in spec.get("params", ())}
    asked = {value for _, name, value in page.attributes if name == "data-signal"}
    assert asked == signals == {"tick", "belief", "attribute"}
    labels = {value for tag, name, value in page.attributes if (tag, name) == ("label", "for")}
    controls = {
        value
        for tag, name, value in page.attributes
        if tag in ("input", "select") and name == "id"
    }
    assert controls == labels


def test_the_page_allows_its_own_scripts_by_digest_and_no_request(page: Page, html: str) -> None:
    policy = next(v for _, name, v in page.attributes if v.startswith("default-src"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    for script in page.scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert page.scripts[1:] == [libraries(), asset("page.js")]
    addresses = {
        value for _, name, value in page.attributes if name in ("src", "href", "action", "data")
    }
    assert all(each.startswith("#") for each in addresses)
    assert "@import" not in asset("page.css")
    assert "url(" not in asset("page.css")
    assert "http://" not in html.partition('type="module"')[0]


def test_a_page_of_one_run_is_the_same_each_time(run: Path, html: str) -> None:
    assert report([run]) == html


def test_150_personas_and_30_ticks_stay_below_three_megabytes(tmp_path: Path) -> None:
    path = simulate(SCENARIOS / "protein_bar.yaml", out=tmp_path / "a.duckdb")
    text = report([path])
    assert len(text.encode()) < MEGABYTES
    page = read(text)
    assert "150 personas lived through 30 ticks" in page.leads["headline"]
    assert "What moved most is C1" in page.leads["headline"]
    assert "by Snack Diary" in page.figure("flips", "Which posts").says
    nodes = next(
        spec["data"]["values"] for spec in page.specs if "community" in str(spec["data"])[:200]
    )
    assert len(nodes) == 150


def test_names_and_texts_that_look_like_markup_show_as_text(tmp_path: Path) -> None:
    evil = "<script>alert('p1')</script>"
    text = "</script><img src=x onerror=alert(1)>\u2028 & \u202e \x1b[2J <b>bold</b>"
    path = tmp_path / "evil.duckdb"
    run_rows.write_run(path, run_rows.story())
    quoted = evil.replace("'", "''")
    write_rows(
        path,
        *(
            f"UPDATE {table} SET persona_id = '{quoted}' WHERE persona_id = 'p1'"
            for table in ("personas", "initial_beliefs", "turns", "belief_changes", "exposures")
        ),
        f"UPDATE posts SET author = '{quoted}' WHERE author = 'p1'",
        f"UPDATE edges SET source = '{quoted}' WHERE source = 'p1'",
        f"UPDATE edges SET target = '{quoted}' WHERE target = 'p1'",
        "UPDATE personas SET attributes = '{\"<i>age</i>\": \"<u>old</u>\"}'",
        f"UPDATE posts SET text = '{text}'",
        f"UPDATE claims SET text = '{text}'",
        f"UPDATE run SET scenario_name = '{text}', scenario_yaml = '{text}'",
    )  # fmt: skip
    html = report([path])
    page = read(html)
    assert page.tags["script"] == 3
    assert not {"img", "b", "i", "u"}.intersection(page.tags)
    assert evil in page.text
    assert "<b>bold</b>" in page.text
    assert "<u>old</u>" in page.text
    assert "\\u202e" in page.text
    assert not any(mark in html for mark in ("\u202e", "\x1b"))
    assert not any(mark in page.scripts[0] for mark in ("<", ">", "\u2028"))
    assert evil in str(page.specs)
    assert "<img" not in html.partition('type="module"')[0].lower()


def test_a_run_in_which_nothing_happened_says_so_everywhere(tmp_path: Path) -> None:
    page = told(tmp_path, [run_rows.start(), run_rows.tick(1), run_rows.tick(2)])
    assert "No belief moved on average" in page.leads["headline"]
    assert "as far apart at the end" in page.leads["beliefs"]
    assert "Nobody changed their mind" in page.leads["flips"]
    assert page.leads["actions"] == "Nobody did anything: no turn was taken."
    assert page.leads["memory"].startswith("No memory was ever recalled.")
    assert page.leads["trust"] == (
        "Nobody was probed, so drift was not measured. Nothing failed: no answer was refused, "
        "invalid, repaired or replaced. No language model was asked, so the run cost nothing."
    )
    said = " ".join(figure.says for figure in page.figures())
    for sentence in (
        "Nothing was shown to anybody.",
        "No persona published anything.",
        "No tick saw a change of mind.",
        "There is no post to name, since nobody changed their mind.",
        "No group moved differently from any other.",
        "Nobody reflected.",
        "Nothing was recalled.",
        "No gate was asked",
        "This run kept no attitudes (memory units).",
        "Whether followers agree cannot be said",
        "There are too few ticks with turns to say how the mix changed.",
        "At the end nobody is sure",
    ):
        assert sentence in said


def test_a_run_that_has_only_its_start_can_be_shown(tmp_path: Path) -> None:
    page = told(tmp_path, [run_rows.start()], status="interrupted")
    assert page.warnings == [
        (
            "told.duckdb is not finished: its status is interrupted, and it holds 0 of 4 ticks. "
            "All of them are here."
        )
    ]
    assert list(page.sections) == SECTIONS


def test_a_run_without_follows_claims_or_beliefs_says_so(tmp_path: Path) -> None:
    page = told(tmp_path, [run_rows.start(personas=("p1",), claims=(), dimensions=())])
    assert "There was nothing to believe." in page.leads["headline"]
    assert page.leads["flips"] == "The brief makes no claim that could be won or lost."
    path = tmp_path / "alone.duckdb"
    run_rows.write_run(path, [run_rows.start()])
    write_rows(path, "DELETE FROM edges")
    assert "Nobody follows anybody" in read(report([path])).leads["graph"]


def test_what_won_and_lost_a_claim_is_named(tmp_path: Path) -> None:
    page = told(tmp_path, run_rows.story())
    assert "C1 was won 1 time and lost 0." in page.leads["flips"]
    figure = page.figure("flips", "Which posts")
    assert figure.says == "Most often C1 was won by Bolt (1 time): “Twenty grams!”."
    assert figure.tables[0][1] == ["C1", "1", "0", "Bolt", "Twenty grams!", "ad", "1"]
    assert "1 of 2 probed personas contradicted themselves" in page.leads["trust"]
    assert "Answers with a fault: " in page.leads["trust"]
    drift = page.figure("trust", "Drift")
    assert drift.tables[1][1] == ["2", "p3", "How old are you?", "40", "12"]


def test_the_largest_changes_are_those_of_a_tick_with_both_phases(tmp_path: Path) -> None:
    changes = [
        run_rows.change("p1", "C1", 0.9, 0.6, phase="turn"),
        run_rows.change("p1", "C1", 0.6, 0.55, phase="reflection"),
        run_rows.change("p2", "C1", 0.45, 0.7, phase="turn"),
        run_rows.change("p2", "C1", 0.7, 0.7, phase="reflection"),
    ]
    start = run_rows.start(beliefs={("p1", "C1"): 0.9, ("p2", "C1"): 0.45})
    figure = told(tmp_path, [start, run_rows.tick(1, changes=changes)]).figure("flips", "Which")
    assert figure.captions[1].startswith("The 5 largest changes within a tick, whether they")
    rows = [row[1:8] for row in figure.tables[1][1:]]
    assert rows == [
        ["p1", "C1", "-0.350", "0.900", "0.550", "no", "both"],
        ["p2", "C1", "0.250", "0.450", "0.700", "yes", "turn"],
    ]


def test_words_of_the_page_are_explained_on_it(page: Page, html: str) -> None:
    folded = html.partition('<details class="words">')[2].partition("</details>")[0]
    said = re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", folded)
    assert dict(said).keys() == WORDS.keys()
    assert len(said) > 20
    known = " ".join(word for word, _ in said).lower()
    for word in ("tick", "persona", "belief", "claim", "credence", "dimension", "community"):
        assert word in known
    assert "Words used" in page.text


def test_pictures_begin_with_the_belief_that_moved_most(tmp_path: Path) -> None:
    moved = [run_rows.change("p1", "value", 0.5, 0.2), run_rows.change("p1", "C1", 0.5, 0.6)]
    path = tmp_path / "moved.duckdb"
    run_rows.write_run(path, [run_rows.start(), run_rows.tick(1, changes=moved)])
    html = report([path])
    page = read(html)
    assert html.count('<option value="value" selected>') == 1
    assert html.count('<option value="1" selected>') == 1
    signals = [
        each["value"]
        for spec in page.specs
        for each in spec.get("params", ())
        if each["name"] == "belief"
    ]
    assert signals == ["value", "1"]


def test_the_axis_of_importance_has_its_empty_bins(page: Page) -> None:
    spec = page.specs[page.figure("memory", "What is recalled: age").charts[1]]
    assert spec["encoding"]["x"]["scale"]["domain"] == [place / 10 for place in range(10)]


def test_claims_that_reached_as_many_are_named_together(tmp_path: Path) -> None:
    post = {"tick": 1, "author": "p1", "kind": "post", "text": "So!", "valence": 0.0}
    posts = [{**post, "post_id": i, "claim_id": f"C{i}"} for i in (1, 2, 3)]
    seen = [("p2", 1), ("p3", 1), ("p2", 2), ("p3", 2), ("p2", 3)]
    shown = [{"tick": 1, "persona_id": who, "post_id": place} for who, place in seen]
    extra = [
        run_rows.rows(records.Posts, posts),
        run_rows.rows(records.Exposures, shown),
    ]
    page = told(
        tmp_path, [run_rows.start(claims=("C1", "C2", "C3")), run_rows.tick(1, extra=extra)]
    )
    assert "C1 and C2 reached 66.7" in page.figure("actions", "Exposure").says


def test_follows_are_told_as_one_way(page: Page) -> None:
    assert "each one-way;" in page.figure("headline", "What the run holds").says
    assert "follows, each from one persona to another;" in page.leads["graph"]
    assert "follow each other" not in page.text


def test_an_axis_of_close_means_follows_them() -> None:
    assert charts.near_axis("y", None, [0.3, 0.7])["scale"]["domain"] == pytest.approx(
        [0.28, 0.72]
    )
    assert charts.near_axis("y", None, [0.5])["scale"]["domain"] == pytest.approx([0.45, 0.55])
    assert charts.near_axis("y", None, [0.99, 1.0])["scale"]["domain"][1] == 1.0
    assert charts.near_axis("y", None, [])["scale"]["domain"] == [0.0, 1.0]


def test_a_zero_on_an_axis_of_changes_has_no_sign() -> None:
    assert charts.change_axis("x", None)["axis"]["labelExpr"].startswith("abs(datum.value) < 1e-9")


def test_a_file_that_is_no_run_or_holds_no_tick_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="does not exist"):
        report([tmp_path / "none.duckdb"])
    with pytest.raises(UsageError, match="at least one run"):
        report([])
    run_rows.write_run(tmp_path / "empty.duckdb", [], status="running")
    with pytest.raises(RunFileError, match="holds no tick yet, not even the start"):
        report([tmp_path / "empty.duckdb"])


def test_the_commands_of_the_page_make_the_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a folder's"
    folder.mkdir()
    first = small_run(folder / "it's.duckdb", "rule.influence=0.3")
    page = read(report([first]))
    commands = [row[1] for row in page.figure("method", "Run it again").tables[0][1:]]
    words, _, out = commands[0].partition(" > ")
    monkeypatch.chdir(folder)
    python = [sys.executable, *shlex.split(words)[1:]]
    Path(out).write_bytes(subprocess.run(python, capture_output=True, check=True).stdout)
    for command in commands[1:]:
        program, *rest = shlex.split(command)
        assert (program, execute(rest)) == ("simulation", 0)
    assert compare([first, folder / "again.duckdb"]).identical
    assert "proposition: Bolt is a protein bar" in page.figure("method", "Run it again").text


def test_long_values_of_the_method_note_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    head = run_rows.header(packages={f"package{i}": "1.2.3" for i in range(60)})
    run_rows.write_run(path, run_rows.story(), run=head)
    page = read(report([path]))
    assert '"package9": "1.2.3"}' in page.figure("method", "The run").text


def test_numbers_with_many_values_are_cut_at_their_quartiles(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    names = [f"p{i:02}" for i in range(40)]
    run_rows.write_run(
        path,
        [
            run_rows.start(personas=names),
            run_rows.tick(
                1, changes=[run_rows.change(name, "C1", 0.5, 0.9) for name in names[:20]]
            ),
        ],
    )
    write_rows(
        path,
        "UPDATE personas SET attributes = json_object("
        "'height', 1.05 + persona_index / 100, 'job', 'job ' || least(persona_index, 11), "
        "'nothing', NULL)",
    )
    figure = read(report([path])).figure("flips", "In which groups")
    rows = [row for row in figure.tables[0][1:] if row[2] == "C1"]
    heights = [row[1:] for row in rows if row[0] == "height"]
    assert [row[0] for row in heights] == [
        "1.05 to 1.14",
        "1.15 to 1.24",
        "1.25 to 1.34",
        "1.35 to 1.44",
    ]
    assert [row[5] for row in heights] == ["0.400", "0.400", "0.000", "0.000"]
    jobs = {row[1]: row[3] for row in rows if row[0] == "job"}
    assert jobs["job 11"] == "29"
    assert jobs["all others"] == "5"
    assert len(jobs) == 8
    assert not [row for row in rows if row[0] == "nothing"]
    assert figure.says.startswith("Groups part most by height, over C1: 1.05 to 1.14 by +0.40")


def test_attributes_beyond_two_dozen_are_left_out_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    run_rows.write_run(path, run_rows.story())
    told = ", ".join(f"'a{i}', 'x'" for i in range(30))
    write_rows(path, f"UPDATE personas SET attributes = json_object({told})")
    figure = read(report([path])).figure("flips", "In which groups")
    assert "6 attributes with smaller gaps left out; the SQL gives all." in figure.text


def test_a_run_of_nobody_can_be_shown(tmp_path: Path) -> None:
    page = told(tmp_path, [run_rows.start(personas=(), claims=()), run_rows.tick(1)])
    assert page.leads["headline"].startswith("0 personas lived through 1 tick")
    page = told(tmp_path / "x", [run_rows.start(personas=()), run_rows.tick(1)])
    assert "There was nothing to believe." in page.leads["headline"]


def test_people_who_begin_undecided_are_told_of(tmp_path: Path) -> None:
    moved = [run_rows.change(name, "C1", 0.5, 0.9) for name in run_rows.PERSONAS]
    lead = told(tmp_path, [run_rows.start(), run_rows.tick(1, changes=moved)]).leads["headline"]
    space = "\N{NO-BREAK SPACE}"
    assert f"100{space}% of personas end above one half (0{space}% at the start, when most" in lead
    assert "3 of 4 beliefs stayed where they were." in lead


def test_pictures_show_eight_claims_at_most_and_say_so(tmp_path: Path) -> None:
    claims = [f"C{i}" for i in range(1, 12)]
    page = told(
        tmp_path,
        [
            run_rows.start(claims=claims, beliefs={("p1", "C1"): 0.4, ("p2", "C11"): 0.4}),
            run_rows.tick(
                1,
                changes=[
                    run_rows.change("p1", "C1", 0.4, 0.7),
                    run_rows.change("p2", "C11", 0.4, 0.7),
                ],
            ),
        ],
    )
    assert "The picture shows the first 8 claims." in page.figure("flips", "When minds").says
    assert "The picture shows the first 8 claims." in page.figure("actions", "Exposure").says
    table = page.figure("flips", "When minds").tables[0]
    assert [row[0] for row in table[1:]] == claims


def test_a_library_that_could_end_its_script_is_made_harmless(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    libraries.cache_clear()
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda _: 'say("</SCRIPT>","</script>")')
    assert libraries() == 'say("<\\/SCRIPT>","<\\/script>")'
    libraries.cache_clear()


def test_the_documented_sections_are_those_of_a_page(page: Page, html: str) -> None:
    text = (Path(__file__).resolve().parents[1] / "docs" / "report.md").read_text("utf-8")
    part = text.partition("## What is on it")[2].partition("\n## ")[0]
    told_of = re.findall(r"^\| ([A-Z][^|]+) \|", part, re.MULTILINE)
    titles = re.findall(r"<h2 [^>]*>([^<]+)</h2>", html)
    assert len(titles) == len(page.sections)
    assert told_of == [titles[0], "Side by side", *titles[1:]]
