"""What an answer copies from its prompt in place of saying something.

Small models fill the shape that they are shown with its own words ("what you say"), with the ids
and numbers that stand near it, or go on writing the prompt. None of that was said by a persona, so
it is refused like an answer that is empty.
"""

from __future__ import annotations

import re

_SHAPES = frozenset(
    {
        "a few words",
        "a few words, as this person",
        "a list of one to three short sentences of your own",
        "a list of one to three short sentences of your own, in the first person",
        "how clearly it is said",
        "how far each belief moves",
        "how much this will stay with you",
        "in the first person",
        "in the first person, said or only thought",
        "null if it has none",
        "one of its aspects",
        "one of the above",
        "one to five sentences",
        "one to five sentences, as this person",
        "one to three sentences",
        "one to three sentences in your own words",
        "one to three sentences in your own words, without a number",
        "one to three sentences of your own",
        "one to three sentences of your own, in the first person",
        "one to three sentences of your own, in the first person, said or only thought",
        "one to three short sentences",
        "said or only thought",
        "sentences of your own",
        "share",
        "short sentences of your own",
        "short sentences of your own, in the first person",
        "the choice",
        "the choice, word for word",
        "the id",
        "the id of its target",
        "the id of its target, as text",
        "the id of its target, as text; null if it has none",
        "the shape above",
        "what does it say",
        "what do you answer",
        "what do you do",
        "what do you make of it",
        "what is said",
        "what is said, in a few words",
        "what is to be done",
        "what you believe",
        "what you believe after thinking it over",
        "what you can do",
        "what you say",
        "what you think",
        "what you will remember",
        "your answer",
        "your feed, best first",
        "your words",
    }
)
"""Texts by which prompts describe an answer, and their titles; without the marks around them."""

_MARKS = " \t\n\"'`*#.,:;!?…<>[](){}-"
_NUMBER = re.compile(r"[\d\s.,:;+-]*\d[\d\s.,:;+-]*")
_TAG = re.compile(r"</?(?:post|memory|persona|thought|claim|brand|proposition|question|reason)\b")
_BELIEF = re.compile(r"\W*[\w ]+: ?[01]\.\d+(?: ?\([a-z ]+\)?)?\W*")
_NAME = re.compile(r"\W*[a-z]+(?:_[a-z]+)+\W*")
_FAULT = re.compile(r"last answer (?:could not be used|was cut off)|cut off after \d+ tokens")


def is_copied(text: str) -> bool:
    """Return whether a text is a part of the prompt, not something that a persona would say.

    >>> [is_copied(text) for text in ("What you say", "C1: 0.50 (undecided)", "1000", "your_post")]
    [True, True, True, True]
    >>> [is_copied(text) for text in ("What you say is wrong.", "10/10", "At 2.49? No.")]
    [False, False, False]
    """
    plain = " ".join(text.replace("_", " ").casefold().split()).strip(_MARKS)
    whole = any(each.fullmatch(text) for each in (_NUMBER, _BELIEF, _NAME))
    return plain in _SHAPES or whole or any(each.search(text) for each in (_TAG, _FAULT))


def is_copied_shape(text: str) -> bool:
    """Return whether a text describes an answer, where a number may be one.

    >>> is_copied_shape('"your answer"'), is_copied_shape("45")
    (True, False)
    """
    return is_copied(text) and _NUMBER.fullmatch(text) is None
