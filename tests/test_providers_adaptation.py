"""What a server refuses is left out from then on, also with many requests under way."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from provider_dialects import JSON, KEY, NAMES, SCHEMA, ask, body, provider_at, request, run
from provider_server import answer, failing, serving, stream

from simulation.providers.base import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from provider_server import Seen, Step

    from simulation.providers.base import Provider

both = pytest.mark.parametrize("name", NAMES)


def refusing(name: str, *words: str, status: int = 400) -> Callable[[Seen], list[Step]]:
    """Return a server that refuses bodies holding one of some words, and names it."""

    def reply(seen: Seen) -> list[Step]:
        sent = json.dumps(seen.body)
        for word in words:
            if f'"{word}"' in sent:
                return failing(status, f"Unsupported parameter: '{word}' is not supported.")
        return answer(body(name, JSON))

    return reply


def mode(sent: dict[str, Any]) -> str:
    """Return how a body asks for JSON."""
    if "tools" in sent:
        return "tool"
    if "format" in sent.get("output_config", {}):
        return "json_schema"
    form: str = sent.get("response_format", {}).get("type", "plain")
    return form


@pytest.mark.parametrize(
    ("name", "words", "modes"),
    [
        ("anthropic", ["output_config"], ["json_schema", "tool"]),
        ("anthropic", ["output_config", "tools"], ["json_schema", "tool", "plain"]),
        ("openai", ["json_schema"], ["json_schema", "json_object"]),
        ("openai", ["response_format"], ["json_schema", "json_object", "plain"]),
    ],
)
def test_json_is_asked_for_in_the_best_way_that_a_server_takes(
    name: str, words: list[str], modes: list[str]
) -> None:
    with serving(refusing(name, *words)) as server:
        provider = provider_at(server, name)

        async def twice(it: Provider) -> None:
            for _ in range(2):
                assert (await it.complete(request(schema=SCHEMA))).text == JSON

        run(provider, twice)
    assert [mode(sent) for sent in server.bodies] == [*modes, modes[-1]]
    assert len(provider.notes) == len(modes) - 1
    assert "does not take JSON Schema (HTTP 400: Unsupported parameter" in provider.notes[0]


@both
def test_plain_json_is_asked_for_with_the_schema_in_words(name: str) -> None:
    with serving(answer(body(name, JSON))) as server:
        ask(provider_at(server, name, structured="plain"), request(schema=SCHEMA))
    asked = server.bodies[0]["messages"][-1]["content"]
    assert asked.startswith("What now?\n\nAnswer with one JSON object and nothing else.")
    assert json.loads(asked.partition("Schema: ")[2])["required"] == ["action", "strength"]
    assert "x-varies" not in asked


@both
def test_a_question_without_a_schema_asks_for_no_json(name: str) -> None:
    with serving(answer(body(name))) as server:
        ask(provider_at(server, name))
        ask(provider_at(server, name, structured="plain"))
    assert [mode(sent) for sent in server.bodies] == ["plain", "plain"]
    assert "JSON" not in json.dumps(server.bodies)


def test_a_forced_tool_gives_its_input() -> None:
    used = body("anthropic") | {
        "content": [
            {"type": "text", "text": "Well."},
            {"type": "tool_use", "input": {"a": "\xe9"}},
        ],
        "stop_reason": "tool_use",
    }
    with serving(answer(used)) as server:
        provider = provider_at(server, "anthropic", structured="tool")
        completion = ask(provider, request(schema=SCHEMA))
    assert (completion.text, completion.finish) == ('{"a": "\xe9"}', "stop")
    assert server.bodies[0]["tool_choice"] == {"type": "tool", "name": "answer"}


@pytest.mark.parametrize(
    ("name", "fixed", "word"),
    [("anthropic", "json_schema", "output_config"), ("openai", "json_object", "response_format")],
)
def test_a_way_that_is_asked_for_by_name_is_kept(name: str, fixed: str, word: str) -> None:
    with (
        serving(refusing(name, word)) as server,
        pytest.raises(RequestError, match=f"'{word}' is not supported"),
    ):
        ask(provider_at(server, name, structured=fixed), request(schema=SCHEMA))
    assert len(server.seen) == 1


@both
def test_a_schema_that_is_taken_and_ignored_is_noticed(name: str) -> None:
    def ignoring(seen: Seen) -> list[Step]:
        words = JSON if mode(seen.body) == "plain" else "I like it."
        return answer(body(name, words))

    async def thrice(provider: Provider) -> list[str]:
        return [(await provider.complete(request(schema=SCHEMA))).text for _ in range(3)]

    with serving(ignoring) as server:
        provider = provider_at(server, name)
        assert run(provider, thrice) == ["I like it.", "I like it.", JSON]
    assert "takes JSON Schema but does not keep to it" in provider.notes[0]
    assert len(provider.notes) == 2


@both
def test_many_answers_at_once_that_ignore_a_schema_lower_the_way_once(name: str) -> None:
    async def many(provider: Provider) -> None:
        asked = request(schema=SCHEMA)
        await asyncio.gather(*(provider.complete(asked) for _ in range(5)))

    with serving([0.3, *answer(body(name, "I like it."))]) as server:
        provider = provider_at(server, name)
        run(provider, many)
    assert {mode(sent) for sent in server.bodies} == {"json_schema"}
    assert len(provider.notes) == 1


@both
@pytest.mark.parametrize("finish", ["length", "refusal"])
def test_an_answer_that_was_cut_or_refused_says_nothing_about_schemas(
    name: str, finish: str
) -> None:
    reason = {"length": "length", "refusal": "content_filter"}[finish]
    reason = reason if name == "openai" else {"length": "max_tokens"}.get(finish, "refusal")
    with serving(answer(body(name, '{"act', reason))) as server:
        provider = provider_at(server, name)
        assert ask(provider, request(schema=SCHEMA)).finish == finish
    assert provider.notes == ()


@both
def test_prose_that_was_cut_shows_that_the_schema_is_ignored(name: str) -> None:
    reason = "length" if name == "openai" else "max_tokens"
    with serving(answer(body(name, "I like", reason))) as server:
        provider = provider_at(server, name)
        ask(provider, request(schema=SCHEMA))
    assert "does not keep to it" in provider.notes[0]


@both
def test_an_empty_answer_says_nothing_about_schemas(name: str) -> None:
    with serving(answer(body(name, " "))) as server:
        provider = provider_at(server, name)
        assert ask(provider, request(schema=SCHEMA)).text == " "
    assert provider.notes == ()


def test_the_providers_own_hosts_keep_to_schemas() -> None:
    with serving(answer(body("openai", "prose"))) as server:
        provider = provider_at(server, "openai", own=True, api_key=KEY)
        ask(provider, request(schema=SCHEMA))
    assert provider.notes == ()


@pytest.mark.parametrize(
    ("name", "word", "settings"),
    [
        ("openai", "temperature", {}),
        ("openai", "reasoning_effort", {"effort": "low"}),
        ("openai", "store", {"own": True, "api_key": KEY}),
        ("anthropic", "temperature", {}),
        ("anthropic", "cache_control", {}),
        ("anthropic", "effort", {"effort": "low"}),
        ("anthropic", "output_config", {"effort": "low"}),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_a_parameter_that_is_refused_is_left_out_from_then_on(
    name: str, word: str, settings: dict[str, Any], status: int
) -> None:
    with serving(refusing(name, word, status=status)) as server:
        provider = provider_at(server, name, **settings)

        async def twice(it: Provider) -> None:
            for _ in range(2):
                await it.complete(request(temperature=0.5))

        run(provider, twice)
    assert [f'"{word}"' in json.dumps(sent) for sent in server.bodies] == [True, False, False]
    assert len(provider.notes) == 1
    assert f"(HTTP {status}: Unsupported" in provider.notes[0]


@pytest.mark.parametrize(
    ("own", "before", "after"),
    [
        (False, "max_tokens", "max_completion_tokens"),
        (True, "max_completion_tokens", "max_tokens"),
    ],
)
def test_the_limit_of_an_answer_goes_by_either_name(*, own: bool, before: str, after: str) -> None:
    with serving(refusing("openai", before)) as server:
        provider = provider_at(server, "openai", own=own, api_key=KEY)
        ask(provider)
    assert [(before in sent, after in sent) for sent in server.bodies] == [
        (True, False),
        (False, True),
    ]
    assert f'wants the limit of an answer as "{after}"' in provider.notes[0]


def test_neither_name_ends_in_an_error_not_in_a_loop() -> None:
    words = "max_tokens", "max_completion_tokens"
    with serving(refusing("openai", *words)) as server, pytest.raises(RequestError):
        ask(provider_at(server, "openai"))
    assert len(server.seen) == 2


def test_usage_in_streams_is_not_asked_for_where_it_is_refused() -> None:
    def reply(seen: Seen) -> list[Step]:
        if "stream_options" in seen.body:
            return failing(400, "stream_options: extra fields not permitted")
        return stream({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]})

    with serving(reply) as server:
        completion = ask(provider_at(server, "openai", stream=True))
    assert (completion.text, completion.output_tokens) == ("a", None)


def test_a_server_that_refuses_everything_by_name_is_left_at_last() -> None:
    def reply(seen: Seen) -> list[Step]:
        return failing(400, f"I take none of {', '.join(seen.body)} and no response_format")

    with serving(reply) as server, pytest.raises(RequestError):
        ask(
            provider_at(server, "openai", stream=True, effort="low"),
            request(schema=SCHEMA, temperature=0.1),
        )
    assert len(server.seen) == 7


def test_a_param_named_beside_the_message_counts() -> None:
    def reply(seen: Seen) -> list[Step]:
        if "temperature" in seen.body:
            return failing(400, "That is not possible.", param="temperature")
        return answer(body("openai"))

    with serving(reply) as server:
        assert ask(provider_at(server, "openai"), request(temperature=0.1)).text == "Hello."


def test_words_about_what_was_not_sent_change_nothing() -> None:
    with serving(failing(400, "temperature is needed")) as server, pytest.raises(RequestError):
        ask(provider_at(server, "openai"))
    assert len(server.seen) == 1


@both
def test_many_at_once_meet_the_same_refusal_and_all_go_on(name: str) -> None:
    word = "response_format" if name == "openai" else "output_config"
    refuse = refusing(name, word, "tools", "temperature")

    def late(seen: Seen) -> list[Step]:
        return [0.1, *refuse(seen)]

    async def at_once(it: Provider) -> list[str]:
        asked = request(schema=SCHEMA, temperature=0.2)
        return [
            done.text for done in await asyncio.gather(*(it.complete(asked) for _ in range(20)))
        ]

    async def later(it: Provider) -> list[str]:
        await it.complete(request(schema=SCHEMA, temperature=0.2))
        return await at_once(it)

    with serving(late) as server:
        provider = provider_at(server, name)
        assert run(provider, at_once) == [JSON] * 20
        assert len(provider.notes) == 3
        assert len(server.seen) <= 20 * 4
        before = len(server.seen)
        assert run(provider_at(server, name), later) == [JSON] * 20
        assert len(server.seen) == before + 4 + 20
