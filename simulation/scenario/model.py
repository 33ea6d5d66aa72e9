"""What a scenario can say: frozen, validated values with their defaults.

Every default stands here, once; `simulation schema` and docs/scenario.md are made from this file.
Cross-references (does this claim exist? is this file there?) are checked in `checks.py`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Signed = Annotated[float, Field(ge=-1.0, le=1.0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,31}$")]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]

Action = Literal[
    "ignore",
    "like",
    "upvote",
    "downvote",
    "follow",
    "repost",
    "answer",
    "post",
    "comment",
    "reply",
    "quote",
    "ask_peer",
    "complain",
    "buy",
    "reject",
]
ACTIONS: tuple[Action, ...] = (
    "ignore",
    "like",
    "upvote",
    "downvote",
    "follow",
    "repost",
    "answer",
    "post",
    "comment",
    "reply",
    "quote",
    "ask_peer",
    "complain",
    "buy",
    "reject",
)
Tier = Literal["cheap", "frontier"]
TIERS: tuple[Tier, ...] = ("cheap", "frontier")


class Part(BaseModel):
    """A part of a scenario: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True)


class Claim(Part):
    """One checkable statement of the brief; each persona holds a credence for it."""

    id: Identifier
    text: Text
    weights: dict[str, Signed] = Field(
        default_factory=dict,
        description="How a change of this credence moves each dimension, from -1 to 1.",
    )


class Brief(Part):
    """The proposition that the population is asked to judge."""

    brand: Text
    proposition: Text
    dimensions: tuple[Identifier, ...] = Field(default=("value", "fit", "trust"), min_length=1)
    claims: tuple[Claim, ...] = ()


class Uniform(Part):
    """Uniform between low and high."""

    distribution: Literal["uniform"]
    low: Unit = 0.0
    high: Unit = 1.0


class Normal(Part):
    """Normal, clipped to [0, 1]."""

    distribution: Literal["normal"]
    mean: Unit
    sd: NonNegative


class Beta(Part):
    """Beta with shape parameters a and b."""

    distribution: Literal["beta"]
    a: Positive
    b: Positive


class Choice(Part):
    """One of a few values, for instance two camps."""

    distribution: Literal["choice"]
    values: tuple[Unit, ...] = Field(min_length=1)
    weights: tuple[NonNegative, ...] | None = None


class FromColumn(Part):
    """Read from a column of the population file."""

    column: Text


class ByAttribute(Part):
    """A mean per attribute value, with a normal spread around it, clipped to [0, 1]."""

    by: Text
    means: dict[str, Unit]
    otherwise: Unit = 0.5
    sd: NonNegative = 0.0


BeliefSource = Unit | Uniform | Normal | Beta | Choice | FromColumn | ByAttribute


class Population(Part):
    """Who takes part."""

    size: int | None = Field(
        default=None,
        ge=0,
        le=10_000_000,
        description="Number of personas; for a file: take this many, drawn with the seed.",
    )
    source: Text = Field(
        default="sample",
        description="`sample` draws from the ontology; otherwise a CSV or Parquet file.",
    )
    id_column: Text | None = Field(
        default=None, description="Column with unique ids; without it, rows are numbered in order."
    )
    columns: dict[str, Text] = Field(
        default_factory=dict,
        description="Ontology attribute: column of the file. Default: columns of the same name.",
    )
    activity: Unit | FromColumn = Field(
        default=1.0, description="Chance to take a turn in a tick."
    )
    tier: Tier | FromColumn | None = Field(
        default=None, description="Tier of each persona; default: the scenario's."
    )
    beliefs: Unit | dict[str, BeliefSource] = Field(
        default=0.5, description="Beliefs at tick 0: one number, or a source per target."
    )


class Graph(Part):
    """Who follows whom. An undirected tie is two follows."""

    kind: Literal[
        "none", "watts_strogatz", "barabasi_albert", "stochastic_block", "homophily", "edges"
    ] = "watts_strogatz"
    degree: int = Field(
        default=8, ge=0, description="Mean number of ties of a persona (all kinds but edges)."
    )
    rewire: Unit = Field(default=0.1, description="watts_strogatz: chance to rewire a tie.")
    by: tuple[Text, ...] = Field(
        default=(), description="stochastic_block, homophily: attributes that make a group."
    )
    within: Unit = Field(
        default=0.8,
        description="stochastic_block, homophily: share of ties inside the own group.",
    )
    file: Text | None = Field(default=None, description="edges: a file of `source target` lines.")
    directed: bool = Field(default=False, description="edges: a line is one follow, not two.")
    assign: Literal["by_id", "permutation"] = Field(
        default="by_id",
        description="edges: node ids are persona ids, or personas sorted by id take the sorted "
        "nodes in a seeded permutation and unused nodes drop.",
    )


class Feed(Part):
    """What a persona sees: posts, messages and stimuli since it last looked, ranked and cut."""

    size: int = Field(default=5, ge=1, le=100)
    recent: NonNegative = Field(default=1.0, description="Weight of recency in the ranking.")
    engaging: NonNegative = Field(default=0.5, description="Weight of reactions received.")
    similar: NonNegative = Field(default=1.0, description="Weight of similarity to the persona.")
    stimulus_boost: NonNegative = Field(
        default=1.0, description="Added to the rank of a stimulus: placed media come first."
    )
    addressed_boost: NonNegative = Field(
        default=1.0, description="Added to the rank of a post addressed to the persona."
    )


class Stimulus(Part):
    """An event from outside the population: an ad, a news item, a question."""

    id: Identifier | None = None
    tick: int | tuple[int, ...] = Field(description="Tick, or ticks, at which it appears.")
    kind: Literal["post", "ad", "news", "question", "review", "correction"] = "post"
    source: Text = Field(default="brand", description="Who speaks, as personas see it.")
    text: Text
    claim: str | None = None
    stance: Signed = Field(default=1.0, description="-1 denies the claim, 1 affirms it.")
    credibility: Unit | None = Field(
        default=None, description="Of the source; default by kind (rule.credibility)."
    )
    reach: Unit = Field(default=1.0, description="Share of the audience that is shown it.")
    audience: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Attribute: values; empty means everyone."
    )


class SlotsPerTier(Part):
    """Recalled memories per turn."""

    cheap: int = Field(default=3, ge=0, le=50)
    frontier: int = Field(default=8, ge=0, le=50)


class Recall(Part):
    """Which memories come back (method.md 3)."""

    mode: Literal["product", "semantic", "generative_agents", "random", "none"] = "product"
    k: SlotsPerTier = SlotsPerTier()
    tau: Positive | None = Field(
        default=None, description="Time constant in ticks; default max(1, horizon / 4)."
    )


class Importance(Part):
    """How much a turn matters (method.md 2)."""

    ignore: Unit = 0.05
    react: Unit = Field(default=0.2, description="like, upvote, downvote, follow")
    repost: Unit = 0.3
    say: Unit = Field(
        default=0.5, description="answer, post, comment, reply, quote, ask_peer, complain"
    )
    decide: Unit = Field(default=0.7, description="buy, reject")
    move: NonNegative = Field(default=0.6, description="Times the largest applied change.")


class Memory(Part):
    """The store of episodes (method.md 2)."""

    cap: int = Field(default=50, ge=1, le=1000)
    reflection_cap: int | None = Field(
        default=None, ge=1, description="Most reflections kept per persona; default no limit."
    )
    importance: Importance = Importance()


class Reflection(Part):
    """When a persona consolidates (method.md 4)."""

    interval_min: int = Field(default=4, ge=1)
    interval_spread: int = Field(default=5, ge=1, le=256)
    sharp_move: Unit = 0.3
    importance: Unit = 0.85


class Probes(Part):
    """Drift probes (method.md 5)."""

    share: Unit = Field(default=0.02, description="Of the active personas; 0 turns probes off.")
    every: int = Field(default=10, ge=1)
    questions: int = Field(default=2, ge=1, le=10)


class Encoder(Part):
    """The sentence encoder, chosen by name."""

    name: Literal["static", "sentence_transformers", "openai"] = "static"
    model: Text | None = None
    base_url: Text | None = None
    batch_size: int = Field(default=1, ge=1, le=2048)


class ModelSpec(Part):
    """A language model."""

    provider: Literal["rule", "anthropic", "openai"] = "rule"
    model: Text | None = None
    base_url: Text | None = None
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = None
    max_tokens: int = Field(default=400, ge=1)


class Models(Part):
    """The model of each tier; reflections always use the frontier model."""

    cheap: ModelSpec = ModelSpec()
    frontier: ModelSpec = ModelSpec()


class Credibility(Part):
    """How far a source is believed when nothing else is said, by kind of item."""

    post: Unit = 0.5
    ad: Unit = 0.35
    news: Unit = 0.7
    question: Unit = 0.5
    review: Unit = 0.6
    correction: Unit = 0.7
    peer: Unit = 0.6


class Rule(Part):
    """Parameters of the embedded opinion model; docs/rule-model.md explains each."""

    persuasion: Unit = Field(default=0.35, description="Largest share of the gap one item closes.")
    influence: Unit = Field(default=0.2, description="Pull towards the mean stance of peers.")
    confidence: Unit = Field(
        default=0.6, description="Bounded confidence: peers farther than this do not pull."
    )
    stubbornness: Unit = Field(default=0.0, description="Pull back to the belief of tick 0.")
    attention_floor: Unit = Field(default=0.25, description="Attention to an irrelevant item.")
    trust_floor: Unit = Field(default=0.2, description="What a message keeps at trust 0.")
    confirmation_bias: Unit = Field(
        default=0.5, description="How much a firm opposite belief damps a message."
    )
    repetition: Unit = Field(
        default=0.6, description="Each further hearing of a claim counts this times the last."
    )
    memory: Unit = Field(
        default=0.5, description="How much recalled memories strengthen or weaken a message."
    )
    spillover: Unit = Field(default=0.6, description="From credences to dimensions, by weights.")
    consolidation: Unit = Field(
        default=0.15, description="Reflection: how far what moved is sharpened."
    )
    dispersion: NonNegative = Field(
        default=0.25, description="Spread of unexplained differences between personas."
    )
    choice_temperature: Positive = Field(default=0.35, description="Noise in choosing an action.")
    buy_threshold: Unit = Field(default=0.68, description="Appeal at which buying is even.")
    reject_threshold: Unit = Field(default=0.32, description="Appeal at which rejecting is even.")
    drift_rate: Unit = Field(
        default=0.0, description="Chance to contradict an own attribute when probed."
    )
    credibility: Credibility = Credibility()


class Scenario(Part):
    """One YAML file: everything that a run depends on, but the seed given on the command line."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
    description: str = ""
    seed: int = Field(default=0, ge=-(2**63), le=2**63 - 1)
    horizon: int = Field(ge=1, le=100_000, description="Number of ticks.")
    brief: Brief
    ontology: Text = Field(
        description="Name of an ontology that ships with the engine, or a YAML file."
    )
    population: Population
    graph: Graph = Graph()
    feed: Feed = Feed()
    actions: tuple[Action, ...] = Field(default=ACTIONS, min_length=1)
    final_actions: bool = Field(default=True, description="buy and reject can happen once only.")
    stimuli: tuple[Stimulus, ...] = ()
    recall: Recall = Recall()
    memory: Memory = Memory()
    reflection: Reflection = Reflection()
    probes: Probes = Probes()
    encoder: Encoder = Encoder()
    models: Models = Models()
    tier: Tier = "cheap"
    rule: Rule = Rule()

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of all beliefs: the dimensions, then the claims."""
        return (*self.brief.dimensions, *(claim.id for claim in self.brief.claims))

    @property
    def tau(self) -> float:
        """Time constant of recency, in ticks (method.md 3)."""
        return self.recall.tau or max(1.0, self.horizon / 4)
