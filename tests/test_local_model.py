"""The shipped scenario on a real small model, by both SDKs: accounts and validity, not wit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from local_model import local_server
from model_runs import ANSWERED, IMPOSSIBLE, SUMS, UNTOLD, one, rows
from model_server import NAMES

from simulation import simulate
from simulation.cli.app import execute

if TYPE_CHECKING:
    from collections.abc import Iterator

SCENARIO = Path(__file__).resolve().parents[1] / "scenarios" / "local_model.yaml"
PERSONAS, TICKS, TOKENS = 5, 2, 80
SHORTER = (
    f"horizon={TICKS}",
    f"population.size={PERSONAS}",
    "stimuli.0.tick=1",
    "stimuli.2.tick=2",
    "probes.every=2",
    "reflection.interval_min=2",
    "reflection.interval_spread=2",
    f"models.cheap.max_tokens={TOKENS}",
    f"models.frontier.max_tokens={TOKENS}",
)
"""A seventh of the scenario, with shorter answers: some minutes on a small machine."""


def asking(name: str, url: str) -> list[str]:
    """Return the settings that let both tiers ask a server."""
    base = {"openai": f"{url}/v1", "anthropic": url}[name]
    return [
        f"models.{tier}.{key}={value}"
        for tier in ("cheap", "frontier")
        for key, value in (("provider", name), ("base_url", base))
    ]


@pytest.fixture(name="url", scope="module")
def model_server() -> Iterator[str]:
    with local_server() as url:
        yield url


@pytest.fixture(name="run", scope="module", params=NAMES)
def finished_run(
    request: pytest.FixtureRequest, url: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("local") / f"{request.param}.duckdb"
    return simulate(SCENARIO, settings=[*asking(request.param, url), *SHORTER], out=out)


def by_openai(run: Path) -> bool:
    return bool(one(run, "SELECT models ->> 'cheap' LIKE 'openai%' FROM run"))


@pytest.mark.local_model
def test_a_real_model_takes_turns_reflects_and_is_probed(run: Path) -> None:
    assert rows(run, "SELECT status, last_tick FROM run") == [("complete", TICKS)]
    assert one(run, "SELECT count(*) FROM turns") == PERSONAS * TICKS
    asked = {row[0] for row in rows(run, "SELECT DISTINCT purpose FROM model_calls")}
    assert asked == {"turn", "reflection", "probe"}
    if by_openai(run):  # through the other, most of what so small a model writes is no JSON
        by_model = "SELECT count(*) FROM turns WHERE source = 'model'"
        assert one(run, by_model) > PERSONAS * TICKS / 6  # three in four are, give or take


@pytest.mark.local_model
def test_its_account_adds_up(run: Path) -> None:
    assert rows(run, SUMS) == rows(run, UNTOLD) == rows(run, ANSWERED) == []
    told = "input_tokens > 0 AND output_tokens > 0 AND cost_usd = 0 AND attempts >= 1"
    silent = (
        f"SELECT error FROM model_calls WHERE response IS NOT NULL AND NOT coalesce({told}, false)"
    )
    assert rows(run, silent) == []
    assert one(run, "SELECT max(output_tokens) FROM model_calls") <= TOKENS
    for outcome in ("invalid", "refused", "error", "repaired"):
        counted = one(run, f"SELECT coalesce(sum({outcome}), 0) FROM failures")
        assert counted == one(run, f"SELECT count(*) FROM model_calls WHERE outcome = '{outcome}'")


@pytest.mark.local_model
def test_whatever_it_says_only_what_is_possible_is_applied(run: Path) -> None:
    assert rows(run, IMPOSSIBLE) == []
    wrong = """
        SELECT persona_id, target, "before", requested, "after" FROM belief_changes
        WHERE phase = 'turn' AND abs("after" - least(1, greatest(0,
            "before" + least(1, greatest(-1, requested))))) > 1e-9
    """
    assert rows(run, wrong) == []
    refused = "SELECT count(*) FROM probes WHERE answer IS NULL"
    assert one(run, refused) == one(
        run, "SELECT count(*) FROM model_calls WHERE purpose = 'probe' AND outcome <> 'ok'"
    )


@pytest.mark.local_model
def test_a_server_that_ignores_the_schema_is_found_out_and_told_of_once(run: Path) -> None:
    ignored = rows(
        run, "SELECT count(*) FROM rejections WHERE detail LIKE '%does not keep to it%'"
    )
    assert ignored[0][0] == 0 if by_openai(run) else ignored[0][0] in (1, 2)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_server_there_is_one_message_and_no_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [word for each in asking(name, "http://127.0.0.1:9") for word in ("--set", each)]
    out = tmp_path / "a.duckdb"
    assert execute(["run", str(SCENARIO), "--out", str(out), *settings]) == 2
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    assert "nobody answers at http://127.0.0.1:9; is the server running?" in said
    assert list(tmp_path.iterdir()) == []
