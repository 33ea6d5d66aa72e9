"""The study `networks`: reading answers, who sees whom, the law inside and outside the engine."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.encoders import EncoderSpec, load
from simulation.errors import InputError, UsageError
from simulation.mind.revision import RevisionParameters
from simulation.rng import Streams, stream_keys
from simulation.studies.networks import clinicians, fitting, law, run, society, study
from simulation.studies.networks.baselines import baselines
from simulation.studies.networks.measuring import (
    calibration,
    ratio,
    rmse,
    shape_intervals,
    shape_of,
)
from simulation.studies.networks.panel import Panel, halves, others_mean
from simulation.studies.networks.reading import NEEDED, read
from simulation.studies.networks.ties import DEGREE, neighbours, neighbours_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "networks"
NEWS_HEAD = "playerID,trialID,question,condition,correctanswer,response_1,response_2,response_3"
CLINIC_HEAD = "trial_id,clinician_id,round,experimental_cond,patient_demo,numans,numtruth"


def news_rows(trials: Sequence[str], *, players: int = 7, questions: int = 2) -> list[str]:
    """Return made-up answers: everybody moves a third of the way to 60."""
    streams, rows = Streams(5), []
    for trial in trials:
        for q in range(questions):
            for p in range(players):
                draw = streams.uniform("made up", tick=q, keys=stream_keys([f"{trial}/{p}"]))[0]
                first = round(100 * float(draw))
                later = [first, round(first + (60 - first) / 3)]
                kind = f"m{p},{trial},item{q},Probabilistic,{100 * (q % 2)}"
                rows.append(f"{kind},{first},{later[0]},{later[1]}")
    return rows


def clinic_rows(trials: Sequence[str]) -> list[str]:
    rows = []
    for trial in trials:
        for side in ("Network", "Control"):
            for p in range(6):
                first = 10 + 12 * p
                last = round(first + (12 - first) / 2) if side == "Network" else first + p % 2
                for when, said in (("Initial", first), ("Second", "NA"), ("Final", last)):
                    rows.append(f"{trial},{side[0]}{p},{when},{side},white male,{said},12")
    return rows


def write(folder: Path, name: str, head: str, rows: Sequence[str]) -> Path:
    path = folder / name
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "data"
    place.mkdir()
    binary = "m0,9,item0,Binary,No,No,Yes,Yes\nm1,9,item0,Binary,No,Yes,Yes,Yes"
    write(place, "misinformation.csv", NEWS_HEAD, [*news_rows(("10", "2", "3", "4")), binary])
    write(place, "clinicians.csv", CLINIC_HEAD, clinic_rows(("1", "2")))
    return place


@pytest.fixture
def panel(folder: Path) -> Panel:
    found = read(folder).news
    assert found is not None
    return found


# Reading


def test_trials_are_in_the_order_of_their_numbers_and_alternate(panel: Panel) -> None:
    assert panel.labels == ("2", "3", "4", "10")
    first, second = halves(panel)
    assert [panel.labels[i] for i in first.networks] == ["2", "4"]
    assert [panel.labels[i] for i in second.networks] == ["3", "10"]


def test_answers_are_shares_and_a_group_is_a_trial_and_a_question(panel: Panel) -> None:
    assert len(panel) == 4 * 2 * 7
    assert np.unique(panel.group).size == 8
    assert panel.answers.min() >= 0
    assert panel.answers.max() <= 1
    assert panel.truth.tolist() == [0.0, 1.0]


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    rows = news_rows(("1", "2"))
    one = read(write(tmp_path, "a.csv", NEWS_HEAD, rows)).news
    other = read(write(tmp_path, "b.csv", NEWS_HEAD, rows[::-1])).news
    assert one is not None
    assert other is not None
    assert one.ids == other.ids
    assert (one.answers == other.answers).all()


def test_yes_and_no_are_read_apart(folder: Path) -> None:
    binary = read(folder).binary
    assert binary is not None
    assert binary.answers.tolist() == [[0, 1, 1], [1, 1, 1]]


def test_clinicians_without_a_first_estimate_are_left_out(tmp_path: Path) -> None:
    rows = clinic_rows(("1", "2"))
    found = read(write(tmp_path, "c.csv", CLINIC_HEAD, rows)).clinicians
    fewer = read(write(tmp_path, "d.csv", CLINIC_HEAD, rows[1:])).clinicians
    assert found is not None
    assert fewer is not None
    assert (len(found), len(fewer)) == (24, 23)
    assert np.isnan(found.answers[:, 1]).all()
    assert found.scored.all()


def test_without_data_one_message_says_what_is_needed_and_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as said:
        run(tmp_path / "out", quick=True, data=None)
    assert str(said.value) == NEEDED
    assert "CC0" in NEEDED
    assert "--data" in NEEDED
    assert not (tmp_path / "out").exists()


def test_a_folder_without_the_files_and_a_missing_one_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no misinformation\.csv and no clinicians\.csv"):
        read(tmp_path)
    with pytest.raises(UsageError, match="no such file or folder"):
        read(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("m0,1,q,Probabilistic,100,101,1,1", 'line 2  response_1: "101" is not a number'),
        ("m0,1,q,Probabilistic,100,nan,1,1", 'line 2  response_1: "nan" is not a number'),
        ("m0,1,q,Probabilistic,100,,1,1", 'line 2  response_1: "" is not a number'),
        ("m0,1,q,Perhaps,100,1,1,1", 'condition: "Perhaps" is not Probabilistic or Binary'),
        ("m0,1,q,Binary,Yes,maybe,No,No", 'response_1: "maybe" is not Yes or No'),
        (",1,q,Probabilistic,100,1,1,1", "line 2  playerID: is empty"),
    ],
)
def test_a_bad_cell_is_told_with_line_column_and_what_is_allowed(
    tmp_path: Path, row: str, told: str
) -> None:
    path = write(tmp_path, "n.csv", NEWS_HEAD, [row, *news_rows(("1", "2"))])
    with pytest.raises(InputError) as said:
        read(path)
    assert told in str(said.value)
    assert str(path) in str(said.value)


def test_a_missing_column_is_told_once(tmp_path: Path) -> None:
    path = write(tmp_path, "n.csv", NEWS_HEAD.replace("trialID", "trial"), news_rows(("1",)))
    with pytest.raises(
        InputError, match='there is no column "trialID"; needed are playerID'
    ) as said:
        read(path)
    assert "1 problem" in str(said.value)


def test_answers_given_twice_are_refused(tmp_path: Path) -> None:
    rows = news_rows(("1", "2"))
    with pytest.raises(InputError, match="line 30  this player answers this question a second"):
        read(write(tmp_path, "n.csv", NEWS_HEAD, [*rows, rows[0]]))
    rows = clinic_rows(("1", "2"))
    with pytest.raises(InputError, match="answers a second time in this round"):
        read(write(tmp_path, "c.csv", CLINIC_HEAD, [*rows, rows[0]]))
    wrong = rows[0].replace("Initial", "First")
    with pytest.raises(InputError, match='round: "First" is not Initial or Second or Final'):
        read(write(tmp_path, "c.csv", CLINIC_HEAD, [*rows, wrong]))


def test_a_file_of_something_else_is_told_by_its_missing_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "a,b", ["1,2"])
    with pytest.raises(InputError, match="1 problem") as said:
        read(path)
    assert 'there are no columns "playerID", "trialID", "question", ' in str(said.value)
    assert "needed are playerID, trialID, question, condition" in str(said.value)
    path = write(tmp_path, "y.csv", "clinician_id,round", ["1,Initial,3", "2,Initial,4"])
    with pytest.raises(InputError, match="1 problem") as said:
        read(path)
    assert 'there are no columns "trial_id", "experimental_cond"' in str(said.value)


def test_two_right_answers_to_one_question_are_refused_with_their_lines(tmp_path: Path) -> None:
    rows = news_rows(("1", "2"))
    other = "m99,2,item0,Binary,Yes,Yes,Yes,Yes"
    with pytest.raises(InputError) as said:
        read(write(tmp_path, "n.csv", NEWS_HEAD, [*rows, other]))
    told = 'line 30  correctanswer: "item0" is answered rightly by 100 here and by 0 in line 2'
    assert told in str(said.value)
    rows = clinic_rows(("1", "2"))
    with pytest.raises(InputError, match=r"line 3  numtruth: .* by 13 here and by 12 in line 2"):
        read(write(tmp_path, "c.csv", CLINIC_HEAD, [rows[0], rows[1][:-2] + "13", *rows[2:]]))


def test_a_row_cut_short_is_refused_with_its_line(tmp_path: Path) -> None:
    rows = news_rows(("1", "2"))
    with pytest.raises(InputError, match="line 29  6 values in a row of 8 columns") as said:
        read(write(tmp_path, "n.csv", NEWS_HEAD, [*rows[:-1], rows[-1].rsplit(",", 2)[0]]))
    assert "1 problem" in str(said.value)


def test_answers_by_yes_and_no_alone_are_refused(tmp_path: Path) -> None:
    rows = [f"m{p},{t},item0,Binary,Yes,No,Yes,Yes" for t in (1, 2) for p in range(4)]
    with pytest.raises(InputError, match="no row is Probabilistic; answers by Yes and No alone"):
        read(write(tmp_path, "n.csv", NEWS_HEAD, rows))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (r'{"question": "\ud800"}', "line 1  question holds half of a surrogate pair"),
        (r'{"\ud800": 1}', r"line 1  \ud800 holds half of a surrogate pair"),
        (r'{"\ud800": 1, "\ud800": 2}', r'"\ud800" stands twice in an object'),
        ('{"response_1": ' + "1" * 5000 + "}", f'response_1: "{"1" * 40}" is not a number'),
    ],
)
def test_lines_of_json_that_no_study_can_use_are_told(
    tmp_path: Path, line: str, told: str
) -> None:
    names = [name for name in NEWS_HEAD.split(",") if name not in line]
    rest = ", ".join(f'"{name}": 1' for name in names)
    path = tmp_path / "n.jsonl"
    path.write_text(f"{line[:-1]}, {rest}" + "}\n", encoding="utf-8")
    with pytest.raises(InputError) as said:
        read(path)
    assert told in str(said.value)


def test_one_trial_is_too_few_and_so_are_answers_that_never_change(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one trial only: 1"):
        read(write(tmp_path, "n.csv", NEWS_HEAD, news_rows(("1",))))
    same = [f"m{p},{t},q,Probabilistic,0,{p},{p},{p}" for t in (1, 2) for p in range(5)]
    with pytest.raises(InputError, match="no last answer differs from its first in the fitting"):
        read(write(tmp_path, "n.csv", NEWS_HEAD, same))


# Who sees whom


@pytest.mark.parametrize("players", [1, 2, 5, 6, 20])
def test_everybody_sees_four_others_or_all_there_are_and_is_seen_by_them(
    tmp_path: Path, players: int
) -> None:
    rows = news_rows(("1", "2"), players=players)
    found = read(write(tmp_path, "n.csv", NEWS_HEAD, rows)).news
    assert found is not None
    seen = neighbours(found, stream_keys(found.ids), Streams(1))
    pairs = {(i, int(j)) for i, row in enumerate(seen) for j in row if j >= 0}
    assert len(pairs) == len(found) * min(DEGREE, players - 1)
    assert all((j, i) in pairs and i != j for i, j in pairs)
    assert all(found.group[i] == found.group[j] for i, j in pairs)


def test_who_is_not_tied_sees_nobody_and_another_seed_ties_others(folder: Path) -> None:
    found = read(folder).clinicians
    assert found is not None
    keys = stream_keys(found.ids)
    one, other = (neighbours(found, keys, Streams(seed)) for seed in (1, 2))
    assert (one[~found.tied] == -1).all()
    assert (one != other).any()


def test_the_mean_of_others_leaves_oneself_out() -> None:
    values, group = np.array([0.0, 0.6, 0.3, 1.0]), np.array([0, 0, 0, 1])
    assert others_mean(values, group) == pytest.approx([0.45, 0.15, 0.3, 1.0])
    stacked = others_mean(np.stack([values, 1 - values]), group)
    assert stacked[1] == pytest.approx([0.55, 0.85, 0.7, 0.0])


def test_the_mean_of_neighbours_is_ones_own_answer_where_there_are_none() -> None:
    seen = np.array([[1, 2], [0, -1], [-1, -1]])
    assert neighbours_mean(np.array([0.2, 0.4, 0.8]), seen) == pytest.approx([0.6, 0.2, 0.8])


# The law


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=6),
    st.integers(0, 100),
    st.floats(-1, 1),
    st.integers(0, 3),
    st.integers(0, 99),
)
def test_what_is_stated_next_is_a_whole_number_of_hundredths_from_0_to_100(
    first: list[int], place: int, plausible: float, times: int, seed: int
) -> None:
    count = len(first)
    credence = np.array(first) / 100
    keys = stream_keys(map(str, range(count)))
    chance = law.draw(Streams(seed), keys=keys, claim=np.zeros(count, dtype=np.int64), tick=2)
    said = law.revised(
        credence,
        np.full(count, place / 100),
        np.full(count, plausible),
        chance,
        times=times,
        parameters=RevisionParameters(),
    )
    assert ((said >= 0) & (said <= 1)).all()
    assert np.rint(said * 100) / 100 == pytest.approx(said, abs=0)


def test_with_no_chance_to_move_nobody_moves_and_with_pull_alone_the_group_meets() -> None:
    keys, claim = stream_keys("abcd"), np.zeros(4, dtype=np.int64)
    chance = law.draw(Streams(1), keys=keys, claim=claim, tick=2)
    credence, place = np.array([0.0, 0.2, 0.7, 1.0]), np.full(4, 0.4)

    def said(parameters: RevisionParameters) -> np.ndarray:
        return law.revised(credence, place, np.zeros(4), chance, times=0, parameters=parameters)

    still = RevisionParameters(settled=1.0)
    assert said(still).tolist() == credence.tolist()
    drawn = RevisionParameters(pull=1.0, assent=1.0, settled=0.0, firm=0.0, idle=0.0, caution=1e9)
    assert said(drawn) == pytest.approx(0.4)


@pytest.fixture(scope="module")
def encoder() -> Any:
    return load(EncoderSpec(name="static"))


@pytest.mark.parametrize("seed", [1, 8])
def test_the_engine_and_the_rehearsal_give_the_same_answers(
    panel: Panel, encoder: Any, seed: int
) -> None:
    plausibility = np.array([0.2, -0.1])
    ran = society.revise(panel, RevisionParameters(), plausibility, seed=seed, encoder=encoder)
    alone = law.rehearse(law.stage(panel, (7, seed)), RevisionParameters(), plausibility)
    assert ran == pytest.approx(np.stack([r[1] for r in alone], axis=1), abs=1e-9)
    assert (ran[:, 0] == panel.first).all()
    assert (ran[:, 1] != ran[:, 0]).any()


def test_clinicians_alone_are_asked_again_without_peers(folder: Path, encoder: Any) -> None:
    found = read(folder).clinicians
    assert found is not None
    bold = RevisionParameters(pull=1.0, settled=0.0, firm=0.0, idle=0.0, caution=1e9, assent=1.0)
    ran = society.revise(found, bold, np.zeros(1), seed=1, encoder=encoder)
    assert (ran[~found.tied, 2] == found.first[~found.tied]).all()
    assert ran[found.tied, 2].std() < ran[found.tied, 0].std() / 2


def test_the_rule_model_begins_with_peoples_first_answers(panel: Panel, encoder: Any) -> None:
    ran = society.by_rule(panel, seed=1, encoder=encoder)
    assert (ran[:, 0] == panel.first).all()
    assert (ran[:, 2] != panel.first).any()


# Setting it, and what it is held against


@given(
    st.builds(
        RevisionParameters,
        pull=st.floats(0.01, 0.99),
        caution=st.floats(0.1, 11),
        steepness=st.floats(1, 39),
    )
)
def test_packing_parameters_and_unpacking_them_changes_nothing(
    parameters: RevisionParameters,
) -> None:
    back = fitting.unpack(fitting.pack(parameters))
    assert back.pull == pytest.approx(parameters.pull)
    assert back.caution == pytest.approx(parameters.caution)
    assert back.steepness == pytest.approx(parameters.steepness)


@pytest.fixture
def effort() -> fitting.Effort:
    return fitting.Effort(turns=2, trials=40, seeds=(1, 2, 3, 4, 5))


def test_fitting_lowers_the_loss_and_looks_at_no_other_network(
    panel: Panel, effort: fitting.Effort
) -> None:
    half, _ = halves(panel)
    people = tuple(shape_of(p, p.answers.T[:, None, :]) for p in fitting.parts(half))
    on = law.stage(half, effort.seeds)
    before = fitting.loss_of(on, fitting.START, np.zeros(2), people)
    found = fitting.fit(half, claims="none", effort=effort)
    assert found.loss < before
    assert (found.plausibility == 0).all()
    assert fitting.fit(half, claims="none", effort=effort).parameters == found.parameters


def test_an_item_that_people_come_to_believe_is_found_plausible(
    panel: Panel, effort: fitting.Effort
) -> None:
    risen = panel.answers.copy()
    risen[panel.claim == 0, 2] = np.minimum(1.0, risen[panel.claim == 0, 0] + 0.3)
    risen[panel.claim == 1, 2] = np.maximum(0.0, risen[panel.claim == 1, 0] - 0.3)
    found = fitting.fit(replace(panel, answers=risen), claims="learned", effort=effort)
    assert found.plausibility[0] > 0.05
    assert found.plausibility[1] < -0.05


def test_an_item_nobody_was_asked_takes_what_truth_is_worth(panel: Panel) -> None:
    part = panel.where(panel.claim == 1)
    on = law.stage(part, (1, 2))
    start = np.array([0.0, 0.2])
    learned = fitting.judged(on, RevisionParameters(), start, truth=False)
    true = fitting.judged(on, RevisionParameters(), start, truth=True)
    assert learned[0] == 0.0
    assert true[0] == pytest.approx(-0.2)


def test_the_linear_pull_finds_the_weight_that_made_the_answers(panel: Panel) -> None:
    others = others_mean(panel.first, panel.group)
    made = panel.answers.copy()
    made[:, 2] = panel.first + 0.4 * (others - panel.first)
    moved = replace(panel, answers=made)
    found = {one.name: one for one in baselines(moved, ridge=20.0)}
    assert found["linear pull"].constants == "weight 0.400"
    assert rmse(found["linear pull"].predict(moved), moved) == pytest.approx(0, abs=1e-12)
    assert rmse(found["no change"].predict(moved), moved) > 0.05
    assert rmse(found["DeGroot"].predict(moved), moved) < 0.01
    for name in ("linear pull and a constant a claim", "bounded confidence"):
        assert rmse(found[name].predict(moved), moved) < 0.05


def test_shapes_count_what_stays_varies_and_moves_toward_peers(panel: Panel) -> None:
    part = panel.where(panel.group == panel.group[0])
    part = part.where(np.arange(len(part)) < 4)
    answers = np.array([[0.0, 0.0, 0.2], [0.2, 0.2, 0.2], [0.8, 0.9, 0.9], [1.0, 0.9, 0.8]])
    small = replace(part, answers=answers)
    found = shape_of(small, answers.T[:, None, :])
    assert found.unchanged == 0.25
    assert found.still == (0.5, 0.5)
    assert found.toward == pytest.approx(2 / 3)
    assert found.variance == pytest.approx(answers[:, 2].var() / answers[:, 0].var())
    assert found.distance(found, 0.05) == 0.0
    assert found.step_distance(found, 0.05) == 0.0


def test_intervals_of_shapes_are_around_the_shapes(panel: Panel) -> None:
    shape = shape_of(panel, panel.answers.T[:, None, :])
    for name, one in shape_intervals(panel).items():
        assert one.value == pytest.approx(getattr(shape, name))
        assert one.low <= one.value <= one.high


def test_without_a_last_answer_there_is_no_error(panel: Panel) -> None:
    assert np.isnan(rmse(panel.first, replace(panel, answers=panel.answers * [1, 1, np.nan])))


def test_a_ratio_of_errors_is_1_against_itself_and_calibration_counts_all(panel: Panel) -> None:
    found = ratio(panel.first, panel.first, panel, purpose="test")
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    bins = calibration(panel.first, panel)
    assert sum(b[3] for b in bins) == len(panel)


def test_the_clinicians_difference_is_network_minus_control(folder: Path) -> None:
    found = read(folder).clinicians
    assert found is not None
    made = clinicians.difference(found, found.answers.T)
    assert made.network < -10
    assert made.control > 0
    assert made.difference == made.network - made.control
    whole = clinicians.interval(found)
    assert whole.low <= whole.value <= whole.high
    assert whole.value == pytest.approx(made.difference)
    parts = [(p, p.last) for p in halves(found)]
    assert clinicians.pooled(parts) == pytest.approx((made.network, made.control))
    assert not clinicians.both_conditions(found, (found.where(found.tied),))


# The whole study


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    effort = fitting.Effort(turns=1, trials=8, seeds=(1, 2))
    plan = study.Plan(seeds=(1, 2), rule_seeds=(1,), effort=effort, networks=4, both_ways=True)
    monkeypatch.setattr(study, "SHORT", plan)


@pytest.mark.usefixtures("small")
def test_two_runs_write_the_same_and_every_prediction_can_be_traced(
    folder: Path, tmp_path: Path
) -> None:
    said = run(tmp_path / "one", quick=True, data=folder)
    run(tmp_path / "two", quick=True, data=folder)
    assert "linear pull" in said
    assert "clinicians all, each half as set on the other" in said
    files = sorted(p.name for p in (tmp_path / "one").iterdir())
    assert {"errors.csv", "shapes.csv", "predictions.csv", "report.md", "errors.svg"} < set(files)
    for name in files:
        one, two = ((tmp_path / n / name).read_bytes() for n in ("one", "two"))
        assert one == two, name
    with (tmp_path / "one" / "predictions.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    error = np.sqrt(np.mean([(float(r["linear pull"]) - float(r["last"])) ** 2 for r in rows]))
    with (tmp_path / "one" / "errors.csv").open(encoding="utf-8") as file:
        told = {r["prediction"]: float(r["RMSE"]) for r in csv.DictReader(file)}
    assert told["linear pull"] == pytest.approx(100 * error)
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["data"]) == {"misinformation.csv", "clinicians.csv"}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["misinformation.csv", "clinicians.csv"])
def test_either_file_is_enough(folder: Path, tmp_path: Path, name: str) -> None:
    said = run(tmp_path / "out", quick=True, data=folder / name)
    assert ("clinicians held back" in said) == (name == "clinicians.csv")
    assert ("error of the mean" in said) == (name == "misinformation.csv")


@pytest.mark.usefixtures("small")
def test_clinicians_of_one_condition_give_no_verdict(tmp_path: Path) -> None:
    rows = [row for row in clinic_rows(("1", "2")) if "Network" in row]
    path = write(tmp_path, "clinicians.csv", CLINIC_HEAD, rows)
    assert "clinicians" not in run(tmp_path / "out", quick=True, data=path).split("wrote")[0]


@pytest.mark.skipif(not DATA.exists(), reason="the data of ../shared are not here")
def test_the_files_give_the_figures_that_are_known_of_people() -> None:
    people = read(DATA)
    assert people.news is not None
    assert people.clinicians is not None
    panel = people.news
    found = shape_of(panel, panel.answers.T[:, None, :])
    pull = next(b for b in baselines(panel, ridge=20.0) if b.name == "linear pull")
    known = json.loads((DATA.parent / "human_targets.json").read_text(encoding="utf-8"))
    known = known["belief_revision_in_networks"]
    assert (len(panel), len(panel.networks)) == (1100, 16)
    assert found.unchanged == pytest.approx(known["unchanged_share_round_1_to_3"], abs=6e-4)
    assert found.variance == pytest.approx(known["variance_ratio_round_3_to_1"], abs=6e-4)
    assert found.toward == pytest.approx(known["moves_toward_peer_mean"], abs=6e-4)
    assert 100 * rmse(panel.first, panel) == pytest.approx(known["rmse_no_change"], abs=6e-3)
    assert pull.constants == f"weight {known['pull_weight']:.3f}"
    error = 100 * rmse(pull.predict(panel), panel)
    assert error == pytest.approx(known["rmse_linear_pull_to_peer_mean"], abs=6e-3)


@pytest.mark.skipif(not DATA.exists(), reason="the data of ../shared are not here")
def test_the_short_form_reads_the_real_answers(tmp_path: Path) -> None:
    said = run(tmp_path / "out", quick=True, data=DATA)
    assert said.startswith("A short form")
    table = (tmp_path / "out" / "shapes.csv").read_text(encoding="utf-8")
    assert len(list(csv.reader(io.StringIO(table)))) == 1 + 3 * 5
