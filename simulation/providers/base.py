"""What a provider of language models is to the rest: a request goes out, a completion comes back.

A provider knows its SDK and nothing else: no budget, no retries, no log. What can go wrong comes
back as one of the errors here, never as the SDK's.

ProviderError
├── TransientError      another try may help: a timeout, a reset, a server error, a broken body
│   └── RateLimitedError  too fast
├── RefusedError        the provider or the model will not answer this
├── RequestError        this request can never be answered, others may be: too long, ...
└── UnusableError       nothing can be answered: a wrong key, an unknown model, no credit left
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from simulation.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence


class ProviderError(ModelError):
    """A request got no completion.

    billed: whether it may have been paid for although nothing came back: a request that timed
    out or broke off may have been, one that was turned away was not.
    """

    def __init__(self, message: str, *, billed: bool = False) -> None:
        """Say what happened; keys and headers never stand in the message."""
        super().__init__(message)
        self.billed = billed


class TransientError(ProviderError):
    """Another try may help.

    retry_after: seconds that the provider asks to wait, or None.
    """

    def __init__(
        self, message: str, *, billed: bool = False, retry_after: float | None = None
    ) -> None:
        """Say what happened and when to try again."""
        super().__init__(message, billed=billed)
        self.retry_after = retry_after


class NoConnectionError(TransientError):
    """Nobody answered at the address at all: no network, no such host, no server there."""


class RateLimitedError(TransientError):
    """The provider takes no more requests for now (429, or 529 of an overloaded one)."""


class RefusedError(ProviderError):
    """The provider or the model will not answer this prompt."""


class RequestError(ProviderError):
    """This one request can never be answered."""


class UnusableError(ProviderError):
    """No request can be answered: the run has to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is put before a model, from what never changes to what changes each time.

    system: rules and brief, the same for every persona of a run.  persona: who is asked, the same
    in every prompt of a persona; "" where nobody is.  question: the rest.
    """

    system: str
    persona: str
    question: str

    def __str__(self) -> str:
        """Return it as one text, with an empty line between the parts."""
        return "\n\n".join(part for part in (self.system, self.persona, self.question) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model.

    schema: JSON Schema of the answer; None for plain text. A property with `"x-varies": true`
    differs from request to request: a provider that compiles schemas may leave its `enum` out.
    max_tokens: longest answer, >= 1.  temperature: None for the provider's own.
    """

    prompt: Prompt
    schema: dict[str, Any] | None
    max_tokens: int
    temperature: float | None


Finish = Literal["stop", "length", "refusal", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model wrote.

    finish: why it ended: `length` means cut off at max_tokens, `refusal` that the model or a
    filter would not go on, `other` what the provider said in its own words.
    input_tokens: all tokens read, cached ones included.  cached_tokens: of those, read from a
    cache.  written_tokens: of those, written into a cache.  None: the provider did not say.
    """

    text: str
    finish: Finish
    input_tokens: int | None
    cached_tokens: int | None
    written_tokens: int | None
    output_tokens: int | None


class Provider(Protocol):
    """A model at a provider; its methods run on one event loop."""

    @property
    def provider(self) -> str:
        """`anthropic` or `openai`: whose protocol is spoken."""
        ...

    @property
    def model(self) -> str:
        """Name of the model, as the server knows it."""
        ...

    @property
    def host(self) -> str:
        """Host and port that are asked."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What was found out about the server so far, such as that it takes no JSON Schema."""
        ...

    async def check(self) -> None:
        """Ask, without paying, whether key, model and network are in order.

        Raises:
            UnusableError: a wrong key or an unknown model.
            TransientError: the server cannot be reached, or does not answer now.
        """
        ...

    async def complete(self, request: Request) -> Completion:
        """Send one request, once.

        Raises:
            ProviderError: there is no completion; its class says what to do about it.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
