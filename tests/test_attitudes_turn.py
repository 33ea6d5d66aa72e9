"""Settled attitudes in the turn: what is read and done is evidence, and what is settled counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from model_runs import one, rows
from small import SMALL, small
from worlds import assert_equal_worlds, running

from simulation import UsageError, simulate
from simulation.cli.app import execute
from simulation.engine import Engine
from simulation.errors import RunStoppedError, ScenarioError
from simulation.models.base import ACTION_CODE
from simulation.models.rule import RuleModel
from simulation.rebuilding import rebuild
from simulation.runs import fork, resume

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.records import TickRecords
    from simulation.scenario import Loaded

CLAIMS: list[dict[str, Any]] = SMALL["brief"]["claims"]
OFF = ["memory.units=off"]
STORY = Path(__file__).resolve().parents[1] / "scenarios" / "protein_bar.yaml"


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"tick": 1, "kind": "news", "text": text, **more}


@pytest.fixture(name="run", scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(small(), out=tmp_path_factory.mktemp("run") / "on.duckdb")


def test_a_persona_settles_attitudes_to_brand_claims_and_followed_peers(run: Path) -> None:
    kinds = rows(run, "SELECT object_type, count(*) > 0 FROM units GROUP BY 1 ORDER BY 1")
    assert kinds == [("brand", True), ("claim", True), ("peer", True)]
    strangers = """
        SELECT * FROM units WHERE object_type = 'peer' AND (persona_id, object) NOT IN
            (SELECT (source, target) FROM edges)
    """
    assert rows(run, strangers) == []
    assert one(run, "SELECT count(DISTINCT aspect) FROM units WHERE object = 'C2'") == 1
    assert one(run, "SELECT any_value(aspect) FROM units WHERE object = 'C2'") == "fit"


def test_the_total_entropy_of_a_tick_is_that_of_its_living_units(run: Path) -> None:
    last = one(run, "SELECT unit_entropy FROM ticks ORDER BY tick DESC LIMIT 1")
    living = one(run, "SELECT sum(entropy) FROM units WHERE ended IS NULL")
    assert last == pytest.approx(living, abs=1e-9)
    assert last > 0


def test_paths_name_the_post_after_which_an_attitude_moved(run: Path) -> None:
    sql = """
        SELECT count(*) FROM attitude_paths p JOIN exposures e
        ON e.tick = p.tick AND e.persona_id = p.persona_id AND e.post_id = p.cause_post_id
    """
    assert one(run, sql) > 0
    own = "SELECT count(*) FROM attitude_paths WHERE certainty NOT IN ('certain','mixed','torn')"
    assert one(run, own) == 0


def test_switched_off_nothing_of_it_is_there_and_nothing_else_is_different(
    run: Path, tmp_path: Path
) -> None:
    off = simulate(small(settings=OFF), out=tmp_path / "off.duckdb")
    for table in ("units", "unit_rows", "unit_updates", "evidence", "attitude_paths"):
        assert one(off, f"SELECT count(*) FROM {table}") == 0
    assert one(off, "SELECT count(unit_entropy) FROM ticks") == 0
    first = "SELECT * EXCLUDE (source, error) FROM turns WHERE tick = 1 ORDER BY persona_id"
    assert rows(off, first) == rows(run, first)  # nothing is settled yet
    shown = "SELECT * FROM exposures WHERE tick = 1 ORDER BY ALL"
    assert rows(off, shown) == rows(run, shown)


def test_a_model_that_pays_no_heed_to_attitudes_lives_the_same_life_without_them() -> None:
    class Heedless:
        """The rule model, to which attitudes are not shown."""

        name = "rule"

        def __init__(self, rule: RuleModel) -> None:
            self._rule = rule

        def react(self, requests: Any) -> Any:
            from dataclasses import replace  # noqa: PLC0415 - for this fake alone

            return self._rule.react(replace(requests, attitudes=None))

        def __getattr__(self, name: str) -> Any:
            return getattr(self._rule, name)

    states = []
    for settings in ([], OFF):
        engine = Engine(small(settings=settings))
        assert isinstance(engine.rule, RuleModel)
        engine.tiers = (Heedless(engine.rule),) * 2
        while engine.world.tick < engine.scenario.horizon:
            engine.advance()
        states.append(engine.world)
    on, off = states
    assert on.regards is not None
    assert off.regards is None
    on.regards = None
    assert on.digest() == off.digest()


def test_what_is_shown_to_a_model_names_what_it_has_settled() -> None:
    prompts: list[str] = []

    class Listening:
        name = "listening"

        def complete(self, asked: Sequence[str], *, schemas: Sequence[Any]) -> list[str]:
            prompts.extend(asked)
            return ['{"action": "ignore", "target": null, "words": "", "changes": {}}'] * len(
                schemas
            )

    for settings in ([], OFF, ["units.shown=0"]):
        prompts.clear()
        loud = Engine(small(settings=settings), backend=Listening())
        for _ in range(4):
            loud.advance()
        titled = [text for text in prompts if "# What you have come to feel about it" in text]
        assert bool(titled) == (settings == [])
        if titled:
            assert '<attitude about="Bolt">Bolt, value:' in "".join(titled)
            assert max(text.count("<attitude ") for text in titled) <= 5


def test_worlds_are_rebuilt_with_all_that_was_settled_merged_and_forgotten() -> None:
    changes = [
        "units.merge_similarity=0",
        "units.delete_entropy=0.3",
        "units.delete_weight=3",
        "units.delete_after=1",
    ]
    kinds = set()
    for engine, writer in running(small(settings=changes)):
        run = writer.reader()
        assert_equal_worlds(rebuild(run), engine.world)
        kinds |= {row[0] for row in run.query("SELECT DISTINCT kind FROM unit_updates").rows}
    assert kinds == {"evidence", "merge", "delete"}


def test_a_fork_has_the_attitudes_of_its_tick_and_cannot_switch_them_off(tmp_path: Path) -> None:
    run = simulate(small(), out=tmp_path / "a.duckdb")
    same = fork(run, at=4, out=tmp_path / "b.duckdb")
    for table in ("units", "unit_updates", "evidence", "attitude_paths"):
        sql = f"SELECT * FROM {table} ORDER BY ALL"
        assert rows(same, sql) == rows(run, sql)
    other = fork(run, at=4, out=tmp_path / "c.duckdb", settings=["units.weight_cap=1"])
    assert one(other, "SELECT max(weight) FROM unit_updates WHERE tick > 4") <= 1.0
    with pytest.raises(UsageError, match=r"memory\.units: what has been settled"):
        fork(run, at=4, out=tmp_path / "d.duckdb", settings=OFF)


def test_a_run_that_stopped_goes_on_with_its_attitudes(tmp_path: Path) -> None:
    whole = simulate(small(), out=tmp_path / "whole.duckdb")
    half = tmp_path / "half.duckdb"

    def stop(records: TickRecords) -> None:
        if records.tick == 5:
            raise KeyboardInterrupt

    with pytest.raises(RunStoppedError):
        simulate(small(), out=half, on_tick=stop)
    resume(half)
    sql = "SELECT state_digest FROM ticks ORDER BY tick"
    assert rows(half, sql) == rows(whole, sql)


DEEDS = {
    "like": ("Bolt", 1),
    "upvote": ("Bolt", 1),
    "repost": ("Bolt", 1),
    "downvote": ("Bolt", -1),
    "buy": ("Bolt", 1),
    "reject": ("Bolt", -1),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_a_deed_weighs_more_than_reading_and_leans_as_it_should(deed: str, tmp_path: Path) -> None:
    run = simulate(
        small(
            actions=[deed, "ignore"],
            stimuli=[said("Bolt has no sugar.", claim="C1", stance=1.0)],
            horizon=1,
            population={"size": 40, "activity": 1.0},
            settings=["rule.choice_temperature=50"],
        ),
        out=tmp_path / "run.duckdb",
    )
    sql = f"""
        SELECT action = '{deed}' AS did, avg(strength), avg(p_positive - p_negative)
        FROM unit_updates JOIN turns USING (tick, persona_id) JOIN unit_rows USING (unit_id)
        WHERE object_type = 'brand' AND aspect = 'value' GROUP BY 1 ORDER BY 1
    """
    (_, read, good), (_, done, lean) = rows(run, sql)
    obj, sign = DEEDS[deed]
    assert obj == "Bolt"
    assert done > 2 * read
    assert good == pytest.approx(1.0)
    assert np.sign(lean) == sign


def test_the_rule_model_acts_on_what_is_settled() -> None:
    engine = Engine(small())
    engine.advance()
    seen: list[Any] = []

    class Watching:
        name = "rule"

        def react(self, requests: Any) -> Any:
            seen.append(requests)
            return engine.rule.react(requests)

        def __getattr__(self, name: str) -> Any:
            return getattr(engine.rule, name)

    engine.tiers = (Watching(),) * 2
    engine.advance()
    from dataclasses import replace  # noqa: PLC0415 - for this test alone

    (requests,) = seen
    taken = {}
    for sign in (-1.0, 1.0):
        view = replace(
            requests.attitudes,
            brand=np.full(len(requests), sign),
            claim=np.full(requests.feed.post.shape, sign),
            peer=np.full(requests.feed.post.shape, sign),
        )
        rule = engine.rule
        assert isinstance(rule, RuleModel)
        from simulation.models.perception import perceive, topics  # noqa: PLC0415

        felt = replace(requests, attitudes=view)
        perceived = perceive(felt, rule.parameters, rule.streams)
        taken[sign] = rule._utilities(
            felt, perceived, rule._slots(felt, perceived), topics(felt.cast, perceived)
        )
    more = taken[1.0] - taken[-1.0]
    assert (more[:, ACTION_CODE["buy"]] > 0).all()
    assert (more[:, ACTION_CODE["reject"]] < 0).all()
    assert (more[:, ACTION_CODE["like"]] >= 0).all()
    assert more[:, ACTION_CODE["like"]].max() > 0
    assert (more[:, ACTION_CODE["ignore"]] == 0).all()


class Extracting:
    """A language model that plays turns by a fixed answer and reads texts as it is told to."""

    name = "extracting"

    def __init__(self, *answers: Any) -> None:
        self.answers = answers
        self.texts: list[str] = []

    def complete(self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]) -> list[Any]:
        return [self._one(p, s) for p, s in zip(prompts, schemas, strict=True)]

    def _one(self, prompt: str, schema: dict[str, Any]) -> Any:
        if "evidence" not in schema["properties"]:
            return '{"action": "ignore", "target": null, "words": "", "changes": {}}'
        self.texts.append(prompt)
        return self.answers[(len(self.texts) - 1) % len(self.answers)]


def piece(obj: str = "Bolt", **changes: Any) -> str:
    whole = {
        "object": obj,
        "aspect": "trust",
        "positive": 0.0,
        "negative": 1.0,
        "neutral": 0.0,
        "strength": 0.8,
        "summary": "it is not to be trusted",
    }
    return json.dumps({"evidence": [whole | changes]})


def reading(backend: Extracting, **changes: Any) -> Engine:
    news = said("Bolt is a fraud, they say.", claim="C1", stance=1.0)
    loaded: Loaded = small(
        stimuli=[news], probes={"share": 0}, settings=["units.extractor=model"], **changes
    )
    return Engine(loaded, backend=backend)


def test_a_language_model_says_what_a_post_says_once_for_each_post() -> None:
    backend = Extracting(piece())
    engine = reading(backend)
    records = engine.advance()
    evidence = records.of("evidence")
    assert evidence is not None
    told = evidence.columns()
    assert (list(told["positive"]), list(told["strength"])) == ([0.0], [0.8])
    assert told["source"].names[told["source"].codes[0]] == "model"
    assert told["summary"].names == ["it is not to be trusted"]
    updates = records.of("unit_updates")
    assert updates is not None
    brand = np.array(updates.columns()["p_negative"]) == 1.0
    assert brand.any()
    assert len(backend.texts) == 1
    assert "Bolt is a fraud" in backend.texts[0]
    assert "C2: Bolt tastes good" in backend.texts[0]
    engine.advance()
    assert len(backend.texts) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("nonsense", "invalid_answer"),
        (piece(positive=7), "invalid_answer"),
        (piece("C9"), "unknown_object"),
        (piece(strength=0), "no_evidence"),
        (piece(negative=0), "no_evidence"),
    ],
)
def test_what_a_model_says_in_vain_is_told_and_never_stops_the_run(answer: str, kind: str) -> None:
    engine = reading(Extracting(answer))
    records = engine.advance()
    rejected = records.of("rejections")
    assert rejected is not None
    assert kind in list(rejected.columns()["kind"])
    evidence = records.of("evidence")
    if kind == "invalid_answer":  # then the stance of the post says it
        assert evidence is not None
        found = evidence.columns()["source"]
        assert [found.names[code] for code in found.codes] == ["fallback"] * 2
    else:
        assert evidence is None


def test_what_a_model_says_twice_of_one_side_counts_once() -> None:
    twice = json.dumps(
        {
            "evidence": json.loads(piece())["evidence"]
            + json.loads(piece(negative=0.5, neutral=0.5))["evidence"]
        }
    )
    evidence = reading(Extracting(twice)).advance().of("evidence")
    assert evidence is not None
    told = evidence.columns()
    assert list(told["negative"]) == [0.75]
    assert list(told["strength"]) == [0.8]


def test_a_text_about_no_claim_is_read_by_its_words(tmp_path: Path) -> None:
    run = simulate(
        small(
            stimuli=[said("Bolt is terrible value, far too expensive!")],
            horizon=1,
            population={"size": 20, "activity": 1.0},
        ),
        out=tmp_path / "run.duckdb",
    )
    told = rows(run, "SELECT object_type, aspect, negative, summary FROM evidence WHERE post_id=0")
    assert [row[:2] for row in told] == [("brand", "value")]
    assert told[0][2] > 0.5
    assert "terrible value" in told[0][3]


def test_who_is_undecided_about_a_claim_says_nothing(tmp_path: Path) -> None:
    run = simulate(
        small(
            stimuli=[said("I'd like to see proof that Bolt tastes good.", claim="C2", stance=0.0)],
            horizon=1,
            population={"size": 20, "activity": 1.0},
        ),
        out=tmp_path / "run.duckdb",
    )
    assert rows(run, "SELECT * FROM evidence WHERE post_id = 0") == []


ODD = "'; DROP TABLE units; -- \u202e{0}%s\"<script>"


def test_objects_may_be_called_anything(tmp_path: Path) -> None:
    brief = SMALL["brief"] | {"brand": ODD, "proposition": f"{ODD} is good"}
    run = simulate(small(brief=brief), out=tmp_path / "run.duckdb")
    assert one(run, "SELECT count(*) FROM units WHERE object_type = 'brand'") > 0
    assert rows(run, "SELECT DISTINCT object FROM units WHERE object_type = 'brand'") == [(ODD,)]


@pytest.mark.parametrize("size", [1, 2])
def test_few_personas_without_a_claim_live_with_attitudes(size: int, tmp_path: Path) -> None:
    brief = {k: v for k, v in SMALL["brief"].items() if k != "claims"} | {"claims": []}
    run = simulate(
        small(brief=brief, population={"size": size}, graph={"kind": "none"}, stimuli=[]),
        out=tmp_path / "run.duckdb",
    )
    assert one(run, "SELECT status FROM run") == "complete"


@pytest.mark.parametrize(
    ("setting", "said_of_it"),
    [
        ("memory.units=maybe", "memory.units"),
        ("units.weight_cap=0", "units.weight_cap"),
        ("units.read=1.5", "units.read"),
        ("units.extractor=rules", "units.extractor"),
        ("units.shwon=3", 'did you mean "shown"?'),
        ("units.delete_after=0", "units.delete_after"),
    ],
)
def test_a_wrong_setting_is_told_with_its_place(setting: str, said_of_it: str) -> None:
    with pytest.raises(ScenarioError) as told:
        small(settings=[setting])
    assert said_of_it in str(told.value)


def test_extraction_by_a_model_needs_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "s.duckdb"
    code = execute(["run", str(STORY), "--out", str(out), "--set", "units.extractor=model"])
    assert code == 2
    assert "units.extractor" in capsys.readouterr().err
    assert not out.exists()
