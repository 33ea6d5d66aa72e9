"""The rows of a run up to a tick, as columns of numbers: all that its state is made from.

Names become numbers on the way: a persona its place among all personas, a claim or a target its
place in the brief. Nothing here knows what the columns mean to the engine.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.errors import RunFileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from simulation.runlog.reader import RunFile

Columns = dict[str, Any]

_VECTORS = 65_536  # read at a time
_AMBIGUOUS = 10  # spellings of half a surrogate pair in one text that are told apart
_HALF = re.compile(r"\\u(d[89a-f][0-9a-f]{2})")

_PERSONAS = """
SELECT persona_id, attributes, persona_block, block_sha256, personality_kind,
    reflection_interval, activity, CAST(tier = 'frontier' AS BIGINT) AS tier, personality
FROM personas ORDER BY persona_index
"""
_BELIEFS = """
SELECT persona_index, list_position(CAST($1 AS VARCHAR[]), target) - 1 AS target, belief
FROM initial_beliefs JOIN personas USING (persona_id) ORDER BY 1, 2
"""
_EDGES = """
SELECT a.persona_index AS source, b.persona_index AS target, weight, created_tick
FROM edges JOIN personas a ON a.persona_id = source JOIN personas b ON b.persona_id = edges.target
WHERE created_tick <= $1 AND (removed_tick IS NULL OR removed_tick > $1) ORDER BY 1, 2
"""
_TURNS = """
WITH latest AS (
    SELECT persona_id, max(tick) AS tick FROM reflections WHERE tick <= $1 GROUP BY persona_id
)
SELECT persona_index, count(*) AS turns, max(turns.tick) AS last_turn,
    any_value(coalesce(latest.tick, 0)) AS last_reflection,
    count(*) FILTER (turns.tick > coalesce(latest.tick, 0)) AS since_reflection,
    coalesce(arg_max(CASE action WHEN 'buy' THEN 1 ELSE -1 END, turns.tick)
        FILTER (action IN ('buy', 'reject')), 0) AS decided
FROM turns JOIN personas USING (persona_id) LEFT JOIN latest USING (persona_id)
WHERE turns.tick <= $1 GROUP BY persona_index
"""
# Within a tick the reflection comes after the turn, so its value is the tick's last.
_CHANGES = """
WITH latest AS (
    SELECT persona_id, max(tick) AS tick FROM reflections WHERE tick <= $1 GROUP BY persona_id
),
changes AS (
    SELECT persona_id, tick, target, after, 2 * tick + CAST(phase = 'reflection' AS INT) AS place
    FROM belief_changes WHERE tick <= $1
)
SELECT persona_index, list_position(CAST($2 AS VARCHAR[]), target) - 1 AS target,
    arg_max(after, place) AS belief,
    coalesce(arg_max(after, place) FILTER (changes.tick <= latest.tick), CAST('nan' AS DOUBLE))
        AS reflected
FROM changes JOIN personas USING (persona_id) LEFT JOIN latest USING (persona_id)
GROUP BY persona_index, changes.target
"""
_HEARD = """
SELECT persona_index, claim_index, CAST(valence < 0 AS BIGINT) AS side, count(*) AS times
FROM exposures JOIN posts USING (post_id) JOIN claims USING (claim_id)
    JOIN personas USING (persona_id)
WHERE exposures.tick <= $1 GROUP BY ALL
"""
# A turn in quarantine is no failure of its own: the count stands as it was.
_FAILING = """
WITH people AS (
    SELECT persona_id, persona_index,
        CASE WHEN quarantined_tick <= $1 THEN quarantined_tick ELSE 0 END AS since
    FROM personas
),
worked AS (
    SELECT persona_id, max(tick) AS tick FROM turns
    WHERE tick <= $1 AND source <> 'fallback' GROUP BY persona_id
)
SELECT persona_index,
    count(*) FILTER (turns.tick > coalesce(worked.tick, 0) AND (since = 0 OR turns.tick <= since))
        AS failing,
    CAST(any_value(since) AS BIGINT) AS quarantined
FROM turns JOIN people USING (persona_id) LEFT JOIN worked USING (persona_id)
WHERE turns.tick <= $1 GROUP BY persona_index
"""
_STATES = """
SELECT persona_index, arg_max(state_valence, tick) AS valence,
    arg_max(state_arousal, tick) AS arousal, arg_max(state_dominance, tick) AS dominance
FROM affects JOIN personas USING (persona_id)
WHERE phase = 'out' AND tick <= $1 GROUP BY persona_index
"""
_APPRAISALS = """
SELECT embedding_id, valence, arousal, dominance, error FROM appraisals WHERE tick <= $1
ORDER BY embedding_id
"""
_MEMORIES = """
SELECT memory_id, persona_index, tick, kind, importance, embedding_id,
    coalesce(claim_index, -1) AS claim, coalesce(stance, CAST('nan' AS DOUBLE)) AS stance,
    coalesce(valence, CAST('nan' AS DOUBLE)) AS valence,
    coalesce(arousal, CAST('nan' AS DOUBLE)) AS arousal,
    coalesce(dominance, CAST('nan' AS DOUBLE)) AS dominance,
    CAST(specificity = 'overgeneral' AS BIGINT) AS overgeneral
FROM memories JOIN personas USING (persona_id) LEFT JOIN claims USING (claim_id)
WHERE tick <= $1 AND (evicted_tick IS NULL OR evicted_tick > $1) ORDER BY memory_id
"""
_POSTS = """
SELECT post_id, tick,
    CASE WHEN stimulus_id IS NULL THEN writer.persona_index ELSE -1 END AS author, kind,
    coalesce(parent_id, -1) AS parent, coalesce(claim_index, -1) AS claim, embedding_id,
    coalesce(reader.persona_index, -1) AS addressee, coalesce(stimulus_id, '') AS stimulus,
    valence, credibility
FROM posts LEFT JOIN claims USING (claim_id)
    LEFT JOIN personas AS writer ON writer.persona_id = author
    LEFT JOIN personas AS reader ON reader.persona_id = addressee
WHERE tick <= $1 ORDER BY post_id
"""
_ENGAGED = """
SELECT tick, action, TRY_CAST(target_id AS BIGINT) AS post
FROM turns JOIN personas USING (persona_id)
WHERE tick <= $1 AND list_contains(CAST($2 AS VARCHAR[]), action)
ORDER BY tick, persona_index
"""
_EVIDENCE = """
SELECT post_id, tick, object_type, coalesce(claim_index, -1) AS claim_index,
    list_position(CAST($2 AS VARCHAR[]), aspect) - 1 AS aspect,
    positive, negative, neutral, strength, summary
FROM evidence LEFT JOIN claims ON object_type = 'claim' AND claim_id = object
WHERE tick <= $1
"""
_UNITS = """
SELECT unit_id, mine.persona_index, object_type, coalesce(claim_index, -1) AS claim_index,
    coalesce(peers.persona_index, -1) AS peer_index,
    list_position(CAST($2 AS VARCHAR[]), aspect) - 1 AS aspect, created_tick
FROM unit_rows JOIN personas AS mine USING (persona_id)
    LEFT JOIN claims ON object_type = 'claim' AND claim_id = object
    LEFT JOIN personas AS peers ON object_type = 'peer' AND peers.persona_id = object
WHERE created_tick <= $1 ORDER BY unit_id
"""
_UNIT_STATES = """
SELECT unit_id, list_extract(state, 1) AS positive, list_extract(state, 2) AS negative,
    list_extract(state, 3) AS neutral, list_extract(state, 4) AS weight, observations, summary,
    updated, deleted
FROM (
    SELECT unit_id,
        arg_max([positive, negative, neutral, weight], place) AS state,
        arg_max(observations, place) AS observations,
        arg_max(summary, place) AS summary,
        max(tick) FILTER (kind = 'evidence') AS updated,
        CAST(bool_or(kind = 'delete') AS BIGINT) AS deleted
    FROM (SELECT *, struct_pack(tick := tick, step := step) AS place FROM unit_updates)
    WHERE tick <= $1 GROUP BY unit_id
)
ORDER BY unit_id
"""
_MERGES = """
SELECT other_unit_id AS unit_id, unit_id AS heir FROM unit_updates
WHERE kind = 'merge' AND tick <= $1
"""
_STIMULI = """
SELECT stimulus_id, coalesce(stance, CAST('nan' AS DOUBLE)) AS stance, credibility, stream_index
FROM stimuli ORDER BY stream_index
"""
_TEXTS = """
SELECT embedding_id, text, text_sha256, quantised, scale
FROM embedding_rows WHERE tick <= $1 AND embedding_id >= $2 AND embedding_id < $3
ORDER BY embedding_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Embedded texts with ids in a row: the text, its int8 vector (N, width), its scale (N,)."""

    texts: list[str]
    quantised: NDArray[np.int8]
    scale: NDArray[np.float32]


class History:
    """What a run's file holds up to and including a tick.

    Every method returns columns of equal length by name: arrays, and lists of text or JSON. NULL
    is -1 in a column of ids and NaN in one of real numbers.
    """

    def __init__(self, run: RunFile, tick: int) -> None:
        """Look at a run. tick: a whole one of its file, from 0."""
        self.run = run
        self.tick = tick

    def personas(self) -> Columns:
        """Return who takes part, by index."""
        return _columns(self.run, _PERSONAS)

    def initial_beliefs(self, targets: Sequence[str]) -> Columns:
        """Return the beliefs of tick 0, by persona and target."""
        return _columns(self.run, _BELIEFS, list(targets))

    def edges(self) -> Columns:
        """Return who follows whom, by source and target."""
        return self._columns(_EDGES)

    def turns(self) -> Columns:
        """Return counters of those who took a turn."""
        return self._columns(_TURNS)

    def beliefs(self, targets: Sequence[str]) -> Columns:
        """Return beliefs that ever changed: now, and after the last reflection (NaN: at 0)."""
        return self._columns(_CHANGES, list(targets))

    def heard(self) -> Columns:
        """Return how often claims were met, affirmed (side 0) or denied (side 1)."""
        return self._columns(_HEARD)

    def failing(self) -> Columns:
        """Return failed turns in a row, and since when one is in quarantine (0: it is not)."""
        return self._columns(_FAILING)

    def states(self) -> Columns:
        """Return the affective state of those who took a turn with a personality."""
        return self._columns(_STATES)

    def appraisals(self) -> Columns:
        """Return the raw affects of the texts that were appraised, by id."""
        return self._columns(_APPRAISALS)

    def memories(self) -> Columns:
        """Return what is held, by id."""
        return self._columns(_MEMORIES)

    def next_memory(self) -> int:
        """Return the id of the next memory."""
        return self._one("SELECT coalesce(max(memory_id) + 1, 0) FROM memories WHERE tick <= ?")

    def posts(self) -> Columns:
        """Return everything published, by id."""
        return self._columns(_POSTS)

    def engaged(self, actions: Sequence[str]) -> Columns:
        """Return which turns acted on which post, by tick and persona. actions: those that do."""
        return self._columns(_ENGAGED, list(actions))

    def evidence(self, aspects: Sequence[str]) -> Columns:
        """Return what posts say, in no order. aspects: names, by index."""
        return self._columns(_EVIDENCE, list(aspects))

    def units(self, aspects: Sequence[str]) -> Columns:
        """Return all memory units that were founded, by id. aspects: names, by index."""
        return self._columns(_UNITS, list(aspects))

    def unit_states(self) -> Columns:
        """Return how these units stand, or stood when they ended, by id."""
        return self._columns(_UNIT_STATES)

    def merges(self) -> Columns:
        """Return which units were merged into which."""
        return self._columns(_MERGES)

    def stimuli(self) -> Columns:
        """Return the events of the whole run, also those to come."""
        return _columns(self.run, _STIMULI)

    def digest(self) -> str:
        """Return the state digest after the tick.

        Raises:
            RunFileError: the tick is not in the file.
        """
        sql = "SELECT state_digest FROM ticks WHERE tick = ?"
        found = self.run.query(sql, parameters=[self.tick]).rows
        if not found:
            raise RunFileError(f"{self.run.path} is damaged: tick {self.tick} has no digest")
        return str(found[0][0])

    def notes(self) -> tuple[str, ...]:
        """Return what of the input was left out or has no effect."""
        sql = "SELECT detail FROM rejections WHERE tick = 0 AND purpose = 'graph' ORDER BY rowid"
        return tuple(str(row[0]) for row in self.run.query(sql).rows)

    def sources(self) -> dict[str, tuple[str, bytes]]:
        """Return (file name, content) of the files that the run carries, by key.

        Raises:
            RunFileError: a file is not what it was.
        """
        found = {}
        for name, file, sha256, content in self.run.query(
            "SELECT name, file, sha256, content FROM sources ORDER BY name"
        ).rows:
            if hashlib.sha256(content).hexdigest() != sha256:
                raise RunFileError(f"{self.run.path} is damaged: its copy of {file} was changed")
            found[str(name)] = (str(file), bytes(content))
        return found

    def width(self) -> int:
        """Return how many components a vector has; 0 where nothing was embedded."""
        width = "coalesce(any_value(octet_length(quantised)), 0)"
        return self._one(f"SELECT {width} FROM embedding_rows WHERE tick <= ?")  # noqa: S608 - ours

    def vectors(self) -> Iterator[Vectors]:
        """Yield all texts that were embedded, in the order of their ids.

        Raises:
            RunFileError: a text or a vector is missing or is not what it was.
        """
        count = self._one("SELECT count(*) FROM embedding_rows WHERE tick <= ?")
        for start in range(0, count, _VECTORS):
            stop = min(start + _VECTORS, count)
            table = self.run.arrow(_TEXTS, parameters=[self.tick, start, stop])
            if table.num_rows != stop - start:
                raise RunFileError(f"{self.run.path} is damaged: embedded texts are missing")
            texts = [
                self._as_it_was(text, sha256)
                for text, sha256 in zip(
                    table.column("text").to_pylist(),
                    table.column("text_sha256").to_pylist(),
                    strict=True,
                )
            ]
            rows = table.column("quantised").to_pylist()
            if any(len(row) != len(rows[0]) for row in rows):
                raise RunFileError(f"{self.run.path} is damaged: a vector was changed")
            yield Vectors(
                texts=texts,
                quantised=np.frombuffer(b"".join(rows), np.int8).reshape(len(texts), -1),
                scale=table.column("scale").to_numpy(),
            )

    def _as_it_was(self, text: str, sha256: str) -> str:
        r"""Return a text as it was written: half a surrogate pair is stored as `\udXXX`."""
        for spelling in _spellings(text):
            if _sha256(spelling) == sha256:
                return spelling
        raise RunFileError(f"{self.run.path} is damaged: the text {text[:40]!r} was changed")

    def _columns(self, sql: str, *parameters: Any) -> Columns:
        return _columns(self.run, sql, self.tick, *parameters)

    def _one(self, sql: str) -> int:
        return int(self.run.query(sql, parameters=[self.tick]).rows[0][0])


def _spellings(text: str) -> Iterator[str]:
    r"""Yield what a stored text may have been, likeliest first.

    Each `\udXXX` may be half a surrogate pair, or have been written so; of the first few any.
    """
    yield text
    halves = list(_HALF.finditer(text)) if "\\ud" in text else []
    rest = [True] * len(halves[_AMBIGUOUS:])
    for real in itertools.product((True, False), repeat=len(halves[:_AMBIGUOUS])):
        parts, end = [], 0
        for half, is_real in zip(halves, (*real, *rest), strict=True):
            parts += [text[end : half.start()], chr(int(half[1], 16)) if is_real else half[0]]
            end = half.end()
        yield "".join([*parts, text[end:]])


def _columns(run: RunFile, sql: str, *parameters: Any) -> Columns:
    table = run.arrow(sql, parameters=parameters)
    return {name: _values(table.column(name)) for name in table.column_names}


def _values(column: Any) -> Any:
    """Return numbers as an array, anything else as a list."""
    kind = str(column.type)
    if kind == "string" or "list" in kind:
        return column.to_pylist()
    return np.asarray(column.to_numpy(), np.float64 if kind == "double" else np.int64)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
