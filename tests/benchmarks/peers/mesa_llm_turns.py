"""Turns of mesa-llm: `python -m benchmarks.peers.mesa_llm_turns WAY SIDE TICKS`.

A turn: one of SIDE x SIDE agents, each with eight neighbours on a grid, observes, reasons in a
chain of thought, has its plan made into a call of a tool, which is applied, and remembers. The two
calls, and the third that condenses what leaves the short memory, are answered at once. WAY says by
whom: `above`, in place of LiteLLM, the library that would send them; `litellm`, by its own mock;
`shown`, by that, and memories are printed, as they are when nothing is said about it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from types import SimpleNamespace
from typing import Any

import litellm  # type: ignore[import-not-found] # a peer's own
from benchmarks.peers.saying import say, timed
from mesa import Model
from mesa.space import MultiGrid
from mesa_llm import module_llm  # type: ignore[import-not-found] # a peer's own
from mesa_llm.llm_agent import LLMAgent  # type: ignore[import-not-found] # likewise
from mesa_llm.memory.st_lt_memory import STLTMemory  # type: ignore[import-not-found] # likewise
from mesa_llm.reasoning.cot import CoTReasoning  # type: ignore[import-not-found] # likewise
from mesa_llm.tools.tool_decorator import tool  # type: ignore[import-not-found] # likewise

NAME = "openai/gpt-4o-mini"  # a name that the library knows; nobody is asked
STEP = "Say what you think of the new protein bar, or ignore it."
WORDS = "It fills me until lunch, but 2.49 is a lot for a snack."
CALLED = {"name": "react", "arguments": f'{{"action": "comment", "words": "{WORDS}"}}'}


@tool  # type: ignore[untyped-decorator] # a peer's own
def react(agent: Any, action: str, words: str) -> str:
    """Do something about what was seen.

    Args:
        agent: who does it.
        action: one of ignore, like, comment and buy.
        words: what is said, if anything is.
    """
    agent.belief = min(1.0, agent.belief + 0.01)
    return f"{action}: {words}"


def above(**asked: Any) -> Any:
    """Answer a call at once: with a call of the tool where one may be made."""
    call = SimpleNamespace(id="call", function=SimpleNamespace(**CALLED))
    calls = [call] if asked.get("tool_choice") == "auto" else None
    message = SimpleNamespace(content=WORDS, tool_calls=calls)
    return SimpleNamespace(choices=[SimpleNamespace(message=message)])


def by_litellm(**asked: Any) -> Any:
    """Let LiteLLM answer without sending."""
    calls = [{"id": "call", "type": "function", "function": CALLED}]
    may = asked.get("tool_choice") == "auto"
    return litellm.completion(**asked, mock_response=WORDS, mock_tool_calls=calls if may else None)


class Person(LLMAgent):  # type: ignore[misc] # a peer's own
    """Somebody on the grid."""

    def __init__(self, model: Model, *, shown: bool) -> None:
        """Start with a belief and an empty memory, which is printed or not."""
        super().__init__(
            model,
            CoTReasoning,
            llm_model=NAME,
            system_prompt="You are a shopper of 34 years who looks at prices.",
            vision=1,
            internal_state=["careful", "hungry"],
            step_prompt=STEP,
        )
        self.memory = STLTMemory(agent=self, llm_model=NAME, display=shown)
        self.belief = 0.5

    def step(self) -> None:
        """Take a turn."""
        self.apply_plan(self.reasoning.plan(obs=self.generate_obs(), selected_tools=["react"]))


class Town(Model):  # type: ignore[misc] # mesa's classes carry no types
    """A grid full of people."""

    def __init__(self, side: int, *, shown: bool) -> None:
        """Place everyone."""
        super().__init__(rng=7)
        self.grid = MultiGrid(side, side, torus=True)
        for place in range(side * side):
            self.grid.place_agent(Person(self, shown=shown), divmod(place, side))

    def step(self) -> None:
        """Let a tick pass."""
        self.agents.do("step")


def main() -> None:
    """Measure what the command line says."""
    way, side, ticks = sys.argv[1], *(int(word) for word in sys.argv[2:])
    os.environ.setdefault("OPENAI_API_KEY", "none")  # it wants one before anybody is asked
    module_llm.completion = above if way == "above" else by_litellm
    with contextlib.redirect_stdout(io.StringIO()):
        town = Town(side, shown=way == "shown")
        ticks_us = timed(town.step, ticks=ticks, turns=side * side)
    beliefs = [agent.belief for agent in town.agents]
    say(ticks_us, "mesa-llm", "mesa", "litellm", moved=min(beliefs) - 0.5)


if __name__ == "__main__":
    main()
