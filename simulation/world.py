"""World: all mutable state of a run, as arrays over personas, and its digest.

Rows are personas sorted by id. Everything here can be rebuilt from the rows of the run database;
nothing else influences the next tick.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.mind.affect import NEUTRAL_STATE
from simulation.posts import PostLog

if TYPE_CHECKING:
    from simulation.disposition import Disposition
    from simulation.graph import Follows
    from simulation.memory import MemoryStore
    from simulation.models.base import Cast
    from simulation.personality import Personalities
    from simulation.regards import Regards
    from simulation.texts import Texts

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

DIGEST_VERSION = b"simulation state 1\n"


@dataclass(slots=True, kw_only=True)
class Network:
    """Who follows whom, and since when: edges sorted by (source, target)."""

    personas: int
    source: IntArray
    target: IntArray
    weight: FloatArray
    created: IntArray
    offsets: IntArray = field(init=False)

    def __post_init__(self) -> None:
        """Index the edges by their source."""
        self.offsets = np.searchsorted(self.source, np.arange(self.personas + 1))

    @classmethod
    def of(cls, follows: Follows, personas: int) -> Network:
        """Return the network at tick 0."""
        return cls(
            personas=personas,
            source=np.array(follows.source, dtype=np.int64),
            target=np.array(follows.target, dtype=np.int64),
            weight=np.array(follows.weight, dtype=np.float64),
            created=np.zeros(len(follows.source), dtype=np.int64),
        )

    def has(self, source: IntArray, target: IntArray) -> BoolArray:
        """Return whether `source` follows `target`, elementwise; False for a negative target."""
        if not len(self.source):
            return np.zeros(np.broadcast_shapes(source.shape, target.shape), dtype=bool)
        wanted = source * np.int64(self.personas) + target
        keys = self._keys()
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.asarray((keys[place] == wanted) & (target >= 0))

    def add(self, source: IntArray, target: IntArray, *, tick: int) -> None:
        """Add follows that are not there yet, (N,) distinct pairs."""
        if not len(source):
            return
        self.source = np.concatenate([self.source, source])
        self.target = np.concatenate([self.target, target])
        self.weight = np.concatenate([self.weight, np.ones(len(source))])
        self.created = np.concatenate([self.created, np.full(len(source), tick, dtype=np.int64)])
        order = np.argsort(self._keys(), kind="stable")
        self.source, self.target = self.source[order], self.target[order]
        self.weight, self.created = self.weight[order], self.created[order]
        self.offsets = np.searchsorted(self.source, np.arange(self.personas + 1))

    def _keys(self) -> IntArray:
        return self.source * np.int64(self.personas) + self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A stimulus: something that reaches the population from outside at `tick`.

    index: of its draws, unique and never another's: a fork that adds events keeps those of its
    parent.  claim: claim index or -1.  stance: [-1, 1].  credibility, reach: [0, 1].  sponsored:
    the brand itself speaks.  audience: (P,) whom it is meant for.
    """

    id: str
    index: int
    tick: int
    kind: str
    source: str
    text: str
    claim: int
    stance: float
    credibility: float
    sponsored: bool
    reach: float
    audience: BoolArray


@dataclass(slots=True, kw_only=True)
class World:
    """The state of a run after `tick`, and what of it never changes.

    personality: of the P personas.  disposition: what it does; None without personality.
    regards: what they have settled about things; None with `memory.units: off`.
    activity: (P,) chance of a turn.  tier: (P,) 0 cheap, 1 frontier.  interval: (P,) turns between
    reflections.  peer_credibility: [0, 1], of what personas publish.  notes: what of the input was
    left out, in words.
    beliefs, initial, reflected: (P, T) now, at tick 0, after the last reflection (or at tick 0).
    heard: (P, C, 2) times each claim was met, affirmed and denied.  turns, since_reflection:
    (P,) counts.  last_turn, last_reflection: (P,) ticks, 0 for never.  decided: (P,) 1 bought,
    -1 rejected, 0 neither; of several the last.  failing: (P,) failed turns in a row.
    quarantined: (P,) tick since when a persona is left to the rule model, 0 for never.
    state: (P, 3) affective state, used with personality only.  block, proposition: text ids.
    shown: post id of a stimulus: (P,) its audience.
    """

    tick: int = 0
    cast: Cast
    events: tuple[Event, ...]
    activity: FloatArray
    tier: IntArray
    interval: IntArray
    peer_credibility: float
    personality: Personalities
    texts: Texts
    memory: MemoryStore
    network: Network
    posts: PostLog = field(default_factory=PostLog)
    beliefs: FloatArray
    initial: FloatArray
    reflected: FloatArray
    heard: FloatArray
    turns: IntArray
    since_reflection: IntArray
    last_turn: IntArray
    last_reflection: IntArray
    decided: IntArray
    failing: IntArray
    quarantined: IntArray
    state: FloatArray
    block: IntArray
    proposition: int
    disposition: Disposition | None = None
    regards: Regards | None = None
    notes: tuple[str, ...] = ()
    shown: dict[int, BoolArray] = field(default_factory=dict)
    journal: bytes = b"\0" * 32

    @classmethod
    def found(  # everything that a run starts from
        cls,
        *,
        cast: Cast,
        events: tuple[Event, ...],
        activity: FloatArray,
        tier: IntArray,
        interval: IntArray,
        beliefs: FloatArray,
        network: Network,
        memory: MemoryStore,
        texts: Texts,
        peer_credibility: float,
        personality: Personalities,
        disposition: Disposition | None = None,
        regards: Regards | None = None,
        notes: tuple[str, ...] = (),
    ) -> World:
        """Return the world at tick 0, before anything happened."""
        count = len(cast.ids)
        never = np.zeros(count, dtype=np.int64)
        return cls(
            cast=cast,
            events=events,
            activity=activity,
            tier=tier,
            interval=interval,
            peer_credibility=peer_credibility,
            personality=personality,
            disposition=disposition,
            regards=regards,
            texts=texts,
            memory=memory,
            network=network,
            beliefs=beliefs.copy(),
            initial=beliefs.copy(),
            reflected=beliefs.copy(),
            heard=np.zeros((count, len(cast.claims), 2)),
            turns=never.copy(),
            since_reflection=never.copy(),
            last_turn=never.copy(),
            last_reflection=never.copy(),
            decided=never.copy(),
            failing=never.copy(),
            quarantined=never.copy(),
            state=np.tile(NEUTRAL_STATE, (count, 1)),
            block=texts.intern(cast.blocks),
            proposition=int(texts.intern([cast.proposition])[0]),
            notes=notes,
        )

    @property
    def personas(self) -> int:
        """Return P."""
        return len(self.cast.ids)

    def digest(self) -> str:
        """Return the SHA-256 of the canonical state, as hexadecimal.

        Bytes, little endian, in this order (docs/run-database.md, "State digest"): the version
        line; the tick, int64; SHA-256 of the persona ids joined by newlines; beliefs, float64;
        heard, turns, since_reflection, last_turn, last_reflection, decided, int64; beliefs after
        the last reflection, float64; per persona the number of held memories, int64, then all
        held memories in order of persona and memory id: memory id, tick, kind, claim, int64,
        importance, stance, float64, and the first 8 bytes of the SHA-256 of the text; edges by
        (source, target): source, target, created tick, int64, weight, float64; and the 32 bytes
        of the journal, which chains all posts and their engagement. In a run with personality, and
        in no other, then: the affective states (valence, arousal, dominance of each persona),
        float64; of the held memories valence, arousal, dominance, float64, overgeneral, int64.
        While a turn of anyone's has failed last or anyone is in quarantine, and else not, then:
        failing, quarantined, int64. In a run with memory units, and in no other, then: the number
        of living units and the id of the next one, int64; per unit in order of ids: unit id,
        persona, object, aspect, observations, created and updated tick, int64, confidence
        (positive, negative, neutral) and weight, float64, the first 8 bytes of the SHA-256 of the
        summary; the index of sides by (persona, object, aspect): this key, and whose it is,
        int64; and the 32 bytes of the journal of evidence, which chains what posts say.
        """
        state = hashlib.sha256(DIGEST_VERSION)
        _feed(state, np.array([self.tick]), "<i8")
        state.update(hashlib.sha256(_joined(self.cast.ids)).digest())
        _feed(state, self.beliefs, "<f8")
        for counter in (
            self.heard,
            self.turns,
            self.since_reflection,
            self.last_turn,
            self.last_reflection,
            self.decided,
        ):
            _feed(state, counter, "<i8")
        _feed(state, self.reflected, "<f8")
        used = np.arange(self.memory.memory_id.shape[1]) < self.memory.count[:, None]
        held = np.flatnonzero(used)
        self._feed_memories(state, held)
        for whole in (self.network.source, self.network.target, self.network.created):
            _feed(state, whole, "<i8")
        _feed(state, self.network.weight, "<f8")
        state.update(self.journal)
        if self.memory.affect:
            self._feed_affects(state, held)
        if self.failing.any() or self.quarantined.any():
            _feed(state, self.failing, "<i8")
            _feed(state, self.quarantined, "<i8")
        if self.regards is not None:
            self._feed_units(state, self.regards)
        return state.hexdigest()

    def _feed_memories(self, state: hashlib._Hash, held: IntArray) -> None:
        store = self.memory
        _feed(state, store.count, "<i8")
        for whole in (store.memory_id, store.tick, store.kind, store.claim):
            _feed(state, whole.take(held), "<i8")
        for real in (store.importance, store.stance):
            _feed(state, real.take(held), "<f8")
        _feed(state, self.texts.key(store.text.take(held)), "<u8")

    def _feed_affects(self, state: hashlib._Hash, held: IntArray) -> None:
        store = self.memory
        _feed(state, self.state, "<f8")
        for real in (store.valence, store.arousal, store.dominance):
            _feed(state, real.take(held), "<f8")
        _feed(state, store.overgeneral.take(held), "<i8")

    def _feed_units(self, state: hashlib._Hash, regards: Regards) -> None:
        store = regards.store
        _feed(state, np.array([len(store), store.next_id]), "<i8")
        for whole in (
            store.unit_id,
            store.persona,
            store.object,
            store.aspect,
            store.observations,
            store.created,
            store.updated,
        ):
            _feed(state, whole, "<i8")
        _feed(state, store.confidence, "<f8")
        _feed(state, store.weight, "<f8")
        _feed(state, self.texts.key(store.summary), "<u8")
        for side in store.keys:
            _feed(state, side, "<i8")
        state.update(regards.said.journal)

    def record(self, published: IntArray, engaged: IntArray, amount: FloatArray) -> None:
        """Chain this tick's posts and engagement into the journal.

        Bytes: the last journal; per column of the new posts (tick, author, kind, parent, claim,
        addressee, stimulus as int64; stance, credibility as float64; the first 8 bytes of the
        SHA-256 of the text); then the posts engaged with, int64, and by how much, float64.
        """
        state = hashlib.sha256(self.journal)
        for name in ("tick", "author", "kind", "parent", "claim", "addressee", "stimulus"):
            _feed(state, self.posts.integers(name)[published], "<i8")
        for name in ("stance", "credibility"):
            _feed(state, self.posts.floats(name)[published], "<f8")
        _feed(state, self.texts.key(self.posts.integers("text")[published]), "<u8")
        _feed(state, engaged, "<i8")
        _feed(state, amount, "<f8")
        self.journal = state.digest()


def _feed(state: hashlib._Hash, values: NDArray[np.generic], kind: str) -> None:
    state.update(np.ascontiguousarray(values, dtype=kind).ravel().data)


def _joined(ids: tuple[str, ...]) -> bytes:
    return "\n".join(ids).encode("utf-8", "surrogatepass")
