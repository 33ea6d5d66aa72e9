"""What goes out to a model and what comes back when all is well."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from provider_dialects import JSON, KEY, NAMES, SCHEMA, ask, body, provider_at, request, run
from provider_server import answer, serving

from simulation.errors import UsageError
from simulation.providers import ProviderSpec, load
from simulation.providers.base import Completion
from simulation.providers.chat import MAX_TEXT

if TYPE_CHECKING:
    from provider_server import Seen, Step

    from simulation.providers.base import Provider

LOCAL = "http://localhost:1/v1"

both = pytest.mark.parametrize("name", NAMES)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"provider": "opemai"}, 'did you mean "openai"'),
        ({"provider": "openai", "structured": "tool"}, "structured of openai"),
        ({"provider": "anthropic", "structured": "json_object"}, "structured of anthropic"),
        ({"provider": "openai", "effort": "hihg"}, 'did you mean "high"'),
        ({"provider": "openai"}, "OPENAI_API_KEY"),
        ({"provider": "anthropic"}, "ANTHROPIC_API_KEY"),
        ({"provider": "openai", "base_url": "localhost:80"}, "not an address"),
        ({"provider": "openai", "base_url": "https://API.openai.com/v1"}, "OPENAI_API_KEY"),
        ({"provider": "openai", "api_key": "a\nb"}, "holds spaces, line ends"),
        ({"provider": "openai", "api_key": ""}, "is empty"),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_once(
    settings: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from the environment")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from the environment")
    with pytest.raises(UsageError, match=message):
        load(ProviderSpec(model="m", **settings))


@both
def test_a_provider_says_who_and_where_it_is(name: str) -> None:
    provider = load(ProviderSpec(provider=name, model="m", base_url=LOCAL))
    assert (provider.provider, provider.model, provider.host) == (name, "m", "localhost:1")
    assert provider.notes == ()
    own = load(ProviderSpec(provider=name, model="m", api_key=KEY))
    assert own.host == f"api.{name}.com"


def test_a_prompt_is_one_text_with_empty_lines_between_its_parts() -> None:
    assert str(request().prompt) == "Rules.\n\nYou are Ann.\n\nWhat now?"
    assert str(request(persona="").prompt) == "Rules.\n\nWhat now?"


def test_the_key_is_not_shown_with_the_settings() -> None:
    assert KEY not in repr(ProviderSpec(provider="openai", model="m", api_key=KEY))


@pytest.mark.parametrize(("name", "other"), [("openai", "anthropic"), ("anthropic", "openai")])
def test_only_the_sdk_that_is_named_is_imported(name: str, other: str) -> None:
    program = (
        "import sys; import simulation.providers as p; "
        "assert 'httpx2' not in sys.modules; "
        f"p.load(p.ProviderSpec(provider={name!r}, model='m', base_url={LOCAL!r})); "
        f"assert {name!r} in sys.modules and {other!r} not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@both
def test_an_answer_comes_back_with_all_tokens_counted(name: str) -> None:
    with serving(answer(body(name))) as server:
        completion = ask(provider_at(server, name))
    assert completion == Completion(
        text="Hello.",
        finish="stop",
        input_tokens=10,
        cached_tokens=4,
        written_tokens=2 if name == "anthropic" else None,
        output_tokens=3,
    )


def test_openai_gets_one_system_message_and_the_question_after_it() -> None:
    with serving(answer(body("openai"))) as server:
        ask(provider_at(server, "openai"))
    assert server.seen[0].path == "/v1/chat/completions"
    assert server.bodies == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Rules.\n\nYou are Ann."},
                {"role": "user", "content": "What now?"},
            ],
            "max_tokens": 50,
        }
    ]


def test_openais_own_host_gets_its_names_and_is_told_to_store_nothing() -> None:
    with serving(answer(body("openai"))) as server:
        ask(
            provider_at(server, "openai", own=True, api_key=KEY, effort="minimal"),
            request(schema=SCHEMA, temperature=0.3),
        )
    sent = server.bodies[0]
    assert (sent["max_completion_tokens"], sent["store"]) == (50, False)
    assert (sent["temperature"], sent["reasoning_effort"]) == (0.3, "minimal")
    assert "max_tokens" not in sent
    form = sent["response_format"]["json_schema"]
    assert (form["name"], form["strict"]) == ("answer", True)
    assert form["schema"]["properties"]["action"] == {"type": "string"}


def test_anthropic_gets_cached_blocks_and_the_question() -> None:
    with serving(answer(body("anthropic"))) as server:
        ask(provider_at(server, "anthropic"), request(temperature=0.0))
    mark = {"cache_control": {"type": "ephemeral"}}
    assert server.seen[0].path == "/v1/messages"
    assert server.seen[0].headers["anthropic-version"] == "2023-06-01"
    assert server.bodies == [
        {
            "model": "m",
            "max_tokens": 50,
            "temperature": 0.0,
            "system": [
                {"type": "text", "text": "Rules."} | mark,
                {"type": "text", "text": "You are Ann."} | mark,
            ],
            "messages": [{"role": "user", "content": "What now?"}],
        }
    ]


def test_anthropic_takes_a_schema_and_an_effort_in_one_place() -> None:
    with serving(answer(body("anthropic"))) as server:
        ask(
            provider_at(server, "anthropic", own=True, api_key=KEY, effort="high"),
            request(schema=SCHEMA),
        )
    config = server.bodies[0]["output_config"]
    assert config["effort"] == "high"
    assert config["format"]["type"] == "json_schema"
    assert config["format"]["schema"]["properties"]["action"] == {"type": "string"}


def test_anthropic_is_asked_for_its_lowest_effort_where_it_knows_no_lower() -> None:
    with serving(answer(body("anthropic"))) as server:
        provider = provider_at(server, "anthropic", effort="none")
        ask(provider)
    assert server.bodies[0]["output_config"] == {"effort": "low"}
    assert 'effort "none" is not known' in provider.notes[0]


@both
def test_servers_of_others_get_the_whole_schema(name: str) -> None:
    with serving(answer(body(name, JSON))) as server:
        ask(provider_at(server, name), request(schema=SCHEMA))
    assert '"enum": ["like", "post"]' in json.dumps(server.bodies[0])
    assert '"minimum": 0' in json.dumps(server.bodies[0])
    assert "x-varies" not in json.dumps(server.bodies[0])


@both
def test_empty_parts_of_a_prompt_are_left_out(name: str) -> None:
    with serving(answer(body(name))) as server:
        ask(provider_at(server, name), request(persona=""))
        ask(provider_at(server, name), request(persona="", system=""))
    assert '""' not in json.dumps(server.bodies)
    assert "cache_control" not in json.dumps(server.bodies[1])
    assert len(server.bodies[1]["messages"]) == 1


@both
@pytest.mark.parametrize("base", ["/v1", "/v1/"])
def test_an_address_may_end_in_v1_for_both(name: str, base: str) -> None:
    with serving(answer(body(name))) as server:
        provider = load(ProviderSpec(provider=name, model="m", base_url=server.url + base))
        run(provider, lambda it: it.complete(request()))
    assert server.seen[0].path.count("/v1/") == 1


@pytest.mark.parametrize(
    ("name", "reason", "finish"),
    [
        ("anthropic", "end_turn", "stop"),
        ("anthropic", "stop_sequence", "stop"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "model_context_window_exceeded", "length"),
        ("anthropic", "refusal", "refusal"),
        ("anthropic", "pause_turn", "other"),
        ("openai", "stop", "stop"),
        ("openai", "length", "length"),
        ("openai", "content_filter", "refusal"),
        ("openai", "whatever", "other"),
    ],
)
def test_why_an_answer_ended_is_said_in_our_words(name: str, reason: str, finish: str) -> None:
    with serving(answer(body(name, finish=reason))) as server:
        assert ask(provider_at(server, name)).finish == finish


def test_a_refusal_in_its_own_field_is_a_refusal() -> None:
    refused = body("openai")
    refused["choices"][0]["message"] = {"content": None, "refusal": "I cannot."}
    with serving(answer(refused)) as server:
        completion = ask(provider_at(server, "openai"))
    assert (completion.text, completion.finish) == ("I cannot.", "refusal")


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, ""), ([], ""), ([{"type": "text", "text": "a"}, 3, {"text": None}], "a"), (7, "")],
)
def test_odd_content_is_read_as_far_as_it_is_text(content: object, text: str) -> None:
    odd = body("openai")
    odd["choices"][0]["message"]["content"] = content
    with serving(answer(odd)) as server:
        assert ask(provider_at(server, "openai")).text == text


def test_only_text_and_the_tool_count_of_anthropics_blocks() -> None:
    odd = body("anthropic") | {
        "content": [{"type": "thinking", "text": "hm"}, None, {"type": "text", "text": "Yes."}]
    }
    with serving(answer(odd)) as server:
        assert ask(provider_at(server, "anthropic")).text == "Yes."


@both
@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": "3", "input_tokens": -1}, "many"])
def test_odd_counts_of_tokens_are_unknown_ones(name: str, usage: object) -> None:
    with serving(answer(body(name) | {"usage": usage})) as server:
        completion = ask(provider_at(server, name))
    assert (completion.input_tokens, completion.output_tokens) == (None, None)


@both
def test_an_enormous_answer_is_cut(name: str) -> None:
    with serving(answer(body(name, "x" * (MAX_TEXT + 1)))) as server:
        completion = ask(provider_at(server, name))
    assert (len(completion.text), completion.finish) == (MAX_TEXT, "length")


@both
def test_half_a_surrogate_pair_is_replaced(name: str) -> None:
    with serving(answer(body(name, "a\ud800b"))) as server:
        assert ask(provider_at(server, name)).text == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize(
    ("name", "count"),
    [("anthropic", 50), ("openai", 50), pytest.param("openai", 1000, marks=pytest.mark.slow)],
)
def test_many_requests_are_under_way_at_once(name: str, count: int) -> None:
    under_way, most = [0], [0]

    def late(_: Seen) -> list[Step]:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        return [1.0, *answer(body(name))] if under_way[0] < count else answer(body(name))

    async def many(provider: Provider) -> int:
        return len(await asyncio.gather(*(provider.complete(request()) for _ in range(count))))

    with serving(late) as server:
        assert run(provider_at(server, name, timeout=120.0), many) == count
    assert most[0] == count
