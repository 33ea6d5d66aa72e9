"""The check before a run, which costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from provider_dialects import KEY, NAMES, provider_at, run
from provider_server import answer, failing, serving

from simulation.providers.base import (
    NoConnectionError,
    RateLimitedError,
    TransientError,
    UnusableError,
)

if TYPE_CHECKING:
    from provider_server import Seen, Server, Step

    from simulation.providers.inventory import Inventory

both = pytest.mark.parametrize("name", NAMES)


def check(server: Server | str, name: str, **settings: Any) -> None:
    run(provider_at(server, name, **settings), lambda it: it.check())


def listing(*names: str, **entry: object) -> list[Step]:
    return answer({"object": "list", "data": [{"id": each, **entry} for each in names]})


@both
def test_the_providers_own_host_is_asked_for_the_model_by_name(name: str) -> None:
    with serving(answer({"id": "m"})) as server:
        check(server, name, own=True, api_key=KEY)
    assert [(seen.method, seen.path) for seen in server.seen] == [("GET", "/v1/models/m")]


@both
def test_an_unknown_model_at_the_providers_own_host_ends_it(name: str) -> None:
    def reply(seen: Seen) -> list[Step]:
        return listing("mm", "x") if seen.path.endswith("models") else failing(404, "not found")

    with serving(reply) as server, pytest.raises(UnusableError, match='did you mean "mm"'):
        check(server, name, own=True, api_key=KEY)


@both
@pytest.mark.parametrize("own", [False, True])
def test_a_wrong_key_ends_it(name: str, *, own: bool) -> None:
    with (
        serving(failing(401, f"bad {KEY}")) as server,
        pytest.raises(UnusableError, match=f"{name.upper()}_API_KEY") as caught,
    ):
        check(server, name, own=own, api_key=KEY)
    assert KEY not in str(caught.value)


@both
@pytest.mark.parametrize(
    ("names", "entry"),
    [
        (["m"], {}),
        (["a", "m"], {}),
        (["a", "m:latest"], {}),
        (["/models/smollm2.gguf"], {"owned_by": "llamacpp"}),
        (["whatever-is-loaded"], {}),
        ([], {}),
    ],
)
def test_a_server_that_may_know_the_model_is_in_order(
    name: str, names: list[str], entry: dict[str, object]
) -> None:
    with serving(listing(*names, **entry)) as server:
        check(server, name)
    assert [seen.path for seen in server.seen] == ["/v1/models"]


@both
def test_a_list_without_the_model_ends_it(name: str) -> None:
    with (
        serving(listing("qwen", "llama")) as server,
        pytest.raises(UnusableError, match='has no model "m"; it has qwen, llama'),
    ):
        check(server, name)


@pytest.mark.parametrize(("owner", "known"), [("llamacpp", True), ("vllm", False)])
def test_one_model_on_another_machine_counts_only_at_llama_cpp(owner: str, *, known: bool) -> None:
    def inventory(provider: Any) -> Inventory:
        found: Inventory = provider._inventory()
        return found

    provider = provider_at("http://192.0.2.1", "openai")
    assert inventory(provider)._counts_as_known([{"id": "x", "owned_by": owner}]) is known


@both
@pytest.mark.parametrize(
    "steps",
    [
        failing(404, "Not Found"),
        failing(405),
        failing(501),
        failing(400, "what?"),
        answer(b"<html>"),
        answer([]),
        answer({"data": {}}),
        answer({"data": [{"name": "x"}, 3, {"id": 7}]}),
        answer({"data": [{"id": "a"}, {"id": "b"}], "has_more": True}),
        answer(b"[" * 100_000),
    ],
)
def test_a_server_without_a_list_is_in_order_when_it_answers(name: str, steps: list[Step]) -> None:
    with serving(steps) as server:
        check(server, name)


@both
def test_a_server_that_is_busy_or_gone_is_told(name: str) -> None:
    with serving(failing(503, "loading")) as server, pytest.raises(TransientError):
        check(server, name)
    with serving(failing(429, "slow")) as server, pytest.raises(RateLimitedError):
        check(server, name)
    with pytest.raises(NoConnectionError, match="is the server running"):
        check(server.url, name)
    with serving([3.0]) as server, pytest.raises(TransientError, match="did not answer"):
        check(server, name, timeout=0.2)
