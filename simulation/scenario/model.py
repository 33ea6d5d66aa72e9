"""What a scenario can say: frozen, validated values with their defaults.

Every default stands here, once; `simulation schema` and docs/scenario.md are made from this file.
Cross-references (does this claim exist? is this file there?) are checked in `checks.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import Discriminator, Field, Tag

from simulation.scenario.models import Budget, Calls, Log, Models, ModelSpec, Temperature
from simulation.scenario.parts import (
    VISIBLE_PATTERN,
    Identifier,
    NonNegative,
    Part,
    Positive,
    Signed,
    Text,
    Ticks,
    Unit,
    shape,
)
from simulation.scenario.persmem import Affect, PersMem
from simulation.scenario.survey import Survey  # noqa: TC001 - pydantic reads it at run time

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"

FileName = Annotated[str, Field(min_length=1, max_length=1_000, pattern=VISIBLE_PATTERN)]

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
ACTIONS: tuple[Action, ...] = get_args(Action)
Tier = Literal["cheap", "frontier"]
TIERS: tuple[Tier, ...] = get_args(Tier)
Profile = Literal["secure", "anxious", "avoidant", "fearful"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
RecallMode = Literal[
    "product", "gated", "persmem", "hybrid", "semantic", "generative_agents", "random", "none"
]
PersonalityKind = Literal["attachment", "big_five"]
TRAITS: dict[str, tuple[str, ...]] = {
    "attachment": ("anxiety", "avoidance"),
    "big_five": ("O", "C", "E", "A", "N"),
}


def _number_or_column(value: object) -> str | None:
    return "FromColumn" if isinstance(value, Mapping) else shape(value)


def _none_or_personality(value: object) -> str | None:
    if isinstance(value, Mapping | Personality):
        return "Personality"
    return "string" if value == "none" else None


def _belief_source(value: object) -> str | None:
    """Choose the member by its tell-tale key, so that one mistake gives one message."""
    if not isinstance(value, Mapping):
        return shape(value)
    if "distribution" in value:
        return str(value["distribution"]).capitalize()
    if "column" in value:
        return "FromColumn"
    return "ByAttribute" if "by" in value else "object"


class Claim(Part):
    """One checkable statement of the brief; each persona holds a credence for it."""

    id: Identifier = Field(description="Short name, such as C1; stimuli refer to it.")
    text: Text = Field(description="The statement, as personas read it.")
    weights: dict[str, Signed] = Field(
        default_factory=dict,
        description="How a change of this credence moves each dimension, from -1 to 1.",
    )


class Brief(Part):
    """The proposition that the population is asked to judge."""

    brand: Text = Field(description="Who makes the proposition: a product, a party, a measure.")
    proposition: Text = Field(description="What the population is asked to judge, in a sentence.")
    dimensions: tuple[Identifier, ...] = Field(
        default=("value", "fit", "trust"),
        min_length=1,
        max_length=200,
        description="Names of the beliefs in [0, 1] that each persona holds about it.",
    )
    claims: tuple[Claim, ...] = Field(
        default=(), description="Statements that stimuli make; each persona holds a credence."
    )


class Uniform(Part):
    """Uniform between low and high."""

    distribution: Literal["uniform"] = Field(description="Names this distribution.")
    low: Unit = Field(default=0.0, description="Smallest belief.")
    high: Unit = Field(default=1.0, description="Largest belief.")


class Normal(Part):
    """Normal, clipped to [0, 1]."""

    distribution: Literal["normal"] = Field(description="Names this distribution.")
    mean: Unit = Field(description="Mean before clipping.")
    sd: NonNegative = Field(description="Standard deviation before clipping.")


class Beta(Part):
    """Beta with shape parameters a and b."""

    distribution: Literal["beta"] = Field(description="Names this distribution.")
    a: Positive = Field(description="First shape parameter; the mean is a / (a + b).")
    b: Positive = Field(description="Second shape parameter.")


class Choice(Part):
    """One of a few values, for instance two camps."""

    distribution: Literal["choice"] = Field(description="Names this distribution.")
    values: tuple[Unit, ...] = Field(min_length=1, description="The beliefs to choose from.")
    weights: tuple[NonNegative, ...] | None = Field(
        default=None, description="One weight per value; default all equal."
    )


class FromColumn(Part):
    """Read from a column of the population file."""

    column: Text = Field(description="Name of the column.")


class ByAttribute(Part):
    """A mean per attribute value, with a normal spread around it, clipped to [0, 1]."""

    by: Text = Field(description="Name of the attribute.")
    means: dict[str, Unit] = Field(min_length=1, description="Attribute value: mean belief.")
    otherwise: Unit = Field(default=0.5, description="Mean belief at any other value.")
    sd: NonNegative = Field(default=0.0, description="Standard deviation around the mean.")


# The tags are JSON types or class names: `words.py` finds a member of a union by them.
BeliefSource = Annotated[
    Annotated[Unit, Tag("number")]
    | Annotated[Uniform, Tag("Uniform")]
    | Annotated[Normal, Tag("Normal")]
    | Annotated[Beta, Tag("Beta")]
    | Annotated[Choice, Tag("Choice")]
    | Annotated[FromColumn, Tag("FromColumn")]
    | Annotated[ByAttribute, Tag("ByAttribute")],
    Discriminator(_belief_source),
]
Activity = Annotated[
    Annotated[Unit, Tag("number")] | Annotated[FromColumn, Tag("FromColumn")],
    Discriminator(_number_or_column),
]
TierSource = Annotated[
    Annotated[Tier, Tag("string")] | Annotated[FromColumn, Tag("FromColumn")],
    Discriminator(_number_or_column),
]
Beliefs = Annotated[
    Annotated[Unit, Tag("number")] | Annotated[dict[str, BeliefSource], Tag("object")],
    Discriminator(shape),
]


class Personality(Part):
    """A vector of traits per persona, each in [0, 1]: fixed, drawn, or read from the file.

    The values come from one place: a profile, numbers, a sample, columns, shares, or by attribute.
    """

    kind: PersonalityKind = Field(
        description="`attachment`: anxiety and avoidance. `big_five`: O, C, E, A and N."
    )
    sample: bool = Field(
        default=False,
        description="Draw from the joint distribution of real people: docs/personality.md.",
    )
    columns: dict[str, Text] | None = Field(
        default=None, description="Trait: column of the population file, with numbers from 0 to 1."
    )
    profile: Profile | None = Field(
        default=None, description="attachment: the same named profile for everyone."
    )
    anxiety: Unit | None = Field(default=None, description="attachment: the same for everyone.")
    avoidance: Unit | None = Field(default=None, description="attachment: the same for everyone.")
    shares: dict[str, NonNegative] | None = Field(
        default=None,
        description="attachment: profile: its share, drawn with the seed; shares are scaled to 1.",
    )
    by: Text | None = Field(
        default=None, description="attachment: attribute that decides the profile."
    )
    profiles: dict[str, Profile] | None = Field(
        default=None, min_length=1, description="attachment: value of `by`: profile."
    )
    otherwise: Profile | None = Field(
        default=None,
        description="attachment: profile at any other value; without it, every persona needs one.",
    )
    O: Unit | None = Field(  # noqa: E741  (the field's own name of the trait)
        default=None, description="big_five: openness, the same for everyone."
    )
    C: Unit | None = Field(
        default=None, description="big_five: conscientiousness, the same for everyone."
    )
    E: Unit | None = Field(
        default=None, description="big_five: extraversion, the same for everyone."
    )
    A: Unit | None = Field(
        default=None, description="big_five: agreeableness, the same for everyone."
    )
    N: Unit | None = Field(
        default=None, description="big_five: neuroticism, the same for everyone."
    )


PersonalitySource = Annotated[
    Annotated[Literal["none"], Tag("string")] | Annotated[Personality, Tag("Personality")],
    Discriminator(_none_or_personality),
]


class Population(Part):
    """Who takes part."""

    size: int | None = Field(
        default=None,
        ge=0,
        le=10_000_000,
        description="Number of personas; for a file: take this many, drawn with the seed.",
    )
    source: FileName = Field(
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
    activity: Activity = Field(default=1.0, description="Chance to take a turn in a tick.")
    tier: TierSource | None = Field(
        default=None, description="Tier of each persona; default: the scenario's."
    )
    beliefs: Beliefs = Field(
        default=0.5, description="Beliefs at tick 0: one number, or a source per target."
    )
    personality: PersonalitySource = Field(
        default="none", description="What personality acts on memory: none, or a kind."
    )


class Graph(Part):
    """Who follows whom. An undirected tie is two follows."""

    kind: Literal[
        "none", "watts_strogatz", "barabasi_albert", "stochastic_block", "homophily", "edges"
    ] = Field(
        default="watts_strogatz",
        description="Small world, scale-free, groups by attribute, similar people, a file of "
        "edges, or no ties at all.",
    )
    degree: int = Field(
        default=8,
        ge=0,
        le=1_000_000,
        description="Mean number of ties of a persona (all kinds but edges).",
    )
    rewire: Unit = Field(default=0.1, description="watts_strogatz: chance to rewire a tie.")
    by: tuple[Text, ...] = Field(
        default=(), description="stochastic_block, homophily: attributes that make a group."
    )
    within: Unit = Field(
        default=0.8,
        description="stochastic_block, homophily: share of ties inside the own group.",
    )
    file: FileName | None = Field(
        default=None, description="edges: a file of `source target` lines."
    )
    directed: bool = Field(default=False, description="edges: a line is one follow, not two.")
    assign: Literal["by_id", "permutation"] = Field(
        default="by_id",
        description="edges: node ids are persona ids, or personas sorted by id take the sorted "
        "nodes in a seeded permutation and unused nodes drop.",
    )


class Feed(Part):
    """What a persona sees: posts, messages and stimuli since it last looked, ranked and cut."""

    size: int = Field(default=5, ge=1, le=100, description="Items shown in a turn, at most.")
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

    id: Identifier | None = Field(
        default=None,
        description="Short name; default s1, s2 and so on by place. With several ticks, each "
        "appearance is ID-TICK.",
    )
    tick: Ticks = Field(description="Tick, or ticks, at which it appears.")
    kind: Literal["post", "ad", "news", "question", "review", "correction"] = Field(
        default="post", description="What it is; sets how far it is believed by default."
    )
    source: Text = Field(default="brand", description="Who speaks, as personas see it.")
    text: Text = Field(description="What it says, as personas read it.")
    claim: str | None = Field(
        default=None, description="Claim of the brief that it is about, by id; default none."
    )
    stance: Signed | None = Field(
        default=None,
        description="-1 denies the claim, 1 affirms it; default by kind: correction -1, question "
        "0, all others 1.",
    )
    credibility: Unit | None = Field(
        default=None, description="Of the source; default by kind (rule.credibility)."
    )
    reach: Unit = Field(default=1.0, description="Share of the audience that is shown it.")
    audience: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Attribute: values, or bands of a number; empty means everyone.",
    )


class SlotsPerTier(Part):
    """Recalled memories per turn."""

    cheap: int = Field(default=3, ge=0, le=50, description="For personas of the cheap tier.")
    frontier: int = Field(default=8, ge=0, le=50, description="For personas of the frontier tier.")


class Recall(Part):
    """Which memories come back (docs/turn.md, "What comes back"; docs/persmem.md)."""

    mode: RecallMode | None = Field(
        default=None,
        description="`product`: recency times importance times relevance; `gated`: that, with "
        "memories that come unasked; `persmem`: passive and active retrieval; `hybrid`: words, "
        "cosine and neighbours of a tick; `semantic`: cosine only; "
        "`generative_agents`: min-max normalised sum; `random`, `none`: controls. Default "
        "gated where personas have a personality, else product.",
    )
    k: SlotsPerTier = Field(
        default=SlotsPerTier(),
        description="Memories recalled in a turn, by tier; persmem takes what it finds.",
    )
    tau: Positive | None = Field(
        default=None, description="Time constant in ticks; default max(1, horizon / 4)."
    )


class Importance(Part):
    """How much a turn matters to the memory of it (docs/turn.md, "What it remembers")."""

    ignore: Unit = Field(default=0.05, description="ignore")
    react: Unit = Field(default=0.2, description="like, upvote, downvote, follow")
    repost: Unit = Field(default=0.3, description="repost")
    say: Unit = Field(
        default=0.5, description="answer, post, comment, reply, quote, ask_peer, complain"
    )
    decide: Unit = Field(default=0.7, description="buy, reject")
    move: NonNegative = Field(default=0.6, description="Times the largest applied change.")


class Memory(Part):
    """The store of episodes (docs/turn.md, "What it remembers")."""

    cap: int = Field(
        default=50, ge=1, le=1000, description="Memories kept per persona; then some are evicted."
    )
    reflection_cap: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Most reflections kept per persona; default no limit.",
    )
    importance: Importance = Field(
        default=Importance(), description="Importance of a turn's memory, by its action."
    )
    units: bool = Field(
        default=True,
        description="Whether personas settle attitudes beside their episodes: docs/attitudes.md.",
    )


class Units(Part):
    """Settled attitudes, as confidence-weighted memory units: docs/attitudes.md."""

    extractor: Literal["rule", "model"] = Field(
        default="rule",
        description="Who says what a post says: `rule` goes by its claim and stance, or by words; "
        "`model` asks the language model of the cheap tier, once for each post.",
    )
    read: Unit = Field(
        default=0.3, description="What evidence that is only read keeps of its strength."
    )
    act: Unit = Field(
        default=0.6, description="What evidence in own words and deeds keeps of its strength."
    )
    weight_cap: Positive = Field(
        default=12.0, description="Largest weight of an attitude; the lower, the sooner it turns."
    )
    merge_similarity: Signed = Field(
        default=0.8,
        description="Least cosine of the summaries of two attitudes to one object that merge.",
    )
    delete_entropy: Annotated[float, Field(ge=0.0, le=2.0, allow_inf_nan=False)] = Field(
        default=1.4, description="Belief entropy, in bits, from which on an attitude may be noise."
    )
    delete_weight: NonNegative = Field(
        default=0.75, description="Largest weight of an attitude that is noise."
    )
    delete_after: int = Field(
        default=5, ge=1, le=1_000_000, description="Ticks without news after which noise is gone."
    )
    shown: int = Field(
        default=5, ge=0, le=50, description="Attitudes put before a persona in a turn, at most."
    )


class Reflection(Part):
    """When a persona consolidates (docs/turn.md, "When it reflects")."""

    interval_min: int = Field(
        default=4,
        ge=1,
        le=1_000_000,
        description="Shortest interval between reflections, in turns.",
    )
    interval_spread: int = Field(
        default=5,
        ge=1,
        le=256,
        description="Number of different intervals; personas are spread over them.",
    )
    sharp_move: Unit = Field(
        default=0.3,
        description="A belief change of more than this in one turn triggers a reflection.",
    )
    importance: Unit = Field(default=0.85, description="Importance of a reflection's memory.")


class Probes(Part):
    """Drift probes (docs/turn.md, "Probes")."""

    share: Unit = Field(default=0.02, description="Of the active personas; 0 turns probes off.")
    every: int = Field(
        default=10, ge=1, le=1_000_000, description="Ticks between two rounds of probes."
    )
    questions: int = Field(
        default=2, ge=1, le=10, description="Questions put to a probed persona."
    )


class Encoder(Part):
    """The sentence encoder, chosen by name."""

    name: Literal["static", "ngram", "sentence_transformers", "openai"] = Field(
        default="static",
        description="`static` ships with the engine, so does `ngram`, which uses no trained "
        "vectors; `sentence_transformers` is an extra; "
        "`openai` is any embeddings endpoint.",
    )
    model: Text | None = Field(
        default=None,
        description="Model name, or a model folder; default the encoder's own. "
        "`openai` needs one.",
    )
    base_url: Text | None = Field(
        default=None, description="openai: address of a compatible server."
    )
    batch_size: int | None = Field(
        default=None,
        ge=1,
        le=2048,
        description="Texts embedded in one call; default 1 for sentence_transformers (so that a "
        "text has one vector whatever stands beside it), 128 for openai.",
    )


class Credibility(Part):
    """How far a source is believed when nothing else is said, by kind of item."""

    post: Unit = Field(default=0.5, description="Of a stimulus of kind post.")
    ad: Unit = Field(default=0.35, description="Of a stimulus of kind ad.")
    news: Unit = Field(default=0.7, description="Of a stimulus of kind news.")
    question: Unit = Field(default=0.5, description="Of a stimulus of kind question.")
    review: Unit = Field(default=0.6, description="Of a stimulus of kind review.")
    correction: Unit = Field(default=0.7, description="Of a stimulus of kind correction.")
    peer: Unit = Field(default=0.6, description="Of what another persona says.")


class Rule(Part):
    """Parameters of the embedded opinion model; docs/rule-model.md explains each."""

    persuasion: Unit = Field(
        default=0.5,
        description="Largest share of the gap that all messages of a turn on one claim close.",
    )
    judgement: NonNegative = Field(
        default=0.4,
        description="Spread, between personas, of how plausible a claim is to them, whatever is "
        "said: it shifts the position that messages from outside the population reach.",
    )
    influence: Unit = Field(default=0.15, description="Pull towards the mean stance of peers.")
    confidence: Unit = Field(
        default=0.45,
        description="Bounded confidence: peers farther than this neither persuade nor pull.",
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
    spillover: Unit = Field(default=0.8, description="From credences to dimensions, by weights.")
    consolidation: Unit = Field(
        default=0.15, description="Reflection: how far what moved is sharpened."
    )
    dispersion: NonNegative = Field(
        default=0.25, description="Spread of unexplained differences between personas."
    )
    choice_temperature: Positive = Field(default=0.35, description="Noise in choosing an action.")
    buy_threshold: Unit = Field(default=0.65, description="Appeal at which buying is even.")
    reject_threshold: Unit = Field(default=0.35, description="Appeal at which rejecting is even.")
    drift_rate: Unit = Field(
        default=0.0, description="Chance to contradict an own attribute when probed."
    )
    credibility: Credibility = Field(
        default=Credibility(), description="How far a source is believed by default."
    )


class Scenario(Part):
    """One YAML file: everything that a run depends on, but the seed given on the command line."""

    name: Annotated[str, Field(pattern=NAME_PATTERN)] = Field(
        description="Name of the scenario; run databases are named after it."
    )
    description: str = Field(
        default="", max_length=20_000, description="The story behind it, for readers."
    )
    seed: int = Field(
        default=0,
        ge=-(2**63),
        le=2**63 - 1,
        description="Seed of every random stream; --seed takes precedence.",
    )
    horizon: int = Field(ge=1, le=100_000, description="Number of ticks.")
    brief: Brief = Field(description="The proposition that the population is asked to judge.")
    ontology: FileName = Field(
        description="Name of an ontology that ships with the engine, or a YAML file."
    )
    population: Population = Field(description="Who takes part.")
    graph: Graph = Field(default=Graph(), description="Who follows whom.")
    feed: Feed = Field(default=Feed(), description="What a persona sees in a turn.")
    actions: tuple[Action, ...] = Field(
        default=ACTIONS, min_length=1, description="What personas can do; default all 15."
    )
    final_actions: bool = Field(default=True, description="buy and reject can happen once only.")
    stimuli: tuple[Stimulus, ...] = Field(
        default=(), description="Events from outside the population, by tick."
    )
    recall: Recall = Field(default=Recall(), description="Which memories come back.")
    affect: Affect = Field(default=Affect(), description="How the feeling of a text is told.")
    persmem: PersMem = Field(
        default=PersMem(), description="How personality acts on memory: docs/persmem.md."
    )
    memory: Memory = Field(default=Memory(), description="What is kept of episodes.")
    units: Units = Field(default=Units(), description="Settled attitudes: docs/attitudes.md.")
    reflection: Reflection = Field(
        default=Reflection(), description="When a persona consolidates."
    )
    probes: Probes = Field(default=Probes(), description="Drift probes.")
    surveys: tuple[Survey, ...] = Field(
        default=(), description="Questions to the population, by tick: docs/surveys.md."
    )
    encoder: Encoder = Field(default=Encoder(), description="The sentence encoder.")
    models: Models = Field(default=Models(), description="The model of each tier.")
    temperature: Temperature | None = Field(
        default=None,
        description="Sampling temperature of models that name none; default the provider's.",
    )
    budget: Budget = Field(default=Budget(), description="What may be spent.")
    calls: Calls = Field(default=Calls(), description="How language models are called.")
    log: Log = Field(default=Log(), description="What is logged.")
    tier: Tier = Field(
        default="cheap", description="Tier of every persona that has none of its own."
    )
    rule: Rule = Field(default=Rule(), description="Parameters of the embedded opinion model.")

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of all beliefs: the dimensions, then the claims."""
        return (*self.brief.dimensions, *(claim.id for claim in self.brief.claims))

    @property
    def recall_mode(self) -> RecallMode:
        """How memories come back: what is written, or what suits the personas (method.md 8)."""
        if self.recall.mode is not None:
            return self.recall.mode
        return "product" if self.population.personality == "none" else "gated"

    @property
    def tau(self) -> float:
        """Time constant of recency, in ticks: `recall.tau`, or its default."""
        return self.recall.tau or max(1.0, self.horizon / 4)

    @property
    def languages(self) -> dict[Tier, ModelSpec]:
        """The tiers that ask a language model, and which; empty when all is by rule."""
        named = {
            tier: self.models.cheap if tier == "cheap" else self.models.frontier for tier in TIERS
        }
        return {tier: spec for tier, spec in named.items() if spec.provider != "rule"}
