"""LoCoMo's file: long conversations, and questions with the turns that answer them.

Read are of each conversation `sample_id`, `conversation` (`session_N` and `session_N_date_time`)
and `qa`; summaries and observations are not: they were written by a model that had read the whole.

Source: Maharana et al. 2024, "Evaluating very long-term conversational memory of LLM agents", the
file `locomo10.json` or a part of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from simulation.errors import UsageError
from simulation.studies.json_file import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""Names of the categories, as LoCoMo's code numbers them."""
ADVERSARIAL: Final = 5
MAX_BYTES: Final = 50_000_000

_SESSION: Final = re.compile(r"session_(\d{1,9})", re.ASCII)
_EVIDENCE: Final = re.compile(r"D:?(\d{1,9}):(\d{1,9})(?!\d)", re.ASCII)
_WHEN: Final = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one speaker said at once.

    session: number of its session, from 1.  when: the beginning of that session.
    caption: of a picture shared with it, or "".
    """

    id: str
    session: int
    when: datetime
    speaker: str
    text: str
    caption: str

    @property
    def memory(self) -> str:
        """The turn as a memory: who spoke, what was said, what the shared picture shows."""
        shown = f" [shares {self.caption}]" if self.caption else ""
        return f"{self.speaker}: {self.text}{shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about a conversation.

    evidence: places of the turns that answer it, rising, without repetition; () when its evidence
    names no turn.  answer: what is right; for an adversarial question, what a careless reader
    would say: nothing in the conversation answers it.
    """

    text: str
    category: int
    answer: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Turns in the order in which they were said, and questions.  unknown: evidence not found."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    unknown: tuple[str, ...]


def read_conversations(path: Path) -> tuple[Conversation, ...]:
    """Return the conversations of a file, in its order.

    Raises:
        UsageError: It cannot be read or is no such file; says where in it.
    """
    given = read_json(path, wanted="a list of conversations", most=MAX_BYTES)
    try:
        return _conversations(given)
    except ValueError as error:
        raise UsageError(f"{path} is not LoCoMo's file: {error}") from error


def _conversations(given: Any) -> tuple[Conversation, ...]:
    items = _list(given, "it")
    found = tuple(_conversation(item, f"[{i}]") for i, item in enumerate(items))
    if not found:
        raise ValueError("it holds no conversation")
    ids = [conversation.id for conversation in found]
    twice = [name for name in ids if ids.count(name) > 1]
    if twice:
        raise ValueError(f'the conversation "{twice[0]}" stands in it twice')
    return found


def _conversation(given: Any, where: str) -> Conversation:
    said, name = (
        _member(given, "conversation", dict, where),
        _member(given, "sample_id", str, where),
    )
    turns = _turns(said, f"{where}.conversation")
    places = _places(turns, f"{where}.conversation")
    unknown: list[str] = []
    asked = enumerate(_member(given, "qa", list, where))
    questions = tuple(_question(q, f"{where}.qa[{i}]", places, unknown) for i, q in asked)
    if not questions:
        raise ValueError(f"{where}.qa is empty")
    return Conversation(id=name, turns=turns, questions=questions, unknown=tuple(unknown))


def _places(turns: Sequence[Turn], where: str) -> dict[str, int]:
    """Return the place of each turn by its id."""
    places: dict[str, int] = {}
    for i, turn in enumerate(turns):
        if places.setdefault(_same(turn.id), i) != i:
            raise ValueError(f'{where} has the dia_id "{turn.id}" twice')
    return places


def _turns(said: Mapping[str, Any], where: str) -> tuple[Turn, ...]:
    numbers = sorted(
        int(match[1])
        for key, value in said.items()
        if (match := _SESSION.fullmatch(key)) and value
    )
    turns = tuple(turn for number in numbers for turn in _session(said, number, where))
    if not turns:
        raise ValueError(f"{where} has no session with turns (session_1, session_2 …)")
    return turns


def _session(said: Mapping[str, Any], number: int, where: str) -> list[Turn]:
    key = f"session_{number}"
    written = _member(said, f"{key}_date_time", str, where)
    try:
        when = datetime.strptime(written.strip(), _WHEN)  # noqa: DTZ007 - a conversation has no zone
    except ValueError:
        raise ValueError(
            f'{where}.{key}_date_time is "{written}"; such as "1:56 pm on 8 May, 2023" is allowed'
        ) from None
    turns = enumerate(_member(said, key, list, where))
    return [_turn(item, f"{where}.{key}[{i}]", number, when) for i, item in turns]


def _turn(given: Any, where: str, session: int, when: datetime) -> Turn:
    caption = given.get("blip_caption") if isinstance(given, dict) else None
    return Turn(
        id=_member(given, "dia_id", str, where),
        session=session,
        when=when,
        speaker=_member(given, "speaker", str, where),
        text=_member(given, "text", str, where).strip(),
        caption=caption.strip() if isinstance(caption, str) else "",
    )


def _question(given: Any, where: str, places: Mapping[str, int], unknown: list[str]) -> Question:
    """Return a question; what its evidence names in vain is added to `unknown`."""
    category = _member(given, "category", int, where)
    if category not in CATEGORIES:
        raise ValueError(f"{where}.category is {category}; allowed are 1 to 5")
    named: list[str] = []
    for i, text in enumerate(_member(given, "evidence", list, where)):
        written = _text(text, f"{where}.evidence[{i}]")
        ids = [f"{int(a)}:{int(b)}" for a, b in _EVIDENCE.findall(written)]
        named += ids
        unknown += [] if ids else [written]
    unknown += [f"D{each}" for each in named if each not in places]
    return Question(
        text=_member(given, "question", str, where).strip(),
        category=category,
        answer=_answer(given, category, where),
        evidence=tuple(sorted({places[each] for each in named if each in places})),
    )


def _answer(given: Mapping[str, Any], category: int, where: str) -> str:
    """Return the answer; of an adversarial question `adversarial_answer`, else its `answer`."""
    keys = ("adversarial_answer", "answer") if category == ADVERSARIAL else ("answer",)
    key = next((key for key in keys if key in given), keys[0])
    if isinstance(given.get(key), int | float) and not isinstance(given[key], bool):
        return str(given[key])  # as for a year
    return str(_member(given, key, str, where)).strip()


def _same(written: str) -> str:
    """Return a turn's id without its letter and without zeros in front, "8:6" for "D8:06"."""
    match = _EVIDENCE.fullmatch(written)
    return f"{int(match[1])}:{int(match[2])}" if match else written


def _text(given: Any, where: str) -> str:
    if not isinstance(given, str):
        raise ValueError(f"{where} is {_kind(given)}; a text is expected")  # noqa: TRY004 - of the file
    return given


def _list(given: Any, where: str) -> list[Any]:
    if not isinstance(given, list):
        raise ValueError(f"{where} is not a list ({_kind(given)})")  # noqa: TRY004 - of the file
    return given


def _member(given: Any, key: str, kind: type, where: str) -> Any:
    """Return what an object of the file holds under a key.

    Raises:
        ValueError: It is missing or of another kind.
    """
    if not isinstance(given, dict):
        raise ValueError(f"{where} is {_kind(given)}; an object is expected")  # noqa: TRY004
    if key not in given:
        raise ValueError(f'{where} has no "{key}"')
    value = given[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        problem = f"{where}.{key} is {_kind(value)}; {_KINDS[kind]} is expected"
        raise ValueError(problem)  # noqa: TRY004 - a fault of the file, not of a caller
    return value


_KINDS: Final = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)
