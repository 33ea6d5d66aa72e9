"""The HTTP client under the SDKs: only our headers go out, and only so much comes in.

The SDKs add headers from the user's environment (organisation, project, whatever is in
OPENAI_CUSTOM_HEADERS or ANTHROPIC_CUSTOM_HEADERS, an Authorization among it) and details of the
machine. They may hold secrets, and a scenario may name any host. So each request gets the few
headers that it needs, set here, in place of all that the SDK put there.
"""

from __future__ import annotations

import json
import ssl
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

import httpx2

from simulation.providers.faults import BrokenAnswerError
from simulation.providers.rejections import one_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from simulation.providers.spec import Place

MAX_BODY: Final = 2_000_000
"""Bytes of an answer that are read; a full answer has a few thousand."""

MAX_STREAM: Final = 100_000_000
"""Bytes of a streamed answer that are read: a piece of a few letters costs some 300 bytes."""

_MAX_REJECTION: Final = 64_000
_FIRST_ERROR: Final = 300  # HTTP statuses from here on are no answers
_TEXT_EVENTS: Final = "text/event-stream"


class Connection(httpx2.AsyncClient):
    """A client for one place.

    Redirects are not followed, cookies not sent. Proxies of the environment are used for other
    machines only: what is meant for this one does not leave it. As many connections are opened as
    there are requests at once; whoever calls bounds them.
    """

    def __init__(self, *, place: Place, headers: Mapping[str, str], timeout: float) -> None:
        """Prepare the client; headers are those to send besides what HTTP needs."""
        super().__init__(
            verify=_verification(place),
            timeout=httpx2.Timeout(timeout, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
            follow_redirects=False,
            trust_env=not place.loopback,
        )
        self._ours = dict(headers)

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,
        auth: object = None,  # noqa: ARG002 - an SDK's own would add a header
        follow_redirects: object = False,  # noqa: ARG002 - an SDK would follow them
    ) -> httpx2.Response:
        """Send a request with our headers, and bound the answer."""
        ours = httpx2.Request(
            request.method,
            request.url,
            headers=self._all_headers(request),
            stream=request.stream,
            extensions=request.extensions,
        )
        response = await super().send(ours, stream=True, auth=None, follow_redirects=False)
        response.request = request  # an SDK looks up there what it asked for
        try:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise BrokenAnswerError("is compressed, which was not asked for")  # noqa: TRY301 - the response must be closed
            response.stream = _bounded(response)
            if not stream:
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response

    def _all_headers(self, request: httpx2.Request) -> httpx2.Headers:
        """Return all that a request may carry."""
        headers = {
            "Host": request.url.netloc.decode("ascii"),
            "Accept": f"application/json, {_TEXT_EVENTS}",
            "Accept-Encoding": "identity",
            "User-Agent": "simulation",
        }
        if request.method == "POST":
            headers |= {
                "Content-Type": "application/json",
                "Content-Length": str(len(request.content)),
            }
        return httpx2.Headers(headers | self._ours)


def _verification(place: Place) -> ssl.SSLContext | bool:
    """Return how certificates are verified.

    Reading the authorities takes 50 ms. A server on this machine that speaks plain HTTP shows
    none; should it all the same, none is trusted.
    """
    if place.loopback and place.url.startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return True


class _Bounded(httpx2.AsyncByteStream):
    """A body of limited length."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int, *, cut: bool) -> None:
        """Read at most `limit` bytes; what follows is cut off, or an error."""
        self._stream = stream
        self._limit = limit
        self._cut = cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._limit
        async for chunk in self._stream:
            yield chunk[:left] if self._cut else chunk
            left -= len(chunk)
            if left <= 0 and self._cut:
                return
            if left < 0:
                raise BrokenAnswerError(f"has more than {self._limit:,} bytes")

    async def aclose(self) -> None:
        await self._stream.aclose()


def _bounded(response: httpx2.Response) -> _Bounded:
    """Return the body of a response, bounded by what kind of answer it is."""
    stream = response.stream
    if not isinstance(stream, httpx2.AsyncByteStream):  # pragma: no cover - of an async client
        raise TypeError("the body of an asynchronous response is a stream")
    rejected = response.status_code >= _FIRST_ERROR
    if rejected:
        return _Bounded(stream, _MAX_REJECTION, cut=True)
    return _Bounded(stream, MAX_STREAM if is_stream(response) else MAX_BODY, cut=False)


def is_stream(response: httpx2.Response) -> bool:
    """Return whether an answer comes as server-sent events, whatever was asked for."""
    kind: str = response.headers.get("content-type", "")
    return kind.lower().startswith(_TEXT_EVENTS)


def decoded(content: bytes) -> dict[str, Any]:
    """Return the object in a body or in a piece of a stream.

    Raises:
        BrokenAnswerError: there is none.
    """
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        beginning = one_line(content[:200].decode(errors="replace"))[:60]
        raise BrokenAnswerError(f'is no JSON: "{beginning}"') from None
    if not isinstance(data, dict):
        raise BrokenAnswerError("is no JSON object")
    return data


async def pieces(response: httpx2.Response) -> AsyncGenerator[dict[str, Any]]:
    """Yield the objects in a stream of server-sent events, up to `[DONE]`.

    The SDKs' own readers pass over what they cannot read, or let it through as it is; a piece
    that is lost in silence would be a hole in the answer.

    Raises:
        BrokenAnswerError: a piece is no JSON object.
    """
    async with aclosing(_lines(response)) as lines:
        async for line in lines:
            field, _, value = line.strip().partition(b":")
            data = value.strip() if field == b"data" else b""
            if data == b"[DONE]":
                return
            if data:  # both protocols write the data of an event in one line
                yield decoded(data)


async def _lines(response: httpx2.Response) -> AsyncGenerator[bytes]:
    """Yield the lines of a body; only a line feed ends one, as text may hold the others."""
    rest = b""
    async with aclosing(response.aiter_raw()) as chunks:
        async for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > MAX_BODY:
                raise BrokenAnswerError("has a line without end")
            for line in lines:
                yield line
    yield rest
