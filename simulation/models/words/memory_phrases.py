"""Word lists of memory texts and reflections; see `phrases` for the rules of the lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulation.models.words.phrases import Pair

# What was done, by action; the pair goes around what it was done to.
DEEDS: dict[str, tuple[Pair, ...]] = {
    "ignore": (
        ("I scrolled past ", ""),
        ("I read past ", ""),
        ("I skipped over ", ""),
        ("I let ", " go by"),
        ("I looked at ", " and moved on"),
        ("I took in ", " without a word"),
        ("I had a brief look at ", ""),
        ("I left ", " alone"),
        ("I noticed ", " in passing"),
        ("I gave ", " a glance and no more"),
        ("I came across ", ""),
        ("I saw ", " and kept quiet"),
        ("I ran my eyes over ", ""),
        ("I read ", " and left it at that"),
        ("I paused at ", " and went on"),
        ("I let ", " pass unanswered"),
    ),
    "like": (
        ("I liked ", ""),
        ("I gave ", " a like"),
        ("I put a like under ", ""),
        ("I left a like on ", ""),
    ),
    "upvote": (
        ("I upvoted ", ""),
        ("I voted ", " up"),
        ("I gave ", " an upvote"),
        ("I gave my vote to ", ""),
    ),
    "downvote": (
        ("I downvoted ", ""),
        ("I voted ", " down"),
        ("I gave ", " a downvote"),
        ("I cast a vote against ", ""),
    ),
    "repost": (
        ("I reposted ", ""),
        ("I passed ", " on"),
        ("I shared ", " with those who follow me"),
        ("I spread ", " further"),
    ),
    "follow": (
        ("I started to follow ", ""),
        ("I now follow ", ""),
        ("I chose to follow ", ""),
        ("I want to see more of ", " and follow along"),
    ),
    "answer": (("I answered ", ""), ("I gave an answer to ", ""), ("I responded to ", "")),
    "comment": (
        ("I commented on ", ""),
        ("I left a comment under ", ""),
        ("I wrote a comment on ", ""),
    ),
    "reply": (("I replied to ", ""), ("I wrote back to ", ""), ("I sent a reply to ", "")),
    "quote": (("I quoted ", ""), ("I shared ", " in my own words"), ("I cited ", "")),
    "post": (("I posted about ", ""), ("I wrote a post on ", ""), ("I spoke up about ", "")),
    "complain": (("I complained about ", ""), ("I made a complaint about ", "")),
    "ask_peer": (("I asked ", ""), ("I put a question to ", ""), ("I turned to ", "")),
    "buy": (("I said yes to ", ""), ("I decided for ", ""), ("I made my choice: yes to ", "")),
    "reject": (
        ("I said no to ", ""),
        ("I decided against ", ""),
        ("I made my choice: no to ", ""),
    ),
}

# An empty feed; around the proposition.
IDLE: tuple[Pair, ...] = (
    ("I saw nothing new and thought about ", ""),
    ("I had nothing to read and came back to ", ""),
    ("I got no news and turned over ", ""),
    ("I met with nothing new and had ", " on my mind"),
    ("I found my feed empty and thought of ", ""),
    ("I found nothing new and wondered about ", ""),
    ("I heard no news and thought again of ", ""),
    ("I had no news and mulled over ", ""),
    ("I was shown nothing new and pondered ", ""),
    ("I heard nothing from those I follow and recalled ", ""),
    ("I looked for news in vain and reflected on ", ""),
    ("I looked for something new and found only ", " in my head"),
)

# When, or how; "" is none.
MOMENTS: tuple[str, ...] = (
    "",
    "",
    "",
    "this time ",
    "after a moment ",
    "in a spare minute ",
    "without much ado ",
    "as it came up ",
    "in a quiet moment ",
    "with half an eye ",
    "between two tasks ",
    "over a cup of tea ",
    "with little time ",
    "while waiting ",
    "as so often ",
    "during a break ",
    "on my way home ",
    "at some point ",
)

# Why nothing was done, by how far the item is agreed with; the last list is for no claim.
PASSING: tuple[tuple[str, ...], ...] = (
    (
        "I believe it anyway",
        "I need no more convincing",
        "it only says what I think",
        "I had nothing to add to it",
        "I know it and trust it",
        "it is old news to me, and true",
        "I agreed in silence",
        "my mind was made up in its favour",
        "I have made my peace with it long ago",
        "it is settled for me",
        "I could have written it myself",
        "there was nothing in it I would dispute",
    ),
    (
        "it sounded fair to me",
        "I rather agreed but had nothing to say",
        "I nodded to myself",
        "it struck me as honest",
        "I thought there may be something to it",
        "it seemed likely to me",
        "I'd believe it on a good day",
        "I was inclined to go along",
        "I let it stand",
        "it was fine by me",
        "I had nothing against it",
        "it did not need my help",
    ),
    (
        "it did not speak to me",
        "I didn't know what to think",
        "I could not decide whether it is true",
        "it left me undecided",
        "I had no firm view",
        "I waited for something clearer",
        "I was not sure it matters to me",
        "it neither won me over nor put me off",
        "I'll see what others say",
        "it raised more questions than it answered for me",
        "I set it aside for later",
        "I could argue either way",
    ),
    (
        "I had my doubts",
        "it did not convince me",
        "I rather disbelieved it",
        "it sounded exaggerated to me",
        "I was wary of it",
        "I thought it unlikely",
        "it left me with a bad feeling",
        "I shook my head a little",
        "I'd have to see it first",
        "I was not buying it",
        "it did not ring true to me",
        "I raised an eyebrow",
    ),
    (
        "I don't believe a word of it",
        "I know better",
        "it is not worth my time",
        "I was firmly against it",
        "I had long stopped believing that",
        "it only annoyed me",
        "I reject it",
        "my mind was made up against it",
        "I had no patience for it",
        "I would not give it my attention",
        "it goes against all I know",
        "I felt like arguing but let it be",
    ),
    (
        "it did not speak to me",
        "it was nothing I wanted to answer",
        "I had nothing to say to it",
        "it did not touch what I care about",
        "I had other things on my mind",
        "I kept my thoughts to myself",
        "I felt no need to react",
        "it left me as I was",
        "I could take it or leave it",
        "it passed me by",
        "I had no opinion to offer",
        "I was not in the mood",
    ),
)

# What was felt when something was done without words, likewise.
FEELINGS: tuple[tuple[str, ...], ...] = (
    (
        "I firmly believe it",
        "it says what I think",
        "I wanted it to be seen",
        "I have no doubt about it",
        "I stand behind it",
        "I was glad to read it",
    ),
    (
        "I think it is true",
        "it made sense to me",
        "I found it plausible",
        "I rather agree",
        "I had thought so myself",
        "it fits what I know",
    ),
    (
        "I'd like to hear more about it",
        "I'm curious what comes of it",
        "I don't know yet what to believe",
        "it made me think",
        "I can't say that I'm sure",
        "I think it deserves a second look",
    ),
    (
        "I have my doubts about what it is about",
        "I'm wary of the matter",
        "I'm rather sceptical",
        "I find it hard to believe",
        "I'm not convinced",
        "I think it unlikely",
    ),
    (
        "I don't believe in it at all",
        "I'm firmly against it",
        "I want none of it",
        "I'm certain it is wrong",
        "I reject the idea",
        "I know where I stand: against",
    ),
    (
        "it struck a chord with me",
        "I felt like it",
        "it was worth that to me",
        "I did not think long about it",
        "it seemed right to me",
        "it caught my eye",
    ),
)

# Reflection: how the target moved, up or down; around a quoted claim.
CLAIM_MOVES: tuple[tuple[Pair, ...], ...] = (
    (
        ("I have come to believe ", " more than before"),
        ("I trust ", " more than I used to"),
        ("my belief in ", " has grown"),
        ("I've moved towards ", ""),
        ("I find ", " more convincing by now"),
    ),
    (
        ("I have come to believe ", " less than before"),
        ("I trust ", " less than I used to"),
        ("my belief in ", " has shrunk"),
        ("I've moved away from ", ""),
        ("I find ", " less convincing by now"),
    ),
)
# The same around the name of a dimension; the brand follows.
DIMENSION_MOVES: tuple[tuple[Pair, ...], ...] = (
    (
        ("my sense of ", " has gone up when I think of "),
        ("I see more ", " than before in "),
        ("I give more credit for ", " now to "),
        ("as for ", ", I think better of "),
    ),
    (
        ("my sense of ", " has gone down when I think of "),
        ("I see less ", " than before in "),
        ("I give less credit for ", " now to "),
        ("as for ", ", I think worse of "),
    ),
)
UNMOVED: tuple[str, ...] = (
    "nothing has moved me about ",
    "I think as I did before about ",
    "my views have not moved about ",
    "I find that nothing changed in what I think of ",
)
LOOKING_BACK: tuple[str, ...] = (
    "looking back, ",
    "thinking it over, ",
    "when I sum it up, ",
    "on the whole, ",
    "taking stock, ",
    "now that I think of it, ",
    "after all I have seen, ",
    "all in all, ",
)
AMOUNTS: tuple[str, ...] = (", if only a little", "", ", and by a lot")
# Around the memory that weighed most.
KEEPSAKES: tuple[Pair, ...] = (
    ("What stays with me most: ", "."),
    ("I keep thinking of this: ", "."),
    ("One thing weighs most for me: ", "."),
    ("What I remember best: ", "."),
    ("The moment that counts for me: ", "."),
)
