"""What a scenario can say about language models: which, at what price, and how much of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from simulation.scenario.parts import NonNegative, Part, Text

Temperature = Annotated[float, Field(ge=0.0, le=2.0, allow_inf_nan=False)]


class Price(Part):
    """What a language model costs, in US dollars per million tokens."""

    input: NonNegative = Field(description="Tokens read.")
    output: NonNegative = Field(description="Tokens written, hidden reasoning included.")
    cached_input: NonNegative | None = Field(
        default=None, description="Tokens read from the provider's cache; default as `input`."
    )
    cache_write: NonNegative | None = Field(
        default=None, description="Tokens written into that cache; default as `input`."
    )


class ModelSpec(Part):
    """A language model."""

    provider: Literal["rule", "anthropic", "openai"] = Field(
        default="rule",
        description="`rule` is the embedded opinion model and needs no key; `anthropic` and "
        "`openai` are these providers or any server that speaks their protocol.",
    )
    model: Text | None = Field(
        default=None,
        description="Name of the model, as its server knows it; needed by all but `rule`.",
    )
    base_url: Text | None = Field(
        default=None,
        description="Address of a server; a host that is neither the provider's own nor this "
        "machine needs --allow-host.",
    )
    temperature: Temperature | None = Field(
        default=None, description="Sampling temperature; default that of the scenario."
    )
    max_tokens: int = Field(
        default=400, ge=1, le=1_000_000, description="Longest answer, in tokens."
    )
    price: Price | None = Field(
        default=None,
        description="What it costs; default from the table that ships with the engine, nothing "
        "on this machine.",
    )
    structured: Literal["auto", "json_schema", "tool", "json_object", "plain"] = Field(
        default="auto",
        description="How an answer of the right shape is asked for; `auto` takes the best that "
        "the server accepts.",
    )
    effort: Literal["none", "minimal", "low", "medium", "high"] | None = Field(
        default=None, description="How much a reasoning model thinks; default the provider's."
    )
    stream: bool = Field(
        default=False, description="Read answers as they are written; for slow servers."
    )


class Models(Part):
    """The model of each tier; reflections always use the frontier model."""

    cheap: ModelSpec = Field(default=ModelSpec(), description="Turns of the cheap tier.")
    frontier: ModelSpec = Field(
        default=ModelSpec(), description="Turns of the frontier tier, and all reflections."
    )


class Budget(Part):
    """What a run may spend on language models; it stops before the next call passes a limit."""

    usd: NonNegative | None = Field(default=None, description="US dollars; default no limit.")
    calls: int | None = Field(
        default=None,
        ge=0,
        description="Tries that may be billed: one that a server turns away (429, 500) is not; "
        "default no limit.",
    )
    tokens: int | None = Field(
        default=None, ge=0, description="Tokens read and written; default no limit."
    )


class Calls(Part):
    """How language models are called."""

    concurrency: int = Field(
        default=32, ge=1, le=1024, description="Calls under way at once, per host, at most."
    )
    requests_per_minute: int | None = Field(
        default=None, ge=1, description="Tries in any minute, per host; default no limit."
    )
    tries: int = Field(
        default=5, ge=1, le=20, description="Tries of a call that fails for the moment."
    )
    timeout: Annotated[float, Field(gt=0.0, le=3600.0, allow_inf_nan=False)] = Field(
        default=60.0, description="Seconds that one try may take."
    )
    quarantine_after: int | None = Field(
        default=3,
        ge=1,
        le=1000,
        description="A persona whose turns fail this many times in a row is left to the rule "
        "model for the rest of the run; null for never.",
    )


class Log(Part):
    """What the run database holds beyond what makes the run."""

    requests: Literal["full", "digest"] = Field(
        default="full",
        description="Of a call to a language model: the whole request, or its digest only.",
    )
