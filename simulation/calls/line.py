"""The line to one model: who answers calls with it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from simulation.errors import InputError
from simulation.providers.base import ProviderError, RateLimitedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simulation.calls.base import Answer, Call
    from simulation.calls.conversation import Conversation
    from simulation.calls.exchange import Exchange
    from simulation.providers.base import Provider

P = TypeVar("P")


class Line:
    """An `Asker`; its provider is loaded when it is first needed."""

    def __init__(
        self,
        name: str,
        *,
        load: Callable[[], Provider],
        connect: Callable[[Provider], Exchange],
        converse: Callable[[Callable[[], Exchange]], Conversation],
        ask: Callable[[Line, Sequence[Call[Any]]], Sequence[Answer[Any]]],
    ) -> None:
        """Lay the line.

        Args:
            name: Provider and model.
            load: Returns the provider.
            connect: Returns the way to a provider.
            converse: Returns who holds calls, given how to get that way.
            ask: Has calls answered, in another thread than this line's.
        """
        self.name = name
        self.conversation = converse(self.exchange)
        self._load = load
        self._connect = connect
        self._ask = ask
        self._exchange: Exchange | None = None

    def ask(self, calls: Sequence[Call[P]]) -> Sequence[Answer[P]]:
        """Return one answer per call, in their order; never raises for a bad answer.

        Raises:
            RunStoppedError: the next call could pass the budget (BudgetExhaustedError), no call
                can be answered (ModelUnusableError), or a replay misses one (ReplayMissError).
            KeyboardInterrupt: Ctrl-C; what was in flight is recorded.
        """
        return self._ask(self, calls)

    def exchange(self) -> Exchange:
        """Return the way to the model; runs on the event loop."""
        if self._exchange is None:
            self._exchange = self._connect(self._load())
        return self._exchange

    def is_sending(self, worker: asyncio.Task[Any]) -> bool:
        """Tell whether a worker has a request in flight."""
        return self._exchange is not None and worker in self._exchange.sending

    @property
    def notes(self) -> Sequence[str]:
        """What the provider found out so far."""
        return () if self._exchange is None else self._exchange.provider.notes

    async def close(self) -> None:
        """Let go of the provider's connections, where it was needed at all."""
        if self._exchange is not None:
            await self._exchange.provider.close()


async def check_all(lines: Iterable[Line]) -> list[str]:
    """Return what is wrong with the models of lines, in their order, each model once."""
    distinct: dict[tuple[str, str, str], Provider] = {}
    problems: list[str] = []
    for line in lines:
        try:
            provider = line.exchange().provider
        except InputError as error:  # such as a key that is not there
            problems.append(str(error))
        else:
            distinct.setdefault((provider.provider, provider.model, provider.host), provider)
    found = await asyncio.gather(*(_check(provider) for provider in distinct.values()))
    return list(dict.fromkeys([*problems, *(problem for problem in found if problem)]))


async def _check(provider: Provider) -> str | None:
    try:
        await provider.check()
    except RateLimitedError:  # somebody is there and knows the key; the pace will see to the rest
        return None
    except ProviderError as error:
        return f"{provider.provider}:{provider.model} at {provider.host}: {error}"
    return None
