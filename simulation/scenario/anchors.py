"""The anchors that ship: what somebody says at each point of a Likert scale, lowest point first.

Several sets, since one wording alone leads an answer astray by the words that it happens to share;
the mean over sets is steadier. They were chosen on other answers than those that docs/surveys.md
measures them on; their wording is our own.
"""

from __future__ import annotations

from typing import Literal, get_args

AnchorName = Literal["agreement", "likelihood", "purchase_intent"]
ANCHOR_NAMES: tuple[AnchorName, ...] = get_args(AnchorName)

AnchorSets = tuple[tuple[str, ...], ...]

LABELS: dict[AnchorName, tuple[str, ...]] = {
    "agreement": ("strongly disagree", "disagree", "neither", "agree", "strongly agree"),
    "likelihood": ("very unlikely", "unlikely", "even", "likely", "very likely"),
    "purchase_intent": (
        "definitely not",
        "probably not",
        "might or might not",
        "probably",
        "definitely",
    ),
}

ANCHORS: dict[AnchorName, AnchorSets] = {
    "agreement": (
        (
            "I strongly disagree, that is completely wrong.",
            "I disagree, I doubt that it is true.",
            "I neither agree nor disagree, I have no opinion.",
            "I agree, I think it is true.",
            "I strongly agree, that is absolutely right.",
        ),
        (
            "That is utter nonsense and I am totally against it.",
            "Probably not, it does not convince me.",
            "I am in between, there is something on both sides.",
            "Probably yes, there is a good deal in it.",
            "That is exactly right and I am totally for it.",
        ),
        (
            "Wrong and false, I disagree completely, totally against it.",
            "Doubtful, not convincing, I disagree a little.",
            "Neutral, undecided, mixed feelings, no opinion either way.",
            "Plausible and mostly right, I agree on the whole.",
            "Right and true, I agree completely, totally for it, no question.",
        ),
    ),
    "likelihood": (
        (
            "It is very unlikely, almost impossible.",
            "It is rather unlikely, I doubt it.",
            "It is as likely as not, it could go either way.",
            "It is rather likely, I expect it.",
            "It is very likely, almost certain.",
        ),
        (
            "Never, that is out of the question, no way.",
            "I do not think so, I do not expect it.",
            "Maybe, perhaps, it depends, I am not sure.",
            "I think so, I would probably expect it.",
            "Certainly, definitely, of course, without any doubt.",
        ),
        (
            "There is no chance at all, it can never happen.",
            "There is only a small chance, the odds are against it.",
            "The chances are even, fifty-fifty, hard to tell.",
            "There is a good chance, the odds are in favour.",
            "It is sure to happen, one hundred percent.",
        ),
        (
            "I rule it out, I would never do that.",
            "I probably will not, I have doubts.",
            "I might or might not, I am unsure.",
            "I probably will, I can imagine it well.",
            "I am absolutely sure that I will, I guarantee it.",
        ),
        (
            "Impossible, never, certainly not.",
            "Unlikely, I doubt it, probably not.",
            "Possibly, not sure, it depends.",
            "Likely, I think so, probably.",
            "Certain, sure, definitely, without any doubt.",
        ),
    ),
    "purchase_intent": (
        (
            "I would definitely not buy it.",
            "I would probably not buy it.",
            "I might or might not buy it.",
            "I would probably buy it.",
            "I would definitely buy it.",
        ),
        (
            "No, never, I refuse to spend money on this.",
            "I doubt it, it is not really for me.",
            "I am undecided and would have to think about it.",
            "I am rather interested and would like to try it.",
            "Yes, I love it and want it right away.",
        ),
        (
            "It's very unlikely that I would ever purchase this.",
            "It's somewhat unlikely that I would purchase this.",
            "I am neutral and could go either way about purchasing this.",
            "It's somewhat likely that I would purchase this.",
            "It's very likely that I would purchase this, I am sure.",
        ),
        (
            "Never, absolutely not, a waste of money, I refuse and reject it.",
            "Probably not, not very interested, too expensive, little value to me.",
            "Not sure, undecided, maybe or maybe not, I would have to think.",
            "Probably yes, somewhat interested, I like it and might give it a try.",
            "Definitely yes, I love it, I want it now and will order it for sure.",
        ),
        (
            "I am certain that I will not purchase it, no use for it.",
            "I do not think that I would purchase it.",
            "I don't know whether I would purchase it.",
            "I think that I would purchase it.",
            "I am certain that I will purchase it, as soon as I can.",
        ),
    ),
}
