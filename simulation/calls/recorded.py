"""Answers that were recorded before: a run goes on, or is repeated, without asking again.

Resume. A run that was interrupted asks the calls of its unfinished tick again; those whose reply
stands in its file already are answered from there. What a request came to only because the run
ended (`interrupted`), and what failed without a reply, is asked anew. Nothing is written twice,
and the totals of a tick are those of its rows in the file.

Replay. A run is repeated into a new file without a model. Each recorded request, a failed one
too, comes to what it came to then; of several with one digest (one failed, was interrupted, and
was asked again on resume) the last one counts. The new file gets a row for each, the same as the
old one but for `attempts`, which is 0, as nothing was sent, `billed`, 0, and nothing unconfirmed:
so tokens and cost say what the answers are worth, and `attempts = 0` that they were not paid for
this time. A replay can be replayed. A request that is not among the recorded ones is a miss: the
run stops and says what differs, or it is asked live.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

from simulation.calls.record import INTERRUPTED
from simulation.errors import RunStoppedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulation.calls.record import CallRecord, Question

_SHOWN: Final = 60
_BEFORE: Final = 20

Key = tuple[int, str | None, str, int, str]


class ReplayMissError(RunStoppedError):
    """A replay asks what the recorded run did not."""


class Recorded:
    """Requests of a run, to be found again."""

    def __init__(
        self,
        records: Iterable[CallRecord],
        *,
        mode: Literal["resume", "replay"],
        miss: Literal["ask", "stop"] = "ask",
        expected: bool = False,
        then: Recorded | None = None,
    ) -> None:
        """Keep the records.

        Args:
            records: In the order in which they were written. To resume, all those of the ticks
                that are not finished.
            mode: `resume`: they stand in the file that is written; `replay`: in another one.
            miss: What becomes of a request that is not among them, nor among the next ones.
            expected: Whether each request should be among them, so that models need not be there
                before one is not.
            then: Where a request is looked for that is not among them.
        """
        self.records = tuple(records)
        self.mode = mode
        self.miss: Literal["ask", "stop"] = then.miss if then is not None else miss
        self.sources: tuple[Recorded, ...] = (self, *(then.sources if then is not None else ()))
        self._expected = expected
        usable = _has_reply if mode == "resume" else _was_awaited
        self._found: dict[Key, CallRecord] = {
            (r.tick, r.persona_id, r.purpose, r.attempt, r.request_sha256): r
            for r in self.records
            if usable(r)
        }

    @property
    def asks_nobody(self) -> bool:
        """Whether no model is needed."""
        return self.miss == "stop"

    @property
    def expects_to_ask(self) -> bool:
        """Whether models have to be there from the start."""
        return not (self.asks_nobody or self._expected)

    def find(
        self, tick: int, persona_id: str | None, purpose: str, attempt: int, request_sha256: str
    ) -> CallRecord | None:
        """Return the recorded request, or None."""
        return self._found.get((tick, persona_id, purpose, attempt, request_sha256))

    def missed(self, question: Question) -> ReplayMissError:
        """Return an error that says where a request parts from the nearest recorded one."""
        who = f" of {question.persona_id}" if question.persona_id is not None else ""
        place = f"tick {question.tick}, {question.purpose}{who}, attempt {question.attempt}"
        near = self._nearest(question)
        if near is None:
            return ReplayMissError(f"{place}: the recorded run did not ask this")
        return ReplayMissError(
            f"{place}: this is not what the recorded run asked: {_difference(near, question)}"
        )

    def _nearest(self, question: Question) -> CallRecord | None:
        """Return the record of the same tick, persona and purpose, of the same attempt first."""
        same = [
            record
            for record in self.records
            if (record.tick, record.persona_id, record.purpose)
            == (question.tick, question.persona_id, question.purpose)
        ]
        # max returns the first of equals, so the order of the records decides.
        return max(same, key=lambda r: _likeness(r, question), default=None)


def reply_of(record: CallRecord) -> tuple[str, str] | None:
    """Return the text of a recorded reply and why it ended, or None where none came."""
    if record.response is None:
        return None
    response = json.loads(record.response)
    return response["text"], response["finish"]


def _has_reply(record: CallRecord) -> bool:
    return record.response is not None or record.outcome == "refused"


def _was_awaited(record: CallRecord) -> bool:
    return _has_reply(record) or not (record.error or "").startswith(INTERRUPTED)


def _likeness(record: CallRecord, question: Question) -> tuple[bool, int]:
    """Return what ranks records by nearness: the same attempt, then the longest common start."""
    common = _common(record.request, question.text) if record.request else 0
    return record.attempt == question.attempt, common


def _common(one: str, other: str) -> int:
    """Return how many characters two texts have in common from their start on."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _difference(record: CallRecord, question: Question) -> str:
    if record.request is None:
        return "the digests differ, and the recorded request was not kept (log.requests: digest)"
    if record.request_sha256 == question.sha256:
        return f"the same words were recorded as attempt {record.attempt}"
    was, now = json.loads(record.request), json.loads(question.text)
    name = next(_parts_that_differ(was, now))
    before, after = _as_text(was.get(name)), _as_text(now.get(name))
    place = _common(before, after)
    return (
        f"`{name}` differs from character {place + 1} on: "
        f"recorded {_excerpt(before, place)}, now {_excerpt(after, place)}"
    )


def _parts_that_differ(was: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    order = ("provider", "model", "system", "persona", "question", "schema")
    names = [*order, *(name for name in now if name not in order)]
    return (name for name in names if was.get(name) != now.get(name))


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _excerpt(text: str, place: int) -> str:
    """Return a quoted piece of a text around a place, in one line."""
    start = max(0, place - _BEFORE)
    piece = text[start : start + _SHOWN]
    dots = "…" if start else "", "…" if start + _SHOWN < len(text) else ""
    return json.dumps(dots[0] + piece + dots[1], ensure_ascii=False)
