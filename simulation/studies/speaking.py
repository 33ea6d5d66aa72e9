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

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from simulation.calls.budget import Limits
from simulation.calls.recorded import Recorded, ReplayMissError
from simulation.calls.settings import Settings
from simulation.calls.switchboard import Switchboard
from simulation.errors import RunStoppedError, UsageError
from simulation.providers import load
from simulation.rng import Streams
from simulation.studies.speaking_forms import FREE, Form, one_of, was_fixed
from simulation.studies.speaking_models import PATIENCE, ModelRef, Models
from simulation.studies.speaking_records import (
    FILE,
    PURPOSE,
    Journal,
    line_of,
    read_calls,
)
from simulation.studies.speaking_requests import Request, Rule, recite, script
from simulation.studies.speaking_voices import ByModel, ByRule, counted, settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simulation.calls.base import Asker
    from simulation.calls.record import CallRecord
    from simulation.studies.speaking_voices import Voice

__all__ = [
    "FILE",
    "NOBODY",
    "Form",
    "ModelRef",
    "Models",
    "Request",
    "Rule",
    "Speaker",
    "Voices",
    "one_of",
    "recite",
    "script",
    "voices",
]

NOBODY: Final = "No language model spoke: all replies and judgements here are by rule."

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

    def __init__(self, models: Models, *, speaker: Voice, judge: Voice) -> None:
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
            f"{voice.role}: {counted(voice.outcomes, voice.forms)}"
            for voice in self._both
            if voice.asked
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
    journal = Journal(folder if models.ask else None)  # a replay that asks nobody has nothing new
    taken: dict[str | None, CallRecord] = {}
    before = () if models.replay is None else read_calls(models.replay)
    free = _free(before) if models.form is None else frozenset()
    with _switchboard(models, journal, taken, before, seed) as board:
        made: list[Voice] = []
        for role, ref, rule in refs:
            longest = models.max_tokens if role == "speaker" else None
            if ref.is_rule:
                made.append(ByRule(role, longest, rule))
            else:
                asker = _asker(board, models, ref)
                fixed = models.form != FREE
                made.append(
                    ByModel(role, ref, longest, asker=asker, taken=taken, free=free, fixed=fixed)
                )
        if not models.by_rule:
            board.check()
        speaker, judging = made
        yield Voices(models, speaker=speaker, judge=judging)


@contextmanager
def _switchboard(
    models: Models,
    journal: Journal,
    taken: dict[str | None, CallRecord],
    before: Sequence[CallRecord],
    seed: int,
) -> Iterator[Switchboard]:
    """Yield what asks; its journal stays behind where the work was not finished.

    before: the records of a replay.
    """

    def take(records: Sequence[CallRecord]) -> None:
        taken.update((record.persona_id, record) for record in records)
        journal.add(records)

    recorded = None
    if models.replay is not None:
        miss: Any = "ask" if models.ask else "stop"
        recorded = Recorded(before, mode="replay", miss=miss)
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
    except ReplayMissError as error:
        raise RunStoppedError(_missed(error, models)) from error
    except RunStoppedError as error:
        raise RunStoppedError("\n".join((str(error), *_kept(journal.kept)))) from error
    except BaseException as error:  # such as Ctrl-C: who catches it can tell
        for note in _kept(journal.kept):
            error.add_note(note)
        raise
    finally:
        journal.close(keep=not finished)


def _kept(path: Path | None) -> tuple[str, ...]:
    """Return where answers were kept, in words; nothing where none were."""
    if path is None:
        return ()
    return (f"What was answered is in {path}; --replay {path} goes on from there.",)


def _missed(error: ReplayMissError, models: Models) -> str:
    """Return what a replay has no answer to, and what would ask it, in words."""
    by_model = ((models.speaker, "--model"), (models.judge, "--judge"))
    option, ref = next((option, ref) for ref, option in by_model if not ref.is_rule)
    request = str(error).removeprefix(f"tick 0, {PURPOSE} of ")
    return (
        f"{models.replay} has no answer to {request}\n"
        "The same --quick and --max-tokens as then repeat a study. "
        f"{option} {ref}, with the address where it has one of its own, would ask what is missing."
    )


def _free(records: Sequence[CallRecord]) -> frozenset[str | None]:
    """Return the ids of what was asked without a form; the last record of an id counts."""
    asked = {each.persona_id: was_fixed(each) for each in records if each.request is not None}
    return frozenset(name for name, fixed in asked.items() if not fixed)


def _asker(board: Switchboard, models: Models, ref: ModelRef) -> Asker:
    if models.budget_usd is not None and ref.price is None:
        raise UsageError(
            f"--budget cannot be kept: no price is known for {ref} at {ref.host}; leave it out to "
            "count no money"
        )
    return board.asker(partial(load, ref.spec(models.key_for)), settings_of(ref))
