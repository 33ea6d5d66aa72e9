"""The prompt of a turn: what a persona sees, remembers and can do."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from simulation.models.batches import FRONTIER, choices
from simulation.prompts.fences import cut, fenced, names, titled
from simulation.prompts.parts import beliefs, keys, persona_prompt

if TYPE_CHECKING:
    from simulation.models.base import Cast, TurnRequests
    from simulation.providers.base import Prompt

MAX_FELT_MEMORY = 120  # of a memory that is told with how it felt (PersMem, C.9)
MAX_NAME = 100
_DEEDS = {
    "ignore": "do nothing; no target",
    "like": "show that you like a post; target: the id of a post",
    "upvote": "rate a post up; target: the id of a post",
    "downvote": "rate a post down; target: the id of a post",
    "follow": "see from now on what somebody posts",
    "repost": "show a post to those who follow you; target: the id of a post",
    "answer": "answer a question you were asked, in words",
    "post": "say something of your own to those who follow you, in words; no target",
    "comment": "comment on a post, in words; target: the id of a post",
    "reply": "reply to the author of a post, in words; target: the id of a post",
    "quote": "repost with words of your own; target: the id of a post",
    "ask_peer": "ask somebody you know a question, in words",
    "complain": "complain to the brand in public, in words; no target",
    "buy": "decide for the proposition: buy, take part, vote for it; no target",
    "reject": "decide against the proposition; no target",
}
_LINES = {action: f"- {action}: {deed}" for action, deed in _DEEDS.items()}
_LISTED = ("follow", "answer", "ask_peer")  # not every post or author is a target of these
# How a state is told, by valence, arousal and dominance, and the bounds between the words
# (PersMem, C.9). A value on a bound counts as the middle one.
_MOODS = (
    ((-0.2, 0.2), ("bad", "neither bad nor good", "good")),
    ((0.3, 0.6), ("calm", "awake", "stirred up")),
    ((0.4, 0.6), ("not in control of things", "somewhat in control", "in control of things")),
)
_FEELINGS = ((-0.2, 0.2), ("negative", "neutral", "positive"))


def turn(requests: TurnRequests, i: int) -> Prompt:
    """Return the prompt of the i-th turn.

    Raises:
        EmptyPersonaBlockError: the persona has no block (method.md 6).
    """
    cast, row = requests.cast, int(requests.row[i])
    clock = f"Now: tick {requests.tick} of {requests.horizon}, your turn {requests.turn_no[i]}"
    return persona_prompt(
        cast,
        row,
        titled(clock, ["What you believe:", *beliefs(cast, requests.beliefs[i])]),
        *_mood(requests, i),
        titled("What comes to your mind", _recalled(requests, i)),
        *_settled(requests, i),
        titled("What is before you", _feed(requests, i)),
        titled("What you can do", _deeds(requests, i)),
        _reaction_shape(keys(cast, "0"), rated=bool(requests.tier[i] == FRONTIER)),
    )


def _recalled(requests: TurnRequests, i: int) -> list[str]:
    """Return the recalled memories, best first."""
    recalled = requests.recalled
    slots = zip(recalled.text[i].tolist(), recalled.tick[i].tolist(), strict=True)
    found = [
        _memory(requests, i, slot, text, tick)
        for slot, (text, tick) in enumerate(slots)
        if text >= 0
    ]
    return found or ["Nothing in particular."]


def _memory(requests: TurnRequests, i: int, slot: int, text: int, tick: int) -> str:
    """Return one memory; to a persona with a personality its beginning, and how it felt."""
    words, valence = requests.text(text), requests.recalled.valence
    if valence is None:
        return fenced("memory", cut(words), tick=str(tick))
    felt = _coarse(float(valence[i, slot]), *_FEELINGS)
    return fenced("memory", words[:MAX_FELT_MEMORY], tick=str(tick), felt=felt)


def _settled(requests: TurnRequests, i: int) -> list[str]:
    """Return what the persona has settled about what is before it; nothing while that is nothing.

    The view of a peer does not name it, the mark does.
    """
    found = requests.attitudes.words(i) if requests.attitudes is not None else ()
    lines = [fenced("attitude", cut(view), about=name[:MAX_NAME]) for name, view in found]
    return [titled("What you have come to feel about it", lines)] if lines else []


def _mood(requests: TurnRequests, i: int) -> list[str]:
    """Return how the persona feels, in words; nothing for one without a personality."""
    if requests.state is None:
        return []
    values = requests.state[i].tolist()
    words = [_coarse(value, *scale) for value, scale in zip(values, _MOODS, strict=True)]
    return [titled("How you feel", [f"You feel {words[0]}, {words[1]} and {words[2]}."])]


def _coarse(value: float, bounds: tuple[float, float], words: tuple[str, str, str]) -> str:
    """Return the first word below both bounds, the last above both, else the middle one."""
    low, high = bounds
    return words[0] if value < low else words[2] if value > high else words[1]


def _feed(requests: TurnRequests, i: int) -> list[str]:
    """Return the items of the feed, best first; with none, what the persona thinks of instead."""
    posts = requests.feed.post[i].tolist()
    items = [_item(requests, i, slot, post) for slot, post in enumerate(posts) if post >= 0]
    if items:
        return ["Your feed, best first:", *items]
    stimulus = fenced("thought", cut(requests.text(int(requests.stimulus[i]))))
    return ["Your feed is empty. You think of:", stimulus]


def _item(requests: TurnRequests, i: int, slot: int, post: int) -> str:
    """Return one item of a feed: what was published and by whom, nothing else about the author.

    The stance of an item stays out: a persona's own is its credence, which nobody else can see.
    """
    feed, cast, at = requests.feed, requests.cast, (i, slot)
    kind = "question to you" if feed.question[at] else "post"
    marks = {
        "number": str(slot + 1),
        "id": str(post),
        "kind": "advertisement" if feed.sponsored[at] else kind,
        "from": feed.source_names(post)[:MAX_NAME],
    }
    if (author := feed.author.item(at)) >= 0:
        marks["persona"] = cast.ids[author]
    if (origin := feed.origin.item(at)) >= 0:
        marks["with_words_of"] = cast.ids[origin]
    if (claim := feed.claim.item(at)) >= 0:
        marks["about"] = cast.claims[claim]
    return fenced("post", cut(requests.text(feed.text.item(at))), **marks)


def _deeds(requests: TurnRequests, i: int) -> list[str]:
    """Return what can be done now, and with which targets."""
    return [
        _LINES[action] + (_options(requests.cast, action, targets) if action in _LISTED else "")
        for action, targets in choices(requests, i).items()
    ]


def _options(cast: Cast, action: str, targets: tuple[int, ...]) -> str:
    """Return the targets of an action of those in `_LISTED`."""
    if action == "answer":
        return f"; target: one of {', '.join(str(post) for post in targets)}"
    return f"; target: one of {names(cast.ids[row] for row in targets)}"


@lru_cache(maxsize=8)  # the same for all personas of a run and tier
def _reaction_shape(beliefs: str, *, rated: bool) -> str:
    """Return the shape of an answer to a turn.

    Keys as a list and no sample of a text: small models copy what stands in the place of words.

    beliefs: their names, with a 0 each.  rated: whether importance is asked for.
    """
    lines = [
        "Answer with one JSON object that has these keys:",
        '- "action": one of the above',
        '- "target": the id of its target, as text; null if it has none',
        '- "words": one to three sentences of your own, in the first person, said or only thought',
        '- "changes": how far each belief moves, from -1 to 1, 0 if it stays:',
        f"  {{{beliefs}}}",
    ]
    if rated:
        lines.append('- "importance": from 0 to 1, how much this will stay with you')
    return titled("What do you do?", lines)
