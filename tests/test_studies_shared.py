"""What all studies share: intervals, corpora, pictures, output, and recall over fixed memories."""

from __future__ import annotations

import csv
import hashlib
import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.encoders import EncoderSpec, load
from simulation.scenario.persmem import Gate, PersMem, Switches
from simulation.studies import corpus, intervals, plots, recalling
from simulation.studies.output import ROWS, Findings, publish, sha256_of, shown
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

PROFILES = np.array([[0.15, 0.15], [0.85, 0.15], [0.15, 0.85], [0.85, 0.85]])


def test_wilson_gives_the_seeds_interval_of_90_in_120() -> None:
    assert intervals.wilson(90, 120).words() == "0.750 [0.666, 0.819]"


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_a_share(counts: tuple[int, int]) -> None:
    found = intervals.wilson(*counts)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (2, 1), (-1, 3)])
def test_wilson_refuses_what_is_no_share(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        intervals.wilson(successes, trials)


def test_a_bootstrap_covers_the_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for i in range(200):
        values = rng.normal(size=60)
        found = intervals.bootstrap(values, lambda v: float(v.mean()), draws=200, purpose=str(i))
        hits += found.low <= 0.0 <= found.high
    assert 0.89 <= hits / 200 <= 0.99


def test_clusters_are_drawn_whole() -> None:
    values = np.repeat([0.0, 1.0], 50)
    alone = intervals.bootstrap(values, lambda v: float(v.mean()), purpose="a", draws=400)
    whole = intervals.bootstrap(
        values, lambda v: float(v.mean()), clusters=np.repeat([7, 3], 50), purpose="a", draws=400
    )
    assert (whole.low, whole.high) == (0.0, 1.0)
    assert alone.high - alone.low < 0.25


def test_a_bootstrap_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to resample"):
        intervals.bootstrap(np.zeros(0), np.mean, purpose="x")


@pytest.mark.parametrize(("values", "clusters"), [([0.5], None), ([0.25, 0.75], [3, 3])])
def test_one_group_has_no_interval(values: list[float], clusters: list[int] | None) -> None:
    found = intervals.bootstrap(
        np.array(values), lambda x: float(x.mean()), clusters=clusters, purpose="test"
    )
    assert found.value == 0.5
    assert np.isnan([found.low, found.high]).all()
    assert found.words() == "0.500 (one group: no interval)"
    table = Table(name="x", title="", columns=("low",), rows=((found.low,),))
    assert "undefined" in table.markdown()


def test_what_is_undefined_is_told_in_a_word() -> None:
    assert intervals.Interval(value=np.nan, low=np.nan, high=np.nan).words() == "undefined"


def test_a_p_value_is_never_zero() -> None:
    assert intervals.permutation_p(9.0, np.zeros(999)) == 0.001
    assert intervals.permutation_p(0.0, np.zeros(9)) == 1.0


def test_a_spread_names_mean_and_range() -> None:
    assert intervals.spread([0.4, 0.6]) == "0.500 (0.400 to 0.600)"


@pytest.mark.parametrize(
    ("name", "size"), [("calibration", 63), ("development", 92), ("test", 165), ("events", 320)]
)
def test_a_corpus_is_read_whole_with_either_readers_labels(name: str, size: int) -> None:
    read = corpus.read(name)
    again = corpus.second(read)
    assert len(read) == size
    assert again.ids == read.ids
    assert (again.overgeneral == read.overgeneral).all()  # kappa is 1 in all sets
    assert not np.array_equal(again.affect, read.affect)
    assert set(corpus.cues("development")) & set(corpus.cues("test")) == set()


def test_chance_is_paired_over_personalities_and_differs_by_stream_and_seed() -> None:
    bank = recalling.bank(corpus.read("development"))
    cue = corpus.cues("development")[0]
    asked = recalling.ask(
        bank, personas=[0, 0, 1, 0], cues=[cue] * 4, streams=["a", "a", "a", "b"]
    )
    off = PersMem(switches=Switches(A=False, R=False, P=False), gate=Gate(mode="neutral"))
    plain = recalling.Minds(bank, "attachment", PROFILES, off).passive(asked, count=6)
    assert (plain[0] == plain[1]).all()
    assert (plain[0] == plain[2]).all()  # without traits all are the same
    assert (plain[0] != plain[3]).any()
    other = recalling.Minds(bank, "attachment", PROFILES, off, seed=1).passive(asked, count=6)
    assert (plain != other).any()
    full = recalling.Minds(bank, "attachment", PROFILES).passive(asked, count=6)
    assert (full[0] != full[2]).any()


def test_anxious_minds_recall_worse_and_redirect_more() -> None:
    bank = recalling.bank(corpus.read("development"))
    cues = [cue for _ in range(2) for r in range(8) for cue in corpus.cues("development")]
    streams = [f"{r}" for _ in range(2) for r in range(8) for _ in corpus.cues("development")]
    half = len(cues) // 2
    minds = recalling.Minds(bank, "attachment", PROFILES)
    asked = recalling.ask(bank, personas=np.repeat([0, 1], half), cues=cues, streams=streams)
    valence = bank.corpus.affect[minds.passive(asked, count=3), 0]
    assert valence[:half].mean() > valence[half:].mean() + 0.1
    _, decisions = minds.retrieve(asked)
    fired = [decisions.fired[decisions.turn // half == side].mean() for side in (0, 1)]
    assert fired[1] > fired[0] + 0.1


def test_samples_are_independent_draws_and_controls_find_by_their_mode() -> None:
    bank = recalling.bank(corpus.read("calibration"))
    minds = recalling.Minds(bank, "big_five", np.full((1, 5), 0.5), ages=np.arange(63))
    asked = recalling.ask(bank, personas=[0], cues=["The sea"], streams=["x"])
    drawn = minds.samples(asked, draws=60)
    assert drawn.shape == (1, 60)
    assert len(np.unique(drawn)) < 60  # with replacement
    best = minds.control(asked, "semantic", count=2).position[0]
    near = bank.texts.cosine(bank.items, asked.query)
    assert best.tolist() == np.argsort(-near, kind="stable")[:2].tolist()
    relation, retention = minds.weighed(asked)
    assert relation.shape == retention.shape == minds.scores(asked).shape == (1, 63)
    assert retention[0, 0] == 1.0  # its age is 0
    assert retention[0, -1] < retention[0, 1]


def findings(rows: int = 2) -> Findings:
    table = Table(
        name="numbers",
        title="Numbers",
        columns=("who", "value"),
        rows=tuple((f"<a|{i}>\u202e", i / 3) for i in range(rows)),
    )
    return Findings(
        name="try",
        title="a try",
        about="What it is.",
        verdicts=(
            Verdict(claim="big", found="3", target="at least 2", reached=True, theirs="4"),
            Verdict(claim="small", found="3", target="", reached=None),
            Verdict(claim="odd", found="2", target="odd", reached=False),
        ),
        tables=(table,),
        pictures={"picture": "<svg/>\n"},
        seeds=(1, 2),
        configuration={"k": 3},
        encoders=(load(EncoderSpec(name="static")),),
        records={"calls.jsonl": "{}\n"},
    )


def test_a_study_is_published_whole_and_says_what_was_reached(tmp_path: Path) -> None:
    said = publish(findings(), tmp_path / "new" / "study", quick=False)
    folder = tmp_path / "new" / "study"
    assert said.splitlines() == [
        "reached      big: 3 (at least 2; theirs: 4)",
        "reported     small: 3",
        "not reached  odd: 2 (odd)",
        "",
        f"wrote {folder}",
    ]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["seeds"] == [1, 2]
    assert manifest["configuration"] == {"k": 3}
    assert manifest["encoders"][0]["name"] == "static"
    assert manifest["packages"]["numpy"] == np.__version__
    names = {path.name for path in folder.iterdir()} - {"manifest.json"}
    assert set(manifest["files"]) == names
    assert names == {"verdicts.csv", "numbers.csv", "picture.svg", "calls.jsonl", "report.md"}
    for name, digest in manifest["files"].items():
        assert digest == sha256_of(folder / name)
        assert digest == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    with (folder / "numbers.csv").open() as file:
        assert float(list(csv.DictReader(file))[1]["value"]) == 1 / 3
    report = (folder / "report.md").read_text()
    assert "![picture](picture.svg)" in report
    assert "\\<a\\|0>\\\\u202e" in report  # reads as \\u202e


def test_a_short_form_judges_nothing(tmp_path: Path) -> None:
    said = publish(findings(), tmp_path / "study", quick=True)
    assert said.splitlines()[:3] == [
        "A short form, to see that all works; take numbers from a full one.",
        "reported     big: 3 (at least 2; theirs: 4)",
        "reported     small: 3",
    ]
    assert "**A short form" in (tmp_path / "study" / "report.md").read_text()


def test_numbers_for_reading_are_neither_0_nor_nan_where_they_are_not() -> None:
    row = (0.0002, 0.0, float("nan"), -0.00049, 0.0005, True)
    table = Table(name="t", title="T", columns=tuple("abcdef"), rows=(row,))
    assert "| 0.0002 | 0.000 | undefined | -0.0005 | 0.001 | yes |" in table.markdown()
    assert "0.0002,0.0,nan,-0.00049,0.0005,yes" in table.csv()


def test_a_long_table_is_cut_in_the_report_and_says_so() -> None:
    assert f"The first {ROWS} of 1,000 rows of numbers.csv." in shown(findings(1000).tables[0])


def test_bars_and_lines_are_pictures_that_hold_their_names() -> None:
    drawn = plots.bars(
        "Shares",
        labels=["secure", "anxious"],
        series={"ours": [0.2, 0.5], "theirs": [0.3, 0.4]},
        intervals={"ours": [(0.1, 0.3), (0.4, 0.6)]},
        y="share",
    )
    text = "".join(ET.fromstring(drawn).itertext())  # noqa: S314 - our own text
    assert all(word in text for word in ("Shares", "secure", "anxious", "ours", "theirs"))
    line = plots.Line(name="mean", x=[0, 1], y=[0.2, 0.4], low=[0.1, 0.3], high=[0.3, 0.5])
    dashed = plots.Line(name="chance", x=[0, 1], y=[0.25, 0.25], dashed=True)
    drawn = plots.lines("Sweep", x="anxiety", y="share", lines=[line, dashed], domain=(0.0, 1.0))
    text = "".join(ET.fromstring(drawn).itertext())  # noqa: S314 - our own text
    assert all(word in text for word in ("Sweep", "anxiety", "mean", "chance"))
    assert 'stroke-dasharray="6,4"' in drawn
    assert plots.lines("S", x="x", y="y", lines=[dashed]) == plots.lines(
        "S", x="x", y="y", lines=[dashed]
    )
