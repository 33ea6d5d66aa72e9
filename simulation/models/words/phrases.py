"""The grammar's word lists. Each form is in the first person and fits in any combination.

A pair (before, after) goes around a noun phrase: a quoted claim, a brand, a post. Forms start in
lower case unless they start with "I", because something may stand before them; whoever joins
them makes the first letter a capital. Lists are ordered: changing one changes the results of
every seed, which belongs into the change log.
"""

from __future__ import annotations

Pair = tuple[str, str]

# What is said about a claim, by band: strong for, for, mixed, against, strong against.
VERDICTS: tuple[tuple[Pair, ...], ...] = (
    (
        ("I'm fully convinced by ", ""),
        ("I really believe in ", ""),
        ("I have no doubt about ", ""),
        ("my mind is made up: I stand behind ", ""),
        ("I would put my name under ", ""),
        ("I'm all for taking ", " seriously"),
        ("I'd tell anyone to trust ", ""),
        ("I know ", " to be true"),
        ("I couldn't agree more with ", ""),
    ),
    (
        ("I'm inclined to believe ", ""),
        ("I think there is something to ", ""),
        ("I'm coming round to ", ""),
        ("my feeling is that ", " is about right"),
        ("I wouldn't rule out ", ""),
        ("I lean towards trusting ", ""),
        ("I find ", " quite plausible"),
        ("I'm more and more open to ", ""),
        ("I'd say ", " sounds about right"),
    ),
    (
        ("I can't decide about ", ""),
        ("I'm still on the fence about ", ""),
        ("I don't know what to make of ", ""),
        ("I'd like to see proof before I judge ", ""),
        ("my head says wait when it comes to ", ""),
        ("I can see two sides to ", ""),
        ("I'm undecided on ", ""),
        ("I would want a second opinion on ", ""),
        ("I call ", " an open question"),
    ),
    (
        ("I have my doubts about ", ""),
        ("I'm not persuaded by ", ""),
        ("I'd take ", " with a grain of salt"),
        ("I'm rather sceptical about ", ""),
        ("my feeling is that ", " is exaggerated"),
        ("I'm not sure I can trust ", ""),
        ("I tend to doubt ", ""),
        ("I find ", " hard to believe"),
        ("I can't quite make ", " add up"),
    ),
    (
        ("I don't believe ", " for a second"),
        ("I reject ", " outright"),
        ("my answer to ", " is a clear no"),
        ("I can't take ", " seriously"),
        ("I'm certain that ", " is wrong"),
        ("I have heard enough about ", " and none of it holds up"),
        ("I think ", " is plain misleading"),
        ("I refuse to accept ", ""),
        ("I say ", " is just not true"),
    ),
)

# A sentence that may follow, by band.
TAILS: tuple[tuple[str, ...], ...] = (
    (
        "It matches what I know.",
        "I have thought about it long enough.",
        "That counts a lot for me.",
        "I would say so to anyone.",
        "More people should hear it, I think.",
        "I'm glad somebody says it.",
        "It makes a real difference to me.",
        "I stand by that.",
        "What I hear only makes me surer.",
    ),
    (
        "It makes sense to me so far.",
        "I'd like to hear a bit more, though.",
        "It fits what I have seen.",
        "I would not be surprised.",
        "I'm curious where this goes.",
        "So far I see nothing against it.",
        "It rings true to me.",
        "I may well come down on that side.",
        "I'll keep an eye on it.",
    ),
    (
        "I need more than words here.",
        "Both sides have a point, as I see it.",
        "I'll wait and see.",
        "Maybe I am missing something.",
        "Tell me more and I'll think about it.",
        "I haven't seen enough to judge.",
        "I could go either way.",
        "I'm listening, but that's all.",
        "Ask me again in a while.",
    ),
    (
        "I'd want to see it proven first.",
        "I've heard such things before, and little came of them.",
        "It doesn't fit what I have seen.",
        "I'd be careful with it.",
        "Somebody would have to convince me.",
        "It sounds too neat to me.",
        "I'm not there, to be frank.",
        "What I hear doesn't win me over.",
        "I see too many open questions.",
    ),
    (
        "Nobody will talk me into it.",
        "I have seen how such things end.",
        "I want no part of it.",
        "It goes against all I know.",
        "I wish people would stop repeating it.",
        "I'd warn anyone off.",
        "That's where I draw the line.",
        "Nothing I heard changes that.",
        "I'm not falling for it.",
    ),
)

# Ways to begin; "" is none.
OPENERS: tuple[str, ...] = (
    "",
    "",
    "honestly, ",
    "to be fair, ",
    "well, ",
    "after some thought, ",
    "if you ask me, ",
    "for what it's worth, ",
    "just saying: ",
    "looking at it again, ",
    "these days, ",
    "between work and everything else, ",
)

# Ways to begin that name who is being answered, by action; they go around a name.
ADDRESSES: dict[str, tuple[Pair, ...]] = {
    "comment": (
        ("having read what ", " put up, "),
        ("about what ", " says: "),
        ("as for ", ", "),
        ("thinking over the words of ", ", "),
        ("my two cents for ", ": "),
    ),
    "reply": (
        ("to ", ": "),
        ("replying to ", ", "),
        ("a word to ", ": "),
        ("here's my reply to ", ": "),
        ("since ", " brought it up, "),
    ),
    "quote": (
        ("sharing what ", " said: "),
        ("passing on the words of ", ": "),
        ("here is ", " in the original; my own view: "),
        ("quoting ", ": "),
    ),
    "answer": (
        ("you asked, ", ": "),
        ("to answer ", ": "),
        ("here's my answer for ", ": "),
        ("thanks for asking, ", ". In short, "),
        ("since ", " wants to know: "),
    ),
}

# The same for who agrees with what is said there, besides the forms above ...
AGREEING: dict[str, tuple[Pair, ...]] = {
    "comment": (("I'm with ", " here: "), ("well said by ", "; ")),
    "reply": (("I agree with ", ": "), ("I take the side of ", ": ")),
    "quote": (
        ("worth reading what ", " has to say. As for myself, "),
        ("seconding ", ": "),
    ),
    "answer": (("glad you ask, ", ": "), ("I see it as ", " does: ")),
}
# ... and for who contradicts it, in their place.
OPPOSING: dict[str, tuple[Pair, ...]] = {
    "comment": (
        ("I see it otherwise than ", ": "),
        ("unlike ", ", "),
        ("I can't go along with ", " here: "),
        ("I part ways with ", " on this: "),
        ("against what ", " says: "),
    ),
    "reply": (
        ("I see it otherwise than ", ": "),
        ("I beg to differ with ", ": "),
        ("to ", ", whom I can't follow here: "),
        ("my reply to ", " is another view: "),
    ),
    "quote": (
        ("quoting ", " without agreeing: "),
        ("sharing what ", " said, though I see it otherwise: "),
        ("here is ", " in the original; my own view is another: "),
        ("unlike ", ", whom I quote, "),
    ),
    "answer": (
        ("you asked, ", ", and I see it otherwise: "),
        ("my answer to ", " is another view: "),
        ("I beg to differ with ", ": "),
    ),
}

# What a persona asks a peer, after its own verdict.
QUESTIONS: tuple[str, ...] = (
    "What do you make of it?",
    "How do you see it?",
    "Would you trust it?",
    "Am I missing something?",
    "What have you heard?",
    "What does it look like to you?",
    "Can you tell me more?",
    "Has it come up where you are?",
    "What would you do?",
    "Do you believe it?",
)

COMPLAINTS: tuple[Pair, ...] = (
    ("I want to complain about ", ""),
    ("I feel misled over ", ""),
    ("I'm fed up with ", ""),
    ("I expect a straight answer about ", ""),
    ("I'm annoyed by all the noise around ", ""),
    ("my patience with ", " is at an end"),
    ("I have had enough of ", ""),
    ("I object to the way I keep hearing about ", ""),
)
GRIEVANCES: tuple[str, ...] = (
    "I don't trust what I am told.",
    "I want somebody to look into it.",
    "I deserve better than this.",
    "Please take my concern seriously.",
    "I would like the facts instead of slogans.",
    "Nobody has answered my questions so far.",
    "I'm surely not the only one.",
    "I'd rather be told the truth.",
)

# Decisions: around the brand, then a reason around the claim.
ACCEPTANCES: tuple[Pair, ...] = (
    ("I've decided in favour of ", ""),
    ("I'm in: ", " gets my yes"),
    ("my choice is ", ""),
    ("I'm going for ", ""),
    ("I've made up my mind and say yes to ", ""),
    ("I'm ready to go with ", ""),
)
REFUSALS: tuple[Pair, ...] = (
    ("I've decided against ", ""),
    ("I'm out: ", " gets my no"),
    ("my answer to ", " is no"),
    ("I'm done with ", ""),
    ("I've made up my mind and say no to ", ""),
    ("I won't go along with ", ""),
)
# The claim that is named speaks for the decision, or it was taken despite it; and then, by whether
# the claim is believed. A believed rumour speaks for a refusal.
_BELIEVED: tuple[Pair, ...] = (
    (", because I believe ", ""),
    (", since I think there is something to ", ""),
    (", mostly because ", " rings true to me"),
)
_DENIED: tuple[Pair, ...] = (
    (", because I don't believe ", ""),
    (", since I can't trust ", ""),
    (", mostly because ", " doesn't ring true to me"),
)
_THOUGH_BELIEVED: tuple[Pair, ...] = (
    (", even if ", " sounds right to me"),
    (", although I don't doubt ", ""),
    (", whatever truth I see in ", ""),
)
_THOUGH_DENIED: tuple[Pair, ...] = (
    (", even if I'm not sure about ", ""),
    (", although I don't quite believe ", ""),
    (", for all my doubts about ", ""),
)
REASONS_TO_ACCEPT: tuple[tuple[tuple[Pair, ...], ...], ...] = (
    ((*_BELIEVED, ("; what won me over is ", "")), _DENIED),
    (_THOUGH_BELIEVED, (*_THOUGH_DENIED, ("; never mind ", ", it suits me"))),
)
REASONS_TO_REFUSE: tuple[tuple[tuple[Pair, ...], ...], ...] = (
    ((*_BELIEVED, ("; what put me off is ", "")), _DENIED),
    ((*_THOUGH_BELIEVED, ("; never mind ", ", it isn't for me")), _THOUGH_DENIED),
)

# What a recalled memory of the same claim adds: it felt alike, or otherwise.
ECHOES: tuple[tuple[str, ...], ...] = (
    (
        "I felt the same the last time it came up.",
        "As I thought before.",
        "My view has not changed.",
        "I keep coming back to that.",
        "It's not the first time I think so.",
        "I remember thinking just that.",
    ),
    (
        "I used to see it differently.",
        "I remember feeling otherwise.",
        "Some time ago I'd have said the opposite.",
        "My view has shifted, I admit.",
        "I surprise myself with that.",
        "Earlier on I felt different about it.",
    ),
)
