"""Who answers a study's requests, a rule or a language model, with the record of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from simulation.calls.base import Call
from simulation.calls.record import CallRecord, canonical, question
from simulation.calls.recorded import reply_of
from simulation.calls.settings import ModelSettings
from simulation.providers.base import Prompt
from simulation.providers.base import Request as Sent
from simulation.studies.speaking_forms import FIXED, FORMS, FREE, declines, was_fixed
from simulation.studies.speaking_models import ModelRef
from simulation.studies.speaking_records import PURPOSE, RULE
from simulation.studies.speaking_requests import Request, Rule, script

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from simulation.calls.base import Asker
    from simulation.studies.speaking_forms import Form

OUTCOMES: Final = ("ok", "cut", "empty", "refused", "error")
"""What becomes of a request: a whole answer, one that was cut off at its longest, which is used as
well, and three of which nothing can be used."""

_USED: Final = ("ok", "cut")
_SUMS: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost_usd": "cost_usd",
    "seconds": "latency_s",
}


class Voice:
    """A `Speaker` that keeps what it was asked.

    asked: its records, in the order of requests.  forms: how many answers of a language model that
    could have a fixed form have it.
    """

    def __init__(self, role: str, ref: ModelRef, longest: int | None) -> None:
        """Start with nothing asked. longest: tokens of an answer, at most; None: as requested."""
        self.role = role
        self.asked: list[CallRecord] = []
        self.outcomes: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
        self.forms: Counter[str] = Counter()
        self._ref = ref
        self._longest = longest

    @property
    def name(self) -> str:
        """Provider and model; "rule" for none."""
        return str(self._ref)

    def say(self, requests: Sequence[Request]) -> list[str]:
        """Return an answer a request; see `Speaker`."""
        names = Counter(each.id for each in requests)
        if len(names) < len(requests):
            raise ValueError(f"several requests have one id: {names.most_common(1)[0][0]}")
        records = self._records(requests)
        self.asked += records
        said = [_said(record) for record in records]
        self.outcomes.update(outcome for outcome, _ in said)
        return [
            self._read(each, record, text)
            for each, record, (_, text) in zip(requests, records, said, strict=True)
        ]

    def _read(self, request: Request, record: CallRecord, text: str) -> str:
        """Return what the study reads of an answer: without its form, where it has it."""
        if request.form is None or record.provider == RULE or not text:
            return text
        read = request.form.read(text) if was_fixed(record) else None
        self.forms[FREE if read is None else FIXED] += 1
        return text if read is None else read

    def _records(self, requests: Sequence[Request]) -> list[CallRecord]:
        raise NotImplementedError

    def told(self) -> dict[str, Any]:
        """Return what a manifest holds of the role."""
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
        } | ({"forms": {name: self.forms[name] for name in FORMS}} if self.forms else {})

    def _call(self, request: Request, form: Form | None = None) -> Call[str]:
        most = request.max_tokens
        if self._longest is not None:
            most = min(most, self._longest)
        return Call(
            tick=0,
            persona_id=f"{self.role}|{request.id}",
            purpose=PURPOSE,
            prompt=lambda: _prompt(request),
            schema=None if form is None else dict(form.schema),
            read=str,
            max_tokens=most if form is None else most + form.room,
            temperature=request.temperature,
        )


class ByRule(Voice):
    """Answers by a rule."""

    def __init__(self, role: str, longest: int | None, rule: Rule) -> None:
        """Take the rule."""
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
        asked = question(call, prompt, sent, settings=settings_of(ModelRef()), attempt=1)
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


class ByModel(Voice):
    """Answers by a language model.

    taken: where the switchboard puts records, by id.  fixed: whether to ask for fixed forms.
    free: what was asked without one before, and is so again, by the ids of records.
    """

    def __init__(
        self,
        role: str,
        ref: ModelRef,
        longest: int | None,
        *,
        asker: Asker,
        taken: dict[str | None, CallRecord],
        free: Container[str | None],
        fixed: bool,
    ) -> None:
        """Take the way to the model."""
        super().__init__(role, ref, longest)
        self._asker = asker
        self._taken = taken
        self._free = free
        self._fixed = fixed

    def _records(self, requests: Sequence[Request]) -> list[CallRecord]:
        found = self._answers(requests)
        declined = [each for each in requests if declines(found[each.id])]
        if declined:  # the server takes no form: it is asked in words alone from here on
            self._fixed = False
            found |= self._answers(declined)
        return [found[each.id] for each in requests]

    def _answers(self, requests: Sequence[Request]) -> dict[str, CallRecord]:
        calls = {each.id: self._call(each, self._form_of(each)) for each in requests}
        self._taken.clear()
        self._asker.ask(list(calls.values()))
        # what a reader makes of a text is the study's: a text that was cut off is one, too
        return {name: self._taken[call.persona_id] for name, call in calls.items()}

    def _form_of(self, request: Request) -> Form | None:
        before = f"{self.role}|{request.id}" in self._free
        return request.form if self._fixed and not before else None


def settings_of(ref: ModelRef) -> ModelSettings:
    """Return what is said of a model in every request."""
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


def counted(outcomes: Counter[str], forms: Counter[str]) -> str:
    """Return how many answers there were, and of which kinds, in words."""
    lost = sum(outcomes[name] for name in OUTCOMES if name not in _USED)
    parts = [f"{outcomes.total():,} asked", f"{lost:,} without an answer"]
    if outcomes["cut"]:
        parts.append(f"{outcomes['cut']:,} cut off at their longest")
    if forms:
        parts.append(f"{forms[FIXED]:,} of {forms.total():,} held to a fixed form")
    return ", ".join(parts)


def _prompt(request: Request) -> Prompt:
    return Prompt(system=request.system, persona="", question=script(request.messages))
