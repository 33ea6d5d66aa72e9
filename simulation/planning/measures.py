"""What one call may come to: the least, the most, and what is to be expected of it.

Each measure takes a call and the model it goes to, and returns the sums of its requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simulation.calls.record import canonical
from simulation.planning.answers import least as shortest_answer
from simulation.planning.tokens import few, fewest, many, whole
from simulation.planning.tokens import most as most_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.calls.base import Call
    from simulation.models.targets import Target
    from simulation.providers.base import Prompt

_TEMPLATE: Final = 256  # tokens that a server may put around a prompt: its chat template
_TOOLS: Final = 800  # and Anthropic's own, where it speaks of a tool or a format
_REASON: Final = "x" * 500  # of a repair: the longest that prompts tell
_REPAIRED: Final = 0.1  # share of answers that are asked for again, in an ordinary run at worst
_WORDS: Final = 0.5  # share of max_tokens that an ordinary answer has at most


@dataclass(slots=True, kw_only=True)
class Sums:
    """Totals of calls; picousd: 1e-12 USD, 0 where no price is known."""

    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    picousd: float = 0.0

    def add(self, other: Sums, times: float = 1.0) -> None:
        """Add other totals, so many times."""
        self.calls += times * other.calls
        self.input_tokens += times * other.input_tokens
        self.output_tokens += times * other.output_tokens
        self.picousd += times * other.picousd


def least(call: Call[Any], target: Target) -> Sums:
    """Return the least: the beginning that prompts share is cached, the answer is the shortest."""
    answer = fewest(shortest_answer(call, enforced=target.own))
    return _cached(call.prompt(), target, answer, tokens=fewest)


def ordinary_least(call: Call[Any], target: Target) -> Sums:
    """Return what a call takes when it goes well: a cached beginning, an answer of few words."""
    answer = many(shortest_answer(call, enforced=True))
    return _cached(call.prompt(), target, answer, tokens=few)


def ordinary_most(call: Call[Any], target: Target) -> Sums:
    """Return what a call takes when it does not: nothing cached, half of max_tokens, repairs."""
    prompt, sums = call.prompt(), Sums()
    answer = _WORDS * _longest(call, target)
    sums.add(_uncached(str(prompt), target, many(_schema(call)), answer, tokens=many))
    if call.repair is not None:
        sums.add(sums, _REPAIRED)
    return sums


def most(call: Call[Any], target: Target) -> Sums:
    """Return the most: nothing is cached, the longest answer comes, and once more."""
    prompt, sums = call.prompt(), Sums()
    around = most_tokens(_schema(call)) + _TEMPLATE
    around += _TOOLS if target.spec.provider == "anthropic" else 0
    for each in (prompt,) if call.repair is None else (prompt, call.repair(prompt, _REASON)):
        longest = _longest(call, target)
        sums.add(_uncached(str(each), target, around, longest, tokens=most_tokens))
    return sums


def size(call: Call[Any]) -> int:
    """Return the bytes of the longest request that a call may make."""
    prompt = call.prompt()
    last = prompt if call.repair is None else call.repair(prompt, _REASON)
    return len(canonical({"prompt": str(last), "schema": call.schema}))


def _cached(
    prompt: Prompt, target: Target, answer: float, *, tokens: Callable[[str], float]
) -> Sums:
    shared = tokens(prompt.system) + tokens(prompt.persona)
    read = shared + tokens(prompt.question)
    cost, tariff = 0, target.tariff
    if tariff is not None:
        sizes = int(read), int(answer)
        cost = min(
            tariff.cost(*sizes, cached_tokens=cached, written_tokens=0)
            for cached in (0, int(shared))
        )
    return Sums(calls=1, input_tokens=read, output_tokens=answer, picousd=cost)


def _uncached(
    text: str, target: Target, around: float, answer: float, *, tokens: Callable[[str], float]
) -> Sums:
    read, tariff = tokens(text) + around, target.tariff
    cost = 0 if tariff is None else tariff.maximum(whole(read), whole(answer))
    return Sums(calls=1, input_tokens=read, output_tokens=answer, picousd=cost)


def _schema(call: Call[Any]) -> str:
    return "" if call.schema is None else canonical(call.schema).decode()


def _longest(call: Call[Any], target: Target) -> int:
    return call.max_tokens or target.spec.max_tokens
