"""What both providers have in common: put a request, learn from a refusal, translate failures."""

from __future__ import annotations

import asyncio
import json
import re
from abc import ABC, abstractmethod
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, TypeVar

import httpx2

from simulation.providers.adaptation import Adaptation, Way
from simulation.providers.base import Completion, ProviderError
from simulation.providers.connection import decoded, is_stream, pieces
from simulation.providers.faults import BrokenAnswerError, Faults
from simulation.providers.inventory import Inventory
from simulation.providers.rejections import Rejection, rejection_of, rejection_within
from simulation.providers.schemas import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Sequence
    from contextlib import AbstractAsyncContextManager

    from simulation.providers.base import Finish, Request
    from simulation.providers.spec import Place, ProviderSpec

T = TypeVar("T")

MAX_TEXT: Final = 100_000
"""Characters of an answer that are kept; a stream is stopped there."""

_PIECES: Final = 20
"""A streamed answer may take so many timeouts in all, each piece of it one."""

_MAX_TOKENS: Final = 10**12
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


class Gathering(ABC):
    """An answer that comes in pieces."""

    length = 0
    """Characters of text so far."""

    @abstractmethod
    def add(self, piece: dict[str, Any]) -> bool:
        """Take one piece; return whether the answer is complete."""

    @abstractmethod
    def completion(self, *, stopped: bool) -> Completion:
        """Return what was gathered; stopped: it grew too long, and the rest was not read.

        Raises:
            BrokenAnswerError: it ended before the model did.
        """


class ChatProvider(ABC):
    """A model behind an SDK; see `Provider`."""

    def __init__(self, spec: ProviderSpec, place: Place, way: Way, modes: tuple[str, ...]) -> None:
        """Prepare what needs no SDK; nothing is sent."""
        self._spec = spec
        self._place = place
        self._adaptation = Adaptation(host=place.host, way=way, modes=modes)
        self._faults = Faults(
            place=place, model=spec.model, api_key=spec.api_key, timeout=spec.timeout
        )
        self._longest = spec.timeout * (_PIECES if spec.stream else 1)

    @property
    def provider(self) -> str:
        """`anthropic` or `openai`."""
        return self._spec.provider

    @property
    def model(self) -> str:
        """Name of the model, as the server knows it."""
        return self._spec.model

    @property
    def host(self) -> str:
        """Host and port that are asked."""
        return self._place.host

    @property
    def notes(self) -> Sequence[str]:
        """What was found out about the server so far."""
        return tuple(self._adaptation.notes)

    async def complete(self, request: Request) -> Completion:
        """Send one request, once; again only in another way where the server refused the first.

        Raises:
            ProviderError: there is no completion; its class says what to do about it.
        """
        while True:  # ends: each turn has lost something that the one before had
            way = self._adaptation.way
            body = self._body(request, way)
            completion, rejection = await self._outcome(self._answer(body))
            if completion is not None:
                self._learn_from(completion, request, way)
                return completion
            if rejection is not None and not self._learned(rejection, way, body):
                raise self._faults.rejected(rejection, known=await self._known(rejection))

    async def check(self) -> None:
        """Ask, without paying, whether key, model and network are in order; see `Provider`."""
        inventory = self._inventory()
        _, rejection = await self._outcome(inventory.check())
        if rejection is not None and not inventory.is_no_matter(rejection):
            raise self._faults.rejected(rejection, known=await self._known(rejection))

    @abstractmethod
    async def close(self) -> None:
        """Let go of connections."""

    @abstractmethod
    def _body(self, request: Request, way: Way) -> dict[str, Any]:
        """Return the body of a request."""

    @abstractmethod
    def _features(self, body: dict[str, Any]) -> Collection[str]:
        """Return what a body has that one may do without."""

    @abstractmethod
    def _post(self, body: dict[str, Any]) -> AbstractAsyncContextManager[httpx2.Response]:
        """Put a request; the answer is not read yet."""

    @abstractmethod
    async def _get(self, path: str) -> httpx2.Response:
        """Return the answer at a path below the address."""

    @abstractmethod
    def _whole(self, data: dict[str, Any]) -> Completion:
        """Return the completion in an answer that came in one piece.

        Raises:
            BrokenAnswerError: it holds none.
        """

    @abstractmethod
    def _gathering(self) -> Gathering:
        """Return what gathers an answer that comes in pieces."""

    @abstractmethod
    def _failures(self) -> tuple[type[Exception], type[Exception]]:
        """Return the SDK's error for a status other than 200, and its base class."""

    @property
    @abstractmethod
    def _models_path(self) -> str:
        """Path of the list of models below the address."""

    def _inventory(self) -> Inventory:
        return Inventory(
            place=self._place, model=self.model, path=self._models_path, get=self._get
        )

    async def _outcome(
        self, asking: Coroutine[Any, Any, T]
    ) -> tuple[T, None] | tuple[None, Rejection]:
        """Return what was answered, or how it was turned away.

        Raises:
            ProviderError: neither came back.
        """
        status_error, sdk_error = self._failures()
        try:
            async with asyncio.timeout(self._longest):
                return await asking, None
        except ProviderError:
            raise
        except _RejectedWithinError as error:
            return None, error.rejection
        except status_error as error:
            response: httpx2.Response = error.response  # type: ignore[attr-defined] # of both SDKs
            return None, rejection_of(response.status_code, response.content, response.headers)
        except UnicodeEncodeError:
            failure = self._faults.unsendable()
        except (
            sdk_error,
            BrokenAnswerError,
            httpx2.HTTPError,
            httpx2.InvalidURL,
            httpx2.StreamError,
            OSError,  # and so TimeoutError
        ) as error:
            failure = self._faults.failed(error)
        raise failure  # outside of `except`: the SDK's error holds headers, and so the key

    async def _answer(self, body: dict[str, Any]) -> Completion:
        """Put a request and read the answer, in one piece or in many, as the server sends it."""
        async with self._post(body) as response:
            if is_stream(response):
                return await self._gathered(response)
            data = decoded(await response.aread())
            _refuse_error(data, response)
            return self._whole(data)

    async def _gathered(self, response: httpx2.Response) -> Completion:
        """Read an answer piece by piece, until it is complete or too long."""
        gathering = self._gathering()
        async with aclosing(pieces(response)) as read:
            async for piece in read:
                _refuse_error(piece, response)
                if gathering.add(piece) or gathering.length > MAX_TEXT:
                    break
        return gathering.completion(stopped=gathering.length > MAX_TEXT)

    def _learned(self, rejection: Rejection, way: Way, body: dict[str, Any]) -> bool:
        """Return whether to put a request again, in another way."""
        complaint = self._faults.complaint(rejection)
        return rejection.kind == "request" and self._adaptation.after(
            way, self._features(body), complaint, rejection.status
        )

    def _learn_from(self, completion: Completion, request: Request, way: Way) -> None:
        """Ask otherwise from now on where a server takes a schema and ignores it.

        Servers that enforce one cannot answer anything else than an object; llama.cpp's
        /v1/messages and others take it without a word and answer prose.
        """
        asked = request.schema is not None and way.mode != "plain" and not self._place.own
        if asked and _breaks_schema(completion):
            self._adaptation.ignored(way)

    async def _known(self, rejection: Rejection) -> str:
        """Return what the server has instead of an unknown model, as the end of a sentence."""
        if rejection.kind != "model":
            return ""
        try:
            models, _ = await self._outcome(self._inventory().models())
        except ProviderError:
            return ""
        return self._inventory().instead(models or ())


class _RejectedWithinError(Exception):
    """An error that came with status 200, or in the middle of a stream."""

    def __init__(self, rejection: Rejection) -> None:
        self.rejection = rejection


def _refuse_error(data: dict[str, Any], response: httpx2.Response) -> None:
    """Raise the error that an answer holds in place of a completion."""
    rejection = rejection_within(data, response.headers)
    if rejection is not None:
        raise _RejectedWithinError(rejection)


def finished(text: str, finish: Finish, **tokens: int | None) -> Completion:
    """Return a completion whose text can be stored, of at most MAX_TEXT characters."""
    kept = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text[:MAX_TEXT])
    named = ("input_tokens", "cached_tokens", "written_tokens", "output_tokens")
    return Completion(
        text=kept,
        finish="length" if len(text) > MAX_TEXT else finish,
        **{name: tokens.get(name) for name in named},
    )


def count(usage: object, *path: str) -> int | None:
    """Return a number of tokens found under names within each other, or None."""
    for name in path:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage if type(usage) is int and 0 <= usage <= _MAX_TOKENS else None


def instruction(schema: dict[str, Any]) -> str:
    """Return the end of a prompt that asks for JSON in words."""
    written = json.dumps(whole(schema), ensure_ascii=False)
    return f"\n\nAnswer with one JSON object and nothing else. Its JSON Schema: {written}"


def features(body: dict[str, Any], names: dict[str, Callable[[dict[str, Any]], bool]]) -> set[str]:
    """Return the features that a body has, by tests for each."""
    return {feature for feature, has in names.items() if has(body)}


def _breaks_schema(completion: Completion) -> bool:
    """Return whether an answer, cut off or not, cannot have been held to the schema of an object.

    One that is empty or refused proves nothing.
    """
    text = completion.text.strip()
    if not text or completion.finish not in ("stop", "length"):
        return False
    return not text.startswith("{") if completion.finish == "length" else not _is_object(text)


def _is_object(text: str) -> bool:
    """Return whether a text is one JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
