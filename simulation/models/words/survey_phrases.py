"""How a persona of the rule model puts each point of a shipped scale, lowest point first.

Its own words, neither an anchor nor a held-out answer. A test holds that semantic similarity
rating, with the encoder that ships, gives them means that rise from point to point.
"""

from __future__ import annotations

STARTS = ("", "", "Honestly? ", "Well. ", "Since you ask: ", "As I see it: ")

ANSWERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "agreement": (
        (
            "I strongly disagree with that, it is wrong.",
            "That is completely false, I am against it.",
            "I totally disagree, this is utter nonsense.",
            "Completely wrong. I am totally against this.",
        ),
        (
            "I disagree a little, I doubt it.",
            "I rather doubt that, it is not convincing.",
            "It does not quite convince me, probably not true.",
            "I am doubtful and disagree somewhat.",
        ),
        (
            "I neither agree nor disagree.",
            "I am undecided, with no opinion either way.",
            "I have mixed feelings, something on both sides.",
            "Neutral, I am somewhere in between.",
        ),
        (
            "I agree on the whole, it is plausible.",
            "I think it is mostly true, probably yes.",
            "I agree, there is a good deal in that.",
            "Probably right, I think I agree.",
        ),
        (
            "I strongly agree, that is exactly right.",
            "I agree completely, this is absolutely right.",
            "Absolutely right and true, I am totally for this.",
            "Exactly right, I agree with no question.",
        ),
    ),
    "likelihood": (
        (
            "Impossible, I would never do that.",
            "Very unlikely, there is no chance at all.",
            "No way, it is almost impossible.",
            "I rule it out, it can never happen.",
        ),
        (
            "Rather unlikely, I doubt it.",
            "Probably not, there is a small chance.",
            "I do not expect it, I have doubts.",
            "Unlikely, the odds are against it.",
        ),
        (
            "Maybe, I am not sure, it depends.",
            "It could go either way, fifty-fifty.",
            "Perhaps, it is as likely as not.",
            "I might or might not, the chances are even.",
        ),
        (
            "Rather likely, I expect it.",
            "I think so, there is a good chance.",
            "Likely, I can imagine it well.",
            "I probably will, the odds are in favour.",
        ),
        (
            "Very likely, I am absolutely sure.",
            "Certainly, it is sure to happen.",
            "Definitely, without any doubt.",
            "I am absolutely certain, I guarantee it.",
        ),
    ),
    "purchase_intent": (
        (
            "Never, I refuse to buy it, a waste of money.",
            "Absolutely not, I reject it and refuse to spend money on this.",
            "I am certain that I will not purchase it, it is of no use.",
            "Definitely not, I would never buy it.",
        ),
        (
            "Probably not, it is too expensive and not really for me.",
            "I doubt it, I am not very interested.",
            "It's somewhat unlikely, it has little value to me.",
            "I would probably not buy it, it is not for me.",
        ),
        (
            "I am undecided, I would have to think about it.",
            "Maybe or maybe not, I could go either way.",
            "Not sure, I might or might not.",
            "I am neutral, I don't know whether I would purchase it.",
        ),
        (
            "I am rather interested and might give it a try.",
            "Probably yes, I like it and would try it.",
            "It's somewhat likely, I like it and am interested.",
            "I would like to try it, I think I would purchase it.",
        ),
        (
            "I love it and want it now.",
            "Definitely yes, I will order it for sure.",
            "Yes, I want it right away, I love it.",
            "I am certain, I will order it as soon as I can.",
        ),
    ),
}
