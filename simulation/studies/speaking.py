"""How a study asks a language model, or a rule in its place.

A study asks two: a speaker, who says what is then looked at, and a judge, who looks at it. Each is
a language model, or a rule that the study brings along. Everything asked and answered is kept::

    with voices(models, speak=recite, judge=my_judge, folder=folder) as asked:
        replies = asked.speaker.say([Request(id="p1", system="...", messages=(("user", "..."),))])
        findings = Findings(..., models=asked.told(), records={FILE: asked.lines()})

Keys come from the environment alone. Budget, pace, tries and recorded answers are those of runs
(`simulation.calls`). A provider is put one system text and one text of a user, so a conversation
goes out as its script (`script`).
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from simulation.calls.base import Call
from simulation.calls.budget import Limits
from simulation.calls.record import CallRecord, canonical, question
from simulation.calls.recorded import Recorded, reply_of
from simulation.calls.settings import ModelSettings, Settings
from simulation.calls.switchboard import Switchboard
from simulation.errors import RunStoppedError, UsageError
from simulation.providers import load
from simulation.providers.base import Prompt
from simulation.providers.base import Request as Sent
from simulation.rng import Streams
from simulation.studies.speaking_models import PATIENCE, ModelRef, Models
from simulation.studies.speaking_records import FILE, PURPOSE, RULE, Journal, line_of, read_calls
from simulation.studies.speaking_requests import Request, Rule, recite, script

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simulation.calls.base import Asker

__all__ = [
    "FILE",
    "NOBODY",
    "ModelRef",
    "Models",
    "Request",
    "Rule",
    "Speaker",
    "Voices",
    "recite",
    "script",
    "voices",
]

OUTCOMES: Final = ("ok", "cut", "empty", "refused", "error")
"""What becomes of a request: a whole answer, one that was cut off at its longest, which is used as
well, and three of which nothing can be used."""
NOBODY: Final = "No language model spoke: all replies and judgements here are by rule."

_USED: Final = ("ok", "cut")
_SUMS: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost_usd": "cost_usd",
    "seconds": "latency_s",
}
_HERE: Final = 4  # requests in flight on this machine
_ELSEWHERE: Final = 16


class Speaker(Protocol):
    """Answers requests."""

    @property
    def name(self) -> str:
        """Provider and model; "rule" for none."""
        ...

    def say(self, requests: Sequence[Request]) -> list[str]:
        """Return an answer a request, in order; "" where none came that can be used.

        Raises:
            RunStoppedError: the budget is spent, the model is gone, or a replay has no answer.
        """
        ...


class Voices:
    """Speaker and judge, and the record of all they were asked; see `voices`."""

    def __init__(self, models: Models, *, speaker: _Voice, judge: _Voice) -> None:
        """Keep who answers."""
        self.models = models
        self.speaker: Speaker = speaker
        self.judge: Speaker = judge
        self._both = (speaker, judge)

    @property
    def headline(self) -> str:
        """The first line of a report: who spoke and who judged, or that nobody did."""
        if self.models.by_rule:
            return NOBODY
        refs = zip(self._both, (self.models.speaker, self.models.judge), strict=True)
        who = [
            f"the {voice.role} was {'a rule' if ref.is_rule else f'the language model {ref}'}"
            for voice, ref in refs
            if voice.asked
        ]
        said = "; ".join((*who, self.troubles))
        return f"{said[0].upper()}{said[1:]}"

    @property
    def troubles(self) -> str:
        """How many answers could not be used, or were cut off, in words."""
        found = [
            f"{voice.role}: {_counted(voice.outcomes)}" for voice in self._both if voice.asked
        ]
        return f"answers of the {'; of the '.join(found)}." if found else "nothing was asked."

    def told(self) -> dict[str, Any]:
        """Return all about the models that a manifest holds."""
        models = self.models
        return {
            "budget_usd": models.budget_usd,
            "max_tokens": models.max_tokens,
            "replayed": models.replay is not None,
        } | {voice.role: voice.told() for voice in self._both}

    def lines(self) -> str:
        """Return the record as JSON Lines, in the order of asking."""
        return "".join(line_of(record) for voice in self._both for record in voice.asked)


class _Voice:
    """A `Speaker` that keeps what it was asked. asked: its records, in the order of requests."""

    def __init__(self, role: str, ref: ModelRef, longest: int | None) -> None:
        self.role = role
        self.asked: list[CallRecord] = []
        self.outcomes: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
        self._ref = ref
        self._longest = longest

    @property
    def name(self) -> str:
        return str(self._ref)

    def say(self, requests: Sequence[Request]) -> list[str]:
        names = Counter(each.id for each in requests)
        if len(names) < len(requests):
            raise ValueError(f"several requests have one id: {names.most_common(1)[0][0]}")
        records = self._records(requests)
        self.asked += records
        said = [_said(record) for record in records]
        self.outcomes.update(outcome for outcome, _ in said)
        return [text for _, text in said]

    def _records(self, requests: Sequence[Request]) -> list[CallRecord]:
        raise NotImplementedError

    def told(self) -> dict[str, Any]:
        sums = {
            name: sum(getattr(record, column) or 0 for record in self.asked)
            for name, column in _SUMS.items()
        }
        return {
            "model": self.name,
            "address": self._ref.base_url,
            "requests": len(self.asked),
            "outcomes": dict(self.outcomes),
            **sums,
        }

    def _call(self, request: Request) -> Call[str]:
        most = request.max_tokens
        return Call(
            tick=0,
            persona_id=f"{self.role}|{request.id}",
            purpose=PURPOSE,
            prompt=lambda: _prompt(request),
            schema=None,
            read=str,
            max_tokens=most if self._longest is None else min(most, self._longest),
            temperature=request.temperature,
        )


class _ByRule(_Voice):
    """Answers by a rule."""

    def __init__(self, role: str, longest: int | None, rule: Rule) -> None:
        super().__init__(role, ModelRef(), longest)
        self._rule = rule

    def _records(self, requests: Sequence[Request]) -> list[CallRecord]:
        return [self._record(request) for request in requests]

    def _record(self, request: Request) -> CallRecord:
        call = self._call(request)
        prompt = call.prompt()
        sent = Sent(
            prompt=prompt,
            schema=None,
            max_tokens=call.max_tokens or request.max_tokens,
            temperature=call.temperature,
        )
        asked = question(call, prompt, sent, settings=_settings(ModelRef()), attempt=1)
        said = canonical({"text": self._rule(request), "finish": "stop"}).decode()
        return CallRecord(
            tick=0,
            persona_id=asked.persona_id,
            purpose=PURPOSE,
            attempt=1,
            provider=RULE,
            model=RULE,
            request_sha256=asked.sha256,
            request=None,  # a rule's can be made again; thousands of them fill a disk
            response=said,
            input_tokens=None,
            cached_tokens=None,
            written_tokens=None,
            output_tokens=None,
            cost_usd=None,
            latency_s=0.0,
            attempts=0,
            outcome="ok",
            error=None,
            billed=0,
            unconfirmed_usd=0.0,
            unconfirmed_tokens=0,
        )


class _ByModel(_Voice):
    """Answers by a language model. taken: where the switchboard puts records, by id."""

    def __init__(
        self,
        role: str,
        ref: ModelRef,
        longest: int | None,
        asker: Asker,
        taken: dict[str | None, CallRecord],
    ) -> None:
        super().__init__(role, ref, longest)
        self._asker = asker
        self._taken = taken

    def _records(self, requests: Sequence[Request]) -> list[CallRecord]:
        calls = [self._call(request) for request in requests]
        self._taken.clear()
        self._asker.ask(calls)
        # what a reader makes of a text is the study's: a text that was cut off is one, too
        return [self._taken[call.persona_id] for call in calls]


@contextmanager
def voices(
    models: Models,
    *,
    speak: Rule,
    judge: Rule,
    folder: Path | None = None,
    seed: int = 0,
) -> Iterator[Voices]:
    """Yield who answers.

    speak, judge: the rules that answer where no language model is named.
    folder: of the study; what models answer is kept beside it while it is not written.
    seed: of the stream of back-off; no answer depends on it.

    Raises:
        UsageError: a model cannot be used: no key, an unknown name, no server, no price for a
            budget; or the recorded answers cannot be read.
        RunStoppedError: what was asked could not be answered to the end.
    """
    refs = (("speaker", models.speaker, speak), ("judge", models.judge, judge))
    journal = Journal(folder)
    taken: dict[str | None, CallRecord] = {}
    with _switchboard(models, journal, taken, seed) as board:
        made: list[_Voice] = []
        for role, ref, rule in refs:
            longest = models.max_tokens if role == "speaker" else None
            if ref.is_rule:
                made.append(_ByRule(role, longest, rule))
            else:
                asker = _asker(board, models, ref)
                made.append(_ByModel(role, ref, longest, asker, taken))
        if not models.by_rule:
            board.check()
        speaker, judging = made
        yield Voices(models, speaker=speaker, judge=judging)


@contextmanager
def _switchboard(
    models: Models, journal: Journal, taken: dict[str | None, CallRecord], seed: int
) -> Iterator[Switchboard]:
    """Yield what asks; its journal stays behind where the work was not finished."""

    def take(records: Sequence[CallRecord]) -> None:
        taken.update((record.persona_id, record) for record in records)
        journal.add(records)

    recorded = None
    if models.replay is not None:
        miss: Any = "ask" if models.ask else "stop"
        recorded = Recorded(read_calls(models.replay), mode="replay", miss=miss)
    asked = [ref for ref in (models.speaker, models.judge) if not ref.is_rule]
    near = all(ref.is_here for ref in asked)
    board = Switchboard(
        streams=Streams(seed),
        settings=Settings(concurrency=_HERE if near else _ELSEWHERE, timeout=PATIENCE),
        limits=Limits(usd=models.budget_usd),
        sink=take,
        recorded=recorded,
    )
    finished = False
    try:
        with board:
            yield board
        finished = True
    except RunStoppedError as error:
        raise RunStoppedError(_stopped(error, journal.path)) from error
    finally:
        journal.close(keep=not finished)


def _stopped(error: RunStoppedError, kept: Path | None) -> str:
    if kept is None:
        return str(error)
    return f"{error}\nWhat was answered is in {kept}; --replay {kept} goes on from there."


def _asker(board: Switchboard, models: Models, ref: ModelRef) -> Asker:
    if models.budget_usd is not None and ref.price is None:
        raise UsageError(
            f"--budget cannot be kept: no price is known for {ref} at {ref.host}; leave it out to "
            "count no money"
        )
    return board.asker(partial(load, ref.spec(models.key_for)), _settings(ref))


def _settings(ref: ModelRef) -> ModelSettings:
    return ModelSettings(
        provider=ref.provider,
        model=ref.model,
        max_tokens=1,  # every request says its own
        temperature=None,
        price=None if ref.is_rule else ref.price,
    )


def _said(record: CallRecord) -> tuple[str, str]:
    """Return the outcome of a request, one of `OUTCOMES`, and its text, "" where none is used."""
    if record.outcome in ("refused", "error"):
        return record.outcome, ""
    text, finish = reply_of(record) or ("", "")
    if not text.strip():
        return "empty", ""
    return ("cut" if finish == "length" else "ok"), text.strip()


def _counted(outcomes: Counter[str]) -> str:
    lost = sum(outcomes[name] for name in OUTCOMES if name not in _USED)
    parts = [f"{outcomes.total():,} asked", f"{lost:,} without an answer"]
    if outcomes["cut"]:
        parts.append(f"{outcomes['cut']:,} cut off at their longest")
    return ", ".join(parts)


def _prompt(request: Request) -> Prompt:
    return Prompt(system=request.system, persona="", question=script(request.messages))
