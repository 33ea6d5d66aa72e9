"""Whether models can be used: what the doctor asks and what it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from provider_dialects import body
from provider_server import Seen, answer, failing, serving
from small import SMALL

from simulation.cli.app import execute
from simulation.founding import read
from simulation.planning import Examination, ModelFinding, examine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from provider_server import Server, Step

    from simulation.scenario import Access

    Cli = Callable[..., tuple[int, str, str]]

YES = '{"answer": "yes"}'


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def run(*words: object) -> tuple[int, str, str]:
        code = execute([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(SMALL | changes, sort_keys=False), encoding="utf-8")
    return path


def at(server: Server | str, name: str = "openai", **settings: Any) -> dict[str, Any]:
    url = server if isinstance(server, str) else server.url
    return {"provider": name, "model": "m", "base_url": f"{url}/v1"} | settings


def examined(folder: Path, model: dict[str, Any], *, free: bool = False) -> ModelFinding:
    found = examine(read(written(folder, models={"cheap": model})), free=free)
    assert len(found.models) == 1
    assert found.ok is (found.models[0].problem is None)
    return found.models[0]


def talking(name: str = "openai", text: str = YES, **more: Any) -> Callable[[Seen], list[Step]]:
    def reply(seen: Seen) -> list[Step]:
        if seen.method == "GET":
            return answer({"data": [{"id": "m"}, {"id": "n"}]})
        return answer(body(name, text, **more))

    return reply


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_model_that_answers_is_in_order(name: str, tmp_path: Path) -> None:
    with serving(talking(name)) as server:
        found = examined(tmp_path, at(server, name))
        asked = [seen for seen in server.seen if seen.method == "POST"]
    assert found.problem is None
    assert len(asked) == 1
    assert (found.model, found.host) == (f"{name}:m", server.url.removeprefix("http://"))
    assert (found.structured, found.usage, found.price) == ("json_schema", True, (0.0, 0.0))
    assert (found.temperature, found.effort, found.key) == ("not set", "not set", "not sent")
    assert found.latency_s is not None
    assert found.latency_s >= 0
    assert found.input_tokens
    assert found.output_tokens


def test_the_free_check_puts_no_question(tmp_path: Path) -> None:
    with serving(talking()) as server:
        found = examined(tmp_path, at(server), free=True)
        methods = {seen.method for seen in server.seen}
    assert methods == {"GET"}
    assert (found.problem, found.latency_s, found.structured) == (None, None, None)


def test_a_model_that_the_server_does_not_have_is_told_before_a_question(tmp_path: Path) -> None:
    with serving(talking()) as server:
        found = examined(tmp_path, at(server, model="q"))
        assert {seen.method for seen in server.seen} == {"GET"}
    assert found.problem is not None
    assert 'no model "q"' in found.problem


def test_nobody_at_the_address_is_one_problem(tmp_path: Path) -> None:
    with serving(talking()) as server:
        gone = server.url
    assert examined(tmp_path, at(gone)).problem is not None


def test_the_way_of_asking_for_json_is_the_best_that_the_server_takes(tmp_path: Path) -> None:
    def reply(seen: Seen) -> list[Step]:
        if seen.method == "GET":
            return answer({"data": []})
        kind = seen.body.get("response_format", {}).get("type")
        if kind == "json_schema":
            return failing(400, "response_format json_schema is not supported")
        return answer(body("openai", YES))

    with serving(reply) as server:
        found = examined(tmp_path, at(server))
    assert (found.structured, found.problem) == ("json_object", None)
    assert "json_schema" in found.notes[0]


def test_a_server_that_ignores_the_schema_is_asked_in_words(tmp_path: Path) -> None:
    def reply(seen: Seen) -> list[Step]:
        if seen.method == "GET":
            return answer({"data": []})
        plain = "response_format" not in seen.body
        return answer(body("openai", YES if plain else "Yes, gladly."))

    with serving(reply) as server:
        found = examined(tmp_path, at(server))
    assert (found.structured, found.problem) == ("plain", None)
    assert len(found.notes) == 2


def test_a_chosen_way_is_the_only_one(tmp_path: Path) -> None:
    def reply(seen: Seen) -> list[Step]:
        if seen.method == "GET":
            return answer({"data": []})
        return failing(400, "response_format is not supported")

    with serving(reply) as server:
        found = examined(tmp_path, at(server, structured="json_schema"))
        posts = [seen for seen in server.seen if seen.method == "POST"]
    assert found.problem is not None
    assert len(posts) == 1


def test_an_answer_of_another_shape_is_a_problem(tmp_path: Path) -> None:
    with serving(talking(text="Yes.")) as server:
        found = examined(tmp_path, at(server))
    assert found.problem == "it answers, but not with the JSON object that it is asked for"


def test_an_answer_that_is_cut_off_is_a_problem(tmp_path: Path) -> None:
    with serving(talking(text='{"ans', finish="length")) as server:
        found = examined(tmp_path, at(server))
    assert found.problem is not None
    assert "max_tokens" in found.problem


def test_a_temperature_that_is_not_taken_is_told(tmp_path: Path) -> None:
    def reply(seen: Seen) -> list[Step]:
        if seen.method == "GET":
            return answer({"data": []})
        if "temperature" in seen.body:
            return failing(400, "temperature is not supported with this model")
        return answer(body("openai", YES))

    with serving(reply) as server:
        refused = examined(tmp_path, at(server, temperature=0.5, effort="low"))
    with serving(talking()) as server:
        taken = examined(tmp_path, at(server, temperature=0.5))
    assert (refused.temperature, refused.effort) == ("not taken", "taken")
    assert taken.temperature == "taken"


def test_usage_that_is_not_told_is_said(tmp_path: Path) -> None:
    def reply(seen: Seen) -> list[Step]:
        if seen.method == "GET":
            return answer({"data": []})
        return answer({name: v for name, v in body("openai", YES).items() if name != "usage"})

    with serving(reply) as server:
        found = examined(tmp_path, at(server))
    assert (found.usage, found.input_tokens, found.problem) == (False, None, None)


def test_a_missing_key_and_price_are_told_without_a_question(tmp_path: Path) -> None:
    model = {"provider": "anthropic", "model": "claude-99"}
    found = examined(tmp_path, model)
    assert found.key == "not set"
    assert found.price is None
    assert found.problem is not None
    assert "ANTHROPIC_API_KEY" in found.problem
    assert "--no-price" in found.problem


def test_each_model_has_its_own_finding_and_equal_tiers_one(tmp_path: Path) -> None:
    with serving(talking()) as server:
        two = {"cheap": at(server), "frontier": at(server, model="n")}
        same = {"cheap": at(server), "frontier": at(server)}
        different = examine(read(written(tmp_path, models=two)))
        equal = examine(read(written(tmp_path, models=same)))
    assert [each.tiers for each in different.models] == [("cheap",), ("frontier",)]
    assert [each.tiers for each in equal.models] == [("cheap", "frontier")]


def test_a_problem_of_one_tier_is_not_told_of_the_other(tmp_path: Path) -> None:
    with serving(talking()) as server:
        models = {"cheap": at(server), "frontier": {"provider": "openai", "model": "gpt-5"}}
        found = examine(read(written(tmp_path, models=models)))
    assert [each.problem is None for each in found.models] == [True, False]


def encoded(
    folder: Path, *, free: bool = False, access: Access | None = None, **encoder: Any
) -> Examination:
    return examine(read(written(folder, encoder=encoder), access=access), free=free)


def test_the_encoder_is_tried(tmp_path: Path) -> None:
    found = encoded(tmp_path, name="static")
    assert found.ok
    assert (found.models, found.encoder.width, found.encoder.key) == ((), 256, "not needed")


def test_an_encoder_elsewhere_is_asked_unless_all_must_be_free(tmp_path: Path) -> None:
    with serving(answer({"data": [{"index": 0, "embedding": [1.0, 0.0]}]})) as server:
        url = f"{server.url}/v1"
        asked = encoded(tmp_path, name="openai", model="e", base_url=url).encoder
        count = len(server.seen)
        free = encoded(tmp_path, name="openai", model="e", base_url=url, free=True).encoder
        assert len(server.seen) == count > 0
    assert (asked.problem, asked.width, asked.host) == (None, 2, url)
    assert (free.problem, free.width) == (None, None)


def test_an_encoder_that_cannot_be_used_is_a_problem(tmp_path: Path) -> None:
    with serving(failing(404, "no such model")) as server:
        found = encoded(tmp_path, name="openai", model="e", base_url=f"{server.url}/v1")
    assert not found.ok
    assert found.encoder.problem is not None
    assert not encoded(tmp_path, name="openai", model="e").ok  # its own host, and no key


def test_the_verb_says_what_it_found_and_exits_with_0(cli: Cli, tmp_path: Path) -> None:
    with serving(talking()) as server:
        path = written(tmp_path, models={"cheap": at(server)})
        code, out, err = cli("doctor", path)
        host = server.url.removeprefix("http://")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"openai:m at {host} (cheap): ok"
    assert "key not sent; price nothing" in lines[1]
    assert "JSON by json_schema; temperature not set; effort not set" in out
    assert lines[-1] == "encoder static: ok, 256 components"


def test_the_verb_exits_with_2_and_a_line_for_each_model_that_cannot_be_used(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234567890")
    models = {
        "cheap": {"provider": "openai", "model": "gpt-99"},
        "frontier": {"provider": "anthropic", "model": "claude-haiku-4-5"},
    }
    code, out, _ = cli("doctor", written(tmp_path, models=models))
    assert code == 2
    first, second, last = out.splitlines()
    assert first.startswith("openai:gpt-99 at api.openai.com (cheap): no price is known")
    assert second.startswith("anthropic:claude-haiku-4-5 at api.anthropic.com (frontier): ")
    assert "ANTHROPIC_API_KEY" in second
    assert last.startswith("encoder static: ok")
    assert "secret" not in out


def test_a_key_is_told_as_set_and_never_shown(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234567890")
    with serving(talking()) as server:
        path = written(tmp_path, models={"cheap": at(server)})
        code, out, _ = cli("doctor", path, "--key-for", "127.0.0.1", "--json")
        assert "sk-secret" in server.seen[-1].headers["authorization"]
    assert code == 0
    found = json.loads(out)
    assert (found["ok"], found["models"][0]["key"]) == (True, "set")
    assert "secret" not in out


def test_a_scenario_by_rule_has_nothing_to_check(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli("doctor", written(tmp_path), "--free")
    assert code == 0
    assert out.startswith("rule: nothing to check")


def test_the_free_verb_says_that_no_call_was_made(cli: Cli, tmp_path: Path) -> None:
    with serving(talking()) as server:
        path = written(tmp_path, models={"cheap": at(server, price={"input": 1, "output": 2})})
        code, out, _ = cli("doctor", path, "--free")
    assert code == 0
    assert "no call was made" in out
    assert "price 1 and 2 USD" in out


def test_a_scenario_that_cannot_be_read_is_one_message(cli: Cli, tmp_path: Path) -> None:
    code, out, err = cli("doctor", tmp_path / "none.yaml")
    assert (code, out) == (2, "")
    assert "there is no such file" in err


def test_the_verb_says_what_a_server_does_not_tell_and_which_encoder_fails(
    cli: Cli, tmp_path: Path
) -> None:
    def reply(seen: Seen) -> list[Step]:
        if seen.path.endswith("/embeddings"):
            return failing(404, "no such model")
        if seen.method == "GET":
            return answer({"data": []})
        return answer({name: v for name, v in body("openai", YES).items() if name != "usage"})

    with serving(reply) as server:
        encoder = {"name": "openai", "model": "e", "base_url": f"{server.url}/v1"}
        path = written(tmp_path, models={"cheap": at(server)}, encoder=encoder)
        code, out, _ = cli("doctor", path)
    assert code == 2
    assert "tokens not told" in out
    assert f"encoder openai:e at {server.url}/v1, key not sent: " in out
