"""A world to make calls in: a clock that jumps, providers that answer by script."""

from __future__ import annotations

import asyncio
import json
import selectors
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from simulation.calls.base import Call
from simulation.calls.prices import Price
from simulation.calls.settings import ModelSettings, Settings
from simulation.calls.switchboard import Switchboard
from simulation.errors import InvalidAnswerError
from simulation.providers.base import Completion, Prompt
from simulation.rng import Streams

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from simulation.calls.base import Asker
    from simulation.calls.record import CallRecord
    from simulation.providers.base import Finish, Request

T = TypeVar("T")

PRICE = Price(input=1.0, output=5.0, cached_input=0.1, cache_write=1.25)
MODEL = ModelSettings(
    provider="openai", model="gpt-test", max_tokens=100, temperature=0.7, price=PRICE
)


class _JumpingSelector(selectors.DefaultSelector):
    """Never sleeps: time that nothing happens in is skipped."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0.0:
            return super().select(timeout)
        events = super().select(0)
        if not events:
            self.now += timeout
        return events


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on which waiting takes no time."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def call_threads() -> int:
    """Return how many threads answer calls."""
    return sum(thread.name == "calls" for thread in threading.enumerate())


def in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a loop of its own."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


def completion(
    text: str = '{"n": 1}',
    *,
    finish: Finish = "stop",
    read: int | None = 50,
    written: int | None = 10,
    cached: int | None = 0,
    stored: int | None = 0,
) -> Completion:
    """Return a completion that costs 100 microdollars by `PRICE`."""
    return Completion(
        text=text,
        finish=finish,
        input_tokens=read,
        cached_tokens=cached,
        written_tokens=stored,
        output_tokens=written,
    )


Step = Completion | BaseException


@dataclass(slots=True, kw_only=True)
class FakeProvider:
    """Answers by a script: a function from (which try it is, the request) to what comes of it."""

    script: Callable[[int, Request], Step] = lambda _n, _request: completion()
    latency: float = 0.0
    provider: str = "openai"
    model: str = "gpt-test"
    host: str = "api.test"
    notes: list[str] = field(default_factory=list)
    trouble: BaseException | None = None
    requests: list[Request] = field(default_factory=list)
    sent_at: list[float] = field(default_factory=list)
    flying: int = 0
    most_flying: int = 0
    closed: int = 0

    async def check(self) -> None:
        if self.trouble is not None:
            raise self.trouble

    async def complete(self, request: Request) -> Completion:
        number = len(self.requests)
        self.requests.append(request)
        self.sent_at.append(asyncio.get_running_loop().time())
        self.flying += 1
        self.most_flying = max(self.most_flying, self.flying)
        try:
            await asyncio.sleep(self.latency)
            step = self.script(number, request)
        finally:
            self.flying -= 1
        if isinstance(step, BaseException):
            raise step
        return step

    async def close(self) -> None:
        self.closed += 1


def scripted(*steps: Step, latency: float = 0.0) -> FakeProvider:
    """Return a provider whose tries come to these steps, the last one for ever."""
    return FakeProvider(script=lambda n, _r: steps[min(n, len(steps) - 1)], latency=latency)


def number_in(text: str) -> int:
    """Read `{"n": 1}`."""
    try:
        return int(json.loads(text)["n"])
    except (ValueError, KeyError, TypeError):
        raise InvalidAnswerError("n has to be a number") from None


def mended(prompt: Prompt, reason: str) -> Prompt:
    return Prompt(
        system=prompt.system, persona=prompt.persona, question=f"{prompt.question} ({reason})"
    )


def call(
    name: str = "p1",
    *,
    tick: int = 1,
    question: str = "Which number?",
    repair: Callable[[Prompt, str], Prompt] | None = mended,
    read: Callable[[str], int] = number_in,
    prompt: Callable[[], Prompt] | None = None,
) -> Call[int]:
    """Return a call for a number."""
    put = Prompt(system="Be brief.", persona=f"You are {name}.", question=question)
    return Call(
        tick=tick,
        persona_id=name,
        purpose="turn",
        prompt=prompt or (lambda: put),
        schema={"type": "object"},
        read=read,
        repair=repair,
    )


def calls(count: int, **options: Any) -> list[Call[int]]:
    return [call(f"p{i}", **options) for i in range(count)]


@dataclass(slots=True)
class Log:
    """A sink that keeps everything."""

    records: list[CallRecord] = field(default_factory=list)

    def __call__(self, records: Sequence[CallRecord]) -> None:
        self.records.extend(records)


@dataclass(slots=True)
class World:
    """A switchboard in virtual time, one provider, and what was recorded."""

    board: Switchboard
    asker: Asker
    provider: FakeProvider
    log: Log


@contextmanager
def world(
    provider: FakeProvider | None = None,
    *,
    model: ModelSettings = MODEL,
    settings: Settings | None = None,
    log: Log | None = None,
    **options: Any,
) -> Iterator[World]:
    """Give a world and close it."""
    provider = provider or FakeProvider()
    log = log or Log()
    with Switchboard(
        streams=Streams(7),
        settings=settings or Settings(concurrency=4),
        sink=log,
        make_loop=VirtualLoop,
        **options,
    ) as board:
        yield World(board, board.asker(lambda: provider, model), provider, log)
