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
            "I disagree completely, it is wrong and false.",
            "Completely wrong. I am totally against this.",
        ),
        (
            "I disagree a little, I doubt it.",
            "I disagree, but only somewhat, I have my doubts.",
            "A little doubtful, I disagree somewhat.",
            "Not convincing, I rather doubt it.",
        ),
        (
            "I neither agree nor disagree.",
            "I am undecided, with no opinion either way.",
            "Mixed feelings, there is something on both sides.",
            "I am in between, undecided.",
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
            "Never, that is impossible.",
            "No way, it is almost impossible.",
            "I rule it out, it can never happen.",
        ),
        (
            "Rather unlikely, I doubt it.",
            "Probably not, there is a small chance.",
            "Quite unlikely, the odds are against it.",
            "Unlikely, the odds are against it.",
        ),
        (
            "I am unsure, I might or might not.",
            "Fifty-fifty, hard to tell.",
            "Perhaps, it is as likely as not.",
            "It could go either way, I am unsure.",
        ),
        (
            "Rather likely, I would expect it.",
            "I think so, there is a good chance.",
            "Likely, I probably will.",
            "I probably will, the odds are in favour.",
        ),
        (
            "Very likely, I am absolutely sure of it.",
            "Certainly, it is sure to happen.",
            "Very likely, almost certain.",
            "It is sure, one hundred percent.",
        ),
    ),
    "purchase_intent": (
        (
            "Never, I refuse to buy it, a waste of money.",
            "Absolutely not, I reject it and refuse to spend money on this.",
            "I refuse it, never, no use for it.",
            "No, never, a waste of money.",
        ),
        (
            "It is too expensive, little value to me, I doubt it.",
            "I doubt it, I am not very interested.",
            "It's somewhat unlikely, it has little value to me.",
            "Probably not, it is too expensive and not really for me.",
        ),
        (
            "I am undecided, I would have to think about it.",
            "Maybe or maybe not, I could go either way.",
            "Not sure, I might or might not.",
            "I am neutral, I don't know whether I would purchase it.",
        ),
        (
            "I am rather interested and might give it a try.",
            "I am interested and would probably buy it.",
            "I am somewhat interested and like it.",
            "Probably, I would give it a try.",
        ),
        (
            "I love it and want it now.",
            "Definitely yes, I will order it for sure.",
            "Yes, I want it right away, I love it.",
            "I am certain, I will order it as soon as I can.",
        ),
    ),
}
