"""What the simulated user talks about, and the words in which it does.

All of it was written for this project: products that do not exist, six sides of each, and for each
side and polarity phrases of its own. A sentence is a frame around such a phrase; hedges and
emphasis follow the strength of the evidence.
"""

from __future__ import annotations

from typing import Final

BRANDS: Final = (
    "North Pier",
    "Old Mill",
    "Harvest Moon",
    "Blue Lantern",
    "Stone Bridge",
    "Red Kite",
    "Quiet Valley",
    "Copper Kettle",
    "Long Meadow",
    "White Anchor",
)
TYPES: Final = ("coffee", "tea", "chocolate", "bread", "yoghurt", "juice")
ASPECTS: Final = ("taste", "price", "packaging", "freshness", "smell", "size")

# By aspect: phrases that are positive, negative, neutral; each goes after "it" or "they say it".
PHRASES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "taste": (
        (
            "tastes wonderful",
            "has a rich and rounded flavour",
            "is delicious from start to finish",
            "leaves a lovely aftertaste",
            "tastes just the way I like it",
            "has a flavour I keep thinking about",
        ),
        (
            "tastes awful",
            "has a flat and watery flavour",
            "is so bitter that I could not finish it",
            "leaves a nasty aftertaste",
            "tastes of cardboard",
            "has a flavour that puts me off",
        ),
        (
            "tastes like all the others",
            "has an ordinary flavour",
            "tastes neither sweet nor sour",
            "has the usual flavour",
        ),
    ),
    "price": (
        (
            "is a real bargain",
            "costs less than I expected",
            "is great value for the money",
            "is wonderfully cheap",
            "is worth every penny",
            "has a very fair price",
        ),
        (
            "is far too expensive",
            "costs more than it should",
            "is a rip-off",
            "has a shameless price",
            "is not worth the money",
            "went up in price again, which annoys me",
        ),
        (
            "costs about as much as any other",
            "has the same price as last year",
            "sits in the middle of the price range",
            "costs what such things cost",
        ),
    ),
    "packaging": (
        (
            "comes in a beautiful box",
            "has a wrapper that opens easily",
            "has clever packaging without plastic",
            "comes in a pack that closes properly",
            "has a label that is a joy to look at",
            "is packed with great care",
        ),
        (
            "comes in an ugly box",
            "has a wrapper that always tears",
            "is buried in wasteful plastic packaging",
            "comes in a pack that never closes",
            "has a label nobody can read",
            "arrived with its packaging crushed",
        ),
        (
            "comes in a plain box",
            "has the standard wrapper",
            "comes in a brown paper pack",
            "has a label with the usual facts",
        ),
    ),
    "freshness": (
        (
            "is always perfectly fresh",
            "keeps for days without going off",
            "was made this very morning",
            "has a long date and holds it",
            "stays fresh to the last bit",
            "arrives as fresh as can be",
        ),
        (
            "was stale when I opened it",
            "goes off after a day",
            "was past its date",
            "had mould on it",
            "is never really fresh",
            "went sour overnight",
        ),
        (
            "keeps about a week",
            "has a date like the others",
            "is as fresh as one expects",
            "lasts until the weekend",
        ),
    ),
    "smell": (
        (
            "smells heavenly",
            "has an aroma that fills the kitchen",
            "has a warm and inviting scent",
            "smells of my grandmother's house",
            "has a delicate fragrance",
            "smells so good that I stop at the shelf",
        ),
        (
            "smells of wet dog",
            "has a chemical odour",
            "stinks when you open it",
            "has a musty scent",
            "smells burnt",
            "has an odour that stays in the room",
        ),
        (
            "hardly smells of anything",
            "has a faint scent",
            "smells like the kind it is",
            "has no aroma to speak of",
        ),
    ),
    "size": (
        (
            "comes in a generous portion",
            "is just the right size",
            "is big enough for two",
            "lasts the whole week because there is so much",
            "has a large pack that I like",
            "fits my bag perfectly",
        ),
        (
            "is much too small",
            "has shrunk again",
            "is gone after two bites",
            "comes in a stingy portion",
            "is so large that half of it is wasted",
            "does not fit any shelf I own",
        ),
        (
            "comes in a medium size",
            "holds two hundred grams",
            "is as big as the one next to it",
            "has the usual portion",
        ),
    ),
}

FRAMES: Final = (
    "{thing} {phrase}.",
    "I have to say, {thing} {phrase}.",
    "Had {thing} again today: it {phrase}.",
    "My sister brought {thing} along, and it {phrase}.",
    "About {thing}: it {phrase}.",
    "As for {thing}, it {phrase}.",
    "You asked about {thing}; it {phrase}.",
    "We bought {thing} on Saturday and it {phrase}.",
    "At work everybody knows that {thing} {phrase}.",
    "This time {thing} {phrase}.",
    "I noticed that {thing} {phrase}.",
    "Between us, {thing} {phrase}.",
)
WEAK: Final = (
    "I suppose",
    "Maybe it is just me, but",
    "If anything,",
    "Not that it matters much, but",
)
STRONG: Final = ("Honestly,", "Without any doubt,", "I cannot stress this enough:", "Really,")

# Questions about a side. The first kind names the side; the second only circumscribes it.
NAMING: Final = (
    "What do I think of the {aspect} of {thing}?",
    "How do I feel about {thing} and its {aspect}?",
    "Remind me: {thing}, the {aspect}, was that any good?",
)
AROUND: Final[dict[str, tuple[str, ...]]] = {
    "taste": ("Did {thing} please my palate?", "Would I call {thing} delicious?"),
    "price": ("Is {thing} worth the money to me?", "Did {thing} cost too much for me?"),
    "packaging": ("Was I happy with the box of {thing}?", "Does {thing} come wrapped well?"),
    "freshness": ("Was {thing} stale or did it keep?", "Does {thing} go off quickly?"),
    "smell": ("Do I like the aroma of {thing}?", "Does {thing} have a good scent?"),
    "size": ("Is the portion of {thing} big enough for me?", "Is {thing} large or small to me?"),
}
# The third kind repeats what was said.
REPEATING: Final = ("What was it I said, that {thing} {phrase}?",)
