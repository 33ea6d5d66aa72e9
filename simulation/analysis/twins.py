"""One of two runs of the same people, laid out so that the two can be compared tick by tick.

What a persona did, wrote or saw in a tick is one 64-bit mark; marks are compared, not texts. A
post is known by a key that does not depend on how many others were published: author and tick, or
the event of the scenario that it is.
"""

# ruff: noqa: S608 - the queries are put together from our own words alone

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.errors import RunFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.runlog import RunFile

# A persona publishes once a tick. "\x1f" stands in no id that a file or an ontology gives.
_KEYS = """
keys AS (
    SELECT post_id, coalesce('event' || chr(31) || stimulus_id,
            author || chr(31) || CAST(tick AS VARCHAR)) AS key,
        hash(kind, claim_id, text, valence, credibility, addressee) AS content,
        author, coalesce(stimulus_id, '') AS event, tick, kind, text
    FROM posts
)
"""
_MARKS = {
    "turns": f"""
        WITH {_KEYS}
        SELECT turns.tick, persona_index,
            hash(action, coalesce(keys.key, target_id), claim_id, turns.text) AS mark
        FROM turns JOIN personas USING (persona_id) LEFT JOIN keys
            ON action NOT IN ('follow', 'ask_peer') AND post_id = TRY_CAST(target_id AS BIGINT)
    """,
    "memories": """
        SELECT tick, persona_index,
            hash(list(hash(kind, text, importance, claim_id, stance, valence, arousal, dominance)
                ORDER BY memory_id)) AS mark
        FROM memories JOIN personas USING (persona_id) GROUP BY ALL
    """,
    "feeds": f"""
        WITH {_KEYS}
        SELECT exposures.tick, persona_index,
            hash(list(hash(key, content) ORDER BY position)) AS mark
        FROM exposures JOIN personas USING (persona_id) JOIN keys USING (post_id) GROUP BY ALL
    """,
}
_FEEDS = f"""
WITH {_KEYS}
SELECT persona_id, key, content, author, event, position
FROM exposures JOIN keys USING (post_id)
WHERE exposures.tick = ? AND persona_id IN (SELECT unnest(CAST(? AS VARCHAR[])))
ORDER BY persona_id, position
"""
_TURN = f"""
WITH {_KEYS}
SELECT action, coalesce(keys.author, target_id) AS target, keys.text AS target_text, turns.text
FROM turns LEFT JOIN keys
    ON action NOT IN ('follow', 'ask_peer') AND post_id = TRY_CAST(target_id AS BIGINT)
WHERE turns.tick = ? AND persona_id = ?
"""
_FOLLOWS = """
SELECT a.persona_index AS follower, b.persona_index AS followed
FROM edges JOIN personas a ON a.persona_id = source JOIN personas b ON b.persona_id = edges.target
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something in a feed. content: a mark of all that it says.  event: its id, "" for a post."""

    key: str
    content: int
    author: str
    event: str
    position: int


Feed = dict[str, Item]


class Twin:
    """One of the two runs, up to the last tick that both hold.

    personas, targets: their ids, by index.
    """

    def __init__(self, run: RunFile, last: int) -> None:
        """Look at a run. last: the last tick, from 0."""
        self.run = run
        self.last = last
        self.personas = self._names("SELECT persona_id FROM personas ORDER BY persona_index")
        self.targets = self._names("SELECT DISTINCT target FROM initial_beliefs ORDER BY 1")

    def marks(self, what: str) -> NDArray[np.uint64]:
        """Return a mark of what each persona did in each tick, (last + 1, P); 0 for nothing.

        what: `turns`, `memories` or `feeds`.
        """
        table = self.run.arrow(
            f"SELECT * FROM ({_MARKS[what]}) WHERE tick <= ?",
            parameters=[self.last],
        )
        marks = np.zeros((self.last + 1, len(self.personas)), np.uint64)
        tick, who, mark = (table.column(i).to_numpy() for i in range(3))
        marks[tick, who] = mark
        return marks

    def beliefs(self) -> NDArray[np.float64]:
        """Return every belief after every tick, (last + 1, P, targets)."""
        return self._beliefs

    @cached_property
    def _beliefs(self) -> NDArray[np.float64]:
        table = self.run.arrow(
            "SELECT belief FROM beliefs JOIN personas USING (persona_id) WHERE tick <= ? "
            "ORDER BY tick, persona_index, target",
            parameters=[self.last],
        )
        shape = (self.last + 1, len(self.personas), len(self.targets))
        if table.num_rows != np.prod(shape):
            raise RunFileError(
                f"{self.run.path} is damaged: beliefs are missing for some personas"
            )
        values: NDArray[np.float64] = table.column("belief").to_numpy().reshape(shape)
        return values

    def digests(self) -> list[str]:
        """Return the state digest after each tick."""
        sql = "SELECT state_digest FROM ticks WHERE tick <= ? ORDER BY tick"
        return [row[0] for row in self.run.query(sql, parameters=[self.last]).rows]

    def feeds_of(self, tick: int, who: Sequence[str]) -> dict[str, Feed]:
        """Return what some personas saw in a tick, by persona and key."""
        feeds: dict[str, Feed] = {}
        for persona, *item in self.run.query(_FEEDS, parameters=[tick, list(who)]).rows:
            key, content, author, event, position = item
            feeds.setdefault(persona, {})[key] = Item(
                key=key, content=content, author=author, event=event, position=position
            )
        return feeds

    def content(self, key: str) -> int | None:
        """Return the mark of what a post says; None where it was never published."""
        return self._contents.get(key)

    @cached_property
    def _contents(self) -> dict[str, int]:
        return dict(self.run.query(f"WITH {_KEYS} SELECT key, content FROM keys").rows)

    def turn(self, tick: int, who: str) -> dict[str, Any] | None:
        """Return what a persona did in a tick, in words; None where it took no turn."""
        found = self.run.query(_TURN, parameters=[tick, who]).dicts()
        return found[0] if found else None

    def follows(self) -> NDArray[np.int64]:
        """Return all follows there ever were, (2, N): who follows whom, by index."""
        table = self.run.arrow(_FOLLOWS)
        columns = [table.column(i).to_numpy().astype(np.int64) for i in range(2)]
        return np.stack(columns)

    def _names(self, sql: str) -> tuple[str, ...]:
        return tuple(str(row[0]) for row in self.run.query(sql).rows)
