"""CoSER's test set, as its users have it: circumstances to act in, and what went before.

The file is a JSON array; of each object these keys are read, and others are ignored:

- `book`, `scenario`: texts.  `i_c`: number of the conversation in its plot (default 0).
- `plot`: an object with `summary`, `i_p` (its place in the book) and `key_characters`, objects
  with `name` and, if wanted, `description`.
- `key_characters`: objects with `name` and what moves it, `motivation` or `thought`.
- `dialogues`: objects with `character` and `message`; the reference.
- `speaking_characters_w_env`, `major_characters`: lists of names; default, who speaks in the
  dialogues.  `character_profiles`: texts by name.

In place of the file its folder can be named, laid out as CoSER's `data`: `test/test_set.json` and,
for conversations that came earlier, `final/BOOK.json` with `plots`, each with `i_p` (default, its
place) and `conversation`, a list of objects with `dialogues`.

Source: github.com/Neph0s/CoSER, `gca_evaluation/main.py` as of February 2025.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from simulation.errors import UsageError
from simulation.studies.json_file import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ENVIRONMENT: Final = "Environment"
TEST_SET: Final = "test/test_set.json"
BOOKS: Final = "final"
MAX_BYTES: Final = 200_000_000
_KINDS: Final = {str: "text", int: "a whole number", list: "a list", dict: "an object"}

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a character, or the environment, says and does."""

    character: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation of a book. place: (plot, conversation), in the order of the book."""

    place: tuple[int, int]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstance:
    """A scene to act.

    id: unlike any other.  cast: who may speak, the environment last.  major: the main characters.
    profiles, motives: by name, where there are any.  reference: the book's own conversation.
    """

    id: str
    book: str
    summary: str
    scenario: str
    cast: tuple[str, ...]
    major: tuple[str, ...]
    profiles: Mapping[str, str]
    motives: Mapping[str, str]
    reference: Conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """All circumstances. books: their conversations by book, in order.  files: all read."""

    circumstances: tuple[Circumstance, ...]
    books: Mapping[str, tuple[Conversation, ...]]
    files: tuple[Path, ...]

    def before(self, circumstance: Circumstance, character: str) -> tuple[Conversation, ...]:
        """Return earlier conversations of the book in which a character spoke, oldest first."""
        return tuple(
            each
            for each in self.books.get(circumstance.book, ())
            if each.place < circumstance.reference.place
            and any(message.character == character for message in each.messages)
        )


def read(path: Path) -> Circumstances:
    """Return a user's copy of the test set.

    Raises:
        UsageError: it cannot be read, or something in it is missing or of another kind; it names
            the file, the item and the key, or line and column.
    """
    file = path / TEST_SET if path.is_dir() else path
    given = read_json(file, wanted="an array of CoSER's test set", most=MAX_BYTES)
    items = _Item(str(file), given).a(list, "the file")
    if not items:
        raise UsageError(
            f"{file} holds no circumstance: a JSON array of CoSER's test set is needed"
        )
    found = [
        _circumstance(_Item(f"{file}, item {i}", item), i) for i, item in enumerate(items, start=1)
    ]
    twice = [name for name, count in Counter(each.id for each in found).items() if count > 1]
    if twice:
        raise UsageError(f"{file}: two items are of the same place in their book: {twice[0]}")
    books, files = _books(path if path.is_dir() else None, found)
    return Circumstances(circumstances=tuple(found), books=books, files=(file, *files))


def _books(
    folder: Path | None, found: Sequence[Circumstance]
) -> tuple[dict[str, tuple[Conversation, ...]], list[Path]]:
    """Return the conversations of books: those of the test set, and of files where there are."""
    books: dict[str, dict[tuple[int, int], Conversation]] = {}
    there = {} if folder is None else {f.stem: f for f in (folder / BOOKS).glob("*.json")}
    files = []
    for name in dict.fromkeys(each.book for each in found):
        books[name] = {}
        if name in there:
            files.append(there[name])
            books[name] |= {each.place: each for each in _book(there[name])}
    for each in found:
        books[each.book][each.reference.place] = each.reference
    ordered = {name: tuple(held[p] for p in sorted(held)) for name, held in books.items()}
    return ordered, files


def _book(file: Path) -> list[Conversation]:
    """Return the conversations of a book's file."""
    book = _Item(str(file), read_json(file, wanted="an object with plots", most=MAX_BYTES))
    found = []
    for i, plot in enumerate(book.each("plots")):
        number = plot.get(int, "i_p", i)
        for j, one in enumerate(plot.each("conversation", optional=True)):
            place = (number, one.get(int, "i_c", j))
            found.append(Conversation(place=place, messages=_messages(one)))
    return found


def _circumstance(item: _Item, number: int) -> Circumstance:
    plot = item.of("plot")
    place = (plot.get(int, "i_p", item.get(int, "i_p", number)), item.get(int, "i_c", 0))
    book = item.get(str, "book")
    messages = _messages(item)
    if not messages:
        raise UsageError(f"{item.where}: dialogues is empty; a reference is needed")
    spoke = list(dict.fromkeys(message.character for message in messages))
    named = item.names("speaking_characters_w_env", spoke)
    cast = [name for name in dict.fromkeys(named) if name != ENVIRONMENT]
    if not cast:
        raise UsageError(f"{item.where}: nobody but the environment speaks")
    major = [name for name in item.names("major_characters", cast) if name in cast]
    return Circumstance(
        id=f"{book}-{place[0]}-{place[1]}",
        book=book,
        summary=plot.get(str, "summary", ""),
        scenario=item.get(str, "scenario"),
        cast=(*cast, ENVIRONMENT),
        major=tuple(major or cast),
        profiles=_profiles(item, plot, cast),
        motives=_motives(item),
        reference=Conversation(place=place, messages=messages),
    )


def _messages(item: _Item) -> tuple[Message, ...]:
    return tuple(
        Message(character=one.name("character"), text=one.get(str, "message"))
        for one in item.each("dialogues")
    )


def _profiles(item: _Item, plot: _Item, cast: Sequence[str]) -> dict[str, str]:
    """Return who each one is: what the plot says of it, then its profile, as in CoSER."""
    given = item.of("character_profiles", optional=True)
    described = {
        one.get(str, "name", ""): one.get(str, "description", "")
        for one in plot.each("key_characters", optional=True)
    }
    parts = {name: (described.get(name, ""), given.get(str, name, "")) for name in cast}
    whole = {
        name: "\n\n".join(p.strip() for p in both if p.strip()) for name, both in parts.items()
    }
    return {name: text for name, text in whole.items() if text}


def _motives(item: _Item) -> dict[str, str]:
    found = {
        one.get(str, "name", ""): one.get(str, "motivation", "") or one.get(str, "thought", "")
        for one in item.each("key_characters", optional=True)
    }
    return {name: text for name, text in found.items() if text}


class _Item:
    """A JSON value and where it stands, so that what is wrong can be told."""

    def __init__(self, where: str, value: object) -> None:
        self.where = where
        self._value = value

    def a(self, kind: type[T], name: str) -> T:
        """Return the value, which must be of a kind."""
        return _of_kind(self._value, kind, f"{self.where}: {name}")

    def get(self, kind: type[T], key: str, default: T | None = None) -> T:
        """Return what stands under a key; without a default it must be there."""
        value = self._object().get(key)
        if value is None and default is not None:
            return default
        if value is None:
            raise UsageError(f"{self.where}: {key} is missing; {_KINDS[kind]} is needed")
        return _of_kind(value, kind, f"{self.where}: {key}")

    def of(self, key: str, *, optional: bool = False) -> _Item:
        """Return the object under a key."""
        value: dict[str, Any] = self.get(dict, key, {} if optional else None)
        return _Item(f"{self.where}, {key}", value)

    def each(self, key: str, *, optional: bool = False) -> list[_Item]:
        """Return the objects of a list under a key."""
        found: list[Any] = self.get(list, key, [] if optional else None)
        return [_Item(f"{self.where}, {key}[{i}]", value) for i, value in enumerate(found)]

    def names(self, key: str, default: list[str]) -> list[str]:
        """Return a list of names under a key."""
        found: list[Any] = self.get(list, key, default)
        return [
            _name(_of_kind(name, str, place), place)
            for i, name in enumerate(found)
            for place in (f"{self.where}: {key}[{i}]",)
        ]

    def name(self, key: str) -> str:
        """Return a name, which must not be empty."""
        return _name(self.get(str, key), f"{self.where}: {key}")

    def _object(self) -> dict[str, Any]:
        return self.a(dict, "the item")


def _name(given: str, what: str) -> str:
    if not given.strip():
        raise UsageError(f"{what} is empty; a name is needed")
    return given


def _of_kind(value: object, kind: type[T], what: str) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UsageError(f"{what} must be {_KINDS[kind]}, not {json.dumps(value)[:40]}")
    return value
