"""What leaves the machine: the key to one host, and nothing of the environment to any."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING

import pytest
from provider_dialects import KEY, NAMES, ask, body, provider_at, request, run
from provider_server import answer, serving

from simulation.providers.base import UnusableError

if TYPE_CHECKING:
    from provider_server import Seen, Step

    from simulation.providers.base import Provider

both = pytest.mark.parametrize("name", NAMES)

SECRET = "of-the-environment"  # noqa: S105 - a word to look for
PLAIN = (
    *("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"),
    *("OPENAI_WEBHOOK_SECRET", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"),
    *("ANTHROPIC_WEBHOOK_SIGNING_KEY", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_ORGANIZATION_ID"),
)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set every variable that an SDK reads."""
    for variable in PLAIN:
        monkeypatch.setenv(variable, SECRET)
    headers = f"X-Mine: {SECRET}\nAuthorization: {SECRET}\nHost: {SECRET}\nUser-Agent: {SECRET}"
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_CUSTOM_HEADERS", headers)
        monkeypatch.setenv(f"{provider}_BASE_URL", "http://127.0.0.1:9/v1")
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)


@both
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.usefixtures("environment")
def test_the_environment_changes_nothing_and_reaches_nobody(name: str, *, own: bool) -> None:
    with serving(answer(body(name))) as server:
        ask(provider_at(server, name, own=own))
        run(provider_at(server, name, own=own), lambda it: it.check())
    for seen in server.seen:
        assert SECRET not in json.dumps([seen.headers, seen.body, seen.path])
        assert seen.headers["host"] == server.url.removeprefix("http://")
        assert not {"authorization", "x-api-key", "cookie"} & set(seen.headers)
        assert set(seen.headers) <= {
            *("host", "accept", "accept-encoding", "user-agent", "connection"),
            *("content-type", "content-length", "anthropic-version"),
        }


@both
def test_a_key_that_is_given_goes_along(name: str) -> None:
    with serving(answer(body(name))) as server:
        ask(provider_at(server, name, api_key=KEY))
    headers = server.seen[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers.get("x-api-key") == (KEY if name == "anthropic" else None)


@both
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_neither_key_nor_prompt_elsewhere(name: str, status: int) -> None:
    with serving(answer(body(name))) as stranger:
        to = {"location": f"{stranger.url}/v1/messages"}
        with serving(answer({}, status=status, headers=to)) as server:
            with pytest.raises(UnusableError, match="sends requests elsewhere"):
                ask(provider_at(server, name, api_key=KEY))
            with pytest.raises(UnusableError, match="sends requests elsewhere"):
                run(provider_at(server, name, api_key=KEY), lambda it: it.check())
    assert stranger.seen == []
    assert len(server.seen) == 2


@both
def test_cookies_are_not_sent_back(name: str) -> None:
    def reply(_: Seen) -> list[Step]:
        return answer(body(name), headers={"set-cookie": "mine=1; Path=/"})

    with serving(reply) as server:

        async def twice(it: Provider) -> None:
            for _ in range(2):
                await it.complete(request())

        run(provider_at(server, name), twice)
    assert len(server.seen) == 2
    assert "cookie" not in server.seen[1].headers


@both
def test_nothing_warns_when_a_provider_is_closed_or_dropped(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with serving(answer(body(name))) as server:
            ask(provider_at(server, name))
        provider_at("http://127.0.0.1:1", name)
        gc.collect()


def test_a_program_that_ends_says_nothing() -> None:
    program = (
        "import asyncio, sys; sys.path.insert(0, 'tests')\n"
        "from provider_dialects import ask, provider_at\n"
        "print(ask(provider_at(sys.argv[1], 'openai', stream=True)).text)"
    )
    with serving(answer(body("openai"))) as server:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, server.url],
            capture_output=True,
            text=True,
            check=True,
        )
    assert (done.stdout, done.stderr) == ("Hello.\n", "")
