"""What a study asks a language model, how it is put, and the simplest rule that answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.speaking_forms import Form

_SENTENCE: Final = re.compile(r"[^.!?]*[.!?]+[\"'\u2019\u201d)]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question.

    id: unlike any other of the study and role; it names the line of the record.
    messages: (role, text) with the roles `user` and `assistant`, in order; the last is answered.
    material: texts that a rule may use in place of reading the messages, such as recalled
    memories; no model is put them.
    form: what the answer has to look like, where a server can hold a model to it; the prompt says
    it in words all the same.
    """

    id: str
    system: str = ""
    messages: tuple[tuple[str, str], ...]
    temperature: float = 0.75
    max_tokens: int = 220
    material: tuple[str, ...] = ()
    form: Form | None = None


class Rule(Protocol):
    """Answers in place of a language model: to the same request the same answer."""

    def __call__(self, request: Request, /) -> str:
        """Return an answer."""
        ...


def script(messages: Sequence[tuple[str, str]]) -> str:
    """Return messages as one text: a single one as it is, several as a conversation so far.

    >>> print(script([("user", "How are you?"), ("assistant", "Well."), ("user", "Why?")]))
    Your conversation so far:
    <BLANKLINE>
    They: How are you?
    You: Well.
    <BLANKLINE>
    Now they say:
    <BLANKLINE>
    Why?
    """
    *before, (_, last) = messages
    if not before:
        return last
    lines = (f"{'You' if role == 'assistant' else 'They'}: {text}" for role, text in before)
    return "\n".join(("Your conversation so far:", "", *lines, "", "Now they say:", "", last))


def recite(request: Request) -> str:
    """Answer with the first sentence of each piece of material; the simplest rule speaker."""
    texts = [text.strip() for text in request.material]
    first = [m.group() if (m := _SENTENCE.match(text)) else text for text in texts]
    return " ".join(first) or "Nothing comes to mind."
