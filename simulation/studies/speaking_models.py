"""Which language models a study asks, as named on the command line."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from simulation.calls.prices import price_of
from simulation.errors import UsageError
from simulation.providers import NAMES, ProviderSpec
from simulation.scenario.addresses import (
    KEY_VARIABLES,
    OWN_HOSTS,
    address_problem,
    is_loopback,
    may_have_key,
)
from simulation.studies.speaking_forms import FORMS
from simulation.studies.speaking_records import ROLES, RULE, model_of, read_calls

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.calls.prices import Price
    from simulation.calls.record import CallRecord

PATIENCE = 600.0
"""Seconds for an answer: a model on a busy machine is slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRef:
    """Who is asked.

    provider: `rule`, `openai` or `anthropic` (whose protocol is spoken).  model: as its server
    knows it.  base_url: None for the provider's own.
    """

    provider: str = RULE
    model: str = RULE
    base_url: str | None = None

    @classmethod
    def parse(cls, text: str, base_url: str | None = None) -> ModelRef:
        """Return who `rule`, `openai:NAME` or `anthropic:NAME` is.

        >>> str(ModelRef.parse("openai:smollm2", "http://localhost:8080/v1"))
        'openai:smollm2'

        Raises:
            UsageError: nobody, or the address is none.
        """
        provider, _, model = text.strip().partition(":")
        if (provider, model) in {(RULE, ""), (RULE, RULE)}:
            return cls()
        if provider not in NAMES or not model.strip():
            known = ", ".join((RULE, *(f"{name}:NAME" for name in NAMES)))
            raise UsageError(f'there is no model "{text:.60}"; there are: {known}')
        if base_url is not None:
            _check_address(base_url, provider)
        return cls(provider=provider, model=model.strip(), base_url=base_url)

    @property
    def is_rule(self) -> bool:
        """Whether nobody is asked."""
        return self.provider == RULE

    def __str__(self) -> str:
        """Return provider and model."""
        return RULE if self.is_rule else f"{self.provider}:{self.model}"

    @property
    def host(self) -> str:
        """Host that is asked, without its port; not of a rule."""
        url = self.base_url or f"https://{OWN_HOSTS[self.provider]}"
        return (urlsplit(url).hostname or "").rstrip(".")

    @property
    def is_here(self) -> bool:
        """Whether this machine is asked."""
        return is_loopback(self.host)

    @property
    def price(self) -> Price | None:
        """What it costs; None where nobody said: a stranger's price is not the owner's."""
        if self.host != OWN_HOSTS[self.provider] and not self.is_here:
            return None
        return price_of(self.provider, self.model, self.host)

    def spec(self, key_for: Sequence[str]) -> ProviderSpec:
        """Return what its provider is built from, with the key that its host may have."""
        url = self.base_url or f"https://{OWN_HOSTS[self.provider]}"
        allowed = may_have_key(url, provider=self.provider, key_for=key_for)
        return ProviderSpec(
            provider=self.provider,
            model=self.model,
            base_url=self.base_url,
            api_key=os.environ.get(KEY_VARIABLES[self.provider]) or None if allowed else None,
            # A schema and no instruction in words: the prompt stays the study's own.
            structured="json_schema",
            timeout=PATIENCE,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Who speaks and who judges, and what that may cost; by default rules, for nothing.

    budget_usd: None for no limit.  max_tokens: longest answer of the speaker, where a study would
    allow more; for slow models.  key_for: hosts that may have a provider's key, besides its own.
    replay: the calls.jsonl of an earlier study, whose answers are given again.  ask: whether
    what does not stand there is asked.  form: `fixed` or `free`, how answers of a fixed form are
    asked for; None for fixed, and in a replay as it was recorded.
    """

    speaker: ModelRef = field(default_factory=ModelRef)
    judge: ModelRef = field(default_factory=ModelRef)
    budget_usd: float | None = None
    max_tokens: int | None = None
    key_for: tuple[str, ...] = ()
    replay: Path | None = None
    ask: bool = True
    form: str | None = None

    def __post_init__(self) -> None:
        """Refuse limits that allow nothing, and a form that is none.

        Raises:
            UsageError: one does, or it is none.
        """
        if self.form not in (None, *FORMS):
            raise UsageError(f'--form cannot be "{self.form:.60}"; it can be {" or ".join(FORMS)}')
        for name, value in (("budget", self.budget_usd), ("max-tokens", self.max_tokens)):
            if value is not None and not value > 0:
                raise UsageError(f"--{name} is {value:g}; it must be above 0")

    @classmethod
    def parse(
        cls,
        *,
        model: str | None = None,
        base_url: str | None = None,
        judge: str | None = None,
        judge_base_url: str | None = None,
        budget: float | None = None,
        max_tokens: int | None = None,
        key_for: Sequence[str] = (),
        replay: Path | None = None,
        form: str | None = None,
    ) -> Models:
        """Return what options of a command line mean; see `simulation study --help`.

        Without a judge the speaker's model judges, too. With a replay, who is not named is who it
        was in the recorded study; only where a language model is named is anybody asked.

        Raises:
            UsageError: an option is wrong, or would do nothing.
        """
        _refuse_idle(model, base_url, "--base-url needs a --model that is asked there")
        _refuse_idle(judge, judge_base_url, "--judge-base-url needs a --judge that is asked there")
        recorded = () if replay is None else read_calls(replay)
        speaker = ModelRef.parse(model, base_url) if model else _recorded(recorded, ROLES[0])
        if judge:
            judging = ModelRef.parse(judge, judge_base_url)
        else:
            judging = speaker if model or replay is None else _recorded(recorded, ROLES[1])
        if replay is not None and speaker.is_rule and judging.is_rule:
            raise UsageError(f"{replay} holds no answer of a language model; leave it out")
        named = [ModelRef.parse(name) for name in (model, judge) if name]
        ask = replay is None or not all(ref.is_rule for ref in named)
        made = cls(
            speaker=speaker,
            judge=judging,
            budget_usd=budget,
            max_tokens=max_tokens,
            key_for=tuple(key_for),
            replay=replay,
            ask=ask,
            form=form,
        )
        _refuse_unbound(made)
        return made

    @property
    def by_rule(self) -> bool:
        """Whether no language model is asked at all."""
        return self.speaker.is_rule and self.judge.is_rule


def _check_address(url: str, provider: str) -> None:
    """Refuse what is no address; who types one trusts its host, but a key goes where it is named.

    Raises:
        UsageError: it is none.
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        host = ""
    problem = address_problem(url, provider=provider, allow_hosts=(host,))
    if problem is not None:
        raise UsageError(f"the address of {provider}: {problem}")


def _refuse_idle(model: str | None, base_url: str | None, why: str) -> None:
    if base_url is not None and (model is None or ModelRef.parse(model).is_rule):
        raise UsageError(why)


def _refuse_unbound(models: Models) -> None:
    """Refuse what binds a language model where it would bind none.

    Raises:
        UsageError: it would do nothing.
    """
    nobody = models.by_rule or not models.ask
    for option, value, idle in (
        ("--budget", models.budget_usd, nobody),
        ("--key-for", models.key_for, nobody),
        ("--max-tokens", models.max_tokens, models.speaker.is_rule),
        ("--form", models.form, models.by_rule),
    ):
        if value and idle:
            raise UsageError(f"{option} needs a --model that it binds")


def _recorded(records: Sequence[CallRecord], role: str) -> ModelRef:
    """Return who had a role in a recorded study."""
    found = model_of(records, role)
    if found is None or found[0] == RULE:
        return ModelRef()
    return ModelRef(provider=found[0], model=found[1])
