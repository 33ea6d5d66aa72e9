"""From what an SDK raises to the errors of this package, in words a user can act on.

Every message is one line of at most LONGEST characters and holds no key, also where the server
repeats it.
"""

from __future__ import annotations

import re
import ssl
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import httpx2

from simulation.providers.adaptation import out_of_range
from simulation.providers.base import (
    NoConnectionError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    RequestError,
    TransientError,
    UnusableError,
)
from simulation.providers.rejections import Rejection, one_line
from simulation.providers.waiting import wait_asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.providers.spec import Place

LONGEST: Final = 300
_LONGEST_QUOTE: Final = 160
_NOT_FOUND: Final = 404
_GATEWAY_TIMEOUT: Final = 504
_LIKE_KEYS: Final = re.compile(r"\b(?:sk|pk|key)-[\w-]{8,}|\bBearer\s+\S+", re.IGNORECASE)
_LASTING: Final = (
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    httpx2.InvalidURL,
    ssl.SSLCertVerificationError,
)
"""No other try helps: they are about the address, the certificate or the headers."""


class BrokenAnswerError(Exception):
    """An answer that cannot be read; its text says in what way, after "its answer"."""


class Faults:
    """Translates errors of one provider at one place."""

    def __init__(self, *, place: Place, model: str, api_key: str | None, timeout: float) -> None:
        """Keep what messages name, and the key that none may hold."""
        self._place = place
        self._model = model
        self._api_key = api_key
        self._timeout = timeout

    def rejected(self, rejection: Rejection, *, known: str = "") -> ProviderError:
        """Return the error for a request that was turned away.

        known: what the server has instead of the model, as the end of a sentence.
        """
        kind, said = rejection.kind, self._said(rejection)
        if kind in ("rate", "busy"):
            return self._later(rejection, said)
        if kind == "redirect":
            return UnusableError(self._line(self._about_redirect(rejection)))
        error, text = self._verdict(rejection)
        return error(self._line(text + known, said))

    def _verdict(self, rejection: Rejection) -> tuple[type[ProviderError], str]:
        """Return class and text of the error for what no other try helps."""
        host, kind = self._place.host, rejection.kind
        if kind == "request" and out_of_range(rejection.words):
            return UnusableError, f"{host} does not take these settings"
        verdicts: dict[str, tuple[type[ProviderError], str]] = {
            "key": (UnusableError, self._about_key()),
            "credit": (UnusableError, f"{host} says that no credit is left"),
            "model": (UnusableError, self._about_model(rejection)),
            "policy": (RefusedError, f"{host} will not answer this prompt"),
            "length": (RequestError, f"the prompt is too long for {host}"),
            "request": (RequestError, f"{host} cannot answer this request"),
        }
        return verdicts[kind]

    def unsendable(self) -> ProviderError:
        """Return the error for a request that no body can hold."""
        return RequestError("the prompt or the schema holds half of a surrogate pair")

    def failed(self, error: Exception) -> ProviderError:
        """Return the error for an answer that did not arrive whole."""
        causes = list(_causes(error))
        if any(isinstance(cause, _LASTING) for cause in causes):
            words = self._clean(one_line(str(causes[-1])))
            return UnusableError(
                self._line(f"no request can be sent to {self._place.shown}", words)
            )
        if any(
            isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout)) for cause in causes
        ):
            return NoConnectionError(self._about_connection(causes[-1]))
        if any(isinstance(cause, (httpx2.TimeoutException, TimeoutError)) for cause in causes):
            return TransientError(
                self._line(f"{self._place.host} did not answer within {self._timeout:g} s"),
                billed=True,
            )
        if isinstance(error, BrokenAnswerError):
            return TransientError(
                self._line(f"{self._place.host}: its answer {self._clean(str(error))}"),
                billed=True,
            )
        why = self._clean(one_line(str(causes[-1]))) or type(causes[-1]).__name__
        return TransientError(
            self._line(f"{self._place.host} broke off before its answer was complete", why),
            billed=True,
        )

    def _later(self, rejection: Rejection, said: str) -> TransientError:
        """Return the error for a server that has no time now."""
        wait = wait_asked(rejection.headers)
        billed = rejection.billed or rejection.status == _GATEWAY_TIMEOUT
        host = self._place.host
        if rejection.kind == "rate":
            line = self._line(f"{host} takes no more requests for now", said)
            return RateLimitedError(line, billed=billed, retry_after=wait)
        line = self._line(f"{host} cannot answer now", said)
        return TransientError(line, billed=billed, retry_after=wait)

    def _about_key(self) -> str:
        """Say whose key is wrong, or how to send one."""
        place = self._place
        if self._api_key is not None:
            return f"{place.host} does not accept the key in {place.key_variable}"
        return (
            f"{place.host} wants a key and got none, as it is not the provider's own host; "
            f"--key-for {place.host} sends it the one in {place.key_variable}"
        )

    def _about_model(self, rejection: Rejection) -> str:
        """Say that the model is unknown, or the whole address."""
        said = f"{rejection.code} {rejection.words}".lower()
        if rejection.status == _NOT_FOUND and "model" not in said:
            return (
                f"{self._place.host} answers nothing at {self._place.url:.80}, or has no model "
                f'"{self._model:.60}"'
            )
        return f'{self._place.host} has no model "{self._model:.60}"'

    def _about_redirect(self, rejection: Rejection) -> str:
        """Say where a redirect leads; it is not followed, as key and prompt would go along."""
        target = urlsplit(rejection.headers.get("location", ""))
        to = f" to {target.scheme}://{target.netloc.rpartition('@')[2]}" if target.netloc else ""
        return (
            f"{self._place.host} sends requests elsewhere{to} (HTTP {rejection.status}), which is "
            "not followed; base_url must name the server that answers"
        )

    def _about_connection(self, cause: BaseException) -> str:
        """Say that nobody is there."""
        why = self._clean(one_line(str(cause)))
        if self._place.loopback and not isinstance(cause, ssl.SSLError):
            return self._line(f"nobody answers at {self._place.shown}; is the server running?")
        return self._line(f"no connection to {self._place.shown}; is there a network?", why)

    def _said(self, rejection: Rejection) -> str:
        """Return status and words of a server."""
        words = self._clean(rejection.words)[:_LONGEST_QUOTE]
        return f"HTTP {rejection.status}: {words}" if words else f"HTTP {rejection.status}"

    def _clean(self, words: str) -> str:
        """Return words without this key, and without what looks like one."""
        masked = words.replace(self._api_key, "***") if self._api_key else words
        return _LIKE_KEYS.sub("***", masked)

    def _line(self, text: str, said: str = "") -> str:
        """Return a message of at most LONGEST characters."""
        return one_line(f"{text} ({said})" if said else text)[:LONGEST]

    def complaint(self, rejection: Rejection) -> str:
        """Return a server's words, fit for a note."""
        return self._clean(rejection.words)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Return an error and what led to it, up to the first cause.

    Not what was being handled meanwhile (`__context__`), which may be an earlier failure.
    """
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__
