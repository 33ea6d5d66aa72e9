"""Every way in which a server can fail to answer, and what is made of it."""

from __future__ import annotations

import ssl
import unicodedata
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from provider_dialects import KEY, NAMES, ask, body, provider_at, request, run
from provider_server import answer, failing, serving

from simulation.providers import ProviderSpec
from simulation.providers.base import (
    NoConnectionError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    RequestError,
    TransientError,
    UnusableError,
)
from simulation.providers.connection import MAX_BODY
from simulation.providers.faults import Faults
from simulation.providers.spec import place_of

if TYPE_CHECKING:
    from provider_server import Server, Step

both = pytest.mark.parametrize("name", NAMES)


def error_of(
    name: str, steps: list[Step], *, timeout: float = 30.0, **settings: Any
) -> ProviderError:
    """Return the error that a server's behaviour leads to."""
    with serving(steps) as server, pytest.raises(ProviderError) as caught:
        ask(provider_at(server, name, timeout=timeout, **settings))
    message = str(caught.value)
    assert 0 < len(message) <= 300
    assert not any(unicodedata.category(character)[0] == "C" for character in message)
    assert KEY not in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value


@both
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, RequestError),
        (401, UnusableError),
        (402, UnusableError),
        (403, UnusableError),
        (404, UnusableError),
        (408, TransientError),
        (409, TransientError),
        (413, RequestError),
        (418, RequestError),
        (422, RequestError),
        (425, TransientError),
        (429, RateLimitedError),
        (500, TransientError),
        (501, RequestError),
        (502, TransientError),
        (503, TransientError),
        (504, TransientError),
        (529, RateLimitedError),
        (599, TransientError),
        (301, UnusableError),
        (302, UnusableError),
        (307, UnusableError),
    ],
)
def test_each_status_has_its_error(name: str, status: int, kind: type) -> None:
    error = error_of(name, failing(status, "what the server says"))
    assert type(error) is kind
    assert f"HTTP {status}" in str(error)
    assert error.billed == (status == 504)


@both
@pytest.mark.parametrize(
    ("status", "message", "code", "kind"),
    [
        (429, "You exceeded your current quota", "insufficient_quota", UnusableError),
        (
            429,
            "Rate limit; add credit at /billing for more",
            "rate_limit_exceeded",
            RateLimitedError,
        ),
        (400, "Your credit balance is too low", "invalid_request_error", UnusableError),
        (402, "Payment required", "billing_error", UnusableError),
        (403, "spent", "enforced_spend_limit_reached", UnusableError),
        (400, "Output blocked by content filtering policy", "x", RefusedError),
        (400, "No.", "content_policy_violation", RefusedError),
        (403, "Your input was flagged", "x", RefusedError),
        (400, "This model's maximum context length is 8 tokens", "x", RequestError),
        (400, "max_tokens is too large: 9. context length is 8", "x", RequestError),
        (400, "prompt is too long: 9 tokens > 8 maximum", "x", RequestError),
        (400, "m is not a valid model ID", "x", UnusableError),
        (400, "The model `m` does not exist", "model_not_found", UnusableError),
        (400, "max_tokens: 9 > 8, the maximum allowed", "x", UnusableError),
        (400, "temperature: range: 0..1", "x", UnusableError),
    ],
)
def test_what_a_server_says_counts_more_than_its_status(
    name: str, status: int, message: str, code: str, kind: type
) -> None:
    assert type(error_of(name, failing(status, message, code=code))) is kind


@pytest.mark.parametrize(
    ("body_", "said"),
    [
        (b"<html><b>Bad</b> gateway</html>", "HTTP 502: Bad gateway"),
        (b"", "HTTP 502"),
        (b'{"error": "no memory"}', "HTTP 502: no memory"),
        (b'{"detail": [{"loc": ["body"]}]}', 'HTTP 502: [{"loc": ["body"]}]'),
        (b'{"message": "old style"}', "HTTP 502: old style"),
        (b"[1, 2]", "HTTP 502: [1, 2]"),
        (b'{"error": {"message": 7, "code": 3}}', "HTTP 502: 7"),
        (b"\xff\xfe", "HTTP 502"),
        (b"[" * 60_000, "HTTP 502: [["),
        (b"a\n\tb\x00\x1b[2Jc", "HTTP 502: a b [2Jc"),
    ],
)
def test_errors_of_any_shape_are_told_in_one_line(body_: bytes, said: str) -> None:
    assert said in str(error_of("openai", answer(body_, status=502)))


@both
def test_a_wrong_key_is_named_by_its_variable_and_never_shown(name: str) -> None:
    steps = failing(401, f"Incorrect API key: {KEY} and sk-other-key-12345")
    message = str(error_of(name, steps, api_key=KEY))
    assert f"{name.upper()}_API_KEY" in message
    assert "Incorrect API key: *** and ***" in message


@both
def test_a_key_that_was_not_sent_to_a_stranger_is_offered(name: str) -> None:
    message = str(error_of(name, failing(401, "key?")))
    assert "--key-for 127.0.0.1:" in message
    assert f"{name.upper()}_API_KEY" in message


@both
def test_an_unknown_model_is_named_with_what_there_is(name: str) -> None:
    models = {"data": [{"id": "mm"}, {"id": "other"}]}
    wrong = failing(404, "no such model")
    with (
        serving(lambda seen: answer(models) if seen.method == "GET" else wrong) as server,
        pytest.raises(UnusableError, match='has no model "m"; did you mean "mm"'),
    ):
        ask(provider_at(server, name))


def test_an_address_that_leads_nowhere_is_told() -> None:
    assert "answers nothing at http" in str(error_of("openai", failing(404, "Not Found")))


@both
def test_an_unknown_model_is_told_also_where_the_list_cannot_be_had(name: str) -> None:
    wrong = failing(404, "no such model")
    with serving(lambda seen: ["reset"] if seen.method == "GET" else wrong) as server:
        provider = provider_at(server, name)
        with pytest.raises(UnusableError, match=r'has no model "m" \(HTTP 404'):
            ask(provider)


def test_codes_within_details_are_heard() -> None:
    steps = failing(400, "No.", details={"error_code": "credit_balance_too_low", "n": 1})
    assert "no credit is left" in str(error_of("anthropic", steps))


@pytest.mark.parametrize(
    "error",
    [
        httpx2.UnsupportedProtocol("of no use"),
        httpx2.LocalProtocolError(f"Illegal header value {KEY}"),
        httpx2.InvalidURL("of no use"),
    ],
)
def test_what_no_other_try_can_mend_ends_it(error: Exception) -> None:
    done = faults().failed(error)
    assert isinstance(done, UnusableError)
    assert "no request can be sent to http://localhost:1" in str(done)
    assert KEY not in str(done)


def test_a_certificate_that_is_not_trusted_ends_it() -> None:
    error = httpx2.ConnectError("no")
    error.__cause__ = ssl.SSLCertVerificationError("self-signed certificate")
    assert isinstance(faults().failed(error), UnusableError)


def faults() -> Faults:
    url = "http://localhost:1"
    spec = ProviderSpec(provider="openai", model="m", base_url=url, api_key=KEY)
    return Faults(place=place_of(spec, url), model="m", api_key=KEY, timeout=1.0)


@both
def test_a_redirect_is_not_followed_and_told_without_secrets(name: str) -> None:
    headers = {"location": "https://u:p@elsewhere.example/v1?key=1"}
    message = str(error_of(name, answer({}, status=302, headers=headers)))
    assert "to https://elsewhere.example (HTTP 302)" in message


@both
def test_when_to_try_again_is_kept(name: str) -> None:
    steps = answer({"error": {"message": "slow"}}, status=429, headers={"retry-after": "7"})
    error = error_of(name, steps)
    assert isinstance(error, RateLimitedError)
    assert error.retry_after == 7.0


@both
def test_a_server_that_is_not_there_is_told_in_plain_words(name: str) -> None:
    with serving([]) as gone:
        url = gone.url
    with pytest.raises(NoConnectionError) as caught:
        ask(provider_at(url, name))
    assert str(caught.value) == f"nobody answers at {url}; is the server running?"
    assert not caught.value.billed


def test_a_host_that_does_not_exist_is_told() -> None:
    with pytest.raises(NoConnectionError, match=r"no connection to http://nowhere.invalid; is"):
        ask(provider_at("http://nowhere.invalid", "openai"))


@both
def test_a_server_that_does_not_speak_https_is_told(name: str) -> None:
    with serving(answer({})) as server, pytest.raises(NoConnectionError, match="https://127"):
        ask(provider_at(server.url.replace("http", "https"), name))


@both
@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (["reset"], "broke off"),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", "reset"], "broke off"),
        ([b"HTTP/1.1 200 OK\r\ncontent-le"], "broke off"),
        ([b"GARBAGE\r\n\r\n"], "broke off"),
        ([3.0], "did not answer within 0.3 s"),
        ([*answer(b"x" * 50)[:1], 3.0], "is no JSON"),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{", 3.0], "did not answer"),
        (answer(b"<html>hello</html>"), 'its answer is no JSON: "hello'),
        (answer(b""), "is no JSON"),
        (answer(b'{"choices": ['), "is no JSON"),
        (answer(b"[" * 100_000), "is no JSON"),
        (answer([]), "is no JSON object"),
        (answer(3), "is no JSON object"),
        (answer({}), "holds no"),
        (answer({"choices": [], "content": None}), "holds no"),
        (answer({"choices": [None], "content": "x"}), "holds no"),
        (answer({"choices": [{}], "content": {}}), "holds no"),
        (answer({"choices": {"message": "x"}}), "holds no"),
        (answer({"error": {"message": "inside", "type": "api_error"}}), "HTTP 500: inside"),
        (answer({"error": "inside"}), "HTTP 500: inside"),
        (answer({}, headers={"content-encoding": "gzip"}), "is compressed"),
    ],
)
def test_an_answer_that_is_none_is_transient_and_may_have_been_paid_for(
    name: str, steps: list[Step], said: str
) -> None:
    error = error_of(name, steps, timeout=0.3 if "did not answer" in said else 30.0)
    assert type(error) is TransientError
    assert error.billed
    assert said in str(error)


@both
def test_an_answer_that_drips_does_not_go_on_for_ever(name: str) -> None:
    drops: list[Step] = [0.05, b" "]
    drips: list[Step] = [b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n", *drops * 60]
    assert "did not answer within 0.3 s" in str(error_of(name, drips, timeout=0.3))


@both
def test_a_body_beyond_any_answer_is_not_read_to_its_end(name: str) -> None:
    head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"
    with serving([head, *[b"x" * 100_000] * 1000]) as server:
        with pytest.raises(TransientError, match=f"more than {MAX_BODY:,} bytes"):
            ask(provider_at(server, name))
        assert server.cut_off()


@both
def test_a_long_error_is_not_read_to_its_end(name: str) -> None:
    head = b"HTTP/1.1 500 Oh\r\nconnection: close\r\n\r\n"
    with serving([head, *[b"x" * 100_000] * 1000]) as server:
        with pytest.raises(TransientError):
            ask(provider_at(server, name))
        assert server.cut_off()


@both
def test_an_error_within_an_answer_has_the_kind_it_names(name: str) -> None:
    steps = answer({"error": {"message": "m", "code": 429}})
    error = error_of(name, steps)
    assert isinstance(error, RateLimitedError)
    assert error.billed


@both
def test_a_prompt_that_no_body_can_hold_is_not_sent(name: str) -> None:
    with serving(answer(body(name))) as server, pytest.raises(RequestError, match="surrogate"):
        ask(provider_at(server, name), request(question="a\ud800"))
    assert server.seen == []


@both
def test_what_was_handled_before_does_not_count(name: str) -> None:
    def after_another(server: Server) -> None:
        try:
            ask(provider_at("http://127.0.0.1:1", name))
        except NoConnectionError:
            ask(provider_at(server, name))

    with serving(answer(b"<html>")) as server, pytest.raises(TransientError) as caught:
        after_another(server)
    assert type(caught.value) is TransientError


@both
def test_a_good_answer_follows_a_bad_one_on_the_same_provider(name: str) -> None:
    replies = iter([failing(500), answer(body(name))])

    async def twice(provider: Any) -> str:
        with pytest.raises(TransientError):
            await provider.complete(asked)
        text: str = (await provider.complete(asked)).text
        return text

    asked = request()
    with serving(lambda _: next(replies)) as server:
        assert run(provider_at(server, name), twice) == "Hello."
