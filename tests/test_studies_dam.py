"""The study dam: each claim in short form, its files, and the page that tells of it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.cli.app import execute
from simulation.encoders import EncoderSpec, load
from simulation.studies import dam
from simulation.studies.dam import (
    growth,
    own,
    separation,
    study,
    unit,
    validation,
    verdicts,
)
from simulation.studies.dam.dialogues import Evidence, dialogues, sequences
from simulation.studies.output import Findings, publish, shown
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from simulation.studies.dam.dialogues import Dialogues

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "dam.md"
ENCODER = load(EncoderSpec(name="static"))
SHORT = growth.stream_of(dialogues(0, count=60))
GROWN = growth.grow(SHORT, ENCODER)


# One unit


def test_equal_evidence_accumulates_and_contradiction_moves_smoothly() -> None:
    path = unit.accumulation()
    assert (np.diff(path.confidence[0, :, 0]) >= -1e-12).all()
    assert (np.diff(path.weight[0]) > 0).all()
    turn = unit.contradiction()
    assert np.abs(turn.steps).max() < 0.1 < turn.overwritten
    np.testing.assert_allclose(np.abs(turn.steps), turn.bound, atol=1e-12)
    assert turn.positive[9] > turn.positive[19] < turn.positive[29]


def test_strong_words_move_a_unit_further_than_weak_ones() -> None:
    moved = unit.intensity()
    assert moved.shape == (5, 20)
    assert (np.diff(moved, axis=0) > 0).all()
    assert (np.diff(moved, axis=1) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_thirty_observations_of_coffee_settle_after_fifteen(seed: int) -> None:
    found = unit.stability(unit.coffee(seed))
    assert found.ratio <= 1 / 3
    assert found.median_away <= 0.10
    assert len(found.away) == 200


def test_settling_is_measured_on_the_changes_before_and_after_the_fifteenth() -> None:
    polarity = np.zeros((1, 30, 3))
    polarity[0, :, 0] = 1.0
    polarity[0, 15, :2] = (0.0, 1.0)
    found = unit.stability(
        Evidence(
            polarity=polarity, strength=np.full((1, 30), 0.4), contradicts=np.zeros((1, 30), bool)
        )
    )
    assert found.before == 0.0
    assert found.after > 0.0
    assert found.away[0] == pytest.approx(
        np.abs(found.confidence[0, 14:] - found.confidence[0, -1]).max()
    )


def test_a_change_of_mind_takes_as_long_as_what_was_held_without_the_cap_and_less_with_it() -> (
    None
):
    even = {(one.held, one.cap): one.even for one in unit.flips(0, streams=20)}
    assert [even[held, unit.UNCAPPED] for held in (5, 15, 50)] == [6, 16, 51]
    assert [even[held, unit.CAP] for held in (5, 15, 50)] == [6, 16, 22]
    drawn = {(one.held, one.cap): np.median(one.drawn) for one in unit.flips(0)}
    assert drawn[50, unit.CAP] < 25
    assert drawn[50, unit.UNCAPPED] > 45


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000))
def test_ten_thousand_updates_keep_a_belief_a_distribution(seed: int) -> None:
    some = sequences(seed, count=1, length=10_000)
    path = unit.path(some.polarity, some.strength)
    assert np.abs(path.confidence.sum(axis=2) - 1.0).max() < 1e-9
    assert path.weight.max() <= unit.CAP


# Taste and packaging


def test_taste_and_packaging_stay_separate_as_evidence_comes_in() -> None:
    apart = separation.separate(0, ENCODER, liked=False, merging=False, people=20)
    assert (apart.apart, apart.mixed) == (1.0, 0.0)
    merged = separation.separate(0, ENCODER, liked=False, people=20)
    assert merged.apart > 0.5
    assert apart.taste[-1, 0] > 0.5 > apart.packaging[-1, 0]


# Verdicts


def test_a_target_that_is_missed_is_said_to_be_missed() -> None:
    grown = validation.Grown(
        world="a world",
        seed=0,
        observations=300,
        growth=GROWN,
        recalls=(
            growth.Recall(way=growth.WAYS[0], questions=9, ours=0.5, any_fact=0.9, that_fact=0.1),
        ),
    )
    found = list(verdicts._grown([grown]))
    assert [one.reached for one in found] == [
        GROWN.compression >= 0.706,
        GROWN.late <= 0.05,
        False,
    ]
    assert str(found[2]).startswith("not reached  a world: recall@5, by name: 0.500, -0.400")


# Pictures and tables


def test_names_cannot_break_a_table_of_the_report() -> None:
    cells = ("a|b", "<script>", "new\nline", "`x`", "plain_name", 3, 0.5)
    columns = tuple(f"c{i}" for i in range(len(cells)))
    told = shown(Table(name="own", title="t", columns=columns, rows=(cells,)))
    assert r"| a\|b | \<script> | new\\u000aline | \`x\` | plain_name | 3 | 0.500 |" in told


# The study from the command line


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("dam")
    rows = "".join(f"tea|cup,side {i % 3},+,.4,{i}\n" for i in range(40))
    (base / "own.csv").write_text(f"object,aspect,polarity,strength,tick\n{rows}", "utf-8")
    command = [
        "study",
        "dam",
        "--quick",
        "--data",
        str(base / "own.csv"),
        "--out",
        str(base / "o"),
    ]
    assert execute(command) == 0
    return base / "o"


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


def test_the_short_form_reaches_what_the_issue_asks(folder: Path) -> None:
    found = rows_of(folder / "verdicts.csv")
    assert len(found) > 10
    assert {row["verdict"] for row in found} == {"reached", "reported"}
    (grown,) = rows_of(folder / "growth.csv")
    assert float(grown["compression"]) >= 0.706
    assert float(grown["late growth"]) <= 0.05


def test_the_study_writes_tables_pictures_and_a_manifest(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    names = sorted(path.name for path in folder.iterdir())
    assert sorted([*manifest["files"], "manifest.json"]) == names
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert manifest["encoders"] == [{"name": "static", "sha256": ENCODER.sha256}]
    given_data = (folder.parent / "own.csv").read_bytes()
    assert manifest["data"] == {"own.csv": hashlib.sha256(given_data).hexdigest()}
    assert manifest["configuration"]["rules"]["similarity"] == 0.80
    assert str(folder.parent) not in (folder / "manifest.json").read_text("utf-8")
    report = (folder / "report.md").read_text("utf-8")
    assert "## Your own observations" in report
    assert r"tea\|cup" in report
    assert "The first 40 of 500 rows of growth_curve.csv." in report


def test_what_is_printed_has_a_verdict_a_line_and_says_what_was_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = (Verdict(claim="a", found="1", target="2", reached=False),)
    made = Findings(
        name="dam", title="t", about="", verdicts=claims, tables=(), notes=(study.NO_LABELLED,)
    )
    monkeypatch.setattr(study, "make", lambda **_: made)
    told = study.run(tmp_path / "out", quick=False, data=None)
    assert told.splitlines()[::2] == [
        "not reached  a: 1 (2)",
        study.NO_LABELLED,
        f"wrote {tmp_path}/out",
    ]


def test_the_long_form_compares_worlds_over_the_seeds_and_reads_labelled_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(seed: int, **settings: Any) -> Dialogues:
        return dialogues(seed, **(settings | {"count": 10}))

    monkeypatch.setattr(validation, "SEEDS", (0, 1))
    monkeypatch.setattr(validation, "dialogues", short)
    monkeypatch.setattr(separation, "separate", partial(separation.separate, people=3))
    label = '<aspectCategory category="{}" polarity="{}"/>'
    sentences = "".join(
        f"<sentence><text>sentence {i}</text><aspectCategories>"
        f"{label.format('food', 'positive')}{label.format('price', 'negative')}"
        "</aspectCategories></sentence>"
        for i in range(60)
    )
    (tmp_path / "some.xml").write_text(f"<sentences>{sentences}</sentences>", "utf-8")
    told = study.run(tmp_path / "out", quick=False, data=tmp_path)
    assert "was skipped" not in told
    assert "one observation a dialogue: compression" in told
    assert "reviews, sixty restaurants: recall@5" in told
    grown = rows_of(tmp_path / "out" / "growth.csv")
    assert [(row["stream"], row["seed"]) for row in grown[:4]] == [
        ("five observations a dialogue", seed) for seed in ("0", "1", "mean", "sd")
    ]
    one = next(row for row in grown if row["stream"] == "reviews, one restaurant")
    assert (one["seed"], one["observations"], one["units at the end"]) == ("real", "100", "2")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert list(manifest["data"]) == ["some.xml"]
    assert len(manifest["configuration"]["worlds"]) == 3


def test_a_study_that_takes_no_data_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["study", "persmem-calibration", "--data", "x.csv"]) == 2
    assert "takes no --data" in capsys.readouterr().err


# The page


def test_the_page_tells_what_the_study_finds(folder: Path) -> None:
    page = PAGE.read_text("utf-8")
    for name in ("growth", "settling", "separation"):
        for row in rows_of(folder / f"{name}.csv"):
            line = "| " + " | ".join(_short(cell) for cell in row.values()) + " |"
            assert line in page, line


def test_the_pictures_of_the_page_are_those_of_the_study(folder: Path) -> None:
    for name in ("accumulation", "contradiction", "intensity", "settling", "flips"):
        drawn = (folder / f"{name}.svg").read_text("utf-8")
        assert drawn == (ROOT / f"docs/figures/dam_{name}.svg").read_text("utf-8"), name


def test_the_page_names_every_column_of_the_format() -> None:
    page = PAGE.read_text("utf-8")
    for column in own.COLUMNS:
        assert f"`{column}`" in page, column


def test_the_examples_of_the_page_can_be_run(tmp_path: Path) -> None:
    blocks = re.findall(r"```text\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    assert len(blocks) == 2
    for text in blocks:
        path = tmp_path / ("own.jsonl" if text.startswith("{") else "own.csv")
        path.write_text(text, "utf-8")
        assert own.read(path).streams


def _short(cell: str) -> str:
    try:
        return f"{float(cell):.3f}" if "." in cell else cell
    except ValueError:
        return cell


def test_a_folder_that_cannot_be_written_is_told_at_once_and_nothing_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert execute(["study", "dam", "--quick", "--out", str(blocked / "out")]) == 2
    assert "cannot be written" in capsys.readouterr().err

    def full(folder: Path, **_: object) -> str:
        records = {"a.txt": "a", "b/b.txt": "b", "x" * 300: "no file can be called so"}
        found = Findings(name="n", title="t", about="", verdicts=(), tables=(), records=records)
        return publish(found, folder, quick=True)

    monkeypatch.setattr(dam, "run", full)
    assert execute(["study", "dam", "--quick", "--out", str(tmp_path / "new" / "out")]) == 2
    assert "File name too long; nothing is left of the study" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_nothing_of_somebody_else_is_written_over_or_taken_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Findings(name="n", title="t", about="", verdicts=(), tables=())

    def meanwhile(folder: Path, **_: object) -> str:
        assert execute(["study", "dam", "--quick", "--out", str(folder)]) == 2  # it is taken
        (folder / "thesis.txt").write_text("precious")
        return publish(found, folder, quick=True)

    monkeypatch.setattr(dam, "run", meanwhile)
    assert execute(["study", "dam", "--quick", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "exists and is not written over" in said
    assert "out cannot be written: it holds something" in said
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def test_two_studies_at_once_take_two_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Findings(name="n", title="t", about="", verdicts=(), tables=())
    monkeypatch.chdir(tmp_path)
    inner: list[int] = []

    def meanwhile(folder: Path, **_: object) -> str:
        if not inner:
            inner.append(1)
            assert execute(["study", "dam", "--quick"]) == 0
        return publish(found, folder, quick=True)

    monkeypatch.setattr(dam, "run", meanwhile)
    assert execute(["study", "dam", "--quick"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if "wrote" in line] == [
        "wrote studies/dam-2",
        "wrote studies/dam",
    ]
