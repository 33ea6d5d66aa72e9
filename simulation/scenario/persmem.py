"""What a scenario can say of affect and of personality's part in memory (method.md 7 and 8).

The formulas and their sources stand in `simulation/mind`; each constant here is one of theirs.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from simulation.scenario.parts import Gain, Part, Text, Unit

# The maps of gains that ship for each kind of personality; `human` has no figures for attachment.
MAPS = {
    "attachment": ("paper", "reference"),
    "big_five": ("paper", "human", "reference"),
}


class Affect(Part):
    """How the raw feeling of a text is told; only runs with personality need it."""

    appraiser: Literal["embedding", "lexicon", "model"] = Field(
        default="embedding",
        description="`embedding`: a regression that ships with the engine; `lexicon`: sentiment "
        "rules and word norms; `model`: the language model of the cheap tier is asked.",
    )
    coefficients: Text | None = Field(
        default=None,
        description="embedding: a file of coefficients fitted for the encoder; default shipped.",
    )
    norms: Text | None = Field(
        default=None,
        description="lexicon: CSV of word norms (Glasgow or Warriner columns); without one, "
        "arousal and dominance are neutral.",
    )


def _off(value: object) -> object:
    """Take YAML's `off`, which reads as false, for what it says: it can mean nothing else here."""
    return "off" if value is False else value


class Gate(Part):
    """The redirection gate (method.md 7.5)."""

    mode: Annotated[Literal["personality", "neutral", "off"], BeforeValidator(_off)] = Field(
        default="personality",
        description="`personality`: the trait lowers the threshold; `neutral`: one threshold for "
        "all; `off`: never fires.",
    )
    theta_0: Annotated[float, Field(ge=-100.0, le=100.0, allow_inf_nan=False)] = Field(
        default=1.6, description="Threshold at trait 0, in units of the passive score."
    )
    eta: Gain = Field(default=0.4, description="How far anxiety or N lowers the threshold.")
    lambda_i: Gain = Field(
        default=4.0, description="Steepness: log-odds per unit of score above the threshold."
    )
    nu: Gain = Field(default=0.5, description="Log-odds that full arousal adds.")


class Switches(Part):
    """Parts of PersMem that can be switched off, one by one (method.md 7.7)."""

    A: bool = Field(default=True, description="Personality in the appraisal.")
    R: bool = Field(default=True, description="Personality in the retention of bad memories.")
    P: bool = Field(default=True, description="Personality in the passive score.")
    G: bool = Field(default=True, description="The gate; off, it never fires.")
    S: bool = Field(default=True, description="The passive score's term of overgeneral memories.")


class Appraisal(Part):
    """How far traits bend a raw feeling (method.md 7.1)."""

    kappa_v: Gain = Field(
        default=0.5, description="How far anxiety or N deepens a negative valence."
    )
    kappa_a: Gain = Field(
        default=0.4, description="Arousal that anxiety or N adds to a negative text."
    )
    kappa_b: Unit = Field(default=0.4, description="attachment: arousal that avoidance damps.")
    kappa_d: Gain = Field(
        default=0.2, description="Dominance that anxiety takes, or that low A gives."
    )
    kappa_e: Gain = Field(default=0.2, description="attachment: dominance that avoidance adds.")
    kappa_p: Gain = Field(
        default=0.4, description="big_five: how far E and A lift a positive valence."
    )


class Retention(Part):
    """What slows the fading of a memory (method.md 7.3)."""

    rho_a: Unit = Field(default=0.5, description="Share of the decay that full arousal takes off.")
    rho_n: Unit = Field(
        default=0.4, description="Share that anxiety or N takes off, for the worst memory."
    )
    rho_min: Unit = Field(default=0.1, description="Personality leaves at least this share.")


class Passive(Part):
    """The passive score, and the draw by it (method.md 7.4)."""

    alpha: Gain = Field(default=1.0, description="Weight of the similarity to the query.")
    beta_0: Gain = Field(default=0.6, description="Weight of the affective relation at trait 0.")
    beta_x: Gain = Field(default=0.5, description="How far anxiety or N raises that weight.")
    gamma: Gain = Field(default=0.3, description="Weight of the retention.")
    phi_0: Gain = Field(
        default=0.25, description="attachment: overgeneral recall by avoidance in any state."
    )
    phi_a: Unit = Field(
        default=0.5, description="attachment: part of it that distress brings without avoidance."
    )
    temperature: Annotated[float, Field(ge=0.001, le=100.0, allow_inf_nan=False)] = Field(
        default=0.12,
        description="Of the draw; big_five takes the gain tau_bf instead, unless P is off.",
    )
    candidates: int = Field(
        default=12, ge=1, le=1000, description="Only so many of the best scores can be drawn."
    )
    draws: int = Field(
        default=3, ge=0, le=50, description="recall.mode persmem: memories that come unasked."
    )


class PersMem(Part):
    """How personality acts on memory: docs/persmem.md."""

    gate: Gate = Field(default=Gate(), description="The redirection gate.")
    switches: Switches = Field(default=Switches(), description="What is switched on.")
    gains: Literal["paper", "human", "reference"] = Field(
        default="paper",
        description="How traits become gains of the passive score: docs/persmem-calibration.md. "
        "`paper`: large effects; `human`: small ones, big_five only; `reference`: the same gains "
        "for all.",
    )
    appraisal: Appraisal = Field(default=Appraisal(), description="Traits in the appraisal.")
    retention: Retention = Field(default=Retention(), description="What slows the fading.")
    passive: Passive = Field(default=Passive(), description="The passive score and its draw.")
    rate: Unit = Field(
        default=0.5, description="Share of a new appraisal in the affective state (lambda)."
    )
    max_steps: int = Field(
        default=5, ge=0, le=50, description="recall.mode persmem: longest active search, in steps."
    )
    controller: Literal["rule", "model"] = Field(
        default="rule",
        description="recall.mode persmem: who says what the search looks for next; `model` asks "
        "the language model of the cheap tier.",
    )
